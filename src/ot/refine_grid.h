/* Kernels of the refined bound: plain pointers, caller's workspace, floats eight at a time. A
 * function on a box of the grid is an array of rows, each padded to whole vectors; what couples two
 * boxes is a product (or sum) of one factor an axis, so it is applied an axis at a time. */
#ifndef DDSC_OT_REFINE_GRID_H
#define DDSC_OT_REFINE_GRID_H

#include <stdint.h>

enum { GRID_LANES = 8 };

/* out[r][:] = sum over s < n of coef[r row_step + s step] * in[s stride + :], `lanes` wide (a
 * multiple of GRID_LANES). Rows are done in pairs: out has room, coef a value for an even count. */
typedef struct grid_mix {
    float *out;
    int64_t ld, rows, lanes;
    const float *coef;
    int64_t row_step, step;
    const float *in;
    int64_t stride, n;
} grid_mix;

void grid_mix_sum(const grid_mix *x);
/* The same with (min, +) in the place of (+, x). */
void grid_mix_min(const grid_mix *x);

/* v <- plain sqrt(plain / v), plain = 1 / sums: over-relaxation by 3/2 in the logarithm. */
void scaling_relax(float *v, const float *sums, int64_t n);
/* s <- sqrt(s / sums): the averaged iteration of an item with itself. */
void scaling_average(float *s, const float *sums, int64_t n);
/* Half of epsilon: the square; off with the self scaling of one level, on with that of the next. */
void scaling_square(float *u, const float *self, const float *next, int64_t n);
/* f = epsilon log(u / self) to 1e-7 of epsilon, for n rounded up to whole vectors. */
void scaling_log(float *f, const float *u, const float *self, float epsilon, int64_t n);

#endif
