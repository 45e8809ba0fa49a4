/* engine: cuts the N x N problem into fixed tiles, spreads them over threads, and hands them to
 * whoever wants them; fills whole matrices; keeps solved pairs on disk. It knows a metric only as a
 * backend. */
#ifndef DDSC_ENGINE_ENGINE_H
#define DDSC_ENGINE_ENGINE_H

#include "engine/backend.h"

void pair_stats_merge(ddsc_pair_stats *into, const ddsc_pair_stats *from);
/* Is the pair (i, j) part of a random sample of fraction p? Symmetric, stateless. */
bool pair_sampled(uint64_t seed, double p, int64_t i, int64_t j);
/* The error of a sample without any pair. */
ddsc_status sample_empty(ddsc_context *ctx, double p, int64_t n);

/* Receives a finished tile; called from many threads, each tile once. */
typedef void (*tile_sink)(void *arg, const pair_tile *tile, const double *d2, int64_t ld);

/* Walk all tiles of n items; `sample` < 1 leaves pairs out. Values handed to the sink are finite.
 */
ddsc_status tiles_run(ddsc_context *ctx, int64_t n, const pair_backend *backend, void *state,
                      double sample, tile_sink sink, void *sink_arg, ddsc_pair_stats *stats);

/* Only the pairs of one of the first n_old items and a later one; 0 < n_old < n. */
ddsc_status tiles_run_across(ddsc_context *ctx, int64_t n_old, int64_t n,
                             const pair_backend *backend, void *state, tile_sink sink,
                             void *sink_arg, ddsc_pair_stats *stats);

/* Only the pairs with one of the first n_first items; 0 < n_first <= n. */
ddsc_status tiles_run_first(ddsc_context *ctx, int64_t n_first, int64_t n,
                            const pair_backend *backend, void *state, tile_sink sink,
                            void *sink_arg, ddsc_pair_stats *stats);

/* n x n (or condensed) distances of an opened backend into out. */
ddsc_status matrix_fill(ddsc_context *ctx, double *out, ddsc_pair_stats *stats, int64_t n,
                        const pair_backend *backend, void *state, bool condensed, bool squared);
/* (n - n_old) x n_old: each later item against the first n_old. */
ddsc_status matrix_fill_across(ddsc_context *ctx, double *out, ddsc_pair_stats *stats,
                               int64_t n_old, int64_t n, const pair_backend *backend, void *state,
                               bool squared);

#endif
