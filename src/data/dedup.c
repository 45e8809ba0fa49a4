/* Equal points become one row of the support table, with the name of the first: sharing is found,
 * not declared. */
#include <string.h>

#include "data/parts.h"

/* Open addressing; slots hold row + 1. Returns the row equal to x, or -1 after inserting `row`. */
static int64_t find_or_insert(int32_t *slot, uint64_t mask, const double *support, int64_t d,
                              const double *x, int64_t row)
{
    size_t size = (size_t)d * sizeof *x;
    for (uint64_t at = hash_bytes(x, size, 0) & mask;; at = (at + 1) & mask) {
        if (slot[at] == 0) {
            slot[at] = (int32_t)row + 1;
            return -1;
        }
        int64_t there = slot[at] - 1;
        if (memcmp(support + there * d, x, size) == 0)
            return there;
    }
}

/* Compact the table in place: kept rows move down, map[old row] = new row (-1: nobody uses it). */
static ddsc_status compact_rows(ddsc_context *ctx, measures_parts *p, int32_t *map)
{
    ddsc_status status = DDSC_OK;
    int32_t *slot = NULL;
    int64_t kept = 0;
    uint64_t size = 16;
    while (size < (uint64_t)p->v + (uint64_t)p->v / 2)
        size *= 2;
    if (!p->points_distinct)
        TRY(MEM_ZERO(ctx, slot, size));
    for (int64_t r = 0; r < p->v; r++) {
        if (map[r] < 0)
            continue;
        double *x = p->support + r * p->d;
        int64_t same = slot ? find_or_insert(slot, size - 1, p->support, p->d, x, kept) : -1;
        map[r] = (int32_t)(same >= 0 ? same : kept);
        if (same >= 0)
            continue;
        if (kept != r)
            memmove(p->support + kept * p->d, x, (size_t)p->d * sizeof *x);
        texts_move_down(&p->points, kept, r);
        kept++;
    }
    p->v = kept;
    if (p->points.n > 0)
        p->points.n = kept;
done:
    mem_free(ctx, slot);
    return status;
}

ddsc_status parts_merge_points(ddsc_context *ctx, measures_parts *p)
{
    ddsc_status status = DDSC_OK;
    int32_t *map = NULL;
    TRY(MEM_NEW(ctx, map, p->v));
    memset(map, 0xff, (size_t)p->v * sizeof *map);
    for (int64_t e = 0; e < p->nnz; e++)
        map[p->index[e]] = 0;
    int64_t before = p->v;
    TRY(compact_rows(ctx, p, map));
    for (int64_t e = 0; e < p->nnz; e++)
        p->index[e] = map[p->index[e]];
    if (p->v < before)
        TRY(mem_resize(ctx, &p->support, p->v * p->d, sizeof *p->support));
done:
    mem_free(ctx, map);
    return status;
}
