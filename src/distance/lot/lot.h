/* lot: linear optimal transport. Exact transport from a fixed reference converts each item to a
 * vector, and the Euclidean distance between two vectors is the LOT distance between the items. */
#ifndef DDSC_DISTANCE_LOT_LOT_H
#define DDSC_DISTANCE_LOT_LOT_H

#include "base/base.h"
#include "data/measures.h"

/* Creates the reference as a set of one item, which the caller must destroy. The item is a normal
 * sample or the k-means centers of the pooled points, both with uniform weights, or the first item
 * of settings->reference_measures. */
ddsc_status lot_reference_make(ddsc_context *ctx, measures **reference, const measures *m,
                               const ddsc_metric_settings *settings);
/* Computes the rows of the embedding from item `first` on, for a known reference. Does not support
 * teams of processes. */
ddsc_status lot_embed_from(ddsc_context *ctx, double *z, ddsc_pair_stats *stats, const measures *m,
                           int64_t first, const measures *reference, int64_t max_pivots);
/* Measures |D - W2| / W2 over a fixed sample of pairs, and stores the quantiles in *stats. */
ddsc_status lot_check(ddsc_context *ctx, ddsc_pair_stats *stats, const measures *m, const double *z,
                      int64_t columns, int64_t max_pivots);
/* Creates the reference, computes the embedding, reduces it if requested, and measures its error.
 * The caller must free *z (n x *columns). */
ddsc_status lot_run(ddsc_context *ctx, double **z, int64_t *columns, ddsc_pair_stats *stats,
                    const measures *m, const ddsc_metric_settings *settings);

#endif
