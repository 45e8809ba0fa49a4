/* Computes the merge tree of the clusters and a linear order of the items. */
#include "report/content/content.h"

ddsc_status content_put_merges(ddsc_report *r, json_t *root)
{
    ddsc_merge *merge = NULL;
    if (!r->from.clustering || r->view.n == 0 || r->k < 2 || r->k > DDSC_MERGES_MOST_CLUSTERS)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, merge, r->k - 1));
    ddsc_status status = ddsc_merges_run(r->ctx, merge, r->from.clustering, r->measures,
                                         r->from.outliers ? r->outlying : NULL);
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

ddsc_status content_find_order(ddsc_report *r)
{
    if (!r->from.clustering || r->view.n == 0 || r->view.n_vectors < 2)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->order, r->view.n));
    return ddsc_order_run(r->ctx, r->order, r->from.clustering);
}
