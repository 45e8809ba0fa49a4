/* The entropic solver: loading a problem (zero weights dropped, the smaller side as rows unless
 * both are small enough for sinkhorn_lanes.h, the cost reduced to be non-negative with a zero in
 * every row and column), and the values of the plan found. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "sinkhorn/group.h"
#include "sinkhorn/solver.h"

/* Beyond this multiple of the cost range the first-order potentials are exact to rounding. */
static const double PRODUCT_EPSILON = 1e8;
static const double BOUND_RANGE = 1e60;

ddsc_status sinkhorn_create(ddsc_context *ctx, sinkhorn_solver **solver)
{
    ddsc_status status = mem_zero(ctx, solver, 1, sizeof **solver);
    if (status == DDSC_OK)
        (*solver)->ctx = ctx;
    return status;
}

void sinkhorn_destroy(sinkhorn_solver *solver)
{
    if (!solver)
        return;
    mem_free(solver->ctx, solver->block);
    mem_free(solver->ctx, solver->kept);
    mem_free(solver->ctx, solver->newton.block);
    mem_free(solver->ctx, solver);
}

/* ---- loading ---- */

static int64_t keep_weighted(int32_t *kept, const double *weight, int64_t n, double *sum)
{
    int64_t count = 0;
    *sum = 0;
    for (int64_t i = 0; i < n; i++)
        *sum += weight[i];
    for (int64_t i = 0; i < n; i++)
        if (weight[i] > NO_WEIGHT * *sum)
            kept[count++] = (int32_t)i;
    return count;
}

static int64_t padded(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Lay the arrays out in one block, each on a 64-byte boundary. */
static ddsc_status reserve(sinkhorn_solver *z, int64_t n, int64_t m)
{
    scaling *s = &z->s;
    s->n = n;
    s->m = m;
    s->rows = padded(n, ROW_BLOCK);
    s->stride = padded(m, SIMD_LANES);
    int64_t side = padded(n, SIMD_LANES), area = s->rows * s->stride;
    int64_t need = 2 * area + 7 * side + 6 * s->stride;
    if (need > z->capacity) {
        mem_free(z->ctx, z->block);
        z->capacity = 0;
        ddsc_status status = MEM_NEW(z->ctx, z->block, need);
        if (status < 0)
            return status;
        z->capacity = need;
    }
    int64_t unpadded =
        area + n * s->stride; /* the kernel's own entries are written before they are read */
    memset(z->block + unpadded, 0, (size_t)(need - unpadded) * sizeof *z->block);
    double *at = z->block,
           **rows[] = {&s->a, &s->f, &s->u, &s->row_sum, &z->base_f, &z->last_f, &s->row_pad};
    double **columns[] = {&s->b, &s->g, &s->v, &s->column_sum, &z->base_g, &z->last_g};
    s->cost = at;
    s->kernel = at += area;
    at += area;
    for (int k = 0; k < 7; k++, at += side)
        *rows[k] = at;
    for (int k = 0; k < 6; k++, at += s->stride)
        *columns[k] = at;
    for (int64_t i = n; i < s->rows; i++)
        s->row_pad[i] = 1;
    return DDSC_OK;
}

static void load_weights(double *out, const double *weight, const int32_t *kept, int64_t n,
                         double sum)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = weight[kept[i]] / sum;
}

static void load_cost(sinkhorn_solver *z, const sinkhorn_problem *problem)
{
    const scaling *s = &z->s;
    int64_t by_row = z->swapped ? 1 : problem->cost_stride;
    int64_t by_column = z->swapped ? problem->cost_stride : 1;
    bool whole = !z->swapped && s->m == problem->m;
    for (int64_t i = 0; i < s->n; i++) {
        const double *from = problem->cost + z->row_of[i] * by_row;
        double *to = s->cost + i * s->stride;
        if (whole)
            memcpy(to, from, (size_t)s->m * sizeof *to);
        else
            for (int64_t j = 0; j < s->m; j++)
                to[j] = from[z->column_of[j] * by_column];
        for (int64_t j = s->m; j < s->stride; j++)
            to[j] = INFINITY;
    }
}

