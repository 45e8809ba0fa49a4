/* pairs: the engine. It cuts the N x N problem into fixed tiles, spreads them over threads, and
 * keeps what is asked for: the full matrix or the tau nearest of each item. A metric is known to it
 * only as a backend: a table of functions. A tile is a pure function of (input, settings, tile). */
#ifndef DDSC_PAIRS_H
#define DDSC_PAIRS_H

#include "base/base.h"
#include "data/measures.h"

/* A rectangle of pairs with i0 <= j0; on a diagonal tile (i0 == j0) only entries i < j are read. */
typedef struct pair_tile {
    int64_t i0, i1, j0, j1; /* rows and columns, half open */
    const uint8_t *wanted;  /* (i1-i0) x (j1-j0) or NULL: all; unwanted entries may hold anything */
} pair_tile;

typedef struct pair_ij {
    int32_t i, j;
} pair_ij;

/* Tile `number` of n items in blocks of `side`: column by column, rows up to the diagonal. */
pair_tile tile_number(int64_t n, int64_t side, int64_t number);
/* Its pairs: all above the diagonal. */
int64_t tile_pairs(const pair_tile *t);

static inline bool tile_wants(const pair_tile *t, int64_t i, int64_t j)
{
    return i < j && (!t->wanted || t->wanted[(i - t->i0) * (t->j1 - t->j0) + (j - t->j0)]);
}

typedef struct pair_job {
    ddsc_context *ctx;
    const measures *m;
    const ddsc_metric_settings *set;
    int n_workers;
    void *state; /* when bounds are opened: that of the metric they are for */
} pair_job;

/* How a state wants its pairs served. May depend on the data, never on the number of threads. */
typedef struct pair_plan {
    int64_t tile_side;
    int64_t strip;    /* columns prepared at once, a multiple of tile_side; 0: no preparation */
    int64_t together; /* pairs of a list worth handing over at once; 0: tiles of one pair do */
} pair_plan;

enum { PAIRS_TOGETHER = 32 }; /* the most */

struct pair_pruning;
struct pair_screen;

typedef struct pair_backend {
    const char *name;
    int64_t tile_side; /* preferred side of a tile: small for solvers, large for matrix products */
    const char *stage; /* what progress calls a walk over its tiles; NULL: "distances" */
    /* Prepare shared state (kernels, embeddings, self terms); may use parallel_for. */
    ddsc_status (*open)(void **state, const pair_job *job, ddsc_pair_stats *stats);
    /* Squared distances d2[(i-i0)*ld + (j-j0)]. Called from many threads, `worker` < n_workers.
     * Adds to `stats` (the worker's own; merged by sums and maxima): iterations, gaps, solves that
     * met their cap. Pairs are counted by the engine. */
    ddsc_status (*tile)(void *state, const pair_tile *tile, double *d2, int64_t ld, int worker,
                        ddsc_pair_stats *stats);
    void (*close)(void *state);
    /* Optional. The plan comes in with tile_side and no strips. */
    void (*plan)(const void *state, pair_plan *plan);
    /* Needed when the plan has strips: called before the tiles with columns in [j0, j1), strips in
     * ascending order, from the calling thread; may use parallel_for. */
    ddsc_status (*prepare)(void *state, int64_t j0, int64_t j1);
    /* Needed when the plan has `together`: squared distances of up to PAIRS_TOGETHER pairs i < j,
     * the bits of tiles of one pair. */
    ddsc_status (*list)(void *state, const pair_ij *pair, int64_t n, double *d2, int worker,
                        ddsc_pair_stats *stats);
    const struct pair_pruning *pruning; /* NULL: no lower bounds, every pair is computed */
    /* Optional: bounds of all pairs by one product of float matrices, see screen.h. Tiles of one
     * pair must then be cheap, and values a function of the pair alone. */
    ddsc_status (*screen)(void *state, struct pair_screen *screen);
} pair_backend;

typedef struct pair_cut {
    double unit, constant;
    float *potential;
} pair_cut;

/* What a metric offers to the pruned search. */
typedef struct pair_pruning {
    const pair_backend *bound; /* its tiles are lower bounds of the metric's */
    /* Optional: a bound for one pair that costs a little more and may stop once it exceeds
     * `enough`; `state` is that of `bound`. */
    double (*closer)(const void *state, int64_t i, int64_t j, double enough);
    /* Optional. After a 1 x 1 tile (i, j): a linear minorant for i (side 0) or j (side 1), that is
     * D^2(item, y) >= unit (constant + sum over y's entries of weight * potential[index]).
     * potential has a slot for each row of the support table. False: not to be had. */
    bool (*cut)(void *state, int worker, int side, pair_cut *cut);
    /* Optional, the two together: a bound that costs more than the first and less than a solve, for
     * those sets that have one. refine may stop as soon as its bound exceeds `enough`, or when it
     * sees that it never will; without an end to reach (infinite) it takes a quick look. It is a
     * function of its arguments alone, whatever the worker. */
    ddsc_status (*refine_open)(void *state, bool *offered);
    double (*refine)(void *state, int64_t i, int64_t j, double enough, int worker);
    /* Optional: is it worth while for this set? NULL: always. */
    bool (*pays)(const void *state);
    /* Optional: the best bound there is, asked for just before the 1 x 1 tile (i, j), which may
     * begin where it ended. Also a function of its arguments alone. */
    double (*last)(void *state, int64_t i, int64_t j, double enough, int worker);
} pair_pruning;

