/* metric: what is computed for a pair. One backend per metric, its settings and its lower bounds.
 */
#ifndef DDSC_METRIC_METRIC_H
#define DDSC_METRIC_METRIC_H

#include "bound/bound.h"
#include "engine/backend.h"

extern const pair_backend backend_w2, backend_sinkhorn, backend_mmd, backend_lot, backend_features;
/* Lower bounds of those that have some. */
extern const bound_kind w2_bounds, sinkhorn_bounds;

/* The absolute epsilon that these settings mean for this set. */
ddsc_status sinkhorn_epsilon(ddsc_context *ctx, double *epsilon, const measures *m,
                             const ddsc_metric_settings *set);

const pair_backend *backend_find(ddsc_metric metric);
/* The one for these settings: an approximation where they ask for it. */
const pair_backend *backend_for(const ddsc_metric_settings *settings);

/* Euclidean distance between rows: a backend with a state of its own, no measures behind it. The
 * rows are borrowed until close. */
extern const pair_backend backend_vectors;
ddsc_status vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                         const double *rows);
ddsc_status vectors_screen(void *state, struct pair_screen *screen);

#endif
