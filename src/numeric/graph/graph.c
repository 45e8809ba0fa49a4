/* Implements the neighbor graph: creation, copies, subgraphs and the public view. The searches fill
 * its n * tau edges. */
#include <string.h>

#include "base/sized.h"
#include "numeric/graph/graph.h"

#ifdef DDSC_DEBUG_CHECKS
bool graph_lists_hold(const ddsc_graph *g)
{
    bool holds = invariant_offsets(g->offset, g->n);
    for (int64_t i = 0; holds && i < g->n; i++) {
        int64_t from = g->offset[i], n = g->offset[i + 1] - from;
        holds = n <= g->tau && invariant_range(g->index + from, n, 0, g->n);
        for (int64_t k = 0; k < n; k++)
            holds &= g->index[from + k] != i && !isnan(g->d2[from + k]);
    }
    return holds;
}
#endif

ddsc_status graph_create(ddsc_context *ctx, ddsc_graph **graph, int64_t n, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *g = NULL;
    int64_t capacity;
    *graph = NULL;
    if (!mul_ok(n, tau, &capacity))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY,
                        "a graph of %lld items with tau = %lld is too large; reduce tau",
                        (long long)n, (long long)tau);
    TRY(MEM_ZERO(ctx, g, 1));
    *g = (ddsc_graph){.ctx = ctx, .n = n, .tau = tau};
    TRY(MEM_ZERO(ctx, g->offset, n + 1));
    TRY(MEM_NEW(ctx, g->index, capacity));
    TRY(MEM_NEW(ctx, g->d2, capacity));
    *graph = g;
    g = NULL;
done:
    ddsc_graph_destroy(g);
    return status;
}

ddsc_status graph_narrow(ddsc_context *ctx, ddsc_graph **out, const ddsc_graph *wide, int64_t tau)
{
    CHECK(graph_create(ctx, out, wide->n, tau));
    ddsc_graph *g = *out;
    g->n_columns = wide->n_columns;
    g->columns_error = wide->columns_error;
    g->plain = wide->plain;
    for (int64_t i = 0; i < wide->n; i++) {
        int64_t from = wide->offset[i], at = g->offset[i];
        int64_t count = BASE_MIN(tau, wide->offset[i + 1] - from);
        memcpy(g->index + at, wide->index + from, (size_t)count * sizeof *g->index);
        memcpy(g->d2 + at, wide->d2 + from, (size_t)count * sizeof *g->d2);
        g->offset[i + 1] = at + count;
    }
    DDSC_ASSERT(graph_lists_hold(g));
    if (wide->nearest)
        CHECK(graph_narrow(ctx, &g->nearest, wide->nearest, GRAPH_NEAREST));
    if (wide->plain_lists)
        CHECK(graph_narrow(ctx, &g->plain_lists, wide->plain_lists, wide->plain_lists->tau));
    return wide->scale ? MEM_COPY(ctx, g->scale, wide->scale, wide->n) : DDSC_OK;
}

ddsc_status graph_part(ddsc_context *ctx, ddsc_graph **out, const ddsc_graph *g,
                       const int32_t *place, int64_t n)
{
    CHECK(graph_create(ctx, out, n, g->tau));
    ddsc_graph *part = *out;
    int64_t at = 0, item = 0;
    for (int64_t i = 0; i < g->n; i++) {
        if (place[i] < 0)
            continue;
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++)
            if (place[g->index[p]] >= 0) {
                part->index[at] = place[g->index[p]];
                part->d2[at++] = g->d2[p];
            }
        part->offset[++item] = at;
    }
    DDSC_ASSERT(item == n && graph_lists_hold(part));
    return DDSC_OK;
}

void ddsc_graph_destroy(ddsc_graph *graph)
{
    if (!graph)
        return;
    ddsc_context *ctx = graph->ctx;
    ddsc_graph_destroy(graph->nearest);
    ddsc_graph_destroy(graph->plain_lists);
    MEM_FREE(ctx, graph->span, graph->scale, graph->d2, graph->index, graph->offset);
    mem_free(ctx, graph);
}

void ddsc_graph_get_view_sized(const ddsc_graph *graph, ddsc_graph_view *view, size_t size)
{
    ddsc_graph_view own = {0};
    if (graph)
        own = (ddsc_graph_view){.n = graph->n,
                                .tau = graph->tau,
                                .n_edges = graph->offset[graph->n],
                                .offset = graph->offset,
                                .index = graph->index,
                                .d2 = graph->d2,
                                .n_columns = graph->n_columns,
                                .columns_error = graph->columns_error,
                                .scale = graph->scale,
                                .nearest = graph->nearest};
    sized_view(view, size, &own, sizeof own);
}
