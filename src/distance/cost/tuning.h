/* Thresholds of costs, with what made each. */
#ifndef DDSC_DISTANCE_COST_TUNING_H
#define DDSC_DISTANCE_COST_TUNING_H

enum {
    POINTS_MAX_DIRECT =
        16,               /* up to this many dimensions blocks go by differences, above by a matrix
                               product: `bench/kernels.py` on mmd and sinkhorn */
    PRODUCT_STRIP = 16,   /* columns against all rows, which the nearest cache holds:
                               `bench/exact.py --parts pairs` */
    MEDIAN_SAMPLE = 16384 /* pairs of points; the median is good to about 1 / sqrt(MEDIAN_SAMPLE) */
};

#endif
