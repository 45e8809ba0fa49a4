/* eigen: computes the K largest eigenpairs of the normalized affinity and verifies that none was
 * missed.
 *
 * The eigenvectors of the components are known exactly and come first. Small graphs use LAPACK for
 * the other eigenpairs. Larger graphs use Chebyshev-filtered subspace iteration on a block wider
 * than the number of wanted vectors. Finally, a random block orthogonal to all computed vectors is
 * filtered in the same way. If it contains an eigenvalue above the smallest computed one, the
 * search continues with that block. */
#ifndef DDSC_NUMERIC_EIGEN_EIGEN_H
#define DDSC_NUMERIC_EIGEN_EIGEN_H

#include "numeric/graph/graph.h"

typedef struct eigen_settings {
    double tolerance;       /* largest converged residual; values below 1e-13 are raised to 1e-13 */
    int64_t max_iterations; /* operator-block products */
    int64_t dense_below;    /* use LAPACK when n is at most this */
} eigen_settings;

typedef struct eigen_result {
    int64_t n, k;
    double *value;    /* k, descending (of M; 1 - value is the Laplacian's) */
    double *vector;   /* n x k, row-major, orthonormal columns, the largest entry positive */
    double *residual; /* k: |M v - lambda v| */
    bool dense, verified;
    bool by_team; /* computed by the team's solver, whose sums depend on the ranks */
    int64_t n_products;
} eigen_result;

/* m has at least the own rows of each rank of a team, and is gathered where that is not enough; rows of items
 * left out may be overwritten. component (n) in 0 .. n_components - 1, or -1 for items of components to be left out: their rows
 * are zero. k at most the items not left out. With n_components >= k the vectors are those of the k
 * largest components (ties: lower number). DDSC_NOT_CONVERGED when the cap was met or the check did
 * not come out clean; the best vectors so far are then given. */
ddsc_status eigen_run(ddsc_context *ctx, eigen_result *out, sparse *m, const double *degree,
                      const int32_t *component, int64_t n_components, int64_t k,
                      const eigen_settings *settings);
/* The k pairs of largest |lambda| of any symmetric matrix, largest first, by `rounds` of subspace
 * iteration from a random block (Halko, Martinsson, Tropp 2011): the cost is known beforehand, and
 * the last pairs are near the wanted space rather than exact. k at most n. */
ddsc_status eigen_leading(ddsc_context *ctx, eigen_result *out, const sparse *m, int64_t k,
                          int64_t rounds);
void eigen_free(ddsc_context *ctx, eigen_result *result);

#endif
