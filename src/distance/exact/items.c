/* Solves the transport between two items from their points.
 *
 * Costs are stored as a matrix if it fits in memory and if the dimension makes storing them
 * worthwhile. Otherwise, they are recomputed row by row. In many dimensions, costs are computed
 * from inner products. Integer coordinates in few dimensions use int32 arithmetic. Very large or
 * very small coordinates are first scaled by a power of two, because their squares would overflow
 * or underflow, and the result is scaled back. The distance between equal items is 0 without a
 * solve. */
#include <math.h>
#include <string.h>

#include "distance/cost/cost.h"
#include "distance/exact/solver.h"

typedef struct item_points {
    const exact_solver *s;
    int64_t n, m, d;
    double *x, *y, *matrix, *norm2;
    int32_t *whole_x, *whole_y;
} item_points;

/* Returns true if the costs are stored as a matrix. The entries of a cost matrix are always copied,
 * because they cannot be computed from coordinates. */
static bool keeps_matrix(const exact_solver *s, int64_t n, int64_t m, int64_t d)
{
    return s->ground.kind == DDSC_COST_MATRIX || (d >= MATRIX_DIM && n * m <= MATRIX_CELLS) ||
           exact_is_tiny(n, m);
}

static void take_item_points(void *owner, arena *a)
{
    item_points *p = owner;
    int64_t n = p->n, m = p->m, d = p->d;
    bool whole = d <= WHOLE_DIM, matrix = keeps_matrix(p->s, n, m, d);
    ARENA_TAKE(a, p->x, n * d);
    ARENA_TAKE(a, p->y, m * d);
    ARENA_TAKE(a, p->whole_x, whole ? n * d : 0);
    ARENA_TAKE(a, p->whole_y, whole ? m * d + COLUMN_BLOCK : 0);
    ARENA_TAKE(a, p->matrix, matrix ? n * m : 0);
    ARENA_TAKE(a, p->norm2, matrix ? n + m : 0);
}

/* Copies the points of both items. Squares overflow or underflow long before the coordinates do, so
 * very large or very small coordinates are multiplied by 2^-e. Returns e, or 0 if the points are
 * not scaled. */
