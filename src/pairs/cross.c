/* Known items against new ones: pairs between the first items of a set and the rest. Both live in
 * one set, so that a backend sees one support table and one choice of bandwidth or epsilon. */
#include <math.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "pairs/pairs.h"

typedef struct cross {
    ddsc_context *ctx;
    const measures *m;
    int64_t n_known; /* rows of every tile come from the known items, columns from the new ones */
    ddsc_metric_settings set;
    const pair_backend *backend;
    void *state;
    int64_t side, first; /* of a tile; column at which the strip at work begins */
    double **d2;         /* one a worker: a tile */
    double *out;         /* n_new x n_known, or NULL: only the nearest */
    bool squared;
    nearest near; /* of each new item among the known */
    int n_workers;
    ddsc_pair_stats *stats; /* one a worker */
    ddsc_pair_stats opened; /* of opening the backend */
    double start;
    /* pruned search */
    const pair_backend *bound;
    void *bound_state;
    bool refines;
    struct candidate **list; /* one a worker: every known item */
} cross;

typedef struct candidate {
    double bound;
    int32_t index;
} candidate;

/* ---- every pair, tile by tile ---- */

static void take_value(cross *c, int64_t i, int64_t j, double d2)
{
    int64_t item = j - c->n_known;
    if (c->out)
        c->out[item * c->n_known + i] = c->squared ? d2 : sqrt(BASE_MAX(d2, 0.0));
    else
        nearest_offer(&c->near, item, i, d2);
}

static ddsc_status bad_value(const cross *c, int64_t i, int64_t j, double d2)
{
    return ctx_fail(c->ctx, DDSC_ERROR_INTERNAL, "metric %s gave %g for items %lld and %lld",
                    c->backend->name, d2, (long long)i, (long long)j);
}

static ddsc_status do_tile(cross *c, const pair_tile *t, int worker)
{
    ddsc_status status = DDSC_OK;
    double *d2 = c->d2[worker];
    TRY(c->backend->tile(c->state, t, d2, c->side, worker, &c->stats[worker]));
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double value = d2[(i - t->i0) * c->side + (j - t->j0)] + 0.0;
            if (!isfinite(value))
                TRY(bad_value(c, i, j, value));
            c->stats[worker].n_clamped += value < 0;
            take_value(c, i, j, value);
        }
    int64_t n_pairs = (t->i1 - t->i0) * (t->j1 - t->j0);
    c->stats[worker].n_solved += n_pairs;
    progress_add(c->ctx, n_pairs);
done:
    return status;
}

static ddsc_status tile_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ddsc_status status = DDSC_OK;
    cross *c = arg;
    int64_t n_blocks = (c->n_known + c->side - 1) / c->side;
    for (int64_t k = begin; k < end; k++) {
        int64_t i0 = k % n_blocks * c->side, j0 = c->first + k / n_blocks * c->side;
        pair_tile t = {.i0 = i0, .i1 = BASE_MIN(c->n_known, i0 + c->side), .j0 = j0};
        t.j1 = BASE_MIN(c->m->n, j0 + c->side);
        TRY(do_tile(c, &t, worker));
    }
done:
    return status;
}

/* Columns [from, to) strip by strip; those of known items are prepared for their self terms. */
static ddsc_status walk_columns(cross *c, int64_t from, int64_t to, int64_t strip, bool tiles)
{
    ddsc_status status = DDSC_OK;
    int64_t n_blocks = (c->n_known + c->side - 1) / c->side;
    for (int64_t j0 = from; j0 < to; j0 += strip) {
        int64_t j1 = BASE_MIN(to, j0 + strip);
        if (c->backend->prepare)
            TRY(c->backend->prepare(c->state, j0, j1));
        c->first = j0;
        int64_t n_columns = (j1 - j0 + c->side - 1) / c->side;
        if (tiles)
            TRY(parallel_for(c->ctx, n_blocks * n_columns, 1, tile_range, c));
    }
done:
    return status;
}

static ddsc_status walk_all(cross *c)
{
    ddsc_status status = DDSC_OK;
    pair_plan plan = {.tile_side = c->backend->tile_side};
    if (c->backend->plan)
        c->backend->plan(c->state, &plan);
    c->side = BASE_MAX(1, plan.tile_side);
    int64_t strip = plan.strip > 0 ? plan.strip : c->m->n;
    TRY(MEM_ZERO(c->ctx, c->d2, c->n_workers));
    for (int w = 0; w < c->n_workers; w++)
        TRY(MEM_NEW(c->ctx, c->d2[w], c->side * c->side));
    if (c->backend->prepare)
        TRY(walk_columns(c, 0, c->n_known, strip, false));
    TRY(walk_columns(c, c->n_known, c->m->n, strip, true));
done:
    return status;
}

