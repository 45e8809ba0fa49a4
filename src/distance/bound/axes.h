/* Items as quantile functions along the axes of a few frames. */
#ifndef DDSC_DISTANCE_BOUND_AXES_H
#define DDSC_DISTANCE_BOUND_AXES_H

#include "base/workspace.h"
#include "data/measures.h"

typedef struct bound_axes {
    const measures *m; /* borrowed */
    double unit;       /* of places */
    int64_t n_axes, bins;
    double *axis;  /* n_axes x d, unit vectors; NULL: the coordinates */
    double *scale; /* n_axes: factors of the quantiles, the caller's to set */
    /* Where items have many points of the set each: the set's points in their order on each axis and their places
     * there, n_axes x v; else NULL. */
    int32_t *order;
    double *place;
} bound_axes;

/* n_frames orthonormal frames of d axes each. The first is that of the coordinates; in the plane the others are
 * rotations by equal angles, else Gram-Schmidt of normal vectors. */
ddsc_status bound_axes_make(ddsc_context *ctx, bound_axes *out, const measures *m, int64_t n_frames,
                            int64_t bins, rng r);
void bound_axes_free(ddsc_context *ctx, bound_axes *a);

/* Memory of one worker. */
typedef struct axes_scratch {
    double *place, *weight; /* of the item's points, in their order on an axis */
    double *mass;           /* v: the item's weights, 0 elsewhere; used with a->order */
    double *key;            /* places in the order of the item's points; used without */
    int32_t *by;
} axes_scratch;

axes_scratch bound_axes_take(const bound_axes *a, arena *memory);
/* out, n_axes x bins: scale times the mean of the quantile function over each of `bins` equal parts of [0, 1]. */
void bound_axes_item(const bound_axes *a, const axes_scratch *s, int64_t i, double *out);

#endif
