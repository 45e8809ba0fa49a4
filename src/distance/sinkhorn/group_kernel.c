/* Inner loops of the group engine: the passes of dense_kernel.c for eight problems at once.
 *
 * A vector contains the same entry of eight problems. No operation combines lanes, so each lane
 * performs the same steps as the dense engine. Sums have the same order as in dense_kernel.c: first
 * eight partial sums over the columns congruent modulo 8, then the tree of simd_sum. Rows are
 * processed in blocks of four.
 *
 * The dense engine pads rows and columns with zeros. The zeros are skipped here, which does not
 * change the bits because x + 0 is x. Masks keep the scalings of inactive problems unchanged. A
 * pass takes n m vector operations for the largest n and m in the group. */
#include "distance/sinkhorn/group_kernel.h"

#include <math.h>

#include "base/base.h"
#include "distance/sinkhorn/dense_kernel.h"

enum { G = SIMD_LANES, BLOCK = SINKHORN_ROW_BLOCK };

/* ---- cost ---- */

/* Combines sinkhorn_dense_reduce and sinkhorn_dense_subtract. The base of the padding is 0. */
SIMD_CLONES void sinkhorn_group_reduce(group_arrays *s, double *range)
{
    const group_side *x = &s->row, *y = &s->column;
    const simd_f64 zero = simd_all(0);
    simd_f64 high = zero;
    for (int64_t j = 0; j < y->n; j++) {
        simd_f64 low = simd_all(INFINITY);
        for (int64_t i = 0; i < x->n; i++)
            low = simd_min(low, simd_load(s->cost + (i * y->n + j) * G));
        simd_store(y->base + j * G, simd_select(simd_load(y->pad + j * G) > 0, zero, low));
    }
    for (int64_t i = 0; i < x->n; i++) {
        double *row = s->cost + i * y->n * G;
        simd_f64 low = simd_all(INFINITY);
        for (int64_t j = 0; j < y->n * G; j += G)
            low = simd_min(low, simd_load(row + j) - simd_load(y->base + j));
        simd_f64 f = simd_select(simd_load(x->pad + i * G) > 0, zero, low);
        simd_store(x->base + i * G, f);
        for (int64_t j = 0; j < y->n * G; j += G) {
            simd_f64 rest = (simd_load(row + j) - simd_load(y->base + j)) - f;
            simd_store(row + j, simd_max(rest, zero));
            high = simd_max(high, simd_select(rest < INFINITY, rest, zero));
        }
    }
    simd_store(range, high);
    memcpy(x->scale, x->weight, (size_t)(x->n * G) * sizeof *x->scale);
    memcpy(y->scale, y->weight, (size_t)(y->n * G) * sizeof *y->scale);
}

SIMD_CLONES void sinkhorn_group_fill(group_arrays *s, double epsilon)
{
    double inverse = 1.0 / epsilon;
    for (int64_t k = 0; k < s->row.n * s->column.n * G; k += G)
        simd_store(s->kernel + k, simd_exp((0.0 - simd_load(s->cost + k)) * inverse));
}

/* ---- sums over rows and columns ---- */

/* Computes partial sums of `rows` rows times v over the columns r, r + 8, ... */
SIMD_INLINE void residue(const double *k, int64_t m, const double *v, int64_t r, const int rows,
                         simd_f64 *sum)
{
    if (r >= m) {
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] = simd_all(0);
        return;
    }
    simd_f64 x = simd_load(v + r * G);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i] = simd_load(k + (i * m + r) * G) * x;
    for (int64_t j = r + 8; j < m; j += 8) {
        x = simd_load(v + j * G);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] += simd_load(k + (i * m + j) * G) * x;
    }
}

/* Computes (p_r + p_(r+4)) + (p_(r+2) + p_(r+6)) for r = 0 or 1, which is half of the tree of
 * simd_sum. */
SIMD_INLINE void half_tree(const double *k, int64_t m, const double *v, int64_t r, const int rows,
                           simd_f64 *sum)
{
    simd_f64 p[BLOCK], q[BLOCK];
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
    simd_f64 odd[BLOCK];
    half_tree(k, m, v, 0, rows, sum);
    half_tree(k, m, v, 1, rows, odd);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i] += odd[i];
}

