/* The public call for one entropic problem: checks what a caller may get wrong, then the solver. */
#include <math.h>

#include "sinkhorn/sinkhorn.h"

static ddsc_status check_weights(ddsc_context *ctx, const char *name, const double *weight,
                                 int64_t n, double *sum)
{
    *sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(weight[i] >= 0) || !isfinite(weight[i]))
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "sinkhorn: weight %s[%lld] is %g", name,
                            (long long)i, weight[i]);
        *sum += weight[i];
    }
    if (!(*sum > 0) || !isfinite(*sum))
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "sinkhorn: the weights %s sum to %g", name, *sum);
    return DDSC_OK;
}

static ddsc_status check_numbers(ddsc_context *ctx, const sinkhorn_problem *problem, double *mass)
{
    double sum_a = 0, sum_b = 0;
    ddsc_status status = check_weights(ctx, "a", problem->a, problem->n, &sum_a);
    if (status == DDSC_OK)
        status = check_weights(ctx, "b", problem->b, problem->m, &sum_b);
    if (status < 0)
        return status;
    if (fabs(sum_a - sum_b) > 1e-6 * fmax(sum_a, sum_b))
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "sinkhorn: the weights sum to %.9g and %.9g", sum_a,
                        sum_b);
    for (int64_t k = 0; k < problem->n * problem->m; k++)
        if (!(fabs(problem->cost[k]) <= SINKHORN_MAX_COST))
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "sinkhorn: cost[%lld, %lld] is %g",
                            (long long)(k / problem->m), (long long)(k % problem->m),
                            problem->cost[k]);
    *mass = 0.5 * (sum_a + sum_b);
    return DDSC_OK;
}

static ddsc_status check_settings(ddsc_context *ctx, const sinkhorn_problem *problem,
                                  ddsc_sinkhorn_value which)
{
    int64_t size;
    if (problem->n < 1 || problem->m < 1 || problem->n > INT32_MAX || problem->m > INT32_MAX ||
        !mul_ok(problem->n, problem->m, &size))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "sinkhorn: a size of %lld x %lld",
                        (long long)problem->n, (long long)problem->m);
    if (!(problem->rule.epsilon > 0) || !isfinite(problem->rule.epsilon))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "sinkhorn: epsilon is %g, must be positive",
                        problem->rule.epsilon);
    if (!(problem->rule.tolerance > 0) || problem->rule.max_iterations < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "sinkhorn: tolerance %g and %lld iterations, both must be positive",
                        problem->rule.tolerance, (long long)problem->rule.max_iterations);
    if (which != DDSC_SINKHORN_REGULARISED && which != DDSC_SINKHORN_SHARP)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "sinkhorn: value %d is not defined for a bare cost matrix", (int)which);
    return DDSC_OK;
}

/* The normalised problem scaled back: plan and values carry the mass, potentials do not change. */
static void give_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double mass,
                      double *plan)
{
    sinkhorn_plan(solver, problem, plan);
    for (int64_t k = 0; k < problem->n * problem->m; k++)
        plan[k] *= mass;
}

ddsc_status ddsc_sinkhorn_run(ddsc_context *context, double *value, ddsc_transport *result,
                              double *plan, double *f, double *g, int64_t n, int64_t m,
                              const double *a, const double *b, const double *cost, double epsilon,
                              ddsc_sinkhorn_value which, double tolerance, int64_t max_iterations)
{
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!a || !b || !cost)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "sinkhorn: a, b and cost must not be NULL");
    sinkhorn_problem problem = {n, m, a, b, cost, m, {epsilon, tolerance, max_iterations, true}};
    sinkhorn_solver *solver = NULL;
    sinkhorn_result found = {0};
    double mass = 0, *room = NULL;
    ddsc_status status = DDSC_OK;
    TRY(check_settings(context, &problem, which));
    TRY(check_numbers(context, &problem, &mass));
    TRY(sinkhorn_create(context, &solver));
    if (f || g)
        TRY(MEM_NEW(context, room, n + m));
    sinkhorn_poll(solver);
    TRY(sinkhorn_solve(solver, &found, &problem));
    if (room)
        sinkhorn_potentials(solver, &problem, f ? f : room, g ? g : room + n);
    if (plan)
        give_plan(solver, &problem, mass, plan);
    if (value)
        *value = mass * (which == DDSC_SINKHORN_SHARP ? found.sharp : found.regularised);
    if (result)
        *result = (ddsc_transport){mass * found.sharp, mass * found.regularised,
                                   found.marginal_error, n * m, found.iterations};
    if (status == DDSC_NOT_CONVERGED)
        ctx_fail(context, status,
                 "sinkhorn: marginal error %.3g after %lld iterations, tolerance %g",
                 found.marginal_error, (long long)found.iterations, tolerance);
done:
    mem_free(context, room);
    sinkhorn_destroy(solver);
    return status;
}
