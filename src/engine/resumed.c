/* The backend that keeps what another one solves. It stands between engine and metric, so the tile
 * walk and the pruned search know nothing of it. A pair that is looked up leaves no potentials
 * behind and gives no cut: the search may solve a few more pairs, the graph is the same. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/journal.h"

/* A value that takes less than this many seconds to make is cheaper to make again than to keep. */
static const double CHEAP = 5e-7;

struct resumed {
    ddsc_context *ctx;
    journal *j;
    const pair_backend *inner;
    void *state;
    pair_backend table;
    pair_pruning pruning;
    int n_workers;
    int64_t most;      /* values a tile can have */
    double **values;   /* one a worker */
    bool *replayed;    /* one a worker: its last tile was looked up */
    ddsc_status *late; /* one a worker: what went wrong where it could not be said */
};

static int64_t count_wanted(const pair_tile *t)
{
    int64_t n = 0;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            n += tile_wants(t, i, j);
    return n;
}

static void gather(const pair_tile *t, const double *d2, int64_t ld, double *values)
{
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            if (tile_wants(t, i, j))
                *values++ = d2[(i - t->i0) * ld + (j - t->j0)];
}

static void scatter(const pair_tile *t, double *d2, int64_t ld, const double *values)
{
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            if (tile_wants(t, i, j))
                d2[(i - t->i0) * ld + (j - t->j0)] = *values++;
}

static ddsc_status resumed_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                                ddsc_pair_stats *stats)
{
    resumed *r = state;
    ddsc_pair_stats took = {0};
    int64_t n = count_wanted(t);
    double *values = r->values[worker];
    if (r->late[worker] < 0)
        return r->late[worker];
    r->replayed[worker] = n <= r->most && journal_find(r->j, t, n, values, &took, worker);
    if (r->replayed[worker]) {
        scatter(t, d2, ld, values);
        pair_stats_merge(stats, &took);
        ctx_resume_count(r->ctx, n);
        return took.n_not_converged > 0 ? DDSC_NOT_CONVERGED : DDSC_OK;
    }
    double began = clock_seconds();
    ddsc_status status = r->inner->tile(r->state, t, d2, ld, worker, &took);
    pair_stats_merge(stats, &took);
    if (status < 0 || n > r->most || clock_seconds() - began < CHEAP * (double)n)
        return status;
    gather(t, d2, ld, values);
    ddsc_status kept = journal_keep(r->j, t, n, values, &took, worker);
    return kept < 0 ? kept : status;
}

static void resumed_plan(const void *state, pair_plan *plan)
{
    const resumed *r = state;
    if (r->inner->plan)
        r->inner->plan(r->state, plan);
}

static ddsc_status resumed_prepare(void *state, int64_t j0, int64_t j1)
{
    const resumed *r = state;
    return r->inner->prepare ? r->inner->prepare(r->state, j0, j1) : DDSC_OK;
}

static ddsc_status resumed_screen(void *state, struct pair_screen *screen)
{
    const resumed *r = state;
    return r->inner->screen(r->state, screen);
}

static bool resumed_cut(void *state, int worker, int side, pair_cut *cut)
{
    const resumed *r = state;
    return !r->replayed[worker] && r->inner->pruning->cut(r->state, worker, side, cut);
}

static ddsc_status resumed_refine_open(void *state, bool *offered)
{
    const resumed *r = state;
    return r->inner->pruning->refine_open(r->state, offered);
}

/* A refined bound is a function of the pair and of what is enough: (j, i), which is no tile, holds
 * both; the quick look and the full one are apart. */
static double resumed_refine(void *state, int64_t i, int64_t j, double enough, int worker)
{
    const resumed *r = state;
    pair_tile t = {.i0 = BASE_MAX(i, j), .i1 = isfinite(enough), .j0 = BASE_MIN(i, j), .j1 = -1};
    ddsc_pair_stats took = {0};
    double kept[2];
    if (journal_find(r->j, &t, 2, kept, &took, worker) && kept[0] == enough)
        return kept[1];
    kept[0] = enough;
    kept[1] = r->inner->pruning->refine(r->state, i, j, enough, worker);
    ddsc_status status = journal_keep(r->j, &t, 2, kept, &took, worker);
    if (status < 0)
        r->late[worker] = status;
    return kept[1];
}

/* The inner table, with those functions replaced that see a state. */
static double resumed_last(void *state, int64_t i, int64_t j, double enough, int worker)
{
    const resumed *r = state;
    return r->inner->pruning->last(r->state, i, j, enough, worker);
}

static void fill_tables(resumed *r)
{
    r->table = *r->inner;
    r->table.open = NULL;
    r->table.close = NULL;
    r->table.tile = resumed_tile;
    r->table.plan = resumed_plan;
    r->table.prepare = resumed_prepare;
    r->table.screen = r->inner->screen ? resumed_screen : NULL;
    if (!r->inner->pruning)
        return;
    r->pruning = *r->inner->pruning;
    r->pruning.cut = r->pruning.cut ? resumed_cut : NULL;
    r->pruning.refine_open = r->pruning.refine_open ? resumed_refine_open : NULL;
    r->pruning.refine = r->pruning.refine ? resumed_refine : NULL;
    r->pruning.last = r->pruning.last ? resumed_last : NULL;
    r->table.pruning = &r->pruning;
}

ddsc_status resumed_open(ddsc_context *ctx, resumed **out, journal *j, const pair_backend *inner,
                         void *inner_state)
{
    ddsc_status status = DDSC_OK;
    resumed *r = NULL;
    pair_plan plan = {.tile_side = inner->tile_side};
    TRY(MEM_ZERO(ctx, r, 1));
    *r = (resumed){.ctx = ctx, .j = j, .inner = inner, .state = inner_state};
    r->n_workers = parallel_width(ctx);
    fill_tables(r);
    resumed_plan(r, &plan);
    r->most = plan.tile_side * plan.tile_side;
    TRY(MEM_ZERO(ctx, r->values, r->n_workers));
    TRY(MEM_ZERO(ctx, r->replayed, r->n_workers));
    TRY(MEM_ZERO(ctx, r->late, r->n_workers));
    for (int w = 0; w < r->n_workers; w++)
        TRY(MEM_NEW(ctx, r->values[w], r->most));
    *out = r;
    r = NULL;
done:
    resumed_close(r);
    return status;
}

const pair_backend *resumed_backend(const resumed *r)
{
    return &r->table;
}

ddsc_status resumed_close(resumed *r)
{
    ddsc_status late = DDSC_OK;
    if (!r)
        return DDSC_OK;
    for (int w = 0; r->late && w < r->n_workers; w++)
        late = late < 0 ? late : r->late[w];
    for (int w = 0; r->values && w < r->n_workers; w++)
        mem_free(r->ctx, r->values[w]);
    mem_free(r->ctx, r->values);
    mem_free(r->ctx, r->replayed);
    mem_free(r->ctx, r->late);
    mem_free(r->ctx, r);
    return late;
}
