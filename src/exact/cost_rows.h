/* Where the solver gets costs from: a matrix, or two sets of points whose squared distances are
 * made again each time a row is asked for, so that a large problem needs no matrix. */
#ifndef DDSC_EXACT_COST_ROWS_H
#define DDSC_EXACT_COST_ROWS_H

#include "kernel/kernels.h"

typedef struct cost_rows {
    const kernels *k;
    int64_t n, m;
    const double *dense; /* n x m, or NULL: points */
    int64_t d, stride;
    const double *x;                  /* n x d */
    const double *y;                  /* d x stride: coordinate by coordinate */
    const int32_t *whole_x, *whole_y; /* the same points when all are whole numbers, or NULL */
    double cap;                       /* costs above this count as this */
    bool bounded;                     /* low and high are known */
    double low, high;
    double *row; /* m: room for one row */
} cost_rows;

/* Row i, valid until the next call. */
const double *cost_row(const cost_rows *c, int64_t i);
double cost_between(const cost_rows *c, int64_t i, int64_t j);
/* The same bits as cost_row(c, i)[j]. */
static inline double cost_cell(const cost_rows *c, int64_t i, int64_t j)
{
    double cost = c->dense ? c->dense[i * c->m + j] : cost_between(c, i, j);
    return cost < c->cap ? cost : c->cap;
}
/* Bounds of all costs, low <= cost <= high; tight for a matrix. */
void cost_bounds(const cost_rows *c, double *low, double *high);

#endif
