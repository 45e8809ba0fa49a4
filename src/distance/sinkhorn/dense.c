/* Implements the dense engine: loads a problem, computes the values of its plan, and returns
 * potentials and plan after a solve.
 *
 * Loading drops zero weights. The smaller side becomes the rows unless both are small enough for a
 * group. The cost is reduced so that it is non-negative with a zero in every row and column: C_ij -
 * base_f_i - base_g_j >= 0. Constant offsets of rows and columns do not change the plan, and
 * without them, the exponents C / eps are more accurate. Costs with an extreme range are scaled by
 * a power of two, which is exact.
 *
 * After a solve, the regularized value is computed from the dual, <a, f> + <b, g> - eps (sum P -
 * 1). The error of this value is of second order in the error of the potentials. If epsilon is far
 * above the cost, the terms of the dual cancel, so the primal formula, whose terms are
 * non-negative, is used. Above a second limit of epsilon, f_i = sum_j b_j C_ij - c / 2 is exact up
 * to rounding errors, where c is the mean cost.
 *
 * Loading a problem and computing a value take O(n m) time. The iterations are in
 * dense_levels.c. */
#include "distance/sinkhorn/dense.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "distance/sinkhorn/group.h"

ddsc_status sinkhorn_create(ddsc_context *ctx, sinkhorn_solver **solver)
{
    CHECK(mem_zero(ctx, solver, 1, sizeof **solver));
    (*solver)->ctx = ctx;
    return DDSC_OK;
}

void sinkhorn_destroy(sinkhorn_solver *solver)
{
    if (!solver)
        return;
    mem_free(solver->ctx, solver->memory.block);
    mem_free(solver->ctx, solver->newton.block);
    mem_free(solver->ctx, solver);
}

void sinkhorn_poll(sinkhorn_solver *solver)
{
    solver->polls = true;
}

/* ---- loading ---- */

static int64_t count_weighted(const double *weight, int64_t n, double *sum)
{
    int64_t count = 0;
    *sum = 0;
    for (int64_t i = 0; i < n; i++)
        *sum += weight[i];
    for (int64_t i = 0; i < n; i++)
        count += weight[i] > SINKHORN_NO_WEIGHT * *sum;
    return count;
}

static void take_arrays(dense_arrays *s, arena *a)
{
    dense_side *sides[] = {&s->row, &s->column};
    s->cost = arena_take(a, s->rows * s->stride, sizeof *s->cost);
    s->kernel = arena_take(a, s->rows * s->stride, sizeof *s->kernel);
    s->row_pad = arena_take(a, s->rows, sizeof *s->row_pad);
    for (int k = 0; k < 2; k++) {
        dense_side *x = sides[k];
        double **arrays[] = {&x->weight, &x->scale, &x->potential, &x->sum, &x->base, &x->last};
        for (int p = 0; p < 6; p++)
            *arrays[p] = arena_take(a, BASE_ROUND_UP(x->n, SIMD_LANES), sizeof(double));
        x->kept = arena_take(a, x->n, sizeof *x->kept);
    }
}

/* Reserves the arrays for n x m and clears them. The costs and the kernel are not cleared, because
 * they are written before they are read. */
static ddsc_status reserve(sinkhorn_solver *z, int64_t n, int64_t m)
{
    dense_arrays *s = &z->s;
    arena measured = {0};
    s->row.n = n;
    s->column.n = m;
    s->rows = BASE_ROUND_UP(n, SINKHORN_ROW_BLOCK);
    s->stride = BASE_ROUND_UP(m, SIMD_LANES);
    take_arrays(s, &measured);
    CHECK(workspace_grow(z->ctx, &z->memory, measured.used));
    take_arrays(s, &(arena){.base = z->memory.block});
    char *unwritten = (char *)(s->kernel + n * s->stride);
    memset(unwritten, 0, (size_t)(z->memory.block + measured.used - unwritten));
    for (int64_t i = n; i < s->rows; i++)
        s->row_pad[i] = 1;
    return DDSC_OK;
}

ddsc_status sinkhorn_reserve(sinkhorn_solver *solver, int64_t n)
{
    return reserve(solver, n, n);
}

static void load_side(dense_side *x, const double *weight, int64_t n, double sum)
{
    for (int64_t i = 0, at = 0; i < n; i++)
        if (weight[i] > SINKHORN_NO_WEIGHT * sum) {
            x->weight[at] = x->scale[at] = weight[i] / sum;
            x->kept[at++] = (int32_t)i;
        }
}

