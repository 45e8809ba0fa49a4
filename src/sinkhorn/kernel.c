#include "sinkhorn/kernel.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/simd.h"

/* ---- pieces shared by the passes ---- */

/* As scaling_report, for the rows, four at a time. */
typedef struct row_report {
    simd_f64x4 error, low, high;
} row_report;

/* Four rows times v. */
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

/* total += u' K over four rows. */
SIMD_INLINE void four_adds(double *total, const double *k0, int64_t stride, const double *u)
{
    const double *k1 = k0 + stride, *k2 = k1 + stride, *k3 = k2 + stride;
    for (int64_t j = 0; j < stride; j += SIMD_LANES) {
        simd_f64 low = u[0] * simd_load(k0 + j) + u[1] * simd_load(k1 + j);
        simd_f64 high = u[2] * simd_load(k2 + j) + u[3] * simd_load(k3 + j);
        simd_store(total + j, simd_load(total + j) + (low + high));
    }
}

/* Padded columns start from 1, so that their quotient is 0 and their sum unremarkable. */
SIMD_INLINE void clear_columns(scaling *s)
{
    memset(s->column_sum, 0, (size_t)s->stride * sizeof *s->column_sum);
    for (int64_t j = s->m; j < s->stride; j++)
        s->column_sum[j] = 1;
}

/* ---- the cost ---- */

SIMD_CLONES double scaling_magnitude(const scaling *s)
{
    simd_f64 high = simd_all(0);
    for (int64_t k = 0; k < s->n * s->stride; k += SIMD_LANES) {
        simd_f64 size = simd_abs(simd_load(s->cost + k));
        high = simd_max(high, simd_select(size < INFINITY, size, simd_all(0)));
    }
    return simd_highest(high);
}

SIMD_CLONES void scaling_multiply(scaling *s, double factor)
{
    for (int64_t k = 0; k < s->n * s->stride; k += SIMD_LANES)
        simd_store(s->cost + k, simd_load(s->cost + k) * factor);
}

/* ---- the kernel ---- */

SIMD_CLONES static double fill_exponents(scaling *s, double inverse)
{
    double worst = 0, *column_high = s->column_sum;
    for (int64_t j = 0; j < s->stride; j++)
        column_high[j] = -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        const double *cost = s->cost + i * s->stride;
        double *out = s->kernel + i * s->stride;
        simd_f64 row_high = simd_all(-INFINITY);
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 t = ((s->f[i] + simd_load(s->g + j)) - simd_load(cost + j)) * inverse;
            simd_store(out + j, t);
            row_high = simd_max(row_high, t);
            simd_store(column_high + j, simd_max(simd_load(column_high + j), t));
        }
        double high = simd_highest(row_high);
        worst = BASE_MAX(worst, fabs(high));
    }
    for (int64_t j = 0; j < s->m; j++)
        worst = BASE_MAX(worst, fabs(column_high[j]));
    return worst;
}

/* Held at `limit`: at an epsilon below the rounding of the cost an exponent can come out anyhow. */
SIMD_CLONES static void exponentiate(double *x, int64_t n, double limit)
{
    for (int64_t i = 0; i < n; i += SIMD_LANES)
        simd_store(x + i, simd_exp(simd_min(simd_load(x + i), simd_all(limit))));
}

bool scaling_fill(scaling *s, double epsilon, double limit)
{
    /* Padded columns have an infinite cost, so their exponent is -inf and their kernel 0. */
    double worst = fill_exponents(s, 1.0 / epsilon);
    exponentiate(s->kernel, s->n * s->stride, limit);
    return worst <= limit;
}

SIMD_CLONES static void reduce_rows(scaling *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        simd_f64 low = simd_all(INFINITY);
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES)
            low = simd_min(low, simd_load(s->cost + i * s->stride + j) - simd_load(s->g + j));
        s->f[i] = -simd_highest(-low);
    }
}

SIMD_CLONES static void reduce_columns(scaling *s)
{
    for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
        simd_f64 low = simd_all(INFINITY);
        for (int64_t i = 0; i < s->n; i++)
            low = simd_min(low, simd_load(s->cost + i * s->stride + j) - s->f[i]);
        simd_store(s->g + j, low);
    }
    for (int64_t j = s->m; j < s->stride; j++)
        s->g[j] = 0;
}

void scaling_reduce(scaling *s)
{
    reduce_columns(s);
    reduce_rows(s);
}

SIMD_CLONES double scaling_subtract(scaling *s)
{
    simd_f64 high = simd_all(0);
    for (int64_t i = 0; i < s->n; i++) {
        double *row = s->cost + i * s->stride;
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 rest = (simd_load(row + j) - simd_load(s->g + j)) - s->f[i];
            simd_store(row + j, simd_max(rest, simd_all(0)));
            high = simd_max(high, simd_select(rest < INFINITY, rest, simd_all(0)));
        }
    }
    return simd_highest(high);
}

/* ---- iterations ---- */

