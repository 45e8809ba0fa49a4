/* Thresholds of this module, each with the benchmark that determined it. `bench` denotes
 * bench/sinkhorn.py. sinkhorn_grid_applies and sinkhorn_group_applies choose the engine of a
 * set, and sinkhorn_newton_price estimates the cost of a Newton step. */
#ifndef DDSC_DISTANCE_SINKHORN_TUNING_H
#define DDSC_DISTANCE_SINKHORN_TUNING_H

enum {
    /* ---- engines ---- */
    /* Largest number of points of an item that is solved in a group of eight. For documents of
     * 16 points, a group halves the time. With larger items, a group no longer fits in the
     * first-level cache (bench --parts sets --sets bbcsport,bbc). */
    SINKHORN_GROUP_SIDE = 32,
    /* cells of a grid along an axis; larger boxes do not fit in the cache */
    SINKHORN_GRID_SIDE = 64,

    /* ---- tiles ---- */
    SINKHORN_TILE_SIDE = 16, /* items along the side of a tile of larger items */
    SINKHORN_TILE_POINTS = 4096,
    /* side of a tile of small items, which computes its costs once */
    SINKHORN_GROUP_TILE_SIDE = 64,
    SINKHORN_GROUP_TILE_POINTS = 1024,

    /* ---- when scaling iterations give way to Newton steps (bench --parts pairs) ---- */
    /* largest side; above it the dense system is not worth its memory */
    SINKHORN_NEWTON_ROWS = 4096,
    SINKHORN_NEWTON_WINDOW = 8, /* Newton steps within which the error must halve */
    /* predicted passes on a grid above which the dense solver is faster */
    SINKHORN_GRID_PASSES = 2000,
    SINKHORN_POLL_CELLS = 1 << 16, /* size above which every iteration checks for cancellation */

    /* ---- lower bounds ---- */
    SINKHORN_DENSE_BOUNDS =
        5, /* after 1, 2, 4, 8, 16 iterations (bench --parts sets --sets histograms) */
    /* for first bounds on a grid, which have no threshold to exceed yet */
    SINKHORN_QUICK_BOUNDS = 2,
    SINKHORN_GRID_BOUNDS = 17, /* after each iteration (bench --parts sets --sets mnist) */
};

/* The computation of a bound stops if this many times its last gain would not reach the
 * threshold. */
static const double SINKHORN_DENSE_PATIENCE = 2, SINKHORN_GRID_PATIENCE = 4;

/* Cost of a box of h x w cells, as a multiple of h w (h + w) entries of a dense kernel. */
static const double SINKHORN_GRID_CELL_PRICE = 0.6;
/* Limits of epsilon relative to the squared diagonal of a grid. Below the lower limit, sums leave
 * the range of doubles and Newton steps are needed. Above the upper limit, only the dense solver
 * has the accurate formula. */
static const double SINKHORN_GRID_SMALL_EPSILON = 3e-4, SINKHORN_GRID_LARGE_EPSILON = 100;

/* ---- levels of a falling epsilon (bench --parts pairs at 0.1% and 1%) ---- */
static const double SINKHORN_FIRST_EPSILON = 0.005; /* relative to the range of the reduced cost */
static const double SINKHORN_LEVEL_FACTOR = 3;

/* ---- accuracy, not speed ---- */
/* Weights below this fraction of an item's mass do not change any value in double precision. */
static const double SINKHORN_NO_WEIGHT = 1e-30;
/* Above this multiple of the range of the cost, the primal formula is the accurate one. */
static const double SINKHORN_LARGE_EPSILON = 100;
/* Above this multiple, the first-order potentials are exact up to rounding. */
static const double SINKHORN_PRODUCT_EPSILON = 1e8;
/* Upper limits of the kernel sums; the lower limits are their inverses. Outside these limits, a
 * dense kernel is recomputed from absorbed potentials. The grid engine cannot absorb scalings
 * and leaves the pair to the dense solver. */
static const double SINKHORN_DENSE_RANGE = 1e60, SINKHORN_GRID_RANGE = 1e120;

#endif
