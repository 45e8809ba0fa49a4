/* tuning: thresholds for cost computations, with the benchmarks that determined them. */
#ifndef DDSC_DISTANCE_COST_TUNING_H
#define DDSC_DISTANCE_COST_TUNING_H

enum {
    /* Up to this dimension, blocks are computed by differences, and above it by a matrix product
     * (`bench/kernels.py` on mmd and sinkhorn). */
    POINTS_MAX_DIRECT = 16,
    /* Number of columns that are multiplied by all rows at a time, and fit in the first-level cache
     * (`bench/exact.py --parts pairs`). */
    PRODUCT_STRIP = 16,
    /* Number of sampled pairs of points. The relative error of the median is about 1 /
     * sqrt(MEDIAN_SAMPLE). */
    MEDIAN_SAMPLE = 16384
};

#endif
