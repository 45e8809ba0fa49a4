/* lot: linear optimal transport. Each item becomes a row of numbers by one exact transport from a
 * fixed reference; Euclidean distances between rows are LOT distances. */
#ifndef DDSC_DISTANCE_LOT_LOT_H
#define DDSC_DISTANCE_LOT_LOT_H

#include "base/base.h"
#include "data/measures.h"

/* The reference as a set of one item (destroyed by the caller): a normal sample or k-means centres
 * of the pooled points with uniform weights, or the first item of settings->reference_measures. */
ddsc_status lot_reference_make(ddsc_context *ctx, measures **reference, const measures *m,
                               const ddsc_metric_settings *settings);
/* Columns of the embedding: points of the reference times the dimension. */
int64_t lot_columns(const measures *reference);
/* z (n x columns): row i = sqrt(w_r) (f_i(r) - x_r), so that Euclidean distance is LOT distance.
 * Runs in parallel over the items with progress. Adds to stats: n_solved, n_iterations, max_gap,
 * n_not_converged, reference_size. */
ddsc_status lot_embed(ddsc_context *ctx, double *z, ddsc_pair_stats *stats, const measures *m,
                      const measures *reference, int64_t max_pivots);
/* Quantiles of |D - W2| / W2 over a fixed sample of pairs into stats. */
ddsc_status lot_check(ddsc_context *ctx, ddsc_pair_stats *stats, const measures *m, const double *z,
                      int64_t columns, int64_t max_pivots);
/* All in one: *z (n x *columns) is released by the caller. */
ddsc_status lot_run(ddsc_context *ctx, double **z, int64_t *columns, ddsc_pair_stats *stats,
                    const measures *m, const ddsc_metric_settings *settings);

#endif
