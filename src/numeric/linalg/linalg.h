/* linalg: dense linear algebra. This is the only module that calls CBLAS and LAPACKE.
 *
 * Unless stated otherwise, functions run only on the calling thread, so that the bits do not depend
 * on the number of threads. Callers use parallel_for to run them in parallel. All memory, including
 * LAPACK workspaces, is allocated from the context. */
#ifndef DDSC_NUMERIC_LINALG_LINALG_H
#define DDSC_NUMERIC_LINALG_LINALG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* Computes C = alpha op(A) op(B) + beta C, where op(A) is m x k and op(B) is k x n. All matrices
 * are row-major. */
void la_gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha,
             const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
             int64_t ldc);
void la_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
              const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
              int64_t ldc);
double la_dot(int64_t n, const double *x, const double *y);
double la_norm(int64_t n, const double *x);
double la_distance2(int64_t n, const double *x,
                    const double *y); /* |x - y|^2, without cancellation */
/* Computes out[p * ld + q] = |x_p - y_q|^2 for n and m rows of length d. Each value depends only on
 * its two rows. */
void la_differences(int64_t n, int64_t m, int64_t d, const double *x, const double *y, double *out,
                    int64_t ld);
/* Checks n x dim rows provided by a caller. There must be at least `least` rows, and all values
 * must be finite and at most 1e150 in absolute value. */
ddsc_status la_check_rows(ddsc_context *ctx, const char *who, int64_t least, int64_t n, int64_t dim,
                          const double *rows);
/* Computes the mean of n rows, and stores the rows minus the mean in `out`, which may be `rows` or
 * NULL. */
void la_center(int64_t n, int64_t d, const double *rows, double *mean, double *out);
/* Double-centers n x n squared distances: removes the means of rows and columns, and multiplies by
 * -1/2. The result contains the inner products of the points relative to their center (Torgerson
 * 1952). `mean` (n) receives the means of the columns, and the function returns the mean of all
 * entries. `gram` may be d2. */
double la_center_distances(int64_t n, const double *d2, double *mean, double *gram);
/* Subtracts the components of row `at` along the preceding rows, which are orthonormal, and
 * normalizes it. Returns the length before normalization. If only rounding errors remain, returns 0
 * and sets the row to zero. */
double la_orthogonalize(double *rows, int64_t at, int64_t d);

/* Computes all eigenpairs of a symmetric n x n matrix, which is overwritten. The values are
 * ascending, and the vectors are the rows of `vectors` (n x n). */
ddsc_status la_eigen_symmetric(ddsc_context *ctx, int64_t n, double *matrix, double *values,
                               double *vectors);
/* Computes the n_wanted largest eigenpairs. The values are descending, and the vectors are columns
 * (n x n_wanted, row-major). */
ddsc_status la_eigen_largest(ddsc_context *ctx, int64_t n, double *matrix, int64_t n_wanted,
                             double *values, double *vectors);

/* The `keep` leading principal directions of n rows of length d. la_principal_make computes them in
 * parallel. */
typedef struct la_principal {
    double *mean;      /* d */
    double *direction; /* keep x d, orthonormal */
    double *image;     /* n x keep: coordinates of the centered rows along the directions */
    double kept, all;  /* squared norms of the image and of the centered rows */
} la_principal;

ddsc_status la_principal_make(ddsc_context *ctx, la_principal *out, int64_t n, int64_t d,
                              const double *rows, int64_t keep);
void la_principal_free(ddsc_context *ctx, la_principal *p);

#endif
