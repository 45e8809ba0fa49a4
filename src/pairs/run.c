/* The public calls over pairs: settings in, backend opened, matrix or graph out. */
#include "graph/graph.h"
#include "pairs/columns.h"
#include "pairs/pairs.h"

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
    s->backend = backend_find(s->set.metric);
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

/* A sample of the pairs is drawn at random, so there is nothing to prune in it; nor in no pairs. */
static ddsc_status session_search(ddsc_context *ctx, ddsc_graph **graph, session *s,
                                  const measures *m, const ddsc_graph_settings *set)
{
    pair_job job = {.ctx = ctx, .m = m, .set = &s->set, .n_workers = parallel_width(ctx)};
    bool prunes = s->backend->pruning && set->exact_graph != DDSC_GRAPH_FULL;
    if (prunes && set->sample >= 1 && m->n > 1)
        return pruned_search(ctx, graph, &s->stats, &job, s->backend, s->state, set);
    return neighbors_search(ctx, graph, &s->stats, m->n, s->backend, s->state, set);
}

/* Whole columns of the matrix, the rest by the Nystrom method. */
static ddsc_status session_columns(ddsc_context *ctx, ddsc_graph **graph, session *s,
                                   const measures *m, const ddsc_graph_settings *set)
{
    ddsc_status status = DDSC_OK;
    column_set c = {0};
    s->start = clock_seconds();
    s->backend = backend_find(s->set.metric);
    TRY(columns_draw(ctx, &c, m->n, set->sample_columns));
    TRY(columns_fill(ctx, &c, &s->stats, m, &s->set));
    TRY(columns_search(ctx, graph, &c, set));
done:
    columns_free(ctx, &c);
    return status;
}

ddsc_status neighbors_make(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const measures *m, const ddsc_metric_settings *metric,
                           const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    session s = {0};
    ddsc_graph_settings set;
    TRY(metric_settings_take(ctx, &s.set, metric));
    TRY(graph_settings_take(ctx, &set, settings));
    const pair_backend *backend = backend_find(s.set.metric);
    if (!backend->pruning)
        TRY(search_check(ctx, &set, backend->name));
    if (set.sample_columns < 1 && m->n > 1) {
        TRY(session_columns(ctx, graph, &s, m, &set));
    } else {
        TRY(session_open(ctx, &s, m));
        TRY(session_search(ctx, graph, &s, m, &set));
    }
    status = session_verdict(ctx, &s, status);
    if (stats)
        *stats = s.stats;
done:
    session_close(&s);
    return status;
}

ddsc_status ddsc_neighbors_run(ddsc_context *context, ddsc_graph **graph, ddsc_pair_stats *stats,
                               const ddsc_measures *data, const ddsc_metric_settings *metric,
                               const ddsc_graph_settings *settings)
{
    if (graph)
        *graph = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!graph || !data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_neighbors_run: %s is NULL",
                        graph ? "measures" : "graph");
    return neighbors_make(context, graph, stats, data, metric, settings);
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
    TRY(search_check(context, &set, backend_vectors.name));
    if (set.sample_columns < 1)
        TRY(ctx_fail(context, DDSC_ERROR_ARGUMENT,
                     "sample_columns = %g: vectors have coordinates already", set.sample_columns));
    TRY(vectors_open(context, &state, n, dim, vectors));
    TRY(neighbors_search(context, graph, &stats, n, &backend_vectors, state, &set));
done:
    if (state)
        backend_vectors.close(state);
    return status;
}
