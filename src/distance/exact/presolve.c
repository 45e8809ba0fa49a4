/* Converts problems with a cost matrix to the form that the solver expects, and converts the
 * results back.
 *
 * Rows and columns of zero weight are removed, because the simplex needs positive supplies. Costs
 * near the limits of the double range are scaled by a power of two, so that potentials, which are
 * sums and differences of costs, neither overflow nor lose digits. Scaling is exact except for
 * costs that underflow, in which case the values are recomputed from the original costs. Finally,
 * removed rows and columns get the largest feasible potentials, so the dual solution covers the
 * whole problem. Problems that need no conversion are not copied. */
#include <math.h>

#include "base/sum.h"
#include "distance/exact/solver.h"

enum {
    HIGH_EXPONENT = 600
}; /* large costs are scaled to just below 2^600, so that small costs do not underflow */

typedef struct presolved {
    const exact_problem *whole;
    int64_t n, m; /* number of positive weights */
    int32_t *row, *column;
    double *a, *b, *cost;
    double *f, *g; /* potentials of the whole problem */
    int exponent;  /* costs were multiplied by 2^-exponent */
    bool lost;     /* some scaled costs are not exact */
} presolved;

typedef struct survey {
    int64_t n, m;
    double low, high, largest;
} survey;

static survey look_over(const exact_problem *p, const kernels *k)
{
    survey v = {0};
    for (int64_t i = 0; i < p->n; i++)
        v.n += p->a[i] > 0;
    for (int64_t j = 0; j < p->m; j++)
        v.m += p->b[j] > 0;
    k->range(&v.low, &v.high, p->cost, p->n * p->m);
    v.largest = fmax(fabs(v.low), fabs(v.high));
    return v;
}

static int unit_of(double largest)
{
    int exponent;
    frexp(largest, &exponent);
    if (largest == 0 || (largest > 1e-200 && largest < 1e200))
        return 0;
    return exponent > 0 ? exponent - HIGH_EXPONENT : exponent;
}

static void take_presolved(void *owner, arena *a)
{
    presolved *r = owner;
    ARENA_TAKE(a, r->row, r->n);
    ARENA_TAKE(a, r->column, r->m);
    ARENA_TAKE(a, r->a, r->n);
    ARENA_TAKE(a, r->b, r->m);
    ARENA_TAKE(a, r->cost, r->n * r->m);
    ARENA_TAKE(a, r->f, r->whole->n);
    ARENA_TAKE(a, r->g, r->whole->m);
}

static void fill_presolved(presolved *r, const exact_problem *p)
{
    int64_t n = 0, m = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->a[i] > 0) {
            r->a[n] = p->a[i];
            r->row[n++] = (int32_t)i;
        }
    for (int64_t j = 0; j < p->m; j++)
        if (p->b[j] > 0) {
            r->b[m] = p->b[j];
            r->column[m++] = (int32_t)j;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double cost = p->cost[r->row[i] * p->m + r->column[j]], *own = &r->cost[i * m + j];
            *own = ldexp(cost, -r->exponent);
            r->lost |= ldexp(*own, r->exponent) != cost;
        }
}

/* Returns t = cost - other, lowered by one step if t + other would exceed the cost. */
static double below(double cost, double other)
{
    double t = cost - other;
    return t == 0 || t + other <= cost ? t : nextafter(t, -INFINITY);
}

/* Restores the potentials of the whole problem. Rows and columns with zero weight get the largest
 * feasible potentials. The potentials of other rows are lowered where scaling rounded them up. */
static void spread_potentials(exact_solver *s, const presolved *r, const exact_problem *p)
{
    for (int64_t j = 0; j < p->m; j++)
        r->g[j] = INFINITY;
    for (int64_t j = 0; j < r->m; j++)
        r->g[r->column[j]] = ldexp(s->g[j], r->exponent);
    for (int64_t i = 0; i < p->n; i++)
        r->f[i] = INFINITY;
    for (int64_t i = 0; i < r->n; i++)
        r->f[r->row[i]] = ldexp(s->f[i], r->exponent);
    for (int64_t i = 0; i < p->n; i++)
        if (p->a[i] == 0 || r->exponent != 0)
            for (int64_t j = 0; j < r->m; j++)
                r->f[i] =
                    fmin(r->f[i], below(p->cost[i * p->m + r->column[j]], r->g[r->column[j]]));
    for (int64_t j = 0; j < p->m; j++)
        if (p->b[j] == 0)
            for (int64_t i = 0; i < p->n; i++)
                r->g[j] = fmin(r->g[j], below(p->cost[i * p->m + j], r->f[i]));
}

/* Recomputes the primal and the dual value from the original costs. The gap is relative to the
 * primal value alone. */
static void value_again(const exact_solver *s, const presolved *r, const exact_problem *p,
                        exact_result *result)
{
    sum primal = {0, 0}, dual = {0, 0};
    for (int64_t k = 0; k < result->n_plan; k++)
        sum_add(&primal, s->plan_mass[k] * p->cost[s->plan_row[k] * p->m + s->plan_column[k]]);
    for (int64_t i = 0; i < p->n; i++)
        sum_add(&dual, p->a[i] * r->f[i]);
    for (int64_t j = 0; j < p->m; j++)
        sum_add(&dual, p->b[j] * s->b_factor * r->g[j]);
    result->primal = sum_value(primal);
    result->dual = sum_value(dual);
    double gap = fabs(result->primal - result->dual);
    result->gap = gap == 0 ? 0 : gap / fabs(result->primal);
}

static void restore(exact_solver *s, const presolved *r, const exact_problem *p,
                    exact_result *result)
{
    for (int64_t k = 0; k < result->n_plan; k++) {
        s->plan_row[k] = r->row[s->plan_row[k]];
        s->plan_column[k] = r->column[s->plan_column[k]];
    }
    spread_potentials(s, r, p);
    s->f = r->f;
    s->g = r->g;
    result->primal = ldexp(result->primal, r->exponent);
    result->dual = ldexp(result->dual, r->exponent);
    if (r->lost)
        value_again(s, r, p, result);
}

ddsc_status exact_solve(exact_solver *solver, exact_result *result, const exact_problem *problem,
                        int64_t max_pivots)
{
    solver->strict = false;
    survey v = look_over(problem, solver->k);
    exact_costs cost = {.k = solver->k,
                        .n = problem->n,
                        .m = problem->m,
                        .dense = problem->cost,
                        .cap = INFINITY,
                        .bounded = true,
                        .low = v.low,
                        .high = v.high};
    presolved r = {.whole = problem, .n = v.n, .m = v.m, .exponent = unit_of(v.largest)};
    if (r.n == problem->n && r.m == problem->m && r.exponent == 0)
        return exact_solve_ordinary(solver, result, problem->a, problem->b, &cost, max_pivots);
    CHECK(workspace_lay_out(solver->ctx, &solver->given, take_presolved, &r));
    fill_presolved(&r, problem);
    cost.n = r.n;
    cost.m = r.m;
    cost.dense = r.cost;
    cost.bounded = false;
    ddsc_status status = exact_solve_ordinary(solver, result, r.a, r.b, &cost, max_pivots);
    if (status >= 0)
        restore(solver, &r, problem, result);
    return status == DDSC_OK && !(result->gap <= GAP_PROMISED) ? DDSC_NOT_CONVERGED : status;
}