static void load_cost(sinkhorn_solver *z, const sinkhorn_problem *problem)
{
    const dense_arrays *s = &z->s;
    int64_t by_row = z->swapped ? 1 : problem->cost_stride;
    int64_t by_column = z->swapped ? problem->cost_stride : 1;
    bool whole = !z->swapped && s->column.n == problem->m;
    for (int64_t i = 0; i < s->row.n; i++) {
        const double *from = problem->cost + s->row.kept[i] * by_row;
        double *to = s->cost + i * s->stride;
        if (whole)
            memcpy(to, from, (size_t)s->column.n * sizeof *to);
        else
            for (int64_t j = 0; j < s->column.n; j++)
                to[j] = from[s->column.kept[j] * by_column];
        for (int64_t j = s->column.n; j < s->stride; j++)
            to[j] = INFINITY;
    }
}

static ddsc_status load_problem(sinkhorn_solver *z, const sinkhorn_problem *problem)
{
    dense_arrays *s = &z->s;
    double sum_a, sum_b;
    int64_t n = count_weighted(problem->a, problem->n, &sum_a);
    int64_t m = count_weighted(problem->b, problem->m, &sum_b);
    if (n == 0 || m == 0)
        return ctx_fail(z->ctx, DDSC_ERROR_INPUT,
                        "transport: the %s weights sum to zero; their sum must be positive",
                        n == 0 ? "row" : "column");
    z->swapped = n > m && !sinkhorn_group_fits(n, m);
    CHECK(z->swapped ? reserve(z, m, n) : reserve(z, n, m));
    load_side(z->swapped ? &s->column : &s->row, problem->a, problem->n, sum_a);
    load_side(z->swapped ? &s->row : &s->column, problem->b, problem->m, sum_b);
    load_cost(z, problem);
    return DDSC_OK;
}

/* Adds the potentials to the base and subtracts them from the cost. If the range of the cost is
 * extremely large or small, the cost is scaled close to 1 by a power of two, which is exact.
 * Returns epsilon in the unit of the scaled cost. */
static double rebase(sinkhorn_solver *z, double epsilon)
{
    dense_side *sides[] = {&z->s.row, &z->s.column};
    z->range = sinkhorn_dense_subtract(&z->s);
    bool usual = z->range == 0 || (z->range > 1e-100 && z->range < 1e100);
    z->unit = usual ? 1 : ldexp(1, BASE_MAX(ilogb(z->range), -1000));
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < sides[k]->n; i++) {
            sides[k]->base[i] = sides[k]->potential[i] / z->unit;
            sides[k]->potential[i] = 0;
        }
    for (int64_t k = 0; !usual && k < z->s.row.n * z->s.stride; k++)
        z->s.cost[k] /= z->unit;
    z->range /= z->unit;
    return fmin(fmax(epsilon / z->unit, 1e-300), 1e300);
}

/* Reduces the cost so that C - base_f - base_g >= 0. Constant offsets of the cost then do not
 * reduce the accuracy of the exponents. */
static double reduce_cost(sinkhorn_solver *z, double epsilon)
{
    sinkhorn_dense_reduce(&z->s);
    return rebase(z, epsilon);
}

/* ---- values ---- */

/* Computes t e^t - e^t + 1 for small t without cancellation, as t^2/2 + t^3/3 + t^4/8 + ... */
static double entropy_term(double t)
{
    double sum = 0, power = t, factorial = 1;
    for (int k = 2; k <= 9; k++) {
        power *= t;
        factorial *= k;
        sum += power * (k - 1) / factorial;
    }
    return sum;
}

/* Computes KL(P | a x b) for P close to a x b. */
static double near_entropy(const sinkhorn_solver *z)
{
    const dense_side *x = &z->s.row, *y = &z->s.column;
    double total = 0, *log_v = y->sum;
    for (int64_t j = 0; j < y->n; j++)
        log_v[j] = log(y->scale[j] / y->weight[j]);
    for (int64_t i = 0; i < x->n; i++) {
        double row = 0, log_u = log(x->scale[i] / x->weight[i]);
        for (int64_t j = 0; j < y->n; j++) {
            double c = z->s.cost[i * z->s.stride + j];
            double t = ((x->potential[i] + y->potential[j]) - c) / z->epsilon;
            row += y->weight[j] * entropy_term(t + (log_u + log_v[j]));
        }
        total += x->weight[i] * row;
    }
    return total;
}

/* Returns the full potential of a point. Requires a previous call of sinkhorn_dense_logs. */
static double potential_at(const sinkhorn_solver *z, const dense_side *x, int64_t i)
{
    return x->base[i] + (x->potential[i] + z->epsilon * x->last[i]);
}

