/* A graph's operator with its items in another order. */
#ifndef DDSC_NUMERIC_EIGEN_ORDER_H
#define DDSC_NUMERIC_EIGEN_ORDER_H

#include "base/team.h"
#include "numeric/graph/graph.h"

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

/* Over ranks, where none has all rows: each puts its own rows in an order in which those of one neighbourhood stand
 * together. item[p - own.begin]: the own item at place p; place: of every item, on every rank. */
ddsc_status order_own(ddsc_context *ctx, int32_t *item, int32_t *place, const sparse *m,
                      team_part own, const int32_t *component);

#endif
