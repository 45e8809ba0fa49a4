/* Lists of candidates put in order by the metric itself: pairs by their larger end, each once. */
#include <stdlib.h>

#include "search/search.h"

void pair_lists_free(ddsc_context *ctx, pair_lists *l)
{
    mem_free(ctx, l->offset);
    mem_free(ctx, l->index);
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

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static ddsc_status sort_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pair_lists *l = arg;
    (void)worker;
    for (int64_t j = begin; j < end; j++)
        qsort(l->index + l->offset[j], (size_t)(l->offset[j + 1] - l->offset[j]), sizeof *l->index,
              by_number);
    return DDSC_OK;
}

static void drop_repeated(pair_lists *l)
{
    int64_t to = 0, from = 0;
    for (int64_t j = 0; j < l->n; j++) {
        int64_t begin = to, end = l->offset[j + 1];
        for (; from < end; from++)
            if (to == begin || l->index[to - 1] != l->index[from])
                l->index[to++] = l->index[from];
        l->offset[j] = begin;
    }
    l->offset[l->n] = to;
}

typedef struct ranking {
    pairs *p;
    nearest *near;
    pair_lists list;
    int64_t first; /* item the strip at work begins with */
} ranking;

static ddsc_status rank_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ranking *r = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t j = r->first + begin; j < r->first + end; j++) {
        int64_t from = r->list.offset[j], to = r->list.offset[j + 1];
        for (int64_t e = from; e < to; e++)
            TRY(pairs_solve(r->p, r->near, (pair_ij){r->list.index[e], (int32_t)j}, worker));
        progress_add(r->p->ctx, to - from);
    }
done:
    return status;
}

ddsc_status search_rerank(pairs *p, nearest *near, const pair_lists *l)
{
    ddsc_status status = DDSC_OK;
    ranking r = {.p = p, .near = near};
    int64_t strip = pairs_strip(p);
    TRY(by_larger_end(p->ctx, &r.list, l));
    TRY(parallel_for(p->ctx, l->n, 256, sort_range, &r.list));
    drop_repeated(&r.list);
    progress_begin(p->ctx, "candidates", r.list.offset[l->n]);
    for (r.first = 0; r.first < l->n; r.first += strip) {
        int64_t end = BASE_MIN(l->n, r.first + strip);
        TRY(pairs_prepare(p, r.first, end));
        TRY(parallel_for(p->ctx, end - r.first, 4, rank_range, &r));
    }
    progress_end(p->ctx);
done:
    pair_lists_free(p->ctx, &r.list);
    return status;
}
