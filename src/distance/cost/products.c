/* Computes squared distances between points in many dimensions as |x|^2 + |y|^2 - 2 xy.
 *
 * Products take much less work than differences, which are used only where cancellation occurs.
 * Every product is summed in eight lanes in a fixed order, so a cost depends only on its two points
 * and not on other points in the block. */
#include "base/simd.h"
#include "distance/cost/cost.h"
#include "distance/cost/tuning.h"
#include "distance/simd/kernels.h"
#include "numeric/linalg/linalg.h"

enum { SIDE = DOT_SIDE };

/* Inner products of d terms, summed in eight lanes, have an error of at most (d/8 + 4) 2^-53
 * |x||y|, and so do norms. A cost of at least 2^-4 times the norms therefore has a relative error
 * of at most 32 (d/8 + 6) 2^-53, which is 7e-14 at d = 100. Within these limits, products neither
 * overflow nor lose digits to underflow. */
static const cost_limits product_limits = {0x1p-4, 1e-160, 1e160};

/* Returns the last vector of a point, with zeros in the lanes that have already been processed. */
SIMD_INLINE simd_f64 tail_of(const double *x, int64_t d)
{
    simd_i64 lane = {0, 1, 2, 3, 4, 5, 6, 7}, keep = lane >= SIMD_LANES - d % SIMD_LANES;
    return (simd_f64)((simd_i64)simd_load(x + d - SIMD_LANES) & keep);
}

SIMD_CLONES static void squares(double *out, const double *const *row, int64_t d)
{
    simd_f64 sum[SIDE];
    for (int r = 0; r < SIDE; r++)
        sum[r] = simd_load(row[r]) * simd_load(row[r]);
    for (int64_t k = SIMD_LANES; k + SIMD_LANES <= d; k += SIMD_LANES)
        for (int r = 0; r < SIDE; r++)
            sum[r] += simd_load(row[r] + k) * simd_load(row[r] + k);
    if (d % SIMD_LANES > 0)
        for (int r = 0; r < SIDE; r++)
            sum[r] += tail_of(row[r], d) * tail_of(row[r], d);
    simd_store4(out, simd_four_sums(sum[0], sum[1], sum[2], sum[3]));
}

/* Sets pointers to SIDE points, starting at `at`. Beyond the end of the list, the last point is
 * repeated. */
static void point_to(const double **out, const point_list *p, int64_t at)
{
    for (int k = 0; k < SIDE; k++)
        out[k] = measures_point(p->m, p->index[BASE_MIN(at + k, p->n - 1)]);
}

double cost_norms(const point_list *p, double *norm2)
{
    double largest = 0;
    for (int64_t k = 0; k < p->n; k += SIDE) {
        const double *row[SIDE];
        double square[SIDE];
        point_to(row, p, k);
        squares(square, row, p->m->d);
        for (int64_t r = 0; r < BASE_MIN(SIDE, p->n - k); r++) {
            norm2[k + r] = square[r];
            largest = BASE_MAX(largest, square[r]);
        }
    }
    return largest;
}

/* Multiplies SIDE rows, starting at p, by columns [begin, end). */
static void multiply_group(const kernels *k, double *cost, const point_list *x, int64_t p,
                           const point_list *y, int64_t begin, int64_t end)
{
    const double *row[SIDE], *column[SIDE];
    double edge[SIDE * SIDE];
    int64_t rows = BASE_MIN(SIDE, x->n - p);
    point_to(row, x, p);
    for (int64_t q = begin; q < end; q += SIDE) {
        double *out = cost + p * y->n + q;
        int64_t columns = BASE_MIN(SIDE, end - q);
        point_to(column, y, q);
        if (rows == SIDE && columns == SIDE) {
            k->dots(out, y->n, row, column, x->m->d);
            continue;
        }
        k->dots(edge, SIDE, row, column, x->m->d);
        for (int64_t r = 0; r < rows; r++)
            memcpy(out + r * y->n, edge + r * SIDE, (size_t)columns * sizeof *out);
    }
}

/* Multiplies all rows by all columns, a few columns at a time, so that the columns fit in the
 * first-level cache. */
static void multiply_all(double *cost, const point_list *x, const point_list *y)
{
    const kernels *k = kernels_find();
    for (int64_t q = 0; q < y->n; q += PRODUCT_STRIP)
        for (int64_t p = 0; p < x->n; p += SIDE)
            multiply_group(k, cost, x, p, y, q, BASE_MIN(q + PRODUCT_STRIP, y->n));
}

SIMD_CLONES int64_t cost_from_products(double *cost, double own, const double *norm2, int64_t n,
                                       const cost_limits *limits)
{
    const cost_limits own_limits = *limits;
    int64_t n_spoilt = 0;
    for (int64_t j = 0; j < n; j++) {
        double norms = own + norm2[j], value = norms - 2 * cost[j];
        cost[j] = value;
        n_spoilt += cost_is_spoilt(value, norms, &own_limits);
    }
    return n_spoilt;
}

void cost_products(double *cost, const point_list *x, const double *x_norm, const point_list *y,
                   const double *y_norm)
{
    multiply_all(cost, x, y);
    for (int64_t p = 0; p < x->n; p++, cost += y->n)
        if (cost_from_products(cost, x_norm[p], y_norm, y->n, &product_limits) > 0)
            for (int64_t q = 0; q < y->n; q++)
                if (cost_is_spoilt(cost[q], x_norm[p] + y_norm[q], &product_limits))
                    cost[q] = la_distance2(y->m->d, measures_point(x->m, x->index[p]),
                                           measures_point(y->m, y->index[q]));
}
