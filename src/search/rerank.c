/* Lists of candidates put in order by the metric itself: pairs by their larger end, each once. */
#include "base/team.h"
#include "search/search.h"

void search_lists_free(ddsc_context *ctx, pair_lists *l)
{
    MEM_FREE(ctx, l->offset, l->index);
    *l = (pair_lists){0};
}

/* Pairs by their larger end, repeated where both ends named each other. After this offset[j] ..
 * offset[j + 1] are the smaller ends of j's. */
static ddsc_status by_larger_end(ddsc_context *ctx, pair_lists *out, const pair_lists *l)
{
    int64_t n = l->n, *at;
    out->n = n;
    CHECK(MEM_ZERO(ctx, out->offset, n + 2));
    CHECK(MEM_NEW(ctx, out->index, l->offset[n]));
    at = out->offset + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = l->offset[i]; e < l->offset[i + 1]; e++)
            at[BASE_MAX(i, l->index[e]) + 1]++;
    for (int64_t j = 0; j < n; j++)
        at[j + 1] += at[j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = l->offset[i]; e < l->offset[i + 1]; e++)
            out->index[at[BASE_MAX(i, l->index[e])]++] = (int32_t)BASE_MIN(i, l->index[e]);
    return DDSC_OK;
}

typedef struct ranking {
    pairs *p;
    nearest near;
    pair_lists list;
    int64_t first; /* item the strip at work begins with */
} ranking;

static ddsc_status rank_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ranking *r = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t j = r->first + begin; j < r->first + end; j++) {
        int32_t *other = r->list.index + r->list.offset[j];
        int64_t n = r->list.offset[j + 1] - r->list.offset[j];
        sort_i32(other, n);
        for (int64_t e = 0; e < n; e++)
            if (e == 0 || other[e] != other[e - 1])
                TRY(pairs_solve(r->p, &r->near, (pair_ij){other[e], (int32_t)j}, worker));
        progress_add(r->p->ctx, n);
    }
done:
    return status;
}

ddsc_status search_rerank(pairs *p, ddsc_graph **out, int64_t tau, const pair_lists *l)
{
    ddsc_status status = DDSC_OK;
    ranking r = {.p = p};
    int64_t strip = pairs_strip(p);
    TRY(nearest_create(p->ctx, &r.near, 0, p->n, tau));
    r.near.by = p->by;
    TRY(by_larger_end(p->ctx, &r.list, l));
    progress_begin(p->ctx, "candidates", l->offset[l->n]);
    for (r.first = 0; r.first < l->n; r.first += strip) {
        int64_t end = BASE_MIN(l->n, r.first + strip);
        TRY(pairs_prepare(p, r.first, end));
        TRY(team_for(p->ctx, end - r.first, 4, rank_range, &r));
    }
    progress_end(p->ctx);
    TRY(nearest_share(p->ctx, &r.near, false));
    TRY(nearest_finish(p->ctx, &r.near, out));
done:
    nearest_free(p->ctx, &r.near);
    search_lists_free(p->ctx, &r.list);
    return status;
}
