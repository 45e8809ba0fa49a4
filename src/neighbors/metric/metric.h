/* metric: what is computed for a pair. One backend per metric, with its lower bounds, and the settings
 * resolved into values once. */
#ifndef DDSC_NEIGHBORS_METRIC_METRIC_H
#define DDSC_NEIGHBORS_METRIC_METRIC_H

#include "neighbors/pairs/backend.h"

extern const pair_backend metric_w2, metric_w1, metric_sinkhorn, metric_mmd, metric_lot,
    metric_features;

const pair_backend *metric_find(ddsc_metric metric);

/* Settings whose rules have become values: an absolute epsilon, a bandwidth, a reference at hand. Made
 * once per public call, from the whole set; everything below reads it through a const pointer. */
typedef struct metric_resolved {
    ddsc_context *ctx;
    ddsc_metric_settings set;
    const pair_backend *backend; /* an approximation where the settings ask for one */
    measures *reference;         /* what set.reference_measures points to, if it was made here */
    double *cost_matrix;         /* what set.cost_matrix points to: a copy */
    measures *unit; /* the set with its points at length 1, which takes its place; or NULL */
} metric_resolved;

/* `set` as plan_take_metric left it. Resolving twice changes nothing. */
ddsc_status metric_resolve(ddsc_context *ctx, metric_resolved *out, const measures *m,
                           const ddsc_metric_settings *set);
/* What is compared: m itself, unless the cost asks for other points. */
static inline const measures *metric_measures(const metric_resolved *r, const measures *m)
{
    return r->unit ? r->unit : m;
}
void metric_resolved_free(metric_resolved *r);
/* A copy with points at length 1, for cosine costs. */
ddsc_status metric_to_unit_length(ddsc_context *ctx, measures **out, const measures *m);

/* ---- bounds of exact transport, also for sinkhorn values that are above it ---- */

typedef struct metric_first metric_first;
typedef struct ground_cost ground_cost; /* distance/cost/ground.h */

/* Of the value, or of its square. *first borrows from the bound; *frame: is there a bound of level
 * FRAME? epsilon > 0, for squared distances where bound_relaxed_applies: of the regularised value. */
ddsc_status metric_first_open(ddsc_context *ctx, metric_first **out, first_bounds *first,
                              bool *frame, const measures *m, const ground_cost *ground,
                              double epsilon, bool square);
void metric_first_close(metric_first *b);
double metric_first_frame(const metric_first *b, int64_t i, int64_t j, double enough);

/* ---- values and D^2 ---- */

/* Is D the value of the transport, not its root? w1, and sinkhorn under costs that are distances. */
static inline bool metric_is_distance(const ddsc_metric_settings *set)
{
    bool distances = set->cost == DDSC_COST_EUCLIDEAN || set->cost == DDSC_COST_CITYBLOCK;
    return set->metric == DDSC_METRIC_W1 || (set->metric == DDSC_METRIC_SINKHORN && distances);
}

/* ---- Euclidean distance between rows: a state of its own, no measures behind it ---- */

extern const pair_backend metric_vectors;
/* The rows are borrowed until close. */
ddsc_status metric_vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                                const double *rows);

#endif
