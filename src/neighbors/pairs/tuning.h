/* tuning: constants of the pair service that affect only speed. The comments name the benchmarks in
 * which the constants were measured. No constant may depend on the number of threads. `./run bench
 * tuning` prints the crossover points of the current machine. */
#ifndef DDSC_NEIGHBORS_PAIRS_TUNING_H
#define DDSC_NEIGHBORS_PAIRS_TUNING_H

enum {
    /* Tile side for float products. 256 x 256 floats fit in the L2 cache. The product of 64 columns
     * then takes nine tenths of the time (70,000 digits with mmd; bench/scale.py). */
    PREFILTER_SIDE = 256,
    /* Number of bounds that are compared with their limits at once: two vectors of eight floats
     * (bench/scale.py). */
    PREFILTER_GROUP = 16,
    /* A journal chunk is written when it reaches this size, or after a delay. The delay is short at
     * first and then doubles, so that a killed run loses little work and the cost of writing is
     * negligible. */
    JOURNAL_CHUNK_BYTES = 1 << 20
};

static const double JOURNAL_FIRST_WAIT_S = 0.2, JOURNAL_LONGEST_WAIT_S = 20;
/* Values that take less than this time to compute are not stored, because a record takes 64
 * bytes. */
static const double JOURNAL_CHEAP_S = 5e-7;

#endif
