/* The bounds of exact W2: those of src/bound/w2.c, with refined potentials in the state of the metric,
 * whose solves start from them. */
#include "metric/metric.h"
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
