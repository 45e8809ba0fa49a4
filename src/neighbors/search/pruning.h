/* pruning: rules shared by the searches with lower bounds (pruned.c, query.c). They define when a
 * bound excludes a candidate, and the levels of bounds.
 *
 * A candidate is excluded only if its bound exceeds the tau-th key by more than a relative slack of
 * 1e-9. The slack covers the rounding errors of computed values. A candidate whose value equals the
 * limit is therefore always solved, so that ties are decided by index. */
#ifndef DDSC_NEIGHBORS_SEARCH_PRUNING_H
#define DDSC_NEIGHBORS_SEARCH_PRUNING_H

#include <math.h>

#include "base/base.h"

/* Level of the best bound of a candidate. HAS_ROUGH is a dual bound computed with a few iterations
 * and without a target value. It determines the order of solves while the item has no limit. */
typedef enum reached { HAS_FIRST, HAS_FRAME, HAS_ROUGH, HAS_DUAL, SETTLED } reached;

/* Returns the limit plus a slack for rounding errors. Because of the slack, ties between distances
 * are decided by index and not by a bound. */
static inline double reach_of(double limit)
{
    return limit + (isfinite(limit) ? 1e-9 * fabs(limit) : 0);
}

static inline bool beyond(double bound, double limit)
{
    return bound > reach_of(limit);
}

#endif
