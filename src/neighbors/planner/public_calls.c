/* Implements the public functions that compute a matrix or a graph. */
#include <math.h>

#include "base/sized.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"
#include "numeric/graph/graph.h"

/* Returns true if distances are proportional to the coordinates and no parameter has the unit of
 * the coordinates. */
static bool may_scale(const ddsc_metric_settings *set)
{
    bool exact = set->metric == DDSC_METRIC_W2 || set->metric == DDSC_METRIC_W1;
    return exact && set->cost != DDSC_COST_COSINE && set->cost != DDSC_COST_MATRIX;
}

/* If squared distances may underflow (distances below 1e-150), copies the set with coordinates
 * scaled by a power of two. This is done only for exact transport. */
static ddsc_status to_unit(ddsc_context *ctx, measures **scaled, double *unit, const measures *m,
                           bool possible)
{
    double largest = 0;
    int exponent;
    *unit = 1;
    for (int64_t k = 0; possible && k < m->v * m->d; k++)
        largest = BASE_MAX(largest, fabs(m->support[k]));
    /* Coordinates below 1e-290 have already lost digits, so scaling would not help. */
    if (!possible || largest > 1e-130 || largest < 1e-290)
        return DDSC_OK;
    frexp(largest, &exponent);
    *unit = ldexp(1, exponent);
    CHECK(measures_subset(ctx, scaled, m, m->n, NULL));
    for (int64_t k = 0; k < (*scaled)->v * m->d; k++)
        (*scaled)->support[k] = ldexp((*scaled)->support[k], -exponent);
    (*scaled)->grid.found = false; /* the grid steps have the old unit and are not used */
    return DDSC_OK;
}

static int64_t matrix_cells(int64_t n, int64_t n_old, unsigned flags)
{
    if (n_old >= 0)
        return n_old * (n - n_old);
    return flags & DDSC_DISTANCE_CONDENSED ? n * (n - 1) / 2 : n * n;
}

ddsc_status plan_matrix(ddsc_context *ctx, double *out, ddsc_pair_stats *stats, const measures *m,
                        int64_t n_old, const ddsc_metric_settings *given, unsigned flags)
{
    ddsc_status status = DDSC_OK;
    int64_t n = m->n, n_pairs = n_old < 0 ? n * (n - 1) / 2 : n_old * (n - n_old);
    ddsc_metric_settings set;
    ddsc_pair_stats found = {0};
    metric_resolved metric = {0};
    plan_metric r = {0};
    measures *scaled = NULL;
    double unit;
    CHECK(stats_check(ctx, stats));
    CHECK(plan_take_metric(ctx, &set, given));
    CHECK(plan_warn_bandwidth(ctx, m, &set));
    CHECK(plan_warn_coordinates(ctx, m));
    TRY(to_unit(ctx, &scaled, &unit, m, may_scale(&set) && !(flags & DDSC_DISTANCE_SQUARED)));
    m = scaled ? scaled : m;
    TRY(metric_resolve(ctx, &metric, m, &set));
    TRY(metric_settle(ctx, &metric, m, NULL));
    TRY(plan_metric_open(ctx, &r, metric_measures(&metric, m), &metric, n_old < 0,
                         n_old < 0 ? "of the matrix" : NULL));
    TRY(pairs_matrix(&r.p, out, n_old, flags));
    ctx_device_report(ctx);
    for (int64_t k = 0; scaled && k < matrix_cells(n, n_old, flags); k++)
        out[k] *= unit;
done:
    if (r.metric)
        status = plan_metric_close(&r, status, n_pairs, &found);
    metric_resolved_free(&metric);
    ddsc_measures_destroy(scaled);
    if (status >= 0)
        stats_give(stats, &found);
    return status;
}

ddsc_status ddsc_distance_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                              const ddsc_measures *data, const ddsc_metric_settings *settings,
                              unsigned flags)
{
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, out, "out"));
    CHECK(ctx_need(context, data, "measures"));
    CHECK(ctx_check_flags(context, "ddsc_distance_run", flags,
                          DDSC_DISTANCE_SQUARED | DDSC_DISTANCE_CONDENSED));
    return plan_matrix(context, out, stats, data, -1, settings, flags);
}

