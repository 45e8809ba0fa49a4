/* first: first lower bounds on transport values, for all pairs or for single pairs.
 * neighbors/metric/first_bound.c chooses a bound. */
#ifndef DDSC_DISTANCE_BOUND_FIRST_H
#define DDSC_DISTANCE_BOUND_FIRST_H

#include "base/device_table.h"
#include "distance/cost/ground.h"

/* ---- projections ---- For an orthonormal frame, W2^2 is at least the sum over its axes of the 1-D
 * W2^2 of the projections, and a 1-D W2^2 is the squared L2 distance between the quantile
 * functions. Averaging quantile functions over bins preserves this inequality (Jensen), and so do
 * averaging over frames and any orthogonal projection of the resulting vectors. The short rows e
 * stored here therefore satisfy |e_i - e_j|^2 <= W2^2(i, j). The length of the remainder r that the
 * projection cuts off is stored as one more coordinate, because | |r_i| - |r_j| | <= |r_i -
 * r_j|. */
typedef struct bound_projection {
    int64_t n, p; /* number of items; number of coordinates per row */
    float *row;   /* n x p */
    float *start; /* n: |e_i|^2, reduced by the rounding margin of start_i + start_j - 2 e_i e_j */
    int64_t n_frames, length;
    float *frame; /* n x n_frames x length: a few complete frames */
    double longest;
    double unit2; /* unit of the squared rows */
    struct bound_embedder
        *embedder; /* computes rows of appended items; NULL if the set cannot grow */
} bound_projection;

/* Creates the bound. If `frames` is false, stores only rows, with more coordinates. */
ddsc_status bound_projection_make(ddsc_context *ctx, bound_projection *out, const measures *m,
                                  bool frames);
/* Computes the rows of appended items, from item `first` on. Sets *done to false if the bound must
 * be created again. */
ddsc_status bound_projection_grow(bound_projection *b, int64_t first, bool *done);
void bound_projection_free(ddsc_context *ctx, bound_projection *b);
/* Returns the frames for a device, or n = 0 if there are none. */
device_frames bound_projection_frames(const bound_projection *b);
/* Returns the largest bound on a pair over the complete frames. Stops at the first frame whose
 * bound exceeds `enough`. */
double bound_projection_pair(const bound_projection *b, int64_t i, int64_t j, double enough);

/* ---- marginals, for Euclidean and city block costs (marginal.c) ---- */
typedef struct bound_marginal {
    int64_t n, n_frames, axes, bins, length;
    bool city;
    float *row;     /* n x n_frames x axes x bins: quantiles */
    float *zero;    /* axes x bins zeros */
    double longest; /* largest distance of a row from the origin */
    double unit;    /* unit of the costs */
} bound_marginal;

ddsc_status bound_marginal_make(ddsc_context *ctx, bound_marginal *out, const measures *m,
                                bool city);
void bound_marginal_free(ddsc_context *ctx, bound_marginal *b);
/* Computes the bounds of a tile, in units of `unit`. */
void bound_marginal_tile(const bound_marginal *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                         float *out, int64_t ld);

/* ---- relaxed transport, for any cost ---- Dropping one marginal constraint gives sum_i a_i f_i <=
 * the value, with f_i = min_j C_ij (Kusner et al. 2015). The potentials g_j = min_i C_ij - f_i >= 0
 * are feasible together with f, so sum_j b_j g_j can be added. The bound is also computed with the
 * sides exchanged, and the larger value is used. Points are stored as floats relative to their
 * mean. For squared distances, both items are first moved to a common mean, and the squared
 * distance between their means is added.
 *
 * For the regularized value (epsilon > 0), the minima are replaced with soft minima, which requires
 * squared distances. Any f and its soft transform g_j = -epsilon log sum_i a_i exp((f_i - C_ij) /
 * epsilon) satisfy sum a f + sum b g <= the value. Choose f_i = |x_i - s|^2, where s is the mean of
 * the other item. With centered points x', y' and means r, s, the bound is
 *
 * |r - s|^2 + sum_i a_i |x'_i|^2 + sum_j b_j |y'_j|^2 - epsilon sum_j b_j log sum_i a_i exp(2 x'_i
 * y'_j / epsilon).
 *
 * The bound with the sides exchanged uses the same exponentials. For documents, the larger of the
 * two bounds is about 0.997 of the value. */
