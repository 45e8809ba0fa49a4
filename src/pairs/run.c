/* The public calls over pairs: settings in, backend opened, matrix or graph out. */
#include "graph/graph.h"
#include "pairs/pairs.h"
#include "pairs/approximate.h"
#include "pairs/screen.h"

const pair_backend *backend_find(ddsc_metric metric)
{
    switch (metric) {
    case DDSC_METRIC_W2: return &backend_w2;
    case DDSC_METRIC_SINKHORN: return &backend_sinkhorn;
    case DDSC_METRIC_MMD: return &backend_mmd;
    case DDSC_METRIC_LOT: return &backend_lot;
    }
    return NULL;
}

const pair_backend *backend_for(const ddsc_metric_settings *settings)
{
    if (settings->metric == DDSC_METRIC_MMD && settings->mmd_features > 0)
        return &backend_features;
    return backend_find(settings->metric);
}

/* An open backend over a set of measures. */
typedef struct session {
    ddsc_metric_settings set;
    const pair_backend *backend;
    void *state;
    ddsc_pair_stats stats;
    double start;
} session;

static ddsc_status session_open(ddsc_context *ctx, session *s, const measures *m)
{
    s->start = clock_seconds();
    s->backend = backend_for(&s->set);
    pair_job job = {.ctx = ctx, .m = m, .set = &s->set, .n_workers = parallel_width(ctx)};
    return s->backend->open(&s->state, &job, &s->stats);
}

/* A run whose solves met their cap says so in its status and in words. */
static ddsc_status session_verdict(ddsc_context *ctx, session *s, ddsc_status status)
{
    s->stats.seconds = clock_seconds() - s->start;
    if (status >= 0 && s->stats.n_not_converged > 0)
        return ctx_fail(ctx, DDSC_NOT_CONVERGED,
                        "metric %s: %lld solves met their iteration cap (largest gap %.3g)",
                        s->backend->name, (long long)s->stats.n_not_converged, s->stats.max_gap);
    return status;
}

static void session_close(session *s)
{
    if (s->backend && s->state)
        s->backend->close(s->state);
}

ddsc_status ddsc_distance_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                              const ddsc_measures *data, const ddsc_metric_settings *settings,
                              int condensed, int squared)
{
    ddsc_status status = DDSC_OK;
    session s = {0};
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!out || !data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_distance_run: %s is NULL",
                        out ? "measures" : "out");
    TRY(metric_settings_take(context, &s.set, settings));
    TRY(session_open(context, &s, data));
    TRY(matrix_fill(context, out, &s.stats, data->n, s.backend, s.state, condensed != 0,
                    squared != 0));
    status = session_verdict(context, &s, status);
    if (stats)
        *stats = s.stats;
done:
    session_close(&s);
    return status;
}

/* Exact pruning needs lower bounds from the metric. */
ddsc_status search_check(ddsc_context *ctx, const ddsc_graph_settings *set, const char *name)
{
    if (set->exact_graph != DDSC_GRAPH_PRUNED)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "exact_graph = pruned: %s has no lower bounds; use auto or full", name);
}

/* Below this many items a screen saves less than it costs. */
enum { SCREEN_ITEMS = 2000 };

ddsc_status search_run(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats, int64_t n,
                       const pair_backend *backend, void *state, const ddsc_graph_settings *set)
{
    ddsc_status status = DDSC_OK;
    pair_screen screen = {0};
    bool done = false, asked = set->exact_graph == DDSC_GRAPH_PRUNED;
    if (backend->screen && set->exact_graph != DDSC_GRAPH_FULL && set->sample >= 1 && n > 1 &&
        (asked || n >= SCREEN_ITEMS))
        TRY(backend->screen(state, &screen));
    if (asked && n > 1 && set->sample >= 1 && screen.columns == 0)
        TRY(search_check(ctx, set, backend->name));
    if (screen.columns > 0)
        TRY(screened_search(ctx, graph, stats, &screen, backend, state, set, &done));
    screen_free(ctx, &screen);
    if (!done)
        TRY(neighbors_search(ctx, graph, stats, n, backend, state, set));
done:
    screen_free(ctx, &screen);
    return status;
}

/* A sample of the pairs is drawn at random, so there is nothing to prune in it; nor in no pairs. */
static ddsc_status session_search(ddsc_context *ctx, ddsc_graph **graph, session *s,
                                  const measures *m, const ddsc_graph_settings *set)
{
    pair_job job = {.ctx = ctx, .m = m, .set = &s->set, .n_workers = parallel_width(ctx)};
    bool prunes = s->backend->pruning && set->exact_graph != DDSC_GRAPH_FULL;
    if (approximate_asked(m->n, set))
        return approximate_search(ctx, graph, &s->stats, &job, s->backend, s->state, set);
    if (prunes && set->sample >= 1 && m->n > 1)
        return pruned_search(ctx, graph, &s->stats, &job, s->backend, s->state, set);
    return search_run(ctx, graph, &s->stats, m->n, s->backend, s->state, set);
}

ddsc_status ddsc_neighbors_run(ddsc_context *context, ddsc_graph **graph, ddsc_pair_stats *stats,
                               const ddsc_measures *data, const ddsc_metric_settings *metric,
                               const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    session s = {0};
    ddsc_graph_settings set;
    if (graph)
        *graph = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!graph || !data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_neighbors_run: %s is NULL",
                        graph ? "measures" : "graph");
    TRY(metric_settings_take(context, &s.set, metric));
    TRY(graph_settings_take(context, &set, settings));
    const pair_backend *backend = backend_for(&s.set);
    if (!backend->pruning && !backend->screen)
        TRY(search_check(context, &set, backend->name));
    TRY(session_open(context, &s, data));
    TRY(session_search(context, graph, &s, data, &set));
    status = session_verdict(context, &s, status);
    if (stats)
        *stats = s.stats;
done:
    session_close(&s);
    return status;
}

ddsc_status across_run(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                       const across_problem *problem, const ddsc_metric_settings *metric)
{
    ddsc_status status = DDSC_OK;
    session s = {.set = *metric};
    pair_job job = {.ctx = ctx, .m = problem->m, .set = &s.set, .n_workers = parallel_width(ctx)};
    TRY(session_open(ctx, &s, problem->m));
    if (s.backend->pruning && problem->exact_graph != DDSC_GRAPH_FULL)
        TRY(across_search_pruned(ctx, out, &s.stats, problem, &job, s.backend, s.state));
    else
        TRY(across_search(ctx, out, &s.stats, problem, s.backend, s.state));
    status = session_verdict(ctx, &s, status);
    *stats = s.stats;
done:
    session_close(&s);
    return status;
}

ddsc_status ddsc_graph_create_from_vectors(ddsc_context *context, ddsc_graph **graph, int64_t n,
                                           int64_t dim, const double *vectors,
                                           const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph_settings set;
    ddsc_pair_stats stats = {0};
    void *state = NULL;
    if (graph)
        *graph = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!graph || (!vectors && n > 0))
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_graph_create_from_vectors: %s is NULL",
                        graph ? "vectors" : "graph");
    TRY(graph_settings_take(context, &set, settings));
    TRY(vectors_open(context, &state, n, dim, vectors));
    TRY(search_run(context, graph, &stats, n, &backend_vectors, state, &set));
done:
    if (state)
        backend_vectors.close(state);
    return status;
}
