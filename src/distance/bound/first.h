/* First lower bounds on transport values, for all pairs or for single ones.
 * neighbors/metric/first_bound.c chooses among them. */
#ifndef DDSC_DISTANCE_BOUND_FIRST_H
#define DDSC_DISTANCE_BOUND_FIRST_H

#include "base/device_table.h"
#include "distance/cost/ground.h"

/* ---- projections ----
 * For an orthonormal frame, W2^2 >= the sum over axes of the 1-D W2^2 of the projections, and a 1-D
 * W2^2 is the L2 distance of the quantile functions. Averages of quantile functions over bins keep
 * the inequality (Jensen), so do averages over frames, and so does any orthogonal projection of the
 * resulting vectors: |e_i - e_j|^2 <= W2^2(i, j) for the short rows e kept here. The length of what
 * the projection cut off is kept as one more coordinate (| |r_i| - |r_j| | <= |r_i - r_j|). */
typedef struct bound_projection {
    int64_t n, p; /* items, coordinates per row */
    float *row;   /* n x p */
    float *start; /* n: |e_i|^2 minus the rounding margin of start_i + start_j - 2 e_i e_j */
    int64_t n_frames, length;
    float *frame; /* n x n_frames x length: a few complete frames */
    double longest;
    double unit2; /* unit of the squares of the rows */
} bound_projection;

/* Creates the bound. Without `frames`, only the rows are stored, with more directions. */
ddsc_status bound_projection_make(ddsc_context *ctx, bound_projection *out, const measures *m,
                                  bool frames);
void bound_projection_free(ddsc_context *ctx, bound_projection *b);
/* Returns the frames for a device; n is 0 if there are none. */
device_frames bound_projection_frames(const bound_projection *b);
/* Returns the largest bound among the complete frames, instead of their average. It is used for
 * single pairs and stops at the first frame that exceeds `enough`. */
double bound_projection_pair(const bound_projection *b, int64_t i, int64_t j, double enough);

/* ---- marginals, for Euclidean and city block costs: see marginal.c ---- */
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

/* ---- relaxed transport, for any cost ----
 * Dropping one marginal leaves sum_i a_i f_i <= the value with f_i = min_j C_ij (Kusner et al. 2015). The
 * potentials g_j = min_i C_ij - f_i >= 0 still fit beside f, so sum_j b_j g_j can be added. The same
 * from the other side; the larger of the two. Points are kept in float, moved to their mean; under squared
 * distances items are moved onto each other first, and the squared distance of their means is added.
 *
 * Of the regularized value, epsilon > 0, the same with soft minima (squared distances alone): any f and its
 * soft transform g_j = -epsilon log sum_i a_i exp((f_i - C_ij) / epsilon) give sum a f + sum b g <= the value. From
 * f_i = |x_i - s|^2, s the mean of the other, with centered points x', y' and means r, s
 *
 *     |r - s|^2 + sum_i a_i |x'_i|^2 + sum_j b_j |y'_j|^2 - epsilon sum_j b_j log sum_i a_i exp(2 x'_i y'_j / epsilon),
 *
 * and the same from the other side with the same exponentials; about .997 of the value for documents. */
typedef struct bound_relaxed {
    const measures *m; /* borrowed */
    ground_cost ground;
    int64_t side;      /* items per block of columns */
    float *point;      /* v x d */
    float *norm2;      /* v: |x|^2, or the sum of |x_k| for the city block cost */
    int64_t *block;    /* start of the distinct rows of each block */
    int32_t *distinct; /* rows of the table */
    int32_t *local;    /* nnz: position of an entry's row among the distinct rows of its block */
    int64_t largest;   /* points of an item, rounded up to whole vectors */
    int64_t widest;    /* largest number of distinct rows of a block */
    double slack;
    double unit;    /* unit of the costs */
    double epsilon; /* in that unit; 0 for exact transport */
    /* For squared distances: the squared lengths of the items' means and, per entry, the squared
     * distances to them, both rounded down. For the soft bound: the total contribution of an item
     * to its bounds, and zeros. */
    float *mean2, *away2;
} bound_relaxed;

/* Returns true for small supports in many dimensions and for costs without points. */
bool bound_relaxed_applies(const measures *m, const ground_cost *ground);
/* Creates the bound. An epsilon of 0 selects exact transport. */
ddsc_status bound_relaxed_make(ddsc_context *ctx, bound_relaxed *out, const measures *m,
                               const ground_cost *ground, double epsilon, int64_t side);
void bound_relaxed_free(ddsc_context *ctx, bound_relaxed *b);
/* Returns the scratch bytes that a tile needs. */
int64_t bound_relaxed_scratch(const bound_relaxed *b);
/* Computes the bounds of a tile, in units of `unit`. Items j0 .. j1 - 1 must lie in one block,
 * between consecutive multiples of `side`. */
void bound_relaxed_tile(const bound_relaxed *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, void *memory);

#endif
