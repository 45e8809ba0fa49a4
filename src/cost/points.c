#include "cost/points.h"

#include <string.h>

#include "base/simd.h"
#include "linalg/linalg.h"

ddsc_status points_open(ddsc_context *ctx, points *table, int64_t n, int64_t d, const double *x)
{
    *table = (points){.n = n, .d = d, .x = x};
    CHECK(MEM_ZERO(ctx, table->centre, d));
    for (int64_t p = 0; p < n; p++)
        for (int64_t k = 0; k < d; k++)
            table->centre[k] += x[p * d + k] / (double)n;
    return DDSC_OK;
}

void points_close(ddsc_context *ctx, points *table)
{
    mem_free(ctx, table->centre);
    table->centre = NULL;
}

ddsc_status points_panel_create(ddsc_context *ctx, points_panel *panel, const points *table,
                                int64_t room)
{
    ddsc_status status = DDSC_OK;
    int64_t size;
    /* Whole vectors, so that the direct form reads no coordinate of another axis. */
    room = (room + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    *panel = (points_panel){.room = room};
    if (!mul_ok(room, table->d, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "%lld points in %lld dimensions are too many",
                        (long long)room, (long long)table->d);
    TRY(MEM_ZERO(ctx, panel->x, size));
    TRY(MEM_NEW(ctx, panel->norm2, room));
    TRY(MEM_NEW(ctx, panel->row, room));
done:
    if (status < 0)
        points_panel_free(ctx, panel);
    return status;
}

void points_panel_free(ddsc_context *ctx, points_panel *panel)
{
    mem_free(ctx, panel->row);
    mem_free(ctx, panel->norm2);
    mem_free(ctx, panel->x);
    *panel = (points_panel){0};
}

void points_panel_load(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                       int64_t first)
{
    panel->n = 0;
    points_panel_add(panel, table, n, index, first);
}

static void put_point(points_panel *panel, const points *table, int64_t at)
{
    int64_t d = table->d;
    const double *from = table->x + panel->row[at] * d;
    if (d <= POINTS_MAX_DIRECT) {
        for (int64_t k = 0; k < d; k++)
            panel->x[k * panel->room + at] = from[k];
        return;
    }
    double *to = panel->x + at * d;
    for (int64_t k = 0; k < d; k++)
        to[k] = from[k] - table->centre[k];
    panel->norm2[at] = la_dot(d, to, to);
}

void points_panel_add(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                      int64_t first)
{
    for (int64_t p = 0; p < n; p++) {
        int64_t at = panel->n++;
        panel->row[at] = index ? index[p] : first + p;
        put_point(panel, table, at);
    }
}

points_panel points_panel_part(const points_panel *panel, const points *table, int64_t first,
                               int64_t n)
{
    int64_t step = table->d <= POINTS_MAX_DIRECT ? 1 : table->d;
    return (points_panel){.n = n,
                          .room = panel->room,
                          .x = panel->x + first * step,
                          .norm2 = panel->norm2 + first,
                          .row = panel->row + first};
}

/* One row against eight columns a time; where d is a constant the inner loop unrolls. */
SIMD_INLINE void direct_row(int64_t d, const double *x, int64_t x_room, const double *y,
                            int64_t y_room, int64_t n, double *out)
{
    for (int64_t q = 0; q < n; q += SIMD_LANES) {
        simd_f64 sum = simd_all(0);
        for (int64_t k = 0; k < d; k++) {
            simd_f64 step = x[k * x_room] - simd_load(y + k * y_room + q);
            sum += step * step;
        }
        if (q + SIMD_LANES <= n)
            simd_store(out + q, sum);
        else
            memcpy(out + q, &sum, (size_t)(n - q) * sizeof *out);
    }
}

SIMD_CLONES static void direct_block(int64_t d, const points_panel *rows,
                                     const points_panel *columns, double *out, int64_t ld)
{
    int64_t xr = rows->room, yr = columns->room, n = columns->n;
    for (int64_t p = 0; p < rows->n; p++) {
        const double *x = rows->x + p, *y = columns->x;
        double *to = out + p * ld;
        switch (d) {
        case 1: direct_row(1, x, xr, y, yr, n, to); break;
        case 2: direct_row(2, x, xr, y, yr, n, to); break;
        case 3: direct_row(3, x, xr, y, yr, n, to); break;
        default: direct_row(d, x, xr, y, yr, n, to);
        }
    }
}

/* |x|^2 + |y|^2 - 2 xy loses what the norms exceed the result by: below 2^-10 of the norms, and
 * when they overflow, it is not trusted. */
SIMD_INLINE bool spoilt(double value, double norms)
{
    return !(value >= 0x1p-10 * norms && norms <= 1e300);
}

/* Products become squared distances; how many are spoilt? */
SIMD_CLONES static int64_t add_norms(double own, const double *norm2, int64_t n, double *out)
{
    int64_t n_spoilt = 0;
    for (int64_t q = 0; q < n; q++) {
        double norms = own + norm2[q], value = norms - 2.0 * out[q];
        out[q] = value;
        n_spoilt += spoilt(value, norms);
    }
    return n_spoilt;
}

static void repair_row(const points *table, const points_panel *rows, int64_t p,
                       const points_panel *columns, double *out)
{
    for (int64_t q = 0; q < columns->n; q++)
        if (spoilt(out[q], rows->norm2[p] + columns->norm2[q]))
            out[q] = la_distance2(table->d, table->x + rows->row[p] * table->d,
                                  table->x + columns->row[q] * table->d);
}

void points_distance2(const points *table, const points_panel *rows, const points_panel *columns,
                      double *out, int64_t ld)
{
    int64_t d = table->d;
    if (rows->n == 0 || columns->n == 0)
        return;
    if (d <= POINTS_MAX_DIRECT) {
        direct_block(d, rows, columns, out, ld);
        return;
    }
    la_gemm(false, true, rows->n, columns->n, d, 1.0, rows->x, d, columns->x, d, 0.0, out, ld);
    for (int64_t p = 0; p < rows->n; p++) {
        if (add_norms(rows->norm2[p], columns->norm2, columns->n, out + p * ld) > 0)
            repair_row(table, rows, p, columns, out + p * ld);
    }
}

void points_distance2_rows(const points *table, points_panel *rows, points_panel *columns,
                           int64_t begin, int64_t end, double *out, int64_t ld)
{
    points_panel_load(rows, table, end - begin, NULL, begin);
    for (int64_t q = 0; q < table->n; q += columns->room) {
        points_panel_load(columns, table, BASE_MIN(columns->room, table->n - q), NULL, q);
        points_distance2(table, rows, columns, out + q, ld);
    }
}
