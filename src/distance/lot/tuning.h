/* Thresholds of linear optimal transport, each with the benchmark that determined it. */
#ifndef DDSC_DISTANCE_LOT_TUNING_H
#define DDSC_DISTANCE_LOT_TUNING_H

enum {
    /* Number of sampled points from which the k-means centers of the reference are computed. With
     * more points, no distance of `bench/kernels.py` on lot changes by more than its check
     * reports. */
    KMEANS_SAMPLE = 20000,
    /* Up to this dimension, a normal sample is the better reference, and above it k-means centers
     * (`bench/defaults.py`). */
    NORMAL_DIMENSIONS = 3,
    /* Maximum number of pairs that are solved exactly to measure the error. */
    CHECK_PAIRS = 64,
    CHECK_PAIRS_LEAST = 2, /* minimum number of pairs */
    /* Limit on the total number of arcs of these pairs, which take a few seconds on one thread. */
    CHECK_ARCS = 20000000
};

#endif
