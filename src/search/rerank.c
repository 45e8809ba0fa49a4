#include "engine/engine.h"
#include "search/rerank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void candidates_free(ddsc_context *ctx, candidates *c)
{
    mem_free(ctx, c->offset);
    mem_free(ctx, c->index);
    *c = (candidates){0};
}

typedef struct ranking {
    ddsc_context *ctx;
    nearest *near;
    const pair_backend *backend;
    void *state;
    candidates pairs;       /* of item j: the i < j, ascending, each once */
    int64_t first;          /* item the strip at work begins with */
    ddsc_pair_stats *stats; /* one a worker */
} ranking;

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Pairs by their larger end, repeated where both ends named each other. */
static ddsc_status collect(ddsc_context *ctx, candidates *pairs, const candidates *c)
{
    int64_t n = c->n, *at;
    pairs->n = n;
    CHECK(MEM_ZERO(ctx, pairs->offset, n + 2));
    CHECK(MEM_NEW(ctx, pairs->index, c->offset[n]));
    at = pairs->offset + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++)
            at[BASE_MAX(i, c->index[e]) + 1]++;
    for (int64_t j = 0; j < n; j++)
        at[j + 1] += at[j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++)
            pairs->index[at[BASE_MAX(i, c->index[e])]++] = (int32_t)BASE_MIN(i, c->index[e]);
    return DDSC_OK;
}

/* After collect, offset[j] .. offset[j + 1] are the pairs of j. */
static ddsc_status sort_pairs(void *arg, int64_t begin, int64_t end, int worker)
{
    candidates *p = arg;
    (void)worker;
    for (int64_t j = begin; j < end; j++)
        qsort(p->index + p->offset[j], (size_t)(p->offset[j + 1] - p->offset[j]), sizeof *p->index,
              by_number);
    return DDSC_OK;
}

static void drop_repeated(candidates *p)
{
    int64_t to = 0, from = 0;
    for (int64_t j = 0; j < p->n; j++) {
        int64_t begin = to, end = p->offset[j + 1];
        for (; from < end; from++)
            if (to == begin || p->index[to - 1] != p->index[from])
                p->index[to++] = p->index[from];
        p->offset[j] = begin;
    }
    p->offset[p->n] = to;
}

static ddsc_status rank_pair(ranking *r, int64_t i, int64_t j, int worker)
{
    double d2 = 0;
    ddsc_pair_stats *stats = &r->stats[worker];
    pair_tile tile = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
    ddsc_status status = r->backend->tile(r->state, &tile, &d2, 1, worker, stats);
    if (status < 0)
        return status;
    if (!isfinite(d2))
        return ctx_fail(r->ctx, DDSC_ERROR_INTERNAL, "metric %s gave %g for items %lld and %lld",
                        r->backend->name, d2, (long long)i, (long long)j);
    d2 += 0.0;
    stats->n_clamped += d2 < 0;
    nearest_offer(r->near, i, j, d2);
    nearest_offer(r->near, j, i, d2);
    return status;
}

static ddsc_status rank_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ranking *r = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t j = r->first + begin; j < r->first + end; j++) {
        for (int64_t e = r->pairs.offset[j]; e < r->pairs.offset[j + 1]; e++)
            TRY(rank_pair(r, r->pairs.index[e], j, worker));
        progress_add(r->ctx, r->pairs.offset[j + 1] - r->pairs.offset[j]);
    }
done:
    return status;
}

static ddsc_status rank_strips(ranking *r)
{
    ddsc_status status = DDSC_OK;
    pair_plan plan = {.tile_side = r->backend->tile_side};
    if (r->backend->plan)
        r->backend->plan(r->state, &plan);
    int64_t n = r->pairs.n, strip = plan.strip > 0 ? plan.strip : n;
    progress_begin(r->ctx, "candidates", r->pairs.offset[n]);
    for (r->first = 0; r->first < n; r->first += strip) {
        int64_t end = BASE_MIN(n, r->first + strip);
        if (r->backend->prepare)
            TRY(r->backend->prepare(r->state, r->first, end));
        TRY(parallel_for(r->ctx, end - r->first, 4, rank_range, r));
    }
    progress_end(r->ctx);
done:
    return status;
}

ddsc_status candidates_rank(ddsc_context *ctx, nearest *near, ddsc_pair_stats *stats,
                            const candidates *c, const pair_backend *backend, void *state)
{
    ddsc_status status = DDSC_OK;
    int n_workers = parallel_width(ctx);
    ranking r = {.ctx = ctx, .near = near, .backend = backend, .state = state};
    TRY(MEM_ZERO(ctx, r.stats, n_workers));
    TRY(collect(ctx, &r.pairs, c));
    TRY(parallel_for(ctx, c->n, 256, sort_pairs, &r.pairs));
    drop_repeated(&r.pairs);
    TRY(rank_strips(&r));
    for (int w = 0; w < n_workers; w++) {
        r.stats[w].n_solved = 0;
        pair_stats_merge(stats, &r.stats[w]);
    }
    stats->n_solved += r.pairs.offset[c->n];
done:
    candidates_free(ctx, &r.pairs);
    mem_free(ctx, r.stats);
    return status;
}
