/* Thresholds of the maximum mean discrepancy, with the bench that made each: `bench/kernels.py` on
 * mmd where nothing else is said. */
#ifndef DDSC_DISTANCE_MMD_TUNING_H
#define DDSC_DISTANCE_MMD_TUNING_H

enum {
    MMD_LANES =
        32, /* items side by side in the field, and support rows in a stripe of the Gram: four
                       vectors of doubles, as many sums as registers hold */
    MMD_ROWS = 64, /* a kernel block is at most MMD_ROWS x MMD_COLUMNS points, 128 KiB */
    MMD_COLUMNS = 256,
    STRIPE_ROWS = 512,         /* of a stripe made at once */
    FIELD_SIDE = 64,           /* tiles of the field, a multiple of MMD_LANES */
    FIELD_MAX_TABLE = 1 << 18, /* a worker's stripe of the Gram stays below 64 MiB */
    CLOUDS_SIDE = 64,          /* tiles of clouds: at most so many items, ... */
    CLOUDS_POINTS = 2048,      /* ... about so many points per side, ... */
    CLOUDS_TILES = 16,         /* ... and so many tiles per side, to go round */
    BANDWIDTH_POINTS = 2000,   /* points whose pairs tell the bandwidth: 2 million distances */
    BANDWIDTH_BLOCK = 64,
    AXIS_LONGEST = 256,   /* features: dense eigenproblems of an axis take no time up to here */
    TABLE_LONGEST = 2048, /* and of a table, where the set is large: */
    TABLE_WORK = 4,   /* its cube so many times is below what all pairs take, N x entries; or ... */
    TABLE_STAKE = 32, /* ... where it is unlikely to pay (bench/table.py) */
    COLUMNS_PER_ENTRY = 3, /* a column of floats costs about a third of an entry in double */
    FEATURE_ITEMS = 256,   /* items that tell which coordinates matter */
    FOURIER_BLOCK = 64,    /* points whose angles are made by one product */
    CHECK_ITEMS = 32,      /* items whose pairs tell the error of Fourier features, ... */
    CHECK_POINTS = 20000,  /* ... fewer where they have more points than this */
};
#define FIELD_BUDGET ((int64_t)1 << 30) /* bytes the field may take */
#define TABLE_LEAST \
    1e-13 /* eigenvalues of a table below this part of the largest make no coordinate */
#define TABLE_LARGEST 1e30 /* energy kernels above this leave the range of floats */
#define FEATURE_TAIL 3e-4  /* share of a sample's variance that features may leave to the tail */

#endif
