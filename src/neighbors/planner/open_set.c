/* Opens a metric for updates of the neighbor lists of its set, and runs a single update.
 *
 * The search uses the lower bounds of the metric or, if the metric has rows for a prefilter, the
 * bounds computed from the rows. Otherwise, all pairs of items with open lists are computed. */
#include <inttypes.h>

#include "base/team.h"
#include "neighbors/planner/index.h"
#include "neighbors/planner/tuning.h"

const char *plan_update_refused(ddsc_context *ctx, const graph_request *p, const plan_known *known)
{
    const ddsc_graph_settings *set = &p->graph;
    if (team_size(ctx) > 1)
        return "several processes share the run";
    if (set->hubs != DDSC_HUBS_OFF &&
        (set->hubs != DDSC_HUBS_ALWAYS || !known || !known->plain || !known->scale))
        return "the neighbor lists that determine the rescaled distances are unknown";
    if (set->sample < 1 || set->sample_columns < 1)
        return "the distances of most pairs are estimated";
    if (set->neighbors == DDSC_NEIGHBORS_APPROXIMATE ||
        (set->neighbors == DDSC_NEIGHBORS_AUTO && p->m->n > EXACT_ITEMS))
        return "neighbors are approximate";
    if (p->metric.set.mmd_features > 0 || p->metric.set.lot_components > 0)
        return "the metric is approximated for the whole set";
    return NULL;
}

/* Uses the rows of a prefilter as bounds. This requires a metric that can compute any pair at any
 * time. */
static ddsc_status open_rows(plan_open_set *s)
{
    pairs *p = &s->r.p;
    const pair_backend *backend = p->backend;
    int64_t capacity = measures_item_capacity(s->r.job.m);
    if (!backend->rows || p->n < UPDATE_ROW_ITEMS || pairs_strip(p) < p->n)
        return DDSC_OK;
    CHECK(backend->rows(p->state, &s->rows));
    if (s->rows.columns == 0)
        return DDSC_OK;
    CHECK(MEM_NEW(s->ctx, s->start, capacity));
    CHECK(MEM_NEW(s->ctx, s->spread, capacity));
    CHECK(prefilter_enclose(s->ctx, &p->offer.first, s->start, s->spread, &s->rows,
                            prefilter_radius(s->rows.columns)));
    return pairs_prepare(p, 0, p->n);
}

/* Copies the lists by plain distance, and the scales that were used to choose the rescaled
 * lists. */
static ddsc_status open_plain(plan_open_set *s, const graph_request *p, const plan_known *known,
                              int64_t capacity)
{
    ddsc_status status = DDSC_OK;
    double *scale = NULL;
    TRY(MEM_NEW(s->ctx, scale, capacity));
    for (int64_t i = 0; i < capacity; i++)
        scale[i] = i < known->n_kept ? known->scale[i] : 1;
    TRY(graph_scales_make(s->ctx, &s->scales[0], scale, capacity));
    TRY(search_update_create(&s->r.p, &s->plain, p->tau, capacity));
    search_update_take(&s->plain, known->plain, known->n_kept);
    s->plan = (search_plan){.n = p->m->n, .tau = p->tau, .hubs = DDSC_HUBS_ALWAYS};
    s->plan.hubs_tau = plan_tau_for_count(p->m->n, &p->graph);
    s->lists.near.by = &s->scales[0];
    s->lists.also = &s->plain;
    s->rescales = true;
done:
    mem_free(s->ctx, scale);
    return status;
}

ddsc_status plan_set_open(ddsc_context *ctx, plan_open_set **out, const graph_request *p,
                          int64_t spare, const plan_known *known)
{
    ddsc_status status = DDSC_OK;
    plan_open_set *s = NULL;
    const measures *m = p->m;
    TRY(MEM_ZERO(ctx, s, 1));
    s->ctx = ctx;
    s->metric = p->metric;
    *out = s; /* the caller frees it with plan_set_close, even on error */
    if (spare > 0) {
        TRY(measures_growing_make(ctx, &s->items, m, spare));
        m = s->items.set;
    }
    TRY(plan_metric_open(ctx, &s->r, m, &s->metric, false, NULL));
    s->r.job.n_old = BASE_MIN(known->n_kept, m->n - 1);
    plan_facts facts = plan_facts_of(p, &s->r, s->r.job.n_old);
    search_plan plan = plan_choose(&facts, &p->graph, p->tau, false);
    TRY(pairs_begin(&s->r.p, NULL, false));
    TRY(plan.path == PLAN_PRUNED ? pairs_open_bounds(&s->r.p, &s->r.job) : open_rows(s));
    TRY(search_update_create(&s->r.p, &s->lists, p->tau, measures_item_capacity(m)));
    if (p->graph.hubs != DDSC_HUBS_OFF)
        TRY(open_plain(s, p, known, measures_item_capacity(m)));
    search_update_take(&s->lists, known->lists, known->n_kept);
    plan_set_change(s, 0, NULL, m->n);
done:
    return status;
}

