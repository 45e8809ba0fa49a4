/* Thresholds of this room, each with the benchmark that made it: bench/exact.py (tau-NN graphs of W2
 * against POT) and bench/exact_growth.py. Which bounds a set has is asked by bound_relaxed_applies
 * and bound_refined_applies. */
#ifndef DDSC_DISTANCE_BOUND_TUNING_H
#define DDSC_DISTANCE_BOUND_TUNING_H

enum {
    /* ---- first bounds: exact.py --parts graph ---- */
    BOUND_RELAXED_DIM = 8, /* above so many dimensions projections are loose, and the relaxed */
    BOUND_RELAXED_MEAN_SIZE =
        64,                      /* bound is cheaper for items of up to so many points on average */
    BOUND_PROJECTION_SIDE = 256, /* of a tile: one matrix product */
    BOUND_RELAXED_SIDE_MIN = 32, /* of a tile: large ones share more points, */
    BOUND_RELAXED_SIDE_MAX = 256, /* small ones leave work for many threads */

    /* ---- marginals under Euclidean and city block costs ---- */
    BOUND_MARGINAL_BINS = 64,  /* of an axis, at most, */
    BOUND_MARGINAL_ROW = 1024, /* floats of an item, which hold so many bins and frames, */
    BOUND_MARGINAL_FRAMES = 6, /* at most */
    BOUND_MARGINAL_SIDE = 64,  /* of a tile: its rows stay in the second cache */

    /* ---- refined bounds: exact.py --parts graph; solves per item against time per bound ---- */
    BOUND_REFINED_ITEMS = 8,    /* fewer are solved before their self scalings are made */
    BOUND_DENSE_MEAN_SIZE = 24, /* smaller clouds are solved as fast */
    BOUND_DENSE_SIZE = 1024,    /* larger clouds do not fit the caches */
    BOUND_POINT_DIM = 64,
    BOUND_START_SIZE = 256,   /* larger clouds are solved as fast from the solver's own start */
    BOUND_REFINED_LEVELS = 8, /* of halved epsilon: */
    BOUND_START_LEVELS = 4,   /* of a quick look, and for the start of a solve */
    BOUND_PAIR_LEVELS = 5,    /* of a refined bound; the rest is for the last look */
    BOUND_SELF_ITERATIONS = 6,

    /* ---- dual cuts: exact.py --parts graph on documents ---- */
    BOUND_CUT_SUPPORT = 2048, /* rows of a cost table: 16 MiB */

    /* ---- bounds of sinkhorn values: bench/sinkhorn.py --parts sets ---- */
    BOUND_MINORANT_SIDE = 256, /* of a tile on a grid, as large as the prefilter takes it */
    BOUND_SINKHORN_POINTS = 48 /* of an item off the grid: smaller ones are solved as fast */
};

/* Of the range of the costs. Below the first a few iterations tell nothing, and W2 is close to the
 * value. Above the others graphs of histograms of 100 to 150 points in 3 and 20 dimensions took less
 * time by all pairs; the last is for sharp values. */
static const double BOUND_SMALL_EPSILON = 0.005, BOUND_LARGE_EPSILON = 0.06,
                    BOUND_SHARP_EPSILON = 0.01;
/* Of the median cost; below it the bounds of exact transport and single duals leave less (BBC: as fast
 * at 1%, 38 s and 2.7 s at 0.1%). */
static const double BOUND_SOFT_EPSILON = 0.015;
/* Values grow with epsilon, so a bound for a smaller one holds; larger ones would lose it in rounding. */
static const double BOUND_SOFT_LARGEST = 16;

/* The first epsilon, of the mean trace of the covariances. */
static const double BOUND_EPSILON_SHARE = 0.4;
/* A last look below this part of what is enough will not get there: the fine levels add less. */
static const double BOUND_HOPELESS_LAST = 0.75;

#endif
