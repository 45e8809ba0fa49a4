/* Thresholds of linear optimal transport, with what made each. */
#ifndef DDSC_DISTANCE_LOT_TUNING_H
#define DDSC_DISTANCE_LOT_TUNING_H

enum {
    KMEANS_SAMPLE = 20000, /* points that the centres of the reference are found from: more moves no
                              distance of `bench/kernels.py` on lot by more than its check reports */
    NORMAL_DIMENSIONS =
        3,            /* up to these a normal sample is the better reference, above them k-means
                              (bench/defaults.py) */
    CHECK_PAIRS = 64, /* pairs solved exactly to tell the error, at most, ... */
    CHECK_PAIRS_LEAST = 2, /* ... and at least ... */
    CHECK_ARCS = 20000000  /* ... within so many arcs, some seconds of one thread */
};

#endif