/* Costs of extreme size are brought near 1 by a power of two, which rounds nothing. */
static void choose_unit(sinkhorn_solver *z)
{
    double size = scaling_magnitude(&z->s);
    z->unit = 1;
    if (size == 0 || (size > 1e-100 && size < 1e100))
        return;
    int power = BASE_MAX(ilogb(size), -1000);
    z->unit = ldexp(1, power);
    scaling_multiply(&z->s, ldexp(1, -power));
}

static double unit_epsilon(const sinkhorn_solver *z, double epsilon)
{
    return fmin(fmax(epsilon / z->unit, 1e-300), 1e300);
}

/* C - base_f - base_g >= 0: the exponents lose no digits to an offset of the cost. */
static void reduce_cost(sinkhorn_solver *z)
{
    scaling *s = &z->s;
    scaling_reduce(s);
    z->range = scaling_subtract(s);
    memcpy(z->base_f, s->f, (size_t)s->n * sizeof *s->f);
    memcpy(z->base_g, s->g, (size_t)s->m * sizeof *s->g);
    memset(s->f, 0, (size_t)s->n * sizeof *s->f);
    memset(s->g, 0, (size_t)s->m * sizeof *s->g);
}

static ddsc_status reserve_kept(sinkhorn_solver *z, int64_t need)
{
    if (need <= z->kept_capacity)
        return DDSC_OK;
    mem_free(z->ctx, z->kept);
    z->kept_capacity = 0;
    CHECK(MEM_NEW(z->ctx, z->kept, need));
    z->kept_capacity = need;
    return DDSC_OK;
}

ddsc_status sinkhorn_reserve(sinkhorn_solver *solver, int64_t n)
{
    CHECK(reserve_kept(solver, 2 * n));
    return reserve(solver, n, n);
}

static ddsc_status load(sinkhorn_solver *z, const sinkhorn_problem *problem)
{
    CHECK(reserve_kept(z, problem->n + problem->m));
    double sum_a, sum_b;
    int32_t *kept_b = z->kept + problem->n;
    int64_t n = keep_weighted(z->kept, problem->a, problem->n, &sum_a);
    int64_t m = keep_weighted(kept_b, problem->b, problem->m, &sum_b);
    if (n == 0 || m == 0)
        return ctx_fail(z->ctx, DDSC_ERROR_INPUT, "transport: the %s weights sum to zero",
                        n == 0 ? "row" : "column");
    z->swapped = n > m && !sinkhorn_lanes_fits(n, m);
    z->row_of = z->swapped ? kept_b : z->kept;
    z->column_of = z->swapped ? z->kept : kept_b;
    ddsc_status status = reserve(z, z->swapped ? m : n, z->swapped ? n : m);
    if (status < 0)
        return status;
    scaling *s = &z->s;
    load_weights(s->a, z->swapped ? problem->b : problem->a, z->row_of, s->n,
                 z->swapped ? sum_b : sum_a);
    load_weights(s->b, z->swapped ? problem->a : problem->b, z->column_of, s->m,
                 z->swapped ? sum_a : sum_b);
    memcpy(s->u, s->a, (size_t)s->n * sizeof *s->u);
    memcpy(s->v, s->b, (size_t)s->m * sizeof *s->v);
    load_cost(z, problem);
    choose_unit(z);
    return DDSC_OK;
}

/* ---- values ---- */

/* t e^t - e^t + 1 for small t, without cancellation: t^2/2 + t^3/3 + t^4/8 + ... */
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

/* KL(P | a x b) where P is close to a x b. */
static double near_entropy(const sinkhorn_solver *z)
{
    const scaling *s = &z->s;
    double total = 0, *log_v = s->column_sum;
    for (int64_t j = 0; j < s->m; j++)
        log_v[j] = log(s->v[j] / s->b[j]);
    for (int64_t i = 0; i < s->n; i++) {
        double row = 0, log_u = log(s->u[i] / s->a[i]);
        for (int64_t j = 0; j < s->m; j++) {
            double t = ((s->f[i] + s->g[j]) - s->cost[i * s->stride + j]) / z->epsilon;
            row += s->b[j] * entropy_term(t + (log_u + log_v[j]));
        }
        total += s->a[i] * row;
    }
    return total;
}

