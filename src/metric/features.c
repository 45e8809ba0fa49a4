/* The maximum mean discrepancy by random Fourier features: Euclidean distances between their rows,
 * and what the unbiased estimator adds for each item. */
#include "engine/prefilter.h"
#include "linalg/linalg.h"
#include "metric/metric.h"
#include "mmd/mmd.h"

typedef struct features {
    ddsc_context *ctx;
    mmd_fourier f;
    void *rows; /* state of backend_vectors */
} features;

static void features_close(void *state)
{
    features *s = state;
    if (!s)
        return;
    if (s->rows)
        backend_vectors.close(s->rows);
    mmd_fourier_free(s->ctx, &s->f);
    mem_free(s->ctx, s);
}

static ddsc_status features_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    const ddsc_metric_settings *given = job->set;
    ddsc_status status = DDSC_OK;
    bool biased = given->mmd_estimator == DDSC_MMD_BIASED;
    mmd_kernel kernel = {.kind = given->mmd_kernel};
    features *s = NULL;
    TRY(mmd_bandwidth(job->ctx, &kernel.bandwidth, job->m, given));
    TRY(MEM_ZERO(job->ctx, s, 1));
    s->ctx = job->ctx;
    TRY(mmd_fourier_make(job->ctx, &s->f, job->m, &kernel, biased, given->mmd_features));
    TRY(mmd_fourier_check(job->ctx, &s->f, stats, job->m, &kernel, biased));
    TRY(vectors_open(job->ctx, &s->rows, job->m->n, s->f.columns, s->f.rows));
    stats->bandwidth = kernel.bandwidth;
    stats->n_features = s->f.columns;
    *state = s;
    s = NULL;
done:
    features_close(s);
    return status;
}

static ddsc_status features_tile(void *state, const pair_tile *t, double *d2, int64_t ld,
                                 int worker, ddsc_pair_stats *stats)
{
    const features *s = state;
    ddsc_status status = backend_vectors.tile(s->rows, t, d2, ld, worker, stats);
    for (int64_t i = t->i0; status >= 0 && i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            d2[(i - t->i0) * ld + (j - t->j0)] += s->f.offset[i] + s->f.offset[j];
    return status;
}

static ddsc_status features_screen(void *state, pair_screen *screen)
{
    const features *s = state;
    ddsc_status status = vectors_screen(s->rows, screen);
    for (int64_t i = 0; status >= 0 && screen->columns > 0 && i < screen->n; i++)
        screen->offset[i] = s->f.offset[i];
    return status;
}

const pair_backend backend_features = {
    .name = "mmd",
    .tile_side = 64,
    .open = features_open,
    .tile = features_tile,
    .close = features_close,
    .screen = features_screen,
};
