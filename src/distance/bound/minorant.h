/* minorant: first bounds on the regularized value between items on a plane grid, as linear
 * minorants.
 *
 * Let f be any function on the points of an item a, with soft c-transform
 *
 *     g(y) = -epsilon log sum_x a(x) exp((f(x) - |x - y|^2) / epsilon).
 *
 * The value of (a, b) is then at least <a, f> + <b, g> for every item b. One g therefore serves a
 * whole block of items b, and the bounds of a tile are a matrix product. f is the potential of the
 * affine map from the Gaussian of a to the Gaussian of the block. The items are ordered so that
 * items in the same block have similar moments. */
#ifndef DDSC_DISTANCE_BOUND_MINORANT_H
#define DDSC_DISTANCE_BOUND_MINORANT_H

#include "base/workspace.h"
#include "distance/sinkhorn/grid_items.h"

typedef struct bound_minorant {
    const measures *m; /* borrowed, as is `items` */
    const grid_items *items;
    double epsilon, unit; /* unit of the values */
    int32_t *order;       /* n: the item at each position of a tile */
    int64_t v;            /* number of occupied cells, which are the columns of the product */
    int32_t *slot;        /* v: grid cell of each column */
    int32_t *column;      /* column of each grid cell */
    int64_t rows, ld;     /* size of the grid, ld in whole vectors */
    int64_t largest;      /* largest number of points of an item */
    double table[GRID_TABLE];
    double *across; /* ld x ld: kernel along the columns */
    scratch memory;
} bound_minorant;

/* Creates the bound. If n_old > 0, callers may only request tiles with later items as rows and the
 * first n_old items as columns, and the order keeps these two ranges separate. */
ddsc_status bound_minorant_make(ddsc_context *ctx, bound_minorant *out, const measures *m,
                                const grid_items *items, double epsilon, double unit,
                                int64_t n_old);
void bound_minorant_free(ddsc_context *ctx, bound_minorant *b);
/* Computes the bounds of a tile, in units of `unit`, for positions i0 .. i1 - 1 and j0 .. j1 - 1 of
 * the order. Each range has at most BOUND_MINORANT_SIDE positions. */
void bound_minorant_tile(const bound_minorant *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                         float *low, int64_t ld, int worker);

#endif