/* Rows or columns, seen alike; the logarithms take the place of the last level's potentials. */
typedef struct side {
    int64_t n;
    const double *weight, *base, *potential;
    const double *log_scale; /* log(scale / weight) */
    const int32_t *kept;
} side;

static side side_of(const sinkhorn_solver *z, bool columns)
{
    const scaling *s = &z->s;
    if (columns) {
        scaling_logs(z->last_g, s->v, s->b, s->m);
        return (side){s->m, s->b, z->base_g, s->g, z->last_g, z->column_of};
    }
    scaling_logs(z->last_f, s->u, s->a, s->n);
    return (side){s->n, s->a, z->base_f, s->f, z->last_f, z->row_of};
}

static double potential_at(const sinkhorn_solver *z, const side *x, int64_t i)
{
    return x->base[i] + (x->potential[i] + z->epsilon * x->log_scale[i]);
}

static double side_value(const sinkhorn_solver *z, bool columns)
{
    side x = side_of(z, columns);
    double sum = 0;
    for (int64_t i = 0; i < x.n; i++)
        sum += x.weight[i] * potential_at(z, &x, i);
    return sum;
}

/* The dual value <a,f> + <b,g> - eps (sum P - 1) is exact to second order in the error. For a large
 * epsilon it cancels, and the primal formula with its non-negative terms is taken. */
static void find_values(const sinkhorn_solver *z, sinkhorn_result *result)
{
    const scaling *s = &z->s;
    double sharp = scaling_cost(s, z->base_f, z->base_g);
    result->sharp = z->unit * sharp;
    if (z->epsilon > SINKHORN_LARGE_EPSILON * z->range) {
        result->regularised = z->unit * (sharp + z->epsilon * near_entropy(z));
        return;
    }
    double excess = 0;
    for (int64_t i = 0; i < s->n; i++)
        excess += s->u[i] * s->row_sum[i] - s->a[i];
    result->regularised =
        z->unit * (side_value(z, false) + side_value(z, true) - z->epsilon * excess);
}

/* ---- solving ---- */

/* For epsilon far above the cost the potentials are the means of the cost: f_i = sum_j b_j C_ij -
 * c/2, c the mean of all, with an error of (C / eps)^2. */
static void solve_product(sinkhorn_solver *z, double epsilon, sinkhorn_state *state)
{
    scaling *s = &z->s;
    double mean = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->m; j++) {
            double cost = s->cost[i * s->stride + j];
            s->f[i] += s->b[j] * cost;
            s->g[j] += s->a[i] * cost;
        }
    for (int64_t i = 0; i < s->n; i++)
        mean += s->a[i] * s->f[i];
    for (int64_t i = 0; i < s->n; i++)
        s->f[i] -= mean;
    z->epsilon = epsilon;
    scaling_fill(s, epsilon, 1);
    state->error = scaling_measure(s);
    state->iterations = 1;
}

ddsc_status sinkhorn_solve(sinkhorn_solver *solver, sinkhorn_result *result,
                           const sinkhorn_problem *problem)
{
    sinkhorn_state state = {.tolerance = problem->tolerance, .cap = problem->max_iterations};
    ddsc_status status = load(solver, problem);
    if (status < 0)
        return status;
    double epsilon = unit_epsilon(solver, problem->epsilon);
    reduce_cost(solver);
    if (epsilon > PRODUCT_EPSILON * solver->range)
        solve_product(solver, epsilon, &state);
    else
        status = sinkhorn_iterate(solver, epsilon, &state);
    if (status < 0)
        return status;
    find_values(solver, result);
    result->marginal_error = state.error;
    result->iterations = state.iterations;
    return state.error <= problem->tolerance ? DDSC_OK : DDSC_NOT_CONVERGED;
}

