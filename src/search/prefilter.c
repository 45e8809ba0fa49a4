/* All pairs in floats, then those that the rounding leaves in doubt by the metric itself. */
#include <string.h>

#include "graph/graph.h"
#include "search/doubt.h"
#include "search/search.h"
#include "search/tuning.h"

typedef struct settling {
    doubt *d;
    const nearest *kept;
    double *scratch; /* per worker: keys and upper bounds of a list */
} settling;

static ddsc_status settle_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const settling *s = arg;
    int64_t most = s->kept->tau;
    double *key = s->scratch + 2 * most * worker;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t k = 0; k < most; k++)
            key[k] =
                local_key(s->kept->by, s->kept->index[i * most + k], s->kept->value[i * most + k]);
        search_doubt_settle(s->d, i, key, key + most);
    }
    return DDSC_OK;
}

/* The least bounds of every item, and what they leave in doubt. */
static ddsc_status on_processor(const pairs *p, doubt *d, const prefilter_rows *rows, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = p->ctx;
    int64_t n = rows->n, most = BASE_MIN(n - 1, tau + BASE_MAX(SPARE_LEAST, tau / 2));
    first_bounds bounds;
    nearest kept = {0};
    float *start = NULL;
    double *room = NULL;
    void *state = NULL;
    TRY(search_doubt_create(ctx, d, n, tau, most));
    d->by = p->by;
    TRY(MEM_NEW(ctx, start, n));
    TRY(MEM_NEW(ctx, room, 2 * most * parallel_width(ctx)));
    TRY(prefilter_enclose(ctx, &bounds, start, d->spread, rows, prefilter_radius(rows->columns)));
    TRY(nearest_create(ctx, &kept, 0, n, most));
    kept.by = p->by;
    TRY(p->device->open(ctx, &state, &bounds, NULL));
    progress_begin(ctx, "bounds", n * (n - 1) / 2);
    TRY(p->device->nearest(state, &kept));
    TRY(nearest_share(ctx, &kept, false));
    progress_end(ctx);
    d->index = kept.index;
    TRY(parallel_for(ctx, n, 256, settle_range, &(settling){d, &kept, room}));
    kept.index = NULL;
done:
    if (kept.index)
        d->index = NULL;
    p->device->close(state);
    nearest_free(ctx, &kept);
    MEM_FREE(ctx, room, start);
    return status;
}

/* Candidates of every item: those in doubt, or everybody. *few: not too many of the latter. */
static ddsc_status list_candidates(ddsc_context *ctx, pair_lists *l, const doubt *d, bool *few)
{
    int64_t n = d->n, open = 0;
    l->n = n;
    CHECK(MEM_NEW(ctx, l->offset, n + 1));
    l->offset[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        open += d->count[i] < 0;
        l->offset[i + 1] = l->offset[i] + (d->count[i] < 0 ? n - 1 : d->count[i]);
    }
    *few = open <= search_doubt_allowed(n);
    if (!*few)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, l->index, l->offset[n]));
    for (int64_t i = 0; i < n; i++) {
        int32_t *to = l->index + l->offset[i];
        if (d->count[i] >= 0)
            memcpy(to, d->index + i * d->most, (size_t)d->count[i] * sizeof *to);
        else
            for (int64_t j = 0; j < n; j++)
                if (j != i)
                    *to++ = (int32_t)j;
    }
    return DDSC_OK;
}

ddsc_status search_prefilter(pairs *p, ddsc_graph **out, int64_t tau, const prefilter_rows *rows,
                             bool *done)
{
    ddsc_status status = DDSC_OK;
    pair_lists l = {0};
    doubt d = {0};
    filtered how;
    *done = false;
    TRY(search_on_device(p->ctx, &d, rows, tau, p->by, &how));
    if (how == FILTERED_NOT)
        TRY(on_processor(p, &d, rows, tau));
    if (how != FILTERED_IN_DOUBT)
        TRY(list_candidates(p->ctx, &l, &d, done));
    if (!*done)
        goto done;
    search_doubt_free(p->ctx, &d);
    pairs_count_first(p, p->n * (p->n - 1) / 2);
    TRY(search_rerank(p, out, tau, &l));
done:
    search_doubt_free(p->ctx, &d);
    search_lists_free(p->ctx, &l);
    return status;
}
