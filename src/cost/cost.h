/* cost: squared Euclidean distances between points, for single pairs of items, for blocks of points
 * and for whole tiles of items at once. Every value is a function of its two points alone, whoever
 * asks for it. */
#ifndef DDSC_COST_COST_H
#define DDSC_COST_COST_H

#include "base/base.h"
#include "data/measures.h"

/* cost (n x m, row-major) of items x, y of a set, by differences (no cancellation). */
void cost_items(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost);

/* Points of a set by their rows in its table. */
typedef struct point_list {
    const measures *m;
    int64_t n;
    const int32_t *index;
} point_list;

/* |x|^2 of each, good to (d/8 + 4) 2^-53; returns the largest. 8 dimensions or more. */
double cost_norms(const point_list *p, double *norm2);
/* Are squares of this size, the largest of a pair's, safe to add and subtract? */
static inline bool cost_products_fit(double largest)
{
    return largest > 1e-160 && largest < 1e160;
}
/* cost (x->n x y->n) by products where that is accurate and by differences elsewhere: each is good
 * to 32 (d/8 + 6) 2^-53 of itself and a function of its two points. */
void cost_products(double *cost, const point_list *x, const double *x_norm, const point_list *y,
                   const double *y_norm);
/* Median of squared distances over a fixed sample of point pairs drawn from different items. */
ddsc_status cost_median(ddsc_context *ctx, const measures *m, double *median);

#endif
