/* Kernels of entropic transport on grids. A function on a box of cells is an array of rows, each
 * padded to whole vectors; weights and scalings are 0 outside an item, so padding adds nothing. */
#ifndef DDSC_OT_SINKHORN_BOXES_H
#define DDSC_OT_SINKHORN_BOXES_H

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
/* scale = weight exp(exponent), the exponent held within +-limit. */
void box_exp(double *scale, const double *weight, const double *exponent, int64_t n, double limit);
/* x = exp(x), n rounded up to whole vectors. */
void box_exp_all(double *x, int64_t n);
double box_dot(const double *x, const double *y, int64_t n);

#endif
