/* The bounds of exact W2: first ones and those of pairs as src/bound/w2.c chooses them, then refined
 * potentials, which are the metric's own where its solves start from them. */
#include "metric/bound_tiles.h"
#include "metric/w2.h"

typedef struct w2_bound_state {
    ddsc_context *ctx;
    const measures *m;
    bound_w2 *first;
    bound_refined **refined; /* in the metric's state */
} w2_bound_state;

static void w2_bound_close(void *state)
{
    w2_bound_state *b = state;
    if (!b)
        return;
    bound_w2_close(b->first);
    mem_free(b->ctx, b);
}

static ddsc_status w2_bound_open(void **state, const bound_job *job)
{
    ddsc_status status = DDSC_OK;
    w2_bound_state *b = NULL;
    TRY(MEM_ZERO(job->ctx, b, 1));
    *b = (w2_bound_state){job->ctx, job->m, NULL, w2_refined(job->metric)};
    TRY(bound_w2_open(&b->first, job));
    *state = b;
    b = NULL;
done:
    w2_bound_close(b);
    return status;
}

static int64_t w2_bound_side(const void *state)
{
    return bound_w2_side(((const w2_bound_state *)state)->first);
}

static void w2_bound_tile(void *state, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out,
                          int64_t ld, int worker)
{
    bound_w2_tile(((w2_bound_state *)state)->first, i0, i1, j0, j1, out, ld, worker);
}

static double w2_bound_pair(const void *state, int64_t i, int64_t j, double enough)
{
    return bound_w2_pair(((const w2_bound_state *)state)->first, i, j, enough);
}

static ddsc_status w2_bound_refine(void *state, bool *offered)
{
    w2_bound_state *b = state;
    *offered = bound_refined_applies(b->m);
    return *offered && !*b->refined ? bound_refined_create(b->ctx, b->refined, b->m) : DDSC_OK;
}

static double w2_bound_refined(void *state, int64_t i, int64_t j, double enough, int worker)
{
    return bound_refined_pair(*((w2_bound_state *)state)->refined, i, j, enough, worker);
}

static double w2_bound_last(void *state, int64_t i, int64_t j, double enough, int worker)
{
    return bound_refined_last(*((w2_bound_state *)state)->refined, i, j, enough, worker);
}

const bound_kind w2_bounds = {.name = "w2",
                              .open = w2_bound_open,
                              .close = w2_bound_close,
                              .side = w2_bound_side,
                              .tile = w2_bound_tile,
                              .pair = w2_bound_pair,
                              .refine = w2_bound_refine,
                              .refined = w2_bound_refined,
                              .last = w2_bound_last};

static ddsc_status tiles_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    (void)stats;
    return bound_tiles_open(state, job, &w2_bounds);
}

const pair_backend w2_bound_tiles = {.name = "w2 lower bounds",
                                     .tile_side = 1, /* the plan tells */
                                     .stage = "bounds",
                                     .open = tiles_open,
                                     .tile = bound_tiles_fill,
                                     .close = bound_tiles_close,
                                     .plan = bound_tiles_plan};
