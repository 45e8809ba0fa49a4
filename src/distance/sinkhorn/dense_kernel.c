/* Inner loops of the dense engine: passes over a matrix of costs or of kernel entries
 * (dense_kernel.h).
 *
 * One relaxed iteration needs K v and K' u. Both are computed in a single pass over K: the sum of a
 * row gives its new scaling u_i, and u_i times the row is added to the column sums. K is therefore
 * read only once per iteration. Rows are processed in blocks of four, which share the loaded
 * entries of v and of the column sums.
 *
 * Sums have a fixed order: first eight partial sums over the columns congruent modulo 8, then the
 * tree of simd_sum. The result therefore does not depend on the instruction set. The group engine
 * sums in the same order and gets the same bits. Every pass takes O(n m) operations. */
#include "distance/sinkhorn/dense_kernel.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/simd.h"

/* ---- shared with the grid engine ---- */

/* Updates a scaling. Over-relaxation must not change its sign, so the relaxed value is at least
 * half of the plain value. */
SIMD_CLONES sinkhorn_half sinkhorn_update(double *scale, const double *weight, const double *sum,
                                          int64_t n, double omega)
{
    simd_f64 low = simd_all(INFINITY), high = simd_all(0), error = high;
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 w = simd_load(weight + k), x = simd_load(scale + k), s = simd_load(sum + k);
        simd_i64 has = w > 0.0;
        simd_f64 safe = simd_max(s, simd_all(SINKHORN_TINY_SUM));
        low = simd_min(low, simd_select(has, safe, low));
        high = simd_max(high, simd_select(has, safe, high));
        error += simd_abs(x * s - w);
        simd_f64 plain = w / safe;
        simd_store(scale + k, simd_max(plain + (omega - 1) * (plain - x), 0.5 * plain));
    }
    return (sinkhorn_half){simd_sum(error), -simd_highest(-low), simd_highest(high)};
}

/* The exponents are limited because they become arbitrarily large if epsilon is less than the
 * rounding error in the cost. */
SIMD_CLONES void sinkhorn_exp(double *x, int64_t n, double limit)
{
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(x + k, simd_exp(simd_min(simd_load(x + k), simd_all(limit))));
}

/* ---- building blocks of the passes ---- */

/* Returns the dot products of four rows with v. */
SIMD_INLINE simd_f64x4 four_dots(const double *k0, int64_t stride, const double *v)
{
    const double *k1 = k0 + stride, *k2 = k1 + stride, *k3 = k2 + stride;
    simd_f64 d0 = simd_all(0), d1 = d0, d2 = d0, d3 = d0;
    for (int64_t j = 0; j < stride; j += SIMD_LANES) {
        simd_f64 x = simd_load(v + j);
        d0 += simd_load(k0 + j) * x;
        d1 += simd_load(k1 + j) * x;
        d2 += simd_load(k2 + j) * x;
        d3 += simd_load(k3 + j) * x;
    }
    return simd_four_sums(d0, d1, d2, d3);
}

/* Computes total += u' K over four rows. */
SIMD_INLINE void four_adds(double *total, const double *k0, int64_t stride, const double *u)
{
    const double *k1 = k0 + stride, *k2 = k1 + stride, *k3 = k2 + stride;
    for (int64_t j = 0; j < stride; j += SIMD_LANES) {
        simd_f64 low = u[0] * simd_load(k0 + j) + u[1] * simd_load(k1 + j);
        simd_f64 high = u[2] * simd_load(k2 + j) + u[3] * simd_load(k3 + j);
        simd_store(total + j, simd_load(total + j) + (low + high));
    }
}

static sinkhorn_half update_columns(dense_arrays *s, double omega)
{
    return sinkhorn_update(s->column.scale, s->column.weight, s->column.sum, s->stride, omega);
}

/* ---- kernel ---- */

