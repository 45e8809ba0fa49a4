/* The state of the sinkhorn backend, shared with its lower bounds. */
#ifndef DDSC_METRIC_SINKHORN_H
#define DDSC_METRIC_SINKHORN_H

#include "engine/backend.h"
#include "sinkhorn/set.h"

typedef struct sinkhorn_metric {
    ddsc_context *ctx;
    const measures *m;
    ddsc_sinkhorn_value value;
    sinkhorn_rule rule;
    ground_cost ground;
    bool is_distance; /* D is the value, not its root */
    double range;     /* no cost is above it */
    sinkhorn_set *set;
    double *self;           /* n regularised values of an item with itself, when debiased */
    ddsc_pair_stats *stats; /* one per worker, for the work at open */
} sinkhorn_metric;

extern const pair_bounds metric_sinkhorn_bounds;

#endif
