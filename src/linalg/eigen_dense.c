/* Dense symmetric eigenproblems through LAPACK. */
#include <lapacke.h>
#include <string.h>

#include "linalg/linalg.h"

ddsc_status la_eigen_symmetric(ddsc_context *ctx, int64_t n, double *matrix, double *values,
                               double *vectors)
{
    if (n == 0)
        return DDSC_OK;
    int saved = serial_begin();
    /* Column-major on a symmetric matrix: eigenvectors come out as columns, that is, our rows. */
    int info = (int)LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, matrix, (int)n, values);
    serial_end(saved);
    if (info == LAPACK_WORK_MEMORY_ERROR)
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "out of memory in a dense eigenproblem");
    if (info != 0)
        return ctx_fail(ctx, DDSC_ERROR_INTERNAL, "dsyevd of order %lld returned %d", (long long)n,
                        info);
    memcpy(vectors, matrix, (size_t)(n * n) * sizeof *vectors);
    return DDSC_OK;
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
    mem_free(ctx, rows);
    mem_free(ctx, all);
    return status;
}
