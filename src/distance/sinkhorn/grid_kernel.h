/* grid_kernel: inner loops of the grid engine. A function on a box of cells is an array of rows,
 * each padded to whole vectors. Weights and scalings are 0 outside an item, so the padding
 * contributes nothing. */
#ifndef DDSC_DISTANCE_SINKHORN_GRID_KERNEL_H
#define DDSC_DISTANCE_SINKHORN_GRID_KERNEL_H

#include "distance/sinkhorn/grid_items.h"

/* Computes a matrix product along one axis (grid_mix). Rows are processed in whole blocks, so `out`
 * and `coef` must be padded to whole blocks of rows. */
void sinkhorn_grid_mix(const grid_mix *x, double *out, const double *coef, const double *in);

/* Returns the sum of |scale sum - weight|, and stores the sum of scale * sum in *mass. */
double sinkhorn_grid_error(const double *scale, const double *weight, const double *sum, int64_t n,
                           double *mass);
/* Returns the sum of weight log(x / weight) over the entries with positive weight. */
double sinkhorn_grid_log_ratio(const double *weight, const double *x, int64_t n);
double sinkhorn_grid_dot(const double *x, const double *y, int64_t n);

/* The quadratic form t = y y + x x + yy y^2 + xy x y + xx x^2 over a box whose first cell is at
 * (y0, x0). Each coefficient is named after the term it multiplies. */
typedef struct grid_form {
    double y0, x0, y_step, x_step;
    double y, x, yy, xy, xx;
} grid_form;

/* Computes scale = weight exp(t), with t limited to +-limit, and returns the sum of weight t. */
double sinkhorn_grid_start(double *scale, const double *weight, int64_t rows, int64_t ld,
                           const grid_form *form, double limit);

#endif
