/* Inner loops that iterate on the plan between one center (n rows) and one item (m columns). They
 * use plain arrays and allocate no memory. Columns are padded to whole vectors. A padding column
 * has weight 0 and therefore never receives mass. */
#ifndef DDSC_CLUSTER_BASELINE_PLAN_KERNELS_H
#define DDSC_CLUSTER_BASELINE_PLAN_KERNELS_H

#include "base/simd.h"

static inline int64_t transport_stride(int64_t m)
{
    return (m + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
}

/* Computes out = exp(-cost factor). `count` must be a multiple of SIMD_LANES; out may equal
 * cost. */
void transport_gibbs(double *out, const double *cost, int64_t count, double factor);
/* Replaces cost (n x stride) with exp(-(cost_ij - min_i cost_ij) factor). Subtracting the minimum
 * prevents a column from underflowing completely. It does not change the plan, because the column
 * scalings compensate for it. */
void transport_gibbs_reduced(double *cost, int64_t n, int64_t stride, double factor,
                             double *column);
/* Returns sum |x - y|. */
double transport_change(const double *x, const double *y, int64_t count);

/* The points Y of an item. Point j starts at table[index[j] * d]. transport_moments adds share P Y
 * to out (n x d), and share P 1 to mass (n). */
typedef struct plan_points {
    int64_t m, d;
    const double *table;
    const int32_t *index;
} plan_points;

void transport_moments(double *out, double *mass, const double *plan, int64_t n, int64_t stride,
                       const plan_points *y, double share);

typedef struct admm_block {
    int64_t n, stride;
    const double *kernel; /* exp(-C / rho) */
    const double *b;
    double *q, *dual; /* dual = L / rho */
    double *p;        /* output: the plan with column sums b */
    double *column;   /* work array for one row */
} admm_block;

/* Performs one round of Bregman ADMM. Sets r to the normalized row sums before the rows are scaled
 * to w. */
void transport_admm_round(const admm_block *t, const double *w, double *r);

typedef struct scaling_block {
    int64_t n, stride;
    const double *kernel, *b;
    const double *u;
    double *v; /* the plan is P_ij = u_i K_ij v_j */
} scaling_block;

/* Computes v = b / K'u, then row = K v. The entries of `row` are always positive. */
void transport_scaling_sweep(const scaling_block *t, double *row);
/* Computes p = u K v. */
void transport_of_scaling(const scaling_block *t, double *p);

#endif
