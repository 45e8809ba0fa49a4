/* k-means on the rows of a caller. */
#include <math.h>

#include "cluster/cluster.h"
#include "linalg/linalg.h"

ddsc_status rows_check(ddsc_context *ctx, const char *who, int64_t n, int64_t dim,
                       const double *rows)
{
    int64_t size;
    if (n < 1 || dim < 1 || !mul_ok(n, dim, &size) || n > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s: %lld rows of %lld columns", who,
                        (long long)n, (long long)dim);
    for (int64_t i = 0; i < size; i++)
        if (!(fabs(rows[i]) <= 1e150))
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "%s: row %lld, column %lld is %g: must be finite, at most 1e150", who,
                            (long long)(i / dim), (long long)(i % dim), rows[i]);
    return DDSC_OK;
}

ddsc_status ddsc_kmeans_run(ddsc_context *context, int32_t *labels, double *inertia, int64_t n,
                            int64_t dim, const double *rows, int64_t k, int64_t restarts)
{
    ddsc_status status = DDSC_OK;
    double *centred = NULL, *mean = NULL, objective;
    int64_t n_found;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!labels || !rows)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "k-means needs rows and room for labels");
    TRY(rows_check(context, "k-means", n, dim, rows));
    if (k < 1 || k > n || restarts < 1)
        return ctx_fail(
            context, DDSC_ERROR_ARGUMENT,
            "k-means needs 1 <= k <= %lld rows and a restart, not k = %lld, %lld restarts",
            (long long)n, (long long)k, (long long)restarts);
    progress_begin(context, "k-means", restarts);
    TRY(MEM_NEW(context, centred, n * dim));
    TRY(MEM_NEW(context, mean, dim));
    /* Moved to mean zero, the products that stand in for distances lose fewest digits. */
    la_centre(n, dim, rows, mean, centred);
    kmeans_problem problem = {
        .n = n, .dim = dim, .rows = centred, .k = k, .restarts = restarts, .progress = 1};
    TRY(kmeans_fit(context, labels, &objective, &n_found, &problem));
    progress_end(context);
    if (inertia)
        *inertia = objective;
done:
    mem_free(context, mean);
    mem_free(context, centred);
    return status;
}
