/* Implements the public function that solves one entropic problem with a cost matrix.
 *
 * It minimizes <P, C> + eps KL(P | a x b) over the plans P with row sums a and column sums b.
 * Weights with total mass s are divided by s, the dense engine (sinkhorn.h) solves the normalized
 * problem, and the plan and the values are multiplied by s. The potentials do not change.
 *
 * The function first checks that weights are non-negative with equal sums, that costs are finite,
 * and that the tolerance is attainable in double precision. A solve takes O(n m) time per iteration
 * and O(n m) memory. If the iteration limit is reached, the result is the current plan with its
 * marginal error. */
#include <math.h>

#include "base/sized.h"
#include "distance/cost/problem.h"
#include "distance/sinkhorn/sinkhorn.h"

static ddsc_status check_settings(ddsc_context *ctx, const ddsc_sinkhorn_settings *s)
{
    CHECK(ctx_check(ctx, s->epsilon > 0 && isfinite(s->epsilon), "epsilon", s->epsilon,
                    "positive and finite"));
    CHECK(ctx_check(ctx, s->tolerance >= 1e-15, "tolerance", s->tolerance,
                    "at least 1e-15 (the limit of double precision)"));
    CHECK(ctx_check(ctx, s->max_iterations >= 1, "max_iterations", (double)s->max_iterations,
                    "at least 1"));
    if (s->value != DDSC_SINKHORN_REGULARIZED && s->value != DDSC_SINKHORN_SHARP)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "sinkhorn: value %d is not defined for a cost matrix; use DDSC_SINKHORN_REGULARIZED "
            "or DDSC_SINKHORN_SHARP",
            (int)s->value);
    return DDSC_OK;
}

/* Rejects a request for a sparse plan, because every entry of an entropic plan is positive. */
static ddsc_status check_places(ddsc_context *ctx, const ddsc_transport *to)
{
    if (!to->plan_row && !to->plan_column && !to->plan_mass)
        return DDSC_OK;
    return ctx_fail(
        ctx, DDSC_ERROR_ARGUMENT,
        "sinkhorn: an entropic plan is dense; request `plan` instead of `plan_row`, `plan_column` "
        "and `plan_mass`");
}

/* Copies the plan of the normalized problem, multiplied by the mass. */
static void give_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double mass,
                      double *plan)
{
    sinkhorn_plan(solver, problem, plan);
    for (int64_t k = 0; k < problem->n * problem->m; k++)
        plan[k] *= mass;
}

static const ddsc_sinkhorn_settings defaults = {
    .value = DDSC_SINKHORN_REGULARIZED, .tolerance = 1e-9, .max_iterations = 100000};
SIZED_INIT(settings_struct, ddsc_sinkhorn_settings, tolerance, &defaults);

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
    CHECK(ctx_enter(context));
    TRY(sized_take(context, &settings_struct, &set, settings));
    TRY(check_settings(context, &set));
    TRY(cost_problem_take(context, &to, &p, &mass, transport, asked, SINKHORN_MAX_COST));
    sinkhorn_problem problem = {
        p.n, p.m, p.a, p.b, p.cost, p.m, {set.epsilon, set.tolerance, set.max_iterations, true}};
    TRY(check_places(context, &to));
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
    to.dual = mass * found.regularized;
    to.value = set.value == DDSC_SINKHORN_SHARP ? to.primal : to.dual;
    to.gap = found.marginal_error;
    to.n_plan = 0;
    to.n_iterations = found.iterations;
    cost_problem_give(transport, &to);
    if (status == DDSC_NOT_CONVERGED)
        ctx_fail(context, status,
                 "sinkhorn: the marginal error is %.3g after %lld iterations (tolerance %g); raise "
                 "max_iterations or the tolerance",
                 found.marginal_error, (long long)found.iterations, set.tolerance);
done:
    mem_free(context, scratch);
    sinkhorn_destroy(solver);
    return status;
}
