/* Tests whether the parts of a small set are separate, using the edges of its minimum spanning tree
 * (steps). Removing the j longest edges leaves the clusters of single linkage (Gower and Ross
 * 1969), called parts. R is the shortest removed edge divided by the longest remaining edge, that
 * is, the smallest distance between two parts divided by the longest step within a part. Every part
 * must have at least LEAST_PART items and at least a tenth of all items. Among all j that satisfy
 * this condition, the j with the largest R is chosen. */
#include <math.h>

#include "assess/quality/verdict.h"

enum { LEAST_PART = 3, MOST_PARTS = 10 };

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Joins the items with the n_edges shortest edges, so that parent (n) leads from each item to the
 * root of its part. Returns the size of the smallest part. */
static int64_t join_by_steps(int32_t *parent, int64_t *size, const ddsc_graph *g, int64_t n_edges)
{
    int64_t least = g->n;
    for (int64_t i = 0; i < g->n; i++) {
        parent[i] = (int32_t)i;
        size[i] = 0;
    }
    for (int64_t e = 0; e < n_edges; e++)
        parent[root_of(parent, g->span[e].a)] = root_of(parent, g->span[e].b);
    for (int64_t i = 0; i < g->n; i++)
        size[root_of(parent, (int32_t)i)]++;
    for (int64_t i = 0; i < g->n; i++)
        least = size[i] > 0 ? BASE_MIN(least, size[i]) : least;
    return least;
}

/* Returns the ratio of two consecutive edge lengths, or 0 if the shorter edge joins copies, because
 * such a ratio is not evidence of separate parts. */
static double ratio_at(const ddsc_graph *g, int64_t n_kept)
{
    double within = g->span[n_kept - 1].d2, between = g->span[n_kept].d2;
    return within > 0 ? sqrt(between / within) : 0;
}

ddsc_status verdict_step_ratio(ddsc_context *ctx, double *ratio, int64_t *n_parts, int32_t *part,
                               const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    int64_t *size = NULL, best = 0, n = g ? g->n : 0;
    *ratio = NAN;
    *n_parts = 0;
    if (!g || !g->span)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, size, n));
    *ratio = 0;
    for (int64_t kept = n - 2; kept >= 1 && kept > n - 1 - MOST_PARTS; kept--) {
        int64_t least = join_by_steps(part, size, g, kept);
        if (least < LEAST_PART || MOST_PARTS * least < n || ratio_at(g, kept) <= *ratio)
            continue;
        *ratio = ratio_at(g, kept);
        best = kept;
    }
    if (best > 0) {
        join_by_steps(part, size, g, best);
        *n_parts = n - best;
        for (int64_t i = 0; i < n; i++)
            part[i] = root_of(part, (int32_t)i);
    }
done:
    mem_free(ctx, size);
    return status;
}
