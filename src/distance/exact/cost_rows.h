/* Where the solver gets costs from: a matrix, or two sets of points whose costs are
 * made again each time a row is asked for, so that a large problem needs no matrix. */
#ifndef DDSC_DISTANCE_EXACT_COST_ROWS_H
#define DDSC_DISTANCE_EXACT_COST_ROWS_H

#include "distance/cost/ground.h"

typedef struct exact_costs {
    const kernels *k;
    int64_t n, m;
    ddsc_cost kind;      /* of points */
    const double *dense; /* n x m, or NULL: points */
    int64_t d, stride;
    const double *x; /* n x d */
    const double *y; /* d x stride: coordinate by coordinate */
    const int32_t *whole_x,
        *whole_y; /* the same points when all are whole numbers, or NULL; whole_y
                                         may be read COLUMN_BLOCK beyond its end */
    double cap;   /* costs above this count as this */
    bool bounded; /* low and high are known */
    double low, high;
    double *row; /* m: scratch for one row */
} exact_costs;

/* Row i, valid until the next call. */
const double *exact_cost_row(const exact_costs *c, int64_t i);
/* One of them with the same bits: the kernel sums coordinates in their order too. */
double exact_cost_between(const exact_costs *c, int64_t i, int64_t j);
static inline double exact_cost_cell(const exact_costs *c, int64_t i, int64_t j)
{
    double cost = c->dense ? c->dense[i * c->m + j] : exact_cost_between(c, i, j);
    return cost < c->cap ? cost : c->cap;
}
/* Bounds of all costs, low <= cost <= high; tight for a matrix. */
void exact_cost_bounds(const exact_costs *c, double *low, double *high);

#endif
