/* eigen: computes the K largest eigenpairs of the normalized affinity and verifies that none was
 * missed.
 *
 * The eigenvectors of eigenvalue 1, one for each connected component, are known exactly and come
 * first. Small graphs use LAPACK for the other eigenpairs. Larger graphs use Chebyshev-filtered
 * subspace iteration on a block wider than the number of wanted vectors. Finally, a random block
 * orthogonal to all computed vectors is filtered in the same way. If the filtered block reveals an
 * eigenvalue above the smallest computed one, the search continues with this block. */
#ifndef DDSC_NUMERIC_EIGEN_EIGEN_H
#define DDSC_NUMERIC_EIGEN_EIGEN_H

#include "numeric/graph/graph.h"

typedef struct eigen_settings {
    double tolerance;       /* residual below which a pair has converged; values below 1e-13 are
                             * raised to 1e-13 */
    int64_t max_iterations; /* maximum number of products of the operator with a block */
    int64_t dense_below;    /* LAPACK is used if n is at most this */
} eigen_settings;

typedef struct eigen_result {
    int64_t n, k;
    double *value;    /* k eigenvalues of M, descending; 1 - value is the Laplacian eigenvalue */
    double *vector;   /* n x k, row-major, orthonormal columns, largest entry positive */
    double *residual; /* k: |M v - lambda v| */
    bool dense, verified;
    bool by_team; /* true if the team's solver was used, whose sums depend on the number of ranks */
    int64_t n_products;
} eigen_result;

/* Computes the k largest eigenpairs of the operator m, in which at least the rows of this rank are
 * set; the solver gathers the other rows if it needs them. component[i] is the component of item i,
 * from 0 to n_components - 1, or -1 if the item is excluded. Rows of excluded items are zero in the
 * vectors, and k is at most the number of other items. If n_components >= k, the vectors are those
 * of the k largest components; among equal sizes, lower numbers come first. Returns
 * DDSC_NOT_CONVERGED, with the best vectors found so far, if the solver reached its product limit
 * or the verification failed. */
ddsc_status eigen_run(ddsc_context *ctx, eigen_result *out, sparse *m, const double *degree,
                      const int32_t *component, int64_t n_components, int64_t k,
                      const eigen_settings *settings);
/* Computes the k eigenpairs with the largest |lambda| of any symmetric matrix, largest first, where
 * k <= n. Performs `rounds` steps of subspace iteration from a random block (Halko, Martinsson,
 * Tropp 2011). The cost is known in advance, but the last pairs are only approximate. */
ddsc_status eigen_leading(ddsc_context *ctx, eigen_result *out, const sparse *m, int64_t k,
                          int64_t rounds);
void eigen_free(ddsc_context *ctx, eigen_result *result);

#endif