typedef struct bound_relaxed {
    const measures *m; /* borrowed */
    ground_cost ground;
    int64_t side;      /* items per block of columns */
    int64_t stride;    /* floats per point: d, rounded up to whole vectors */
    float *point;      /* v x stride, zero beyond d */
    float *norm2;      /* v: |x|^2, or the sum of |x_k| for the city block cost */
    int64_t *block;    /* start of the distinct rows of each block */
    int32_t *distinct; /* rows of the table */
    int32_t *local;    /* nnz: index of an entry's row among the distinct rows of its block */
    int64_t largest;   /* largest number of points of an item, rounded up to whole vectors */
    int64_t widest;    /* largest number of distinct rows in a block */
    double slack;
    double unit;    /* unit of the costs */
    double epsilon; /* in units of `unit`; 0 for exact transport */
    /* For squared distances, mean2 contains the squared length of each item's mean, and away2 the
     * squared distance from each entry's point to the mean, both rounded down. For the soft bound,
     * mean2 contains the total contribution of an item to its bounds, and away2 is zero. */
    float *mean2, *away2;
} bound_relaxed;

/* Lists the distinct rows of every block of `side` items in the order of their first use. Entries
 * first[b] to first[b + 1] - 1 of `row` belong to block b, and local[e] is the index of the row of
 * entry e in its block. Returns the largest number of rows in a block. `seen` has v elements; `row`
 * and `local` may be NULL. */
int64_t bound_list_rows(const measures *m, int64_t side, int64_t *first, int32_t *row,
                        int32_t *local, int64_t *seen);
/* Returns true for small supports in many dimensions, and for cost matrices. */
bool bound_relaxed_applies(const measures *m, const ground_cost *ground);
/* Creates the bound. An epsilon of 0 selects exact transport. */
ddsc_status bound_relaxed_make(ddsc_context *ctx, bound_relaxed *out, const measures *m,
                               const ground_cost *ground, double epsilon, int64_t side);
void bound_relaxed_free(ddsc_context *ctx, bound_relaxed *b);
/* Returns the number of scratch bytes for a tile. */
int64_t bound_relaxed_scratch(const bound_relaxed *b);
/* Computes the bounds of a tile, in units of `unit`. Items j0 .. j1 - 1 must be in one block, that
 * is, between consecutive multiples of `side`. */
void bound_relaxed_tile(const bound_relaxed *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, void *memory);
/* Returns the bound on one pair for squared or Euclidean distances. `memory` has
 * bound_relaxed_scratch bytes. */
float bound_relaxed_single(const bound_relaxed *b, int64_t i, int64_t j, void *memory);

/* ---- relaxed transport for all pairs, from a table of least costs (least_costs.c) ---- The items
 * are not centered, and only the potentials of one side are used. This bound is therefore lower
 * than that of bound_relaxed_tile, but far cheaper if many items share points. */
typedef struct bound_least {
    ddsc_context *ctx;
    const bound_relaxed *points; /* borrowed */
    int64_t side;                /* items per side of a tile */
    int64_t window, n_windows;   /* items per window, a multiple of side; number of windows */
    int64_t *first;              /* start of the distinct rows of each window */
    int64_t widest;              /* largest number of distinct rows in a window */
    int32_t *row;                /* rows of the support */
    int32_t *local;              /* nnz: index of an entry's row among the rows of its window */
    float *low2;                 /* v: squared lengths minus the rounding margin */
    float *weight;               /* nnz */
    float inverse, scale;        /* converts a cost to a table entry; converts a sum of table
                                  * entries to a bound */
    /* Tables of the loaded windows: blocks of items x distinct rows in the other window x 64. */
    uint8_t *table[2];
    float *gathered[2]; /* widest x stride: points in the loaded windows */
    int64_t loaded[2];
} bound_least;

typedef struct least_limits {
    double n_pairs;  /* number of required bounds */
    int64_t bytes;   /* maximum size of the loaded tables */
    bool one_window; /* tiles are not requested window by window, so only one window is allowed */
} least_limits;

/* Creates the bound from `points`, which may belong to a regularized value. Sets *applies to false
 * if the cost is not computed from squared distances, if the tables do not fit in memory, or if
 * bound_relaxed_tile would not be more expensive. */
ddsc_status bound_least_make(ddsc_context *ctx, bound_least *out, const bound_relaxed *points,
                             const least_limits *limits, bool *applies);
void bound_least_free(ddsc_context *ctx, bound_least *b);
/* Computes the tables for pairs of items in windows a <= c, using all threads. If there is only one
 * window, its table is always loaded. */
ddsc_status bound_least_load(bound_least *b, int64_t a, int64_t c);
/* Returns the number of scratch bytes for a tile. */
int64_t bound_least_scratch(const bound_least *b);
/* Computes the bounds of a tile of at most side x side pairs in the loaded windows, in units of
 * points->unit. */
void bound_least_tile(const bound_least *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                      float *out, int64_t ld, void *memory);

#endif
