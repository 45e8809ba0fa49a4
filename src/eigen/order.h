/* A graph's operator with its items in another order. */
#ifndef DDSC_EIGEN_ORDER_H
#define DDSC_EIGEN_ORDER_H

#include "graph/graph.h"

typedef struct reordered {
    int32_t *item;  /* the item at each place */
    int32_t *place; /* of each item */
    sparse m;       /* columns in any order */
    double *degree;
    int32_t *component;
} reordered;

ddsc_status order_make(ddsc_context *ctx, reordered *r, const sparse *m, const double *degree,
                       const int32_t *component);
void order_free(ddsc_context *ctx, reordered *r);

#endif
