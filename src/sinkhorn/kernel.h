/* Kernels of the scaling iteration: plain arrays, no allocation, no context. A plan is kept as
 * P_ij = u_i K_ij v_j with K_ij = exp((f_i + g_j - C_ij) / eps); f and g hold what u and v have
 * absorbed. Rows are padded to ROW_BLOCK and columns to SIMD_LANES with zeros, so that no loop has
 * a remainder: a padded entry carries no weight and no mass. */
#ifndef DDSC_SINKHORN_KERNEL_H
#define DDSC_SINKHORN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { ROW_BLOCK = 4 };

/* Keeps a division finite where a sum of the kernel has vanished; the range report tells. */
#define TINY_SUM 1e-290

typedef struct scaling {
    int64_t n, m;         /* true size */
    int64_t rows, stride; /* padded size */
    double *cost;         /* rows x stride: reduced cost, >= 0 */
    double *kernel;       /* rows x stride */
    double *a, *b;        /* rows, stride: weights */
    double *f, *g;        /* absorbed potentials of the reduced cost */
    double *u, *v;
    double *row_pad;    /* rows: 1 in the padding, else 0 */
    double *row_sum;    /* rows: K v */
    double *column_sum; /* stride: K' u */
} scaling;

/* What one iteration saw on its way. */
typedef struct scaling_report {
    double row_error, column_error; /* L1 errors of the marginals before each half step */
    double low, high;               /* range of all sums; far from 1: time to absorb */
} scaling_report;

/* Largest magnitude of the cost, and the cost multiplied. */
double scaling_magnitude(const scaling *s);
void scaling_multiply(scaling *s, double factor);
/* Kernel of the absorbed potentials, exponents held at `limit`. False when a row or column has its
 * largest exponent beyond +-limit: the potentials should then be reduced first. */
bool scaling_fill(scaling *s, double epsilon, double limit);
/* g_j = min_i C_ij - f_i, then f_i = min_j C_ij - g_j: every row and column gets an exponent 0. */
void scaling_reduce(scaling *s);
/* C -= f + g (held at 0 against rounding); the largest entry left. */
double scaling_subtract(scaling *s);
/* One relaxed iteration u += w (a / K v - u), v += w (b / K' u - v), reading the kernel once. */
scaling_report scaling_pass(scaling *s, double omega);
/* row_sum = K v; the L1 error of the rows. */
double scaling_measure(scaling *s);
/* The same after v = b / K' u: columns are exact afterwards. */
double scaling_settle(scaling *s);
/* plan = u K v, with column j divided by sqrt(b_j) when asked for. */
void scaling_plan(const scaling *s, double *plan, bool by_root_b);
/* sum_ij P_ij (C_ij + base_f_i + base_g_j). */
double scaling_cost(const scaling *s, const double *base_f, const double *base_g);
/* out = log(scale / weight); room for whole vectors. */
void scaling_logs(double *out, const double *scale, const double *weight, int64_t n);

#endif
