/* Computes |x - y|^2 between blocks of points.
 *
 * In up to POINTS_MAX_DIRECT dimensions, the distances are computed from differences. In more
 * dimensions, they are |x - c|^2 + |y - c|^2 - 2 (x - c)(y - c) with the center c of the table,
 * which takes one matrix product per block. If the sum of the norms exceeds the result by a factor
 * of 2^10, too many digits have canceled, and the entry is recomputed by differences. */
#include "distance/cost/points.h"

#include "distance/cost/cost.h"
#include "distance/simd/kernels.h"
#include "numeric/linalg/linalg.h"

static const cost_limits block_limits = {0x1p-10, -1, 1e300};

ddsc_status points_open(ddsc_context *ctx, points *table, int64_t n, int64_t d, const double *x)
{
    *table = (points){.n = n, .d = d, .x = x};
    CHECK(MEM_ZERO(ctx, table->center, d));
    for (int64_t p = 0; p < n; p++)
        for (int64_t k = 0; k < d; k++)
            table->center[k] += x[p * d + k] / (double)n;
    return DDSC_OK;
}

void points_close(ddsc_context *ctx, points *table)
{
    mem_free(ctx, table->center);
    table->center = NULL;
}

void points_panel_take(arena *a, points_panel *panel, const points *table, int64_t capacity)
{
    *panel = (points_panel){.capacity = capacity};
    ARENA_TAKE(a, panel->x, capacity * table->d);
    ARENA_TAKE(a, panel->norm2, capacity);
    ARENA_TAKE(a, panel->row, capacity);
}

ddsc_status points_panel_create(ddsc_context *ctx, points_panel *panel, const points *table,
                                int64_t capacity)
{
    int64_t size;
    arena a = {0};
    *panel = (points_panel){0};
    if (!mul_ok(capacity, table->d, &size) || !mul_ok(size, 2 * sizeof(double), &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "cannot allocate %lld points with %lld dimensions",
                        (long long)capacity, (long long)table->d);
    points_panel_take(&a, panel, table, capacity);
    *panel = (points_panel){0};
    CHECK(mem_get(ctx, &a.base, a.used, 1));
    a.used = 0;
    points_panel_take(&a, panel, table, capacity);
    return DDSC_OK;
}

void points_panel_free(ddsc_context *ctx, points_panel *panel)
{
    mem_free(ctx, panel->x); /* the first array of the block */
    *panel = (points_panel){0};
}

void points_panel_load(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                       int64_t first)
{
    int64_t d = table->d;
    panel->n = n;
    for (int64_t p = 0; p < n; p++) {
        panel->row[p] = index ? index[p] : first + p;
        const double *from = table->x + panel->row[p] * d;
        if (d <= POINTS_MAX_DIRECT) {
            for (int64_t k = 0; k < d; k++)
                panel->x[k * panel->capacity + p] = from[k];
            continue;
        }
        double *to = panel->x + p * d;
        for (int64_t k = 0; k < d; k++)
            to[k] = from[k] - table->center[k];
        panel->norm2[p] = la_dot(d, to, to);
    }
}

points_panel points_panel_part(const points_panel *panel, const points *table, int64_t first,
                               int64_t n)
{
    int64_t step = table->d <= POINTS_MAX_DIRECT ? 1 : table->d;
    return (points_panel){.n = n,
                          .capacity = panel->capacity,
                          .x = panel->x + first * step,
                          .norm2 = panel->norm2 + first,
                          .row = panel->row + first};
}

void points_distance2(const points *table, const points_panel *rows, const points_panel *columns,
                      double *out, int64_t ld)
{
    int64_t d = table->d;
    if (rows->n == 0 || columns->n == 0)
        return;
    if (d <= POINTS_MAX_DIRECT) {
        kernels_find()->distances(out, ld, d, (point_block){rows->x, rows->n, 1, rows->capacity},
                                  (point_block){columns->x, columns->n, 1, columns->capacity});
        return;
    }
    la_gemm(false, true, rows->n, columns->n, d, 1.0, rows->x, d, columns->x, d, 0.0, out, ld);
    for (int64_t p = 0; p < rows->n; p++, out += ld) {
        double own = rows->norm2[p];
        if (cost_from_products(out, own, columns->norm2, columns->n, &block_limits) == 0)
            continue;
        for (int64_t q = 0; q < columns->n; q++)
            if (cost_is_spoilt(out[q], own + columns->norm2[q], &block_limits))
                out[q] =
                    la_distance2(d, table->x + rows->row[p] * d, table->x + columns->row[q] * d);
    }
}