/* Returns the contribution of up to four rows to a column. */
SIMD_INLINE simd_f64 block_sum(const double *k, int64_t stride, const simd_f64 *u, const int rows)
{
    simd_f64 sum = u[0] * simd_load(k);
    if (rows > 1)
        sum += u[1] * simd_load(k + stride);
    if (rows == 3)
        sum += u[2] * simd_load(k + 2 * stride);
    if (rows > 3)
        sum += u[2] * simd_load(k + 2 * stride) + u[3] * simd_load(k + 3 * stride);
    return sum;
}

/* Adds u' K to column.sum for up to eight rows starting at i, in blocks of four. */
SIMD_INLINE void adds(group_arrays *s, int64_t i, const int rows)
{
    int64_t stride = s->column.n * G;
    const double *k = s->kernel + i * stride;
    double *total = s->column.sum;
    simd_f64 u[2 * BLOCK];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
        u[r] = simd_load(s->row.scale + (i + r) * G);
    for (int64_t j = 0; j < stride; j += G) {
        simd_f64 sum = simd_load(total + j) + block_sum(k + j, stride, u, rows);
        if (rows > BLOCK)
            sum += block_sum(k + BLOCK * stride + j, stride, u + BLOCK, rows - BLOCK);
        simd_store(total + j, sum);
    }
}

/* ---- iterations ---- */

typedef struct step {
    simd_i64 active;
    simd_f64 beyond; /* omega - 1 */
    simd_f64 error[8];
    simd_f64 low, high;
} step;

/* Updates one scaling from its sum, and returns the error before the update. */
SIMD_INLINE simd_f64 update(const group_side *x, int64_t at, simd_f64 sum, simd_f64 safe, step *t)
{
    simd_f64 old = simd_load(x->scale + at), w = simd_load(x->weight + at);
    safe = simd_max(safe, simd_all(SINKHORN_TINY_SUM));
    t->low = simd_min(t->low, safe);
    t->high = simd_max(t->high, safe);
    simd_f64 plain = w / safe, relaxed = simd_max(plain + t->beyond * (plain - old), 0.5 * plain);
    simd_store(x->scale + at, simd_select(t->active, relaxed, old));
    return simd_abs(old * sum - w);
}

enum work { PASS, ADD, MEASURE };

/* Processes up to four rows of an iteration, or computes only their sums. */
SIMD_INLINE void block_of_rows(group_arrays *s, int64_t i, const int rows, const enum work work,
                               step *t)
{
    const group_side *x = &s->row;
    simd_f64 sum[BLOCK];
    dots(s->kernel + i * s->column.n * G, s->column.n, s->column.scale, rows, sum);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        int64_t at = (i + r) * G;
        if (work == PASS) {
            t->error[r] += update(x, at, sum[r], sum[r] + simd_load(x->pad + at), t);
        } else {
            simd_store(x->sum + at, sum[r]);
            t->error[0] += simd_abs(simd_load(x->scale + at) * sum[r] - simd_load(x->weight + at));
        }
    }
}

/* Processes up to eight rows of an iteration, adds them to the columns, or does both. Adding
 * eight rows at a time halves the memory traffic of the column sums. */
SIMD_INLINE void some_rows(group_arrays *s, int64_t i, const int rows, const enum work work,
                           step *t)
{
    if (work != ADD)
        block_of_rows(s, i, BASE_MIN(rows, BLOCK), work, t);
    if (work != ADD && rows > BLOCK)
        block_of_rows(s, i + BLOCK, rows - BLOCK, work, t);
    if (work != MEASURE)
        adds(s, i, rows);
}

SIMD_INLINE void all_rows(group_arrays *s, const enum work work, step *t)
{
    int64_t i = 0;
    for (int r = 0; r < BLOCK; r++)
        t->error[r] = simd_all(0);
    if (work != MEASURE) /* padded columns have a sum of 1 and no mass */
        memcpy(s->column.sum, s->column.pad, (size_t)(s->column.n * G) * sizeof *s->column.sum);
    for (; i + 2 * BLOCK <= s->row.n; i += 2 * BLOCK)
        some_rows(s, i, 2 * BLOCK, work, t);
    switch (s->row.n - i) {
    case 7: some_rows(s, i, 7, work, t); break;
    case 6: some_rows(s, i, 6, work, t); break;
    case 5: some_rows(s, i, 5, work, t); break;
    case 4: some_rows(s, i, 4, work, t); break;
    case 3: some_rows(s, i, 3, work, t); break;
    case 2: some_rows(s, i, 2, work, t); break;
    case 1: some_rows(s, i, 1, work, t); break;
    default: break;
    }
}

