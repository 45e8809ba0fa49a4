/* Kernels of entropic transport on grids. A function on a box of cells is an array of rows, each
 * padded to whole vectors; weights and scalings are 0 outside an item, so padding adds nothing. */
#ifndef DDSC_SINKHORN_GRID_KERNEL_H
#define DDSC_SINKHORN_GRID_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { BOX_ROWS = 4 }; /* rows are done in blocks of this many: arrays have room for whole blocks */

/* out[r][:] = sum over s < n of coef[r row_step + s step] * in[s in_ld + :], `ld` wide. */
typedef struct box_mix {
    double *out;
    int64_t rows, ld;
    const double *coef;
    int64_t row_step, step;
    const double *in;
    int64_t in_ld, n;
} box_mix;

void box_mix_run(const box_mix *x);

/* What an update saw where there is weight. */
typedef struct box_report {
    double error;     /* sum |scale sum - weight| */
    double low, high; /* of the sums */
} box_report;

/* scale += omega (weight / sum - scale). */
box_report box_update(double *scale, const double *weight, const double *sum, int64_t n,
                      double omega);
/* sum |scale sum - weight|, and the sum of scale * sum. */
double box_error(const double *scale, const double *weight, const double *sum, int64_t n,
                 double *mass);
/* sum of weight log(x) and of weight log(x / weight), where there is weight. */
double box_log_sum(const double *weight, const double *x, int64_t n);
double box_log_ratio(const double *weight, const double *x, int64_t n);
/* t = yy y^2 + xy x y + xx x^2 over a box whose first cell is at (y0, x0), one step a cell. */
typedef struct box_form {
    double y0, x0, y_step, x_step;
    double yy, xy, xx;
} box_form;

/* scale = weight exp(t), t held within +-limit; the sum of weight t, *held tells whether one was.
 */
double box_start(double *scale, const double *weight, int64_t rows, int64_t ld,
                 const box_form *form, double limit, bool *held);
/* x = exp(x), n rounded up to whole vectors. */
void box_exp_all(double *x, int64_t n);
double box_dot(const double *x, const double *y, int64_t n);

#endif