/* ---- the nearest, most pairs ruled out by a bound ---- */

static int by_bound(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->bound != b->bound)
        return a->bound < b->bound ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Strictly beyond, with room for rounding: equal distances are decided by index. */
static bool beyond(double bound, double limit)
{
    return isfinite(limit) && bound > limit + 1e-9 * fabs(limit);
}

static ddsc_status list_bounds(cross *c, int64_t j, int worker)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    candidate *list = c->list[worker];
    double *d2 = c->d2[worker];
    for (int64_t i0 = 0; i0 < c->n_known; i0 += c->side) {
        pair_tile t = {.i0 = i0, .i1 = BASE_MIN(c->n_known, i0 + c->side), .j0 = j, .j1 = j + 1};
        TRY(c->bound->tile(c->bound_state, &t, d2, 1, worker, &scratch));
        for (int64_t i = t.i0; i < t.i1; i++)
            list[i] = (candidate){d2[i - t.i0], (int32_t)i};
    }
    qsort(list, (size_t)c->n_known, sizeof *list, by_bound);
    c->stats[worker].n_bounds += c->n_known;
done:
    return status;
}

/* Dearer bounds once there is a limit that they may exceed. */
static bool ruled_out(cross *c, int64_t i, int64_t j, double limit, int worker)
{
    const pair_pruning *rule = c->backend->pruning;
    if (!isfinite(limit))
        return false;
    if (rule->closer && beyond(rule->closer(c->bound_state, i, j, limit), limit))
        return true;
    return c->refines && beyond(rule->refine(c->state, i, j, limit, worker), limit);
}

/* Candidates in the order of their first bound, until that exceeds the tau-th distance found. */
static ddsc_status search_item(cross *c, int64_t j, int worker)
{
    ddsc_status status = DDSC_OK;
    const double *limit = &c->near.limit[j - c->n_known];
    TRY(list_bounds(c, j, worker));
    for (int64_t p = 0; p < c->n_known; p++) {
        candidate next = c->list[worker][p];
        pair_tile t = {.i0 = next.index, .i1 = next.index + 1, .j0 = j, .j1 = j + 1};
        double d2 = NAN;
        if (beyond(next.bound, *limit))
            break;
        if (ruled_out(c, next.index, j, *limit, worker))
            continue;
        TRY(c->backend->tile(c->state, &t, &d2, 1, worker, &c->stats[worker]));
        if (!isfinite(d2))
            TRY(bad_value(c, next.index, j, d2));
        nearest_offer(&c->near, j - c->n_known, next.index, d2 + 0.0);
        c->stats[worker].n_solved++;
    }
    progress_add(c->ctx, c->n_known);
done:
    return status;
}

static ddsc_status search_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ddsc_status status = DDSC_OK;
    cross *c = arg;
    for (int64_t k = begin; k < end; k++)
        TRY(search_item(c, c->n_known + k, worker));
done:
    return status;
}

static ddsc_status search_pruned(cross *c, const pair_job *job)
{
    ddsc_status status = DDSC_OK;
    const pair_pruning *rule = c->backend->pruning;
    ddsc_pair_stats scratch = {0};
    c->bound = rule->bound;
    TRY(c->bound->open(&c->bound_state, job, &scratch));
    if (rule->refine_open)
        TRY(rule->refine_open(c->state, &c->refines));
    pair_plan plan = {.tile_side = c->bound->tile_side};
    if (c->bound->plan)
        c->bound->plan(c->bound_state, &plan);
    c->side = plan.tile_side;
    TRY(MEM_ZERO(c->ctx, c->d2, c->n_workers));
    TRY(MEM_ZERO(c->ctx, c->list, c->n_workers));
    for (int w = 0; w < c->n_workers; w++) {
        TRY(MEM_NEW(c->ctx, c->d2[w], c->side));
        TRY(MEM_NEW(c->ctx, c->list[w], c->n_known));
    }
    TRY(parallel_for(c->ctx, c->m->n - c->n_known, 1, search_range, c));
done:
    return status;
}

