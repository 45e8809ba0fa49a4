/* The public call for one entropic problem: checks what a caller may get wrong, then the solver. */
#include "api/api.h"

#include <math.h>

#include "base/sized.h"
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

/* Every entry of an entropic plan is above zero, so there is no shorter form of it. */
static ddsc_status check_places(ddsc_context *ctx, const ddsc_transport *to)
{
    if (!to->plan_row && !to->plan_column && !to->plan_mass)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "sinkhorn: its plan has no zeros to leave out; ask for `plan`");
}

/* The normalised problem scaled back: plan and values carry the mass, potentials do not change. */
static void give_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double mass,
                      double *plan)
{
    sinkhorn_plan(solver, problem, plan);
    for (int64_t k = 0; k < problem->n * problem->m; k++)
        plan[k] *= mass;
}

static const ddsc_sinkhorn_settings defaults = {
    .value = DDSC_SINKHORN_REGULARISED, .tolerance = 1e-9, .max_iterations = 100000};
static const sized_struct settings_struct =
    SIZED_STRUCT(ddsc_sinkhorn_settings, tolerance, &defaults);

void ddsc_sinkhorn_settings_init_sized(ddsc_sinkhorn_settings *settings, size_t size)
{
    sized_init(&settings_struct, settings, size);
}

ddsc_status ddsc_sinkhorn_run(ddsc_context *context, ddsc_transport *transport,
                              const ddsc_transport_problem *asked,
                              const ddsc_sinkhorn_settings *settings)
{
    ddsc_transport to;
    ddsc_transport_problem p;
    ddsc_sinkhorn_settings set;
    sinkhorn_solver *solver = NULL;
    sinkhorn_result found = {0};
    double mass = 0, *scratch = NULL;
    ddsc_status status = DDSC_OK;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    TRY(transport_take(context, &to, &p, transport, asked));
    TRY(sized_take(context, &settings_struct, &set, settings));
    sinkhorn_problem problem = {
        p.n, p.m, p.a, p.b, p.cost, p.m, {set.epsilon, set.tolerance, set.max_iterations, true}};
    TRY(check_settings(context, &problem, set.value));
    TRY(check_places(context, &to));
    TRY(check_numbers(context, &problem, &mass));
    TRY(sinkhorn_create(context, &solver));
    if (to.f || to.g)
        TRY(MEM_NEW(context, scratch, p.n + p.m));
    sinkhorn_poll(solver);
    TRY(sinkhorn_solve(solver, &found, &problem));
    if (scratch)
        sinkhorn_potentials(solver, &problem, to.f ? to.f : scratch, to.g ? to.g : scratch + p.n);
    if (to.plan)
        give_plan(solver, &problem, mass, to.plan);
    to.primal = mass * found.sharp;
    to.dual = mass * found.regularised;
    to.value = set.value == DDSC_SINKHORN_SHARP ? to.primal : to.dual;
    to.gap = found.marginal_error;
    to.n_plan = 0;
    to.n_iterations = found.iterations;
    transport_give(transport, &to);
    if (status == DDSC_NOT_CONVERGED)
        ctx_fail(context, status,
                 "sinkhorn: marginal error %.3g after %lld iterations, tolerance %g",
                 found.marginal_error, (long long)found.iterations, set.tolerance);
done:
    mem_free(context, scratch);
    sinkhorn_destroy(solver);
    return status;
}
