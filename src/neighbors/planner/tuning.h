/* The numbers by which a path is chosen, each with what it was measured by. None may depend on the
 * number of threads. `./run bench tuning` prints the crossovers of the machine it runs on. */
#ifndef DDSC_NEIGHBORS_PLANNER_TUNING_H
#define DDSC_NEIGHBORS_PLANNER_TUNING_H

enum {
    /* Items from which a float prefilter saves more than it costs: digits by mmd and lot
     * (bench/tuning.py, "prefilter or all pairs"). */
    PREFILTER_ITEMS = 2000,
    /* Items up to which the program chooses an exact search: 100,000 digits take minutes
     * (bench/scale.py). */
    EXACT_ITEMS = 100000,
    /* ---- rows that stand for items in an approximate search (bench/scale.py) ---- */
    ROWS_MOST = 64,        /* columns: more are cut to their principal components */
    REFERENCE_MOST = 64,   /* points of the reference of a linear transport */
    FEATURES = 1024,       /* random features where mmd has no rows of its own */
    BANDWIDTH_TRIED = 200, /* points whose distances a given bandwidth is held against */
    PROJECTION_DIM = 10 /* transport in so many dimensions is looked for among projections, too */
};

/* Linear transport comes out above W2 and projections below. In few dimensions both together tell
 * more than either: at as many candidates they find 76% of the neighbours of random clouds in space
 * (linear transport alone 51, projections alone 73), 98% of those of digits (97, 93). */
static const double PROJECTION_WEIGHT = 2;

/* Worth a warning: the error of distances outside whole columns, in units of their spread. */
static const double COLUMNS_POOR = 0.25;

/* Skewness of the in-degrees of the nearest from which neighbours are chosen by rescaled distances
 * (bench/defaults.py). */
static const double HUBS_SKEWNESS = 3.5;
/* The same share of items that are a nearest neighbor of none has the same effect, even without large
 * hubs. Clusters that differ in spread alone look like this: the nearest neighbors of a wide cloud are
 * narrow ones (bench/defaults.py --only spread; real sets without hubs stay below 0.2). */
static const double HUBS_UNLISTED = 0.3;

/* Worth a warning: one of several coordinates makes so much of the mean squared distance between
 * points of different items. */
static const double UNITS_SHARE = 0.99;
/* The same of a whole number that is one for all points of an item: less does no harm. */
static const double ID_SHARE = 0.05;
/* Worth a warning: a bandwidth so many times below or above the distance that one in twenty pairs of
 * points stays under. Kernels of the others are then below 1e-20, or differ from 1 by less than 1e-12. */
static const double BANDWIDTH_SMALL = 50, BANDWIDTH_LARGE = 1e6;

#endif
