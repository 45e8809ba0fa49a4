/* Implements the object that stores the result of a clustering. */
#include "base/sized.h"
#include "cluster/spectral/cluster.h"

void ddsc_clustering_destroy(ddsc_clustering *clustering)
{
    if (!clustering)
        return;
    ddsc_context *ctx = clustering->ctx;
    ddsc_graph_destroy(clustering->graph);
    metric_resolved_free(&clustering->metric);
    mem_free(ctx, clustering->scale);
    sparse_free(ctx, &clustering->affinity);
    MEM_FREE(ctx, clustering->advice, clustering->radius, clustering->cells,
             clustering->sweep_labels, clustering->sweep_list, clustering->sweep,
             clustering->details, clustering->residuals, clustering->spectrum,
             clustering->eigenvalues, clustering->embedding, clustering->labels,
             clustering->joined_list, clustering->joined, clustering->resume, clustering->spectral,
             clustering->fresh);
    model_free_mixture(ctx, &clustering->mixture);
    mem_free(ctx, clustering);
}

static const ddsc_pair_stats no_row = {0};
SIZED_VIEW(ddsc_clustering, .pairs = &no_row, .advice = "")

const int32_t *ddsc_clustering_get_labels(const ddsc_clustering *clustering)
{
    return clustering ? clustering->labels : NULL;
}

void ddsc_clustering_get_affinity_sized(const ddsc_clustering *clustering, ddsc_affinity_view *view,
                                        size_t size)
{
    ddsc_affinity_view own = {0};
    if (clustering) {
        const sparse *a = &clustering->affinity;
        own = (ddsc_affinity_view){.n = a->n,
                                   .n_entries = a->nnz,
                                   .offset = a->offset,
                                   .column = a->column,
                                   .value = a->value,
                                   .gamma = clustering->view.gamma,
                                   .scale = clustering->scale,
                                   .scale_rank = AFFINITY_NEIGHBOR,
                                   .scale_floor = clustering->scale_floor,
                                   .radius = clustering->radius};
    }
    sized_view(view, size, &own, sizeof own);
}
