/* grid: the engine for entropic transport between items on a 2-D grid.
 *
 * The squared distance is a sum of one term per axis, so the kernel is a product of one kernel per
 * axis. K v therefore takes two small matrix products over the bounding boxes of the items, O(h w
 * (h + w)) operations, instead of a pass over all pairs of points. All data fit in the cache. The
 * items are centered at their means, which changes the value by the squared distance between the
 * means and keeps the scalings small. Every result depends only on its pair. */
#ifndef DDSC_DISTANCE_SINKHORN_GRID_H
#define DDSC_DISTANCE_SINKHORN_GRID_H

#include "distance/sinkhorn/grid_items.h"
#include "distance/sinkhorn/sinkhorn.h"

typedef struct sinkhorn_grid sinkhorn_grid;

/* Returns true if the grid engine should be used for the set. The points must be on a 2-D grid up
 * to rounding errors, epsilon must be neither far above nor far below the costs, and boxes must be
 * cheaper than lists of points. */
bool sinkhorn_grid_applies(const measures *m, double epsilon);
/* Creates the engine for a grid with the given steps, and scratch memory for each worker of the
 * context. */
ddsc_status sinkhorn_grid_create(ddsc_context *ctx, sinkhorn_grid **out, const measures *m,
                                 const sinkhorn_rule *rule, const double step[2]);
void sinkhorn_grid_destroy(sinkhorn_grid *g);
const grid_items *sinkhorn_grid_get_items(const sinkhorn_grid *g);

/* Solves a pair. Returns false if a sum left the range of doubles or if convergence was too slow.
 * The dense engine must solve such a pair. */
bool sinkhorn_grid_solve(sinkhorn_grid *g, sinkhorn_result *result, int64_t i, int64_t j,
                         int worker);
/* Evaluates up to `evaluations` (at most SINKHORN_GRID_EVALUATIONS) lower bounds on the regularized
 * value, and returns the largest. The first bound takes half an iteration, and each later bound
 * takes a full iteration. Stops as soon as the bound exceeds `enough` or is unlikely to reach
 * it. */
double sinkhorn_grid_bound(sinkhorn_grid *g, int64_t i, int64_t j, double enough, int evaluations,
                           int worker);

#endif
