/* metric: one backend per metric, which computes the values of pairs and lower bounds on them.
 * Resolves rules in the settings to values. */
#ifndef DDSC_NEIGHBORS_METRIC_METRIC_H
#define DDSC_NEIGHBORS_METRIC_METRIC_H

#include "neighbors/pairs/backend.h"

extern const pair_backend metric_w2, metric_w1, metric_sinkhorn, metric_mmd, metric_lot,
    metric_features;

const pair_backend *metric_find(ddsc_metric metric);

/* Settings in which rules have been replaced by values, such as an absolute epsilon, a bandwidth or
 * a reference. The settings are resolved once per public call, from the whole set of items. All
 * other code reads them through a const pointer. */
typedef struct metric_resolved {
    ddsc_context *ctx;
    ddsc_metric_settings set;
    const pair_backend *backend; /* backend for these settings, possibly an approximate one */
    measures *reference;         /* owns set.reference_measures if the library computed it */
    double *cost_matrix; /* symmetrized copy of the caller's matrix; set.cost_matrix points to it */
    measures *own;       /* copy of the set with points of length 1 or a sorted support, or NULL */
    pair_frame frame;
} metric_resolved;

/* Resolves settings that plan_take_metric has checked. Resolving them twice changes nothing. */
ddsc_status metric_resolve(ddsc_context *ctx, metric_resolved *out, const measures *m,
                           const ddsc_metric_settings *set);
/* Determines the order of the points within an item, and the frame. A value is then a function of
 * its two items, the settings and the frame. Uses `given` if it is a frame (its kind is not
 * FRAME_NONE) in which the items can be compared, and otherwise the default frame of the set. */
ddsc_status metric_settle(ddsc_context *ctx, metric_resolved *r, const measures *m,
                          const pair_frame *given);
/* Returns the set whose items are compared: the copy that r owns, or else m. */
static inline const measures *metric_measures(const metric_resolved *r, const measures *m)
{
    return r->own ? r->own : m;
}
void metric_resolved_free(metric_resolved *r);
/* Creates a copy with points scaled to length 1, for cosine costs. */
ddsc_status metric_to_unit_length(ddsc_context *ctx, measures **out, const measures *m);

/* ---- bounds on exact transport, which are also valid for the larger Sinkhorn values ---- */

typedef struct metric_first metric_first;
typedef struct ground_cost ground_cost; /* distance/cost/ground.h */

/* The kind of bound that metric_first_pair computes. */
typedef enum first_pairs { FIRST_NO_PAIRS, FIRST_FRAMES, FIRST_RELAXED } first_pairs;

/* Opens the first bounds on the transport value, or on its square if `square` is true. *first
 * borrows memory from *out. Sets *pairs to the kind of bound for single pairs: frames of
 * projections, or relaxed transport if the first bounds come from a table of least costs. If
 * epsilon > 0, the bounds apply to the regularized value, which requires squared distances and
 * bound_relaxed_applies. */
ddsc_status metric_first_open(metric_first **out, first_bounds *first, first_pairs *pairs,
                              const pair_job *job, const ground_cost *ground, double epsilon,
                              bool square);
/* Prepares the bounds of appended items, from item `first` on. Sets *done to false if the bounds
 * must be opened again. */
ddsc_status metric_first_grow(metric_first *b, int64_t first, bool *done);
void metric_first_close(metric_first *b);
/* Returns a bound on the transport value of one pair. The computation on frames may stop as soon as
 * the bound exceeds `enough`. */
double metric_first_pair(const metric_first *b, int64_t i, int64_t j, double enough, int worker);

/* ---- values and D^2 ---- */

/* Returns true if D is the transport value rather than its square root. This is the case for w1,
 * and for sinkhorn if the costs are distances or if D = W_eps, as in the paper. */
static inline bool metric_is_distance(const ddsc_metric_settings *set)
{
    bool distances = set->cost == DDSC_COST_EUCLIDEAN || set->cost == DDSC_COST_CITYBLOCK;
    return set->metric == DDSC_METRIC_W1 ||
           (set->metric == DDSC_METRIC_SINKHORN &&
            (distances || set->sinkhorn_value == DDSC_SINKHORN_PAPER));
}

/* ---- Euclidean distance between rows, without measures ---- */

extern const pair_backend metric_vectors;
/* Opens the backend for `n` rows. The rows must remain valid until the backend is closed. */
ddsc_status metric_vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                                const double *rows);

#endif
