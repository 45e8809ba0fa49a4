/* Kernels of the refined bound: plain pointers, caller's workspace, floats eight at a time. */
#ifndef DDSC_BOUND_REFINE_KERNELS_H
#define DDSC_BOUND_REFINE_KERNELS_H

#include <stdint.h>

enum { REFINE_LANES = 8 };

/* ---- grids: a function on a box is an array of rows, each padded to whole vectors ---- */

/* out[r][:] = sum over s < n of coef[r row_step + s step] * in[s stride + :], `lanes` wide (a
 * multiple of REFINE_LANES). Rows are done in pairs: out has room, coef a value for an even count.
 */
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

/* ---- dense: a matrix (rows x ld) between the points of two items, ld whole vectors ---- */

/* out[j] = squared distance of x to column j of y (d x ld). */
void dense_distances(float *out, const float *x, const float *y, int64_t d, int64_t ld);
/* out = v' A and out = A v. */
void dense_column_sums(float *out, const float *a, const float *v, int64_t rows, int64_t ld);
void dense_row_sums(float *out, const float *a, const float *v, int64_t rows, int64_t ld);
/* out[j] = min over i of A[i][j] - f[i], and out[i] = min over j of A[i][j] - g[j]. */
void dense_column_minima(float *out, const float *a, const float *f, int64_t rows, int64_t ld);
void dense_row_minima(float *out, const float *a, const float *g, int64_t rows, int64_t ld);

/* ---- kernels ---- */

/* out = exp(scale cost), 0 below 1e-18: those would only make denormal products. n is rounded up to
 * whole vectors. */
void kernel_exp(float *out, const float *cost, float scale, int64_t n);
void kernel_square(float *kernel, int64_t n);

/* ---- scalings ---- */

/* u = exp(f / epsilon) self; wide is overwritten, n rounded up to whole vectors of doubles. */
void scaling_exp(float *u, double *wide, const float *self, double inverse_epsilon, int64_t n);
/* v <- plain sqrt(plain / v), plain = 1 / sums: over-relaxation by 3/2 in the logarithm. */
void scaling_relax(float *v, const float *sums, int64_t n);
/* The same by 15/8, which pays where epsilon is below a step of the grid. */
void scaling_relax_more(float *v, const float *sums, int64_t n);
/* s <- sqrt(s / sums): the averaged iteration of an item with itself. */
void scaling_average(float *s, const float *sums, int64_t n);
/* Half of epsilon: the square; off with the self scaling of one level, on with that of the next. */
void scaling_square(float *u, const float *self, const float *next, int64_t n);
/* f = epsilon log(u / self) to 1e-7 of epsilon, for n rounded up to whole vectors. */
void scaling_log(float *f, const float *u, const float *self, float epsilon, int64_t n);

#endif
