/* Kernels of the dense engine: plain arrays, no allocation, no context. A plan is kept as
 * P_ij = u_i K_ij v_j with K_ij = exp((f_i + g_j - C_ij) / eps); f and g hold what u and v have
 * absorbed. Rows are padded to SINKHORN_ROW_BLOCK and columns to SIMD_LANES with zeros, so that no loop
 * has a remainder: a padded entry carries no weight and no mass. */
#ifndef DDSC_DISTANCE_SINKHORN_DENSE_KERNEL_H
#define DDSC_DISTANCE_SINKHORN_DENSE_KERNEL_H

#include "distance/sinkhorn/pace.h"

enum { SINKHORN_ROW_BLOCK = 4 };

/* Keeps a division finite where a sum of the kernel has vanished; the range seen tells. */
#define SINKHORN_TINY_SUM 1e-290

/* What a half step saw where there is weight. */
typedef struct sinkhorn_half {
    double error;     /* sum |scale sum - weight| */
    double low, high; /* of the sums */
} sinkhorn_half;

/* scale += omega (weight / sum - scale), n whole vectors. */
sinkhorn_half sinkhorn_update(double *scale, const double *weight, const double *sum, int64_t n,
                              double omega);
/* x = exp(min(x, limit)), n rounded up to whole vectors. */
void sinkhorn_exp(double *x, int64_t n, double limit);

/* Rows or columns. Arrays have whole vectors. */
typedef struct dense_side {
    int64_t n;
    double *weight;    /* a or b */
    double *scale;     /* u or v */
    double *potential; /* f or g: absorbed, of the reduced cost */
    double *sum;       /* K v or K' u */
    double *base;  /* what was taken off the cost; also what is added to the reduced one again */
    double *last;  /* potentials of the level before; after a solve log(scale / weight) */
    int32_t *kept; /* places in the problem */
} dense_side;

typedef struct dense_arrays {
    int64_t rows, stride; /* padded size */
    double *cost;         /* rows x stride: reduced cost, >= 0; infinite in padded columns */
    double *kernel;       /* rows x stride */
    double *row_pad;      /* rows: 1 in the padding, else 0 */
    dense_side row, column;
} dense_arrays;

/* Kernel of the absorbed potentials, exponents held at `limit`. False when a row or column has its
 * largest exponent beyond +-limit: the potentials should then be reduced first. */
bool sinkhorn_dense_fill(dense_arrays *s, double epsilon, double limit);
/* g_j = min_i C_ij - f_i, then f_i = min_j C_ij - g_j: every row and column gets an exponent 0. */
void sinkhorn_dense_reduce(dense_arrays *s);
/* C -= f + g (held at 0 against rounding); the largest entry left. */
double sinkhorn_dense_subtract(dense_arrays *s);
/* One relaxed iteration u += w (a / K v - u), v += w (b / K' u - v), reading the kernel once. */
sinkhorn_seen sinkhorn_dense_pass(dense_arrays *s, double omega);
/* row.sum = K v; the L1 error of the rows. */
double sinkhorn_dense_measure(dense_arrays *s);
/* The same after v = b / K' u: columns are exact afterwards. */
double sinkhorn_dense_settle(dense_arrays *s);
/* plan = u K v / sqrt(b): of the semi-dual's Hessian. */
void sinkhorn_dense_root_plan(const dense_arrays *s, double *plan);
/* sum_ij P_ij (C_ij + base_i + base_j). */
double sinkhorn_dense_cost(const dense_arrays *s);
/* last = log(scale / weight). */
void sinkhorn_dense_logs(const dense_side *x);

#endif
