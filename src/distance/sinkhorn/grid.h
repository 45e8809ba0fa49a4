/* The grid engine: entropic transport between items on a plane grid. The squared distance is a sum of
 * one term per axis, so the kernel is a product: K v costs two small matrix products over the bounding
 * boxes of the two items instead of one pass over all pairs of their points, and nothing leaves the
 * cache. Costs are taken between the items moved to their means, which changes the value by the
 * squared distance of the means and keeps scalings small. Everything is a function of the pair alone. */
#ifndef DDSC_DISTANCE_SINKHORN_GRID_H
#define DDSC_DISTANCE_SINKHORN_GRID_H

#include "distance/sinkhorn/grid_items.h"
#include "distance/sinkhorn/sinkhorn.h"

typedef struct sinkhorn_grid sinkhorn_grid;

/* Plane grids met by the points to rounding, at an epsilon neither far above nor below the costs,
 * where boxes are cheaper than the points in them. */
bool sinkhorn_grid_applies(const measures *m, double epsilon);
/* Scratch for each of the context's workers. */
ddsc_status sinkhorn_grid_create(ddsc_context *ctx, sinkhorn_grid **out, const measures *m,
                                 const sinkhorn_rule *rule);
void sinkhorn_grid_destroy(sinkhorn_grid *g);
const grid_items *sinkhorn_grid_get_items(const sinkhorn_grid *g);

/* False: not converged here, because a sum left the range of doubles or the pace is too slow; such
 * a pair is for the dense solver. */
bool sinkhorn_grid_solve(sinkhorn_grid *g, sinkhorn_result *result, int64_t i, int64_t j,
                         int worker);
/* A lower bound of the regularised value: the best of up to `looks` (at most SINKHORN_GRID_LOOKS), of
 * which the first costs half an iteration and the others one each. Stops once it exceeds `enough`, or
 * when it hardly ever will. */
double sinkhorn_grid_bound(sinkhorn_grid *g, int64_t i, int64_t j, double enough, int looks,
                           int worker);

#endif
