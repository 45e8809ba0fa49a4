/* pairs: the engine. It cuts the N x N problem into fixed tiles, spreads them over threads, and
 * keeps what is asked for: the full matrix or the tau nearest of each item. A metric is known to it
 * only as a backend: a table of functions. A tile is a pure function of (input, settings, tile). */
#ifndef DDSC_PAIRS_H
#define DDSC_PAIRS_H

#include "base/base.h"
#include "data/measures.h"

typedef struct pair_tile {
    int64_t i0, i1, j0, j1; /* rows and columns, half open */
    const uint8_t *wanted;  /* (i1-i0) x (j1-j0) or NULL: all; unwanted entries may hold anything */
} pair_tile;

typedef struct pair_job {
    ddsc_context *ctx;
    const measures *m;
    const ddsc_metric_settings *set;
    int n_workers;
} pair_job;

typedef struct pair_backend {
    const char *name;
    int64_t tile_side; /* preferred side of a tile: small for solvers, large for matrix products */
    bool symmetric_skip; /* on a diagonal tile only entries i < j are computed; the rest is mirrored
                          */
    /* Prepare shared state (kernels, embeddings, self terms); may use parallel_for. */
    ddsc_status (*open)(void **state, const pair_job *job, ddsc_pair_stats *stats);
    /* Squared distances d2[(i-i0)*ld + (j-j0)]. Called from many threads, `worker` < n_workers.
     * Adds to `stats` (the worker's own; merged in worker-independent ways: sums and maxima). */
    ddsc_status (*tile)(void *state, const pair_tile *tile, double *d2, int64_t ld, int worker,
                        ddsc_pair_stats *stats);
    void (*close)(void *state);
} pair_backend;

extern const pair_backend backend_w2, backend_sinkhorn, backend_mmd, backend_lot;

const pair_backend *backend_find(ddsc_metric metric);
ddsc_status metric_settings_check(ddsc_context *ctx, const ddsc_metric_settings *settings);
void pair_stats_merge(ddsc_pair_stats *into, const ddsc_pair_stats *from);
/* Is the pair (i, j) part of a random sample of fraction p? Symmetric, stateless. */
bool pair_sampled(uint64_t seed, double p, int64_t i, int64_t j);

/* A job may also come from rows of vectors or a finished matrix: backends with a state of their
 * own. */
extern const pair_backend backend_vectors; /* job.m unused; state made by vectors_open */

/* tau nearest of each item over all (sampled) pairs of an opened backend. */
ddsc_status neighbors_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats, int64_t n,
                             const pair_backend *backend, void *state,
                             const ddsc_graph_settings *settings);
int64_t tau_default(int64_t n);

#endif
