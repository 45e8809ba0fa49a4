/* Kernels over eight problems at once. Sums go in the order of sinkhorn_kernel.c: eight partial
 * sums over the columns congruent modulo 8, then simd_sum's tree; rows in blocks of four. */
#include <math.h>

#include "base/base.h"
#include "ot/sinkhorn_kernel.h"
#include "ot/sinkhorn_lanes.h"

enum { L = SIMD_LANES };

SIMD_INLINE simd_i64 load_mask(const int64_t *from)
{
    simd_i64 x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* ---- the cost ---- */

SIMD_CLONES void lanes_magnitude(const lane_scaling *s, double *magnitude)
{
    simd_f64 high = simd_all(0);
    for (int64_t k = 0; k < s->n * s->m; k++) {
        simd_f64 size = simd_abs(simd_load(s->cost + k * L));
        high = simd_max(high, simd_select(size < INFINITY, size, simd_all(0)));
    }
    simd_store(magnitude, high);
}

/* The least entry less the base of the other side; 0 in the padding. */
SIMD_INLINE simd_f64 least(const double *cost, int64_t step, int64_t n, const double *base,
                           const double *pad)
{
    simd_f64 low = simd_all(INFINITY);
    for (int64_t k = 0; k < n; k++) {
        simd_f64 c = simd_load(cost + k * step);
        low = simd_min(low, base ? c - simd_load(base + k * L) : c);
    }
    return simd_select(simd_load(pad) > 0, simd_all(0), low);
}

SIMD_CLONES void lanes_reduce(lane_scaling *s, double *range)
{
    int64_t stride = s->m * L;
    simd_f64 high = simd_all(0);
    for (int64_t j = 0; j < s->m; j++)
        simd_store(s->base_g + j * L,
                   least(s->cost + j * L, stride, s->n, NULL, s->column_pad + j * L));
    for (int64_t i = 0; i < s->n; i++) {
        double *row = s->cost + i * stride;
        simd_f64 f = least(row, L, s->m, s->base_g, s->row_pad + i * L);
        simd_store(s->base_f + i * L, f);
        for (int64_t j = 0; j < s->m; j++) {
            simd_f64 rest = (simd_load(row + j * L) - simd_load(s->base_g + j * L)) - f;
            simd_store(row + j * L, simd_max(rest, simd_all(0)));
            high = simd_max(high, simd_select(rest < INFINITY, rest, simd_all(0)));
        }
    }
    simd_store(range, high);
    memcpy(s->u, s->a, (size_t)(s->n * L) * sizeof *s->u);
    memcpy(s->v, s->b, (size_t)(s->m * L) * sizeof *s->v);
}

SIMD_CLONES void lanes_fill(lane_scaling *s, double epsilon)
{
    double inverse = 1.0 / epsilon;
    for (int64_t k = 0; k < s->n * s->m; k++)
        simd_store(s->kernel + k * L, simd_exp((0.0 - simd_load(s->cost + k * L)) * inverse));
}

/* ---- iterations ---- */

/* Partial sums of `rows` rows times v over the columns r, r + 8, ... */
SIMD_INLINE void residue(const double *k, int64_t m, const double *v, int64_t r, const int rows,
                         simd_f64 *sum)
{
    if (r >= m) {
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] = simd_all(0);
        return;
    }
    simd_f64 x = simd_load(v + r * L);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i] = simd_load(k + (i * m + r) * L) * x;
    for (int64_t j = r + 8; j < m; j += 8) {
        x = simd_load(v + j * L);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] += simd_load(k + (i * m + j) * L) * x;
    }
}

/* (p_r + p_(r+4)) + (p_(r+2) + p_(r+6)) for r = 0 or 1: half of simd_sum's tree. */
SIMD_INLINE void half_tree(const double *k, int64_t m, const double *v, int64_t r, const int rows,
                           simd_f64 *sum)
{
    simd_f64 p[4], q[4];
    residue(k, m, v, r, rows, sum);
    residue(k, m, v, r + 4, rows, p);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i] += p[i];
    residue(k, m, v, r + 2, rows, p);
    residue(k, m, v, r + 6, rows, q);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i] += p[i] + q[i];
}