/* With exact columns the dual value is <a, f> + <b, g>, a lower bound whatever the rows are. */
double sinkhorn_bound(sinkhorn_solver *solver, const sinkhorn_problem *problem, double enough)
{
    if (load(solver, problem) < 0)
        return -INFINITY;
    double epsilon = unit_epsilon(solver, problem->epsilon), best = -INFINITY;
    reduce_cost(solver);
    if (epsilon > SINKHORN_LARGE_EPSILON * solver->range ||
        sinkhorn_levels(solver->range, epsilon) > 0)
        return best;
    sinkhorn_absorb(solver, epsilon);
    for (int k = 1; k <= SINKHORN_BOUND_PASSES; k++) {
        bool look = (k & (k - 1)) == 0;
        scaling_report seen = scaling_pass(&solver->s, look ? 1 : 1.5);
        if (!(seen.low > 1 / BOUND_RANGE && seen.high < BOUND_RANGE))
            return best;
        if (!look)
            continue;
        double value = solver->unit * (side_value(solver, false) + side_value(solver, true));
        double before = best, rounding = 1e-12 * (fabs(value) + problem->epsilon);
        best = fmax(best, value - rounding);
        if (best > enough || (k > 1 && best + SINKHORN_BOUND_PATIENCE * (best - before) < enough))
            return best;
    }
    return best;
}

/* u <- sqrt(u a / K u) (Knight, Ruiz, Ucar 2014; Feydy et al. 2019): for the positive definite
 * kernel of a squared distance the error halves at least each time. K has a unit diagonal, so u
 * stays within [a, sqrt(a)] and nothing has to be absorbed for any epsilon. It begins at the end
 * that epsilon is near: an error e changes the value by about eps e^2, and from a far start it
 * would be as large as the tolerance at any epsilon. */
ddsc_status sinkhorn_self(sinkhorn_solver *solver, sinkhorn_result *result,
                          const sinkhorn_problem *problem)
{
    sinkhorn_problem twice = *problem;
    twice.m = problem->n;
    twice.b = problem->a;
    ddsc_status status = load(solver, &twice);
    if (status < 0)
        return status;
    scaling *s = &solver->s;
    solver->range = scaling_subtract(s); /* f = g = 0 here: only the largest cost */
    solver->epsilon = unit_epsilon(solver, problem->epsilon);
    for (int64_t i = 0; i < s->n; i++)
        s->u[i] = s->v[i] = solver->epsilon > solver->range ? s->a[i] : sqrt(s->a[i]);
    scaling_fill(s, solver->epsilon, 1);
    double error = scaling_measure(s);
    int64_t iterations = 0;
    for (; error > problem->tolerance && iterations < problem->max_iterations; iterations++) {
        for (int64_t i = 0; i < s->n; i++)
            s->u[i] = s->v[i] = sqrt(s->u[i] * (s->a[i] / s->row_sum[i]));
        error = scaling_measure(s);
    }
    find_values(solver, result);
    result->marginal_error = error;
    result->iterations = iterations;
    return error <= problem->tolerance ? DDSC_OK : DDSC_NOT_CONVERGED;
}

/* ---- what stays after a solve ---- */

static void spread(const sinkhorn_solver *z, bool columns, double shift, double *out, int64_t size)
{
    side x = side_of(z, columns);
    for (int64_t i = 0; i < size; i++)
        out[i] = NAN;
    for (int64_t i = 0; i < x.n; i++)
        out[x.kept[i]] = z->unit * (potential_at(z, &x, i) + shift);
}

/* Continue one side's potential to its points without weight, from the kept points of the other
 * side: -eps log sum_j w_j exp((h_j - C_j) / eps). */
static void fill_gaps(const side *other, const double *potential, double epsilon, double *out,
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
    bool swapped = solver->swapped;
    side of_f = side_of(solver, swapped), of_g = side_of(solver, !swapped);
    double shift = (side_value(solver, !swapped) - side_value(solver, swapped)) / 2;
    spread(solver, swapped, shift, f, problem->n);
    spread(solver, !swapped, -shift, g, problem->m);
    fill_gaps(&of_g, g, problem->epsilon, f, problem->n, problem->cost, problem->cost_stride, 1);
    fill_gaps(&of_f, f, problem->epsilon, g, problem->m, problem->cost, 1, problem->cost_stride);
}

void sinkhorn_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *plan)
{
    const scaling *s = &solver->s;
    int64_t by_row = solver->swapped ? 1 : problem->m, by_column = solver->swapped ? problem->m : 1;
    memset(plan, 0, (size_t)(problem->n * problem->m) * sizeof *plan);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->m; j++)
            plan[solver->row_of[i] * by_row + solver->column_of[j] * by_column] =
                s->u[i] * s->kernel[i * s->stride + j] * s->v[j];
}
