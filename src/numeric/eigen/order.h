/* order: reorders the items of a graph's operator so that neighbors are close in memory. */
#ifndef DDSC_NUMERIC_EIGEN_ORDER_H
#define DDSC_NUMERIC_EIGEN_ORDER_H

#include "base/team.h"
#include "numeric/graph/graph.h"

typedef struct reordered {
    int32_t *item;  /* the item at each position */
    int32_t *place; /* the position of each item */
    sparse m;       /* the columns of each row may be in any order */
    double *degree;
    int32_t *component;
} reordered;

ddsc_status order_make(ddsc_context *ctx, reordered *r, const sparse *m, const double *degree,
                       const int32_t *component);
void order_free(ddsc_context *ctx, reordered *r);

/* Orders the rows of each rank so that neighboring items are close together. Used for teams in
 * which no rank has all rows. item[p - own.begin] is this rank's item at position p. place[i] is
 * the position of item i, and is set for all items on every rank. */
ddsc_status order_own(ddsc_context *ctx, int32_t *item, int32_t *place, const sparse *m,
                      team_part own, const int32_t *component);

#endif
