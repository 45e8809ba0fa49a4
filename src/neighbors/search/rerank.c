/* Computes the values of candidate pairs with the metric.
 *
 * The candidate list of an item contains the items with which it is compared. A pair {i, j} is
 * computed once, even if it is on both lists, and its value is offered to both heaps. To detect
 * duplicates, pairs are grouped by their larger item j.
 *
 * Lists may arrive strip by strip in ascending order of items. Once the lists of all items below
 * `end` are known, all pairs whose larger item is below `end` are known, and their values are
 * computed. A pair whose larger item is in a later strip is stored in a linked list of the larger
 * item. The cost is one metric value per distinct pair, and the memory is O(candidates in a strip +
 * postponed pairs). */
#include "base/team.h"
#include "neighbors/search/search.h"

void search_lists_free(ddsc_context *ctx, pair_lists *l)
{
    MEM_FREE(ctx, l->offset, l->index);
    *l = (pair_lists){0};
}

ddsc_status search_rank_create(pairs *p, ranking *r, int64_t tau)
{
    *r = (ranking){.p = p};
    CHECK(nearest_create(p->ctx, &r->near, 0, p->n, tau));
    r->near.by = p->by;
    CHECK(MEM_NEW(p->ctx, r->last, p->n));
    for (int64_t j = 0; j < p->n; j++)
        r->last[j] = -1;
    return DDSC_OK;
}

void search_rank_free(ranking *r)
{
    if (!r->p)
        return;
    nearest_free(r->p->ctx, &r->near);
    search_lists_free(r->p->ctx, &r->strip);
    MEM_FREE(r->p->ctx, r->last, r->later, r->open);
    *r = (ranking){0};
}

/* Postpones a pair whose larger item is in a later strip. */
static ddsc_status put_off(ranking *r, int64_t i, int64_t j)
{
    CHECK(MEM_RESERVE(r->p->ctx, r->later, &r->later_capacity, r->n_later + 1));
    r->later[r->n_later] = (ranking_later){.before = r->last[j], .item = (int32_t)i};
    r->last[j] = r->n_later++;
    return DDSC_OK;
}

static ddsc_status count_pairs(ranking *r, const pair_lists *l)
{
    int64_t end = r->first + l->n, *at = r->strip.offset + 2;
    for (int64_t i = r->first; i < end; i++) {
        for (int64_t e = r->last[i]; e >= 0; e = r->later[e].before)
            at[i - r->first]++;
        for (int64_t e = l->offset[i - r->first]; e < l->offset[i - r->first + 1]; e++) {
            int64_t larger = BASE_MAX(i, l->index[e]);
            if (larger < end)
                at[larger - r->first]++;
            else
                CHECK(put_off(r, i, larger));
        }
    }
    return DDSC_OK;
}

/* Groups the pairs (i, j), i < j, by j. Pairs that are on both lists occur twice. On return,
 * entries offset[j] .. offset[j + 1] are the items i in the pairs of item j, where j is counted
 * from the first item of the strip. */
static ddsc_status by_larger_end(ranking *r, const pair_lists *l)
{
    int64_t first = r->first, end = first + l->n, *at;
    search_lists_free(r->p->ctx, &r->strip);
    r->strip.n = l->n;
    CHECK(MEM_ZERO(r->p->ctx, r->strip.offset, l->n + 2));
    CHECK(count_pairs(r, l));
    at = r->strip.offset + 1;
    for (int64_t j = 0; j < l->n; j++)
        at[j + 1] += at[j];
    CHECK(MEM_NEW(r->p->ctx, r->strip.index, at[l->n]));
    for (int64_t i = first; i < end; i++) {
        for (int64_t e = r->last[i]; e >= 0; e = r->later[e].before)
            r->strip.index[at[i - first]++] = r->later[e].item;
        for (int64_t e = l->offset[i - first]; e < l->offset[i - first + 1]; e++) {
            int64_t other = l->index[e], larger = BASE_MAX(i, other);
            if (larger < end)
                r->strip.index[at[larger - first]++] = (int32_t)BASE_MIN(i, other);
        }
    }
    return DDSC_OK;
}

/* Computes the value of a pair and offers it to both heaps. If the solve does not converge, it is
 * counted, and the search continues. */
static ddsc_status rank_pair(ranking *r, int64_t i, int64_t j, int worker)
{
    ddsc_status status = pairs_solve(r->p, &r->near, (pair_ij){(int32_t)i, (int32_t)j}, worker);
    return status < 0 ? status : DDSC_OK;
}

/* Computes the pairs (i, j) for all i < j. */
static ddsc_status rank_all(ranking *r, int64_t j, int worker)
{
    for (int64_t i = 0; i < j; i++)
        CHECK(rank_pair(r, i, j, worker));
    return DDSC_OK;
}

/* Computes the pairs of item j with the items on its list, and with the items i < j that are
 * compared with all others. */
static ddsc_status rank_one(ranking *r, int64_t j, int worker)
{
    int32_t *other = r->strip.index + r->strip.offset[j - r->first];
    int64_t n = r->strip.offset[j - r->first + 1] - r->strip.offset[j - r->first], open = 0;
    sort_i32(other, n);
    for (int64_t e = 0; e < n || (open < r->n_open && r->open[open] < j);) {
        bool named = e < n && !(open < r->n_open && r->open[open] < other[e]);
        int32_t i = named ? other[e] : r->open[open];
        CHECK(rank_pair(r, i, j, worker));
        while (e < n && other[e] == i)
            e++;
        open += open < r->n_open && r->open[open] == i;
    }
    return DDSC_OK;
}

static bool is_open(const ranking *r, int64_t j)
{
    int64_t low = 0, high = r->n_open;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (r->open[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n_open && r->open[low] == j;
}

static ddsc_status rank_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ranking *r = arg;
    for (int64_t j = r->begin + begin; j < r->begin + end; j++)
        CHECK(is_open(r, j) ? rank_all(r, j, worker) : rank_one(r, j, worker));
    progress_add(r->p->ctx, r->tick * (end - begin));
    return DDSC_OK;
}

ddsc_status search_rank_open(ranking *r, int64_t item)
{
    CHECK(MEM_RESERVE(r->p->ctx, r->open, &r->open_capacity, r->n_open + 1));
    r->open[r->n_open++] = (int32_t)item;
    return DDSC_OK;
}

ddsc_status search_rank_strip(ranking *r, const pair_lists *l)
{
    int64_t strip = pairs_strip(r->p), end = r->first + l->n;
    CHECK(by_larger_end(r, l));
    for (r->begin = r->first; r->begin < end; r->begin += strip) {
        int64_t stop = BASE_MIN(end, r->begin + strip);
        CHECK(pairs_prepare(r->p, r->begin, stop));
        CHECK(team_for(r->p->ctx, stop - r->begin, 4, rank_range, r));
    }
    r->first = end;
    return DDSC_OK;
}

ddsc_status search_rank_finish(ranking *r, ddsc_graph **out)
{
    CHECK(nearest_share(r->p->ctx, &r->near, false));
    return nearest_finish(r->p->ctx, &r->near, out);
}

ddsc_status search_rerank(pairs *p, ddsc_graph **out, int64_t tau, const pair_lists *l)
{
    ddsc_status status = DDSC_OK;
    ranking r = {0};
    TRY(search_rank_create(p, &r, tau));
    r.tick = 1;
    progress_begin(p->ctx, "candidates", l->n);
    TRY(search_rank_strip(&r, l));
    progress_end(p->ctx);
    TRY(search_rank_finish(&r, out));
done:
    search_rank_free(&r);
    return status;
}
