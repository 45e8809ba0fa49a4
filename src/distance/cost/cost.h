/* cost: squared Euclidean distances between points, computed in three ways. - By differences (the
 * kernel `distances`, la_distance2), without cancellation. - By inner products, |x|^2 + |y|^2 - 2
 * xy (cost_products), for many dimensions. If the result is much smaller than the norms, it is
 * recomputed by differences. Each value depends only on its two points. - By a matrix product
 * relative to a common center (points.h), for blocks of many points. The relative error is about
 * 1e-12, but the last bits depend on the block. */
#ifndef DDSC_DISTANCE_COST_COST_H
#define DDSC_DISTANCE_COST_COST_H

#include "base/base.h"
#include "data/measures.h"

/* A list of points, which are rows of the point table of a set. */
typedef struct point_list {
    const measures *m;
    int64_t n;
    const int32_t *index;
} point_list;

/* Computes |x|^2 of each point with a relative error of at most (d/8 + 4) 2^-53, and returns the
 * largest value. Requires at least 8 dimensions. */
double cost_norms(const point_list *p, double *norm2);
/* Returns true if squared norms up to `largest` can be added and subtracted without overflow or
 * underflow. */
static inline bool cost_products_fit(double largest)
{
    return largest > 1e-160 && largest < 1e160;
}
/* Computes cost (x->n x y->n) by products where they are accurate, and by differences elsewhere.
 * Each value has a relative error of at most 32 (d/8 + 6) 2^-53, and depends only on its two
 * points. */
void cost_products(double *cost, const point_list *x, const double *x_norm, const point_list *y,
                   const double *y_norm);
/* cost_from_products converts a row of products into costs: cost[j] = own + norm2[j] - 2 cost[j].
 * The function returns the number of costs that lost too many digits: costs below `trusted` times
 * own + norm2[j], and costs whose sum of norms is outside (low, high). */
typedef struct cost_limits {
    double trusted, low, high;
} cost_limits;
static inline bool cost_is_spoilt(double cost, double norms, const cost_limits *limits)
{
    return !((cost >= limits->trusted * norms) & (norms > limits->low) & (norms < limits->high));
}
int64_t cost_from_products(double *cost, double own, const double *norm2, int64_t n,
                           const cost_limits *limits);

#endif
