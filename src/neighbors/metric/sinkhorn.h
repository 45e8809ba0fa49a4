/* The state of the sinkhorn backend, shared with its lower bounds. */
#ifndef DDSC_NEIGHBORS_METRIC_SINKHORN_H
#define DDSC_NEIGHBORS_METRIC_SINKHORN_H

#include "distance/sinkhorn/set.h"
#include "neighbors/pairs/backend.h"

/* Pairs of a strip of columns, solved by a device. */
typedef struct metric_remote metric_remote;

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
    metric_remote *remote;  /* NULL: the processor does everything */
} sinkhorn_metric;

/* The device that the context asks for by its name; *out NULL: none. side: of the tiles. */
ddsc_status metric_remote_open(metric_remote **out, const sinkhorn_metric *s, int64_t side);
void metric_remote_close(metric_remote *r);
/* Columns at a time; 0: none. */
int64_t metric_remote_strip(const metric_remote *r);
void metric_remote_prepare(metric_remote *r, int64_t j0, int64_t j1);
/* False: not at hand, or not solved. */
bool metric_remote_find(const metric_remote *r, sinkhorn_result *found, int64_t i, int64_t j);

extern const pair_bounds metric_sinkhorn_bounds;

#endif
