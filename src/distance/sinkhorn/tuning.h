/* Thresholds of this room, each with the benchmark that made it; `bench` is bench/sinkhorn.py. Which
 * engine a set takes is asked by sinkhorn_grid_applies and sinkhorn_group_applies, what a Newton step
 * costs by sinkhorn_newton_price. */
#ifndef DDSC_DISTANCE_SINKHORN_TUNING_H
#define DDSC_DISTANCE_SINKHORN_TUNING_H

enum {
    /* ---- engines ---- */
    SINKHORN_GROUP_SIDE =
        32, /* points of an item solved eight at a time: 16-point documents take half
                               * the time; above it a group leaves the first-level cache (bench --parts
                               * sets --sets bbcsport,bbc) */
    SINKHORN_GRID_SIDE = 64, /* cells of a grid along an axis: larger boxes leave the cache too */

    /* ---- tiles ---- */
    SINKHORN_TILE_SIDE = 16, /* of larger items; and at most that many points: */
    SINKHORN_TILE_POINTS = 4096,
    SINKHORN_GROUP_TILE_SIDE = 64, /* of small items, whose costs are made once per tile */
    SINKHORN_GROUP_TILE_POINTS = 1024,

    /* ---- when scaling iterations give way to Newton steps (bench --parts pairs) ---- */
    SINKHORN_NEWTON_ROWS = 4096,   /* above it the dense system is not worth its memory */
    SINKHORN_NEWTON_WINDOW = 8,    /* Newton steps within which the error must halve */
    SINKHORN_GRID_PASSES = 2000,   /* foreseen on a grid: then the dense solver is the better way */
    SINKHORN_POLL_CELLS = 1 << 16, /* above it every iteration asks whether to go on */

    /* ---- lower bounds ---- */
    SINKHORN_DENSE_LOOKS =
        5, /* after 1, 2, 4, 8, 16 iterations (bench --parts sets --sets histograms) */
    SINKHORN_QUICK_LOOKS = 2, /* on a grid, where nothing is to be exceeded yet */
    SINKHORN_GRID_LOOKS = 17, /* after each iteration (bench --parts sets --sets mnist) */
};

/* A bound is given up that would not get there with this many times its last gain. */
static const double SINKHORN_DENSE_PATIENCE = 2, SINKHORN_GRID_PATIENCE = 4;

/* Boxes of h x w cells cost this times h w (h + w) of what an entry of a dense kernel does. */
static const double SINKHORN_GRID_CELL_PRICE = 0.6;
/* Epsilon over the squared diagonal of a grid: below, sums leave the range of doubles and Newton steps
 * are needed; above, the dense solver has the accurate formula. */
static const double SINKHORN_GRID_SMALL_EPSILON = 3e-4, SINKHORN_GRID_LARGE_EPSILON = 100;

/* ---- levels of a falling epsilon (bench --parts pairs at 0.1% and 1%) ---- */
static const double SINKHORN_FIRST_EPSILON = 0.005; /* of the range of the reduced cost */
static const double SINKHORN_LEVEL_FACTOR = 3;

/* ---- accuracy, not speed ---- */
/* Weights below this fraction of an item cannot be told from none in any value. */
static const double SINKHORN_NO_WEIGHT = 1e-30;
/* Beyond this multiple of the range of the cost the primal formula is the accurate one. */
static const double SINKHORN_LARGE_EPSILON = 100;
/* Beyond this one the first-order potentials are exact to rounding. */
static const double SINKHORN_PRODUCT_EPSILON = 1e8;
/* Sums beyond it or its inverse: a dense kernel is filled anew; on a grid, where nothing can be
 * absorbed, the pair is left to the dense solver. */
static const double SINKHORN_DENSE_RANGE = 1e60, SINKHORN_GRID_RANGE = 1e120;

#endif
