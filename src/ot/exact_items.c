/* Transport between two items, from their points. */
#include <math.h>
#include <string.h>

#include "ot/exact.h"

enum {
    MATRIX_DIM = 4,             /* from this dimension on costs are kept, not made again ... */
    MATRIX_CELLS = 2048 * 2048, /* ... for problems up to this size */
    WHOLE_RANGE = 1 << 10,      /* largest coordinate of points taken as whole numbers */
    WHOLE_DIM = 8
};

typedef struct item_points {
    double *x, *y, *matrix;
    int32_t *whole_x, *whole_y;
} item_points;

static void lay_out(item_points *p, arena *a, int64_t n, int64_t m, int64_t d)
{
    bool whole = d <= WHOLE_DIM, matrix = d >= MATRIX_DIM && n * m <= MATRIX_CELLS;
    p->x = arena_take(a, n * d, sizeof *p->x);
    p->y = arena_take(a, m * d, sizeof *p->y);
    p->whole_x = arena_take(a, whole ? n * d : 0, sizeof *p->whole_x);
    p->whole_y = arena_take(a, whole ? m * d : 0, sizeof *p->whole_y);
    p->matrix = arena_take(a, matrix ? n * m : 0, sizeof *p->matrix);
}

static void gather(item_points *p, const measures *mx, item_view x, const measures *my, item_view y)
{
    int64_t d = mx->d;
    for (int64_t i = 0; i < x.n; i++)
        memcpy(p->x + i * d, measures_point(mx, x.index[i]), (size_t)d * sizeof *p->x);
    for (int64_t j = 0; j < y.n; j++)
        for (int64_t k = 0; k < d; k++)
            p->y[k * y.n + j] = measures_point(my, y.index[j])[k];
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

ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    item_points p;
    ddsc_status status = DDSC_OK;
    arena a = {solver->given.block, 0};
    lay_out(&p, &a, x.n, y.n, mx->d);
    if (a.used > solver->given.size) {
        TRY(workspace_grow(solver->ctx, &solver->given, a.used));
        a = (arena){solver->given.block, 0};
        lay_out(&p, &a, x.n, y.n, mx->d);
    }
    gather(&p, mx, x, my, y);
    cost_rows cost = {.k = solver->k,
                      .n = x.n,
                      .m = y.n,
                      .d = mx->d,
                      .stride = y.n,
                      .x = p.x,
                      .y = p.y,
                      .cap = INFINITY};
    if (mx->d <= WHOLE_DIM && to_whole(p.whole_x, p.x, x.n * mx->d) &&
        to_whole(p.whole_y, p.y, y.n * mx->d)) {
        cost.whole_x = p.whole_x;
        cost.whole_y = p.whole_y;
    }
    if (mx->d >= MATRIX_DIM && x.n * y.n <= MATRIX_CELLS) {
        for (int64_t r = 0; r < x.n; r++)
            solver->k->distances(p.matrix + r * y.n, p.x + r * mx->d, p.y, y.n, mx->d, y.n);
        cost.dense = p.matrix;
    }
    TRY(solve_ordinary(solver, result, x.weight, y.weight, &cost, max_pivots));
done:
    return status;
}
