/* When a bound rules a candidate out, and how far a candidate has come: for the searches by bounds. */
#ifndef DDSC_NEIGHBORS_SEARCH_PRUNING_H
#define DDSC_NEIGHBORS_SEARCH_PRUNING_H

#include <math.h>

#include "base/base.h"

/* The best bound a candidate has. A quick look (a dual bound without a limit to exceed) tells in
 * which order to solve as long as no limit is known. */
typedef enum reached { HAS_FIRST, HAS_FRAME, HAS_LOOK, HAS_DUAL, SETTLED } reached;

/* The limit with some slack for the rounding of values: equal distances are decided by index, never
 * by a bound. */
static inline double reach_of(double limit)
{
    return limit + (isfinite(limit) ? 1e-9 * fabs(limit) : 0);
}

static inline bool beyond(double bound, double limit)
{
    return bound > reach_of(limit);
}

#endif
