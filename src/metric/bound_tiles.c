/* The first bounds of a kind (bound/bound.h) as the tiles of a backend, and the bounds of single pairs
 * beside them: the form in which the pruned search takes them. */
#include "metric/bound_tiles.h"

typedef struct bound_tiles {
    ddsc_context *ctx;
    const bound_kind *kind;
    void *state;
} bound_tiles;

ddsc_status bound_tiles_open(void **state, const pair_job *job, const bound_kind *kind)
{
    ddsc_status status = DDSC_OK;
    bound_tiles *b = NULL;
    TRY(MEM_ZERO(job->ctx, b, 1));
    *b = (bound_tiles){.ctx = job->ctx, .kind = kind};
    TRY(kind->open(&b->state, &(bound_job){job->ctx, job->m, job->n_workers, job->state}));
    *state = b;
    b = NULL;
done:
    bound_tiles_close(b);
    return status;
}

void bound_tiles_close(void *state)
{
    bound_tiles *b = state;
    if (!b)
        return;
    if (b->state)
        b->kind->close(b->state);
    mem_free(b->ctx, b);
}

void bound_tiles_plan(const void *state, pair_plan *plan)
{
    const bound_tiles *b = state;
    plan->tile_side = b->kind->side(b->state);
}

ddsc_status bound_tiles_fill(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                             ddsc_pair_stats *stats)
{
    const bound_tiles *b = state;
    (void)stats;
    b->kind->tile(b->state, t->i0, t->i1, t->j0, t->j1, d2, ld, worker);
    return DDSC_OK;
}

double bound_tiles_pair(const void *state, int64_t i, int64_t j, double enough)
{
    const bound_tiles *b = state;
    return b->kind->pair(b->state, i, j, enough);
}
