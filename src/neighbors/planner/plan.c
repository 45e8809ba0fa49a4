/* Settings resolved once, the path of a graph chosen, and the run along it. */
#include "neighbors/planner/plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "neighbors/planner/tuning.h"
#include "numeric/graph/graph.h"

/* max(10, ceil(log2 n)), but at most an eighth of a small set (never under 3); always below n. */
int64_t plan_tau(int64_t n, const ddsc_graph_settings *settings)
{
    int64_t bits = 0, tau = settings->tau;
    while (bits < 62 && ((int64_t)1 << bits) < n)
        bits++;
    if (tau == 0)
        tau = BASE_MIN(BASE_MAX(3, (n + 7) / 8), BASE_MAX(10, bits));
    return BASE_MAX(0, BASE_MIN(tau, n - 1));
}

ddsc_status plan_check_pruned(ddsc_context *ctx, ddsc_exact_graph asked, const char *name)
{
    if (asked != DDSC_GRAPH_PRUNED)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "exact_graph = pruned: %s has no lower bounds; use auto or full", name);
}

ddsc_status plan_make(ddsc_context *ctx, graph_plan *p, const measures *m,
                      const ddsc_metric_settings *metric, const ddsc_graph_settings *graph)
{
    *p = (graph_plan){.m = m, .graph = *graph, .tau = plan_tau(m->n, graph)};
    CHECK(metric_resolve(ctx, &p->metric, m, metric));
    p->m = metric_measures(&p->metric, m);
    return DDSC_OK;
}

/* ---- a metric at work ---- */

/* What a folder to resume from holds must be of this run. */
static ddsc_status open_journal(ddsc_context *ctx, plan_run *r, const char *kept_as)
{
    ddsc_status status = DDSC_OK;
    char *manifest = NULL;
    if (!kept_as || !ctx_resume_folder(ctx))
        return DDSC_OK;
    TRY(plan_manifest(ctx, &manifest, r->job.m, r->job.set, kept_as));
    TRY(journal_open(ctx, &r->journal, ctx_resume_folder(ctx), manifest, parallel_width(ctx)));
done:
    mem_free(ctx, manifest);
    return status;
}

ddsc_status plan_run_open(ddsc_context *ctx, plan_run *r, const measures *m,
                          const metric_resolved *metric, bool matrix, const char *kept_as)
{
    *r = (plan_run){.metric = metric, .start = clock_seconds()};
    r->job = (pair_job){.ctx = ctx,
                        .m = m,
                        .set = &metric->set,
                        .n_workers = parallel_width(ctx),
                        .matrix = matrix};
    CHECK(open_journal(ctx, r, kept_as));
    CHECK(metric->backend->open(&r->state, &r->job, &r->stats));
    return pairs_open(ctx, &r->p, m->n, metric->backend, r->state, r->journal);
}

ddsc_status plan_run_close(plan_run *r, ddsc_status status, int64_t n_pairs, ddsc_pair_stats *stats)
{
    const metric_resolved *metric = r->metric;
    if (status >= 0) {
        ddsc_status late = pairs_finish(&r->p, n_pairs, &r->stats);
        status = late < 0 ? late : status;
    }
    pairs_close(&r->p);
    if (r->state)
        metric->backend->close(r->state);
    ddsc_status kept = journal_close(r->journal);
    if (status >= 0 && kept < 0)
        status = kept;
    if (status < 0)
        return status;
    r->stats.seconds = clock_seconds() - r->start;
    if (metric->set.metric == DDSC_METRIC_SINKHORN)
        r->stats.epsilon = metric->set.epsilon;
    if (metric->set.metric == DDSC_METRIC_MMD && metric->set.mmd_kernel != DDSC_KERNEL_ENERGY)
        r->stats.bandwidth = metric->set.bandwidth;
    *stats = r->stats;
    if (stats->n_not_converged == 0)
        return status;
    return ctx_fail(r->job.ctx, DDSC_NOT_CONVERGED,
                    "metric %s: %lld solves met their iteration cap (largest gap %.3g)",
                    metric->backend->name, (long long)stats->n_not_converged, stats->max_gap);
}

/* ---- the path of a graph ---- */

/* A sample of the pairs is drawn at random, so there is nothing to prune in it; nor in no pairs.
 * *why: what decided. */
