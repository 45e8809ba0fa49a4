/* Measures hubs, and computes the scales that reduce them.
 *
 * In many dimensions, a few items near the center of the data become neighbors of nearly all items,
 * and many items are neighbors of none (Radovanovic et al. 2010). A large skewness of the
 * in-degrees indicates hubs. To reduce hubs, distances are rescaled by the local density at both
 * items. The rescaled distance is D^2 / (s_i s_j), where s is the mean distance to the nearest
 * items (Jegou et al. 2010; Schnitzer et al. 2012). */
#include <math.h>

#include "numeric/graph/graph.h"

/* Lower limit of the scales, as a fraction of their median. Without the limit, the
 * scale of near-duplicates would be close to 0, and they would never become neighbors of other
 * items. */
static const double LOCAL_FLOOR = 0.1;

static double skewness_of(const int64_t *count, int64_t n, int64_t n_edges)
{
    double mean = (double)n_edges / (double)BASE_MAX(1, n), square = 0, cube = 0;
    for (int64_t i = 0; i < n; i++) {
        double away = (double)count[i] - mean;
        square += away * away;
        cube += away * away * away;
    }
    return square > 0 ? cube / (square * sqrt(square / (double)n)) : 0;
}

ddsc_status graph_in_degrees(ddsc_context *ctx, in_degrees *out, const ddsc_graph *g, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    int64_t *count = NULL, *apart = NULL, n_apart = 0;
    *out = (in_degrees){0};
    TRY(MEM_ZERO(ctx, count, g->n));
    TRY(MEM_ZERO(ctx, apart, g->n));
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->offset[i]; e < BASE_MIN(g->offset[i + 1], g->offset[i] + tau); e++) {
            count[g->index[e]]++;
            apart[g->index[e]] += g->d2[e] != 0;
            n_apart += g->d2[e] != 0;
        }
    for (int64_t i = 0; i < g->n; i++) {
        if (count[i] > out->largest)
            out->hub = i;
        out->largest = BASE_MAX(out->largest, count[i]);
        out->n_none += count[i] == 0;
        out->n_unlisted +=
            count[i] == 0 && g->offset[i] < g->offset[i + 1] && g->d2[g->offset[i]] > 0;
    }
    out->skewness = skewness_of(apart, g->n, n_apart);
done:
    MEM_FREE(ctx, count, apart);
    return status;
}

/* Returns the mean distance to those of the first tau neighbors that are not duplicates, or 0 if
 * there are none. */
static double mean_distance(const ddsc_graph *g, int64_t item, int64_t tau)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t e = g->offset[item]; e < BASE_MIN(g->offset[item + 1], g->offset[item] + tau); e++)
        if (g->d2[e] > 0) {
            sum += sqrt(g->d2[e]);
            n++;
        }
    return n > 0 ? sum / (double)n : 0;
}

ddsc_status graph_scales_find(ddsc_context *ctx, double **scale, const ddsc_graph *g, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    double *copy = NULL;
    TRY(MEM_NEW(ctx, *scale, g->n));
    TRY(MEM_NEW(ctx, copy, g->n));
    for (int64_t i = 0; i < g->n; i++)
        copy[i] = (*scale)[i] = mean_distance(g, i, tau);
    double median = affinity_median_positive(copy, g->n);
    for (int64_t i = 0; i < g->n; i++)
        (*scale)[i] = (*scale)[i] > 0 ? BASE_MAX((*scale)[i], LOCAL_FLOOR * median) : median;
done:
    mem_free(ctx, copy);
    return status;
}

void graph_scales_free(ddsc_context *ctx, local_scales *s)
{
    MEM_FREE(ctx, s->scale, s->inverse);
    *s = (local_scales){0};
}

ddsc_status graph_scales_make(ddsc_context *ctx, local_scales *s, const double *scale, int64_t n)
{
    ddsc_status status = DDSC_OK;
    *s = (local_scales){0};
    TRY(MEM_COPY(ctx, s->scale, scale, n));
    TRY(MEM_NEW(ctx, s->inverse, n));
    for (int64_t i = 0; i < n; i++) {
        DDSC_ASSERT(scale[i] > 0 && scale[i] < INFINITY);
        s->inverse[i] = 1 / scale[i];
        s->widest = BASE_MAX(s->widest, scale[i]);
    }
done:
    if (status < 0)
        graph_scales_free(ctx, s);
    return status;
}

/* Uses insertion sort, because the lists are short and partly sorted. */
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
            DDSC_ASSERT(at == g->offset[i] || g->d2[at - 1] <= d2);
        }
}
