/* Copies a set and sorts the rows of its support table by their coordinates.
 *
 * In other sets, rows are numbered by their first use, so the order of an item's points depends on
 * the items before it. In an ordered set, this order depends only on the item. */
#include <string.h>

#include "base/workspace.h"
#include "data/measures.h"

typedef struct row_sort {
    const measures *m;
    int32_t *order, *part, *copy;
    double *key;
} row_sort;

/* Sorts the rows order[begin .. end) by coordinates k, k + 1, ... Equal rows keep their order. */
static void sort_support(const row_sort *s, int64_t begin, int64_t end, int64_t k)
{
    int32_t *row = s->order + begin;
    int64_t n = end - begin;
    if (n < 2 || k == s->m->d)
        return;
    for (int64_t p = 0; p < n; p++)
        s->key[p] = measures_point(s->m, row[p])[k];
    sort_order(s->part, s->key, n);
    memcpy(s->copy, row, (size_t)n * sizeof *row);
    for (int64_t p = 0; p < n; p++)
        row[p] = s->copy[s->part[p]];
    for (int64_t from = 0, to; from < n; from = to) {
        double x = measures_point(s->m, row[from])[k];
        for (to = from + 1; to < n && measures_point(s->m, row[to])[k] == x;)
            to++;
        sort_support(s, begin + from, begin + to, k + 1);
    }
}

/* Compares two rows in the order of their coordinates. */
static int compare_points(const measures *m, int64_t a, int64_t b)
{
    const double *x = m->support + a * m->d, *y = m->support + b * m->d;
    for (int64_t k = 0; k < m->d; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

measures measures_sort_item(const measures *m, int64_t i, const item_sort *s)
{
    item_view item = measures_item(m, i);
    row_sort rows = {.m = m, .order = s->row, .part = s->part, .copy = s->copy, .key = s->key};
    memcpy(s->row, item.index, (size_t)item.n * sizeof *s->row);
    sort_support(&rows, 0, item.n, 0);
    for (int64_t p = 0; p < item.n; p++) {
        int64_t low = 0, high = item.n - 1; /* the rows of an item ascend */
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (item.index[middle] < s->row[p])
                low = middle + 1;
            else
                high = middle;
        }
        s->weight[p] = item.weight[low];
    }
    s->offset[0] = 0;
    s->offset[1] = item.n;
    return (measures){.ctx = m->ctx,
                      .n = 1,
                      .v = m->v,
                      .nnz = item.n,
                      .d = m->d,
                      .support = m->support,
                      .offset = s->offset,
                      .index = s->row,
                      .weight = s->weight,
                      .grid = m->grid};
}

void measures_sort_take(item_sort *s, int64_t largest, arena *a)
{
    ARENA_TAKE(a, s->offset, 2);
    ARENA_TAKE(a, s->row, largest);
    ARENA_TAKE(a, s->part, largest);
    ARENA_TAKE(a, s->copy, largest);
    ARENA_TAKE(a, s->weight, largest);
    ARENA_TAKE(a, s->key, largest);
}

static bool is_ordered(const measures *m)
{
    for (int64_t r = 1; r < m->v; r++)
        if (compare_points(m, r - 1, r) > 0)
            return false;
    return true;
}

static ddsc_status order_support(ddsc_context *ctx, int32_t *order, const measures *m)
{
    ddsc_status status = DDSC_OK;
    row_sort s = {.m = m, .order = order};
    TRY(MEM_NEW(ctx, s.part, m->v));
    TRY(MEM_NEW(ctx, s.copy, m->v));
    TRY(MEM_NEW(ctx, s.key, m->v));
    for (int64_t r = 0; r < m->v; r++)
        order[r] = (int32_t)r;
    sort_support(&s, 0, m->v, 0);
done:
    MEM_FREE(ctx, s.part, s.copy, s.key);
    return status;
}

ddsc_status measures_ordered(ddsc_context *ctx, measures **out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {.n = m->n, .v = m->v, .nnz = m->nnz, .d = m->d, .points_distinct = true};
    int32_t *order = NULL, *rank = NULL;
    *out = NULL;
    if (is_ordered(m))
        return DDSC_OK;
    TRY(MEM_NEW(ctx, order, m->v));
    TRY(MEM_NEW(ctx, rank, m->v));
    TRY(order_support(ctx, order, m));
    TRY(MEM_NEW(ctx, p.support, m->v * m->d));
    TRY(MEM_COPY(ctx, p.offset, m->offset, m->n + 1));
    TRY(MEM_NEW(ctx, p.index, m->nnz));
    TRY(MEM_COPY(ctx, p.weight, m->weight, m->nnz));
    for (int64_t r = 0; r < m->v; r++) {
        rank[order[r]] = (int32_t)r;
        memcpy(p.support + r * m->d, measures_point(m, order[r]), (size_t)m->d * sizeof(double));
    }
    for (int64_t e = 0; e < m->nnz; e++)
        p.index[e] = rank[m->index[e]];
    TRY(measures_build(ctx, out, &p, DDSC_EMPTY_ERROR, "ordered set"));
    (*out)->grid = m->grid;
done:
    MEM_FREE(ctx, order, rank);
    measures_parts_free(ctx, &p);
    return status;
}

bool measures_precedes(const measures *m, int64_t i, int64_t j)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    if (x.n != y.n)
        return x.n < y.n;
    for (int64_t p = 0; p < x.n; p++)
        if (x.index[p] != y.index[p])
            return compare_points(m, x.index[p], y.index[p]) < 0;
    for (int64_t p = 0; p < x.n; p++)
        if (x.weight[p] != y.weight[p])
            return x.weight[p] < y.weight[p];
    return i < j;
}

/* Merges two sorted runs of items. */
static void merge_runs(const measures *m, const int32_t *from, int32_t *to, int64_t begin,
                       int64_t middle, int64_t end)
{
    int64_t a = begin, b = middle;
    for (int64_t k = begin; k < end; k++)
        to[k] = b >= end || (a < middle && measures_precedes(m, from[a], from[b])) ? from[a++]
                                                                                   : from[b++];
}

ddsc_status measures_rank(ddsc_context *ctx, int32_t **rank, const measures *m)
{
    ddsc_status status = DDSC_OK;
    int32_t *from = NULL, *to = NULL;
    TRY(MEM_NEW(ctx, from, m->n));
    TRY(MEM_NEW(ctx, to, m->n));
    TRY(MEM_NEW(ctx, *rank, m->n));
    for (int64_t i = 0; i < m->n; i++)
        from[i] = (int32_t)i;
    for (int64_t width = 1; width < m->n; width *= 2) {
        for (int64_t at = 0; at < m->n; at += 2 * width)
            merge_runs(m, from, to, at, BASE_MIN(m->n, at + width), BASE_MIN(m->n, at + 2 * width));
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    for (int64_t i = 0; i < m->n; i++)
        (*rank)[from[i]] = (int32_t)i;
done:
    MEM_FREE(ctx, from, to);
    return status;
}
