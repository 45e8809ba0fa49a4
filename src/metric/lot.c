/* Linear optimal transport: the embedding at open, then Euclidean distances between its rows. */
#include "lot/lot.h"
#include "metric/metric.h"

typedef struct lot {
    ddsc_context *ctx;
    double *z;
    void *rows; /* state of backend_vectors over z */
} lot;

static void lot_close(void *state)
{
    lot *s = state;
    if (!s)
        return;
    if (s->rows)
        backend_vectors.close(s->rows);
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
    TRY(vectors_open(job->ctx, &s->rows, job->m->n, columns, s->z));
    *state = s;
    s = NULL;
done:
    lot_close(s);
    return status;
}

static ddsc_status lot_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                            ddsc_pair_stats *stats)
{
    return backend_vectors.tile(((lot *)state)->rows, t, d2, ld, worker, stats);
}

static ddsc_status lot_screen(void *state, struct pair_screen *screen)
{
    return vectors_screen(((lot *)state)->rows, screen);
}

const pair_backend backend_lot = {
    .name = "lot",
    .tile_side = 64,
    .open = lot_open,
    .tile = lot_tile,
    .close = lot_close,
    .screen = lot_screen,
};
