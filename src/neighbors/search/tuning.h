/* The searches' numbers that only speed depends on, each with what it was measured by. None may depend
 * on the number of threads. `./run bench tuning` prints the crossovers of the machine it runs on. */
#ifndef DDSC_NEIGHBORS_SEARCH_TUNING_H
#define DDSC_NEIGHBORS_SEARCH_TUNING_H

enum {
    /* ---- pruned: 1,000 to 64,000 digits, 2,224 documents (bench/scale.py, docs/performance.md) ---- */
    LIST_LEAST = 128,     /* candidates an item begins with, at least ... */
    LIST_PER_TAU = 12,    /* ... and for each neighbour asked for */
    LIST_PAIRS = 1 << 18, /* of first lists whose frame bounds are made in one go: 6 MB */
    DUAL_BATCH = 16,      /* candidates of an item that get a dual bound in one round */
    SOLVE_BATCH = 2,      /* and those that are solved; ... */
    FEW_SHARE = 16,       /* ... twice as many after a round of one per so many items, or fewer */
    WALK_TILES = 64,      /* tiles of a step of the walk, at least; or a 256th of all */
    WALK_STEPS = 256,
    WALK_STRIDE = 16,   /* times that, at most */
    MET_PER_ITEM = 32,  /* pairs that get a dual bound in one step: what the first lists had */
    FOUND_PER_ITEM = 4, /* pairs the walk may find before the lists are worked off */
    /* ---- query: 10,000 digits against 60,000 (bench/assign.py) ---- */
    QUERY_ITEMS = 8, /* new items whose first bounds are made in one go */
    /* ---- prefilter: 70,000 digits by mmd and lot (bench/scale.py) ---- */
    SPARE_LEAST = 8, /* kept beyond tau: rounding leaves some in doubt */
    OPEN_LEAST = 64, /* items that may look at everybody ... */
    OPEN_SHARE = 64, /* ... and one in so many; with more, all pairs cost less */
    /* Kept beyond tau by a device, whose cheap products leave more in doubt: with tau = 20 as many as
     * its short lists hold (bench/gpu.py). */
    DEVICE_SPARE = 44,
    /* ---- remote: digits on one H200 (docs/gpu.md) ---- */
    REMOTE_FOUND = 1 << 24, /* pairs within reach that a device gives at a time: 200 MB */
    /* ---- descent and approximate: 100,000 digits (bench/scale.py) ---- */
    DESCENT_ROUNDS = 20,
    DESCENT_FEW = 1000, /* one changed neighbour in so many ends it */
    RECALL_CHEAP = 128, /* items whose recall is measured: where a pair costs little ... */
    RECALL_LEAST = 24,  /* ... and where it is a transport problem */
    /* ---- columns: 12 of the landmarks are held out to judge by (bench/defaults.py) ---- */
    HELD_OUT = 12,
    HELD_OUT_SHARE = 10, /* one in so many, at most; */
    HELD_OUT_SHARE_LEAST = 3,
    JUDGED_LEAST = 15, /* landmarks: fewer cannot tell */
    /* ---- sampled: 1,000 digits by mmd, 10 to 50% of the pairs (docs/paper.md) ---- */
    FIT_KEPT = 240,     /* pairs of an item that the fit sees, at most; */
    FIT_LEAST = 24,     /* with fewer there is none */
    FIT_PER_NUMBER = 4, /* pairs of an item for each of its numbers u */
    FIT_RANK = 30,
    FIT_ROUNDS = 15
};

/* What the dual bounds of an item are worth, in multiplications: about 100 of 100,000 each. */
static const double REMOTE_WORK_PER_ITEM = 1e7;

/* A recall below this is worth a warning. */
static const double RECALL_GOOD = 0.9;

#endif
