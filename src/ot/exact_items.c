/* Transport between two items, from their points. */
#include <string.h>

#include "ot/exact.h"

typedef struct item_points {
    double *x, *y;
} item_points;

static void gather(item_points *p, const measures *mx, item_view x, const measures *my, item_view y)
{
    for (int64_t i = 0; i < x.n; i++)
        memcpy(p->x + i * mx->d, measures_point(mx, x.index[i]), (size_t)mx->d * sizeof *p->x);
    for (int64_t j = 0; j < y.n; j++)
        for (int64_t k = 0; k < my->d; k++)
            p->y[k * y.n + j] = measures_point(my, y.index[j])[k];
}

ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    item_points points;
    arena a = {NULL, 0};
    arena_take(&a, x.n * mx->d, sizeof(double));
    arena_take(&a, y.n * my->d, sizeof(double));
    ddsc_status status = workspace_grow(solver->ctx, &solver->given, a.used);
    if (status < 0)
        return status;
    a = (arena){solver->given.block, 0};
    points.x = arena_take(&a, x.n * mx->d, sizeof *points.x);
    points.y = arena_take(&a, y.n * my->d, sizeof *points.y);
    gather(&points, mx, x, my, y);
    cost_rows cost = {.k = solver->k,
                      .n = x.n,
                      .m = y.n,
                      .d = mx->d,
                      .stride = y.n,
                      .x = points.x,
                      .y = points.y,
                      .cap = __builtin_inf()};
    return solve_ordinary(solver, result, x.weight, y.weight, &cost, max_pivots);
}
