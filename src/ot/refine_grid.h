/* Kernels of the refined bound on a plane grid: plain pointers, caller's workspace. A function on a
 * box of the grid is an array of rows, each padded to whole vectors; what couples two boxes is a
 * product (or sum) of one factor an axis, so it is applied an axis at a time. */
#ifndef DDSC_OT_REFINE_GRID_H
#define DDSC_OT_REFINE_GRID_H

#include <stdint.h>

/* out[r][:] = sum over s < n of coef[r row_step + s step] * in[s stride + :], `lanes` wide (a
 * multiple of SIMD_LANES). Rows are done in pairs: out has room, coef a value for an even count. */
typedef struct grid_mix {
    double *out;
    int64_t ld, rows, lanes;
    const double *coef;
    int64_t row_step, step;
    const double *in;
    int64_t stride, n;
} grid_mix;

void grid_mix_sum(const grid_mix *x);
/* The same with (min, +) in the place of (+, x). */
void grid_mix_min(const grid_mix *x);

#endif
