/* The interface between the pair service and a metric. A metric is a table of functions (a
 * backend), and its lower bounds are a second table. A value depends only on its two items, the
 * resolved settings and the frame. It has the same bits in every tile or list, on every worker, and
 * in every set. docs/numerics.md lists the exceptions. */
#ifndef DDSC_NEIGHBORS_PAIRS_BACKEND_H
#define DDSC_NEIGHBORS_PAIRS_BACKEND_H

#include "base/base.h"
#include "data/measures.h"
#include "neighbors/pairs/tiles.h"

typedef struct pair_job {
    ddsc_context *ctx;
    const measures *m;
    const ddsc_metric_settings *set; /* resolved: rules replaced with values (metric.h) */
    pair_frame frame;
    int n_workers;
    bool matrix;   /* all values are requested, so a device may compute them */
    int64_t n_old; /* if > 0: only pairs of one of the first n_old items with a later item are
                    * requested */
} pair_job;

/* Preferred layout of the pairs. It may depend on the data, but not on the number of threads. */
typedef struct pair_shape {
    int64_t tile_side;
    int64_t strip; /* columns prepared at once, a multiple of tile_side; 0: no preparation */
} pair_shape;

/* ---- lower bounds ---- */

/* Each level is more expensive than the previous one but cheaper than a solve. */
typedef enum bound_level {
    BOUND_FIRST, /* all pairs, as floats, tile by tile */
    BOUND_FRAME, /* one pair: projections on single frames */
    BOUND_CUT,   /* all pairs of an item: linear minorant from the potentials of one solve */
    BOUND_DUAL,  /* one pair: potentials after a few iterations */
    BOUND_TIGHT, /* one pair: the tightest bound; the solve may start from its potentials */
    BOUND_LEVELS
} bound_level;

static inline int64_t first_item(const int32_t *order, int64_t place)
{
    return order ? order[place] : place;
}

/* First bounds as floats. They satisfy unit * low(i, j) <= D^2(i, j), including rounding errors. If
 * rows are available,
 *
 *     low(i, j) = (start_i + start_j) - 2 rows_i . rows_j.
 *
 * A device can also compute this product. The maximum rounding error of the product, for any order
 * of summation, has already been subtracted from `start`. */
typedef struct first_bounds {
    int64_t n, side;
    double unit;               /* a power of two */
    const int32_t *order;      /* order of the items in tiles, old items first; NULL: input order */
    int64_t columns;           /* 0: no rows, only tiles */
    const float *rows, *start; /* n x columns; n */
    void (*tile)(void *state, const pair_tile *t, float *low, int64_t ld, int worker);
    void *state;
    /* If window > 0, tiles are computed window by window. Before tiles with rows in window a and
     * columns in window b >= a, the calling thread calls `load`, which may use parallel_for.
     * `window` is a multiple of `side`. */
    int64_t window;
    ddsc_status (*load)(void *state, int64_t a, int64_t b);
    const struct device_frames *frames; /* data for level FRAME, in the same unit, or NULL */
} first_bounds;

/* The bounds that are available for a set. */
typedef struct bound_offer {
    bool level[BOUND_LEVELS]; /* BOUND_FIRST is always available */
    /* First bounds are cheap but loose, and bounds of level DUAL are much tighter and do not depend
     * on `enough`. The candidate lists from first bounds are then short, and are omitted if an
     * earlier search found enough values. */
    bool short_lists;
    first_bounds first;
    /* Data from which a device can compute bounds of levels DUAL and TIGHT (base/device_table.h),
     * or NULL. */
    const struct device_grid *grid;
} bound_offer;

/* A linear minorant: D^2(item, y) >= unit (constant + sum over y's entries of weight *
 * potential[index]) for every y. potential has one element for each row of the support table. */
typedef struct pair_cut {
    double unit, constant;
    float *potential;
} pair_cut;

typedef struct pair_bounds {
    /* Opens the bounds for the open state `metric`, which must outlive them. */
    ddsc_status (*open)(void **state, bound_offer *offer, const pair_job *job, void *metric);
    void (*close)(void *state);
    /* Optional: prepares the bounds of appended items, from item `first` on, after the metric has
     * been prepared for them. Sets *done to false if the bounds must be opened again. */
    ddsc_status (*grow)(void *state, int64_t first, bool *done);
    /* Returns a bound of level FRAME, DUAL or TIGHT. The computation may stop as soon as the bound
     * exceeds `enough`, or can no longer exceed it. If `enough` is infinite, DUAL runs only a few
     * iterations. The result does not depend on the worker. */
    double (*pair)(void *state, bound_level level, int64_t i, int64_t j, double enough, int worker);
    /* For level CUT: returns the minorant of i (side 0) or j (side 1) after a solve of (i, j) by
     * this worker. */
    void (*cut)(void *state, int worker, int side, pair_cut *cut);
    /* Optional: returns true if a pruned search saves time for this open metric. Otherwise, sets
     * *why to the reason. If this function is NULL, a pruned search always saves time. */
    bool (*pays)(const void *metric, const char **why);
} pair_bounds;

/* ---- rows for a prefilter ---- */

/* Rows of floats whose distances approximate the metric's values with known errors. Before
 * rounding, they satisfy
 *
 *     0 <= D^2(i, j) / unit - (offset_i + offset_j + |rows_i - rows_j|^2) <= tail_i + tail_j. */
typedef struct prefilter_rows {
    int64_t n, columns; /* columns is 0 if no rows are available */
    float *rows;        /* n x columns, preferably near the origin */
    double *offset;     /* n */
    double *tail;       /* n */
    double unit;        /* a power of two, because squares of some data exceed the range of
                         * floats */
} prefilter_rows;

/* ---- the metric ---- */

typedef struct pair_backend {
    const char *name;
    int64_t tile_side; /* preferred side of a tile: small for solvers, large for matrix products */
    /* Prepares data that all pairs share (kernels, embeddings, self terms). May use
     * parallel_for. */
    ddsc_status (*open)(void **state, const pair_job *job, ddsc_pair_stats *stats);
    void (*close)(void *state);
    /* Optional: prepares appended items (data/growing.h), from item `first` on. If this function is
     * NULL, the metric must be opened again. */
    ddsc_status (*grow)(void *state, int64_t first);
    /* Computes the squared distances d2[(i-i0)*ld + (j-j0)]. Threads call it concurrently, with
     * `worker` < n_workers. It adds iterations, gaps and the number of solves that reached their
     * iteration limit to the worker's `stats`. The pair service counts the pairs, and merges the
     * statistics of all workers by sums and maxima. */
    ddsc_status (*tile)(void *state, const pair_tile *tile, double *d2, int64_t ld, int worker,
                        ddsc_pair_stats *stats);
    /* Optional: adjusts the shape. On entry, only tile_side is set. */
    void (*shape)(const void *state, pair_shape *shape);
    /* Required if shape.strip > 0. The calling thread calls it before pairs with j in [j0, j1) are
     * computed, for ascending j0. May use parallel_for. */
    ddsc_status (*prepare)(void *state, int64_t j0, int64_t j1);
    const pair_bounds *bounds; /* NULL: no lower bounds */
    /* Optional: creates rows for a prefilter. Such a backend must compute single pairs cheaply. */
    ddsc_status (*rows)(void *state, prefilter_rows *rows);
    /* Optional: adds the rows of appended items, after `grow`. Sets *done to false if the rows must
     * be created again. `rows` allocates space for appended rows. */
    ddsc_status (*grow_rows)(void *state, prefilter_rows *rows, bool *done);
} pair_backend;

#endif