static bool prunes(const plan_run *r, const ddsc_graph_settings *set, const char **why)
{
    const pair_bounds *bounds = r->metric->backend->bounds;
    *why = !bounds                               ? "no lower bounds"
           : set->exact_graph == DDSC_GRAPH_FULL ? "all pairs asked for"
           : set->sample < 1                     ? "a sample of the pairs asked for"
           : r->p.n < 2                          ? "no pairs"
                                                 : NULL;
    if (*why)
        return false;
    *why =
        set->exact_graph == DDSC_GRAPH_PRUNED ? "asked for" : "lower bounds cost less than solves";
    return set->exact_graph == DDSC_GRAPH_PRUNED || !bounds->pays || bounds->pays(r->state, why);
}

static bool approximates(const plan_run *r, const ddsc_graph_settings *set)
{
    bool asked = set->neighbors == DDSC_NEIGHBORS_APPROXIMATE;
    int64_t n = r->p.n;
    bool many = n > EXACT_ITEMS && set->neighbors != DDSC_NEIGHBORS_EXACT &&
                set->exact_graph == DDSC_GRAPH_AUTO && set->sample >= 1;
    if (n < 3 || !(asked || many))
        return false;
    ctx_note(r->job.ctx, "search", "approximate", "%s: %lld items (exact up to %d)",
             asked ? "asked for" : "many", (long long)n, EXACT_ITEMS);
    return true;
}

ddsc_status plan_search_rows(pairs *p, ddsc_graph **graph, int64_t tau,
                             const ddsc_graph_settings *set, const char *why)
{
    ddsc_status status = DDSC_OK;
    prefilter_rows rows = {0};
    pair_choice choice = {.i_end = p->n, .sample = set->sample};
    bool done = false, asked = set->exact_graph == DDSC_GRAPH_PRUNED;
    bool may = set->exact_graph != DDSC_GRAPH_FULL && set->sample >= 1 && p->n > 1;
    if (may && p->backend->rows && (asked || p->n >= PREFILTER_ITEMS)) {
        TRY(p->backend->rows(p->state, &rows));
        why = "no float rows that enclose its values";
    } else if (may && p->backend->rows) {
        why = "too few items for a prefilter";
    }
    if (asked && may && rows.columns == 0)
        TRY(plan_check_pruned(p->ctx, set->exact_graph, p->backend->name));
    if (rows.columns > 0) {
        ctx_note(p->ctx, "search", "prefilter", "%lld items, rows of %lld floats", (long long)p->n,
                 (long long)rows.columns);
        TRY(search_prefilter(p, graph, tau, &rows, &done));
        why = "rounding left too many items in doubt";
    }
    prefilter_rows_free(p->ctx, &rows);
    if (!done) {
        ctx_note(p->ctx, "search", "full", "%s: %s, %lld items", p->backend->name,
                 why ? why : "all pairs asked for", (long long)p->n);
        TRY(search_full(p, graph, tau, &choice));
    }
done:
    prefilter_rows_free(p->ctx, &rows);
    return status;
}

typedef struct column_search {
    ddsc_context *ctx;
    const column_set *c;
    int64_t tau;
} column_search;

static ddsc_status search_by_columns(void *arg, ddsc_graph **graph, const local_scales *by)
{
    const column_search *s = arg;
    return search_columns(s->ctx, graph, s->c, s->tau, by);
}

ddsc_status plan_columns(ddsc_context *ctx, ddsc_graph **graph, const column_set *c, int64_t tau,
                         hub_search h)
{
    h.search = search_by_columns;
    h.arg = &(column_search){ctx, c, tau};
    return plan_choose(ctx, graph, &h);
}

/* Whole columns of the matrix, the rest by the Nystrom method. The items are put in another order,
 * which the metric, resolved from the whole set, does not see. */
static ddsc_status by_columns(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                              const graph_plan *p, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    plan_run r = {0};
    column_set c = {0};
    measures *ordered = NULL;
    int64_t n = p->m->n;
    TRY(search_columns_draw(ctx, &c, n, p->graph.sample_columns));
    ctx_note(ctx, "search", "columns", "asked for: %lld of %lld columns", (long long)c.m,
             (long long)n);
    TRY(measures_subset(ctx, &ordered, p->m, n, c.order));
    TRY(plan_run_open(ctx, &r, ordered, &p->metric, false, NULL));
    TRY(search_columns_fill(&c, &r.p));
    TRY(plan_columns(ctx, graph, &c, tau, (hub_search){.rule = p->graph.hubs, .tau = p->tau}));
done:
    if (r.metric)
        status = plan_run_close(&r, status, n * (n - 1) / 2, stats);
    ddsc_measures_destroy(ordered);
    search_columns_free(ctx, &c);
    return status;
}

