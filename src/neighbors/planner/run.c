/* Collects the facts for plan_choose, chooses a search and runs it. If the first graph has hubs,
 * runs a second search with rescaled distances. */
#include <inttypes.h>
#include <stdio.h>

#include "base/team.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"
#include "numeric/graph/graph.h"

enum { WORDS_SIZE = 256 };

static void note_plan(ddsc_context *ctx, const search_plan *plan)
{
    char words[WORDS_SIZE];
    plan_describe(plan, words, sizeof words);
    ctx_note(ctx, "search", plan_path_name(plan->path), "%s", words);
}

/* ---- one search over an open pair service ---- */

static ddsc_status run_approximate(const plan_source *from, ddsc_graph **graph,
                                   const search_plan *plan)
{
    ddsc_status status = DDSC_OK;
    pairs *p = from->pairs;
    search_rows rows;
    note_plan(p->ctx, plan);
    TRY(plan_rows_make(&rows, from->job, p->backend, p->state));
    TRY(search_approximate(p, graph, from->stats, plan->tau, &rows));
done:
    search_rows_free(p->ctx, &rows);
    return status;
}

static ddsc_status run_pruned(const plan_source *from, ddsc_graph **graph, search_plan plan)
{
    pairs *p = from->pairs;
    if (!p->bounds)
        CHECK(pairs_open_bounds(p, from->job));
    for (int level = 0; level < BOUND_LEVELS; level++)
        plan.level[level] = p->offer.level[level];
    note_plan(p->ctx, &plan);
    if (plan.n_old > 0)
        return search_query(p, graph, plan.tau, plan.n_old);
    p->device = &search_device;
    return search_pruned(p, graph, plan.tau);
}

static ddsc_status run_full(pairs *p, ddsc_graph **graph, const search_plan *plan)
{
    bool across = plan->n_old > 0;
    pair_choice choice = {
        .i_end = across ? plan->n_old : p->n, .j_begin = plan->n_old, .sample = plan->sample};
    note_plan(p->ctx, plan);
    return search_full(p, graph, plan->tau, &choice);
}

/* Runs a prefilter. If the metric has no rows, or if rounding errors leave too many candidates,
 * searches all pairs instead. */
static ddsc_status run_prefilter(pairs *p, ddsc_graph **graph, search_plan plan)
{
    ddsc_status status = DDSC_OK;
    prefilter_rows rows = {0};
    bool done = false;
    TRY(p->backend->rows(p->state, &rows));
    if (rows.columns == 0 && plan.must_prefilter)
        TRY(plan_check_pruned(p->ctx, DDSC_GRAPH_PRUNED, p->backend->name));
    plan.row_columns = rows.columns;
    if (rows.columns > 0) {
        note_plan(p->ctx, &plan);
        TRY(search_prefilter(p, graph, plan.tau, &rows, &done));
    }
    prefilter_rows_free(p->ctx, &rows);
    if (!done) {
        plan = plan_without_prefilter(plan, plan.row_columns > 0 ? PLAN_ROUNDING : PLAN_NO_ROWS);
        TRY(run_full(p, graph, &plan));
    }
done:
    prefilter_rows_free(p->ctx, &rows);
    return status;
}

static ddsc_status run_once(ddsc_context *ctx, ddsc_graph **graph, const search_plan *plan,
                            const plan_source *from)
{
    pairs *p = from->pairs;
    if (plan->path == PLAN_COLUMNS)
        return search_columns(ctx, graph, from->columns, plan->tau, plan->by);
    if (plan->path == PLAN_MATRIX)
        return plan_search_matrix(from->matrix, graph, plan);
    CHECK(pairs_begin(p, plan->by, plan->keeps_values));
    switch (plan->path) {
    case PLAN_APPROXIMATE: return run_approximate(from, graph, plan);
    case PLAN_PRUNED: return run_pruned(from, graph, *plan);
    case PLAN_PREFILTER: return run_prefilter(p, graph, *plan);
    case PLAN_SAMPLED:
        note_plan(ctx, plan);
        return search_sampled(p, graph, plan->tau, plan->sample);
    default: return run_full(p, graph, plan);
    }
}

ddsc_status plan_run(ddsc_context *ctx, ddsc_graph **graph, const search_plan *plan,
                     const plan_source *from)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *first = NULL;
    rescaled_plan second = {0};
    TRY(run_once(ctx, &first, plan, from));
    if (plan->n_old == 0)
        ctx_device_report(ctx);
    TRY(plan_rescale(ctx, &second, plan, first));
    if (second.needed) {
        TRY(run_once(ctx, graph, &second.plan, from));
        plan_rescale_keep(&second, *graph);
    } else {
        *graph = first;
        first = NULL;
    }
done:
    plan_rescale_free(ctx, &second);
    ddsc_graph_destroy(first);
    return status;
}