/* Computes the exponents. Returns the largest magnitude among the row maxima and column maxima.
 * Padded columns have an infinite cost, so their exponents are -inf and their kernel entries are
 * 0. */
SIMD_CLONES static double fill_exponents(dense_arrays *s, double inverse)
{
    const double *f = s->row.potential, *g = s->column.potential;
    double worst = 0, *column_high = s->column.sum;
    for (int64_t j = 0; j < s->stride; j++)
        column_high[j] = -INFINITY;
    for (int64_t i = 0; i < s->row.n; i++) {
        const double *cost = s->cost + i * s->stride;
        double *out = s->kernel + i * s->stride;
        simd_f64 row_high = simd_all(-INFINITY);
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 t = ((f[i] + simd_load(g + j)) - simd_load(cost + j)) * inverse;
            simd_store(out + j, t);
            row_high = simd_max(row_high, t);
            simd_store(column_high + j, simd_max(simd_load(column_high + j), t));
        }
        double high = simd_highest(row_high);
        worst = BASE_MAX(worst, fabs(high));
    }
    for (int64_t j = 0; j < s->column.n; j++)
        worst = BASE_MAX(worst, fabs(column_high[j]));
    return worst;
}

bool sinkhorn_dense_fill(dense_arrays *s, double epsilon, double limit)
{
    double worst = fill_exponents(s, 1.0 / epsilon);
    sinkhorn_exp(s->kernel, s->row.n * s->stride, limit);
    return worst <= limit;
}

SIMD_CLONES void sinkhorn_dense_reduce(dense_arrays *s)
{
    double *f = s->row.potential, *g = s->column.potential;
    for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
        simd_f64 low = simd_all(INFINITY);
        for (int64_t i = 0; i < s->row.n; i++)
            low = simd_min(low, simd_load(s->cost + i * s->stride + j) - f[i]);
        simd_store(g + j, low);
    }
    for (int64_t j = s->column.n; j < s->stride; j++)
        g[j] = 0;
    for (int64_t i = 0; i < s->row.n; i++) {
        simd_f64 low = simd_all(INFINITY);
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES)
            low = simd_min(low, simd_load(s->cost + i * s->stride + j) - simd_load(g + j));
        f[i] = -simd_highest(-low);
    }
}

SIMD_CLONES double sinkhorn_dense_subtract(dense_arrays *s)
{
    const double *f = s->row.potential, *g = s->column.potential;
    simd_f64 high = simd_all(0);
    for (int64_t i = 0; i < s->row.n; i++) {
        double *row = s->cost + i * s->stride;
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 rest = (simd_load(row + j) - simd_load(g + j)) - f[i];
            simd_store(row + j, simd_max(rest, simd_all(0)));
            high = simd_max(high, simd_select(rest < INFINITY, rest, simd_all(0)));
        }
    }
    return simd_highest(high);
}

/* ---- iterations ---- */

SIMD_CLONES sinkhorn_seen sinkhorn_dense_pass(dense_arrays *s, double omega)
{
    const dense_side *x = &s->row;
    simd_f64x4 low = simd_all4(INFINITY), high = simd_all4(0), error = high;
    memset(s->column.sum, 0, (size_t)s->stride * sizeof *s->column.sum);
    for (int64_t i = 0; i < s->rows; i += SINKHORN_ROW_BLOCK) {
        const double *k = s->kernel + i * s->stride;
        simd_f64x4 sum = four_dots(k, s->stride, s->column.scale);
        simd_f64x4 u = simd_load4(x->scale + i), a = simd_load4(x->weight + i);
        simd_f64x4 safe = simd_max4(sum + simd_load4(s->row_pad + i), simd_all4(SINKHORN_TINY_SUM));
        low = simd_min4(low, safe);
        high = simd_max4(high, safe);
        error += simd_abs4(u * sum - a);
        simd_f64x4 plain = a / safe;
        simd_store4(x->scale + i, simd_max4(plain + (omega - 1) * (plain - u), 0.5 * plain));
        four_adds(s->column.sum, k, s->stride, x->scale + i);
    }
    sinkhorn_half columns = update_columns(s, omega);
    sinkhorn_seen seen = {0, columns.error, columns.low, columns.high};
    for (int k = 0; k < SINKHORN_ROW_BLOCK; k++) {
        seen.row_error += error[k];
        seen.low = BASE_MIN(seen.low, low[k]);
        seen.high = BASE_MAX(seen.high, high[k]);
    }
    return seen;
}

