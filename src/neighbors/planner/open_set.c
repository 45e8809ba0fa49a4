/* Opens a metric for an update of its neighbor lists, and runs a single update.
 *
 * The lists are searched with the lower bounds of the metric or, if it has rows for a prefilter, with
 * the bounds that the rows give. Otherwise all pairs of the changed items are computed. */
#include <inttypes.h>

#include "base/team.h"
#include "neighbors/planner/index.h"
#include "neighbors/planner/tuning.h"

const char *plan_update_refused(ddsc_context *ctx, const graph_request *p)
{
    const ddsc_graph_settings *set = &p->graph;
    if (team_size(ctx) > 1)
        return "several processes share the run";
    if (set->hubs != DDSC_HUBS_OFF)
        return "adding or removing items would change the rescaling of the distances";
    if (set->sample < 1 || set->sample_columns < 1)
        return "the distances of most pairs are estimated";
    if (set->neighbors == DDSC_NEIGHBORS_APPROXIMATE ||
        (set->neighbors == DDSC_NEIGHBORS_AUTO && p->m->n > EXACT_ITEMS))
        return "neighbors are approximate";
    if (p->metric.set.mmd_features > 0 || p->metric.set.lot_components > 0)
        return "the metric is approximated for the whole set";
    return NULL;
}

/* Uses the rows of a prefilter as bounds. They need a metric that computes any pair at any time. */
static ddsc_status open_rows(plan_open_set *s)
{
    pairs *p = &s->r.p;
    const pair_backend *backend = p->backend;
    int64_t room = measures_item_room(s->r.job.m);
    if (!backend->rows || p->n < UPDATE_ROW_ITEMS || pairs_strip(p) < p->n)
        return DDSC_OK;
    CHECK(backend->rows(p->state, &s->rows));
    if (s->rows.columns == 0)
        return DDSC_OK;
    CHECK(MEM_NEW(s->ctx, s->start, room));
    CHECK(MEM_NEW(s->ctx, s->spread, room));
    CHECK(prefilter_enclose(s->ctx, &p->offer.first, s->start, s->spread, &s->rows,
                            prefilter_radius(s->rows.columns)));
    return pairs_prepare(p, 0, p->n);
}

ddsc_status plan_set_open(ddsc_context *ctx, plan_open_set **out, const graph_request *p,
                          int64_t room, const ddsc_graph *lists, int64_t n_kept)
{
    ddsc_status status = DDSC_OK;
    plan_open_set *s = NULL;
    const measures *m = p->m;
    TRY(MEM_ZERO(ctx, s, 1));
    s->ctx = ctx;
    s->metric = p->metric;
    *out = s; /* plan_set_close frees it even on error */
    if (room > 0) {
        TRY(measures_growing_make(ctx, &s->items, m, room));
        m = s->items.set;
    }
    TRY(plan_metric_open(ctx, &s->r, m, &s->metric, false, NULL));
    s->r.job.n_old = BASE_MIN(n_kept, m->n - 1);
    plan_facts facts = plan_facts_of(p, &s->r, s->r.job.n_old);
    search_plan plan = plan_choose(&facts, &p->graph, p->tau, false);
    TRY(pairs_begin(&s->r.p, NULL, false));
    TRY(plan.path == PLAN_PRUNED ? pairs_open_bounds(&s->r.p, &s->r.job) : open_rows(s));
    TRY(search_update_create(&s->r.p, &s->lists, p->tau, measures_item_room(m)));
    search_update_take(&s->lists, lists, n_kept);
    search_update_add(&s->lists, m->n);
done:
    return status;
}

ddsc_status plan_set_close(plan_open_set *s, ddsc_status status, ddsc_pair_stats *stats)
{
    ddsc_pair_stats ignored;
    if (!s)
        return status;
    ddsc_context *ctx = s->ctx;
    search_update_free(&s->lists);
    if (s->r.metric) {
        int64_t n = s->r.job.m->n;
        status = plan_metric_close(&s->r, status, n * (n - 1) / 2, stats ? stats : &ignored);
    }
    prefilter_rows_free(ctx, &s->rows);
    MEM_FREE(ctx, s->start, s->spread);
    measures_growing_free(ctx, &s->items);
    ddsc_measures_destroy(s->own);
    mem_free(ctx, s);
    return status;
}

ddsc_status plan_update(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                        const graph_request *p, const plan_known *known)
{
    ddsc_status status = DDSC_OK;
    plan_open_set *s = NULL;
    TRY(plan_set_open(ctx, &s, p, 0, known->lists, known->n_kept));
    TRY(search_update_run(&s->lists));
    ctx_note(ctx, "search", "update", "%" PRId64 " of %" PRId64 " neighbor lists were searched",
             s->lists.n_open, p->m->n);
    ctx_detail(ctx, "lists_searched", (double)s->lists.n_open);
    TRY(search_update_graph(&s->lists, graph));
done:
    status = plan_set_close(s, status, stats);
    if (status < 0) {
        ddsc_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}
