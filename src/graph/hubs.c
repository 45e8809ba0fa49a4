/* How often each item is a neighbour of others, and neighbours chosen so that none is everybody's. In many
 * dimensions a few items near the middle of the set come to be neighbours of nearly everybody (hubs) and many
 * of nobody (Radovanovic et al. 2010); the skewness of the counts tells. Against that distances are rescaled by
 * how near the neighbours of both ends are: D^2 / (s_i s_j), s the mean distance to the nearest (Jegou et al.
 * 2010; Schnitzer et al. 2012). */
#include <math.h>

#include "graph/graph.h"

/* As for the scales of weights: a group of duplicates has scale 0, which nothing can be divided by. */
static const double LOCAL_FLOOR = 0.01;

ddsc_status graph_in_degrees(ddsc_context *ctx, in_degrees *out, const ddsc_graph *g, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    int64_t *count = NULL, n_edges = 0;
    double square = 0, cube = 0;
    *out = (in_degrees){0};
    TRY(MEM_ZERO(ctx, count, g->n));
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->offset[i]; e < BASE_MIN(g->offset[i + 1], g->offset[i] + tau);
             e++, n_edges++)
            count[g->index[e]]++;
    double mean = (double)n_edges / (double)BASE_MAX(1, g->n);
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

void graph_scales_free(ddsc_context *ctx, local_scales *s)
{
    MEM_FREE(ctx, s->scale, s->inverse);
    *s = (local_scales){0};
}

ddsc_status graph_scales_make(ddsc_context *ctx, local_scales *s, const ddsc_graph *g, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    double *copy = NULL;
    *s = (local_scales){0};
    TRY(MEM_NEW(ctx, s->scale, g->n));
    TRY(MEM_NEW(ctx, s->inverse, g->n));
    TRY(MEM_NEW(ctx, copy, g->n));
    for (int64_t i = 0; i < g->n; i++) {
        int64_t count = BASE_MIN(tau, g->offset[i + 1] - g->offset[i]);
        double sum = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i] + count; e++)
            sum += sqrt(BASE_MAX(g->d2[e], 0));
        copy[i] = s->scale[i] = count > 0 ? sum / (double)count : INFINITY;
    }
    double median = affinity_median_positive(copy, g->n);
    for (int64_t i = 0; i < g->n; i++) {
        double scale = isfinite(s->scale[i]) ? s->scale[i] : median;
        s->scale[i] = BASE_MAX(scale, LOCAL_FLOOR * median);
        s->inverse[i] = 1 / s->scale[i];
        s->widest = BASE_MAX(s->widest, s->scale[i]);
    }
done:
    mem_free(ctx, copy);
    if (status < 0)
        graph_scales_free(ctx, s);
    return status;
}

/* Insertion: lists are short and half in order already. */
void graph_sort(ddsc_graph *g)
{
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->offset[i] + 1; e < g->offset[i + 1]; e++) {
            double d2 = g->d2[e];
            int32_t index = g->index[e];
            int64_t at = e;
            for (; at > g->offset[i] &&
                   (g->d2[at - 1] > d2 || (g->d2[at - 1] == d2 && g->index[at - 1] > index));
                 at--) {
                g->d2[at] = g->d2[at - 1];
                g->index[at] = g->index[at - 1];
            }
            g->d2[at] = d2;
            g->index[at] = index;
        }
}
