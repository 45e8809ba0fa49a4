/* Restarts of k-means, and what is asked of labels afterwards. */
#include <math.h>
#include <string.h>

#include "cluster/lloyd.h"
#include "base/blocks.h"
#include "linalg/linalg.h"

enum { PIECE_MIN = 1024 };
/* Operations that make waking a thread worth it. */
enum { PIECE_WORK = 1 << 22 };

typedef struct inertia_job {
    const int32_t *labels;
    int64_t dim, piece_rows;
    const double *rows, *centre;
    double *partial;
} inertia_job;

static ddsc_status inertia_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const inertia_job *j = arg;
    double sum = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        sum += la_distance2(j->dim, j->rows + i * j->dim, j->centre + j->labels[i] * j->dim);
    j->partial[begin / j->piece_rows] = sum;
    return DDSC_OK;
}

ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels, int64_t k,
                           int64_t n, int64_t dim, const double *rows)
{
    ddsc_status status = DDSC_OK;
    double *centre = NULL;
    int64_t *count = NULL;
    inertia_job j = {labels, dim, BASE_MAX(PIECE_MIN, PIECE_WORK / (2 * dim)), rows, NULL, NULL};
    TRY(MEM_ZERO(ctx, centre, k * dim));
    TRY(MEM_ZERO(ctx, count, k));
    TRY(MEM_NEW(ctx, j.partial, n / j.piece_rows + 1));
    for (int64_t i = 0; i < n; i++) {
        count[labels[i]]++;
        for (int64_t c = 0; c < dim; c++)
            centre[labels[i] * dim + c] += rows[i * dim + c];
    }
    for (int64_t c = 0; c < k * dim; c++)
        centre[c] /= (double)BASE_MAX(count[c / dim], 1);
    j.centre = centre;
    TRY(parallel_for(ctx, n, j.piece_rows, inertia_piece, &j));
    *inertia = tree_sum(j.partial, (n + j.piece_rows - 1) / j.piece_rows, 1);
done:
    mem_free(ctx, j.partial);
    mem_free(ctx, count);
    mem_free(ctx, centre);
    return status;
}

ddsc_status labels_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k)
{
    int32_t *number = NULL, next = 0;
    ddsc_status status = MEM_NEW(ctx, number, k);
    if (status < 0)
        return status;
    for (int64_t c = 0; c < k; c++)
        number[c] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (number[labels[i]] < 0)
            number[labels[i]] = next++;
        labels[i] = number[labels[i]];
    }
    *n_found = next;
    mem_free(ctx, number);
    return DDSC_OK;
}

ddsc_status kmeans_fit(ddsc_context *ctx, int32_t *labels, double *inertia, int64_t *n_found,
                       const kmeans_problem *problem)
{
    ddsc_status status = DDSC_OK;
    lloyd *l = NULL;
    int32_t *best = NULL;
    double least = INFINITY, objective;
    TRY(lloyd_create(ctx, &l, problem, false));
    TRY(MEM_NEW(ctx, best, problem->n));
    for (int64_t t = 0; t < problem->restarts; t++) {
        rng r = rng_make(ctx_seed(ctx), RNG_KMEANS, (uint64_t)t);
        const int32_t *found;
        int64_t k;
        TRY(kmeans_start(ctx, lloyd_centres(l), &k, problem, &r));
        TRY(lloyd_run(l, k, &found));
        TRY(kmeans_inertia(ctx, &objective, found, k, problem->n, problem->dim, problem->rows));
        progress_add(ctx, problem->progress);
        if (t == 0 || objective < least) {
            least = objective;
            memcpy(best, found, (size_t)problem->n * sizeof *best);
        }
    }
    TRY(labels_renumber(ctx, best, n_found, problem->n, problem->k));
    memcpy(labels, best, (size_t)problem->n * sizeof *best);
    *inertia = least;
done:
    mem_free(ctx, best);
    lloyd_destroy(l);
    return status;
}

/* Rows moved to mean zero: the products that stand in for distances then lose fewest digits. */
static ddsc_status centre_rows(ddsc_context *ctx, double *out, const double *rows, int64_t n,
                               int64_t dim)
{
    double *mean = NULL;
    ddsc_status status = MEM_ZERO(ctx, mean, dim);
    if (status < 0)
        return status;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            mean[j] += rows[i * dim + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            out[i * dim + j] = rows[i * dim + j] - mean[j];
    mem_free(ctx, mean);
    return DDSC_OK;
}

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
    double *centred = NULL, objective;
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
    TRY(centre_rows(context, centred, rows, n, dim));
    kmeans_problem problem = {n, dim, centred, k, restarts, 1};
    TRY(kmeans_fit(context, labels, &objective, &n_found, &problem));
    progress_end(context);
    if (inertia)
        *inertia = objective;
done:
    mem_free(context, centred);
    return status;
}
