/* Structure beyond one K: the tree over the clusters, and the order of the items. */
#include "report/content/tree.h"

static bool has_affinity(const ddsc_report *r)
{
    return r->from.clustering && r->from.clustering->affinity.n > 0 && r->view.n > 0;
}

/* Mean place of the items of each cluster, k x dim. */
static ddsc_status find_centres(ddsc_report *r, double **centre)
{
    const ddsc_measures_view *m = &r->items;
    CHECK(MEM_ZERO(r->ctx, *centre, r->k * m->dim));
    for (int64_t i = 0; i < m->n_items; i++) {
        if (result_left_out(r, i))
            continue;
        double *to = *centre + r->view.labels[i] * m->dim;
        double part = 1 / (double)r->size[r->view.labels[i]];
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            for (int64_t c = 0; c < m->dim; c++)
                to[c] += part * m->weight[e] * m->support[m->index[e] * m->dim + c];
    }
    return DDSC_OK;
}

static ddsc_status merge_clusters(ddsc_report *r, cluster_merge *merge)
{
    double *centre = NULL;
    bool apart = r->measures && r->view.n_components > 1; /* else some link tells */
    ddsc_status status = apart ? find_centres(r, &centre) : DDSC_OK;
    if (status >= 0)
        status = cluster_merges(r->ctx, merge, &r->from.clustering->affinity, r->view.labels, r->k,
                                r->size, centre, apart ? r->items.dim : 0);
    mem_free(r->ctx, centre);
    return status;
}

ddsc_status result_put_merges(ddsc_report *r, json_t *root)
{
    cluster_merge *merge = NULL;
    if (!has_affinity(r) || r->k < 2 || r->k > MERGES_MOST)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, merge, r->k - 1));
    ddsc_status status = merge_clusters(r, merge);
    json_t *list = status >= 0 ? put_array(r, root, "tree") : NULL;
    for (int64_t m = 0; status >= 0 && m + 1 < r->k; m++) {
        json_t *row = put_row(r, list);
        put_count(r, row, "a", merge[m].a);
        put_count(r, row, "b", merge[m].b);
        put_real(r, row, "height", merge[m].height);
        put_count(r, row, "size", merge[m].size);
    }
    mem_free(r->ctx, merge);
    return status;
}

ddsc_status result_find_order(ddsc_report *r)
{
    if (!has_affinity(r) || r->view.n_vectors < 2)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->order, r->view.n));
    return cluster_direction(r->ctx, r->order, r->from.clustering);
}
