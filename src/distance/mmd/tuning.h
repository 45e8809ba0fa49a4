/* tuning: thresholds for the maximum mean discrepancy. Unless another benchmark is named, they were
 * measured with `bench/kernels.py` on mmd. */
#ifndef DDSC_DISTANCE_MMD_TUNING_H
#define DDSC_DISTANCE_MMD_TUNING_H

enum {
    /* Number of items in a block of the field, and number of table rows in a stripe of the Gram
     * matrix. The sums for a block fit in registers (four vectors of doubles). */
    MMD_LANES = 32,
    /* A kernel block has at most MMD_ROWS x MMD_COLUMNS values (128 KiB). */
    MMD_ROWS = 64,
    MMD_COLUMNS = 256,
    STRIPE_ROWS = 512,         /* number of rows of a stripe that are computed at once */
    FIELD_SIDE = 64,           /* side of tiles of the field, a multiple of MMD_LANES */
    FIELD_MAX_TABLE = 1 << 18, /* limits a worker's stripe of the Gram matrix to 64 MiB */
    CLOUDS_SIDE = 64,          /* tiles for separate supports: maximum number of items */
    CLOUDS_POINTS = 2048,      /* approximate number of points per side of a tile */
    CLOUDS_TILES = 16,         /* minimum number of tiles per side, so that all threads have work */
    BANDWIDTH_POINTS = 2000,   /* number of points whose 2 million distances determine the
                                * bandwidth */
    BANDWIDTH_BLOCK = 64,
    /* Longest axis for which features are computed. Dense eigenproblems up to this size take
     * negligible time. */
    AXIS_LONGEST = 256,
    TABLE_LONGEST = 2048, /* largest table for which features are computed */
    /* The cube of the table size times this factor must be less than the work for all pairs, which
     * is N times the number of entries. */
    TABLE_WORK = 4,
    /* Used instead of TABLE_WORK if the features are unlikely to save time (`bench/table.py`). */
    TABLE_STAKE = 32,
    /* Number of feature columns in single precision that take as long as one entry in double
     * precision. */
    COLUMNS_PER_ENTRY = 3,
    FEATURE_ITEMS = 256,  /* number of items whose variance determines the relevant coordinates */
    FOURIER_BLOCK = 64,   /* number of points whose angles are computed by one matrix product */
    CHECK_ITEMS = 32,     /* number of items for measuring the error of Fourier features */
    CHECK_POINTS = 20000, /* maximum total number of points of these items */
};
#define FIELD_BUDGET ((int64_t)1 << 30) /* maximum size of the field in bytes */
#define TABLE_LEAST 1e-13  /* eigenvalues below this fraction of the largest are omitted */
#define TABLE_LARGEST 1e30 /* larger kernel values exceed the float range */
#define FEATURE_TAIL 3e-4  /* maximum fraction of a sample's variance in the tail */

#endif
