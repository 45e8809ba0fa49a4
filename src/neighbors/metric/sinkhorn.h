/* The state of the Sinkhorn backend, which its lower bounds also use. */
#ifndef DDSC_NEIGHBORS_METRIC_SINKHORN_H
#define DDSC_NEIGHBORS_METRIC_SINKHORN_H

#include "distance/sinkhorn/set.h"
#include "neighbors/pairs/backend.h"

/* Values that a device has computed for a range of columns. */
typedef struct metric_device metric_device;

typedef struct sinkhorn_metric {
    ddsc_context *ctx;
    const measures *m;
    ddsc_sinkhorn_value value;
    sinkhorn_rule rule;
    ground_cost ground;
    bool is_distance; /* the value is D rather than D^2 */
    double range;     /* upper bound on all costs */
    sinkhorn_set *set;
    double *self; /* n: regularized value of each item with itself, for the debiased value */
    ddsc_pair_stats *stats; /* one per worker, for solves while the metric is opened */
    metric_device *remote;  /* NULL: the CPU computes all values */
} sinkhorn_metric;

/* Opens the device that the context selects, or sets *out to NULL if there is none. `side` is the
 * side of the tiles. */
ddsc_status metric_device_open(metric_device **out, const sinkhorn_metric *s, int64_t side);
void metric_device_close(metric_device *r);
/* Returns the number of columns that the device computes at once, or 0 without a device. */
int64_t metric_device_strip(const metric_device *r);
void metric_device_prepare(metric_device *r, int64_t j0, int64_t j1);
/* Looks up the values of a pair. Returns false if the device has not computed the pair, or if it
 * did not converge. */
bool metric_device_find(const metric_device *r, sinkhorn_result *found, int64_t i, int64_t j);

extern const pair_bounds metric_sinkhorn_bounds;

#endif