void plan_set_change(plan_open_set *s, int64_t n, const int64_t *slot, int64_t n_slots)
{
    search_update *const lists[2] = {&s->lists, s->rescales ? &s->plain : NULL};
    for (int k = 0; k < 2 && lists[k]; k++) {
        search_update_remove(lists[k], n, slot);
        search_update_add(lists[k], n_slots);
    }
}

/* ---- rescaled distances ---- */

/* Computes the scales from the lists by plain distance, as plan_run does. */
static ddsc_status find_rescaling(plan_open_set *s, rescaled_plan *r)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *plain = NULL;
    TRY(search_update_graph(&s->plain, &plain));
    TRY(plan_rescale(s->ctx, r, &s->plan, plain));
done:
    ddsc_graph_destroy(plain);
    return status;
}

/* Copies the scale of each item to its slot. Empty slots get scale 1. */
static ddsc_status spread_scales(plan_open_set *s, local_scales *to, const double *scale)
{
    ddsc_status status = DDSC_OK;
    double *of = NULL;
    int64_t n = 0;
    TRY(MEM_NEW(s->ctx, of, s->plain.capacity));
    for (int64_t i = 0; i < s->plain.capacity; i++)
        of[i] = i < s->plain.n && !s->plain.is_gone[i] ? scale[n++] : 1;
    graph_scales_free(s->ctx, to);
    TRY(graph_scales_make(s->ctx, to, of, s->plain.capacity));
done:
    mem_free(s->ctx, of);
    return status;
}

ddsc_status plan_set_run(plan_open_set *s)
{
    ddsc_status status = DDSC_OK;
    rescaled_plan r = {0};
    pairs *p = &s->r.p;
    int next = 1 - s->current;
    if (!s->rescales)
        return search_update_run(&s->lists);
    TRY(search_update_run(&s->plain));
    TRY(find_rescaling(s, &r));
    TRY(spread_scales(s, &s->scales[next], r.scale));
    search_update_rescale(&s->lists, &s->scales[next]);
    s->current = next;
    p->by = &s->scales[next];
    TRY(search_update_run(&s->lists));
done:
    p->by = NULL;
    plan_rescale_free(s->ctx, &r);
    return status;
}

ddsc_status plan_set_graph(plan_open_set *s, ddsc_graph **out)
{
    ddsc_status status = DDSC_OK;
    rescaled_plan r = {0};
    if (s->rescales)
        TRY(find_rescaling(s, &r));
    TRY(search_update_graph(&s->lists, out));
    if (s->rescales)
        plan_rescale_keep(&r, *out);
done:
    plan_rescale_free(s->ctx, &r);
    return status;
}

ddsc_status plan_set_close(plan_open_set *s, ddsc_status status, ddsc_pair_stats *stats)
{
    ddsc_pair_stats ignored;
    if (!s)
        return status;
    ddsc_context *ctx = s->ctx;
    search_update_free(&s->lists);
    search_update_free(&s->plain);
    graph_scales_free(ctx, &s->scales[0]);
    graph_scales_free(ctx, &s->scales[1]);
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
    TRY(plan_set_open(ctx, &s, p, 0, known));
    TRY(plan_set_run(s));
    ctx_note(ctx, "search", "update", "%" PRId64 " of %" PRId64 " neighbor lists were searched",
             s->lists.n_open, p->m->n);
    ctx_detail(ctx, "lists_searched", (double)s->lists.n_open);
    TRY(plan_set_graph(s, graph));
done:
    status = plan_set_close(s, status, stats);
    if (status < 0) {
        ddsc_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}
