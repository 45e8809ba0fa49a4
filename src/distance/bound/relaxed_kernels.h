/* relaxed_kernels: inner loops for the relaxed bound. They use plain pointers and the caller's
 * workspace, and process sixteen floats at a time. */
#ifndef DDSC_DISTANCE_BOUND_RELAXED_KERNELS_H
#define DDSC_DISTANCE_BOUND_RELAXED_KERNELS_H

#include <stdint.h>

enum { RELAXED_WIDTH = 16 }; /* rows of a pair are padded to whole vectors */

#define RELAXED_FAR 1e30f /* value added to a row of padding */

/* Rows are the points of one item, in whole vectors, and columns are the points of another item.
 * The cost of row p and column q is product + row[p] + column[q], but at least 0. */
typedef struct relaxed_pair {
    int64_t n, slots; /* number of columns; padded number of rows */
    const int32_t *local;
    const double *column_weight;
    const float *product; /* indexed by local column */
    int64_t ld;
    const float *weight, *row; /* per row; RELAXED_FAR in padding */
    const float *column;       /* in whole vectors */
    float keep;                /* factor that reduces weighted sums to cover rounding errors */
    float *cost, *least, *rest, *column_least;
} relaxed_pair;

/* Computes out[q * ld + p] = -2 x_p . y_q for the points of two items, which are rows of `point`.
 * ld is the number of rows, padded to whole vectors with zeros. `stride` is the number of floats
 * per point, in whole vectors. */
void bound_relaxed_products(float *out, int64_t ld, const float *point, int64_t stride,
                            const int32_t *row, int64_t n_rows, const int32_t *column,
                            int64_t n_columns);

/* Returns the larger of two dual values: that of f_i = min_j C_ij with g_j = min_i C_ij - f_i, and
 * that with the sides exchanged. */
float bound_relaxed_pair(const relaxed_pair *t);
/* Centers the costs. The products are -2 x y. With the means r of the rows and s of the columns,
 * sets row = row_away2 + 2 x s - 2 r s and column = column_away2 + 2 r y, so that the costs are
 * those between x - r and y - s. Returns -2 r s. */
float bound_relaxed_center(const relaxed_pair *t, float *row, const float *row_away2, float *column,
                           const float *column_away2);

/* Returns the soft bound from the products x'y' of centered points, which bound_relaxed_products
 * and bound_relaxed_center compute if the squared distances are 0. The bound is the weighted
 * average over one side of -epsilon log sum exp(2 x'_p y'_q / epsilon), with a weighted sum over
 * the other side. Returns the larger bound of the two sides, rounded down. The weights of each side
 * sum to 1. */
float bound_relaxed_soft(const relaxed_pair *t, float epsilon);

/* Replaces each product with a lower bound on the distance: the square root of the squared distance
 * minus its rounding margin. */
void bound_relaxed_roots(float *cost, const float *own, float norm, float keep, int64_t slots);
float bound_city_distance(const float *x, const float *y, int64_t d);

#endif
