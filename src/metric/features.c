/* The maximum mean discrepancy by random Fourier features: Euclidean distances between their rows,
 * and what the unbiased estimator adds for each item. */
#include "metric/metric.h"
#include "mmd/mmd.h"

typedef struct features {
    ddsc_context *ctx;
    mmd_fourier f;
    void *rows; /* state of metric_vectors */
} features;

static void features_close(void *state)
{
    features *s = state;
    if (!s)
        return;
    metric_vectors.close(s->rows);
    mmd_fourier_free(s->ctx, &s->f);
    mem_free(s->ctx, s);
}

static ddsc_status features_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    const ddsc_metric_settings *given = job->set;
    ddsc_status status = DDSC_OK;
    bool biased = given->mmd_estimator == DDSC_MMD_BIASED;
    mmd_kernel kernel = {given->mmd_kernel, given->bandwidth};
    features *s = NULL;
    TRY(MEM_ZERO(job->ctx, s, 1));
    s->ctx = job->ctx;
    TRY(mmd_fourier_make(job->ctx, &s->f, job->m, &kernel, biased, given->mmd_features));
    TRY(mmd_fourier_check(job->ctx, &s->f, stats, job->m, &kernel, biased));
    TRY(metric_vectors_open(job->ctx, &s->rows, job->m->n, s->f.columns, s->f.rows));
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
    ddsc_status status = metric_vectors.tile(s->rows, t, d2, ld, worker, stats);
    for (int64_t i = t->i0; status >= 0 && i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            d2[(i - t->i0) * ld + (j - t->j0)] += s->f.offset[i] + s->f.offset[j];
    return status;
}

static ddsc_status features_rows(void *state, prefilter_rows *rows)
{
    const features *s = state;
    CHECK(metric_vectors_rows(s->rows, rows));
    for (int64_t i = 0; rows->columns > 0 && i < rows->n; i++)
        rows->offset[i] = s->f.offset[i];
    return DDSC_OK;
}

const pair_backend metric_features = {.name = "mmd",
                                      .tile_side = 64,
                                      .open = features_open,
                                      .close = features_close,
                                      .tile = features_tile,
                                      .rows = features_rows};
