/* eigen: the K largest eigenpairs of the normalised affinity, with proof that none was missed. */
#ifndef DDSC_EIGEN_H
#define DDSC_EIGEN_H

#include "graph/graph.h"

typedef struct eigen_settings {
    double tolerance;
    int64_t max_iterations;
    int64_t dense_below; /* use LAPACK when n is at most this */
} eigen_settings;

typedef struct eigen_result {
    int64_t n, k;
    double *value;  /* k, descending (of M; 1 - value is the Laplacian's) */
    double *vector; /* n x k, row-major, orthonormal columns, sign fixed: largest entry positive */
    double *residual; /* k: |M v - lambda v| */
    bool dense, verified;
    int64_t n_products;
} eigen_result;

/* component (n), n_components: their exact vectors sqrt(degree) are deflated first. */
ddsc_status eigen_run(ddsc_context *ctx, eigen_result *out, const sparse *m, const double *degree,
                      const int32_t *component, int64_t n_components, int64_t k,
                      const eigen_settings *settings);
void eigen_free(ddsc_context *ctx, eigen_result *result);

#endif
