/* Items on a plane grid: their bounding boxes and moments. */
#ifndef DDSC_SINKHORN_GRID_ITEMS_H
#define DDSC_SINKHORN_GRID_ITEMS_H

#include "data/measures.h"

enum { GRID_SIDE = 64 };

typedef struct grid_item {
    int32_t first[2], size[2]; /* bounding box: rows, columns */
    int32_t ld;                /* of its rows, whole vectors */
    double mean[2];            /* in steps */
    double cov[3];             /* rows with rows, rows with columns, columns with columns */
} grid_item;

typedef struct grid_items {
    double step[2];
    grid_item *item;
    uint16_t *place; /* nnz: of an entry in its item's box */
} grid_items;

bool grid_items_apply(const measures *m);
/* Is an iteration over the boxes cheaper than one over all pairs of points? */
bool grid_items_pay(const measures *m);
ddsc_status grid_items_make(ddsc_context *ctx, grid_items *out, const measures *m);
void grid_items_free(ddsc_context *ctx, grid_items *items);
/* The linear map from the Gaussian of covariance a to that of b. */
void grid_affine_map(const double a[3], const double b[3], double m[3]);

#endif