/* ---- the two public calls ---- */

static ddsc_status cross_open(cross *c, const char *call, int64_t n_known,
                              const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    if (!c->m || n_known < 1 || n_known >= c->m->n)
        return ctx_fail(c->ctx, DDSC_ERROR_ARGUMENT,
                        "%s: n_known = %lld of %lld items: must leave some on both sides", call,
                        (long long)n_known, (long long)(c->m ? c->m->n : 0));
    c->n_known = n_known;
    c->n_workers = parallel_width(c->ctx);
    c->start = clock_seconds();
    TRY(metric_settings_take(c->ctx, &c->set, settings));
    c->backend = backend_find(c->set.metric);
    TRY(MEM_ZERO(c->ctx, c->stats, c->n_workers));
    pair_job job = {.ctx = c->ctx, .m = c->m, .set = &c->set, .n_workers = c->n_workers};
    TRY(c->backend->open(&c->state, &job, &c->opened));
    progress_begin(c->ctx, "distances", c->n_known * (c->m->n - c->n_known));
done:
    return status;
}

static void cross_close(cross *c)
{
    for (int w = 0; w < c->n_workers; w++) {
        mem_free(c->ctx, c->d2 ? c->d2[w] : NULL);
        mem_free(c->ctx, c->list ? c->list[w] : NULL);
    }
    mem_free(c->ctx, c->d2);
    mem_free(c->ctx, c->list);
    mem_free(c->ctx, c->stats);
    nearest_free(c->ctx, &c->near);
    if (c->bound_state)
        c->bound->close(c->bound_state);
    if (c->state)
        c->backend->close(c->state);
}

static ddsc_status cross_verdict(cross *c, ddsc_pair_stats *stats, ddsc_status status)
{
    ddsc_pair_stats all = c->opened;
    all.n_solved = 0; /* the embedding of LOT counts its transports there */
    for (int w = 0; w < c->n_workers; w++)
        pair_stats_merge(&all, &c->stats[w]);
    all.n_pairs = c->n_known * (c->m->n - c->n_known);
    all.n_pruned = all.n_pairs - all.n_solved;
    all.seconds = clock_seconds() - c->start;
    progress_end(c->ctx);
    if (stats)
        *stats = all;
    if (all.n_not_converged > 0)
        return ctx_fail(c->ctx, DDSC_NOT_CONVERGED,
                        "metric %s: %lld solves met their iteration cap (largest gap %.3g)",
                        c->backend->name, (long long)all.n_not_converged, all.max_gap);
    return status;
}

ddsc_status ddsc_cross_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                           const ddsc_measures *data, int64_t n_known,
                           const ddsc_metric_settings *settings, int squared)
{
    ddsc_status status = DDSC_OK;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    cross c = {.ctx = context, .m = data, .out = out, .squared = squared != 0};
    if (!out)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_cross_run: out is NULL");
    TRY(cross_open(&c, "ddsc_cross_run", n_known, settings));
    TRY(walk_all(&c));
    status = cross_verdict(&c, stats, status);
done:
    cross_close(&c);
    return status;
}

ddsc_status ddsc_cross_neighbors_run(ddsc_context *context, ddsc_graph **graph,
                                     ddsc_pair_stats *stats, const ddsc_measures *data,
                                     int64_t n_known, const ddsc_metric_settings *metric,
                                     const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph_settings set;
    if (graph)
        *graph = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    cross c = {.ctx = context, .m = data};
    if (!graph)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_cross_neighbors_run: graph is NULL");
    TRY(graph_settings_take(context, &set, settings));
    TRY(cross_open(&c, "ddsc_cross_neighbors_run", n_known, metric));
    int64_t tau = set.tau > 0 ? BASE_MIN(set.tau, n_known) : tau_default(n_known);
    TRY(nearest_create(context, &c.near, data->n - n_known, BASE_MAX(1, tau)));
    pair_job job = {.ctx = context, .m = data, .set = &c.set, .n_workers = c.n_workers};
    bool prunes = c.backend->pruning && set.exact_graph != DDSC_GRAPH_FULL;
    if (!c.backend->pruning)
        TRY(search_check(context, &set, c.backend->name));
    TRY(prunes ? search_pruned(&c, &job) : walk_all(&c));
    status = cross_verdict(&c, stats, status);
    TRY(nearest_finish(context, &c.near, graph));
done:
    cross_close(&c);
    return status;
}
