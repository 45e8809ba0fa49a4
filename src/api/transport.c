/* The public calls for one exact transport problem: under a bare cost matrix, between two items. */
#include <math.h>
#include <string.h>

#include "exact/exact.h"

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
    if (p->n < 1 || p->m < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a problem of %lld x %lld has no cells",
                        (long long)p->n, (long long)p->m);
    if (p->n > INT32_MAX / 2 || p->m > INT32_MAX / 2 || !mul_ok(p->n, p->m, &cells))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a problem of %lld x %lld is too large",
                        (long long)p->n, (long long)p->m);
    CHECK(check_weights(ctx, "a", p->a, p->n, &sum_a));
    CHECK(check_weights(ctx, "b", p->b, p->m, &sum_b));
    if (fabs(sum_a - sum_b) > 1e-6 * BASE_MAX(sum_a, sum_b))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the weights a sum to %.17g and b to %.17g: they must be equal", sum_a,
                        sum_b);
    CHECK(check_cost(ctx, p->cost, p->n, p->m));
    return DDSC_OK;
}

/* Where the caller wants an answer of n x m points, NULL: not at all. */
typedef struct answer {
    ddsc_transport *result;
    int32_t *plan_row, *plan_column;
    double *plan_mass, *f, *g;
    int64_t n, m;
} answer;

static void copy_to(void *to, const void *from, int64_t count, size_t size)
{
    if (to)
        memcpy(to, from, (size_t)count * size);
}

static void hand_over(const answer *to, const exact_solver *solver, const exact_result *found)
{
    const int32_t *row, *column;
    const double *mass;
    exact_plan(solver, &row, &column, &mass);
    copy_to(to->plan_row, row, found->n_plan, sizeof *row);
    copy_to(to->plan_column, column, found->n_plan, sizeof *column);
    copy_to(to->plan_mass, mass, found->n_plan, sizeof *mass);
    copy_to(to->f, exact_f(solver), to->n, sizeof *to->f);
    copy_to(to->g, exact_g(solver), to->m, sizeof *to->g);
    if (to->result)
        *to->result =
            (ddsc_transport){found->primal, found->dual, found->gap, found->n_plan, found->pivots};
}

static bool all_finite(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += 0 * x[i]; /* NaN for numbers that are none */
    return sum == 0;
}

static ddsc_status check_answer(ddsc_context *ctx, const exact_solver *solver,
                                const exact_result *found, const answer *to)
{
    if (isfinite(found->primal) && isfinite(found->dual) && all_finite(exact_f(solver), to->n) &&
        all_finite(exact_g(solver), to->m))
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_INPUT,
                    "weights and costs are too large: the value is between %g and %g", found->dual,
                    found->primal);
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
    answer to = {result, plan_row, plan_column, plan_mass, f, g, n, m};
    TRY(check_answer(context, solver, &found, &to));
    hand_over(&to, solver, &found);
done:
    exact_destroy(solver);
    return status;
}

static ddsc_status check_item(ddsc_context *ctx, const measures *m, int64_t item, char name)
{
    if (item >= 0 && item < m->n)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%c is %lld: the set has items 0 to %lld", name,
                    (long long)item, (long long)m->n - 1);
}

static ddsc_status check_items(ddsc_context *ctx, const measures *x, int64_t i, const measures *y,
                               int64_t j)
{
    CHECK(check_item(ctx, x, i, 'i'));
    CHECK(check_item(ctx, y, j, 'j'));
    if (x->d != y->d)
        CHECK(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "x has %lld dimensions and y %lld",
                       (long long)x->d, (long long)y->d));
    return DDSC_OK;
}

ddsc_status ddsc_w2_run(ddsc_context *context, ddsc_transport *result, int32_t *plan_row,
                        int32_t *plan_column, double *plan_mass, double *f, double *g,
                        const ddsc_measures *x, int64_t i, const ddsc_measures *y, int64_t j)
{
    exact_solver *solver = NULL;
    exact_result found;
    ddsc_status status = DDSC_OK;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!x || !y)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "%s is NULL", !x ? "x" : "y");
    TRY(check_items(context, x, i, y, j));
    TRY(exact_create(context, &solver));
    TRY(exact_solve_items(solver, &found, x, i, y, j, 0));
    answer to = {result, plan_row, plan_column,           plan_mass,
                 f,      g,        measures_item(x, i).n, measures_item(y, j).n};
    hand_over(&to, solver, &found);
done:
    exact_destroy(solver);
    return status;
}
