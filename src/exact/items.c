/* Transport between two items, from their points. */
#include <math.h>
#include <string.h>

#include "cost/cost.h"
#include "exact/solver.h"

enum {
    MATRIX_DIM = 4,             /* from this dimension on costs are kept, not made again ... */
    MATRIX_CELLS = 2048 * 2048, /* ... for problems up to this size; small ones always */
    WHOLE_RANGE = 1 << 10,      /* largest coordinate of points taken as whole numbers */
    WHOLE_DIM = 8
};

typedef struct item_points {
    double *x, *y, *matrix, *norm2;
    int32_t *whole_x, *whole_y;
} item_points;

static bool keeps_matrix(int64_t n, int64_t m, int64_t d)
{
    return (d >= MATRIX_DIM && n * m <= MATRIX_CELLS) || is_small(n, m);
}

static void lay_out(item_points *p, arena *a, int64_t n, int64_t m, int64_t d)
{
    bool whole = d <= WHOLE_DIM, matrix = keeps_matrix(n, m, d);
    p->x = arena_take(a, n * d, sizeof *p->x);
    p->y = arena_take(a, m * d, sizeof *p->y);
    p->whole_x = arena_take(a, whole ? n * d : 0, sizeof *p->whole_x);
    p->whole_y = arena_take(a, whole ? m * d : 0, sizeof *p->whole_y);
    p->matrix = arena_take(a, matrix ? n * m : 0, sizeof *p->matrix);
    p->norm2 = arena_take(a, matrix ? n + m : 0, sizeof *p->norm2);
}

static ddsc_status make_room(exact_solver *s, item_points *p, int64_t n, int64_t m, int64_t d)
{
    arena a = {s->given.block, 0};
    lay_out(p, &a, n, m, d);
    if (a.used <= s->given.size)
        return DDSC_OK;
    ddsc_status status = workspace_grow(s->ctx, &s->given, a.used);
    a = (arena){s->given.block, 0};
    if (status == DDSC_OK)
        lay_out(p, &a, n, m, d);
    return status;
}

/* Squares leave the number range long before coordinates do: far from 1, points are scaled by a
 * power of two, 2^-result. */
static int gather(const kernels *k, const item_points *p, const measures *mx, item_view x,
                  const measures *my, item_view y)
{
    int64_t d = mx->d;
    double low, high;
    int exponent = 0;
    for (int64_t i = 0; i < x.n; i++)
        memcpy(p->x + i * d, measures_point(mx, x.index[i]), (size_t)d * sizeof *p->x);
    for (int64_t j = 0; j < y.n; j++)
        for (int64_t c = 0; c < d; c++)
            p->y[c * y.n + j] = measures_point(my, y.index[j])[c];
    k->range(&low, &high, p->x, x.n * d);
    double largest = fmax(fabs(low), fabs(high));
    k->range(&low, &high, p->y, y.n * d);
    largest = fmax(largest, fmax(fabs(low), fabs(high)));
    if (largest == 0 || (largest > 1e-80 && largest < 1e80))
        return 0;
    frexp(largest, &exponent);
    for (int64_t c = 0; c < x.n * d; c++)
        p->x[c] = ldexp(p->x[c], -exponent);
    for (int64_t c = 0; c < y.n * d; c++)
        p->y[c] = ldexp(p->y[c], -exponent);
    return exponent;
}

/* Copy to integers; false when one is no whole number or too large. */
static bool to_whole(int32_t *out, const double *from, int64_t count)
{
    bool whole = true;
    for (int64_t k = 0; k < count; k++) {
        double x = fabs(from[k]) <= WHOLE_RANGE ? from[k] : WHOLE_RANGE + 0.5;
        out[k] = (int32_t)x;
        whole &= x == out[k];
    }
    return whole;
}

/* The same item: nothing moves. */
static bool same_item(const measures *mx, item_view x, const measures *my, item_view y)
{
    return mx == my && x.n == y.n &&
           (x.index == y.index ||
            (memcmp(x.index, y.index, (size_t)x.n * sizeof *x.index) == 0 &&
             memcmp(x.weight, y.weight, (size_t)x.n * sizeof *x.weight) == 0));
}

static ddsc_status solve_same(exact_solver *s, exact_result *result, item_view x)
{
    arena a = {s->given.block, 0};
    int64_t n = x.n;
    s->f = s->g = arena_take(&a, n, sizeof *s->f);
    s->plan_mass = arena_take(&a, n, sizeof *s->plan_mass);
    s->plan_row = s->plan_column = arena_take(&a, n, sizeof *s->plan_row);
    if (a.used > s->given.size) {
        ddsc_status status = workspace_grow(s->ctx, &s->given, a.used);
        return status < 0 ? status : solve_same(s, result, x);
    }
    for (int64_t i = 0; i < n; i++) {
        s->f[i] = 0;
        s->plan_row[i] = (int32_t)i;
        s->plan_mass[i] = x.weight[i];
    }
    *result = (exact_result){.n_plan = n};
    return DDSC_OK;
}

