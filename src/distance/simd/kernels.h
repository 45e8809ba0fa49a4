/* kernels: the inner loops of exact transport, as one table of functions per instruction set.
 *
 * The kernels work on integers, or perform the same operations on doubles with every instruction
 * set, in an order that is the same or cannot affect the result. All tables therefore give the same
 * bits. */
#ifndef DDSC_DISTANCE_SIMD_KERNELS_H
#define DDSC_DISTANCE_SIMD_KERNELS_H

#include "base/base.h"

enum {
    /* Number of int32 values in a cache line. Rows of int32 costs and the first sink start at
     * multiples of this number, and columns are listed in blocks of this size. */
    COLUMN_BLOCK = 16,
    ROW_GROUP = 4,  /* number of rows that share a list of column blocks */
    MASK_WORDS = 8, /* masks longer than one word have a multiple of this many words */
    DOT_SIDE = 4,   /* number of rows and columns that `dots` multiplies at a time */
    /* Problems with at most this many points on both sides are solved by a separate simplex
     * kernel. */
    TINY_SIDE = COLUMN_BLOCK,
    INT32_LIMIT = 1 << 29, /* a larger |potential| ends an int32 run */
    /* Marks removed entries: used as the potential of a sink that is no longer a candidate, and as
     * the cost of padding. */
    INT32_REMOVED = 2 * INT32_LIMIT
};

/* Describes the move of a subtree. Nodes path[0] .. path[at] are in the subtree, and path[at] is
 * its top. Nodes path[at + 1] .. path[length - 1] are its ancestors up to the join, and other[0 ..
 * n_other - 1] are the ancestors at the new position. */
typedef struct mask_move {
    uint64_t *mask;
    int64_t words;
    const int32_t *path, *other;
    int64_t at, length, n_other;
    uint64_t *cut; /* out: mask of the subtree */
} mask_move;

/* A basis tree with at most TINY_SIDE sources (from node 0 on) and TINY_SIDE sinks (from node
 * TINY_SIDE on). */
typedef struct tiny_tree {
    _Alignas(64) int32_t potential[2 * TINY_SIDE];
    uint32_t mask[2 * TINY_SIDE]; /* nodes of each subtree */
    int64_t flow[2 * TINY_SIDE];  /* flow on the arc to the parent */
    int32_t parent[2 * TINY_SIDE];
    int32_t order[2 * TINY_SIDE]; /* children before parents */
    int32_t root;
    int64_t pivots; /* -1: more than max_pivots */
} tiny_tree;

/* n x m costs in rows of TINY_SIDE, aligned to 64 bytes, with INT32_REMOVED beyond m. Supplies and
 * demands are positive. */
typedef struct tiny_problem {
    int64_t n, m;
    const int32_t *cost;
    const int64_t *supply, *demand;
    int64_t max_pivots;
} tiny_problem;

/* n points. Coordinate k of point i is x[i * step + k * axis]. */
typedef struct point_block {
    const double *x;
    int64_t n, step, axis;
} point_block;

typedef struct kernels {
    const char *name;

    /* ---- int32 costs, dense rows; count is a multiple of COLUMN_BLOCK ---- */
    /* Returns the smallest cost[i * count + j] + sink[j] - source[i] over a block of rows if it is
     * negative, and sets *row and *column to its first position. Returns 0 otherwise. */
    int32_t (*block_best)(const int32_t *cost, const int32_t *sink, const int32_t *source,
                          int64_t rows, int64_t count, int64_t *row, int64_t *column);
    /* Does the same for up to ROW_GROUP rows and the listed column blocks. Ties are broken by the
     * order of the list. */
    int32_t (*near_best)(const int32_t *cost, const int32_t *sink, const int32_t *source,
                         int64_t rows, int64_t count, const int32_t *block, int64_t n_blocks,
                         int64_t *row, int64_t *column);
    /* Returns the first j with the smallest cost[j] + sink[j]. */
    int64_t (*row_best)(const int32_t *cost, const int32_t *sink, int64_t count);
    /* Returns the smallest cost[j] + sink[j]. */
    int32_t (*row_least)(const int32_t *cost, const int32_t *sink, int64_t count);
    /* Lists, in ascending order, the column blocks in which some row has cost[i * count + j] +
     * sink[j] < limit[i], and returns their number. `block` must have space for all blocks. */
    int64_t (*blocks_below)(int32_t *block, const int32_t *cost, const int32_t *sink,
                            const int32_t *limit, int64_t rows, int64_t count);
    /* Computes high[j] = max(high[j], f - cost[j]). */
    void (*row_raise)(int32_t *high, const int32_t *cost, int64_t count, int32_t f);
    /* Computes out[j] = 2^shift sum over k of (x[k] - y[k * stride + j])^2. y may be read up to
     * count. */
    void (*whole_distances)(int32_t *out, const int32_t *x, const int32_t *y, int64_t stride,
                            int64_t d, int64_t count, int shift);
    /* Rounds (cost[j] - offset) * scale to the nearest integer. Returns true if all results are
     * exact. Any count is valid. */
    bool (*quantize)(int32_t *out, const double *cost, int64_t count, double offset, double scale);

    /* ---- trees ---- */
    /* Moves a subtree whose masks have more than one word. */
    void (*move)(const mask_move *m);
    /* Adds `by` to potential[x] for every x < count whose bit is set in the mask. count is a
     * multiple of COLUMN_BLOCK. */
    void (*shift_int32)(int32_t *potential, const uint64_t *mask, int64_t count, int32_t by);
    void (*shift_double)(double *potential, const uint64_t *mask, int64_t count, double by);
    /* Builds the first basis of a tiny problem and pivots to the optimum. */
    void (*tiny)(tiny_tree *t, const tiny_problem *p);

    /* ---- doubles, any count > 0 ---- */
    /* Computes out[i * ld + j] = |rows_i - columns_j|^2 in d dimensions, summed in the order of the
     * coordinates. Requires columns.step = 1. */
    void (*distances)(double *out, int64_t ld, int64_t d, point_block rows, point_block columns);
    /* Computes out[r * ld + c] = row[r] . column[c] for DOT_SIDE rows and columns of d numbers.
     * Eight lanes are summed with fused multiply-adds, and the lanes are then added as ((0 + 4) +
     * (2 + 6)) + ((1 + 5) + (3 + 7)). */
    void (*dots)(double *out, int64_t ld, const double *const *row, const double *const *column,
                 int64_t d);
    /* Finds the smallest and the largest value. */
    void (*range)(double *low, double *high, const double *value, int64_t count);
    /* Sets f[i] to the smallest cost[i * count + j] - g[j]. */
    void (*slack)(double *f, const double *cost, const double *g, int64_t rows, int64_t count);
    /* Computes out[j] = rint(cost[j] * scale) + sink[j], and returns the smallest out[j]. Requires
     * |cost| * scale < 2^51. */
    double (*row_quanta)(double *out, const double *cost, const double *sink, int64_t count,
                         double scale);
    /* Lists all j with value[j] < limit in ascending order, and returns their number. `index` must
     * have space for count + COLUMN_BLOCK entries. */
    int64_t (*collect)(int32_t *index, const double *value, int64_t count, double limit);
    /* Returns the smallest cost[k] + sink[column[k]]. count is a multiple of 8. */
    double (*arcs_least)(const double *cost, const int32_t *column, const double *sink,
                         int64_t count);
} kernels;

extern const kernels kernels_portable, kernels_avx2, kernels_avx512;

/* Returns the kernels for the widest instruction set of this processor. */
const kernels *kernels_find(void);

#endif