SIMD_INLINE void dots(const double *k, int64_t m, const double *v, const int rows, simd_f64 *sum)
{
    simd_f64 odd[4];
    half_tree(k, m, v, 0, rows, sum);
    half_tree(k, m, v, 1, rows, odd);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i] += odd[i];
}

/* total += u' K over `rows` rows: a missing row is one of zeros. */
SIMD_INLINE void adds(double *total, const double *k, int64_t m, const double *u, const int rows)
{
    simd_f64 u0 = simd_load(u), u1 = rows > 1 ? simd_load(u + L) : u0,
             u2 = rows > 2 ? simd_load(u + 2 * L) : u0, u3 = rows > 3 ? simd_load(u + 3 * L) : u0;
    for (int64_t j = 0; j < m; j++) {
        const double *at = k + j * L;
        simd_f64 sum = u0 * simd_load(at);
        if (rows > 1)
            sum += u1 * simd_load(at + m * L);
        if (rows > 2) {
            simd_f64 high = u2 * simd_load(at + 2 * m * L);
            if (rows > 3)
                high += u3 * simd_load(at + 3 * m * L);
            sum += high;
        }
        simd_store(total + j * L, simd_load(total + j * L) + sum);
    }
}

typedef struct side_report {
    simd_f64 low, high;
} side_report;

/* One scaling from its sum; the error before it is returned. */
SIMD_INLINE simd_f64 update(double *scale, const double *weight, simd_f64 sum, simd_f64 safe,
                            simd_i64 active, simd_f64 beyond, side_report *seen)
{
    simd_f64 old = simd_load(scale), w = simd_load(weight);
    safe = simd_max(safe, simd_all(TINY_SUM));
    seen->low = simd_min(seen->low, safe);
    seen->high = simd_max(seen->high, safe);
    simd_f64 plain = w / safe, relaxed = simd_max(plain + beyond * (plain - old), 0.5 * plain);
    simd_store(scale, simd_select(active, relaxed, old));
    return simd_abs(old * sum - w);
}

SIMD_INLINE void row_block(lane_scaling *s, int64_t i, const int rows, simd_i64 active,
                           simd_f64 beyond, simd_f64 *error, side_report *seen)
{
    const double *k = s->kernel + i * s->m * L;
    simd_f64 sum[4];
    dots(k, s->m, s->v, rows, sum);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        int64_t at = (i + r) * L;
        error[r] += update(s->u + at, s->a + at, sum[r], sum[r] + simd_load(s->row_pad + at),
                           active, beyond, seen);
    }
    adds(s->column_sum, k, s->m, s->u + i * L, rows);
}

