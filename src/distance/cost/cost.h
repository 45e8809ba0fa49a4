/* cost: squared Euclidean distances between points, three ways.
 *
 * - By differences (the kernels' `distances`, la_distance2): no cancellation, whatever the points.
 * - By products, |x|^2 + |y|^2 - 2 xy, where both norms are of the size of the result, else by
 *   differences again (cost_products): many dimensions, and every value still a function of its two
 *   points alone, whoever asks for it.
 * - By a matrix product about a common centre (points.h): blocks of many points, good to 1e-12, but
 *   last bits depend on the block. */
#ifndef DDSC_DISTANCE_COST_COST_H
#define DDSC_DISTANCE_COST_COST_H

#include "base/base.h"
#include "data/measures.h"

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
/* Products of a row become costs: cost[j] = own + norm2[j] - 2 cost[j]. Those that are less than
 * `trusted` of own + norm2[j], or whose norms leave (low, high), have lost too many digits; how many?
 */
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
