/* The engine's numbers that only speed depends on, each with what it was measured by. None may depend on
 * the number of threads. `./run bench tuning` prints the crossovers of the machine it runs on. */
#ifndef DDSC_NEIGHBORS_PAIRS_TUNING_H
#define DDSC_NEIGHBORS_PAIRS_TUNING_H

enum {
    /* Items a side of a tile of float products: 256 x 256 floats stay in the second cache, and the
     * product of 64 columns takes nine tenths of the time (70,000 digits by mmd; bench/scale.py). */
    PREFILTER_SIDE = 256,
    /* Bounds compared with their limits at once: two vectors of eight floats (bench/scale.py). */
    PREFILTER_GROUP = 16,
    /* A chunk of the journal is written when it is full, or after a while: soon at first, then less and
     * less often, so that a killed run loses little and writing costs nothing. */
    JOURNAL_CHUNK_BYTES = 1 << 20
};

static const double JOURNAL_FIRST_WAIT_S = 0.2, JOURNAL_LONGEST_WAIT_S = 20;
/* A value made in less time is cheaper to make again than to keep: a record is 64 bytes. */
static const double JOURNAL_CHEAP_S = 5e-7;

#endif
