/* Bounds as the pruned search takes them now: the tiles of a backend. */
#ifndef DDSC_METRIC_BOUND_TILES_H
#define DDSC_METRIC_BOUND_TILES_H

#include "bound/bound.h"
#include "engine/backend.h"

ddsc_status bound_tiles_open(void **state, const pair_job *job, const bound_kind *kind);
void bound_tiles_close(void *state);
void bound_tiles_plan(const void *state, pair_plan *plan);
ddsc_status bound_tiles_fill(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                             ddsc_pair_stats *stats);
double bound_tiles_pair(const void *state, int64_t i, int64_t j, double enough);

/* The bounds of each metric that has some. */
extern const bound_kind w2_bounds, sinkhorn_bounds;
extern const pair_backend w2_bound_tiles;

#endif