SIMD_CLONES double sinkhorn_dense_measure(dense_arrays *s)
{
    const dense_side *x = &s->row;
    double error = 0;
    for (int64_t i = 0; i < s->rows; i += SINKHORN_ROW_BLOCK)
        simd_store4(x->sum + i, four_dots(s->kernel + i * s->stride, s->stride, s->column.scale));
    for (int64_t i = 0; i < x->n; i++)
        error += fabs(x->scale[i] * x->sum[i] - x->weight[i]);
    return error;
}

SIMD_CLONES static void settle_columns(dense_arrays *s)
{
    memset(s->column.sum, 0, (size_t)s->stride * sizeof *s->column.sum);
    for (int64_t i = 0; i < s->rows; i += SINKHORN_ROW_BLOCK)
        four_adds(s->column.sum, s->kernel + i * s->stride, s->stride, s->row.scale + i);
    update_columns(s, 1);
}

double sinkhorn_dense_settle(dense_arrays *s)
{
    settle_columns(s);
    return sinkhorn_dense_measure(s);
}

/* ---- plan ---- */

SIMD_CLONES void sinkhorn_dense_root_plan(const dense_arrays *s, double *plan)
{
    const double *u = s->row.scale, *v = s->column.scale;
    double *factor = s->column.sum;
    for (int64_t j = 0; j < s->stride; j++)
        factor[j] = j < s->column.n ? v[j] / sqrt(s->column.weight[j]) : v[j];
    for (int64_t i = 0; i < s->row.n; i++)
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 p = u[i] * simd_load(s->kernel + i * s->stride + j) * simd_load(factor + j);
            simd_store(plan + i * s->stride + j, p);
        }
}

SIMD_CLONES double sinkhorn_dense_cost(const dense_arrays *s)
{
    const double *base_f = s->row.base, *base_g = s->column.base, *v = s->column.scale;
    simd_f64 total = simd_all(0);
    for (int64_t i = 0; i < s->row.n; i++) {
        const double *kernel = s->kernel + i * s->stride, *cost = s->cost + i * s->stride;
        simd_f64 row = simd_all(0);
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 c = simd_load(cost + j) + (base_f[i] + simd_load(base_g + j));
            simd_f64 mass = simd_load(kernel + j) * simd_load(v + j);
            row += simd_select(mass > 0, mass * c, simd_all(0)); /* padded costs are infinite */
        }
        total += s->row.scale[i] * row;
    }
    return simd_sum(total);
}

/* simd_log requires normal numbers. If a diverging iteration produced other numbers, log()
 * recomputes their logarithms. */
SIMD_CLONES void sinkhorn_dense_logs(const dense_side *x)
{
    simd_f64 low = simd_all(1), high = low;
    for (int64_t i = 0; i < x->n; i += SIMD_LANES) {
        simd_f64 w = simd_load(x->weight + i), ratio = simd_load(x->scale + i) / w;
        ratio = simd_select(w > 0, ratio, simd_all(1));
        low = simd_min(ratio, low);
        high = simd_max(ratio, high);
        simd_store(x->last + i, simd_log(ratio));
    }
    if (-simd_highest(-low) > 1e-300 && simd_highest(high) < 1e300)
        return;
    for (int64_t i = 0; i < x->n; i++)
        x->last[i] = log(x->scale[i] / x->weight[i]);
}
