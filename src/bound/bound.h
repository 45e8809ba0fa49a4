/* Lower bounds of W2^2 that cost far less than a solve. Each states why it is valid; rounding is on
 * the safe side: a bound never exceeds the true value by more than `slack` says. */
#ifndef DDSC_BOUND_BOUND_H
#define DDSC_BOUND_BOUND_H

#include <math.h>

#include "data/measures.h"

/* Floats have a short range: what is kept in them is divided by a power of two of the size of the
 * support, or by its square. */
static inline double bounds_unit(const measures *m)
{
    double extent = 0;
    int exponent = 0;
    for (int64_t k = m->d; k < m->v * m->d; k++)
        extent = fmax(extent, fabs(m->support[k] - m->support[k % m->d]));
    frexp(extent, &exponent);
    return ldexp(1, BASE_MAX(exponent, -500)); /* its square is not 0 */
}

/* ---- projections ----
 * For an orthonormal frame, W2^2 >= the sum over axes of the 1-D W2^2 of the projections, and a 1-D
 * W2^2 is the L2 distance of the quantile functions. Averages of quantile functions over bins keep
 * the inequality (Jensen), so do averages over frames, and so does any orthogonal projection of the
 * resulting vectors: |e_i - e_j|^2 <= W2^2(i, j) for the short rows e kept here. The length of what
 * the projection cut off is kept as one more coordinate (| |r_i| - |r_j| | <= |r_i - r_j|). */
typedef struct projection_bound {
    int64_t n, p; /* items, coordinates a row */
    float *row;   /* n x p */
    float *norm2; /* n: |e_i|^2 */
    double slack; /* relative to norm2_i + norm2_j: rounding of the float products */
    int64_t n_frames, length;
    float *frame; /* n x n_frames x length: a few frames in full */
    double longest;
    double unit2; /* of the rows' squares */
} projection_bound;

ddsc_status projection_bound_make(ddsc_context *ctx, projection_bound *out, const measures *m);
void projection_bound_free(ddsc_context *ctx, projection_bound *b);
/* The rows alone (n x columns), in some unit. */
ddsc_status projection_rows_make(ddsc_context *ctx, float **rows, int64_t *columns,
                                 const measures *m);
/* Bounds for items [i0, i1) x [j0, j1) into out (row-major, ld), in units of unit2: already lowered
 * by the slack. */
void projection_bound_tile(const projection_bound *b, int64_t i0, int64_t i1, int64_t j0,
                           int64_t j1, float *out, int64_t ld);
/* The largest bound among the frames kept in full rather than their average: for single pairs.
 * Stops at the first frame that exceeds `enough`. */
double projection_bound_pair(const projection_bound *b, int64_t i, int64_t j, double enough);

/* ---- marginals of grids ----
 * The sum over the axes of a frame of the exact 1-D W2^2 of the projections, for the frames whose
 * projections stay on a grid; see marginal.c. */
enum { MARGINAL_FRAMES = 2, MARGINAL_LINES = 2 * GRID_MAX_DIM };

typedef struct marginal_line {
    int32_t step[GRID_MAX_DIM]; /* place on the line: sum of step times place in the grid - first */
    int64_t first, at, length;  /* at: where the line begins in a row */
} marginal_line;

typedef struct marginal_frame {
    int first, end; /* lines */
    double unit;    /* of sums of whole numbers */
} marginal_frame;

typedef struct marginal_bound {
    int n_frames, n_lines;
    marginal_frame frame[MARGINAL_FRAMES];
    marginal_line line[MARGINAL_LINES];
    int64_t width;
    int16_t *row; /* n x width: distribution functions on each line, then ones */
    double slack; /* for points that are off the grid by rounding */
} marginal_bound;

bool marginal_applies(const measures *m);
ddsc_status marginal_bound_make(ddsc_context *ctx, marginal_bound *out, const measures *m);
void marginal_bound_free(ddsc_context *ctx, marginal_bound *b);
/* The largest over the frames; stops as soon as it exceeds `enough`. */
double marginal_bound_pair(const marginal_bound *b, int64_t i, int64_t j, double enough);

/* ---- relaxed transport ----
 * Dropping one marginal leaves sum_i a_i f_i <= W2^2 with f_i = min_j C_ij (Kusner et al. 2015).
 * The potentials g_j = min_i C_ij - f_i >= 0 still fit beside f, so sum_j b_j g_j can be added. The
 * same from the other side; the larger of the two. Points are kept in float, moved to their mean.
 */
typedef struct relaxed_bound {
    const measures *m; /* borrowed */
    int64_t side;      /* items a block of columns */
    float *point;      /* v x d */
    float *norm2;      /* v */
    int64_t *block;    /* where the distinct rows of each block begin */
    int32_t *distinct; /* rows of the table */
    int32_t *local;    /* nnz: position of an entry's row among the distinct of its block */
    int64_t largest;   /* points of an item, in whole vectors */
    int64_t widest;    /* distinct rows of a block */
    double slack;
    double unit2; /* of squared distances */
} relaxed_bound;

ddsc_status relaxed_bound_make(ddsc_context *ctx, relaxed_bound *out, const measures *m,
                               int64_t side);
void relaxed_bound_free(ddsc_context *ctx, relaxed_bound *b);
/* Floats of workspace a tile needs. */
int64_t relaxed_bound_room(const relaxed_bound *b);
/* In units of unit2. Items j0 .. j1 - 1 lie in one block, that is between multiples of `side`. */
void relaxed_bound_tile(const relaxed_bound *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, float *room);

/* ---- dual cuts ----
 * Feasible potentials f of an item, c-transformed to the whole support table, f^c(y) = min_x C(x,
 * y) - f(x), give W2^2(item, other) >= sum a f + sum b f^c for every other item: linear in the
 * other. */
typedef struct cut_table {
    int64_t v;
    float *cost; /* v x v: squared distances of the support points, in units of unit2 */
    double largest, unit2;
} cut_table;

ddsc_status cut_table_make(ddsc_context *ctx, cut_table *out, const measures *m);
void cut_table_free(ddsc_context *ctx, cut_table *t);
/* potential has v slots; constant holds sum a f, lowered by the rounding of the float table. Both
 * are in units of unit2. */
void cut_make(const cut_table *t, item_view item, const double *f, double *constant,
              float *potential);

/* ---- refined potentials ----
 * Whatever f is, (f^cc, f^c) is feasible, so W2^2 >= sum a f^cc + sum b f^c; see refine.c for an f
 * that makes it tight (about 0.96 of the distance of near images). */
typedef struct refine_bound refine_bound;

/* Is there a refined bound for this set, and is it worth starting solves from it? */
bool refine_applies(const measures *m);
bool refine_starts(const measures *m);
ddsc_status refine_make(ddsc_context *ctx, refine_bound **out, const measures *m);
void refine_free(refine_bound *b);
/* A bound for items i, j. Stops once it exceeds `enough`, or when it hardly ever will. */
double refine_pair(refine_bound *b, int64_t i, int64_t j, double enough, int worker);
/* The best that is to be had below the cost of a solve; a start of the same pair is free then. */
double refine_last(refine_bound *b, int64_t i, int64_t j, double enough, int worker);
/* Potentials of item j from which to solve the pair, until the worker's next call; NULL: none to be
 * had. Only for sets that refine_starts says yes to. */
const double *refine_start(refine_bound *b, int64_t i, int64_t j, int worker);

#endif
