/* metric: what is computed for a pair. One backend per metric, with its lower bounds, and the settings
 * resolved into values once. */
#ifndef DDSC_METRIC_METRIC_H
#define DDSC_METRIC_METRIC_H

#include "engine/backend.h"

extern const pair_backend metric_w2, metric_sinkhorn, metric_mmd, metric_lot, metric_features;

const pair_backend *metric_find(ddsc_metric metric);

/* Settings whose rules have become values: an absolute epsilon, a bandwidth, a reference at hand. Made
 * once per public call, from the whole set; everything below reads it through a const pointer. */
typedef struct metric_resolved {
    ddsc_metric_settings set;
    const pair_backend *backend; /* an approximation where the settings ask for one */
    measures *reference;         /* what set.reference_measures points to, if it was made here */
} metric_resolved;

/* `set` as plan_take_metric left it. Resolving twice changes nothing. */
ddsc_status metric_resolve(ddsc_context *ctx, metric_resolved *out, const measures *m,
                           const ddsc_metric_settings *set);
void metric_resolved_free(metric_resolved *r);

/* ---- bounds of W2^2, also for sinkhorn values that are above it ---- */

typedef struct metric_w2_bound metric_w2_bound;

/* *first borrows from the bound; *frame: is there a bound of level FRAME? */
ddsc_status metric_w2_bound_open(ddsc_context *ctx, metric_w2_bound **out, first_bounds *first,
                                 bool *frame, const measures *m);
void metric_w2_bound_close(metric_w2_bound *b);
double metric_w2_bound_frame(const metric_w2_bound *b, int64_t i, int64_t j, double enough);

/* ---- Euclidean distance between rows: a state of its own, no measures behind it ---- */

extern const pair_backend metric_vectors;
/* The rows are borrowed until close. */
ddsc_status metric_vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                                const double *rows);

#endif