extern const pair_backend backend_w2, backend_sinkhorn, backend_mmd, backend_lot, backend_features;
extern const pair_backend bound_w2; /* lower bounds of backend_w2 */
double bound_w2_closer(const void *state, int64_t i, int64_t j, double enough);

const pair_backend *backend_find(ddsc_metric metric);
/* The one for these settings: an approximation where they ask for it. */
const pair_backend *backend_for(const ddsc_metric_settings *settings);

/* ---- settings: defaults, then the caller's fields, then every one checked (given NULL: defaults)
 */

ddsc_status metric_settings_take(ddsc_context *ctx, ddsc_metric_settings *own,
                                 const ddsc_metric_settings *given);
ddsc_status graph_settings_take(ddsc_context *ctx, ddsc_graph_settings *own,
                                const ddsc_graph_settings *given);
ddsc_status metric_settings_check(ddsc_context *ctx, const ddsc_metric_settings *settings);
ddsc_status graph_settings_check(ddsc_context *ctx, const ddsc_graph_settings *settings);
int64_t tau_default(int64_t n);
int64_t tau_used(int64_t n, const ddsc_graph_settings *settings);
/* Refuses exact_graph = pruned where `name` has no lower bounds. */
ddsc_status search_check(ddsc_context *ctx, const ddsc_graph_settings *settings, const char *name);

/* ---- pairs ---- */

void pair_stats_merge(ddsc_pair_stats *into, const ddsc_pair_stats *from);
/* Is the pair (i, j) part of a random sample of fraction p? Symmetric, stateless. */
bool pair_sampled(uint64_t seed, double p, int64_t i, int64_t j);
/* The error of a sample without any pair. */
ddsc_status sample_empty(ddsc_context *ctx, double p, int64_t n);

/* Receives a finished tile; called from many threads, each tile once. */
typedef void (*tile_sink)(void *arg, const pair_tile *tile, const double *d2, int64_t ld);

/* Tile t of n items in blocks of `side`: column by column of blocks, rows not below the diagonal;
 * and its pairs i < j. */
int64_t tile_pairs(const pair_tile *t);

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
/* tau nearest of each item over all (sampled) pairs of an opened backend. */
ddsc_status neighbors_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats, int64_t n,
                             const pair_backend *backend, void *state,
                             const ddsc_graph_settings *settings);

/* The same by a screen, where the backend has one and it pays. */
ddsc_status search_run(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats, int64_t n,
                       const pair_backend *backend, void *state, const ddsc_graph_settings *set);

/* The tau-NN graph of a set, by whichever search the settings ask for; they are checked here. */
ddsc_status neighbors_make(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const measures *m, const ddsc_metric_settings *metric,
                           const ddsc_graph_settings *settings);
/* The same graph without most of the solves: see pruned.c. */
ddsc_status pruned_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const pair_job *job, const pair_backend *backend, void *state,
                          const ddsc_graph_settings *settings);

/* ---- across: the tau nearest among the first n_old items for each of the others ---- */

typedef struct across_problem {
    const measures *m; /* old items, then new ones */
    int64_t n_old, tau;
    ddsc_exact_graph exact_graph;
} across_problem;

/* The list of new item c (item n_old + c of the set) is column c. */
ddsc_status across_run(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                       const across_problem *problem, const ddsc_metric_settings *metric);
/* With an open backend: every pair, or with bounds only those that may matter. */
ddsc_status across_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const across_problem *problem, const pair_backend *backend, void *state);
ddsc_status across_search_pruned(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                                 const across_problem *problem, const pair_job *job,
                                 const pair_backend *backend, void *state);

/* Euclidean distance between rows: a backend with a state of its own, no measures behind it. The
 * rows are borrowed until close. */
extern const pair_backend backend_vectors;
ddsc_status vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                         const double *rows);
ddsc_status vectors_screen(void *state, struct pair_screen *screen);

/* ---- the tau nearest of each item, kept in heaps that live in the graph's arrays ---- */

/* Neighbours are ordered by (value, index): a total order, so what is kept does not depend on the
 * order of arrival. */
typedef struct nearest {
    ddsc_graph *graph;
    int64_t *count;
    double *limit; /* the worst value kept once a heap is full, else +inf; read without the lock */
    spin *lock;
} nearest;

ddsc_status nearest_create(ddsc_context *ctx, nearest *near, int64_t n, int64_t tau);
void nearest_take(nearest *near, int64_t item, int64_t other, double d2);
/* Offer `other` at distance d2 to item's list; safe from any thread. A limit only ever falls, so a
 * stale one lets too much in, never too little. */
static inline void nearest_offer(nearest *near, int64_t item, int64_t other, double d2)
{
    double limit;
    __atomic_load(&near->limit[item], &limit, __ATOMIC_RELAXED);
    if (d2 <= limit)
        nearest_take(near, item, other, d2);
}
/* The same where a pair may come more than once. */
void nearest_take_once(nearest *near, int64_t item, int64_t other, double d2);
static inline void nearest_offer_once(nearest *near, int64_t item, int64_t other, double d2)
{
    double limit;
    __atomic_load(&near->limit[item], &limit, __ATOMIC_RELAXED);
    if (d2 <= limit)
        nearest_take_once(near, item, other, d2);
}
/* Heaps in an order that depends on what they hold alone: worst first. They stay heaps. */
ddsc_status nearest_sort(ddsc_context *ctx, nearest *near);
/* Sort the lists and hand over the graph; the rest of `near` is freed by nearest_free. */
ddsc_status nearest_finish(ddsc_context *ctx, nearest *near, ddsc_graph **graph);
void nearest_free(ddsc_context *ctx, nearest *near);

#endif
