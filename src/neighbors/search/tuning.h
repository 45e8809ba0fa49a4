/* tuning: constants of the searches. The comments name the benchmarks in which the constants were
 * measured. The constants affect speed and the quality of approximations, but not exact graphs. No
 * constant may depend on the number of threads. `./run bench tuning` prints the crossover points of
 * the current machine. */
#ifndef DDSC_NEIGHBORS_SEARCH_TUNING_H
#define DDSC_NEIGHBORS_SEARCH_TUNING_H

enum {
    /* ---- pruned: 1,000 to 64,000 digits, 2,224 documents (bench/scale.py) ---- */
    LIST_LEAST = 128,       /* minimum length of a first candidate list */
    LIST_PER_TAU = 12,      /* number of candidates in a first list per requested neighbor */
    LIST_PER_TAU_SHORT = 4, /* LIST_PER_TAU for short lists (bench/shorttext_speed.py) */
    LIST_PAIRS = 1 << 18,   /* number of pairs whose frame bounds are computed at once for the first
                             * lists (6 MB) */
    DUAL_BATCH = 16,        /* number of candidates of an item for which dual bounds are computed in
                           * one round */
    SOLVE_BATCH = 2,        /* number of candidates of an item that are solved in one round */
    FEW_SHARE = 16,     /* the batch is doubled after a round with at most n / FEW_SHARE solves */
    WALK_TILES = 64,    /* minimum number of tiles in a step of the walk */
    WALK_STEPS = 256,   /* a step also has at least 1/WALK_STEPS of all tiles */
    WALK_STRIDE = 16,   /* maximum length of a step, in multiples of the minimum length */
    MET_PER_ITEM = 32,  /* target number of dual bounds per item in one step, as in the first
                         * lists */
    FOUND_PER_ITEM = 4, /* number of pairs per item that the walk may find before the lists are
                           * processed */
    /* ---- query: 10,000 digits against 60,000 (bench/assign.py) ---- */
    QUERY_ITEMS = 8, /* number of new items whose first bounds are computed at once */
    /* ---- update (bench/update.py) ---- */
    UPDATE_BLOCK = 64, /* number of items that are searched before values are offered to other
                        * lists */
    /* Without bounds, an update computes all pairs tile by tile if more than 1/REFILL_SHARE of the
     * remaining items are searched or pushed, because computing single pairs is slower. */
    REFILL_SHARE = 4,
    /* ---- prefilter: 70,000 digits with mmd and lot (bench/scale.py) ---- */
    SPARE_LEAST = 8, /* minimum number of bounds kept beyond tau, to allow for rounding errors */
    OPEN_LEAST = 64, /* number of items that may have all others as candidates */
    OPEN_SHARE = 64, /* the limit is OPEN_LEAST plus 1/OPEN_SHARE of all items; beyond it, computing
                      * all pairs is cheaper */
    /* Number of bounds kept beyond tau on a device. It is larger because the device's cheaper
     * products have larger errors. With tau = 20, the lists have 64 entries, which is the length of
     * the device's short lists (bench/gpu.py). */
    DEVICE_SPARE = 44,
    /* ---- device bounds: digits on one H200 (docs/gpu.md) ---- */
    DEVICE_FOUND = 1 << 24, /* maximum number of pairs within reach that a device returns at once:
                             * 200 MB */
    /* ---- descent and approximate: 100,000 digits (bench/scale.py) ---- */
    DESCENT_ROUNDS = 20, /* maximum number of rounds */
    DESCENT_FEW = 1000,  /* the descent stops when at most one neighbor in DESCENT_FEW has
                          * changed */
    RECALL_CHEAP = 128,  /* number of items whose recall is measured if pairs are cheap to
                          * compute */
    RECALL_LEAST = 24,   /* minimum number of these items if each pair is a transport problem */
    /* ---- columns: landmarks held out to estimate the error (bench/defaults.py) ---- */
    HELD_OUT = 12,       /* target number of held-out landmarks */
    HELD_OUT_SHARE = 10, /* largest and smallest k when every k-th landmark is held out */
    HELD_OUT_SHARE_LEAST = 3,
    ESTIMATE_LEAST = 15, /* minimum number of landmarks for an error estimate */
    /* ---- sampled: 1,000 digits with mmd, 10 to 50% of the pairs (docs/paper.md) ---- */
    FIT_KEPT = 240,     /* maximum number of pairs per item in the fit */
    FIT_LEAST = 24,     /* minimum number of pairs per item for a fit */
    FIT_PER_NUMBER = 4, /* number of pairs of an item per fitted coefficient of u */
    FIT_RANK = 30,      /* maximum rank */
    FIT_ROUNDS = 15     /* number of rounds of the alternating fit and of the fit of m and b */
};

/* Estimated number of multiplications for the dual bounds of an item: about 100 bounds of 100,000
 * multiplications each. */
static const double DEVICE_WORK_PER_ITEM = 1e7;

/* A warning is printed if the recall is below this value. */
static const double RECALL_GOOD = 0.9;

#endif
