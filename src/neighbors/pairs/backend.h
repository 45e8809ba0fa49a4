/* The contract between the engine and a metric. A metric is a table of functions (a backend); its lower
 * bounds are another. A value is a function of the input, the resolved settings and its two items alone:
 * it is the same bits in whatever tile or list it is asked for, by whatever worker. */
#ifndef DDSC_NEIGHBORS_PAIRS_BACKEND_H
#define DDSC_NEIGHBORS_PAIRS_BACKEND_H

#include "base/base.h"
#include "data/measures.h"
#include "neighbors/pairs/tiles.h"

typedef struct pair_job {
    ddsc_context *ctx;
    const measures *m;
    const ddsc_metric_settings
        *set; /* resolved: every rule has become a value (neighbors/metric/metric.h) */
    int n_workers;
    bool
        matrix; /* all values are asked for, to the metric's tolerance: they may come from a device */
    int64_t n_old; /* above 0: pairs of the first n_old items with later ones alone are asked for */
} pair_job;

/* How a state wants its pairs served. May depend on the data, never on the number of threads. */
typedef struct pair_shape {
    int64_t tile_side;
    int64_t strip; /* columns prepared at once, a multiple of tile_side; 0: no preparation */
} pair_shape;

/* ---- lower bounds ---- */

/* Each level costs more than the one before, and less than a solve. */
typedef enum bound_level {
    BOUND_FIRST, /* of all pairs: floats, a tile at a time */
    BOUND_FRAME, /* of one pair: single frames of projections */
    BOUND_CUT,   /* of all pairs of an item, from the potentials of one solve: a linear minorant */
    BOUND_DUAL,  /* of one pair: potentials found by some iterations */
    BOUND_TIGHT, /* of one pair: the best there is, just before its solve, which may begin there */
    BOUND_LEVELS
} bound_level;

static inline int64_t first_item(const int32_t *order, int64_t place)
{
    return order ? order[place] : place;
}

/* First bounds in floats: unit * low(i, j) <= D^2(i, j), rounding included. Where there are rows,
 *
 *     low(i, j) = (start_i + start_j) - 2 rows_i . rows_j,
 *
 * a product that a device can make as well; the slack of its rounding, in any order of summation, has been
 * taken off `start`. */
typedef struct first_bounds {
    int64_t n, side;
    double unit;               /* a power of two */
    const int32_t *order;      /* of the items in tiles, old before new; NULL: as they are */
    int64_t columns;           /* 0: by tiles alone */
    const float *rows, *start; /* n x columns; n */
    void (*tile)(void *state, const pair_tile *t, float *low, int64_t ld, int worker);
    void *state;
    const struct device_frames
        *frames; /* of level FRAME, in the same units (base/device_table.h), or NULL */
} first_bounds;

/* What a set has to offer. */
typedef struct bound_offer {
    bool level[BOUND_LEVELS]; /* the first is always there */
    first_bounds first;
    /* What a device can make bounds of levels DUAL and TIGHT from (base/device_table.h), or NULL. */
    const struct device_grid *grid;
} bound_offer;

/* D^2(item, y) >= unit (constant + sum over y's entries of weight * potential[index]) for every y;
 * potential has a slot for each row of the support table. */
typedef struct pair_cut {
    double unit, constant;
    float *potential;
} pair_cut;

typedef struct pair_bounds {
    /* Bounds for the opened state `metric`, which outlives them. */
    ddsc_status (*open)(void **state, bound_offer *offer, const pair_job *job, void *metric);
    void (*close)(void *state);
    /* A bound of level FRAME, DUAL or TIGHT. It may stop as soon as it exceeds `enough`, or when it sees
     * that it never will; without an end to reach (infinite) DUAL takes a quick look. A function of its
     * arguments alone, whatever the worker. */
    double (*pair)(void *state, bound_level level, int64_t i, int64_t j, double enough, int worker);
    /* For level CUT. After a solve of (i, j) by this worker: the minorant of i (side 0) or j (side 1). */
    void (*cut)(void *state, int worker, int side, pair_cut *cut);
    /* Optional: is a pruned search worth while for this opened metric? NULL: always. *why: in words. */
    bool (*pays)(const void *metric, const char **why);
} pair_bounds;

/* ---- rows for a prefilter ---- */

/* Rows of floats whose distances enclose the metric's values: before rounding,
 *
 *     0 <= D^2(i, j) / unit - (offset_i + offset_j + |rows_i - rows_j|^2) <= tail_i + tail_j. */
typedef struct prefilter_rows {
    int64_t n, columns; /* columns 0: none to be had */
    float *rows;        /* n x columns, best near the origin */
    double *offset;     /* n */
    double *tail;       /* n */
    double unit;        /* a power of two: squares of some data are beyond floats */
} prefilter_rows;

/* ---- the metric ---- */

typedef struct pair_backend {
    const char *name;
    int64_t tile_side; /* preferred side of a tile: small for solvers, large for matrix products */
    /* Prepare shared state (kernels, embeddings, self terms); may use parallel_for. */
    ddsc_status (*open)(void **state, const pair_job *job, ddsc_pair_stats *stats);
    void (*close)(void *state);
    /* Squared distances d2[(i-i0)*ld + (j-j0)]. Called from many threads, `worker` < n_workers.
     * Adds to `stats` (the worker's own; merged by sums and maxima): iterations, gaps, solves that
     * met their cap. Pairs are counted by the engine. */
    ddsc_status (*tile)(void *state, const pair_tile *tile, double *d2, int64_t ld, int worker,
                        ddsc_pair_stats *stats);
    /* Optional. The shape comes in with tile_side and nothing else. */
    void (*shape)(const void *state, pair_shape *shape);
    /* Needed when the shape has strips: called before the pairs with j in [j0, j1), strips in ascending
     * order, from the calling thread; may use parallel_for. */
    ddsc_status (*prepare)(void *state, int64_t j0, int64_t j1);
    const pair_bounds *bounds; /* NULL: no lower bounds */
    /* Optional: rows for a prefilter. Single pairs must then be cheap. */
    ddsc_status (*rows)(void *state, prefilter_rows *rows);
} pair_backend;

#endif
