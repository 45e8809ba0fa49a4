/* Thresholds for choosing a search path, with the benchmark that each was measured with. None may
 * depend on the number of threads. `./run bench tuning` prints the crossover points of the current
 * machine. */
#ifndef DDSC_NEIGHBORS_PLANNER_TUNING_H
#define DDSC_NEIGHBORS_PLANNER_TUNING_H

enum {
    /* Number of items above which a float prefilter saves time. Measured on digits with mmd and
     * lot (bench/tuning.py, "prefilter or all pairs"). */
    PREFILTER_ITEMS = 2000,
    /* Number of items up to which the automatic choice is an exact search. 100,000 digits take
     * minutes (bench/scale.py). */
    EXACT_ITEMS = 100000,
    /* ---- rows that represent items in an approximate search (bench/scale.py) ---- */
    ROWS_MOST = 64,        /* columns; more are reduced to their principal components */
    REFERENCE_MOST = 64,   /* points in the reference of linear transport */
    FEATURES = 1024,       /* random features if mmd has no rows of its own */
    BANDWIDTH_TRIED = 200, /* sampled points whose distances a given bandwidth is compared with */
    PROJECTION_DIM = 10 /* largest dimension in which transport candidates also use projections */
};

/* Linear transport overestimates W2 and projections underestimate it, so both together give better
 * candidates in few dimensions. With the same number of candidates they find 76% of the neighbors
 * of random three-dimensional clouds (linear transport alone 51%, projections alone 73%). For
 * digits they find 98% (97% and 93%). */
static const double PROJECTION_WEIGHT = 2;

/* Error of the distances outside the sampled columns, relative to their spread, above which a
 * warning is issued. */
static const double COLUMNS_POOR = 0.25;

/* Skewness of the in-degrees of the nearest-neighbor graph from which neighbors are ranked by
 * rescaled distances (bench/defaults.py). */
static const double HUBS_SKEWNESS = 3.5;
/* Share of the items that are a nearest neighbor of no other item from which neighbors are ranked
 * by rescaled distances, even without large hubs. Clusters that differ only in spread show this
 * pattern: the nearest neighbors of a wide cloud are items of narrow ones (bench/defaults.py --only
 * spread). Real sets without hubs stay below 0.2. */
static const double HUBS_UNLISTED = 0.3;

/* Share of the mean squared distance between points of different items that one coordinate may
 * have before a warning is issued. */
static const double UNITS_SHARE = 0.99;
/* The same share for an integer coordinate that is constant within items; smaller shares are
 * harmless. */
static const double ID_SHARE = 0.05;
/* A warning is issued if the bandwidth is smaller or larger than the 5% quantile of the point
 * distances by these factors. All kernels of the other 95% are then below 1e-20, or differ from 1
 * by less than 1e-12. */
static const double BANDWIDTH_SMALL = 50, BANDWIDTH_LARGE = 1e6;

#endif