/* Over-relaxation must not change a sign: the relaxed value is held above half the plain one. */
SIMD_INLINE void update_rows(scaling *s, int64_t i, simd_f64x4 sums, double omega,
                             row_report *report)
{
    simd_f64x4 u = simd_load4(s->u + i), a = simd_load4(s->a + i);
    simd_f64x4 safe = simd_max4(sums + simd_load4(s->row_pad + i), simd_all4(TINY_SUM));
    report->low = simd_min4(report->low, safe);
    report->high = simd_max4(report->high, safe);
    report->error += simd_abs4(u * sums - a);
    simd_f64x4 plain = a / safe;
    simd_store4(s->u + i, simd_max4(plain + (omega - 1) * (plain - u), 0.5 * plain));
}

SIMD_INLINE void update_columns(scaling *s, double omega, scaling_report *report)
{
    simd_f64 low = simd_all(INFINITY), high = simd_all(0), error = high;
    for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
        simd_f64 sum = simd_load(s->column_sum + j), b = simd_load(s->b + j);
        simd_f64 safe = simd_max(sum, simd_all(TINY_SUM)), v = simd_load(s->v + j);
        low = simd_min(low, safe);
        high = simd_max(high, safe);
        error += simd_abs(v * sum - b);
        simd_f64 plain = b / safe;
        simd_store(s->v + j, simd_max(plain + (omega - 1) * (plain - v), 0.5 * plain));
    }
    report->low = BASE_MIN(report->low, -simd_highest(-low));
    report->high = BASE_MAX(report->high, simd_highest(high));
    report->column_error = simd_sum(error);
}

SIMD_CLONES scaling_report scaling_pass(scaling *s, double omega)
{
    row_report rows = {simd_all4(0), simd_all4(INFINITY), simd_all4(0)};
    scaling_report report = {0, 0, INFINITY, 0};
    clear_columns(s);
    for (int64_t i = 0; i < s->rows; i += ROW_BLOCK) {
        const double *k = s->kernel + i * s->stride;
        update_rows(s, i, four_dots(k, s->stride, s->v), omega, &rows);
        four_adds(s->column_sum, k, s->stride, s->u + i);
    }
    for (int k = 0; k < ROW_BLOCK; k++) {
        report.row_error += rows.error[k];
        report.low = BASE_MIN(report.low, rows.low[k]);
        report.high = BASE_MAX(report.high, rows.high[k]);
    }
    update_columns(s, omega, &report);
    return report;
}

SIMD_CLONES double scaling_measure(scaling *s)
{
    double error = 0;
    for (int64_t i = 0; i < s->rows; i += ROW_BLOCK)
        simd_store4(s->row_sum + i, four_dots(s->kernel + i * s->stride, s->stride, s->v));
    for (int64_t i = 0; i < s->n; i++)
        error += fabs(s->u[i] * s->row_sum[i] - s->a[i]);
    return error;
}

SIMD_CLONES static void settle_columns(scaling *s)
{
    scaling_report ignored = {0, 0, INFINITY, 0};
    clear_columns(s);
    for (int64_t i = 0; i < s->rows; i += ROW_BLOCK)
        four_adds(s->column_sum, s->kernel + i * s->stride, s->stride, s->u + i);
    update_columns(s, 1, &ignored);
}

double scaling_settle(scaling *s)
{
    settle_columns(s);
    return scaling_measure(s);
}

SIMD_CLONES void scaling_plan(const scaling *s, double *plan, bool by_root_b)
{
    double *factor = s->column_sum;
    for (int64_t j = 0; j < s->stride; j++)
        factor[j] = by_root_b && j < s->m ? s->v[j] / sqrt(s->b[j]) : s->v[j];
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 p = s->u[i] * simd_load(s->kernel + i * s->stride + j) * simd_load(factor + j);
            simd_store(plan + i * s->stride + j, p);
        }
}

SIMD_CLONES double scaling_cost(const scaling *s, const double *base_f, const double *base_g)
{
    simd_f64 total = simd_all(0);
    for (int64_t i = 0; i < s->n; i++) {
        const double *kernel = s->kernel + i * s->stride, *cost = s->cost + i * s->stride;
        simd_f64 row = simd_all(0);
        for (int64_t j = 0; j < s->stride; j += SIMD_LANES) {
            simd_f64 c = simd_load(cost + j) + (base_f[i] + simd_load(base_g + j));
            simd_f64 mass = simd_load(kernel + j) * simd_load(s->v + j);
            row += simd_select(mass > 0, mass * c, simd_all(0)); /* padded costs are infinite */
        }
        total += s->u[i] * row;
    }
    return simd_sum(total);
}

/* simd_log wants normal numbers; what an iteration without end has left may be none. */
SIMD_CLONES void scaling_logs(double *out, const double *scale, const double *weight, int64_t n)
{
    simd_f64 low = simd_all(1), high = low;
    for (int64_t i = 0; i < n; i += SIMD_LANES) {
        simd_f64 w = simd_load(weight + i), ratio = simd_load(scale + i) / w;
        ratio = simd_select(w > 0, ratio, simd_all(1));
        low = simd_min(ratio, low);
        high = simd_max(ratio, high);
        simd_store(out + i, simd_log(ratio));
    }
    if (-simd_highest(-low) > 1e-300 && simd_highest(high) < 1e300)
        return;
    for (int64_t i = 0; i < n; i++)
        out[i] = log(scale[i] / weight[i]);
}
