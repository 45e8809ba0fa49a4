/* Items on a plane grid: their bounding boxes and moments, and how a function on one box is carried to
 * another an axis at a time. Shared by the grid engine and the refined bounds of W2. */
#ifndef DDSC_DISTANCE_SINKHORN_GRID_ITEMS_H
#define DDSC_DISTANCE_SINKHORN_GRID_ITEMS_H

#include "base/simd.h"
#include "data/measures.h"
#include "distance/sinkhorn/tuning.h"

enum {
    GRID_ROWS = 4, /* rows are done in blocks of up to this many: boxes have whole blocks */
    GRID_BOX = (SINKHORN_GRID_SIDE + GRID_ROWS) * SINKHORN_GRID_SIDE, /* the largest */
    GRID_BEYOND = SIMD_LANES, /* entries of a table that are read beyond the distances in use */
    GRID_TABLE_ZERO = SINKHORN_GRID_SIDE + 2 * GRID_BEYOND, /* place of distance 0 in a table */
    GRID_TABLE = 2 * GRID_TABLE_ZERO
};

/* A function on the box is an array of rows of `ld`, whole vectors. */
typedef struct grid_item {
    int32_t first[2], size[2]; /* bounding box: rows, columns */
    int32_t ld;
    double mean[2]; /* in steps */
    double cov[3];  /* rows with rows, rows with columns, columns with columns */
} grid_item;

typedef struct grid_items {
    double step[2];
    grid_item *item;
    uint16_t *cell;  /* nnz: row * SINKHORN_GRID_SIDE + column of an entry */
    uint16_t *place; /* nnz: of an entry in its item's box */
} grid_items;

/* Plane grids of up to SINKHORN_GRID_SIDE cells along an axis. */
bool sinkhorn_grid_fits(const measures *m);
/* Do the points meet the grid to rounding? */
bool sinkhorn_grid_is_exact(const measures *m);
/* Is an iteration over the boxes cheaper than one over all pairs of points? */
bool sinkhorn_grid_pays(const measures *m);
/* With lengths in which the grid has these steps. Freed by the caller also after an error. */
ddsc_status sinkhorn_grid_items_make(ddsc_context *ctx, grid_items *out, const measures *m,
                                     const double step[2]);
void sinkhorn_grid_items_free(ddsc_context *ctx, grid_items *items);
/* The linear map from the Gaussian of covariance a to that of b. */
void sinkhorn_grid_affine(const double a[3], const double b[3], double m[3]);

/* out[r width + :] = sum over s < n of coef[r row_step + s step] * in[s in_step + :], `width` long. */
typedef struct grid_mix {
    int64_t rows, width;
    int64_t row_step, step;
    int64_t in_step, n;
} grid_mix;

/* From one box to another: the rows by a table of row distances, which gives `to`'s rows by `from`'s
 * columns, then the columns by a matrix of column distances, one row per column of `from`. Tables hold
 * functions of the distance (side 0) - (side 1), and `sign` is 1 on the way to side 1, else -1. */
typedef struct grid_carry {
    grid_mix rows, columns;
    int64_t row_at; /* in the table: the coefficient of both first rows */
} grid_carry;

static inline grid_carry sinkhorn_grid_carry(const grid_item *from, const grid_item *to, int sign)
{
    return (grid_carry){.rows = {to->size[0], from->ld, -sign, sign, from->ld, from->size[0]},
                        .columns = {to->size[0], to->ld, from->ld, 1, to->ld, from->size[1]},
                        .row_at = GRID_TABLE_ZERO + sign * (from->first[0] - to->first[0])};
}

/* The distances between two boxes along an axis, and some more: those a table is filled for. */
static inline void sinkhorn_grid_reach(const grid_item *x, const grid_item *y, int axis, int *low,
                                       int *high)
{
    *low = x->first[axis] - y->first[axis] - y->size[axis] - GRID_BEYOND;
    *high = x->first[axis] + x->size[axis] - y->first[axis] + GRID_BEYOND;
}

#endif
