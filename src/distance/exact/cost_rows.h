/* cost_rows: the costs of one problem, as the solver reads them.
 *
 * Costs come from a matrix or from two sets of points. Costs between points are recomputed each
 * time a row is requested, so a large problem does not need n x m memory. Rows and single entries
 * have the same bits. All costs are capped at `cap`, which is infinite unless the solver lowers
 * it. */
#ifndef DDSC_DISTANCE_EXACT_COST_ROWS_H
#define DDSC_DISTANCE_EXACT_COST_ROWS_H

#include "distance/cost/ground.h"

typedef struct exact_costs {
    const kernels *k;
    int64_t n, m;
    ddsc_cost kind;      /* cost between points */
    const double *dense; /* n x m, or NULL to use the points */
    int64_t d, stride;
    const double *x; /* n x d */
    const double *y; /* d x stride, one coordinate after another */
    const int32_t *whole_x,
        /* The same points as integers, or NULL if some coordinate is not an integer. whole_y may be
         * read up to COLUMN_BLOCK entries beyond its end. */
        *whole_y;
    double cap;   /* larger costs are replaced with this value */
    bool bounded; /* low and high are known */
    double low, high;
    double *row; /* m: scratch for one row */
} exact_costs;

/* Returns row i, which is valid until the next call. */
const double *exact_cost_row(const exact_costs *c, int64_t i);
/* Returns one entry, with the same bits as in exact_cost_row. */
double exact_cost_between(const exact_costs *c, int64_t i, int64_t j);
static inline double exact_cost_cell(const exact_costs *c, int64_t i, int64_t j)
{
    double cost = c->dense ? c->dense[i * c->m + j] : exact_cost_between(c, i, j);
    return cost < c->cap ? cost : c->cap;
}
/* Computes bounds on all costs, low <= cost <= high. For a matrix, the bounds are the smallest and
 * the largest entry. */
void exact_cost_bounds(const exact_costs *c, double *low, double *high);

#endif
