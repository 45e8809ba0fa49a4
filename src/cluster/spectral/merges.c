/* Computes a tree of the clusters by repeatedly merging the two most strongly linked clusters until
 * only one remains. The strength of the link between A and B is
 *
 *     r = w(A, B) vol / (vol A vol B),
 *
 * that is, the affinity between A and B divided by its expected value in a random graph with the
 * same degrees. r is a degree-weighted average over A x B, so it never increases from one merge to
 * the next (average linkage). The height of a merge is 1 / (1 + r): 1 for clusters without a link,
 * 1/2 for a link as strong as in a random graph, and close to 0 for strongly linked clusters. If
 * several merges have the same height, the pair with the nearest centers is merged first. */
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "numeric/linalg/linalg.h"

typedef struct merge_state {
    int64_t k;
    double *across; /* k x k: affinity between clusters */
    double *volume; /* k: sum of degrees */
    int64_t *node;  /* k: tree node of the cluster with this index; -1 if it was merged into another
                     * cluster */
    int64_t *size;
    int64_t dim;
    double *center; /* k x dim: mean of the items' points; or NULL */
    double *apart;  /* k x k: squared distances between the centers */
} merge_state;

static void sum_affinities(merge_state *s, const sparse *a, const int32_t *labels)
{
    DDSC_ASSERT(invariant_range(labels, a->n, 0, s->k));
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++) {
            s->volume[labels[i]] += a->value[p];
            s->across[labels[i] * s->k + labels[a->column[p]]] += a->value[p];
        }
}

/* Returns 1 / (1 + r). For clusters without edges, r is 0. */
static double height_of(const merge_state *s, int64_t a, int64_t b, double total)
{
    double chance = s->volume[a] * s->volume[b];
    double r = chance > 0 ? s->across[a * s->k + b] * total / chance : 0;
    return 1 / (1 + r);
}

/* Computes the distances from center a to all centers. */
static void measure_center(merge_state *s, int64_t a)
{
    if (!s->center)
        return;
    la_differences(s->k, 1, s->dim, s->center, s->center + a * s->dim, s->apart + a * s->k, 1);
    for (int64_t b = 0; b < s->k; b++)
        s->apart[b * s->k + a] = s->apart[a * s->k + b];
}

/* Returns the pair with the smallest height. Ties are broken by the distance between the centers,
 * then by index. */
static ddsc_merge lowest(const merge_state *s, double total)
{
    ddsc_merge best = {-1, -1, 2, 0};
    double near = 0;
    for (int64_t a = 0; a < s->k; a++)
        for (int64_t b = a + 1; b < s->k && s->node[a] >= 0; b++) {
            double height = s->node[b] >= 0 ? height_of(s, a, b, total) : 2;
            if (height > best.height || height > 1)
                continue;
            double apart = s->apart[a * s->k + b];
            if (height == best.height && apart >= near)
                continue;
            near = apart;
            best = (ddsc_merge){a, b, height, s->size[a] + s->size[b]};
        }
    return best;
}

static void take_in(merge_state *s, int64_t a, int64_t b, int64_t node)
{
    for (int64_t c = 0; c < s->k; c++) {
        s->across[a * s->k + c] += s->across[b * s->k + c];
        s->across[c * s->k + a] += s->across[c * s->k + b];
    }
    double sum = (double)(s->size[a] + s->size[b]);
    for (int64_t c = 0; s->center && sum > 0 && c < s->dim; c++)
        s->center[a * s->dim + c] = ((double)s->size[a] * s->center[a * s->dim + c] +
                                     (double)s->size[b] * s->center[b * s->dim + c]) /
                                    sum;
    measure_center(s, a);
    s->volume[a] += s->volume[b];
    s->size[a] += s->size[b];
    s->node[a] = node;
    s->node[b] = -1;
}

/* Computes the tree over the clusters from the affinities between them. out has k - 1 entries. size
 * (k) contains the number of items in each cluster. center (k x dim, or NULL) contains the cluster
 * centers and is overwritten. */
