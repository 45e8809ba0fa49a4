/* The metrics' numbers that only speed depends on, each with what it was measured by. None may depend
 * on the number of threads. `./run bench tuning` prints the crossovers of the machine it runs on. */
#ifndef DDSC_NEIGHBORS_METRIC_TUNING_H
#define DDSC_NEIGHBORS_METRIC_TUNING_H

enum {
    /* ---- w2: all pairs of 300 images, 1,000 documents (bench/exact.py) ---- */
    W2_SIDE = 16,            /* items a side of a tile of solves, */
    W2_SIDE_TILE_COSTS = 32, /* or where costs are made for a tile at once and solves take 3 us; */
    W2_BLOCKS = 32, /* in small sets at least so many tiles a side, so that threads find work */
    W2_BLOCKS_TILE_COSTS = 8,
    /* ---- vectors: rows of 2 to 784 columns (bench/tuning.py) ---- */
    VECTORS_SIDE = 64,
    /* ---- sinkhorn by a device: pairs at a time, 48 bytes each (bench/gpu.py) ---- */
    SINKHORN_DEVICE_PAIRS = 4 << 20
};

#endif