SIMD_INLINE simd_f64 tree(const simd_f64 *p)
{
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

/* Padded columns have a sum of 1 and no mass. */
SIMD_INLINE simd_f64 columns_update(lane_scaling *s, simd_i64 active, simd_f64 beyond,
                                    side_report *seen)
{
    simd_f64 error[8];
    for (int r = 0; r < 8; r++)
        error[r] = simd_all(0);
    for (int64_t j = 0; j < s->m; j += 8)
        for (int64_t r = 0; r < BASE_MIN(8, s->m - j); r++) {
            int64_t at = (j + r) * L;
            simd_f64 sum = simd_load(s->column_sum + at);
            error[r] += update(s->v + at, s->b + at, sum, sum, active, beyond, seen);
        }
    return tree(error);
}

SIMD_CLONES void lanes_pass(lane_scaling *s, const lane_control *control, lane_report *report)
{
    simd_i64 active = load_mask(control->active);
    simd_f64 beyond = simd_load(control->omega) - 1.0, error[4];
    side_report seen = {simd_all(INFINITY), simd_all(0)};
    for (int r = 0; r < 4; r++)
        error[r] = simd_all(0);
    memcpy(s->column_sum, s->column_pad, (size_t)(s->m * L) * sizeof *s->column_sum);
    int64_t i = 0;
    for (; i + 4 <= s->n; i += 4)
        row_block(s, i, 4, active, beyond, error, &seen);
    switch (s->n - i) {
    case 3: row_block(s, i, 3, active, beyond, error, &seen); break;
    case 2: row_block(s, i, 2, active, beyond, error, &seen); break;
    case 1: row_block(s, i, 1, active, beyond, error, &seen); break;
    default: break;
    }
    simd_store(report->column_error, columns_update(s, active, beyond, &seen));
    simd_store(report->row_error, ((error[0] + error[1]) + error[2]) + error[3]);
    simd_store(report->low, seen.low);
    simd_store(report->high, seen.high);
}

/* ---- the end ---- */

SIMD_INLINE void add_block(lane_scaling *s, int64_t i, const int rows)
{
    adds(s->column_sum, s->kernel + i * s->m * L, s->m, s->u + i * L, rows);
}

SIMD_INLINE simd_f64 measure_block(lane_scaling *s, int64_t i, const int rows, simd_f64 error)
{
    simd_f64 sum[4];
    dots(s->kernel + i * s->m * L, s->m, s->v, rows, sum);
    for (int r = 0; r < rows; r++) {
        int64_t at = (i + r) * L;
        simd_store(s->row_sum + at, sum[r]);
        error += simd_abs(simd_load(s->u + at) * sum[r] - simd_load(s->a + at));
    }
    return error;
}

SIMD_CLONES void lanes_settle(lane_scaling *s, double *error)
{
    simd_f64 total = simd_all(0);
    side_report ignored = {simd_all(INFINITY), simd_all(0)};
    int64_t whole = s->n / 4 * 4;
    memcpy(s->column_sum, s->column_pad, (size_t)(s->m * L) * sizeof *s->column_sum);
    for (int64_t i = 0; i < whole; i += 4)
        add_block(s, i, 4);
    switch (s->n - whole) {
    case 3: add_block(s, whole, 3); break;
    case 2: add_block(s, whole, 2); break;
    case 1: add_block(s, whole, 1); break;
    default: break;
    }
    columns_update(s, ~(simd_i64){0}, simd_all(0), &ignored);
    for (int64_t i = 0; i < whole; i += 4)
        total = measure_block(s, i, 4, total);
    for (int64_t i = whole; i < s->n; i++)
        total = measure_block(s, i, 1, total);
    simd_store(error, total);
}

SIMD_CLONES void lanes_cost(const lane_scaling *s, double *sharp)
{
    simd_f64 total[8];
    for (int r = 0; r < 8; r++)
        total[r] = simd_all(0);
    for (int64_t i = 0; i < s->n; i++) {
        const double *kernel = s->kernel + i * s->m * L, *cost = s->cost + i * s->m * L;
        simd_f64 f = simd_load(s->base_f + i * L), u = simd_load(s->u + i * L);
        for (int64_t r = 0; r < BASE_MIN(8, s->m); r++) {
            simd_f64 row = simd_all(0);
            for (int64_t j = r; j < s->m; j += 8) {
                simd_f64 c = simd_load(cost + j * L) + (f + simd_load(s->base_g + j * L));
                simd_f64 mass = simd_load(kernel + j * L) * simd_load(s->v + j * L);
                row += simd_select(mass > 0, mass * c, simd_all(0));
            }
            total[r] += u * row;
        }
    }
    simd_store(sharp, tree(total));
}

/* sum of weight (base + eps log(scale / weight)). */
SIMD_INLINE simd_f64 side_value(int64_t n, const double *weight, const double *base,
                                const double *scale, double epsilon)
{
    simd_f64 sum = simd_all(0);
    for (int64_t k = 0; k < n; k++) {
        simd_f64 w = simd_load(weight + k * L), ratio = simd_load(scale + k * L) / w;
        simd_f64 potential = simd_load(base + k * L) + epsilon * simd_log(ratio);
        sum += simd_select(w > 0, w * potential, simd_all(0));
    }
    return sum;
}

SIMD_CLONES void lanes_dual(const lane_scaling *s, double epsilon, double *value)
{
    simd_f64 excess = simd_all(0);
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = i * L;
        excess += simd_load(s->u + at) * simd_load(s->row_sum + at) - simd_load(s->a + at);
    }
    simd_store(value, side_value(s->n, s->a, s->base_f, s->u, epsilon) +
                          side_value(s->m, s->b, s->base_g, s->v, epsilon) - epsilon * excess);
}
