/* engine: the pair service. Every search asks for its pairs here, by lists or by tiles, and for
 * their bounds: values come back checked and counted, are looked up where an earlier run kept them,
 * and go to the heaps of both ends. It knows a metric only as a backend. */
#ifndef DDSC_NEIGHBORS_PAIRS_PAIRS_H
#define DDSC_NEIGHBORS_PAIRS_PAIRS_H

#include "base/workspace.h"
#include "neighbors/pairs/backend.h"
#include "neighbors/pairs/journal.h"
#include "neighbors/pairs/nearest.h"
#include "neighbors/pairs/prefilter.h"

/* A value that was solved, in case another search over the same pairs follows. */
typedef struct pair_value {
    pair_ij pair;
    double d2;
} pair_value;

typedef struct pair_worker {
    double *d2;      /* a tile */
    uint8_t *wanted; /* its mask */
    double *kept;    /* its values one after the other, for the journal */
    ddsc_pair_stats stats;
    int64_t n_solved, n_resumed, n_bounds[BOUND_LEVELS];
    pair_value *solved; /* where the service remembers, n_known of them */
    int64_t n_known, known_capacity;
    bool replayed;    /* the last pair was looked up: it left no potentials behind */
    ddsc_status late; /* what went wrong where it could not be said */
} pair_worker;

typedef struct pairs {
    ddsc_context *ctx;
    int64_t n;
    const pair_backend *backend;
    void *state; /* the metric's, opened by the caller */
    pair_shape shape;
    journal *journal;  /* or NULL: nothing is kept */
    bound_offer offer; /* once bounds are open */
    void *bounds;
    const measures *m;              /* of the bounds */
    const prefilter_device *device; /* what looks through float bounds of all pairs */
    int n_workers;
    pair_worker *worker;
    scratch tile;      /* of their arrays */
    scratch potential; /* of a cut: one slot per support row */
    /* For a search that chooses neighbours by a rescaled distance, else NULL: the scales, and the values that an
     * earlier search over the same pairs has left: of pair i < j in the list of i. */
    const local_scales *by;
    ddsc_graph *known;
    bool remembers; /* pairs_solve keeps its values for the next search */
} pairs;

ddsc_status pairs_open(ddsc_context *ctx, pairs *p, int64_t n, const pair_backend *backend,
                       void *state, journal *kept);
/* Bounds of the backend, which must have them. */
ddsc_status pairs_open_bounds(pairs *p, const pair_job *job);
void pairs_close(pairs *p);

/* Begins a search that chooses `by` scales (or NULL). Values that the search before it kept become `known`;
 * remembers: this one keeps its own. */
ddsc_status pairs_begin(pairs *p, const local_scales *by, bool remembers);
/* One pair i < j. */
ddsc_status pairs_value(pairs *p, pair_ij pair, double *d2, int worker);
/* The same; its value goes to the heaps of both ends. */
ddsc_status pairs_solve(pairs *p, nearest *near, pair_ij pair, int worker);
/* Strips of columns, in order: before pairs with j in [j0, j1). */
int64_t pairs_strip(const pairs *p);
ddsc_status pairs_prepare(pairs *p, int64_t j0, int64_t j1);

/* Receives a finished tile; called from many threads, each tile once. */
typedef void (*tile_sink)(void *arg, const pair_tile *tile, const double *d2, int64_t ld);

/* Every pair of a choice, tile by tile. */
ddsc_status pairs_walk(pairs *p, const pair_choice *choice, tile_sink sink, void *arg);
/* The same where every rank of a team must see every tile: a matrix. */
ddsc_status pairs_walk_all(pairs *p, const pair_choice *choice, tile_sink sink, void *arg);
/* The sink that offers a tile to the heaps of a `nearest`. */
void pairs_offer_tile(void *near, const pair_tile *tile, const double *d2, int64_t ld);

/* A bound of level FRAME, DUAL or TIGHT. */
double pairs_bound(pairs *p, bound_level level, int64_t i, int64_t j, double enough, int worker);
/* After a solve by this worker: the cut for end `side` of its pair, until the next; false when there
 * is none. */
bool pairs_cut(pairs *p, int worker, int side, pair_cut *cut);
/* What it says about another item. */
double pairs_cut_bound(const pairs *p, const pair_cut *cut, int64_t other);
/* Bounds of one level by a worker; first bounds of all pairs, on all ranks alike. */
void pairs_count_bounds(pairs *p, bound_level level, int64_t n, int worker);
void pairs_count_first(pairs *p, int64_t n);

/* Solves so far, of all ranks. */
ddsc_status pairs_solved(const pairs *p, int64_t *n);
/* What was done, of n_pairs in question. An error that a bound had no way to report is returned. */
ddsc_status pairs_finish(const pairs *p, int64_t n_pairs, ddsc_pair_stats *stats);
void pairs_merge_stats(ddsc_pair_stats *into, const ddsc_pair_stats *from);

/* Distances into out: n x n, or condensed; with n_old >= 0 n_old x (n - n_old), the first
 * n_old items against each later one. flags: ddsc_distance_flags. */
ddsc_status pairs_matrix(pairs *p, double *out, int64_t n_old, unsigned flags);

/* ---- with a journal, for pairs.c: look up, or compute and keep ---- */

ddsc_status pairs_kept_tile(pairs *p, const pair_tile *t, int64_t n, double *d2, int64_t ld,
                            int worker);
double pairs_kept_bound(pairs *p, int64_t i, int64_t j, double enough, int worker);

#endif
