/* The public calls over pairs: settings in, backend opened, matrix or graph out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/sized.h"
#include "engine/journal.h"
#include "graph/graph.h"
#include "plan/approximate.h"
#include "plan/nystrom.h"
#include "plan/plan.h"
#include "search/prefilter.h"

/* A clustering says as much in its advice (cluster/advice.c). */
static const double COLUMNS_POOR = 0.25;

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
    journal *journal; /* or NULL */
    resumed *resumed; /* the backend over it */
    ddsc_pair_stats stats;
    double start;
} session;

/* With a folder to resume from, what it holds must be of this run; `what` tells a matrix from a
 * graph. NULL: nothing is kept. */
static ddsc_status session_journal(ddsc_context *ctx, session *s, const measures *m,
                                   const char *what)
{
    ddsc_status status = DDSC_OK;
    char *manifest = NULL;
    if (!what || !ctx_resume_folder(ctx))
        return DDSC_OK;
    TRY(manifest_make(ctx, &manifest, m, &s->set, what));
    TRY(journal_open(ctx, &s->journal, ctx_resume_folder(ctx), manifest, parallel_width(ctx)));
done:
    mem_free(ctx, manifest);
    return status;
}

static ddsc_status session_open(ddsc_context *ctx, session *s, const measures *m, const char *what)
{
    ddsc_status status = DDSC_OK;
    s->start = clock_seconds();
    s->backend = backend_for(&s->set);
    pair_job job = {.ctx = ctx, .m = m, .set = &s->set, .n_workers = parallel_width(ctx)};
    TRY(session_journal(ctx, s, m, what));
    TRY(s->backend->open(&s->state, &job, &s->stats));
    if (s->journal)
        TRY(resumed_open(ctx, &s->resumed, s->journal, s->backend, s->state));
done:
    return status;
}

/* What the engine works with. */
static const pair_backend *session_backend(const session *s)
{
    return s->resumed ? resumed_backend(s->resumed) : s->backend;
}

static void *session_state(const session *s)
{
    return s->resumed ? (void *)s->resumed : s->state;
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

/* What an interrupted run has in memory goes to its folder, too; that it could not be written only
 * matters to a run that is otherwise good. */
static ddsc_status session_close(session *s, ddsc_status status)
{
    ddsc_status late = resumed_close(s->resumed), kept = journal_close(s->journal);
    if (s->backend && s->state)
        s->backend->close(s->state);
    kept = late < 0 ? late : kept;
    return status >= 0 && kept < 0 ? kept : status;
}

ddsc_status ddsc_distance_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                              const ddsc_measures *data, const ddsc_metric_settings *settings,
                              unsigned flags)
{
    ddsc_status status = DDSC_OK;
    session s = {0};
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!out || !data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_distance_run: %s is NULL",
                        out ? "measures" : "out");
    TRY(ctx_check_flags(context, "ddsc_distance_run", flags,
                        DDSC_DISTANCE_SQUARED | DDSC_DISTANCE_CONDENSED));
    TRY(stats_check(context, stats));
    TRY(metric_settings_take(context, &s.set, settings));
    TRY(session_open(context, &s, data, "of the matrix"));
    TRY(matrix_fill(context, out, &s.stats, data->n, session_backend(&s), session_state(&s),
                    (flags & DDSC_DISTANCE_CONDENSED) != 0, (flags & DDSC_DISTANCE_SQUARED) != 0));
    status = session_verdict(context, &s, status);
    stats_give(stats, &s.stats);
done:
    return session_close(&s, status);
}

ddsc_status ddsc_cross_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                           const ddsc_measures *rows, const ddsc_measures *columns,
                           const ddsc_metric_settings *settings, unsigned flags)
{
    ddsc_status status = DDSC_OK;
    session s = {0};
    measures *joint = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!out || !rows || !columns)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_cross_run: %s is NULL",
                        out ? (rows ? "columns" : "rows") : "out");
    if (rows->d != columns->d)
        return ctx_fail(context, DDSC_ERROR_INPUT,
                        "the items of the rows have points of %lld coordinates, those of the "
                        "columns of %lld",
                        (long long)rows->d, (long long)columns->d);
    TRY(ctx_check_flags(context, "ddsc_cross_run", flags, DDSC_DISTANCE_SQUARED));
    TRY(stats_check(context, stats));
    TRY(metric_settings_take(context, &s.set, settings));
    TRY(measures_join(context, &joint, columns, rows));
    TRY(session_open(context, &s, joint, NULL));
    TRY(matrix_fill_across(context, out, &s.stats, columns->n, joint->n, s.backend, s.state,
                           (flags & DDSC_DISTANCE_SQUARED) != 0));
    status = session_verdict(context, &s, status);
    stats_give(stats, &s.stats);