/* Costs by products into the matrix; false: the dimension or the size of the points forbids it. */
static bool fill_matrix(const cost_ahead *ahead, const item_points *p, const measures *mx,
                        int64_t i, const measures *my, int64_t j)
{
    item_view a = measures_item(mx, i), b = measures_item(my, j);
    if (mx->d < PRODUCT_DIM || !keeps_matrix(a.n, b.n, mx->d))
        return false;
    if (ahead_fill(ahead, p->matrix, mx, i, my, j))
        return true;
    point_list x = {mx, a.n, a.index}, y = {my, b.n, b.index};
    double largest = cost_norms(&x, p->norm2);
    if (!cost_products_fit(fmax(largest, cost_norms(&y, p->norm2 + a.n))))
        return false;
    cost_products(p->matrix, &x, p->norm2, &y, p->norm2 + a.n);
    return true;
}

/* Costs from the points gathered; the matrix may be there already. */
static void make_cost(cost_rows *cost, exact_solver *s, const item_points *p, bool filled)
{
    int64_t n = cost->n, m = cost->m, d = cost->d;
    cost->stride = m;
    cost->x = p->x;
    cost->y = p->y;
    if (d <= WHOLE_DIM && to_whole(p->whole_x, p->x, n * d) && to_whole(p->whole_y, p->y, m * d)) {
        cost->whole_x = p->whole_x;
        cost->whole_y = p->whole_y;
    }
    if (!keeps_matrix(n, m, d))
        return;
    if (!filled)
        s->k->distances(p->matrix, p->x, p->y, m, d, n, m);
    cost->dense = p->matrix;
}

/* Returns the exponent of the unit the points were brought to. */
static int set_costs(cost_rows *cost, exact_solver *s, const cost_ahead *ahead,
                     const item_points *p, const measures *mx, int64_t i, const measures *my,
                     int64_t j)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    bool filled = fill_matrix(ahead, p, mx, i, my, j);
    if (filled && is_small(x.n, y.n)) {
        cost->dense = p->matrix; /* nothing else is asked of small problems */
        return 0;
    }
    int exponent = gather(s->k, p, mx, x, my, y);
    make_cost(cost, s, p, filled);
    return exponent;
}

static void scale_back(exact_solver *s, exact_result *result, int exponent)
{
    for (int64_t i = 0; i < s->net.n; i++)
        s->f[i] = ldexp(s->f[i], exponent);
    for (int64_t j = 0; j < s->net.m; j++)
        s->g[j] = ldexp(s->g[j], exponent);
    result->primal = ldexp(result->primal, exponent);
    result->dual = ldexp(result->dual, exponent);
}

bool exact_are_small(const measures *m)
{
    return m->nnz <= 2 * SMALL_SIDE * m->n;
}

void exact_start(exact_solver *solver, const double *g)
{
    solver->start = g;
}

ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    item_points p;
    cost_rows cost;
    int exponent = 0;
    ddsc_status status = DDSC_OK;
    if (same_item(mx, x, my, y)) {
        status = solve_same(solver, result, x);
        goto done;
    }
    TRY(make_room(solver, &p, x.n, y.n, mx->d));
    cost = (cost_rows){.k = solver->k, .n = x.n, .m = y.n, .d = mx->d, .cap = INFINITY};
    exponent = set_costs(&cost, solver, &solver->ahead, &p, mx, i, my, j);
    if (exponent)
        solver->start = NULL; /* it is in other units */
    TRY(solve_ordinary(solver, result, x.weight, y.weight, &cost, max_pivots));
    if (exponent)
        scale_back(solver, result, 2 * exponent);
done:
    solver->start = NULL;
    return status;
}

/* A pair that is small, of different items, not on a line, and of ordinary numbers. */
static ddsc_status make_ready(exact_solver *s, const cost_ahead *ahead, two_problems *both, int at,
                              const measures *m, int64_t i, int64_t j, bool *ready)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    cost_rows *cost = &both->cost[at];
    item_points p;
    *ready = false;
    if (m->d == 1 || !is_small(x.n, y.n) || same_item(m, x, m, y))
        return DDSC_OK;
    ddsc_status status = make_room(s, &p, x.n, y.n, m->d);
    if (status < 0)
        return status;
    both->a[at] = x.weight;
    both->b[at] = y.weight;
    *cost = (cost_rows){.k = s->k, .n = x.n, .m = y.n, .d = m->d, .cap = INFINITY};
    *ready = set_costs(cost, s, ahead, &p, m, i, m, j) == 0;
    return DDSC_OK;
}

/* The solver itself takes the second pair, as it is to hold the last one solved. */
ddsc_status exact_solve_two(exact_solver *solver, exact_result *result, const measures *m,
                            int64_t i, const int64_t *j, int64_t max_pivots)
{
    ddsc_status status = DDSC_OK;
    two_problems both;
    bool ready = true;
    if (!solver->twin)
        TRY(exact_create(solver->ctx, &solver->twin));
    exact_solver *const s[2] = {solver->twin, solver};
    for (int k = 0; k < 2 && ready; k++)
        TRY(make_ready(s[k], &solver->ahead, &both, k, m, i, j[k], &ready));
    solver->start = NULL;
    if (ready) {
        TRY(solve_two(s, result, &both, max_pivots));
        goto done;
    }
    for (int k = 0; k < 2; k++)
        TRY(exact_solve_items(solver, &result[k], m, i, m, j[k], max_pivots));
done:
    return status;
}
