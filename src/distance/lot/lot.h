/* lot: linear optimal transport. One exact transport from a fixed reference turns each item into a
 * vector, and the Euclidean distance between two vectors is the LOT distance of the items. */
#ifndef DDSC_DISTANCE_LOT_LOT_H
#define DDSC_DISTANCE_LOT_LOT_H

#include "base/base.h"
#include "data/measures.h"

/* Creates the reference as a set of one item, which the caller destroys. Its points are a normal
 * sample or k-means centers of the pooled points, with uniform weights, or the first item of
 * settings->reference_measures. */
ddsc_status lot_reference_make(ddsc_context *ctx, measures **reference, const measures *m,
                               const ddsc_metric_settings *settings);
/* Returns the number of columns of the embedding: the points of the reference times the
 * dimension. */
int64_t lot_columns(const measures *reference);
/* Computes the embedding z (n x columns). Row i holds sqrt(w_r) (T_i(r) - x_r) for each reference
 * point r, where T_i is the barycentric projection, so that Euclidean distances are LOT distances.
 * Runs in parallel over the items and reports progress. Adds to n_solved, n_iterations, max_gap and
 * n_not_converged of stats, and sets reference_size. */
ddsc_status lot_embed(ddsc_context *ctx, double *z, ddsc_pair_stats *stats, const measures *m,
                      const measures *reference, int64_t max_pivots);
/* Computes only the rows from `first` on. Not for teams of processes. */
ddsc_status lot_embed_from(ddsc_context *ctx, double *z, ddsc_pair_stats *stats, const measures *m,
                           int64_t first, const measures *reference, int64_t max_pivots);
/* Measures |D - W2| / W2 over a fixed sample of pairs and stores the quantiles in stats. */
ddsc_status lot_check(ddsc_context *ctx, ddsc_pair_stats *stats, const measures *m, const double *z,
                      int64_t columns, int64_t max_pivots);
/* Creates the reference, computes the embedding, reduces it if requested, and measures its error.
 * The caller releases *z (n x *columns). */
ddsc_status lot_run(ddsc_context *ctx, double **z, int64_t *columns, ddsc_pair_stats *stats,
                    const measures *m, const ddsc_metric_settings *settings);

#endif
