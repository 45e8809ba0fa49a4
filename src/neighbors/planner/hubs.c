/* Detects and corrects hubs. A first search finds the nearest items. Hubs are detected by the
 * skewness of the in-degrees, or by the share of items that are not a neighbor of any item. If
 * there are hubs, or if the caller requests it, a second search over the same pairs ranks neighbors
 * by rescaled distances. The scales are computed from the first graph. */
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"

static bool neighbors_are_rescaled(ddsc_context *ctx, int64_t rule, const in_degrees *found,
                                   int64_t n)
{
    bool many =
        found->skewness >= HUBS_SKEWNESS || (double)found->n_unlisted >= HUBS_UNLISTED * (double)n;
    bool choose = rule == DDSC_HUBS_ALWAYS || (rule == DDSC_HUBS_AUTO && many);
    ctx_note(ctx, "neighbors", choose ? "rescaled" : "plain",
             "in-degree skewness %.1f%s; largest in-degree %lld of %lld items, %lld items with "
             "in-degree 0",
             found->skewness,
             rule == DDSC_HUBS_ALWAYS ? " (requested)"
             : many && !choose        ? " (hubs, not corrected)"
             : choose                 ? " (hubs)"
                                      : "",
             (long long)found->largest, (long long)n, (long long)found->n_none);
    return choose;
}

ddsc_status plan_rescale(ddsc_context *ctx, rescaled_plan *r, const search_plan *first,
                         const ddsc_graph *found)
{
    ddsc_status status = DDSC_OK;
    *r = (rescaled_plan){.plan = *first};
    if (first->hubs == DDSC_HUBS_OFF)
        return DDSC_OK;
    TRY(graph_in_degrees(ctx, &r->plain, found, first->hubs_tau));
    if (!neighbors_are_rescaled(ctx, first->hubs, &r->plain, found->n))
        return DDSC_OK;
    TRY(graph_narrow(ctx, &r->nearest, found, GRAPH_NEAREST));
    TRY(graph_narrow(ctx, &r->lists, found, first->hubs_tau));
    TRY(graph_scales_find(ctx, &r->scale, found, first->hubs_tau));
    TRY(graph_scales_make(ctx, &r->scales, r->scale, found->n));
    r->plan.by = &r->scales;
    r->plan.keeps_values = false;
    r->needed = true;
done:
    return status;
}

void plan_rescale_keep(rescaled_plan *r, ddsc_graph *graph)
{
    graph->scale = r->scale;
    graph->plain = r->plain;
    graph->nearest = r->nearest;
    graph->plain_lists = r->lists;
    r->scale = NULL;
    r->nearest = r->lists = NULL;
}

void plan_rescale_free(ddsc_context *ctx, rescaled_plan *r)
{
    mem_free(ctx, r->scale);
    graph_scales_free(ctx, &r->scales);
    ddsc_graph_destroy(r->nearest);
    ddsc_graph_destroy(r->lists);
}
