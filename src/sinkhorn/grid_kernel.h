/* Kernels of the grid engine. A function on a box of cells is an array of rows, each padded to whole
 * vectors; weights and scalings are 0 outside an item, so padding adds nothing. */
#ifndef DDSC_SINKHORN_GRID_KERNEL_H
#define DDSC_SINKHORN_GRID_KERNEL_H

#include "sinkhorn/grid_items.h"
#include "sinkhorn/pace.h"

/* See grid_mix; rows are done in whole blocks, for which out has room and coef values. */
void sinkhorn_grid_mix(const grid_mix *x, double *out, const double *coef, const double *in);

/* What an update saw where there is weight. */
typedef struct grid_half {
    double error;     /* sum |scale sum - weight| */
    double low, high; /* of the sums */
} grid_half;

/* scale += omega (weight / sum - scale). */
grid_half sinkhorn_grid_update(double *scale, const double *weight, const double *sum, int64_t n,
                               double omega);
/* sum |scale sum - weight|, and the sum of scale * sum. */
double sinkhorn_grid_error(const double *scale, const double *weight, const double *sum, int64_t n,
                           double *mass);
/* sum of weight log(x) and of weight log(x / weight), where there is weight. */
double sinkhorn_grid_log_sum(const double *weight, const double *x, int64_t n);
double sinkhorn_grid_log_ratio(const double *weight, const double *x, int64_t n);
double sinkhorn_grid_dot(const double *x, const double *y, int64_t n);

/* t = yy y^2 + xy x y + xx x^2 over a box whose first cell is at (y0, x0). */
typedef struct grid_form {
    double y0, x0, y_step, x_step;
    double yy, xy, xx;
} grid_form;

/* scale = weight exp(t), t held within +-limit; the sum of weight t, NaN when one was held. */
double sinkhorn_grid_start(double *scale, const double *weight, int64_t rows, int64_t ld,
                           const grid_form *form, double limit);
/* x = exp(x), n rounded up to whole vectors. */
void sinkhorn_grid_exp(double *x, int64_t n);

#endif
