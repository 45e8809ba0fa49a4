/* Merges small clusters. k-means may create clusters of a few near-duplicates. Each of them is
 * merged into the cluster with the strongest link to it. A cluster without a link is kept, even if
 * it is smaller than the minimum size, unless it is so small that it may be an artifact of the
 * neighbor lists. */
#include <string.h>

#include "cluster/spectral/cluster.h"

typedef struct groups {
    int64_t k;
    int64_t *size;
    double *link; /* k x k: sum of affinities between two clusters */
    bool *passes; /* true if the cluster satisfies the rule */
} groups;

static void groups_free(ddsc_context *ctx, groups *g)
{
    MEM_FREE(ctx, g->passes, g->link, g->size);
    *g = (groups){0};
}

static bool is_linked(const groups *g, int64_t c)
{
    for (int64_t other = 0; other < g->k; other++)
        if (other != c && g->link[c * g->k + other] > 0)
            return true;
    return false;
}

static ddsc_status groups_make(ddsc_context *ctx, groups *g, const int32_t *labels, int64_t k,
                               const decomposition *d, const small_rule *rule)
{
    ddsc_status status = DDSC_OK;
    *g = (groups){.k = k};
    TRY(MEM_ZERO(ctx, g->size, k));
    TRY(MEM_ZERO(ctx, g->link, k * k));
    TRY(MEM_ZERO(ctx, g->passes, k));
    team_part rows = sparse_rows(ctx, &d->a);
    DDSC_ASSERT(invariant_range(labels, d->n, 0, k));
    for (int64_t i = 0; i < d->n; i++)
        g->size[labels[i]]++;
    for (int64_t i = rows.begin; i < rows.end; i++)
        for (int64_t p = d->a.offset[i]; p < d->a.offset[i + 1]; p++)
            g->link[labels[i] * k + labels[d->a.column[p]]] += d->a.value[p];
    if (d->a.divided)
        TRY(team_sum_f64(ctx, g->link, k * k));
    for (int64_t c = 0; c < k; c++)
        g->passes[c] =
            (double)g->size[c] >= rule->least || (g->size[c] > d->tau + 1 && !is_linked(g, c));
done:
    if (status < 0)
        groups_free(ctx, g);
    return status;
}

ddsc_status small_count(ddsc_context *ctx, int64_t *n_passing, const int32_t *labels, int64_t k,
                        const decomposition *d, const small_rule *rule)
{
    groups g;
    CHECK(groups_make(ctx, &g, labels, k, d, rule));
    *n_passing = 0;
    for (int64_t c = 0; c < k; c++)
        *n_passing += g.passes[c];
    groups_free(ctx, &g);
    return DDSC_OK;
}

/* Keeps only the `keep` largest clusters that satisfy the rule (ties: lower number). */
static void limit_passing(groups *g, int64_t keep)
{
    int64_t count = 0;
    for (int64_t c = 0; c < g->k; c++)
        count += g->passes[c];
    for (; count > keep; count--) {
        int64_t smallest = -1;
        for (int64_t c = 0; c < g->k; c++)
            if (g->passes[c] && (smallest < 0 || g->size[c] <= g->size[smallest]))
                smallest = c;
        g->passes[smallest] = false;
    }
}

static int64_t largest_group(const groups *g)
{
    int64_t best = 0;
    for (int64_t c = 1; c < g->k; c++)
        if (g->size[c] > g->size[best])
            best = c;
    return best;
}

/* Finds the next merge: of all clusters that must be merged, *from is the cluster with the
 * strongest link, and *to is its target. If no link exists, *from is the first of these clusters,
 * and *to is the largest cluster. */
static void strongest(const groups *g, const bool *gone, int64_t *from, int64_t *to)
{
    double most = 0;
    *from = *to = -1;
    for (int64_t c = 0; c < g->k; c++) {
        if (gone[c] || g->passes[c])
            continue;
        if (*from < 0) {
            *from = c;
            *to = largest_group(g);
        }
        for (int64_t other = 0; other < g->k; other++)
            if (other != c && !gone[other] && g->link[c * g->k + other] > most) {
                most = g->link[c * g->k + other];
                *from = c;
                *to = other;
            }
    }
}

/* Merges cluster `from` into `to`. */
static void join(groups *g, int64_t from, int64_t to)
{
    int64_t k = g->k;
    for (int64_t c = 0; c < k; c++) {
        g->link[to * k + c] += g->link[from * k + c];
        g->link[c * k + to] += g->link[c * k + from];
    }
    g->size[to] += g->size[from];
    g->size[from] = 0;
}

ddsc_status small_merge(ddsc_context *ctx, int32_t *labels, int64_t *k, int64_t *n_merged,
                        const decomposition *d, const small_rule *rule)
{
    ddsc_status status = DDSC_OK;
    groups g = {0};
    bool *gone = NULL;
    int32_t *into = NULL;
    int64_t from, to;
    *n_merged = 0;
    TRY(groups_make(ctx, &g, labels, *k, d, rule));
    TRY(MEM_ZERO(ctx, gone, *k));
    TRY(MEM_NEW(ctx, into, *k));
    for (int64_t c = 0; c < *k; c++)
        into[c] = (int32_t)c;
    limit_passing(&g, rule->keep);
    for (strongest(&g, gone, &from, &to); from >= 0 && from != to;
         strongest(&g, gone, &from, &to)) {
        join(&g, from, to);
        gone[from] = true;
        for (int64_t c = 0; c < *k; c++)
            if (into[c] == from)
                into[c] = (int32_t)to;
        ++*n_merged;
    }
    for (int64_t i = 0; i < d->n; i++)
        labels[i] = into[labels[i]];
    TRY(kmeans_renumber(ctx, labels, k, d->n, *k));
    DDSC_ASSERT(*k >= 1 && *n_merged >= 0);
done:
    MEM_FREE(ctx, into, gone);
    groups_free(ctx, &g);
    return status;
}
