/* tuning: constants of the metrics that affect only speed. The comments name the benchmarks in
 * which the constants were measured. No constant may depend on the number of threads. `./run bench
 * tuning` prints the crossover points of the current machine. */
#ifndef DDSC_NEIGHBORS_METRIC_TUNING_H
#define DDSC_NEIGHBORS_METRIC_TUNING_H

enum {
    /* ---- w2: all pairs of 300 images, 1,000 documents (bench/exact.py) ---- */
    W2_SIDE = 16,            /* number of items per side of a tile of solves */
    W2_SIDE_TILE_COSTS = 32, /* side if costs are computed per tile and a solve takes 3 us */
    W2_BLOCKS = 32,          /* minimum number of tiles per side, so that all threads have work */
    W2_BLOCKS_TILE_COSTS = 8,
    /* ---- vectors: rows of 2 to 784 columns (bench/tuning.py) ---- */
    VECTORS_SIDE = 64,
    /* ---- sinkhorn on a device: number of pairs per call, 48 bytes each (bench/gpu.py) ---- */
    SINKHORN_DEVICE_PAIRS = 4 << 20
};

#endif
