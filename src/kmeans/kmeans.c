/* Restarts of k-means, the sum it makes small, and the numbers of clusters. */
#include "kmeans/kmeans.h"

#include <math.h>
#include <string.h>

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

void kmeans_means(double *centre, int64_t *count, const int32_t *labels, int64_t k, int64_t n,
                  int64_t dim, const double *rows)
{
    memset(centre, 0, (size_t)(k * dim) * sizeof *centre);
    memset(count, 0, (size_t)k * sizeof *count);
    for (int64_t i = 0; i < n; i++) {
        count[labels[i]]++;
        for (int64_t c = 0; c < dim; c++)
            centre[labels[i] * dim + c] += rows[i * dim + c];
    }
    for (int64_t c = 0; c < k * dim; c++)
        centre[c] /= (double)BASE_MAX(count[c / dim], 1);
}

ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels, int64_t k,
                           int64_t n, int64_t dim, const double *rows)
{
    ddsc_status status = DDSC_OK;
    double *centre = NULL;
    int64_t *count = NULL;
    inertia_job j = {labels, dim, BASE_MAX(PIECE_MIN, PIECE_WORK / (2 * dim)), rows, NULL, NULL};
    TRY(MEM_NEW(ctx, centre, k * dim));
    TRY(MEM_NEW(ctx, count, k));
    TRY(MEM_NEW(ctx, j.partial, n / j.piece_rows + 1));
    kmeans_means(centre, count, labels, k, n, dim, rows);
    j.centre = centre;
    TRY(parallel_for(ctx, n, j.piece_rows, inertia_piece, &j));
    *inertia = tree_sum(j.partial, (n + j.piece_rows - 1) / j.piece_rows, 1);
done:
    MEM_FREE(ctx, j.partial, count, centre);
    return status;
}

ddsc_status kmeans_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k)
{
    int32_t *number = NULL, next = 0;
    CHECK(MEM_NEW(ctx, number, k));
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
    TRY(kmeans_renumber(ctx, best, n_found, problem->n, problem->k));
    memcpy(labels, best, (size_t)problem->n * sizeof *best);
    *inertia = least;
done:
    mem_free(ctx, best);
    lloyd_destroy(l);
    return status;
}