SIMD_INLINE simd_f64 tree(const simd_f64 *p)
{
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

SIMD_INLINE void one_column(const group_side *y, int64_t j, int r, step *t)
{
    simd_f64 sum = simd_load(y->sum + (j + r) * G);
    t->error[r] += update(y, (j + r) * G, sum, sum, t);
}

/* Updates all columns, and returns the error before the update. */
SIMD_INLINE simd_f64 all_columns(group_arrays *s, step *t)
{
    const group_side *y = &s->column;
    int64_t j = 0;
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
        t->error[r] = simd_all(0);
    for (; j + 8 <= y->n; j += 8)
#pragma GCC unroll 8
        for (int r = 0; r < 8; r++)
            one_column(y, j, r, t);
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
        if (j + r < y->n)
            one_column(y, j, r, t);
    return tree(t->error);
}

SIMD_CLONES void sinkhorn_group_pass(group_arrays *s, const group_control *control,
                                     group_seen *seen)
{
    step t = {.beyond = simd_load(control->omega) - 1.0, .low = simd_all(INFINITY)};
    memcpy(&t.active, control->active, sizeof t.active);
    all_rows(s, PASS, &t);
    simd_store(seen->row_error, ((t.error[0] + t.error[1]) + t.error[2]) + t.error[3]);
    simd_store(seen->column_error, all_columns(s, &t));
    simd_store(seen->low, t.low);
    simd_store(seen->high, t.high);
}

/* ---- values after the last iteration ---- */

SIMD_CLONES void sinkhorn_group_settle(group_arrays *s, double *error)
{
    step t = {.active = ~(simd_i64){0}};
    all_rows(s, ADD, &t);
    all_columns(s, &t);
    all_rows(s, MEASURE, &t);
    simd_store(error, t.error[0]);
}

SIMD_CLONES void sinkhorn_group_cost(const group_arrays *s, double *sharp)
{
    const group_side *x = &s->row, *y = &s->column;
    simd_f64 total[8];
    for (int r = 0; r < 8; r++)
        total[r] = simd_all(0);
    for (int64_t i = 0; i < x->n; i++) {
        const double *kernel = s->kernel + i * y->n * G, *cost = s->cost + i * y->n * G;
        simd_f64 f = simd_load(x->base + i * G), u = simd_load(x->scale + i * G);
        for (int64_t r = 0; r < BASE_MIN(8, y->n); r++) {
            simd_f64 row = simd_all(0);
            for (int64_t j = r; j < y->n; j += 8) {
                simd_f64 c = simd_load(cost + j * G) + (f + simd_load(y->base + j * G));
                simd_f64 mass = simd_load(kernel + j * G) * simd_load(y->scale + j * G);
                row += simd_select(mass > 0, mass * c, simd_all(0));
            }
            total[r] += u * row;
        }
    }
    simd_store(sharp, tree(total));
}

/* Returns the sum of weight (base + eps log(scale / weight)). */
SIMD_INLINE simd_f64 side_values(const group_side *x, double epsilon)
{
    simd_f64 sum = simd_all(0);
    for (int64_t k = 0; k < x->n * G; k += G) {
        simd_f64 w = simd_load(x->weight + k), ratio = simd_load(x->scale + k) / w;
        simd_f64 potential = simd_load(x->base + k) + epsilon * simd_log(ratio);
        sum += simd_select(w > 0, w * potential, simd_all(0));
    }
    return sum;
}

SIMD_CLONES void sinkhorn_group_dual(const group_arrays *s, double epsilon, double *value)
{
    const group_side *x = &s->row;
    simd_f64 excess = simd_all(0);
    for (int64_t k = 0; k < x->n * G; k += G)
        excess += simd_load(x->scale + k) * simd_load(x->sum + k) - simd_load(x->weight + k);
    simd_store(value,
               side_values(x, epsilon) + side_values(&s->column, epsilon) - epsilon * excess);
}