ddsc_status ddsc_cross_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                           const ddsc_measures *rows, const ddsc_measures *columns,
                           const ddsc_metric_settings *settings, unsigned flags)
{
    measures *joint = NULL;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, out, "out"));
    CHECK(ctx_need(context, rows, "rows"));
    CHECK(ctx_need(context, columns, "columns"));
    if (rows->d != columns->d)
        return ctx_fail(context, DDSC_ERROR_INPUT,
                        "the points of the row items have %lld coordinates, but those of the "
                        "column items have %lld; both sets must have the same dimension",
                        (long long)rows->d, (long long)columns->d);
    CHECK(ctx_check_flags(context, "ddsc_cross_run", flags, DDSC_DISTANCE_SQUARED));
    /* As in the matrix of the joined set, the row item comes first in each solve. */
    CHECK(measures_join(context, &joint, rows, columns));
    ddsc_status status = plan_matrix(context, out, stats, joint, rows->n, settings, flags);
    ddsc_measures_destroy(joint);
    return status;
}

/* Warns if sampled columns give inaccurate distances. For clusterings, the advice reports this
 * problem (advice.c). */
static void warn_of_columns(ddsc_context *ctx, const ddsc_graph *g)
{
    if (g->n_columns > 0 && isnan(g->columns_error))
        ctx_warn(ctx,
                 "%lld columns are too few to estimate the accuracy of the other distances; raise "
                 "the fraction of columns",
                 (long long)g->n_columns);
    else if (g->n_columns > 0 && g->columns_error > COLUMNS_POOR)
        ctx_warn(ctx,
                 "distances outside the %lld columns are inaccurate (error %.2f of their spread); "
                 "raise the fraction of columns",
                 (long long)g->n_columns, g->columns_error);
}

ddsc_status ddsc_neighbors_run(ddsc_context *context, ddsc_graph **graph, ddsc_pair_stats *stats,
                               const ddsc_measures *data, const ddsc_metric_settings *metric,
                               const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_metric_settings metric_set;
    ddsc_graph_settings graph_set;
    ddsc_pair_stats found = {0};
    graph_request p = {0};
    CHECK(ctx_enter_new(context, graph));
    CHECK(ctx_need(context, data, "measures"));
    CHECK(stats_check(context, stats));
    CHECK(plan_take_metric(context, &metric_set, metric));
    CHECK(plan_take_graph(context, &graph_set, settings, false));
    if (metric_set.paper || graph_set.paper)
        CHECK(plan_follow_paper(context, &metric_set, &graph_set));
    plan_warn_tau(context, data->n, &graph_set);
    CHECK(plan_warn_bandwidth(context, data, &metric_set));
    CHECK(plan_warn_coordinates(context, data));
    TRY(plan_resolve(context, &p, data, &metric_set, &graph_set, NULL));
    TRY(plan_neighbors(context, graph, &found, &p, p.tau));
    graph_sort(*graph);
    stats_give(stats, &found);
    warn_of_columns(context, *graph);
done:
    metric_resolved_free(&p.metric);
    return status;
}

ddsc_status ddsc_graph_create_from_vectors(ddsc_context *context, ddsc_graph **graph, int64_t n,
                                           int64_t dim, const double *vectors,
                                           const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph_settings set;
    void *state = NULL;
    pairs p = {0};
    CHECK(ctx_enter_new(context, graph));
    stage_enter(context, "graph");
    if (!vectors && n > 0)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                        "ddsc_graph_create_from_vectors: vectors is NULL");
    CHECK(plan_take_graph(context, &set, settings, false));
    if (set.sample_columns < 1)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "sample_columns = %g: must be 1 for vectors",
                        set.sample_columns);
    plan_warn_tau(context, n, &set);
    TRY(metric_vectors_open(context, &state, n, dim, vectors));
    TRY(pairs_open(context, &p, n, &metric_vectors, state, NULL));
    plan_facts facts = {
        .input = PLAN_OF_VECTORS, .metric = metric_vectors.name, .n = n, .rows = true};
    search_plan plan = plan_choose(&facts, &set, plan_tau_for_count(n, &set), false);
    TRY(plan_run_spanned(context, graph, &plan, &(plan_source){.pairs = &p}));
done:
    pairs_close(&p);
    metric_vectors.close(state);
    stage_leave(context, NULL);
    return status;
}