static ddsc_status by_approximation(plan_run *r, ddsc_graph **graph, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    search_rows rows;
    TRY(plan_rows_make(&rows, &r->job, r->metric->backend, r->state));
    TRY(search_approximate(&r->p, graph, &r->stats, tau, &rows));
done:
    search_rows_free(r->job.ctx, &rows);
    return status;
}

static ddsc_status note_pruned(plan_run *r, const char *why)
{
    if (!r->p.bounds)
        CHECK(pairs_open_bounds(&r->p, &r->job));
    const bool *level = r->p.offer.level;
    ctx_note(r->job.ctx, "search", "pruned", "%s; levels first%s%s%s%s", why,
             level[BOUND_FRAME] ? ", frame" : "", level[BOUND_CUT] ? ", cut" : "",
             level[BOUND_DUAL] ? ", dual" : "", level[BOUND_TIGHT] ? ", tight" : "");
    return DDSC_OK;
}

typedef struct metric_search {
    plan_run *r;
    const ddsc_graph_settings *set;
    int64_t tau;
    bool fills;
} metric_search;

static ddsc_status search_by_metric(void *arg, ddsc_graph **graph, const local_scales *by)
{
    const metric_search *s = arg;
    plan_run *r = s->r;
    const char *why;
    if (by && r->p.remembers)
        CHECK(pairs_take_known(&r->p));
    r->p.by = by;
    r->p.remembers = !by && s->set->hubs != DDSC_HUBS_OFF;
    if (approximates(r, s->set))
        return by_approximation(r, graph, s->tau);
    if (prunes(r, s->set, &why)) {
        CHECK(note_pruned(r, why));
        r->p.device = &search_remote;
        return search_pruned(&r->p, graph, s->tau);
    }
    if (s->fills && s->set->sample < 1 && r->p.n > 1) {
        ctx_note(r->job.ctx, "search", "sampled", "a sample of the pairs asked for");
        return search_sampled(&r->p, graph, s->tau, s->set->sample);
    }
    return plan_search_rows(&r->p, graph, s->tau, s->set, why);
}

ddsc_status plan_neighbors(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const graph_plan *p, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    const ddsc_graph_settings *set = &p->graph;
    const pair_backend *backend = p->metric.backend;
    plan_run r = {0};
    char kept_as[128];
    int64_t n = p->m->n;
    if (!backend->bounds && !backend->rows)
        CHECK(plan_check_pruned(ctx, set->exact_graph, backend->name));
    if (set->sample_columns < 1 && n > 1)
        return by_columns(ctx, graph, stats, p, tau);
    snprintf(kept_as, sizeof kept_as,
             "of the graph, tau %" PRId64 ", search %d, neighbors %d, sample %.17g", tau,
             (int)set->exact_graph, (int)set->neighbors, set->sample);
    TRY(plan_run_open(ctx, &r, p->m, &p->metric, false, kept_as));
    metric_search search = {&r, set, tau, p->fills};
    hub_search h = {.rule = set->hubs, .tau = p->tau, .search = search_by_metric, .arg = &search};
    TRY(plan_choose(ctx, graph, &h));
done:
    status = plan_run_close(&r, status, n * (n - 1) / 2, stats);
    if (status < 0) {
        ddsc_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

ddsc_status plan_query(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                       const graph_plan *p, int64_t n_old, int64_t tau, const local_scales *by)
{
    ddsc_status status = DDSC_OK;
    plan_run r = {0};
    pair_choice across = {.i_end = n_old, .j_begin = n_old, .sample = 1};
    const char *why;
    TRY(plan_run_open(ctx, &r, p->m, &p->metric, false, NULL));
    r.job.n_old = n_old;
    r.p.by = by;
    if (prunes(&r, &p->graph, &why)) {
        TRY(note_pruned(&r, why));
        TRY(search_query(&r.p, graph, tau, n_old));
    } else {
        ctx_note(ctx, "search", "full", "%s: %s", p->metric.backend->name, why);
        TRY(search_full(&r.p, graph, tau, &across));
    }
done:
    return plan_run_close(&r, status, n_old * (p->m->n - n_old), stats);
}
