/* Inner loops of the grid engine: small matrix products, and passes over a box.
 *
 * The kernel of entropic transport on a grid is a product of one factor per axis. Applying this
 * kernel to a function on a box therefore takes one small matrix product along the rows and one
 * along the columns. sinkhorn_grid_mix computes such a product for h x w cells in O(h w h) or O(h w
 * w) operations. The sums for a block of GRID_ROWS rows are kept in registers.
 *
 * All sums run over the cells in a fixed order, so the bits do not depend on the blocks. Cells
 * without a point have weight and scaling 0, so they do not contribute. */
#include "distance/sinkhorn/grid_kernel.h"

enum { MAX_VECTORS = 3 };

/* ---- matrix products ---- */

/* Computes a block of GRID_ROWS rows by `vectors` vectors, with the sums in registers. */
SIMD_INLINE void mix_block(const grid_mix x, double *out, const double *coef, const double *in,
                           const int vectors)
{
    simd_f64 sum[GRID_ROWS][MAX_VECTORS];
#pragma GCC unroll 4
    for (int r = 0; r < GRID_ROWS; r++)
#pragma GCC unroll 3
        for (int k = 0; k < vectors; k++)
            sum[r][k] = simd_all(0);
    for (int64_t s = 0; s < x.n; s++, in += x.in_step, coef += x.step) {
#pragma GCC unroll 4
        for (int r = 0; r < GRID_ROWS; r++)
#pragma GCC unroll 3
            for (int k = 0; k < vectors; k++)
                sum[r][k] += coef[r * x.row_step] * simd_load(in + k * SIMD_LANES);
    }
#pragma GCC unroll 4
    for (int r = 0; r < GRID_ROWS; r++)
#pragma GCC unroll 3
        for (int k = 0; k < vectors; k++)
            simd_store(out + r * x.width + k * SIMD_LANES, sum[r][k]);
}

SIMD_INLINE void mix_columns(const grid_mix x, double *out, const double *coef, const double *in,
                             const int vectors)
{
    for (int64_t r = 0; r < x.rows; r += GRID_ROWS)
        mix_block(x, out + r * x.width, coef + r * x.row_step, in, vectors);
}

SIMD_CLONES void sinkhorn_grid_mix(const grid_mix *by, double *out, const double *coef,
                                   const double *in)
{
    const grid_mix x = *by;
    int64_t at = 0;
    for (; x.width - at > 4 * SIMD_LANES || x.width - at == 3 * SIMD_LANES; at += 3 * SIMD_LANES)
        mix_columns(x, out + at, coef, in + at, 3);
    for (; x.width - at >= 2 * SIMD_LANES; at += 2 * SIMD_LANES)
        mix_columns(x, out + at, coef, in + at, 2);
    if (x.width > at)
        mix_columns(x, out + at, coef, in + at, 1);
}

/* ---- scalings ---- */

SIMD_CLONES double sinkhorn_grid_error(const double *scale, const double *weight, const double *sum,
                                       int64_t n, double *mass)
{
    simd_f64 error = simd_all(0), total = error;
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 p = simd_load(scale + k) * simd_load(sum + k);
        error += simd_abs(p - simd_load(weight + k));
        total += p;
    }
    *mass = simd_sum(total);
    return simd_sum(error);
}

SIMD_CLONES double sinkhorn_grid_log_ratio(const double *weight, const double *x, int64_t n)
{
    simd_f64 total = simd_all(0);
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 w = simd_load(weight + k), one = simd_all(1);
        simd_i64 has = w > 0.0;
        total += w * simd_log(simd_select(has, simd_load(x + k), one) / simd_select(has, w, one));
    }
    return simd_sum(total);
}

SIMD_CLONES double sinkhorn_grid_dot(const double *x, const double *y, int64_t n)
{
    simd_f64 total = simd_all(0);
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        total += simd_load(x + k) * simd_load(y + k);
    return simd_sum(total);
}

SIMD_CLONES double sinkhorn_grid_start(double *scale, const double *weight, int64_t rows,
                                       int64_t ld, const grid_form *form, double limit)
{
    simd_f64 column = {0, 1, 2, 3, 4, 5, 6, 7}, total = simd_all(0);
    for (int64_t r = 0; r < rows; r++) {
        double y = form->y0 + form->y_step * (double)r;
        for (int64_t c = 0; c < ld; c += SIMD_LANES) {
            simd_f64 x = form->x0 + form->x_step * ((double)c + column);
            simd_f64 t = y * (form->yy * y + form->y) + x * (form->xy * y + form->xx * x + form->x);
            simd_f64 w = simd_load(weight + r * ld + c);
            t = simd_max(simd_min(t, simd_all(limit)), simd_all(-limit));
            simd_store(scale + r * ld + c, w * simd_exp(t));
            total += w * t;
        }
    }
    return simd_sum(total);
}
