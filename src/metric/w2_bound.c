/* The bounds of exact W2: those of src/bound/w2.c, with refined potentials in the state of the metric,
 * whose solves start from them. */
#include "metric/bound_tiles.h"
#include "metric/w2.h"

static ddsc_status w2_bound_open(void **state, const bound_job *job)
{
    return bound_w2_open(state, job, w2_refined(job->metric));
}

const bound_kind w2_bounds = {.name = "w2",
                              .open = w2_bound_open,
                              .close = bound_w2_close,
                              .side = bound_w2_side,
                              .tile = bound_w2_tile,
                              .pair = bound_w2_pair,
                              .refine = bound_w2_refine,
                              .refined = bound_w2_refined,
                              .last = bound_w2_last};

static ddsc_status tiles_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    (void)stats;
    return bound_tiles_open(state, job, &w2_bounds);
}

const pair_backend w2_bound_tiles = {.name = "w2 lower bounds",
                                     .tile_side = 1, /* the plan tells */
                                     .stage = "bounds",
                                     .open = tiles_open,
                                     .tile = bound_tiles_fill,
                                     .close = bound_tiles_close,
                                     .plan = bound_tiles_plan};
