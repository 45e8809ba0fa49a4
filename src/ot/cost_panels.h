/* Squared distances between items in many dimensions as |x|^2 + |y|^2 - 2 xy. Products are summed
 * one coordinate after the other, so a cost is a function of its two points alone, whatever is
 * computed beside it, and every search over pairs finds the same bits. */
#ifndef DDSC_OT_COST_PANELS_H
#define DDSC_OT_COST_PANELS_H

#include "linalg/points.h"

/* Below this part of the norms too much has cancelled, and the cost is made from differences. */
#define COST_TRUSTED 0x1p-10

/* The points of an item, centred, as rows and as columns. */
typedef struct cost_panel {
    int64_t n, lanes; /* lanes: n in whole vectors */
    const int32_t *index;
    double *row;    /* n (in whole blocks of rows) x d */
    double *column; /* d x lanes */
    double *norm2;  /* lanes */
} cost_panel;

/* Doubles an item of n points needs in d dimensions. */
int64_t cost_panel_room(int64_t n, int64_t d);
void cost_panel_load(cost_panel *panel, double *room, const points *table, int64_t n,
                     const int32_t *index);
/* out[p * y->n + q], good to 1e-12 relative; room in out for whole vectors and blocks of rows:
 * cost_panel_size. */
int64_t cost_panel_size(int64_t n, int64_t m);
void cost_panel_cost(const points *table, const cost_panel *x, const cost_panel *y, double *out,
                     int64_t *stride);

#endif
