/* Kernels of the plan iterations between one centre (n rows) and one item (m columns): plain
 * arrays, no allocation. Columns are padded to whole vectors; a padded column has weight 0, so that
 * no mass ever goes there. */
#ifndef DDSC_CLUSTER_BASELINE_PLAN_KERNELS_H
#define DDSC_CLUSTER_BASELINE_PLAN_KERNELS_H

#include "base/simd.h"

static inline int64_t transport_stride(int64_t m)
{
    return (m + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
}

/* out = exp(-cost factor), `count` a multiple of SIMD_LANES; in place is allowed. */
void transport_gibbs(double *out, const double *cost, int64_t count, double factor);
/* cost (n x stride) becomes exp(-(cost_ij - min_i cost_ij) factor): scalings of columns do not see
 * the difference, and no column is lost. */
void transport_gibbs_reduced(double *cost, int64_t n, int64_t stride, double factor,
                             double *column);
/* sum |x - y|. */
double transport_change(const double *x, const double *y, int64_t count);

/* out (n x d) += share P Y, mass (n) += share P 1; row j of Y is table[index[j] * d ...]. */
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
    double *p;        /* out: the plan with column sums b */
    double *column;   /* scratch for one row */
} admm_block;

/* One round of Bregman ADMM; r gets the normalised row sums before the rows are scaled to w. */
void transport_admm_round(const admm_block *t, const double *w, double *r);

typedef struct scaling_block {
    int64_t n, stride;
    const double *kernel, *b;
    const double *u;
    double *v; /* the plan is u_i K_ij v_j */
} scaling_block;

/* v = b / K'u, then row = K v, kept above 0. */
void transport_scaling_sweep(const scaling_block *t, double *row);
/* p = u K v. */
void transport_of_scaling(const scaling_block *t, double *p);

#endif
