/* Entropic transport between items on a plane grid. The squared distance is a sum of one term an
 * axis, so the kernel is a product: K v costs two small matrix products over the bounding boxes of
 * the two items instead of one pass over all pairs of their points, and nothing leaves the cache.
 * Costs are taken between the items moved to their means, which changes the value by the squared
 * distance of the means and keeps scalings small. Everything is a function of the pair alone. */
#ifndef DDSC_SINKHORN_GRID_H
#define DDSC_SINKHORN_GRID_H

#include "sinkhorn/sinkhorn.h"

typedef struct sinkhorn_grid sinkhorn_grid;

/* Plane grids of up to 64 x 64 cells, met by the points to rounding, at an epsilon neither far
 * above nor below the costs, where boxes are cheaper than the points in them. */
bool sinkhorn_grid_applies(const measures *m, double epsilon);
/* One room for each of the context's workers. */
ddsc_status sinkhorn_grid_make(ddsc_context *ctx, sinkhorn_grid **out, const measures *m,
                               double epsilon);
void sinkhorn_grid_free(sinkhorn_grid *g);

typedef struct sinkhorn_stop {
    double tolerance;
    int64_t max_iterations;
    bool sharp; /* the sharp value is wanted as well */
} sinkhorn_stop;

/* False: not converged here, because a sum left the range of doubles or the pace is too slow; such
 * a pair is for the dense solver. */
bool sinkhorn_grid_solve(sinkhorn_grid *g, sinkhorn_result *result, int64_t i, int64_t j,
                         const sinkhorn_stop *stop, int worker);
/* A lower bound of the regularised value: the dual value of some potentials, after at most `rounds`
 * iterations. Stops once it exceeds `enough`, or when it hardly ever will. */
double sinkhorn_grid_bound(sinkhorn_grid *g, int64_t i, int64_t j, double enough, int rounds,
                           int worker);

#endif
