/* The pair service. Every search requests the values and bounds of pairs from this service, one by
 * one or as tiles. The service looks up values that an earlier run stored, computes the others,
 * checks and counts them, and offers them to the heaps of both items. The service accesses a metric
 * only through its backend. */
#ifndef DDSC_NEIGHBORS_PAIRS_PAIRS_H
#define DDSC_NEIGHBORS_PAIRS_PAIRS_H

#include "base/workspace.h"
#include "neighbors/pairs/backend.h"
#include "neighbors/pairs/journal.h"
#include "neighbors/pairs/nearest.h"
#include "neighbors/pairs/prefilter.h"

/* A computed value, stored for a second search over the same pairs. */
typedef struct pair_value {
    pair_ij pair;
    double d2;
} pair_value;

typedef struct pair_worker {
    double *d2;      /* values of a tile */
    uint8_t *wanted; /* mask of the tile */
    double *kept;    /* requested values of the tile, for the journal */
    ddsc_pair_stats stats;
    int64_t n_solved, n_resumed, n_bounds[BOUND_LEVELS];
    pair_value *solved; /* n_known values, if the service stores them for the next search */
    int64_t n_known, known_capacity;
    bool replayed;    /* the last pair was looked up, so it has no potentials */
    ddsc_status late; /* error that occurred in a function that returns no status */
} pair_worker;

typedef struct pairs {
    ddsc_context *ctx;
    int64_t n;
    const pair_backend *backend;
    void *state; /* state of the metric, opened by the caller */
    pair_shape shape;
    journal *journal;  /* NULL: nothing is stored */
    bound_offer offer; /* set when bounds are opened */
    void *bounds;
    const measures *m;              /* items that the bounds compare */
    const prefilter_device *device; /* evaluates the float bounds of all pairs */
    int n_workers;
    pair_worker *worker;
    scratch tile;      /* memory for the arrays of the workers */
    scratch potential; /* potentials of a cut, one element per support row */
    /* Local scales if the search ranks neighbors by a rescaled distance, or NULL. `known` contains
     * the values of an earlier search over the same pairs; a pair i < j is stored in the list of
     * i. */
    const local_scales *by;
    ddsc_graph *known;
    bool remembers; /* pairs_solve stores its values for the next search */
} pairs;

ddsc_status pairs_open(ddsc_context *ctx, pairs *p, int64_t n, const pair_backend *backend,
                       void *state, journal *kept);
/* Opens the lower bounds of the backend, which must have bounds. */
ddsc_status pairs_open_bounds(pairs *p, const pair_job *job);
void pairs_close(pairs *p);

/* Starts a search that ranks neighbors with the scales `by` (or NULL). The values stored by the
 * previous search become `known`. If `remembers` is true, this search stores its own values. */
ddsc_status pairs_begin(pairs *p, const local_scales *by, bool remembers);
/* Computes the value of one pair i < j. */
ddsc_status pairs_value(pairs *p, pair_ij pair, double *d2, int worker);
/* Computes the value of a pair and offers it to the heaps of both items. */
ddsc_status pairs_solve(pairs *p, nearest *near, pair_ij pair, int worker);
/* Returns the number of columns that pairs_prepare prepares at once. Before computing pairs with j
 * in [j0, j1), call pairs_prepare, for ascending j0. */
int64_t pairs_strip(const pairs *p);
ddsc_status pairs_prepare(pairs *p, int64_t j0, int64_t j1);

/* Receives a finished tile. It is called once per tile, concurrently from several threads. */
typedef void (*tile_sink)(void *arg, const pair_tile *tile, const double *d2, int64_t ld);

/* Computes all requested pairs, tile by tile. */
ddsc_status pairs_walk(pairs *p, const pair_choice *choice, tile_sink sink, void *arg);
/* Does the same, but every rank of a team receives every tile. This is required for a distance
 * matrix. */
ddsc_status pairs_walk_all(pairs *p, const pair_choice *choice, tile_sink sink, void *arg);
/* A tile_sink that offers the values of a tile to the heaps of a `nearest`. */
void pairs_offer_tile(void *near, const pair_tile *tile, const double *d2, int64_t ld);

/* Returns a bound of level FRAME, DUAL or TIGHT. */
double pairs_bound(pairs *p, bound_level level, int64_t i, int64_t j, double enough, int worker);
/* Returns the cut for item `side` (0 or 1) of the pair that this worker solved last. The cut is
 * valid until the worker's next solve. Returns false if there is no cut. */
bool pairs_cut(pairs *p, int worker, int side, pair_cut *cut);
/* Returns the bound that the cut gives for another item. */
double pairs_cut_bound(const pairs *p, const pair_cut *cut, int64_t other);
/* Counts bounds of one level that a worker computed. pairs_count_first counts first bounds of all
 * pairs, which are the same on all ranks. */
void pairs_count_bounds(pairs *p, bound_level level, int64_t n, int worker);
void pairs_count_first(pairs *p, int64_t n);

/* Returns the number of solves so far, over all ranks. */
ddsc_status pairs_solved(const pairs *p, int64_t *n);
/* Collects the statistics of a search over n_pairs pairs. Also returns errors from the computation
 * of bounds, which cannot return a status. */
ddsc_status pairs_finish(const pairs *p, int64_t n_pairs, ddsc_pair_stats *stats);
void pairs_merge_stats(ddsc_pair_stats *into, const ddsc_pair_stats *from);

/* Writes distances to `out`. The form is n x n, condensed, or, if n_old >= 0, the n_old x (n -
 * n_old) distances between the first n_old items and the later ones. flags: ddsc_distance_flags. */
ddsc_status pairs_matrix(pairs *p, double *out, int64_t n_old, unsigned flags);

/* ---- values and bounds with a journal (journaled_pairs.c) ---- */

ddsc_status pairs_kept_tile(pairs *p, const pair_tile *t, int64_t n, double *d2, int64_t ld,
                            int worker);
double pairs_kept_bound(pairs *p, int64_t i, int64_t j, double enough, int worker);

#endif
