/* ground: the cost of moving a unit of mass from one point to another.
 *
 * The same functions compute the costs for exact transport, for entropic transport and for
 * bounds. */
#ifndef DDSC_DISTANCE_COST_GROUND_H
#define DDSC_DISTANCE_COST_GROUND_H

#include "distance/cost/cost.h"
#include "distance/simd/kernels.h"

typedef struct ground_cost {
    ddsc_cost kind; /* SQEUCLIDEAN, EUCLIDEAN, CITYBLOCK or MATRIX */
    /* MATRIX: a size x size matrix. The single coordinate of a point is its row in this matrix. */
    const double *matrix;
    int64_t size;
} ground_cost;

extern const ground_cost ground_sqeuclidean;

/* Returns the ground cost that the resolved settings select. The cosine cost becomes squared
 * Euclidean, because the points have been scaled to length 1. */
ground_cost ground_of(const ddsc_metric_settings *set);
/* Returns true if the costs are computed from squared distances. ground_finish converts these to
 * costs in place. */
static inline bool ground_from_squares(ddsc_cost kind)
{
    return kind == DDSC_COST_SQEUCLIDEAN || kind == DDSC_COST_EUCLIDEAN;
}
void ground_finish(ddsc_cost kind, double *cost, int64_t n);
/* Computes the costs between two blocks of points, summed in the order of the coordinates. Requires
 * columns.step = 1 and a cost other than MATRIX. */
void ground_block(ddsc_cost kind, const kernels *k, double *out, int64_t ld, int64_t d,
                  point_block rows, point_block columns);
/* Computes cost (x->n x y->n) between points of a set. The norms (see cost_norms) are used only if
 * costs are computed from squared distances. Each cost depends only on its two points. */
void ground_lists(const ground_cost *g, double *cost, const point_list *x, const double *x_norm,
                  const point_list *y, const double *y_norm);
/* Returns an upper bound on the cost between two points of the set. */
double ground_range(const ground_cost *g, const measures *m);
/* Computes the median cost over a fixed sample of point pairs from different items. */
ddsc_status cost_median(ddsc_context *ctx, const ground_cost *g, const measures *m, double *median);
/* Checks that the coordinate of every point is a row of the matrix. Fails with a message that names
 * the first invalid point. */
ddsc_status ground_check(ddsc_context *ctx, const ground_cost *g, const measures *m);

#endif
