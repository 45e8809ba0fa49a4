/* Neighbours without hubs: a first search gives the nearest, their in-degrees tell whether some item is
 * everybody's neighbour, and where that is so, or where it is asked for, a second search over the same pairs chooses by
 * distances rescaled by the first one's. */
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"

static bool neighbours_are_rescaled(ddsc_context *ctx, const hub_search *h, const in_degrees *found,
                                    int64_t n)
{
    bool many = found->skewness >= HUBS_SKEWNESS;
    bool choose = h->rule == DDSC_HUBS_ALWAYS || (h->rule == DDSC_HUBS_AUTO && many);
    ctx_note(ctx, "neighbours", choose ? "rescaled" : "plain",
             "in-degrees of skewness %.1f%s: the largest %lld of %lld, none %lld", found->skewness,
             h->rule == DDSC_HUBS_ALWAYS ? " (asked for)"
             : many && !choose           ? " (hubs, left alone)"
             : choose                    ? " (hubs)"
                                         : "",
             (long long)found->largest, (long long)n, (long long)found->n_none);
    return choose;
}

ddsc_status plan_choose(ddsc_context *ctx, ddsc_graph **graph, const hub_search *h)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *plain = NULL, *few = NULL;
    double *scale = NULL;
    local_scales scales = {0};
    in_degrees found;
    TRY(h->search(h->arg, &plain, NULL));
    ctx_device_tell(ctx);
    TRY(graph_in_degrees(ctx, &found, plain, h->tau));
    if (h->rule == DDSC_HUBS_OFF || !neighbours_are_rescaled(ctx, h, &found, plain->n)) {
        *graph = plain;
        plain = NULL;
        goto done;
    }
    TRY(graph_narrow(ctx, &few, plain, GRAPH_NEAREST));
    TRY(graph_scales_find(ctx, &scale, plain, h->tau));
    TRY(graph_scales_make(ctx, &scales, scale, plain->n));
    TRY(h->search(h->arg, graph, &scales));
    (*graph)->scale = scale;
    scale = NULL;
    (*graph)->plain = found;
    (*graph)->nearest = few;
    few = NULL;
done:
    mem_free(ctx, scale);
    graph_scales_free(ctx, &scales);
    ddsc_graph_destroy(few);
    ddsc_graph_destroy(plain);
    return status;
}