static int gather_scaled(const kernels *k, const item_points *p, const measures *mx, item_view x,
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

/* Converts values to integers. Returns false if a value is not an integer or is too large. */
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

/* Returns true if both items are equal. */
static bool same_item(const measures *mx, int64_t i, const measures *my, int64_t j)
{
    return mx == my && (i == j || measures_equal_items(mx, i, j));
}

static void take_same(void *owner, arena *a)
{
    exact_solver *s = owner;
    ARENA_TAKE(a, s->f, s->net.n);
    ARENA_TAKE(a, s->plan_mass, s->net.n);
    ARENA_TAKE(a, s->plan_row, s->net.n);
}

static ddsc_status solve_same(exact_solver *s, exact_result *result, item_view x)
{
    s->net.n = x.n;
    CHECK(workspace_lay_out(s->ctx, &s->given, take_same, s));
    s->g = s->f;
    s->plan_column = s->plan_row;
    for (int64_t i = 0; i < x.n; i++) {
        s->f[i] = 0;
        s->plan_row[i] = (int32_t)i;
        s->plan_mass[i] = x.weight[i];
    }
    *result = (exact_result){.n_plan = x.n};
    return DDSC_OK;
}

/* Computes the costs from inner products, or gathers them from a matrix. Returns false if the cost,
 * the dimension or the size of the coordinates does not allow this. */
static bool listed_costs(exact_solver *s, const item_points *p, const measures *mx, int64_t i,
                         const measures *my, int64_t j)
{
    item_view a = measures_item(mx, i), b = measures_item(my, j);
    point_list x = {mx, a.n, a.index}, y = {my, b.n, b.index};
    if (s->ground.kind == DDSC_COST_MATRIX) {
        ground_lists(&s->ground, p->matrix, &x, NULL, &y, NULL);
        return true;
    }
    if (!ground_from_squares(s->ground.kind) || p->d < PRODUCT_DIM ||
        !keeps_matrix(s, a.n, b.n, p->d))
        return false;
    if (cost_tile_fill(&s->tile, p->matrix, mx, i, my, j))
        return true;
    double largest = cost_norms(&x, p->norm2);
    if (!cost_products_fit(fmax(largest, cost_norms(&y, p->norm2 + a.n))))
        return false;
    ground_lists(&s->ground, p->matrix, &x, p->norm2, &y, p->norm2 + a.n);
    return true;
}

/* Sets the costs of a problem. Returns the exponent e if the points were divided by 2^e, and 0
 * otherwise. */
static int set_costs(exact_costs *cost, exact_solver *s, const item_points *p, const measures *mx,
                     int64_t i, const measures *my, int64_t j)
{
    int64_t n = p->n, m = p->m, d = p->d;
    ddsc_cost kind = s->ground.kind;
    bool listed = listed_costs(s, p, mx, i, my, j);
    *cost = (exact_costs){.k = s->k, .n = n, .m = m, .kind = kind, .d = d, .cap = INFINITY};
    cost->dense = keeps_matrix(s, n, m, d) ? p->matrix : NULL;
    if (kind == DDSC_COST_MATRIX || (listed && exact_is_tiny(n, m)))
        return 0; /* tiny problems need only the matrix */
    int exponent = gather_scaled(s->k, p, mx, measures_item(mx, i), my, measures_item(my, j));
    cost->stride = m;
    cost->x = p->x;
    cost->y = p->y;
    if (kind == DDSC_COST_SQEUCLIDEAN && d <= WHOLE_DIM && to_whole(p->whole_x, p->x, n * d) &&
        to_whole(p->whole_y, p->y, m * d)) {
        cost->whole_x = p->whole_x;
        cost->whole_y = p->whole_y;
    }
    if (cost->dense && !listed)
        ground_block(kind, s->k, p->matrix, m, d, (point_block){p->x, n, d, 1},
                     (point_block){p->y, m, 1, m});
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

/* Returns a bound on the error that underflow causes in the value. Squared differences near the
 * smallest doubles lose some or all digits, which affects squared costs, distances computed from
 * them, and graphs that store squared distances. The bound is 0 if the plan moves no mass. */
static double square_rounding(const exact_solver *s, const exact_result *result, const measures *mx,
                              item_view x, const measures *my, item_view y)
{
    double moved = 0;
    for (int64_t k = 0; k < result->n_plan; k++)
        if (memcmp(measures_point(mx, x.index[s->plan_row[k]]),
                   measures_point(my, y.index[s->plan_column[k]]),
                   (size_t)mx->d * sizeof(double)) != 0)
            moved += s->plan_mass[k];
    return moved * (double)(mx->d + 1) * 0x1p-1074;
}

static ddsc_status mark_tiny(const exact_solver *s, exact_result *result, const measures *mx,
                             item_view x, const measures *my, item_view y, int exponent)
{
    bool squared = s->ground.kind == DDSC_COST_SQEUCLIDEAN;
    double value = result->primal, given = ldexp(value, exponent);
    if (s->ground.kind == DDSC_COST_MATRIX || given >= (squared ? 1e-280 : 1e-140))
        return DDSC_OK;
    double square = square_rounding(s, result, mx, x, my, y);
    if (square > 0 && !squared) {
        double root = sqrt(square);
        result->gap = BASE_MAX(result->gap, given > 0 ? root / given + root / value : INFINITY);
    } else if (square > 0)
        result->gap = BASE_MAX(result->gap, given > 0 ? square / given + square / value : INFINITY);
    return result->gap > GAP_PROMISED ? DDSC_NOT_CONVERGED : DDSC_OK;
}

void exact_start(exact_solver *solver, const double *g)
{
    solver->start = g;
}

ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    item_points p = {.s = solver, .n = x.n, .m = y.n, .d = mx->d};
    exact_costs cost;
    int exponent = 0;
    ddsc_status status = DDSC_OK;
    if (same_item(mx, i, my, j)) {
        status = solve_same(solver, result, x);
        goto done;
    }
    TRY(workspace_lay_out(solver->ctx, &solver->given, take_item_points, &p));
    exponent = set_costs(&cost, solver, &p, mx, i, my, j);
    if (solver->ground.kind == DDSC_COST_SQEUCLIDEAN)
        exponent *= 2; /* from here on, the exponent of the costs */
    if (exponent)
        solver->start = NULL; /* the starting potentials are in unscaled units */
    solver->strict = true;
    status = exact_solve_ordinary(solver, result, x.weight, y.weight, &cost, max_pivots);
    if (status == DDSC_OK)
        status = mark_tiny(solver, result, mx, x, my, y, exponent);
    if (exponent && status >= 0)
        scale_back(solver, result, exponent);
done:
    solver->start = NULL;
    return status;
}
