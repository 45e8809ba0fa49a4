/* Computes the minimum spanning tree of a small set of items from all their distances (Prim 1957).
 * The verdict compares the longest edges of the tree with the other edges
 * (assess/quality/step_ratio.c). */
#include <stdlib.h>

#include "numeric/graph/graph.h"

static bool knows_all(const ddsc_graph *all)
{
    for (int64_t i = 0; i < all->n; i++)
        if (all->offset[i + 1] - all->offset[i] != all->n - 1)
            return false;
    return true;
}

static int by_length(const void *x, const void *y)
{
    const span_edge *p = x, *q = y;
    if (p->d2 != q->d2)
        return p->d2 < q->d2 ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

ddsc_status graph_span(ddsc_context *ctx, ddsc_graph *g, const ddsc_graph *all)
{
    ddsc_status status = DDSC_OK;
    int64_t n = all->n;
    span_edge *nearest = NULL; /* for each item outside the tree, its shortest edge to the tree */
    bool *inside = NULL;
    if (n < GRAPH_SPAN_LEAST || n > GRAPH_SPAN_MOST || !knows_all(all))
        return DDSC_OK;
    TRY(MEM_NEW(ctx, g->span, n - 1));
    TRY(MEM_NEW(ctx, nearest, n));
    TRY(MEM_ZERO(ctx, inside, n));
    for (int64_t i = 0; i < n; i++)
        nearest[i].d2 = INFINITY;
    for (int64_t last = 0, at = 0; at < n - 1; at++) {
        int64_t best = -1;
        inside[last] = true;
        for (int64_t p = all->offset[last]; p < all->offset[last + 1]; p++)
            if (all->d2[p] < nearest[all->index[p]].d2)
                nearest[all->index[p]] = (span_edge){(int32_t)last, all->index[p], all->d2[p]};
        for (int64_t i = 0; i < n; i++)
            if (!inside[i] && (best < 0 || nearest[i].d2 < nearest[best].d2))
                best = i;
        g->span[at] = nearest[best];
        last = best;
    }
    qsort(g->span, (size_t)(n - 1), sizeof *g->span, by_length);
done:
    MEM_FREE(ctx, inside, nearest);
    return status;
}
