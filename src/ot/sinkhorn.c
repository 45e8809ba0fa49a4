/* The entropic solver: loading a problem (zero weights dropped, the smaller side as rows, the cost
 * reduced to be non-negative with a zero in every row and column), and the values of the plan
 * found. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "ot/sinkhorn_solver.h"

/* Weights below this fraction of an item cannot be told from none in any value. */
static const double NO_WEIGHT = 1e-30;
/* Beyond this multiple of the cost range the first-order potentials are exact to rounding. */
static const double PRODUCT_EPSILON = 1e8;
/* Beyond this multiple the primal formula is the accurate one. */
static const double LARGE_EPSILON = 100;

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

static ddsc_status load(sinkhorn_solver *z, const sinkhorn_problem *problem)
{
    int64_t need = problem->n + problem->m;
    if (need > z->kept_capacity) {
        mem_free(z->ctx, z->kept);
        z->kept_capacity = 0;
        ddsc_status status = MEM_NEW(z->ctx, z->kept, need);
        if (status < 0)
            return status;
        z->kept_capacity = need;
    }
    double sum_a, sum_b;
    int32_t *kept_b = z->kept + problem->n;
    int64_t n = keep_weighted(z->kept, problem->a, problem->n, &sum_a);
    int64_t m = keep_weighted(kept_b, problem->b, problem->m, &sum_b);
    if (n == 0 || m == 0)
        return ctx_fail(z->ctx, DDSC_ERROR_INPUT, "transport: the %s weights sum to zero",
                        n == 0 ? "row" : "column");
    z->swapped = n > m;
    z->row_of = z->swapped ? kept_b : z->kept;
    z->column_of = z->swapped ? z->kept : kept_b;
    ddsc_status status = reserve(z, BASE_MIN(n, m), BASE_MAX(n, m));
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

static double side_value(const double *weight, const double *base, const double *potential,
                         const double *scale, int64_t n, double epsilon)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += weight[i] * (base[i] + (potential[i] + epsilon * log(scale[i] / weight[i])));
    return sum;
}

static double row_value(const sinkhorn_solver *z)
{
    return side_value(z->s.a, z->base_f, z->s.f, z->s.u, z->s.n, z->epsilon);
}

static double column_value(const sinkhorn_solver *z)
{
    return side_value(z->s.b, z->base_g, z->s.g, z->s.v, z->s.m, z->epsilon);
}

/* The dual value <a,f> + <b,g> - eps (sum P - 1) is exact to second order in the error. For a large
 * epsilon it cancels, and the primal formula with its non-negative terms is taken. */
static void find_values(const sinkhorn_solver *z, sinkhorn_result *result)
{
    const scaling *s = &z->s;
    result->sharp = scaling_cost(s, z->base_f, z->base_g);
    if (z->epsilon > LARGE_EPSILON * z->range) {
        result->regularised = result->sharp + z->epsilon * near_entropy(z);
        return;
    }
    double excess = 0;
    for (int64_t i = 0; i < s->n; i++)
        excess += s->u[i] * s->row_sum[i] - s->a[i];
    result->regularised = row_value(z) + column_value(z) - z->epsilon * excess;
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
    scaling_fill(s, epsilon, INFINITY);
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
    reduce_cost(solver);
    if (problem->epsilon > PRODUCT_EPSILON * solver->range)
        solve_product(solver, problem->epsilon, &state);
    else
        status = sinkhorn_iterate(solver, problem->epsilon, &state);
    if (status < 0)
        return status;
    find_values(solver, result);
    result->marginal_error = state.error;
    result->iterations = state.iterations;
    return state.error <= problem->tolerance ? DDSC_OK : DDSC_NOT_CONVERGED;
}

/* u <- sqrt(u a / K u) (Knight, Ruiz, Ucar 2014; Feydy et al. 2019): for the positive definite
 * kernel of a squared distance the error halves at least each time. K has a unit diagonal, so u
 * stays within [a, sqrt(a)] and nothing has to be absorbed for any epsilon. */
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
    for (int64_t i = 0; i < s->n; i++)
        s->u[i] = s->v[i] = sqrt(s->a[i]);
    solver->epsilon = problem->epsilon;
    scaling_fill(s, problem->epsilon, INFINITY);
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

/* Value that continues the potential to a point without weight: -eps log sum_j w_j exp((h_j -
 * C_j)/eps), over the kept points of the other side. */
static double continued(const double *potential, const double *weight, const int32_t *kept,
                        int64_t n, const double *cost, int64_t step, double epsilon)
{
    double high = -INFINITY, sum = 0;
    for (int64_t k = 0; k < n; k++)
        high = fmax(high, potential[kept[k]] - cost[kept[k] * step]);
    for (int64_t k = 0; k < n; k++)
        sum += weight[k] * exp((potential[kept[k]] - cost[kept[k] * step] - high) / epsilon);
    return -high - epsilon * log(sum);
}

static void spread(double *out, int64_t size, const double *base, const double *potential,
                   const double *scale, const double *weight, const int32_t *kept, int64_t n,
                   double epsilon, double shift)
{
    for (int64_t i = 0; i < size; i++)
        out[i] = NAN;
    for (int64_t i = 0; i < n; i++)
        out[kept[i]] = base[i] + (potential[i] + epsilon * log(scale[i] / weight[i])) + shift;
}

void sinkhorn_potentials(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *f,
                         double *g)
{
    const scaling *s = &solver->s;
    double *rows = solver->swapped ? g : f, *columns = solver->swapped ? f : g;
    int64_t n_rows = solver->swapped ? problem->m : problem->n;
    int64_t n_columns = solver->swapped ? problem->n : problem->m;
    int64_t by_row = solver->swapped ? 1 : problem->cost_stride;
    int64_t by_column = solver->swapped ? problem->cost_stride : 1;
    double shift = (column_value(solver) - row_value(solver)) / 2;
    spread(rows, n_rows, solver->base_f, s->f, s->u, s->a, solver->row_of, s->n, solver->epsilon,
           shift);
    spread(columns, n_columns, solver->base_g, s->g, s->v, s->b, solver->column_of, s->m,
           solver->epsilon, -shift);
    for (int64_t i = 0; i < n_rows; i++)
        if (isnan(rows[i]))
            rows[i] = continued(columns, s->b, solver->column_of, s->m, problem->cost + i * by_row,
                                by_column, solver->epsilon);
    for (int64_t j = 0; j < n_columns; j++)
        if (isnan(columns[j]))
            columns[j] = continued(rows, s->a, solver->row_of, s->n, problem->cost + j * by_column,
                                   by_row, solver->epsilon);
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
