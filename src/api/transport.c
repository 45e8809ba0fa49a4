/* The public calls for one exact transport problem: under a bare cost matrix, between two items. */
#include "api/api.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
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

/* Weights that sum to the same, and costs of at most `largest`. */
static ddsc_status check_problem(ddsc_context *ctx, const ddsc_transport_problem *p, double largest,
                                 double *mass)
{
    double sum_a, sum_b;
    int64_t cells;
    if (!p->a || !p->b || !p->cost)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s is NULL", !p->a ? "a" : !p->b ? "b" : "cost");
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
    for (int64_t k = 0; k < cells; k++)
        if (!(fabs(p->cost[k]) <= largest))
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "cost[%lld][%lld] is %g: costs are finite, at most %g",
                            (long long)(k / p->m), (long long)(k % p->m), p->cost[k], largest);
    *mass = 0.5 * (sum_a + sum_b);
    return DDSC_OK;
}

SIZED_INIT(transport_struct, ddsc_transport, n_plan, NULL);
SIZED_INIT(problem_struct, ddsc_transport_problem, cost, NULL);

ddsc_status api_transport_take(ddsc_context *ctx, ddsc_transport *own,
                               ddsc_transport_problem *problem, double *mass,
                               const ddsc_transport *given, const ddsc_transport_problem *asked,
                               double largest_cost)
{
    CHECK(sized_take(ctx, &transport_struct, own, given));
    CHECK(sized_take(ctx, &problem_struct, problem, asked));
    return check_problem(ctx, problem, largest_cost, mass);
}

void api_transport_give(ddsc_transport *given, const ddsc_transport *own)
{
    sized_give(&transport_struct, given, own);
}

static void copy_to(void *to, const void *from, int64_t count, size_t size)
{
    if (to)
        memcpy(to, from, (size_t)count * size);
}

/* To where the caller wants the answer of n x m points. */
static void hand_over(ddsc_transport *to, int64_t n, int64_t m, const exact_solver *solver,
                      const exact_result *found)
{
    const int32_t *row, *column;
    const double *mass;
    exact_plan(solver, &row, &column, &mass);
    copy_to(to->plan_row, row, found->n_plan, sizeof *row);
    copy_to(to->plan_column, column, found->n_plan, sizeof *column);
    copy_to(to->plan_mass, mass, found->n_plan, sizeof *mass);
    copy_to(to->f, exact_f(solver), n, sizeof *to->f);
    copy_to(to->g, exact_g(solver), m, sizeof *to->g);
    if (to->plan) {
        memset(to->plan, 0, (size_t)(n * m) * sizeof *to->plan);
        for (int64_t k = 0; k < found->n_plan; k++)
            to->plan[row[k] * m + column[k]] += mass[k];
    }
    to->value = to->primal = found->primal;
    to->dual = found->dual;
    to->gap = found->gap;
    to->n_plan = found->n_plan;
    to->n_iterations = found->pivots;
}

static bool all_finite(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += 0 * x[i]; /* NaN for numbers that are none */
    return sum == 0;
}

static ddsc_status check_answer(ddsc_context *ctx, const exact_solver *solver,
                                const exact_result *found, const exact_problem *p)
{
    if (isfinite(found->primal) && isfinite(found->dual) && all_finite(exact_f(solver), p->n) &&
        all_finite(exact_g(solver), p->m))
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_INPUT,
                    "weights and costs are too large: the value is between %g and %g", found->dual,
                    found->primal);
}

ddsc_status ddsc_emd_run(ddsc_context *context, ddsc_transport *transport,
                         const ddsc_transport_problem *asked)
{
    exact_solver *solver = NULL;
    exact_result found;
    ddsc_transport own;
    ddsc_transport_problem p;
    double mass;
    ddsc_status status = DDSC_OK;
    CHECK(ctx_enter(context));
    TRY(api_transport_take(context, &own, &p, &mass, transport, asked, DBL_MAX));
    exact_problem problem = {p.n, p.m, p.a, p.b, p.cost};
    TRY(exact_create(context, &solver));
    TRY(exact_solve(solver, &found, &problem, 0));
    TRY(check_answer(context, solver, &found, &problem));
    hand_over(&own, p.n, p.m, solver, &found);
    api_transport_give(transport, &own);
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

ddsc_status ddsc_w2_run(ddsc_context *context, ddsc_transport *transport, const ddsc_measures *x,
                        int64_t i, const ddsc_measures *y, int64_t j)
{
    exact_solver *solver = NULL;
    exact_result found;
    ddsc_transport own;
    ddsc_status status = DDSC_OK;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, x, "x"));
    CHECK(ctx_need(context, y, "y"));
    TRY(sized_take(context, &transport_struct, &own, transport));
    TRY(check_items(context, x, i, y, j));
    TRY(exact_create(context, &solver));
    TRY(exact_solve_items(solver, &found, x, i, y, j, 0));
    hand_over(&own, measures_item(x, i).n, measures_item(y, j).n, solver, &found);
    api_transport_give(transport, &own);
done:
    exact_destroy(solver);
    return status;
}
