/* linalg: dense matrix work. The one room that names cblas and lapacke. Every call here runs on the
 * calling thread alone, so that bits do not depend on the thread count; parallelism is
 * parallel_for's. Memory comes from the context, LAPACK's workspaces too. */
#ifndef DDSC_NUMERIC_LINALG_LINALG_H
#define DDSC_NUMERIC_LINALG_LINALG_H

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
/* n x dim rows of a caller: at least `least`, every value finite and of at most 1e150. */
ddsc_status la_check_rows(ddsc_context *ctx, const char *who, int64_t least, int64_t n, int64_t dim,
                          const double *rows);
/* The mean of n rows, and the rows less it; out may be the rows themselves, or NULL. */
void la_centre(int64_t n, int64_t d, const double *rows, double *mean, double *out);
/* -1/2 of n x n squared distances, rows and columns less their means: inner products about the centre
 * of the points (Torgerson 1952). mean (n): of the columns; returns that of all. gram may be d2. */
double la_centre_distances(int64_t n, const double *d2, double *mean, double *gram);
/* Row `at` less its part along the rows before it, which are orthonormal, then of length 1. Returns
 * the length that was left, 0 where it was but rounding: the row is then zero. */
double la_orthogonalise(double *rows, int64_t at, int64_t d);

/* All eigenpairs of a symmetric matrix (n x n, destroyed): values ascending, vectors in the rows of
 * `vectors` (n x n). */
ddsc_status la_eigen_symmetric(ddsc_context *ctx, int64_t n, double *matrix, double *values,
                               double *vectors);
/* The n_wanted largest: values descending, vectors as columns (n x n_wanted, row-major). */
ddsc_status la_eigen_largest(ddsc_context *ctx, int64_t n, double *matrix, int64_t n_wanted,
                             double *values, double *vectors);

/* The `keep` leading principal directions of n rows of d. Runs in parallel. */
typedef struct la_principal {
    double *mean;      /* d */
    double *direction; /* keep x d, orthonormal */
    double *image;     /* n x keep: rows less their mean, along the directions */
    double kept, all;  /* squared norms of the image and of the rows less their mean */
} la_principal;

ddsc_status la_principal_make(ddsc_context *ctx, la_principal *out, int64_t n, int64_t d,
                              const double *rows, int64_t keep);
void la_principal_free(ddsc_context *ctx, la_principal *p);

#endif
