/* dense_kernel: inner loops of the dense engine. They use plain arrays, do not allocate memory and
 * do not use a context.
 *
 * A plan is stored as P_ij = u_i K_ij v_j with K_ij = exp((f_i + g_j - C_ij) / eps). The potentials
 * f and g contain the scalings of earlier iterations: absorption adds eps log(u / a) to f and
 * resets u to a. Rows are padded to SINKHORN_ROW_BLOCK and columns to SIMD_LANES with zeros, so
 * that no loop has a remainder. Padded entries have zero weight and no mass. */
#ifndef DDSC_DISTANCE_SINKHORN_DENSE_KERNEL_H
#define DDSC_DISTANCE_SINKHORN_DENSE_KERNEL_H

#include "distance/sinkhorn/pace.h"

enum { SINKHORN_ROW_BLOCK = 4 };

/* Lower limit for divisors, so that the quotient is finite if a kernel sum underflows to 0. The
 * observed range of the sums reveals such cases. */
#define SINKHORN_TINY_SUM 1e-290

/* Error and range of the sums in a half step, over the entries with positive weight. */
typedef struct sinkhorn_half {
    double error;     /* sum of |scale sum - weight| */
    double low, high; /* range of the sums */
} sinkhorn_half;

/* Computes scale += omega (weight / sum - scale) for n entries in whole vectors. */
sinkhorn_half sinkhorn_update(double *scale, const double *weight, const double *sum, int64_t n,
                              double omega);
/* Computes x = exp(min(x, limit)), with n rounded up to whole vectors. */
void sinkhorn_exp(double *x, int64_t n, double limit);

/* One side of the problem: rows or columns. The arrays are padded to whole vectors. */
typedef struct dense_side {
    int64_t n;
    double *weight;    /* a or b */
    double *scale;     /* u or v */
    double *potential; /* f or g: absorbed potentials of the reduced cost */
    double *sum;       /* K v or K' u */
    /* potential that was subtracted from the cost; it is added to the results */
    double *base;
    double *last;  /* potentials of the previous level; after a solve, log(scale / weight) */
    int32_t *kept; /* index of each entry in the problem */
} dense_side;

typedef struct dense_arrays {
    int64_t rows, stride; /* padded size */
    double *cost;         /* rows x stride: reduced cost, >= 0; infinite in padded columns */
    double *kernel;       /* rows x stride */
    double *row_pad;      /* rows: 1 in the padding, else 0 */
    dense_side row, column;
} dense_arrays;

/* Computes the kernel from the absorbed potentials, with exponents of at most `limit`. Returns
 * false if the largest exponent in a row or column is outside +-limit, in which case the caller
 * should reduce the potentials first. */
bool sinkhorn_dense_fill(dense_arrays *s, double epsilon, double limit);
/* Sets g_j = min_i C_ij - f_i, then f_i = min_j C_ij - g_j. The largest exponent of every row and
 * column is then 0. */
void sinkhorn_dense_reduce(dense_arrays *s);
/* Subtracts f + g from the cost, replaces negative results with 0, and returns the largest finite
 * entry. */
double sinkhorn_dense_subtract(dense_arrays *s);
/* Runs one relaxed iteration u += w (a / K v - u), v += w (b / K' u - v), reading the kernel
 * once. */
sinkhorn_seen sinkhorn_dense_pass(dense_arrays *s, double omega);
/* Computes row.sum = K v and returns the L1 error of the rows. */
double sinkhorn_dense_measure(dense_arrays *s);
/* Makes the columns exact with v = b / K' u, and then calls sinkhorn_dense_measure. */
double sinkhorn_dense_settle(dense_arrays *s);
/* Computes plan = u K v / sqrt(b), a factor in the Hessian of the semi-dual. */
void sinkhorn_dense_root_plan(const dense_arrays *s, double *plan);
/* Returns sum_ij P_ij (C_ij + base_i + base_j). */
double sinkhorn_dense_cost(const dense_arrays *s);
/* Computes last = log(scale / weight). */
void sinkhorn_dense_logs(const dense_side *x);

#endif
