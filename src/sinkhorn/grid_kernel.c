#include "sinkhorn/grid_kernel.h"

#include <math.h>

#include "base/base.h"
#include "base/simd.h"

enum { MAX_VECTORS = 3 };

/* Keeps a division finite where a sum has vanished; the range reported tells. */
static const double TINY_SUM = 1e-290;

/* ---- mixing ---- */

/* BOX_ROWS rows by `vectors` vectors, kept in registers. */
SIMD_INLINE void mix_block(const box_mix *x, int64_t row, int64_t lane, const int vectors)
{
    simd_f64 sum[BOX_ROWS][MAX_VECTORS];
    const double *in = x->in + lane, *coef = x->coef + row * x->row_step;
#pragma GCC unroll 4
    for (int r = 0; r < BOX_ROWS; r++)
#pragma GCC unroll 3
        for (int k = 0; k < vectors; k++)
            sum[r][k] = simd_all(0);
    for (int64_t s = 0; s < x->n; s++, in += x->in_ld, coef += x->step) {
#pragma GCC unroll 4
        for (int r = 0; r < BOX_ROWS; r++)
#pragma GCC unroll 3
            for (int k = 0; k < vectors; k++)
                sum[r][k] += coef[r * x->row_step] * simd_load(in + k * SIMD_LANES);
    }
    double *out = x->out + row * x->ld + lane;
#pragma GCC unroll 4
    for (int r = 0; r < BOX_ROWS; r++, out += x->ld)
#pragma GCC unroll 3
        for (int k = 0; k < vectors; k++)
            simd_store(out + k * SIMD_LANES, sum[r][k]);
}

SIMD_INLINE void mix_columns(const box_mix *x, int64_t lane, const int vectors)
{
    for (int64_t row = 0; row < x->rows; row += BOX_ROWS)
        mix_block(x, row, lane, vectors);
}

SIMD_CLONES void box_mix_run(const box_mix *x)
{
    int64_t lane = 0;
    for (; x->ld - lane > 4 * SIMD_LANES || x->ld - lane == 3 * SIMD_LANES; lane += 3 * SIMD_LANES)
        mix_columns(x, lane, 3);
    for (; x->ld - lane >= 2 * SIMD_LANES; lane += 2 * SIMD_LANES)
        mix_columns(x, lane, 2);
    if (x->ld > lane)
        mix_columns(x, lane, 1);
}

/* ---- scalings ---- */

/* Over-relaxation must not change a sign: the relaxed value is held above half the plain one. */
SIMD_CLONES box_report box_update(double *scale, const double *weight, const double *sum, int64_t n,
                                  double omega)
{
    simd_f64 low = simd_all(INFINITY), high = simd_all(0), error = high;
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 w = simd_load(weight + k), x = simd_load(scale + k), s = simd_load(sum + k);
        simd_i64 has = w > 0.0;
        simd_f64 safe = simd_max(s, simd_all(TINY_SUM));
        low = simd_min(low, simd_select(has, safe, low));
        high = simd_max(high, simd_select(has, safe, high));
        error += simd_abs(x * s - w);
        simd_f64 plain = w / safe;
        simd_store(scale + k, simd_max(plain + (omega - 1) * (plain - x), 0.5 * plain));
    }
    return (box_report){simd_sum(error), -simd_highest(-low), simd_highest(high)};
}

SIMD_CLONES double box_error(const double *scale, const double *weight, const double *sum,
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

SIMD_CLONES double box_log_sum(const double *weight, const double *x, int64_t n)
{
    simd_f64 total = simd_all(0);
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 w = simd_load(weight + k);
        total += w * simd_log(simd_select(w > 0.0, simd_load(x + k), simd_all(1)));
    }
    return simd_sum(total);
}

SIMD_CLONES double box_log_ratio(const double *weight, const double *x, int64_t n)
{
    simd_f64 total = simd_all(0);
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 w = simd_load(weight + k), one = simd_all(1);
        simd_i64 has = w > 0.0;
        total += w * simd_log(simd_select(has, simd_load(x + k), one) / simd_select(has, w, one));
    }
    return simd_sum(total);
}

SIMD_CLONES double box_start(double *scale, const double *weight, int64_t rows, int64_t ld,
                             const box_form *form, double limit, bool *held)
{
    simd_f64 lane = {0, 1, 2, 3, 4, 5, 6, 7}, mean = simd_all(0), largest = mean;
    for (int64_t r = 0; r < rows; r++) {
        double y = form->y0 + form->y_step * (double)r;
        for (int64_t c = 0; c < ld; c += SIMD_LANES) {
            simd_f64 x = form->x0 + form->x_step * ((double)c + lane);
            simd_f64 t = form->yy * y * y + x * (form->xy * y + form->xx * x);
            simd_f64 w = simd_load(weight + r * ld + c);
            t = simd_select(w > 0.0, t, simd_all(0));
            mean += w * t;
            largest = simd_max(largest, simd_abs(t));
            t = simd_max(simd_min(t, simd_all(limit)), simd_all(-limit));
            simd_store(scale + r * ld + c, w * simd_exp(t));
        }
    }
    *held = !(simd_highest(largest) < limit);
    return simd_sum(mean);
}

SIMD_CLONES void box_exp_all(double *x, int64_t n)
{
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(x + k, simd_exp(simd_load(x + k)));
}

SIMD_CLONES double box_dot(const double *x, const double *y, int64_t n)
{
    simd_f64 total = simd_all(0);
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        total += simd_load(x + k) * simd_load(y + k);
    return simd_sum(total);
}
