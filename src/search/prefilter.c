/* All pairs in floats, then those that the rounding leaves in doubt by the metric itself: of the
 * bounds kept for an item every one that is not above the tau-th smallest upper bound. */
#include <string.h>

#include "graph/graph.h"
#include "search/search.h"
#include "search/tuning.h"

/* How many of the kept can be neighbours of item i; -1 when others may be, too. */
static int64_t count_in_doubt(const nearest *kept, const double *spread, int64_t i, int64_t tau,
                              double *upper)
{
    const double *low = kept->value + i * kept->tau;
    const int32_t *index = kept->index + i * kept->tau;
    int64_t within = 0;
    for (int64_t k = 0; k < kept->tau; k++)
        upper[k] = local_key(kept->by, index[k], low[k] + spread[i] + spread[index[k]]);
    double reach = select_smallest(upper, kept->tau, tau - 1);
    while (within < kept->tau && local_key(kept->by, index[within], low[within]) <= reach)
        within++;
    return within < kept->tau || kept->tau == kept->n - 1 ? within : -1;
}

/* Candidates of every item: those kept that bounds do not rule out, or everybody. */
static ddsc_status list_candidates(ddsc_context *ctx, pair_lists *l, const nearest *kept,
                                   const double *spread, int64_t tau, bool *few)
{
    ddsc_status status = DDSC_OK;
    int64_t n = kept->n, open = 0;
    double *upper = NULL;
    l->n = n;
    TRY(MEM_NEW(ctx, upper, kept->tau));
    TRY(MEM_NEW(ctx, l->offset, n + 1));
    l->offset[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = count_in_doubt(kept, spread, i, tau, upper);
        open += count < 0;
        l->offset[i + 1] = l->offset[i] + (count < 0 ? n - 1 : count);
    }
    *few = open <= OPEN_LEAST + n / OPEN_SHARE;
    if (!*few)
        goto done;
    TRY(MEM_NEW(ctx, l->index, l->offset[n]));
    for (int64_t i = 0; i < n; i++) {
        int64_t count = l->offset[i + 1] - l->offset[i];
        int32_t *to = l->index + l->offset[i];
        if (count <= kept->tau)
            memcpy(to, kept->index + i * kept->tau, (size_t)count * sizeof *to);
        else
            for (int64_t j = 0; j < n; j++)
                if (j != i)
                    *to++ = (int32_t)j;
    }
done:
    mem_free(ctx, upper);
    return status;
}

/* The least bounds of every item, and the candidates they leave. */
static ddsc_status filter(const pairs *p, pair_lists *l, const prefilter_rows *rows, int64_t tau,
                          bool *few)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = p->ctx;
    int64_t n = rows->n;
    first_bounds bounds;
    nearest kept = {0};
    float *start = NULL;
    double *spread = NULL;
    void *state = NULL;
    *few = false;
    TRY(MEM_NEW(ctx, start, n));
    TRY(MEM_NEW(ctx, spread, n));
    TRY(prefilter_enclose(ctx, &bounds, start, spread, rows));
    TRY(nearest_create(ctx, &kept, 0, n, BASE_MIN(n - 1, tau + BASE_MAX(SPARE_LEAST, tau / 2))));
    kept.by = p->by;
    TRY(p->device->open(ctx, &state, &bounds));
    progress_begin(ctx, "bounds", n * (n - 1) / 2);
    TRY(p->device->nearest(state, &kept));
    progress_end(ctx);
    TRY(nearest_sort(ctx, &kept, false));
    TRY(list_candidates(ctx, l, &kept, spread, tau, few));
done:
    p->device->close(state);
    nearest_free(ctx, &kept);
    MEM_FREE(ctx, spread, start);
    return status;
}

ddsc_status search_prefilter(pairs *p, ddsc_graph **out, int64_t tau, const prefilter_rows *rows,
                             bool *done)
{
    ddsc_status status = DDSC_OK;
    pair_lists l = {0};
    TRY(filter(p, &l, rows, tau, done));
    if (!*done)
        goto done;
    pairs_count_bounds(p, BOUND_FIRST, p->n * (p->n - 1) / 2, 0);
    TRY(search_rerank(p, out, tau, &l));
done:
    search_lists_free(p->ctx, &l);
    return status;
}
