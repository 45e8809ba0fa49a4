/* Kernels of the grid engine. A function on a box of cells is an array of rows, each padded to whole
 * vectors; weights and scalings are 0 outside an item, so padding adds nothing. */
#ifndef DDSC_DISTANCE_SINKHORN_GRID_KERNEL_H
#define DDSC_DISTANCE_SINKHORN_GRID_KERNEL_H

#include "distance/sinkhorn/grid_items.h"

/* See grid_mix; rows are done in whole blocks, for which out has room and coef values. */
void sinkhorn_grid_mix(const grid_mix *x, double *out, const double *coef, const double *in);

/* sum |scale sum - weight|, and the sum of scale * sum. */
double sinkhorn_grid_error(const double *scale, const double *weight, const double *sum, int64_t n,
                           double *mass);
/* sum of weight log(x / weight), where there is weight. */
double sinkhorn_grid_log_ratio(const double *weight, const double *x, int64_t n);
double sinkhorn_grid_dot(const double *x, const double *y, int64_t n);

/* t = y y + x x + yy y^2 + xy x y + xx x^2 over a box whose first cell is at (y0, x0), the coefficients
 * named after what they belong to. */
typedef struct grid_form {
    double y0, x0, y_step, x_step;
    double y, x, yy, xy, xx;
} grid_form;

/* scale = weight exp(t), t held within +-limit; returns the sum of weight t. */
double sinkhorn_grid_start(double *scale, const double *weight, int64_t rows, int64_t ld,
                           const grid_form *form, double limit);

#endif
