/* The inner loops of the simplex, one table of functions an instruction set. All work in integers
 * (or in doubles where each operation is the same on every set), so every table gives the same
 * bits. */
#ifndef DDSC_OT_SIMPLEX_KERNELS_H
#define DDSC_OT_SIMPLEX_KERNELS_H

#include "base/base.h"

enum {
    LANES = 16,    /* rows of costs and the first sink start at multiples of this */
    MASK_WORDS = 8 /* masks of more than one word are multiples of this long */
};

/* How a subtree moves: nodes path[0] .. path[at] lie in it, path[at] at its top; path[at + 1 ..
 * length - 1] lie above it up to the join, other[0 .. n_other - 1] above its new place. */
typedef struct mask_move {
    uint64_t *mask;
    int64_t words;
    const int32_t *path, *other;
    int64_t at, length, n_other;
    uint64_t *cut; /* out: the subtree */
} mask_move;

typedef struct simplex_kernels {
    const char *name;
    /* The least cost[j] + sink[j] of one row; count is a multiple of LANES. */
    int32_t (*row_min)(const int32_t *cost, const int32_t *sink, int64_t count);
    /* The first j with cost[j] + sink[j] == value; there is one. */
    int64_t (*row_find)(const int32_t *cost, const int32_t *sink, int32_t value);
    void (*move)(const mask_move *m);
    /* potential[x] += by for every x in the mask. */
    void (*shift)(int32_t *potential, const uint64_t *mask, int64_t words, int32_t by);
    /* The least cost[j] - g[j] of one row of doubles, any count > 0. */
    double (*row_slack)(const double *cost, const double *g, int64_t count);
} simplex_kernels;

extern const simplex_kernels simplex_portable, simplex_avx2, simplex_avx512;

/* The widest set this processor has. */
const simplex_kernels *simplex_kernels_find(void);

#endif
