/* Builds the exact tau-NN graph with a float prefilter.
 *
 * The metric provides rows of floats whose distances approximate its values with known errors
 * (prefilter_rows). One matrix product in floats gives lower bounds for all n^2 / 2 pairs. The
 * `most` smallest bounds of each item are kept. From these, shortlist.c selects the candidates that
 * cannot be excluded, given the rounding errors. The metric computes the candidates in double
 * precision, and only its values determine the graph, so the graph is byte-identical to that of the
 * full search.
 *
 * The cost is one float product of n^2 / 2 pairs of rows and slightly more than tau metric values
 * per item. If too many items have undecided candidates, for example because many distances are
 * equal, the caller searches all pairs instead. If a device is available, it is tried first
 * (device.c). */
#include "neighbors/search/search.h"
#include "neighbors/search/shortlist.h"
#include "neighbors/search/tuning.h"
#include "numeric/graph/graph.h"

typedef struct settling {
    shortlist *d;
    const nearest *kept;
    double *scratch; /* one per worker: keys and upper bounds of a list */
} settling;

static ddsc_status settle_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const settling *s = arg;
    const int32_t *index = s->d->index;
    int64_t most = s->kept->tau;
    double *key = s->scratch + 2 * most * worker;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t k = 0; k < most; k++)
            key[k] = local_key(s->kept->by, index[i * most + k], s->kept->value[i * most + k]);
        search_shortlist_settle(s->d, i, key, key + most);
    }
    return DDSC_OK;
}

/* Computes the smallest bounds of every item, and selects its candidates. */
static ddsc_status settle_all(const pairs *p, shortlist *d, const prefilter_rows *rows)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = p->ctx;
    int64_t n = rows->n, most = d->most;
    first_bounds bounds;
    nearest kept = {0};
    float *start = NULL;
    double *work = NULL;
    void *state = NULL;
    TRY(MEM_NEW(ctx, start, n));
    TRY(MEM_NEW(ctx, work, 2 * most * parallel_width(ctx)));
    TRY(prefilter_enclose(ctx, &bounds, start, d->spread, rows, prefilter_radius(rows->columns)));
    TRY(nearest_create(ctx, &kept, 0, n, most));
    kept.by = p->by;
    TRY(p->device->open(ctx, &state, &bounds, NULL));
    progress_begin(ctx, "bounds", n * (n - 1) / 2);
    TRY(p->device->nearest(state, &kept));
    TRY(nearest_share(ctx, &kept, false));
    progress_end(ctx);
    d->index = kept.index;
    kept.index = NULL;
    TRY(parallel_for(ctx, n, 256, settle_range, &(settling){d, &kept, work}));
done:
    p->device->close(state);
    nearest_free(ctx, &kept);
    MEM_FREE(ctx, work, start);
    return status;
}

static ddsc_status on_processor(pairs *p, ranking *r, const prefilter_rows *rows, int64_t tau,
                                filtered *how)
{
    ddsc_status status = DDSC_OK;
    int64_t n = rows->n, most = BASE_MIN(n - 1, tau + BASE_MAX(SPARE_LEAST, tau / 2)), open = 0;
    bool few;
    shortlist d = {0};
    TRY(search_shortlist_create(p->ctx, &d, n, tau, most));
    d.by = p->by;
    TRY(settle_all(p, &d, rows));
    search_shortlist_count(&d, n, &open, &few);
    *how = few ? FILTERED : FILTERED_UNDECIDED;
    if (!few)
        goto done;
    search_rank_free(r);
    TRY(search_rank_create(p, r, tau));
    r->tick = 1;
    progress_begin(p->ctx, "candidates", n);
    TRY(search_shortlist_rank(&d, n, r));
    progress_end(p->ctx);
done:
    search_shortlist_free(p->ctx, &d);
    return status;
}

ddsc_status search_prefilter(pairs *p, ddsc_graph **out, int64_t tau, const prefilter_rows *rows,
                             bool *done)
{
    ddsc_status status = DDSC_OK;
    ranking r = {0};
    filtered how;
    *done = false;
    TRY(search_on_device(p, &r, rows, tau, &how));
    if (how == FILTERED_NOT)
        TRY(on_processor(p, &r, rows, tau, &how));
    if (how != FILTERED)
        goto done;
    *done = true;
    pairs_count_first(p, p->n * (p->n - 1) / 2);
    TRY(search_rank_finish(&r, out));
done:
    search_rank_free(&r);
    return status;
}
