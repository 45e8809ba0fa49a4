/* The public call for one exact transport problem under a bare cost matrix. */
#include <math.h>
#include <string.h>

#include "ot/ot.h"

static ddsc_status check_weights(ddsc_context *ctx, const char *name, const double *weight,
                                 int64_t n, double *total)
{
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(weight[i]) || weight[i] < 0)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "%s[%lld] is %g: weights are finite and not negative", name,
                            (long long)i, weight[i]);
        *total += weight[i];
    }
    if (!(*total > 0) || !isfinite(*total))
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "the weights %s sum to %g", name, *total);
    return DDSC_OK;
}

static ddsc_status check_cost(ddsc_context *ctx, const double *cost, int64_t n, int64_t m)
{
    for (int64_t k = 0; k < n * m; k++)
        if (!isfinite(cost[k]))
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "cost[%lld][%lld] is %g: costs are finite",
                            (long long)(k / m), (long long)(k % m), cost[k]);
    return DDSC_OK;
}

static ddsc_status check_problem(ddsc_context *ctx, const exact_problem *p)
{
    double sum_a, sum_b;
    int64_t cells;
    ddsc_status status = DDSC_OK;
    if (p->n < 1 || p->m < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a problem of %lld x %lld has no cells",
                        (long long)p->n, (long long)p->m);
    if (p->n > INT32_MAX / 2 || p->m > INT32_MAX / 2 || !mul_ok(p->n, p->m, &cells))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a problem of %lld x %lld is too large",
                        (long long)p->n, (long long)p->m);
    TRY(check_weights(ctx, "a", p->a, p->n, &sum_a));
    TRY(check_weights(ctx, "b", p->b, p->m, &sum_b));
    if (fabs(sum_a - sum_b) > 1e-6 * BASE_MAX(sum_a, sum_b))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the weights a sum to %.17g and b to %.17g: they must be equal", sum_a,
                        sum_b);
    TRY(check_cost(ctx, p->cost, p->n, p->m));
done:
    return status;
}

static void hand_over(const exact_solver *solver, const exact_problem *p, int64_t n_plan,
                      int32_t *plan_row, int32_t *plan_column, double *plan_mass, double *f,
                      double *g)
{
    const int32_t *row, *column;
    const double *mass;
    exact_plan(solver, &row, &column, &mass);
    if (plan_row)
        memcpy(plan_row, row, (size_t)n_plan * sizeof *row);
    if (plan_column)
        memcpy(plan_column, column, (size_t)n_plan * sizeof *column);
    if (plan_mass)
        memcpy(plan_mass, mass, (size_t)n_plan * sizeof *mass);
    if (f)
        memcpy(f, exact_f(solver), (size_t)p->n * sizeof *f);
    if (g)
        memcpy(g, exact_g(solver), (size_t)p->m * sizeof *g);
}

ddsc_status ddsc_emd_run(ddsc_context *context, ddsc_transport *result, int32_t *plan_row,
                         int32_t *plan_column, double *plan_mass, double *f, double *g, int64_t n,
                         int64_t m, const double *a, const double *b, const double *cost)
{
    exact_solver *solver = NULL;
    exact_result found;
    exact_problem problem = {n, m, a, b, cost};
    ddsc_status status = DDSC_OK;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!a || !b || !cost)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "%s is NULL", !a ? "a" : !b ? "b" : "cost");
    TRY(check_problem(context, &problem));
    TRY(exact_create(context, &solver));
    TRY(exact_solve(solver, &found, &problem, 0));
    if (!isfinite(found.primal))
        TRY(ctx_fail(context, DDSC_ERROR_INPUT, "weights and costs are too large: the value is %g",
                     found.primal));
    hand_over(solver, &problem, found.n_plan, plan_row, plan_column, plan_mass, f, g);
    if (result)
        *result = (ddsc_transport){found.primal, found.dual, found.gap, found.n_plan, found.pivots};
done:
    exact_destroy(solver);
    return status;
}