done:
    status = session_close(&s, status);
    ddsc_measures_destroy(joint);
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

static bool session_prunes(const session *s, ddsc_exact_graph asked)
{
    const pair_pruning *rule = s->backend->pruning;
    if (!rule || asked == DDSC_GRAPH_FULL)
        return false;
    return asked == DDSC_GRAPH_PRUNED || !rule->pays || rule->pays(s->state);
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
    const pair_backend *backend = session_backend(s);
    void *state = session_state(s);
    pair_job job = {.ctx = ctx, .m = m, .set = &s->set, .n_workers = parallel_width(ctx)};
    job.state = s->state;
    if (approximate_asked(m->n, set))
        return approximate_search(ctx, graph, &s->stats, &job, backend, state, set);
    if (session_prunes(s, set->exact_graph) && set->sample >= 1 && m->n > 1)
        return pruned_search(ctx, graph, &s->stats, &job, backend, state, set);
    return search_run(ctx, graph, &s->stats, m->n, backend, state, set);
}

/* Whole columns of the matrix, the rest by the Nystrom method. */
static ddsc_status session_columns(ddsc_context *ctx, ddsc_graph **graph, session *s,
                                   const measures *m, const ddsc_graph_settings *set)
{
    ddsc_status status = DDSC_OK;
    column_set c = {0};
    s->start = clock_seconds();
    s->backend = backend_for(&s->set);
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
    char what[128];
    TRY(metric_settings_take(ctx, &s.set, metric));
    TRY(graph_settings_take(ctx, &set, settings));
    const pair_backend *backend = backend_for(&s.set);
    if (!backend->pruning && !backend->screen)
        TRY(search_check(ctx, &set, backend->name));
    if (set.sample_columns < 1 && m->n > 1) {
        TRY(session_columns(ctx, graph, &s, m, &set));
    } else {
        snprintf(what, sizeof what,
                 "of the graph, tau %" PRId64 ", search %d, neighbors %d, sample %.17g",
                 tau_used(m->n, &set), (int)set.exact_graph, (int)set.neighbors, set.sample);
        TRY(session_open(ctx, &s, m, what));
        TRY(session_search(ctx, graph, &s, m, &set));
    }
    status = session_verdict(ctx, &s, status);
    if (stats)
        *stats = s.stats;
done:
    status = session_close(&s, status);
    if (status < 0) {
        ddsc_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

static void warn_of_columns(ddsc_context *ctx, const ddsc_graph *g)
{
    if (g->n_columns > 0 && isnan(g->columns_error))
        ctx_warn(ctx, "%lld columns are too few to tell how good the other distances are",
                 (long long)g->n_columns);
    else if (g->n_columns > 0 && g->columns_error > COLUMNS_POOR)
        ctx_warn(ctx,
                 "distances outside the %lld columns are rough (error %.2f of their spread); raise "
                 "the fraction of columns",
                 (long long)g->n_columns, g->columns_error);
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
    ddsc_pair_stats found = {0};
    CHECK(stats_check(context, stats));
    ddsc_status status = neighbors_make(context, graph, &found, data, metric, settings);
    if (status < 0)
        return status;
    stats_give(stats, &found);
    warn_of_columns(context, *graph);
    return status;
}

ddsc_status across_run(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                       const across_problem *problem, const ddsc_metric_settings *metric)
{
    ddsc_status status = DDSC_OK;
    session s = {.set = *metric};
    pair_job job = {.ctx = ctx, .m = problem->m, .set = &s.set, .n_workers = parallel_width(ctx)};
    TRY(session_open(ctx, &s, problem->m, NULL));
    job.state = s.state;
    if (session_prunes(&s, problem->exact_graph))
        TRY(across_search_pruned(ctx, out, &s.stats, problem, &job, s.backend, s.state));
    else
        TRY(across_search(ctx, out, &s.stats, problem, s.backend, s.state));
    status = session_verdict(ctx, &s, status);
    *stats = s.stats;
done:
    return session_close(&s, status);
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
    if (set.sample_columns < 1)
        TRY(ctx_fail(context, DDSC_ERROR_ARGUMENT,
                     "sample_columns = %g: vectors have coordinates already", set.sample_columns));
    TRY(vectors_open(context, &state, n, dim, vectors));
    TRY(search_run(context, graph, &stats, n, &backend_vectors, state, &set));
done:
    if (state)
        backend_vectors.close(state);
    return status;
}
