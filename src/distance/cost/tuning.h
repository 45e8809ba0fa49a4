/* Thresholds for cost computations, each with the benchmark that determined it. */
#ifndef DDSC_DISTANCE_COST_TUNING_H
#define DDSC_DISTANCE_COST_TUNING_H

enum {
    /* Up to this dimension, blocks use differences; above it, they use a matrix product
     * (`bench/kernels.py` on mmd and sinkhorn). */
    POINTS_MAX_DIRECT = 16,
    /* Number of columns that are multiplied by all rows at a time. They fit in the first-level
     * cache (`bench/exact.py --parts pairs`). */
    PRODUCT_STRIP = 16,
    /* Number of sampled pairs of points. The relative error of the median is about 1 /
     * sqrt(MEDIAN_SAMPLE). */
    MEDIAN_SAMPLE = 16384
};

#endif
