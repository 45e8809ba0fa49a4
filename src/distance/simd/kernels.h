/* kernel: the inner loops of exact transport, one table of functions per instruction set. All work
 * in integers, or in doubles with the same operations in an order that cannot matter, so every table
 * gives the same bits. */
#ifndef DDSC_DISTANCE_SIMD_KERNELS_H
#define DDSC_DISTANCE_SIMD_KERNELS_H

#include "base/base.h"

enum {
    COLUMN_BLOCK = 16, /* int32 of a cache line: rows of int32 costs, and the first sink, start at
                          multiples of this, and columns are listed by blocks of it */
    ROW_GROUP = 4,     /* rows that share a list of blocks of columns */
    MASK_WORDS = 8,    /* masks of more than one word are multiples of this long */
    DOT_SIDE = 4,
    TINY_SIDE = COLUMN_BLOCK, /* problems up to this size on both sides have their own simplex */
    INT32_LIMIT = 1 << 29,    /* |potential| above this leaves the int32 system */
    INT32_REMOVED = 2 * INT32_LIMIT /* potential of a sink that is no candidate; cost of padding */
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

/* A basis tree of at most TINY_SIDE sources (nodes 0 ..) and TINY_SIDE sinks (nodes TINY_SIDE ..). */
typedef struct tiny_tree {
    _Alignas(64) int32_t potential[2 * TINY_SIDE];
    uint32_t mask[2 * TINY_SIDE]; /* the nodes of each subtree */
    int64_t flow[2 * TINY_SIDE];  /* on the arc to the parent */
    int32_t parent[2 * TINY_SIDE];
    int32_t order[2 * TINY_SIDE]; /* children before parents */
    int32_t root;
    int64_t pivots; /* -1: more than max_pivots */
} tiny_tree;

/* n x m costs in rows of TINY_SIDE, 64-byte aligned, INT32_REMOVED beyond m; positive supplies. */
typedef struct tiny_problem {
    int64_t n, m;
    const int32_t *cost;
    const int64_t *supply, *demand;
    int64_t max_pivots;
} tiny_problem;

/* n points; coordinate k of point i is x[i * step + k * axis]. */
typedef struct point_block {
    const double *x;
    int64_t n, step, axis;
} point_block;

typedef struct kernels {
    const char *name;

    /* ---- int32 costs, dense rows; count is a multiple of COLUMN_BLOCK ---- */
    /* The least cost[i * count + j] + sink[j] - source[i] over a block of rows, if it is negative,
     * and the first row and column that have it; 0 if none is. */
    int32_t (*block_best)(const int32_t *cost, const int32_t *sink, const int32_t *source,
                          int64_t rows, int64_t count, int64_t *row, int64_t *column);
    /* The same over up to ROW_GROUP rows and the blocks of columns listed; of the columns of the row
     * found, the first as they are listed. */
    int32_t (*near_best)(const int32_t *cost, const int32_t *sink, const int32_t *source,
                         int64_t rows, int64_t count, const int32_t *block, int64_t n_blocks,
                         int64_t *row, int64_t *column);
    /* The first j of least cost[j] + sink[j]. */
    int64_t (*row_best)(const int32_t *cost, const int32_t *sink, int64_t count);
    /* The least cost[j] + sink[j]. */
    int32_t (*row_least)(const int32_t *cost, const int32_t *sink, int64_t count);
    /* The blocks of columns in which some of the rows has cost[i * count + j] + sink[j] < limit[i],
     * ascending; `block` can take them all. */
    int64_t (*blocks_below)(int32_t *block, const int32_t *cost, const int32_t *sink,
                            const int32_t *limit, int64_t rows, int64_t count);
    /* high[j] = max(high[j], f - cost[j]). */
    void (*row_raise)(int32_t *high, const int32_t *cost, int64_t count, int32_t f);
    /* out[j] = 2^shift sum over k of (x[k] - y[k * stride + j])^2; y may be read up to count. */
    void (*whole_distances)(int32_t *out, const int32_t *x, const int32_t *y, int64_t stride,
                            int64_t d, int64_t count, int shift);
    /* out[j] = (cost[j] - offset) * scale to the nearest integer; true when nothing was lost. Any
     * count. */
    bool (*quantise)(int32_t *out, const double *cost, int64_t count, double offset, double scale);

    /* ---- trees ---- */
    /* For masks of more than one word. */
    void (*move)(const mask_move *m);
    /* potential[x] += by for every x in the mask, x < count, a multiple of COLUMN_BLOCK. */
    void (*shift_int32)(int32_t *potential, const uint64_t *mask, int64_t count, int32_t by);
    void (*shift_double)(double *potential, const uint64_t *mask, int64_t count, double by);
    /* Start and pivots of a tiny problem. */
    void (*tiny)(tiny_tree *t, const tiny_problem *p);

    /* ---- doubles, any count > 0 ---- */
    /* out[i * ld + j] = |rows_i - columns_j|^2 in d dimensions, summed in the order of coordinates;
     * columns.step is 1. */
    void (*distances)(double *out, int64_t ld, int64_t d, point_block rows, point_block columns);
    /* out[r * ld + c] = row[r] . column[c] for DOT_SIDE rows and columns of d numbers: eight sums,
     * fused, then (0 + 4) + (2 + 6) and (1 + 5) + (3 + 7). */
    void (*dots)(double *out, int64_t ld, const double *const *row, const double *const *column,
                 int64_t d);
    /* The least and the largest value. */
    void (*range)(double *low, double *high, const double *value, int64_t count);
    /* f[i] = the least cost[i * count + j] - g[j]. */
    void (*slack)(double *f, const double *cost, const double *g, int64_t rows, int64_t count);
    /* out[j] = rint(cost[j] * scale) + sink[j]; returns the least. |cost| * scale < 2^51. */
    double (*row_quanta)(double *out, const double *cost, const double *sink, int64_t count,
                         double scale);
    /* All j with value[j] < limit, ascending; `index` can take count + COLUMN_BLOCK. */
    int64_t (*collect)(int32_t *index, const double *value, int64_t count, double limit);
    /* The least cost[k] + sink[column[k]]; count is a multiple of 8. */
    double (*arcs_least)(const double *cost, const int32_t *column, const double *sink,
                         int64_t count);
} kernels;

extern const kernels kernels_portable, kernels_avx2, kernels_avx512;

/* The widest set this processor has. */
const kernels *kernels_find(void);

#endif
