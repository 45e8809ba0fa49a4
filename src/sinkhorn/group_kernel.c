/* Kernels over eight problems at once. Sums go in the order of sinkhorn_kernel.c: eight partial
 * sums over the columns congruent modulo 8, then simd_sum's tree; rows in blocks of four. */
#include <math.h>

#include "base/base.h"
#include "sinkhorn/group.h"
#include "sinkhorn/kernel.h"

enum { L = SIMD_LANES };

SIMD_INLINE simd_i64 load_mask(const int64_t *from)
{
    simd_i64 x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* ---- the cost ---- */

/* The base of column j: its least cost; 0 in the padding. */
SIMD_INLINE simd_f64 column_base(const lane_scaling *s, int64_t j, simd_f64 *magnitude)
{
    simd_f64 low = simd_all(INFINITY), high = *magnitude;
    for (int64_t i = 0; i < s->n; i++) {
        simd_f64 c = simd_load(s->cost + (i * s->m + j) * L), size = simd_abs(c);
        low = simd_min(low, c);
        high = simd_max(high, simd_select(size < INFINITY, size, simd_all(0)));
    }
    *magnitude = high;
    return simd_select(simd_load(s->column_pad + j * L) > 0, simd_all(0), low);
}

SIMD_INLINE simd_f64 row_base(const lane_scaling *s, int64_t i)
{
    simd_f64 low = simd_all(INFINITY);
    for (int64_t j = 0; j < s->m; j++)
        low = simd_min(low, simd_load(s->cost + (i * s->m + j) * L) - simd_load(s->base_g + j * L));
    return simd_select(simd_load(s->row_pad + i * L) > 0, simd_all(0), low);
}

SIMD_CLONES void lanes_reduce(lane_scaling *s, double *magnitude, double *range)
{
    simd_f64 largest = simd_all(0), high = simd_all(0);
    for (int64_t j = 0; j < s->m; j++)
        simd_store(s->base_g + j * L, column_base(s, j, &largest));
    for (int64_t i = 0; i < s->n; i++) {
        simd_f64 f = row_base(s, i);
        simd_store(s->base_f + i * L, f);
        for (int64_t j = 0; j < s->m; j++) {
            double *at = s->cost + (i * s->m + j) * L;
            simd_f64 rest = (simd_load(at) - simd_load(s->base_g + j * L)) - f;
            simd_store(at, simd_max(rest, simd_all(0)));
            high = simd_max(high, simd_select(rest < INFINITY, rest, simd_all(0)));
        }
    }
    simd_store(magnitude, largest);
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

/* What up to four rows add to column j: a missing row is one of zeros. */
SIMD_INLINE simd_f64 block_sum(const double *at, int64_t stride, const simd_f64 *u, const int rows)
{
    simd_f64 sum = u[0] * simd_load(at);
    if (rows > 1)
        sum += u[1] * simd_load(at + stride);
    if (rows > 2) {
        simd_f64 high = u[2] * simd_load(at + 2 * stride);
        if (rows > 3)
            high += u[3] * simd_load(at + 3 * stride);
        sum += high;
    }
    return sum;
}

/* column_sum += u' K over `rows` <= 8 rows from i on, in blocks of four. */
SIMD_INLINE void adds(lane_scaling *s, int64_t i, const int rows)
{
    const double *k = s->kernel + i * s->m * L;
    int64_t stride = s->m * L;
    simd_f64 u[8];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
        u[r] = simd_load(s->u + (i + r) * L);
    for (int64_t j = 0; j < stride; j += L) {
        simd_f64 sum = simd_load(s->column_sum + j);
        sum += block_sum(k + j, stride, u, rows);
        if (rows > 4)
            sum += block_sum(k + 4 * stride + j, stride, u + 4, rows - 4);
        simd_store(s->column_sum + j, sum);
    }
}

/* The same for the last rows % 8 of them. */
SIMD_INLINE void adds_rest(lane_scaling *s, int64_t i)
{
    switch (s->n - i) {
    case 7: adds(s, i, 7); break;
    case 6: adds(s, i, 6); break;
    case 5: adds(s, i, 5); break;
    case 4: adds(s, i, 4); break;
    case 3: adds(s, i, 3); break;
    case 2: adds(s, i, 2); break;
    case 1: adds(s, i, 1); break;
    default: break;
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

typedef struct step {
    simd_i64 active;
    simd_f64 beyond; /* omega - 1 */
    simd_f64 error[8];
    side_report seen;
} step;

SIMD_INLINE void update_rows(lane_scaling *s, int64_t i, const int rows, step *t)
{
    simd_f64 sum[4];
    dots(s->kernel + i * s->m * L, s->m, s->v, rows, sum);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        int64_t at = (i + r) * L;
        t->error[r] += update(s->u + at, s->a + at, sum[r], sum[r] + simd_load(s->row_pad + at),
                              t->active, t->beyond, &t->seen);
    }
}

/* Up to four rows. */
SIMD_INLINE void update_rest(lane_scaling *s, int64_t i, step *t)
{
    switch (BASE_MIN(4, s->n - i)) {
    case 4: update_rows(s, i, 4, t); break;
    case 3: update_rows(s, i, 3, t); break;
    case 2: update_rows(s, i, 2, t); break;
    case 1: update_rows(s, i, 1, t); break;
    default: break;
    }
}

SIMD_INLINE void clear_errors(step *t)
{
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
        t->error[r] = simd_all(0);
}

SIMD_INLINE simd_f64 tree(const simd_f64 *p)
{
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

SIMD_INLINE void update_column(lane_scaling *s, int64_t j, int r, step *t)
{
    int64_t at = (j + r) * L;
    simd_f64 sum = simd_load(s->column_sum + at);
    t->error[r] += update(s->v + at, s->b + at, sum, sum, t->active, t->beyond, &t->seen);
}

/* Padded columns have a sum of 1 and no mass. The error before is returned. */
SIMD_INLINE simd_f64 update_columns(lane_scaling *s, step *t)
{
    int64_t j = 0;
    clear_errors(t);
    for (; j + 8 <= s->m; j += 8)
#pragma GCC unroll 8
        for (int r = 0; r < 8; r++)
            update_column(s, j, r, t);
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
        if (j + r < s->m)
            update_column(s, j, r, t);
    return tree(t->error);
}

SIMD_INLINE void clear_columns(lane_scaling *s)
{
    memcpy(s->column_sum, s->column_pad, (size_t)(s->m * L) * sizeof *s->column_sum);
}

SIMD_CLONES void lanes_pass(lane_scaling *s, const lane_control *control, lane_report *report)
{
    step t = {.active = load_mask(control->active),
              .beyond = simd_load(control->omega) - 1.0,
              .seen = {simd_all(INFINITY), simd_all(0)}};
    int64_t i = 0;
    clear_errors(&t);
    clear_columns(s);
    for (; i + 8 <= s->n; i += 8) {
        update_rows(s, i, 4, &t);
        update_rows(s, i + 4, 4, &t);
        adds(s, i, 8);
    }
    update_rest(s, i, &t);
    update_rest(s, i + 4, &t);
    adds_rest(s, i);
    simd_store(report->row_error, ((t.error[0] + t.error[1]) + t.error[2]) + t.error[3]);
    simd_store(report->column_error, update_columns(s, &t));
    simd_store(report->low, t.seen.low);
    simd_store(report->high, t.seen.high);
}

/* ---- the end ---- */

SIMD_INLINE simd_f64 measure_rows(lane_scaling *s, int64_t i, const int rows, simd_f64 error)
{
    simd_f64 sum[4];
    dots(s->kernel + i * s->m * L, s->m, s->v, rows, sum);
#pragma GCC unroll 4
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
    step t = {.active = ~(simd_i64){0}, .beyond = simd_all(0)};
    int64_t i = 0;
    clear_columns(s);
    for (; i + 8 <= s->n; i += 8)
        adds(s, i, 8);
    adds_rest(s, i);
    update_columns(s, &t);
    for (i = 0; i + 4 <= s->n; i += 4)
        total = measure_rows(s, i, 4, total);
    for (; i < s->n; i++)
        total = measure_rows(s, i, 1, total);
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
