/* Dense symmetric eigenproblems through LAPACK (dsyevd, divide and conquer), whose workspaces are
 * asked for and taken from the context. */
#include <lapacke.h>
#include <string.h>

#include "linalg/linalg.h"

ddsc_status la_eigen_symmetric(ddsc_context *ctx, int64_t n, double *matrix, double *values,
                               double *vectors)
{
    ddsc_status status = DDSC_OK;
    double *work = NULL, size = 0;
    lapack_int *integers = NULL, n_integers = 0, order = (lapack_int)n, info = 0;
    if (n == 0)
        return DDSC_OK;
    int saved = serial_begin();
    /* Column-major on a symmetric matrix: eigenvectors come out as columns, that is, our rows. */
    info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, matrix, order, values, &size, -1,
                               &n_integers, -1);
    TRY(MEM_NEW(ctx, work, size));
    TRY(MEM_NEW(ctx, integers, n_integers));
    if (info == 0)
        info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, matrix, order, values, work,
                                   (lapack_int)size, integers, n_integers);
    if (info != 0)
        TRY(ctx_fail(ctx, DDSC_ERROR_INTERNAL, "dsyevd of order %lld returned %d", (long long)n,
                     (int)info));
    memcpy(vectors, matrix, (size_t)(n * n) * sizeof *vectors);
done:
    serial_end(saved);
    MEM_FREE(ctx, integers, work);
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
