/* tuning: thresholds of this module, with the benchmarks that determined them. `bench` denotes
 * bench/sinkhorn.py. sinkhorn_grid_applies and sinkhorn_group_applies choose the engine for a set,
 * and sinkhorn_newton_price estimates the cost of a Newton step. */
#ifndef DDSC_DISTANCE_SINKHORN_TUNING_H
#define DDSC_DISTANCE_SINKHORN_TUNING_H

enum {
    /* ---- engines ---- */
    /* Largest number of points of an item that is solved in a group of eight. For documents of 16
     * points, groups halve the time. With larger items, a group no longer fits in the first-level
     * cache (bench --parts sets --sets bbcsport,bbc). */
    SINKHORN_GROUP_SIDE = 32,
    /* largest number of cells of a grid along an axis; larger boxes do not fit in the cache */
    SINKHORN_GRID_SIDE = 64,

    /* ---- tiles ---- */
    SINKHORN_TILE_SIDE = 16, /* number of items per side of a tile of larger items */
    SINKHORN_TILE_POINTS = 4096,
    /* number of items per side of a tile of small items, whose costs are computed once per tile */
    SINKHORN_GROUP_TILE_SIDE = 64,
    SINKHORN_GROUP_TILE_POINTS = 1024,

    /* ---- when Newton steps replace scaling iterations (bench --parts pairs) ---- */
    /* largest number of rows; above it, the dense system takes too much memory */
    SINKHORN_NEWTON_ROWS = 4096,
    SINKHORN_NEWTON_WINDOW = 8, /* number of Newton steps within which the error must halve */
    /* predicted number of passes on a grid above which the dense engine is faster */
    SINKHORN_GRID_PASSES = 2000,
    SINKHORN_POLL_CELLS = 1 << 16, /* problem size above which every iteration checks for
                                    * cancellation */

    /* ---- lower bounds ---- */
    SINKHORN_DENSE_EVALUATIONS =
        5, /* evaluations after 1, 2, 4, 8 and 16 iterations (bench --parts sets --sets
            * histograms) */
    /* evaluations on a grid for a first bound, which has no threshold yet */
    SINKHORN_QUICK_EVALUATIONS = 2,
    SINKHORN_GRID_EVALUATIONS =
        17, /* evaluations, one per iteration (bench --parts sets --sets mnist) */
};

/* The computation of a bound stops if the bound plus this multiple of the last increase is below
 * the threshold. */
static const double SINKHORN_DENSE_PATIENCE = 2, SINKHORN_GRID_PATIENCE = 4;

/* Cost of one iteration on a box of h x w cells, as a multiple of the cost of h w (h + w) entries
 * of a dense kernel. */
static const double SINKHORN_GRID_CELL_PRICE = 0.6;
/* Limits of epsilon relative to the squared diagonal of a grid. Below the lower limit, sums leave
 * the range of doubles and Newton steps are needed. Above the upper limit, only the dense engine
 * implements the accurate formula. */
static const double SINKHORN_GRID_SMALL_EPSILON = 3e-4, SINKHORN_GRID_LARGE_EPSILON = 100;

/* ---- levels of decreasing epsilon (bench --parts pairs at 0.1% and 1%) ---- */
static const double SINKHORN_FIRST_EPSILON = 0.005; /* relative to the range of the reduced cost */
static const double SINKHORN_LEVEL_FACTOR = 3;

/* ---- accuracy, not speed ---- */
/* Weights below this fraction of an item's mass do not change any value in double precision. */
static const double SINKHORN_NO_WEIGHT = 1e-30;
/* If epsilon is above this multiple of the range of the cost, the primal formula is more accurate
 * than the dual formula. */
static const double SINKHORN_LARGE_EPSILON = 100;
/* If epsilon is above this multiple of the range of the cost, the first-order potentials are exact
 * up to rounding errors. */
static const double SINKHORN_PRODUCT_EPSILON = 1e8;
/* Upper limits of the kernel sums; the lower limits are their inverses. Outside these limits, the
 * dense engine absorbs the scalings and recomputes the kernel. The grid engine cannot absorb
 * scalings, so the dense engine solves such pairs. */
static const double SINKHORN_DENSE_RANGE = 1e60, SINKHORN_GRID_RANGE = 1e120;

#endif
