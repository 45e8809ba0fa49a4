/* For an orthonormal frame, W2^2 >= the sum over axes of the 1-D W2^2 of the projections, and a 1-D
 * W2^2 is the L2 distance of the quantile functions. Averages of quantile functions over bins keep
 * the inequality (Jensen), so do averages over frames, and so does any orthogonal projection of the
 * resulting vectors: |e_i - e_j|^2 <= W2^2(i, j) for the short rows e kept here. The length of what
 * the projection cut off is kept as one more coordinate (| |r_i| - |r_j| | <= |r_i - r_j|). */
#ifndef DDSC_BOUND_PROJECTION_H
#define DDSC_BOUND_PROJECTION_H

#include "data/measures.h"

typedef struct bound_projection {
    int64_t n, p; /* items, coordinates per row */
    float *row;   /* n x p */
    float *norm2; /* n: |e_i|^2 */
    double slack; /* relative to norm2_i + norm2_j: rounding of the float products */
    int64_t n_frames, length;
    float *frame; /* n x n_frames x length: a few frames in full */
    double longest;
    double unit2; /* of the rows' squares */
} bound_projection;

/* Without `frames` there are only the rows, of more directions. */
ddsc_status bound_projection_make(ddsc_context *ctx, bound_projection *out, const measures *m,
                                  bool frames);
void bound_projection_free(ddsc_context *ctx, bound_projection *b);
/* Bounds for items [i0, i1) x [j0, j1) into out (row-major, ld), in units of unit2: already lowered
 * by the slack. */
void bound_projection_tile(const bound_projection *b, int64_t i0, int64_t i1, int64_t j0,
                           int64_t j1, float *out, int64_t ld);
/* The largest bound among the frames kept in full rather than their average: for single pairs.
 * Stops at the first frame that exceeds `enough`. */
double bound_projection_pair(const bound_projection *b, int64_t i, int64_t j, double enough);

#endif
