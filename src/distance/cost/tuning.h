/* Thresholds of cost computations, each with the benchmark that determined it. */
#ifndef DDSC_DISTANCE_COST_TUNING_H
#define DDSC_DISTANCE_COST_TUNING_H

enum {
    /* Up to this many dimensions, blocks use differences, and above a matrix product
     * (`bench/kernels.py` on mmd and sinkhorn). */
    POINTS_MAX_DIRECT = 16,
    /* Columns that are multiplied with all rows at a time, which fit the first-level cache
     * (`bench/exact.py --parts pairs`). */
    PRODUCT_STRIP = 16,
    /* Sampled pairs of points. The error of the median is about 1 / sqrt(MEDIAN_SAMPLE). */
    MEDIAN_SAMPLE = 16384
};

#endif
