/* Kinds of bounds (bound/bound.h) as the pruned search takes them now: first bounds as the tiles of a
 * backend, the others as functions over the states of that backend and of the metric. */
#ifndef DDSC_METRIC_BOUND_TILES_H
#define DDSC_METRIC_BOUND_TILES_H

#include "engine/backend.h"

extern const pair_backend w2_bound_tiles;
double bound_tiles_pair(const void *state, int64_t i, int64_t j, double enough);

extern const pair_pruning pruning_sinkhorn;

#endif
