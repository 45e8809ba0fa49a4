/* axes: represents items by quantile functions along the axes of a few frames. */
#ifndef DDSC_DISTANCE_BOUND_AXES_H
#define DDSC_DISTANCE_BOUND_AXES_H

#include "base/workspace.h"
#include "data/measures.h"

typedef struct bound_axes {
    const measures *m; /* borrowed */
    double unit;       /* unit of the positions */
    int64_t n_axes, bins;
    double *axis;  /* n_axes x d, unit vectors; NULL for the coordinate axes */
    double *scale; /* n_axes: multipliers for the quantiles, set by the caller */
    /* The points of the set, sorted along each axis, and their positions on the axis (n_axes x v).
     * NULL unless each item contains a large share of the points. */
    int32_t *order;
    double *place;
} bound_axes;

/* Creates n_frames orthonormal frames of d axes each. The first is the coordinate frame. For d = 2,
 * the other frames are rotations by equal angles. For d > 2, they are Gram-Schmidt bases of
 * normally distributed vectors. */
ddsc_status bound_axes_make(ddsc_context *ctx, bound_axes *out, const measures *m, int64_t n_frames,
                            int64_t bins, rng r);
void bound_axes_free(ddsc_context *ctx, bound_axes *a);

/* The arrays of one worker. */
typedef struct axes_scratch {
    double *place, *weight; /* positions and weights of the item's points, sorted along an axis */
    double *mass;           /* v: weights of the item's points, 0 for all others; used with
                             * a->order */
    double *key;            /* positions in the order of the item's points; used without a->order */
    int32_t *by;
} axes_scratch;

axes_scratch bound_axes_take(const bound_axes *a, arena *memory);
/* Computes scale times the mean of the quantile function over each of `bins` equal parts of [0, 1].
 */
void bound_axes_item(const bound_axes *a, const axes_scratch *s, int64_t i, double *out);

#endif
