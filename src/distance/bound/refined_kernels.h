/* Kernels of the refined bounds: plain pointers, caller's workspace, floats eight at a time. */
#ifndef DDSC_DISTANCE_BOUND_REFINED_KERNELS_H
#define DDSC_DISTANCE_BOUND_REFINED_KERNELS_H

#include "distance/sinkhorn/grid_items.h"

enum { BOUND_VECTOR = 8 };

/* ---- grids: a function on a box is an array of rows, each padded to whole vectors ---- */

/* See grid_mix, in floats. Rows are done in pairs: out has room, coef a value for an even count. */
void bound_mix_sum(const grid_mix *x, float *out, const float *coef, const float *in);
/* The same with (min, +) in the place of (+, x). */
void bound_mix_min(const grid_mix *x, float *out, const float *coef, const float *in);

/* ---- dense: a matrix (rows x ld) between the points of two items, ld whole vectors ---- */

/* out[j] = squared distance of x to column j of y (d x ld). */
void bound_dense_distances(float *out, const float *x, const float *y, int64_t d, int64_t ld);
/* out = v' A and out = A v. */
void bound_dense_column_sums(float *out, const float *a, const float *v, int64_t rows, int64_t ld);
void bound_dense_row_sums(float *out, const float *a, const float *v, int64_t rows, int64_t ld);
/* out[j] = min over i of f[i] + A[i][j], and out[i] = min over j of g[j] + A[i][j]. */
void bound_dense_column_minima(float *out, const float *a, const float *f, int64_t rows,
                               int64_t ld);
void bound_dense_row_minima(float *out, const float *a, const float *g, int64_t rows, int64_t ld);

/* ---- kernels ---- */

/* out = exp(scale cost), 0 below 1e-18: those would only make denormal products. n is rounded up to
 * whole vectors. */
void bound_kernel_exp(float *out, const float *cost, float scale, int64_t n);
/* The kernel of half the epsilon. */
void bound_kernel_square(float *kernel, int64_t n);

/* ---- scalings ---- */

/* u = exp(f / epsilon) self; f is overwritten, n rounded up to whole vectors of doubles. */
void bound_scaling_exp(float *u, double *f, const float *self, double inverse_epsilon, int64_t n);
/* v <- plain sqrt(plain / v), plain = 1 / sums: over-relaxation by 3/2 in the logarithm, or by 15/8,
 * which pays where epsilon is below a step of the grid. */
void bound_scaling_relax(float *v, const float *sums, bool more, int64_t n);
/* s <- sqrt(s / sums): the averaged iteration of an item with itself. */
void bound_scaling_average(float *s, const float *sums, int64_t n);
/* Half of epsilon: the square; off with the self scaling of one level, on with that of the next. */
void bound_scaling_square(float *u, const float *self, const float *next, int64_t n);
/* f = epsilon log(u / self) to 1e-7 of epsilon, for n rounded up to whole vectors. */
void bound_scaling_log(float *f, const float *u, const float *self, float epsilon, int64_t n);

#endif
