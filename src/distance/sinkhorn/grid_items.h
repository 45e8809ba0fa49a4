/* grid_items: bounding boxes and moments of items on a plane grid, and the transfer of a function
 * from one box to another, one axis at a time. The grid engine and the refined bounds on W2 share
 * these functions. */
#ifndef DDSC_DISTANCE_SINKHORN_GRID_ITEMS_H
#define DDSC_DISTANCE_SINKHORN_GRID_ITEMS_H

#include "base/simd.h"
#include "data/measures.h"
#include "distance/sinkhorn/tuning.h"

enum {
    GRID_ROWS = 4, /* number of rows that are processed together; boxes are padded to a multiple of
                    * this */
    /* number of cells of the largest box */
    GRID_BOX = (SINKHORN_GRID_SIDE + GRID_ROWS) * SINKHORN_GRID_SIDE,
    GRID_BEYOND = SIMD_LANES, /* number of table entries that may be read beyond the used
                               * distances */
    GRID_TABLE_ZERO = SINKHORN_GRID_SIDE + 2 * GRID_BEYOND, /* index of distance 0 in a table */
    GRID_TABLE = 2 * GRID_TABLE_ZERO
};

/* An item on the grid. A function on its box is an array of rows of `ld` entries, in whole vectors.
 */
typedef struct grid_item {
    int32_t first[2], size[2]; /* bounding box: rows, columns */
    int32_t ld;
    double mean[2];  /* in steps */
    double local[2]; /* the mean relative to the first row and column of the box */
    double cov[3];   /* covariances: row-row, row-column, column-column */
} grid_item;

typedef struct grid_items {
    double step[2];
    grid_item *item;
    uint16_t *cell;  /* nnz: row * SINKHORN_GRID_SIDE + column of an entry */
    uint16_t *place; /* nnz: index of an entry in its item's box */
} grid_items;

/* Returns the difference between the means along an axis, in steps. Unlike in a difference of
 * `mean`, the rounding error does not depend on the origin of the grid. */
static inline double sinkhorn_grid_gap(const grid_item *x, const grid_item *y, int axis)
{
    return (double)(x->first[axis] - y->first[axis]) + (x->local[axis] - y->local[axis]);
}

/* Returns true for a plane grid of at most SINKHORN_GRID_SIDE cells along each axis. */
bool sinkhorn_grid_fits(const measures *m);
/* Returns true if the points are on the grid up to rounding errors. */
bool sinkhorn_grid_is_exact(const measures *m);
/* Returns true if the grid of the set has the steps of the frame, up to rounding errors. */
bool sinkhorn_grid_is_in(const measures *m, const pair_frame *frame);
/* Returns true if an iteration over the boxes is cheaper than an iteration over all pairs of
 * points. */
bool sinkhorn_grid_is_faster(const measures *m);
/* Creates the items. The grid steps define the unit of length. The caller must free them even after
 * an error. */
ddsc_status sinkhorn_grid_items_make(ddsc_context *ctx, grid_items *out, const measures *m,
                                     const double step[2]);
/* Creates the appended items, from item `first` on. */
ddsc_status sinkhorn_grid_items_grow(grid_items *items, const measures *m, int64_t first);
void sinkhorn_grid_items_free(ddsc_context *ctx, grid_items *items);
/* Computes the linear map between the Gaussians with covariances a and b. */
void sinkhorn_grid_affine(const double a[3], const double b[3], double m[3]);

/* Computes out[r width + :] = sum over s < n of coef[r row_step + s step] * in[s in_step + :] for
 * vectors of length `width`. */
typedef struct grid_mix {
    int64_t rows, width;
    int64_t row_step, step;
    int64_t in_step, n;
} grid_mix;

/* Transfers a function from one box to another. `rows` applies a table of row distances; the result
 * has the rows of `to` and the columns of `from`. `columns` then applies a matrix of column
 * distances, with one row per column of `from`. Tables contain functions of the distance (side 0) -
 * (side 1). `sign` is 1 for a transfer to side 1, and -1 otherwise. */
typedef struct grid_carry {
    grid_mix rows, columns;
    int64_t row_at; /* table index of the coefficient between the first two rows */
} grid_carry;

static inline grid_carry sinkhorn_grid_carry(const grid_item *from, const grid_item *to, int sign)
{
    return (grid_carry){.rows = {to->size[0], from->ld, -sign, sign, from->ld, from->size[0]},
                        .columns = {to->size[0], to->ld, from->ld, 1, to->ld, from->size[1]},
                        .row_at = GRID_TABLE_ZERO + sign * (from->first[0] - to->first[0])};
}

/* Computes the range of distances for which a table is filled: all distances between two boxes
 * along an axis, plus a margin of GRID_BEYOND. */
static inline void sinkhorn_grid_reach(const grid_item *x, const grid_item *y, int axis, int *low,
                                       int *high)
{
    *low = x->first[axis] - y->first[axis] - y->size[axis] - GRID_BEYOND;
    *high = x->first[axis] + x->size[axis] - y->first[axis] + GRID_BEYOND;
}

#endif
