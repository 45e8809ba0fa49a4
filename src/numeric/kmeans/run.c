/* The public function for k-means on rows provided by the caller. */
#include "numeric/kmeans/kmeans.h"
#include "numeric/linalg/linalg.h"

ddsc_status ddsc_kmeans_run(ddsc_context *context, int32_t *labels, double *inertia, int64_t n,
                            int64_t dim, const double *rows, int64_t k, int64_t restarts)
{
    ddsc_status status = DDSC_OK;
    double *centered = NULL, *mean = NULL, objective;
    int64_t n_found;
    CHECK(ctx_enter(context));
    if (!labels || !rows)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "k-means: rows and labels must not be NULL");
    TRY(la_check_rows(context, "k-means", 1, n, dim, rows));
    if (k < 1 || k > n || restarts < 1)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                        "k-means requires 1 <= k <= %lld (the number of rows) and restarts >= 1, "
                        "but k is %lld and restarts is %lld",
                        (long long)n, (long long)k, (long long)restarts);
    progress_begin(context, "k-means", restarts);
    TRY(MEM_NEW(context, centered, n * dim));
    TRY(MEM_NEW(context, mean, dim));
    /* The rows are centered, because distances computed from products are most accurate near the
     * origin. */
    la_center(n, dim, rows, mean, centered);
    kmeans_problem problem = {
        .n = n, .dim = dim, .rows = centered, .k = k, .restarts = restarts, .progress = 1};
    TRY(kmeans_fit(context, labels, &objective, &n_found, &problem));
    progress_end(context);
    if (inertia)
        *inertia = objective;
done:
    MEM_FREE(context, mean, centered);
    return status;
}
