/* Implements the public functions for a single exact transport problem.
 *
 * ddsc_emd_run solves a problem with weights and a cost matrix, and ddsc_w2_run solves the
 * transport between two items with the squared Euclidean cost. Both functions check their input,
 * run the network simplex (see exact.h) with its default limit on pivots, and copy the value, both
 * bounds, the potentials and the plan to the caller's struct. Each call creates and destroys a
 * solver. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "distance/cost/problem.h"
#include "distance/exact/exact.h"

static void copy_to(void *to, const void *from, int64_t count, size_t size)
{
    if (to)
        memcpy(to, from, (size_t)count * size);
}

/* Copies the result of an n x m problem to the arrays that the caller provided. */
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
        sum += 0 * x[i]; /* NaN if x[i] is not finite */
    return sum == 0;
}

static ddsc_status check_answer(ddsc_context *ctx, const exact_solver *solver,
                                const exact_result *found, const exact_problem *p)
{
    if (isfinite(found->primal) && isfinite(found->dual) && all_finite(exact_f(solver), p->n) &&
        all_finite(exact_g(solver), p->m))
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_INPUT,
                    "weights and costs are too large: the value is between %g and %g, and parts of "
                    "the result overflow; divide the weights or the costs by a constant",
                    found->dual, found->primal);
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
    TRY(cost_problem_take(context, &own, &p, &mass, transport, asked, DBL_MAX));
    exact_problem problem = {p.n, p.m, p.a, p.b, p.cost};
    TRY(exact_create(context, &solver));
    TRY(exact_solve(solver, &found, &problem, 0));
    TRY(check_answer(context, solver, &found, &problem));
    hand_over(&own, p.n, p.m, solver, &found);
    cost_problem_give(transport, &own);
done:
    exact_destroy(solver);
    return status;
}

static ddsc_status check_item(ddsc_context *ctx, const measures *m, int64_t item, char name)
{
    if (item >= 0 && item < m->n)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%c is %lld, but the set has items 0 to %lld", name,
                    (long long)item, (long long)m->n - 1);
}

static ddsc_status check_items(ddsc_context *ctx, const measures *x, int64_t i, const measures *y,
                               int64_t j)
{
    CHECK(check_item(ctx, x, i, 'i'));
    CHECK(check_item(ctx, y, j, 'j'));
    if (x->d != y->d)
        CHECK(ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                       "x has %lld dimensions but y has %lld; they must be equal", (long long)x->d,
                       (long long)y->d));
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
    TRY(cost_transport_take(context, &own, transport));
    TRY(check_items(context, x, i, y, j));
    TRY(exact_create(context, &solver));
    TRY(exact_solve_items(solver, &found, x, i, y, j, 0));
    hand_over(&own, measures_item(x, i).n, measures_item(y, j).n, solver, &found);
    cost_problem_give(transport, &own);
done:
    exact_destroy(solver);
    return status;
}
