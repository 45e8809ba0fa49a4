/* Loops of the relaxed bound: plain pointers, caller's workspace, floats sixteen at a time. */
#ifndef DDSC_DISTANCE_BOUND_RELAXED_KERNELS_H
#define DDSC_DISTANCE_BOUND_RELAXED_KERNELS_H

#include <stdint.h>

enum { RELAXED_WIDTH = 16 }; /* rows of a pair are padded to whole vectors */

#define RELAXED_FAR 1e30f /* what is added to a row of padding */

/* Rows are the points of one item, in vectors; columns those of another. The cost of row p and column q is
 * product + row[p] + column[q], and never below 0. */
typedef struct relaxed_pair {
    int64_t n, slots; /* columns; rows, padded */
    const int32_t *local;
    const double *column_weight;
    const float *product; /* by local column */
    int64_t ld;
    const float *weight, *row; /* by row; RELAXED_FAR on padding */
    const float *column;       /* whole vectors */
    float keep;                /* of weighted sums, after rounding */
    float *cost, *least, *rest, *column_least;
} relaxed_pair;

/* Potentials f_i = min_j C_ij, g_j = min_i C_ij - f_i, and the same from the other side. */
float bound_relaxed_pair(const relaxed_pair *t);
/* From products -2 x y those with the means r of the rows and s of the columns: row = row_away2 + 2 x s - 2 r s and
 * column = column_away2 + 2 r y, so that costs are those between x - r and y - s. Returns -2 r s. */
float bound_relaxed_centre(const relaxed_pair *t, float *row, const float *row_away2, float *column,
                           const float *column_away2);

/* With products x'y' of centred points, made of the two above for squared distances of 0:
 *
 *     -epsilon log-sums of exp(2 x'_p y'_q / epsilon), weighted over one side, averaged over the other,
 *
 * from the better side and rounded down; both weights sum to one. */
float bound_relaxed_soft(const relaxed_pair *t, float epsilon);

/* Products become the root of the least that the squared distance can be. */
void bound_relaxed_roots(float *cost, const float *own, float norm, float keep, int64_t slots);
float bound_city_distance(const float *x, const float *y, int64_t d);

#endif
