/* How often each item is a neighbour of others. In many dimensions a few items near the middle of the set
 * come to be neighbours of nearly everybody (hubs) and many of nobody (Radovanovic et al. 2010); the skewness
 * of the counts tells. */
#include <math.h>

#include "graph/graph.h"

ddsc_status graph_in_degrees(ddsc_context *ctx, in_degrees *out, const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    int64_t *count = NULL, n_edges = g->offset[g->n];
    double mean = (double)n_edges / (double)BASE_MAX(1, g->n), square = 0, cube = 0;
    *out = (in_degrees){0};
    TRY(MEM_ZERO(ctx, count, g->n));
    for (int64_t e = 0; e < n_edges; e++)
        count[g->index[e]]++;
    for (int64_t i = 0; i < g->n; i++) {
        double away = (double)count[i] - mean;
        out->largest = BASE_MAX(out->largest, count[i]);
        out->n_none += count[i] == 0;
        square += away * away;
        cube += away * away * away;
    }
    if (square > 0)
        out->skewness = cube / (square * sqrt(square / (double)g->n));
done:
    mem_free(ctx, count);
    return status;
}
