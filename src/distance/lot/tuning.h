/* tuning: thresholds for linear optimal transport, with the benchmarks that determined them. */
#ifndef DDSC_DISTANCE_LOT_TUNING_H
#define DDSC_DISTANCE_LOT_TUNING_H

enum {
    /* Number of sampled points for the k-means centers of the reference. With more points, no
     * distance in the lot part of `bench/kernels.py` changes by more than the sampling error that
     * this benchmark reports. */
    KMEANS_SAMPLE = 20000,
    /* Up to this dimension, a normal sample is the better reference; above it, k-means centers are
     * better (`bench/defaults.py`). */
    NORMAL_DIMENSIONS = 3,
    /* Maximum number of pairs that are solved exactly to measure the error. */
    CHECK_PAIRS = 64,
    CHECK_PAIRS_LEAST = 2, /* minimum number of such pairs */
    /* Maximum total number of arcs of these pairs. Solving them takes a few seconds on one
     * thread. */
    CHECK_ARCS = 20000000
};

#endif
