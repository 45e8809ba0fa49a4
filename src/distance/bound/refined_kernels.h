/* refined_kernels: inner loops for the refined bounds. They use plain pointers and the caller's
 * workspace, and process eight floats at a time. */
#ifndef DDSC_DISTANCE_BOUND_REFINED_KERNELS_H
#define DDSC_DISTANCE_BOUND_REFINED_KERNELS_H

#include "distance/sinkhorn/grid_items.h"

enum { BOUND_VECTOR = 8 };

/* ---- grids: a function on a box is an array of rows, each padded to whole vectors ---- */

/* Computes a matrix product along one axis (grid_mix) in floats. Rows are processed in pairs, so
 * `out` and `coef` must be padded to an even number of rows. */
void bound_mix_sum(const grid_mix *x, float *out, const float *coef, const float *in);
/* Computes the same product with (min, +) instead of (+, x). */
void bound_mix_min(const grid_mix *x, float *out, const float *coef, const float *in);

/* ---- dense: a matrix (rows x ld) between the points of two items, ld whole vectors ---- */

/* Computes out[j] = squared distance between x and column j of y (d x ld). */
void bound_dense_distances(float *out, const float *x, const float *y, int64_t d, int64_t ld);
/* These functions compute out = v' A and out = A v. */
void bound_dense_column_sums(float *out, const float *a, const float *v, int64_t rows, int64_t ld);
void bound_dense_row_sums(float *out, const float *a, const float *v, int64_t rows, int64_t ld);
/* These functions compute out[j] = min over i of f[i] + A[i][j], and out[i] = min over j of g[j] +
 * A[i][j]. */
void bound_dense_column_minima(float *out, const float *a, const float *f, int64_t rows,
                               int64_t ld);
void bound_dense_row_minima(float *out, const float *a, const float *g, int64_t rows, int64_t ld);

/* ---- kernels ---- */

/* Computes out = exp(scale cost), with values below 1e-18 set to 0 because their products would be
 * denormal. n is rounded up to whole vectors. */
void bound_kernel_exp(float *out, const float *cost, float scale, int64_t n);
/* Squares the kernel, which halves epsilon. */
void bound_kernel_square(float *kernel, int64_t n);

/* ---- scalings ---- */

/* Computes u = exp(f / epsilon) self. f is overwritten, and n is rounded up to whole vectors of
 * doubles. */
void bound_scaling_exp(float *u, double *f, const float *self, double inverse_epsilon, int64_t n);
/* Computes v <- plain sqrt(plain / v) with plain = 1 / sums. This is an over-relaxation by 3/2 in
 * the logarithm. If `more` is true, the factor is 15/8, which converges faster if epsilon is
 * smaller than a grid step. */
void bound_scaling_relax(float *v, const float *sums, bool more, int64_t n);
/* Computes s <- sqrt(s / sums), the averaged iteration for an item with itself. */
void bound_scaling_average(float *s, const float *sums, int64_t n);
/* Halves epsilon: divides u by the self-scaling of this level, squares the result, and multiplies
 * it by the self-scaling of the next level. */
void bound_scaling_square(float *u, const float *self, const float *next, int64_t n);
/* Computes f = epsilon log(u / self) with an error of 1e-7 epsilon, for n rounded up to whole
 * vectors. */
void bound_scaling_log(float *f, const float *u, const float *self, float epsilon, int64_t n);

#endif
