/* The contract between the engine and a metric: a metric is a table of functions. A tile is a pure
 * function of (input, settings, tile). */
#ifndef DDSC_ENGINE_BACKEND_H
#define DDSC_ENGINE_BACKEND_H

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

#endif
