/* tuning: thresholds for choosing a search. The comments name the benchmarks in which the
 * thresholds were measured. No threshold may depend on the number of threads. `./run bench tuning`
 * prints the crossover points of the current machine. */
#ifndef DDSC_NEIGHBORS_PLANNER_TUNING_H
#define DDSC_NEIGHBORS_PLANNER_TUNING_H

enum {
    /* Number of items above which a float prefilter saves time, measured on digits with mmd and lot
     * (bench/tuning.py, "prefilter or all pairs"). */
    PREFILTER_ITEMS = 2000,
    /* Number of items above which an update uses the rows of a prefilter as bounds (bench/update.py). */
    UPDATE_ROW_ITEMS = 1000,
    /* An index has one spare slot per INDEX_SPARE_SHARE items, but at least INDEX_SPARE_LEAST spare
     * slots. When all slots are used, the metric is opened again, which costs about
     * INDEX_SPARE_SHARE prepared items per insert (bench/update.py). */
    INDEX_SPARE_LEAST = 64,
    INDEX_SPARE_SHARE = 4,
    /* Largest number of items for which the automatic choice is an exact search. It takes minutes
     * for 100,000 digits (bench/scale.py). */
    EXACT_ITEMS = 100000,
    /* Smallest default of tau. With 10 to 13 neighbors, the partitions of AgNews and Reuters with
     * the smallest k-means inertia differ greatly from the classes; with 25 or more neighbors, they
     * are similar to the classes. The following values are the NMI of refined labels for 10 to 15,
     * 20, 30 and 40 neighbors (bench/shorttext.py -- --tau T): AgNews .535, .497, .629, .626;
     * Reuters .540, .651, .663, .661; BBC .727, .727, .723, .740; BBCSport .748, .768, .750, .741;
     * SearchSnippets .656, .663, -, .657; StackOverflow .688, .689, -, .687. Documents with few
     * points gain little from more neighbors, and 40 neighbors nearly double the running time. */
    TAU_LEAST = 10,
    TAU_LEAST_OF_TITLES = 20,
    TAU_LEAST_OF_DOCUMENTS = 28,
    SHORT_DOCUMENT = 12, /* documents with a smaller mean number of points are titles */
    /* The default for documents is limited to one neighbor per 40 documents, but not below
     * TAU_LEAST. With GloVe vectors, BBCSport (737 documents) has an AMI of .792, .781 and .759 for
     * 12, 18 and 28 neighbors. Without a vectors file, the values are .747, .764 and about .75. */
    ITEMS_PER_NEIGHBOR = 40,
    /* ---- rows that represent items in an approximate search (bench/scale.py) ---- */
    ROWS_MOST = 64,        /* maximum number of columns; more are reduced to their principal
                            * components */
    REFERENCE_MOST = 64,   /* number of points in the reference for linear transport */
    FEATURES = 1024,       /* number of random features if mmd provides no rows */
    BANDWIDTH_TRIED = 200, /* number of sampled points whose distances are compared with the
                            * bandwidth */
    PROJECTION_DIM = 10,   /* largest dimension in which rows for transport include projections */
    /* ---- compression for a metric: sampled items, and the numbers of points that are tried */
    PILOT_ITEMS = 24,
    PILOT_LEAST = 8,
    PILOT_NEAR = 5,
    PILOT_MOST_POINTS = 256,
    PILOT_LEAST_POINTS = 16
};

/* Maximum number of point pairs in the sample of a compression. Exact W2 for so many pairs takes
 * about 15 seconds in 50 dimensions (bench/cohort.py). */
static const double PILOT_ARCS = 3e8;

/* Linear transport overestimates W2 and projections underestimate it, so using both gives better
 * candidates in few dimensions. For the same number of candidates, candidates from both find 76% of
 * the neighbors of random three-dimensional clouds (linear transport alone: 51%, projections alone:
 * 73%). For digits, the shares are 98%, 97% and 93%. */
static const double PROJECTION_WEIGHT = 2;

/* A warning is issued if the error of the distances outside the sampled columns, relative to their
 * spread, exceeds this value. */
static const double COLUMNS_POOR = 0.25;

/* If the skewness of the in-degrees of the nearest-neighbor graph reaches this value, neighbors are
 * ranked by rescaled distances (bench/defaults.py). */
static const double HUBS_SKEWNESS = 3.5;
/* If at least this share of the items is not a nearest neighbor of any item, neighbors are ranked
 * by rescaled distances even if there are no large hubs. This happens for clusters that differ only
 * in spread: the nearest neighbors of a wide cloud are narrow clouds, so about half of the items
 * are not a neighbor of any item (tests/cli/test_hubs.py). */
static const double HUBS_UNLISTED = 0.3;

/* A warning is issued if one coordinate contributes more than this share of the mean squared
 * distance between points of different items. */
static const double UNITS_SHARE = 0.99;
/* The same limit for an integer coordinate that is constant within items. Smaller shares have no
 * noticeable effect. */
static const double ID_SHARE = 0.05;
/* A warning is issued if the bandwidth is smaller than the 5% quantile of the point distances by
 * the first factor, or larger by the second factor. With a smaller bandwidth, the kernel values of
 * 95% of the pairs are below 1e-20. With a larger bandwidth, kernel values differ from 1 by less
 * than 1e-12. */
static const double BANDWIDTH_SMALL = 50, BANDWIDTH_LARGE = 1e6;

#endif