static double side_value(const sinkhorn_solver *z, const dense_side *x)
{
    double sum = 0;
    sinkhorn_dense_logs(x);
    for (int64_t i = 0; i < x->n; i++)
        sum += x->weight[i] * potential_at(z, x, i);
    return sum;
}

/* Computes the values of the plan. The error of the dual value <a,f> + <b,g> - eps (sum P - 1) is
 * of second order. If epsilon is large, the terms of the dual cancel, so the primal formula is
 * used, whose terms are all non-negative. */
static void find_values(const sinkhorn_solver *z, bool sharp, sinkhorn_result *result)
{
    const dense_side *x = &z->s.row;
    bool large = z->epsilon > SINKHORN_LARGE_EPSILON * z->range;
    double primal = sharp || large ? sinkhorn_dense_cost(&z->s) : NAN, excess = 0;
    result->sharp = z->unit * primal;
    if (large) {
        result->regularized = z->unit * (primal + z->epsilon * near_entropy(z));
        return;
    }
    for (int64_t i = 0; i < x->n; i++)
        excess += x->scale[i] * x->sum[i] - x->weight[i];
    result->regularized =
        z->unit * (side_value(z, x) + side_value(z, &z->s.column) - z->epsilon * excess);
}

/* ---- solving ---- */

/* Solves the problem for an epsilon far above the cost. The potentials are then means of the cost,
 * f_i = sum_j b_j C_ij - c/2, where c is the overall mean, up to an error of (C / eps)^2. Scalings
 * are not used, because the value would contain their rounding errors multiplied by epsilon. */
static void solve_product(sinkhorn_solver *z, double epsilon, dense_run *run)
{
    dense_side *x = &z->s.row, *y = &z->s.column;
    double mean = 0;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < y->n; j++) {
            double cost = z->s.cost[i * z->s.stride + j];
            x->potential[i] += y->weight[j] * cost;
            y->potential[j] += x->weight[i] * cost;
        }
    for (int64_t i = 0; i < x->n; i++)
        mean += x->weight[i] * x->potential[i];
    for (int64_t i = 0; i < x->n; i++)
        x->potential[i] -= mean;
    z->epsilon = epsilon;
    sinkhorn_dense_fill(&z->s, epsilon, 1);
    run->error = sinkhorn_dense_measure(&z->s);
    run->iterations = 1;
}

static ddsc_status finish(const sinkhorn_solver *z, const sinkhorn_rule *rule, const dense_run *run,
                          sinkhorn_result *result)
{
    find_values(z, rule->sharp, result);
    result->marginal_error = run->error;
    result->iterations = run->iterations;
    return run->error <= rule->tolerance ? DDSC_OK : DDSC_NOT_CONVERGED;
}

ddsc_status sinkhorn_solve(sinkhorn_solver *solver, sinkhorn_result *result,
                           const sinkhorn_problem *problem)
{
    const sinkhorn_rule *rule = &problem->rule;
    dense_run run = {.tolerance = rule->tolerance, .cap = rule->max_iterations};
    CHECK(load_problem(solver, problem));
    double epsilon = reduce_cost(solver, rule->epsilon);
    if (epsilon > SINKHORN_PRODUCT_EPSILON * solver->range)
        solve_product(solver, epsilon, &run);
    else
        CHECK(sinkhorn_dense_iterate(solver, epsilon, &run));
    return finish(solver, rule, &run, result);
}

/* Advances to evaluation k, which follows 2^k iterations, the last of them without relaxation. */
static bool evaluate_dense(void *state, int k, double *value)
{
    sinkhorn_solver *z = state;
    for (int left = k < 2 ? 1 : 1 << (k - 1); left > 0; left--) {
        sinkhorn_seen seen = sinkhorn_dense_pass(&z->s, left == 1 ? 1 : 1.5);
        if (!sinkhorn_in_range(&sinkhorn_engine_dense, &seen))
            return false;
    }
    *value = z->unit * (side_value(z, &z->s.row) + side_value(z, &z->s.column));
    return true;
}

/* Iterates at the requested epsilon without levels, because a bound for a larger epsilon is not a
 * valid bound. The reduced costs have a zero in every row and column, so no sum underflows, even if
 * the costs are thousands of times larger than epsilon. */
double sinkhorn_bound(sinkhorn_solver *solver, const sinkhorn_problem *problem, double enough)
{
    if (load_problem(solver, problem) < 0)
        return -INFINITY;
    double epsilon = reduce_cost(solver, problem->rule.epsilon);
    if (epsilon > SINKHORN_LARGE_EPSILON * solver->range)
        return -INFINITY;
    sinkhorn_dense_start(solver, epsilon);
    return sinkhorn_dual_bound(evaluate_dense, solver, SINKHORN_DENSE_EVALUATIONS,
                               SINKHORN_DENSE_PATIENCE, problem->rule.epsilon, enough);
}

