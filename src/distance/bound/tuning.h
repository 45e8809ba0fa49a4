/* tuning: thresholds of this module, and the benchmarks that determined them: bench/exact.py
 * (tau-NN graphs of W2 compared with POT) and bench/exact_growth.py. bound_relaxed_applies and
 * bound_refined_applies choose the bounds for a set. */
#ifndef DDSC_DISTANCE_BOUND_TUNING_H
#define DDSC_DISTANCE_BOUND_TUNING_H

enum {
    /* ---- first bounds: exact.py --parts graph ---- */
    /* dimension above which projections are too loose, and the relaxed bound is used */
    BOUND_RELAXED_DIM = 8,
    BOUND_RELAXED_MEAN_SIZE = 64, /* largest mean number of points for which the relaxed bound is
                                   * cheaper */
    BOUND_PROJECTION_SIDE = 256,  /* items per side of a tile, computed by one matrix product */
    BOUND_RELAXED_SIDE_MIN = 32,  /* smallest side of a tile; larger tiles share more points */
    BOUND_RELAXED_SIDE_MAX = 256, /* largest side of a tile; smaller tiles provide work for more
                                   * threads */

    /* ---- table of least costs (bench/shorttext_speed.py) ---- */
    BOUND_LEAST_SIDE = 256,        /* items per side of a tile, a multiple of 64 */
    BOUND_LEAST_BYTES = 128 << 20, /* maximum size in bytes of the loaded tables */

    /* ---- marginals for Euclidean and city block costs ---- */
    BOUND_MARGINAL_BINS = 64,  /* largest number of bins per axis */
    BOUND_MARGINAL_ROW = 1024, /* maximum number of floats per item, which limits bins and frames */
    BOUND_MARGINAL_FRAMES = 6, /* largest number of frames */
    /* items per side of a tile; its rows stay in the second-level cache */
    BOUND_MARGINAL_SIDE = 64,

    /* ---- refined bounds: exact.py --parts graph; number of solves per item, time per bound
     * ---- */
    BOUND_REFINED_ITEMS = 8,    /* fewer items are solved in less time than self-scalings take */
    BOUND_DENSE_MEAN_SIZE = 24, /* pairs of smaller point clouds are solved as fast as they are
                                 * bounded */
    BOUND_DENSE_SIZE = 1024,    /* matrices of larger point clouds do not fit in cache */
    BOUND_POINT_DIM = 64,
    /* for larger point clouds, the starting potentials that the solver computes are equally good */
    BOUND_START_SIZE = 256,
    BOUND_REFINED_LEVELS = 8, /* number of levels, each with half the epsilon of the previous
                               * level */
    BOUND_START_LEVELS = 4,   /* levels before a quick check, and before a solve starts */
    BOUND_PAIR_LEVELS = 5,    /* levels of the dual bound; only the tight bound uses the other
                               * levels */
    BOUND_SELF_ITERATIONS = 6,

    /* ---- dual cuts: exact.py --parts graph on documents ---- */
    BOUND_CUT_SUPPORT = 2048, /* rows of a cost table: 16 MiB */

    /* ---- bounds of Sinkhorn values: bench/sinkhorn.py --parts sets ---- */
    /* items per side of a tile on a grid; the prefilter uses no larger tiles */
    BOUND_MINORANT_SIDE = 256,
    BOUND_SINKHORN_POINTS = 48 /* minimum number of points of an item without a grid; for smaller
                                * items, a bound takes as long as a solve */
};

/* Limits of epsilon relative to the range of the costs. Below BOUND_SMALL_EPSILON, a few iterations
 * give no useful bound, and W2 is close to the value. Above BOUND_LARGE_EPSILON
 * (BOUND_SHARP_EPSILON for sharp values), solving all pairs was faster for graphs of histograms
 * with 100 to 150 points in 3 and 20 dimensions. */
static const double BOUND_SMALL_EPSILON = 0.005, BOUND_LARGE_EPSILON = 0.06,
                    BOUND_SHARP_EPSILON = 0.01;
/* Smallest epsilon of the soft bound, relative to the median cost. Below this epsilon, bounds on
 * exact transport followed by dual bounds on single pairs leave fewer pairs to solve. On the BBC
 * documents, both methods are equally fast at 1%; at 0.1%, exact and dual bounds take 2.7 s, and
 * the soft bound 38 s. */
static const double BOUND_SOFT_EPSILON = 0.015;
/* The same for items that are solved one by one, whose dual bounds need only a few iterations.
 * Kidney biopsies, hard and soft minima: 3.6 and 5.9 s at 2%, 2.9 and 3.2 s at 5%, 2.8 and 2.0 s at
 * 20% (`ddsc neighbors --normalize standard -m sinkhorn --epsilon P%`). */
static const double BOUND_SOFT_EPSILON_SINGLE = 0.1;
/* Largest epsilon of the soft bound. Values grow with epsilon, so a bound for a smaller epsilon is
 * also valid. With a larger epsilon, rounding errors would exceed the bound. */
static const double BOUND_SOFT_LARGEST = 16;

/* First epsilon, relative to the mean trace of the covariances. */
static const double BOUND_EPSILON_SHARE = 0.4;
/* If, at the last check, a bound is below this fraction of the required value, the computation
 * stops, because the fine levels cannot raise the bound to this value. */
static const double BOUND_HOPELESS_LAST = 0.75;

#endif
