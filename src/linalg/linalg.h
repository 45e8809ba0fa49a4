/* linalg: dense matrix work. The one room that names cblas and lapacke. Every call here runs on the
 * calling thread alone, so that bits do not depend on the thread count; parallelism is
 * parallel_for's. */
#ifndef DDSC_LINALG_LINALG_H
#define DDSC_LINALG_LINALG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* Row-major throughout. C = alpha op(A) op(B) + beta C, op(A) m x k, op(B) k x n. */
void la_gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha,
             const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
             int64_t ldc);
void la_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
              const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
              int64_t ldc);
double la_dot(int64_t n, const double *x, const double *y);
double la_norm(int64_t n, const double *x);
double la_distance2(int64_t n, const double *x, const double *y); /* |x - y|^2, no cancellation */
/* out[p * ld + q] = |x_p - y_q|^2 of n and m rows of d, each a function of the two rows alone. */
void la_differences(int64_t n, int64_t m, int64_t d, const double *x, const double *y, double *out,
                    int64_t ld);

/* All eigenpairs of a symmetric matrix (n x n, destroyed): values ascending, vectors in the rows of
 * `vectors` (n x n). */
ddsc_status la_eigen_symmetric(ddsc_context *ctx, int64_t n, double *matrix, double *values,
                               double *vectors);
/* The n_wanted largest: values descending, vectors as columns (n x n_wanted, row-major). */
ddsc_status la_eigen_largest(ddsc_context *ctx, int64_t n, double *matrix, int64_t n_wanted,
                             double *values, double *vectors);

#endif