ddsc_status plan_run_spanned(ddsc_context *ctx, ddsc_graph **graph, const search_plan *plan,
                             const plan_source *from)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *all = NULL;
    search_plan whole = *plan;
    bool spanned = plan->n >= GRAPH_SPAN_LEAST && plan->n <= GRAPH_SPAN_MOST && plan->sample >= 1;
    if (spanned)
        whole.tau = plan->n - 1;
    TRY(plan_run(ctx, &all, &whole, from));
    if (all->tau > plan->tau) {
        TRY(graph_narrow(ctx, graph, all, plan->tau));
        TRY(graph_span(ctx, *graph, all));
    } else {
        TRY(graph_span(ctx, all, all));
        *graph = all;
        all = NULL;
    }
    graph_sort(*graph);
done:
    ddsc_graph_destroy(all);
    if (status < 0) {
        ddsc_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

/* ---- choosing and running a search for a metric ---- */

plan_facts plan_facts_of(const graph_request *p, const plan_metric *r, int64_t n_old)
{
    const pair_backend *backend = p->metric.backend;
    plan_facts f = {.metric = backend->name,
                    .n = p->m->n,
                    .n_old = n_old,
                    .bounds = backend->bounds != NULL,
                    .rows = backend->rows != NULL};
    if (r && f.bounds && backend->bounds->pays && backend->bounds->pays(r->state, &f.against))
        f.against = NULL;
    return f;
}

/* Computes whole columns of the matrix and approximates the other distances with the Nystrom
 * method. The items are reordered, which does not affect the metric, because its settings were
 * resolved for the whole set. */
static ddsc_status neighbors_by_columns(ddsc_context *ctx, ddsc_graph **graph,
                                        ddsc_pair_stats *stats, const graph_request *p, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    plan_metric r = {0};
    column_set c = {0};
    measures *ordered = NULL;
    plan_facts facts = plan_facts_of(p, NULL, 0);
    search_plan plan = plan_choose(&facts, &p->graph, tau, p->fills);
    int64_t n = p->m->n;
    TRY(search_columns_draw(ctx, &c, n, p->graph.sample_columns));
    note_plan(ctx, &plan);
    TRY(measures_subset(ctx, &ordered, p->m, n, c.order));
    TRY(plan_metric_open(ctx, &r, ordered, &p->metric, false, NULL));
    TRY(search_columns_fill(&c, &r.p));
    TRY(plan_run(ctx, graph, &plan, &(plan_source){.columns = &c}));
done:
    if (r.metric)
        status = plan_metric_close(&r, status, n * (n - 1) / 2, stats);
    ddsc_measures_destroy(ordered);
    search_columns_free(ctx, &c);
    return status;
}

/* Chooses and runs a search over an open metric. */
static ddsc_status run_over(plan_metric *r, ddsc_graph **graph, const graph_request *p,
                            int64_t n_old, int64_t tau, const local_scales *by)
{
    plan_facts facts = plan_facts_of(p, r, n_old);
    search_plan plan = plan_choose(&facts, &p->graph, tau, p->fills);
    plan_source from = {.pairs = &r->p, .job = &r->job, .stats = &r->stats};
    plan.by = by;
    return plan_run(r->job.ctx, graph, &plan, &from);
}

ddsc_status plan_neighbors(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const graph_request *p, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    const ddsc_graph_settings *set = &p->graph;
    const pair_backend *backend = p->metric.backend;
    plan_metric r = {0};
    char kept_as[320];
    const pair_frame *frame = &p->metric.frame;
    int64_t n = p->m->n;
    if (!backend->bounds && !backend->rows)
        CHECK(plan_check_pruned(ctx, set->exact_graph, backend->name));
    if (set->sample_columns < 1 && n > 1)
        return neighbors_by_columns(ctx, graph, stats, p, tau);
    snprintf(kept_as, sizeof kept_as,
             "of the graph, tau %" PRId64 ", search %d, neighbors %d, sample %.17g, frame %d %.17g "
             "%.17g %.17g %.17g",
             tau, (int)set->exact_graph, (int)set->neighbors, set->sample, (int)frame->kind,
             frame->unit, frame->spread, frame->step[0], frame->step[1]);
    TRY(plan_metric_open(ctx, &r, p->m, &p->metric, false, kept_as));
    TRY(run_over(&r, graph, p, 0, tau, NULL));
done:
    status = plan_metric_close(&r, status, n * (n - 1) / 2, stats);
    if (status < 0) {
        ddsc_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

ddsc_status plan_query(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                       const graph_request *p, int64_t n_old, int64_t tau, const local_scales *by)
{
    ddsc_status status = DDSC_OK;
    plan_metric r = {0};
    TRY(plan_metric_open(ctx, &r, p->m, &p->metric, false, NULL));
    r.job.n_old = n_old;
    TRY(run_over(&r, graph, p, n_old, tau, by));
done:
    return plan_metric_close(&r, status, n_old * (p->m->n - n_old), stats);
}
