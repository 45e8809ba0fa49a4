/* Computes the affinity, components and eigenvectors of a graph, which all values of K share. */
#include <math.h>

#include "cluster/spectral/decompose.h"

enum { DENSE_BELOW = 600 };

/* A single gamma is chosen if a sparse cluster borders a dense one (numeric/graph/affinity.c). This
 * gamma is used only if one of the first GAP_MOST relative gaps in the eigenvalues reaches this
 * value. On `animals`, the largest gap is 3.4 to 4.7. On a held-out set of cells without such a
 * gap, the AMI with a single gamma was 0.07 to 0.13 lower than with local scaling. */
static const double GAP_OF_ONE_GAMMA = 2;
enum { GAP_MOST = 25 };

void decomposition_free(ddsc_context *ctx, decomposition *d)
{
    eigen_free(ctx, &d->eigen);
    MEM_FREE(ctx, d->part, d->degree);
    sparse_free(ctx, &d->a);
    *d = (decomposition){0};
}

/* Excludes components that are too small to be a cluster, so that no eigenvectors are computed for
 * them. If all components are too small, none is excluded. */
static ddsc_status leave_out_strays(ddsc_context *ctx, decomposition *d, double least)
{
    ddsc_status status = DDSC_OK;
    int64_t *size = NULL;
    int32_t *number = NULL;
    TRY(MEM_ZERO(ctx, size, d->n_components));
    TRY(MEM_NEW(ctx, number, d->n_components));
    for (int64_t i = 0; i < d->n; i++)
        size[d->part[i]]++;
    int32_t next = 0;
    for (int64_t c = 0; c < d->n_components; c++) {
        bool stray = (double)size[c] < least && size[c] <= d->tau + 1;
        number[c] = stray ? -1 : next++;
    }
    if (next == 0 || next == d->n_components)
        goto done;
    for (int64_t i = 0; i < d->n; i++) {
        d->part[i] = number[d->part[i]];
        d->n_left_out += d->part[i] < 0;
    }
    d->n_parts = next;
done:
    MEM_FREE(ctx, number, size);
    return status;
}

affinity_settings decompose_affinity_rule(const ddsc_cluster_settings *set)
{
    return (affinity_settings){.rule = set->gamma_rule, .gamma = set->gamma};
}

static ddsc_status take_affinity(ddsc_context *ctx, decomposition *d, const ddsc_graph *graph,
                                 joined_graphs *joined, affinity_settings how)
{
    how.divided = team_has_eigen(ctx) && graph->n > DENSE_BELOW;
    if (!joined)
        return affinity_build(ctx, &d->a, &d->affinity, graph, &how);
    d->a = joined->a;
    d->affinity = joined->report;
    joined->a = (sparse){0};
    return DDSC_OK;
}

static ddsc_status decompose_by(ddsc_context *ctx, decomposition *d, const ddsc_graph *graph,
                                joined_graphs *joined, affinity_settings how,
                                const ddsc_cluster_settings *set, int64_t k_high)
{
    ddsc_status status = DDSC_OK;
    sparse m = {0};
    *d = (decomposition){.n = graph->n,
                         .tau = graph->tau,
                         .n_columns = graph->n_columns,
                         .columns_error = graph->columns_error};
    TRY(take_affinity(ctx, d, graph, joined, how));
    TRY(MEM_NEW(ctx, d->degree, d->n));
    TRY(MEM_NEW(ctx, d->part, d->n));
    TRY(joined
            ? components_find(ctx, d->part, &d->n_components, d->n, d->a.offset, d->a.column)
            : components_find(ctx, d->part, &d->n_components, d->n, graph->offset, graph->index));
    d->n_parts = d->n_components;
    for (int64_t i = 0; i < d->n; i++)
        d->n_isolated += d->a.offset[i] == d->a.offset[i + 1];
    if (!set->paper)
        TRY(leave_out_strays(ctx, d, set->min_cluster * (double)d->n / (double)k_high));
    TRY(operator_build(ctx, &m, d->degree, &d->a));
    int64_t wanted = BASE_MAX(embed_width(k_high, set->paper), k_high + 1);
    wanted = BASE_MIN(wanted, d->n - d->n_left_out);
    eigen_settings eigen = {set->eigen_tolerance, set->eigen_max_iterations, DENSE_BELOW};
    TRY(eigen_run(ctx, &d->eigen, &m, d->degree, d->part, d->n_parts, wanted, &eigen));
done:
    sparse_free(ctx, &m);
    if (status < 0)
        decomposition_free(ctx, d);
    return status;
}

/* Returns true if one of the first gaps in the eigenvalues is clear. The range does not depend on
 * the requested K. */
static bool has_clear_gap(const decomposition *d)
{
    for (int64_t k = 2; k <= GAP_MOST && k < d->eigen.k; k++) {
        double last = fmax(1 - d->eigen.value[k - 1], 0), next = fmax(1 - d->eigen.value[k], 0);
        if (choose_relative_gap(last, next) >= GAP_OF_ONE_GAMMA)
            return true;
    }
    return false;
}

ddsc_status decompose_graph(ddsc_context *ctx, decomposition *d, const ddsc_graph *graph,
                            joined_graphs *joined, const ddsc_cluster_settings *set, int64_t k_high)
{
    affinity_settings how = decompose_affinity_rule(set);
    bool open = !joined && how.rule == DDSC_GAMMA_AUTO;
    ddsc_status status = decompose_by(ctx, d, graph, joined, how, set, k_high);
    if (status < 0 || !open || d->affinity.gamma == 0 || has_clear_gap(d))
        return status;
    decomposition_free(ctx, d);
    how.rule = DDSC_GAMMA_LOCAL;
    return decompose_by(ctx, d, graph, NULL, how, set, k_high);
}