/* Solves a symmetric problem by iterating u <- sqrt(u a / K u) (Knight, Ruiz, Ucar 2014; Feydy et
 * al. 2019). For the positive definite kernel of a squared distance, each step at least halves the
 * error. K has a unit diagonal, so u remains within [a, sqrt(a)] and no epsilon requires
 * absorption. The iteration starts from the limit of u for large or for small epsilon, whichever is
 * closer. An error e in u changes the value by about eps e^2, so after a distant start, the error
 * could be as large as the tolerance. */
ddsc_status sinkhorn_self(sinkhorn_solver *solver, sinkhorn_result *result,
                          const sinkhorn_problem *problem)
{
    const sinkhorn_rule *rule = &problem->rule;
    const dense_side *x = &solver->s.row, *y = &solver->s.column;
    sinkhorn_problem twice = *problem;
    dense_run run = {0};
    twice.m = problem->n;
    twice.b = problem->a;
    CHECK(load_problem(solver, &twice));
    /* f = g = 0 at this point, so the cost does not change */
    solver->epsilon = rebase(solver, rule->epsilon);
    for (int64_t i = 0; i < x->n; i++)
        x->scale[i] = y->scale[i] =
            solver->epsilon > solver->range ? x->weight[i] : sqrt(x->weight[i]);
    sinkhorn_dense_fill(&solver->s, solver->epsilon, 1);
    run.error = sinkhorn_dense_measure(&solver->s);
    for (; run.error > rule->tolerance && run.iterations < rule->max_iterations; run.iterations++) {
        for (int64_t i = 0; i < x->n; i++)
            x->scale[i] = y->scale[i] = sqrt(x->scale[i] * (x->weight[i] / x->sum[i]));
        run.error = sinkhorn_dense_measure(&solver->s);
    }
    return finish(solver, rule, &run, result);
}

/* ---- potentials and plan after a solve ---- */

static void spread_side(const sinkhorn_solver *z, const dense_side *x, double shift, double *out,
                        int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        out[i] = NAN;
    for (int64_t i = 0; i < x->n; i++)
        out[x->kept[i]] = z->unit * (potential_at(z, x, i) + shift);
}

/* Extends the potential of one side to points with zero weight by -eps log sum_j w_j exp((h_j -
 * C_j) / eps), where the sum runs over the points with positive weight on the other side. */
static void fill_gaps(const dense_side *other, const double *potential, double epsilon, double *out,
                      int64_t size, const double *cost, int64_t own_step, int64_t other_step)
{
    for (int64_t i = 0; i < size; i++) {
        if (!isnan(out[i]))
            continue;
        double high = -INFINITY, sum = 0;
        const double *row = cost + i * own_step;
        for (int64_t k = 0; k < other->n; k++)
            high = fmax(high, potential[other->kept[k]] - row[other->kept[k] * other_step]);
        for (int64_t k = 0; k < other->n; k++) {
            double t = potential[other->kept[k]] - row[other->kept[k] * other_step] - high;
            sum += other->weight[k] * exp(t / epsilon);
        }
        out[i] = -high - epsilon * log(sum);
    }
}

void sinkhorn_potentials(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *f,
                         double *g)
{
    const dense_side *of_f = solver->swapped ? &solver->s.column : &solver->s.row;
    const dense_side *of_g = solver->swapped ? &solver->s.row : &solver->s.column;
    double shift = (side_value(solver, of_g) - side_value(solver, of_f)) / 2;
    double epsilon = problem->rule.epsilon;
    spread_side(solver, of_f, shift, f, problem->n);
    spread_side(solver, of_g, -shift, g, problem->m);
    fill_gaps(of_g, g, epsilon, f, problem->n, problem->cost, problem->cost_stride, 1);
    fill_gaps(of_f, f, epsilon, g, problem->m, problem->cost, 1, problem->cost_stride);
}

void sinkhorn_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *plan)
{
    const dense_side *x = &solver->s.row, *y = &solver->s.column;
    int64_t by_row = solver->swapped ? 1 : problem->m, by_column = solver->swapped ? problem->m : 1;
    memset(plan, 0, (size_t)(problem->n * problem->m) * sizeof *plan);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < y->n; j++)
            plan[x->kept[i] * by_row + y->kept[j] * by_column] =
                x->scale[i] * solver->s.kernel[i * solver->s.stride + j] * y->scale[j];
}
