/* Solves dense symmetric eigenproblems with LAPACK. */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"

/* Returns true if the triangle that dsyevd reads contains NaN, for which LAPACK's iterations may
 * not terminate. */
static bool has_nan(int64_t n, const double *matrix)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            if (isnan(matrix[i * n + j]))
                return true;
    return false;
}

/* The matrix is symmetric, so column-major LAPACK returns the eigenvectors as columns, which are
 * rows in row-major order. The workspace is allocated from the context, so it counts against the
 * memory limit. Divide and conquer fails for about one in ten thousand matrices with many equal
 * eigenvalues. In this case, QR iteration is used. */
ddsc_status la_eigen_symmetric(ddsc_context *ctx, int64_t n, double *matrix, double *values,
                               double *vectors)
{
    ddsc_status status = DDSC_OK;
    double *work = NULL, best = 0;
    lapack_int *iwork = NULL, best_i = 0, order = (lapack_int)n;
    size_t bytes = (size_t)(n * n) * sizeof *vectors;
    if (n == 0)
        return DDSC_OK;
    if (has_nan(n, matrix))
        return ctx_fail(ctx, DDSC_ERROR_INTERNAL, "a dense eigenproblem of order %lld contains NaN",
                        (long long)n);
    int saved = serial_begin();
    memcpy(vectors, matrix, bytes);
    lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, vectors, order, values,
                                          &best, -1, &best_i, -1);
    lapack_int n_work = (lapack_int)best, n_iwork = best_i;
    TRY(MEM_NEW(ctx, work, n_work));
    TRY(MEM_NEW(ctx, iwork, n_iwork));
    if (info == 0)
        info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, vectors, order, values, work,
                                   n_work, iwork, n_iwork);
    if (info > 0) {
        memcpy(vectors, matrix, bytes);
        info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', order, vectors, order, values, work,
                                  n_work);
    }
    if (info != 0)
        TRY(ctx_fail(ctx, DDSC_ERROR_INTERNAL,
                     "LAPACK failed to solve an eigenproblem of order %lld (info = %d)",
                     (long long)n, (int)info));
done:
    serial_end(saved);
    MEM_FREE(ctx, iwork, work);
    return status;
}

ddsc_status la_eigen_largest(ddsc_context *ctx, int64_t n, double *matrix, int64_t n_wanted,
                             double *values, double *vectors)
{
    ddsc_status status = DDSC_OK;
    double *all = NULL, *rows = NULL;
    TRY(MEM_NEW(ctx, all, n));
    TRY(MEM_NEW(ctx, rows, n * n));
    TRY(la_eigen_symmetric(ctx, n, matrix, all, rows));
    for (int64_t k = 0; k < n_wanted; k++) {
        values[k] = all[n - 1 - k];
        for (int64_t i = 0; i < n; i++)
            vectors[i * n_wanted + k] = rows[(n - 1 - k) * n + i];
    }
done:
    MEM_FREE(ctx, rows, all);
    return status;
}
