/* Relaxed transport: dropping one marginal leaves sum_i a_i f_i <= W2^2 with f_i = min_j C_ij (Kusner et
 * al. 2015). The potentials g_j = min_i C_ij - f_i >= 0 still fit beside f, so sum_j b_j g_j can be
 * added. The same from the other side; the larger of the two. Points are kept in float, moved to their
 * mean. */
#ifndef DDSC_BOUND_RELAXED_H
#define DDSC_BOUND_RELAXED_H

#include "data/measures.h"

typedef struct bound_relaxed {
    const measures *m; /* borrowed */
    int64_t side;      /* items per block of columns */
    float *point;      /* v x d */
    float *norm2;      /* v */
    int64_t *block;    /* where the distinct rows of each block begin */
    int32_t *distinct; /* rows of the table */
    int32_t *local;    /* nnz: position of an entry's row among the distinct of its block */
    int64_t largest;   /* points of an item, in whole vectors */
    int64_t widest;    /* distinct rows of a block */
    double slack;
    double unit2; /* of squared distances */
} bound_relaxed;

/* Small supports in many dimensions? */
bool bound_relaxed_applies(const measures *m);
ddsc_status bound_relaxed_make(ddsc_context *ctx, bound_relaxed *out, const measures *m,
                               int64_t side);
void bound_relaxed_free(ddsc_context *ctx, bound_relaxed *b);
/* Floats of scratch a tile needs. */
int64_t bound_relaxed_scratch(const bound_relaxed *b);
/* In units of unit2. Items j0 .. j1 - 1 lie in one block, that is between multiples of `side`. */
void bound_relaxed_tile(const bound_relaxed *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, float *scratch);

#endif
