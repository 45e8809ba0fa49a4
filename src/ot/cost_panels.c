#include "ot/cost_panels.h"

#include <math.h>

#include "base/simd.h"
#include "linalg/linalg.h"

enum { ROWS = 4 };

static int64_t whole(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

int64_t cost_panel_room(int64_t n, int64_t d)
{
    return whole(whole(n, ROWS) * d, SIMD_LANES) + (d + 1) * whole(n, SIMD_LANES);
}

int64_t cost_panel_size(int64_t n, int64_t m)
{
    return whole(n, ROWS) * whole(m, SIMD_LANES);
}

void cost_panel_load(cost_panel *panel, double *room, const points *table, int64_t n,
                     const int32_t *index)
{
    int64_t d = table->d, lanes = whole(n, SIMD_LANES), rows = whole(n, ROWS);
    *panel = (cost_panel){.n = n, .lanes = lanes, .index = index, .row = room};
    panel->column = room + whole(rows * d, SIMD_LANES);
    panel->norm2 = panel->column + d * lanes;
    for (int64_t p = 0; p < lanes; p++) {
        const double *from = table->x + index[BASE_MIN(p, n - 1)] * d;
        panel->norm2[p] = 0;
        for (int64_t k = 0; k < d; k++) {
            double x = from[k] - table->centre[k];
            panel->column[k * lanes + p] = x;
            panel->norm2[p] += x * x;
            if (p < rows)
                panel->row[p * d + k] = x;
        }
    }
}

/* ROWS rows of x times `vectors` vectors of columns of y. */
SIMD_INLINE void block_products(const double *row, int64_t d, const double *column, int64_t lanes,
                                double *out, const int vectors)
{
    simd_f64 sum[ROWS][2];
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            sum[r][v] = simd_all(0);
    for (int64_t k = 0; k < d; k++)
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sum[r][v] += row[r * d + k] * simd_load(column + k * lanes + v * SIMD_LANES);
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            simd_store(out + r * lanes + v * SIMD_LANES, sum[r][v]);
}

SIMD_CLONES static void products(const cost_panel *x, const cost_panel *y, int64_t d, double *out)
{
    for (int64_t p = 0; p < x->n; p += ROWS) {
        int64_t q = 0;
        for (; q + 2 * SIMD_LANES <= y->lanes; q += 2 * SIMD_LANES)
            block_products(x->row + p * d, d, y->column + q, y->lanes, out + p * y->lanes + q, 2);
        if (q < y->lanes)
            block_products(x->row + p * d, d, y->column + q, y->lanes, out + p * y->lanes + q, 1);
    }
}

/* Products become squared distances; is one of them spoilt? */
SIMD_CLONES static bool add_norms(double own, const cost_panel *y, double *out)
{
    simd_i64 spoilt = {0};
    for (int64_t q = 0; q < y->lanes; q += SIMD_LANES) {
        simd_f64 both = own + simd_load(y->norm2 + q), value = both - 2.0 * simd_load(out + q);
        spoilt |= ~((value >= COST_TRUSTED * both) & (both <= 1e300));
        simd_store(out + q, value);
    }
    int64_t any = 0;
    for (int k = 0; k < SIMD_LANES; k++)
        any |= spoilt[k];
    return any != 0;
}

void cost_panel_cost(const points *table, const cost_panel *x, const cost_panel *y, double *out,
                     int64_t *stride)
{
    int64_t d = table->d;
    products(x, y, d, out);
    for (int64_t p = 0; p < x->n; p++) {
        double own = x->norm2[p], *row = out + p * y->lanes;
        if (!add_norms(own, y, row))
            continue;
        for (int64_t q = 0; q < y->n; q++) {
            double both = own + y->norm2[q];
            if (!(row[q] >= COST_TRUSTED * both && both <= 1e300))
                row[q] = la_distance2(d, table->x + x->index[p] * d, table->x + y->index[q] * d);
        }
    }
    *stride = y->lanes;
}