static ddsc_status cluster_merges(ddsc_context *ctx, ddsc_merge *out, const sparse *a,
                                  const int32_t *labels, int64_t k, const int64_t *size,
                                  double *center, int64_t dim)
{
    ddsc_status status = DDSC_OK;
    merge_state s = {.k = k, .center = center, .dim = dim};
    double total = 0, last = 0;
    TRY(MEM_ZERO(ctx, s.across, k * k));
    TRY(MEM_ZERO(ctx, s.apart, k * k));
    TRY(MEM_ZERO(ctx, s.volume, k));
    TRY(MEM_COPY(ctx, s.size, size, k));
    TRY(MEM_NEW(ctx, s.node, k));
    sum_affinities(&s, a, labels);
    for (int64_t c = 0; c < k; c++) {
        s.node[c] = c;
        total += s.volume[c];
        measure_center(&s, c);
    }
    for (int64_t m = 0; m + 1 < k; m++) {
        TRY(progress_poll(ctx));
        ddsc_merge found = lowest(&s, total);
        int64_t one = found.a, other = found.b;
        found.a = BASE_MIN(s.node[one], s.node[other]);
        found.b = BASE_MAX(s.node[one], s.node[other]);
        last = found.height = BASE_MAX(found.height, last); /* only corrects rounding errors */
        DDSC_ASSERT(found.a >= 0 && found.a < found.b && found.b < k + m);
        DDSC_ASSERT(found.height >= 0 && found.height <= 1);
        take_in(&s, one, other, k + m);
        out[m] = found;
    }
done:
    MEM_FREE(ctx, s.node, s.size, s.volume, s.apart, s.across);
    return status;
}

/* Computes the mean of the points in each cluster (k x dim). */
static void find_centers(double *center, const ddsc_measures_view *m, const int32_t *labels,
                         const int64_t *size, const int32_t *left_out)
{
    for (int64_t i = 0; i < m->n_items; i++) {
        if (left_out && left_out[i])
            continue;
        double *to = center + labels[i] * m->dim;
        double part = 1 / (double)size[labels[i]];
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            for (int64_t c = 0; c < m->dim; c++)
                to[c] += part * m->weight[e] * m->support[m->index[e] * m->dim + c];
    }
}

static ddsc_status check_merges(ddsc_context *ctx, const ddsc_clustering *c, const ddsc_merge *out,
                                const ddsc_measures_view *m, bool has_measures)
{
    CHECK(ctx_need(ctx, out, "merges"));
    CHECK(ctx_need(ctx, c, "clustering"));
    if (c->view.k < 2 || c->view.k > DDSC_MERGES_MOST_CLUSTERS || c->affinity.n == 0)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "merges: the tree requires 2 to %d clusters computed from a graph, but there are %lld",
            DDSC_MERGES_MOST_CLUSTERS, (long long)c->view.k);
    if (has_measures && m->n_items != c->view.n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "merges: measures has %lld items, but the clustering has %lld",
                        (long long)m->n_items, (long long)c->view.n);
    return DDSC_OK;
}

ddsc_status ddsc_merges_run(ddsc_context *context, ddsc_merge *merges,
                            const ddsc_clustering *clustering, const ddsc_measures *data,
                            const int32_t *left_out)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures_view m;
    ddsc_merge *found = NULL;
    int64_t *size = NULL;
    double *center = NULL;
    CHECK(ctx_enter(context));
    ddsc_measures_get_view(data, &m);
    CHECK(check_merges(context, clustering, merges, &m, data != NULL));
    const ddsc_clustering_view *v = &clustering->view;
    TRY(MEM_NEW(context, found, v->k - 1));
    TRY(MEM_ZERO(context, size, v->k));
    for (int64_t i = 0; i < v->n; i++)
        size[v->labels[i]] += !(left_out && left_out[i]);
    /* if the graph is connected, its edges determine every merge */
    bool by_centers = data && v->n_components > 1;
    if (by_centers) {
        TRY(MEM_ZERO(context, center, v->k * m.dim));
        find_centers(center, &m, v->labels, size, left_out);
    }
    TRY(cluster_merges(context, found, &clustering->affinity, v->labels, v->k, size, center,
                       by_centers ? m.dim : 0));
    memcpy(merges, found, (size_t)(v->k - 1) * sizeof *merges);
done:
    MEM_FREE(context, center, size, found);
    return status;
}
