/* First bounds of the regularised value between items on a plane grid, as linear minorants.
 *
 * Whatever f is on the points of an item a, with its soft c-transform
 *
 *     g(y) = -epsilon log sum_x a(x) exp((f(x) - |x - y|^2) / epsilon)
 *
 * the value of (a, b) is at least <a, f> + <b, g>, for every b: one g serves a whole block of items b, and
 * the bounds of a tile are a product of matrices. f is the potential of the affine map from the
 * Gaussian of a to that of the block. Items are put in an order in which blocks have moments alike. */
#ifndef DDSC_DISTANCE_BOUND_MINORANT_H
#define DDSC_DISTANCE_BOUND_MINORANT_H

#include "base/workspace.h"
#include "distance/sinkhorn/grid_items.h"

typedef struct bound_minorant {
    const measures *m; /* borrowed, as are the items */
    const grid_items *items;
    double epsilon, unit; /* of values */
    int32_t *order;       /* n: the item at each place of a tile */
    int64_t v;            /* cells with a point of any item: the columns of the product */
    int32_t *slot;        /* v: where they lie on the grid */
    int32_t *column;      /* by cell */
    int64_t rows, ld;     /* of the grid, in whole vectors */
    int64_t largest;      /* points of an item */
    double table[GRID_TABLE];
    double *across; /* of columns: ld x ld */
    scratch memory;
} bound_minorant;

/* With n_old > 0 only tiles of later items (rows) and the first n_old (columns) are asked for: both keep to
 * their places. */
ddsc_status bound_minorant_make(ddsc_context *ctx, bound_minorant *out, const measures *m,
                                const grid_items *items, double epsilon, double unit,
                                int64_t n_old);
void bound_minorant_free(ddsc_context *ctx, bound_minorant *b);
/* In units of `unit`, for places i0 .. i1 - 1 by j0 .. j1 - 1 of the order, at most BOUND_MINORANT_SIDE each. */
void bound_minorant_tile(const bound_minorant *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                         float *low, int64_t ld, int worker);

#endif
