/* The ground cost: what it costs to move a unit of mass from one point to another. One type fills the
 * costs of a pair, whoever solves it: exact transport, entropic transport, and their bounds. */
#ifndef DDSC_DISTANCE_COST_GROUND_H
#define DDSC_DISTANCE_COST_GROUND_H

#include "distance/cost/cost.h"
#include "distance/simd/kernels.h"

typedef struct ground_cost {
    ddsc_cost kind;       /* SQEUCLIDEAN, EUCLIDEAN, CITYBLOCK or MATRIX */
    const double *matrix; /* MATRIX: size x size; the one coordinate of a point is its row */
    int64_t size;
} ground_cost;

extern const ground_cost ground_sqeuclidean;

/* Of resolved settings: cosine is squared Euclidean between points that were brought to length 1. */
ground_cost ground_of(const ddsc_metric_settings *set);
/* Costs that are found by way of squared distances, which ground_finish turns into costs in place. */
static inline bool ground_from_squares(ddsc_cost kind)
{
    return kind == DDSC_COST_SQEUCLIDEAN || kind == DDSC_COST_EUCLIDEAN;
}
void ground_finish(ddsc_cost kind, double *cost, int64_t n);
/* Costs between blocks of points, columns.step = 1, summed in the order of coordinates; no matrix. */
void ground_block(ddsc_cost kind, const kernels *k, double *out, int64_t ld, int64_t d,
                  point_block rows, point_block columns);
/* cost (x->n x y->n) between points of a set; the norms (cost_norms) only where costs come from
 * squares. Each cost is a function of its two points. */
void ground_lists(const ground_cost *g, double *cost, const point_list *x, const double *x_norm,
                  const point_list *y, const double *y_norm);
/* At least the largest cost between two points of the set. */
double ground_range(const ground_cost *g, const measures *m);
/* Median of costs over a fixed sample of point pairs drawn from different items. */
ddsc_status cost_median(ddsc_context *ctx, const ground_cost *g, const measures *m, double *median);
/* Is every point a row of the matrix? Fails with the point that is none. */
ddsc_status ground_check(ddsc_context *ctx, const ground_cost *g, const measures *m);

#endif
