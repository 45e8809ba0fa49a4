/* Copies the caller's structs for a single transport problem, and checks the weights and costs for
 * the solvers. */
#include "distance/cost/problem.h"

#include <math.h>

#include "base/sized.h"

static ddsc_status check_weights(ddsc_context *ctx, const char *name, const double *weight,
                                 int64_t n, double *total)
{
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(weight[i]) || weight[i] < 0)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "%s[%lld] is %g; weights must be finite and >= 0", name, (long long)i,
                            weight[i]);
        *total += weight[i];
    }
    if (!(*total > 0) || !isfinite(*total))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the weights %s sum to %g; their sum must be positive and finite", name,
                        *total);
    return DDSC_OK;
}

/* Checks the sizes, the weights and the costs. The weights on both sides must have the same sum,
 * and costs must be at most `largest`. */
static ddsc_status check_problem(ddsc_context *ctx, const ddsc_transport_problem *p, double largest,
                                 double *mass)
{
    double sum_a, sum_b;
    int64_t cells;
    if (!p->a || !p->b || !p->cost)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s is NULL", !p->a ? "a" : !p->b ? "b" : "cost");
    if (p->n < 1 || p->m < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "the problem is %lld x %lld; both sizes must be at least 1",
                        (long long)p->n, (long long)p->m);
    if (p->n > INT32_MAX / 2 || p->m > INT32_MAX / 2 || !mul_ok(p->n, p->m, &cells))
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "the problem is %lld x %lld, which is too large; reduce the number of points",
            (long long)p->n, (long long)p->m);
    CHECK(check_weights(ctx, "a", p->a, p->n, &sum_a));
    CHECK(check_weights(ctx, "b", p->b, p->m, &sum_b));
    if (fabs(sum_a - sum_b) > 1e-6 * BASE_MAX(sum_a, sum_b))
        return ctx_fail(
            ctx, DDSC_ERROR_INPUT,
            "the weights a sum to %.17g and the weights b to %.17g; both sums must be equal", sum_a,
            sum_b);
    for (int64_t k = 0; k < cells; k++)
        if (!(fabs(p->cost[k]) <= largest))
            return ctx_fail(
                ctx, DDSC_ERROR_INPUT,
                "cost[%lld][%lld] is %g; costs must be finite and at most %g in absolute value",
                (long long)(k / p->m), (long long)(k % p->m), p->cost[k], largest);
    *mass = 0.5 * (sum_a + sum_b);
    return DDSC_OK;
}

SIZED_INIT(transport_struct, ddsc_transport, n_plan, NULL);
SIZED_INIT(problem_struct, ddsc_transport_problem, cost, NULL);

ddsc_status cost_transport_take(ddsc_context *ctx, ddsc_transport *own, const ddsc_transport *given)
{
    return sized_take(ctx, &transport_struct, own, given);
}

ddsc_status cost_problem_take(ddsc_context *ctx, ddsc_transport *own,
                              ddsc_transport_problem *problem, double *mass,
                              const ddsc_transport *given, const ddsc_transport_problem *asked,
                              double largest_cost)
{
    CHECK(sized_take(ctx, &transport_struct, own, given));
    CHECK(sized_take(ctx, &problem_struct, problem, asked));
    return check_problem(ctx, problem, largest_cost, mass);
}

void cost_problem_give(ddsc_transport *given, const ddsc_transport *own)
{
    sized_give(&transport_struct, given, own);
}
