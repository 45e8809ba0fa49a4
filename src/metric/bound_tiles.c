/* Kinds of bounds as the pruned search takes them now; see bound_tiles.h. */
#include "metric/bound_tiles.h"

#include "metric/metric.h"
#include "metric/sinkhorn.h"

typedef struct bound_tiles {
    ddsc_context *ctx;
    const bound_kind *kind;
    void *state;
} bound_tiles;

static void tiles_close(void *state)
{
    bound_tiles *b = state;
    if (!b)
        return;
    if (b->state)
        b->kind->close(b->state);
    mem_free(b->ctx, b);
}

static ddsc_status tiles_open(void **state, const pair_job *job, const bound_kind *kind)
{
    ddsc_status status = DDSC_OK;
    bound_tiles *b = NULL;
    TRY(MEM_ZERO(job->ctx, b, 1));
    *b = (bound_tiles){.ctx = job->ctx, .kind = kind};
    TRY(kind->open(&b->state, &(bound_job){job->ctx, job->m, job->n_workers, job->state}));
    *state = b;
    b = NULL;
done:
    tiles_close(b);
    return status;
}

static void tiles_plan(const void *state, pair_plan *plan)
{
    const bound_tiles *b = state;
    plan->tile_side = b->kind->side(b->state);
}

static ddsc_status tiles_fill(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
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

/* ---- each metric ---- */

static ddsc_status w2_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    (void)stats;
    return tiles_open(state, job, &w2_bounds);
}

const pair_backend w2_bound_tiles = {.name = "w2 lower bounds",
                                     .tile_side = 1, /* the plan tells */
                                     .stage = "bounds",
                                     .open = w2_open,
                                     .tile = tiles_fill,
                                     .close = tiles_close,
                                     .plan = tiles_plan};

static ddsc_status sinkhorn_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    (void)stats;
    CHECK(tiles_open(state, job, &sinkhorn_bounds));
    ((sinkhorn_metric *)job->state)->bounds = ((bound_tiles *)*state)->state;
    return DDSC_OK;
}

static const pair_backend sinkhorn_bound_tiles = {.name = "sinkhorn lower bounds",
                                                  .tile_side = 1, /* the plan tells */
                                                  .open = sinkhorn_open,
                                                  .tile = tiles_fill,
                                                  .close = tiles_close,
                                                  .plan = tiles_plan};

static ddsc_status sinkhorn_refine_open(void *state, bool *offered)
{
    return sinkhorn_bounds.refine(((sinkhorn_metric *)state)->bounds, offered);
}

static double sinkhorn_refine(void *state, int64_t i, int64_t j, double enough, int worker)
{
    return sinkhorn_bounds.refined(((sinkhorn_metric *)state)->bounds, i, j, enough, worker);
}

static bool sinkhorn_pays(const void *state)
{
    return sinkhorn_bounds.pays(state);
}

const pair_pruning pruning_sinkhorn = {.bound = &sinkhorn_bound_tiles,
                                       .closer = bound_tiles_pair,
                                       .refine_open = sinkhorn_refine_open,
                                       .refine = sinkhorn_refine,
                                       .pays = sinkhorn_pays};
