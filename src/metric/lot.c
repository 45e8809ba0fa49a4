/* Linear optimal transport: the embedding at open, then Euclidean distances between its rows. */
#include "lot/lot.h"
#include "metric/metric.h"

typedef struct lot {
    ddsc_context *ctx;
    double *z;
    void *rows; /* state of metric_vectors over z */
} lot;

static void lot_close(void *state)
{
    lot *s = state;
    if (!s)
        return;
    metric_vectors.close(s->rows);
    mem_free(s->ctx, s->z);
    mem_free(s->ctx, s);
}

static ddsc_status lot_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    lot *s = NULL;
    int64_t columns;
    TRY(MEM_ZERO(job->ctx, s, 1));
    s->ctx = job->ctx;
    TRY(lot_run(job->ctx, &s->z, &columns, stats, job->m, job->set));
    TRY(metric_vectors_open(job->ctx, &s->rows, job->m->n, columns, s->z));
    *state = s;
    s = NULL;
done:
    lot_close(s);
    return status;
}

static ddsc_status lot_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                            ddsc_pair_stats *stats)
{
    return metric_vectors.tile(((lot *)state)->rows, t, d2, ld, worker, stats);
}

static ddsc_status lot_rows(void *state, prefilter_rows *rows)
{
    return metric_vectors_rows(((lot *)state)->rows, rows);
}

const pair_backend metric_lot = {.name = "lot",
                                 .tile_side = 64,
                                 .open = lot_open,
                                 .close = lot_close,
                                 .tile = lot_tile,
                                 .rows = lot_rows};
