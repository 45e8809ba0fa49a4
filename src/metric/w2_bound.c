/* Tiles of lower bounds for exact W2. Projections are tight in few dimensions and cost one short
 * matrix product; the relaxed bound is tight for small supports in many dimensions (documents). */
#include <math.h>

#include "bound/bound.h"
#include "metric/metric.h"

enum { PROJECTION_DIM = 8, RELAXED_MEAN_SIZE = 64, PROJECTION_SIDE = 256 };

typedef struct bound_state {
    ddsc_context *ctx;
    bool relaxed, on_grid;
    projection_bound projection;
    marginal_bound marginal;
    relaxed_bound transport;
    int n_workers;
    float **room; /* one a worker: the tile in float, then workspace */
} bound_state;

/* Large blocks share more points; small sets get small ones, so that many threads find work. */
static int64_t relaxed_side(int64_t n)
{
    return BASE_MAX(32, BASE_MIN(256, n / 16));
}

static int64_t side_of(const bound_state *s)
{
    return s->relaxed ? s->transport.side : PROJECTION_SIDE;
}

static void bound_close(void *state)
{
    bound_state *s = state;
    if (!s)
        return;
    ddsc_context *ctx = s->ctx;
    projection_bound_free(ctx, &s->projection);
    marginal_bound_free(ctx, &s->marginal);
    relaxed_bound_free(ctx, &s->transport);
    for (int w = 0; s->room && w < s->n_workers; w++)
        mem_free(ctx, s->room[w]);
    mem_free(ctx, s->room);
    mem_free(ctx, s);
}

static ddsc_status bound_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = job->ctx;
    const measures *m = job->m;
    bound_state *s = NULL;
    (void)stats;
    TRY(MEM_ZERO(ctx, s, 1));
    s->ctx = ctx;
    s->n_workers = job->n_workers;
    s->relaxed = m->d > PROJECTION_DIM && m->nnz <= RELAXED_MEAN_SIZE * m->n;
    if (s->relaxed)
        TRY(relaxed_bound_make(ctx, &s->transport, m, relaxed_side(m->n)));
    else
        TRY(projection_bound_make(ctx, &s->projection, m));
    s->on_grid = !s->relaxed && marginal_applies(m);
    if (s->on_grid)
        TRY(marginal_bound_make(ctx, &s->marginal, m));
    int64_t side = side_of(s), room = side * side;
    room += s->relaxed ? relaxed_bound_room(&s->transport) : 0;
    TRY(MEM_ZERO(ctx, s->room, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        TRY(MEM_NEW(ctx, s->room[w], room));
    *state = s;
    s = NULL;
done:
    bound_close(s);
    return status;
}

static void bound_plan(const void *state, pair_plan *plan)
{
    plan->tile_side = side_of(state);
}

static ddsc_status bound_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                              ddsc_pair_stats *stats)
{
    const bound_state *s = state;
    float *room = s->room[worker];
    int64_t side = side_of(s), columns = t->j1 - t->j0;
    double unit2 = s->relaxed ? s->transport.unit2 : s->projection.unit2;
    (void)stats;
    if (s->relaxed)
        relaxed_bound_tile(&s->transport, t->i0, t->i1, t->j0, t->j1, room, side,
                           room + side * side);
    else
        projection_bound_tile(&s->projection, t->i0, t->i1, t->j0, t->j1, room, side);
    for (int64_t i = 0; i < t->i1 - t->i0; i++)
        for (int64_t j = 0; j < columns; j++)
            d2[i * ld + j] = room[i * side + j] > 0 ? unit2 * (double)room[i * side + j] : 0;
    return DDSC_OK;
}

double bound_w2_closer(const void *state, int64_t i, int64_t j, double enough)
{
    const bound_state *s = state;
    if (s->relaxed)
        return 0;
    double bound = s->on_grid ? marginal_bound_pair(&s->marginal, i, j, enough) : 0;
    return bound > enough ? bound
                          : fmax(bound, projection_bound_pair(&s->projection, i, j, enough));
}

const pair_backend bound_w2 = {.name = "w2 lower bounds",
                               .tile_side = PROJECTION_SIDE,
                               .stage = "bounds",
                               .open = bound_open,
                               .tile = bound_tile,
                               .close = bound_close,
                               .plan = bound_plan};
