/* Merges equal points into one row of the support table, so that callers need not declare shared
 * points. If equal points have different names, the first few names are joined into the name of
 * the row: "ship + vessel". */
#include <string.h>

#include "data/parts.h"

#define JOINT " + "

enum { NAMES_JOINED = 6 /* maximum */ };

/* Searches a hash table with open addressing, whose slots hold row + 1. Returns the row equal to x,
 * or inserts `row` and returns -1. */
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

/* Returns the next of the joined names, or NULL. */
static const char *next_name(const char *names)
{
    const char *joint = strstr(names, JOINT);
    return joint ? joint + strlen(JOINT) : NULL;
}

static size_t name_length(const char *names)
{
    const char *joint = strstr(names, JOINT);
    return joint ? (size_t)(joint - names) : strlen(names);
}

static bool has_name(const char *names, const char *name, size_t n)
{
    for (; names; names = next_name(names))
        if (name_length(names) == n && memcmp(names, name, n) == 0)
            return true;
    return false;
}

/* Joins the distinct names of a row and of all rows merged into it. */
static void join_row(char *to, const measures_texts *t, const int32_t *next, int32_t row)
{
    strcpy(to, texts_get(t, row));
    for (int n = 1; n < NAMES_JOINED && (row = next[row]) >= 0;)
        for (const char *name = texts_get(t, row); name; name = next_name(name)) {
            size_t length = name_length(name);
            if (length == 0 || has_name(to, name, length))
                continue;
            if (*to)
                strcat(to, JOINT);
            strncat(to, name, length);
            n++;
        }
}

/* Joins the names of v rows into names of the n remaining rows, where map[old row] = new row. */
static ddsc_status join_place_names(ddsc_context *ctx, measures_texts *t, const int32_t *map,
                                    int64_t v, int64_t n)
{
    ddsc_status status = DDSC_OK;
    measures_texts out = {.n = n};
    int32_t *first = NULL, *next = NULL;
    TRY(MEM_NEW(ctx, first, n));
    TRY(MEM_NEW(ctx, next, v));
    TRY(MEM_NEW(ctx, out.at, n + 1));
    TRY(MEM_NEW(ctx, out.text, t->at[v] + (int64_t)strlen(JOINT) * v));
    for (int64_t k = 0; k < n; k++)
        first[k] = -1;
    for (int64_t r = v - 1; r >= 0; r--)
        if (map[r] >= 0) {
            next[r] = first[map[r]];
            first[map[r]] = (int32_t)r;
        }
    out.at[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        char *to = out.text + out.at[k];
        join_row(to, t, next, first[k]);
        out.at[k + 1] = out.at[k] + (int64_t)strlen(to) + 1;
    }
    texts_free(ctx, t);
    *t = out;
    out = (measures_texts){0};
done:
    MEM_FREE(ctx, first, next);
    texts_free(ctx, &out);
    return status;
}

/* Compacts the table in place. On entry, map[row] is -1 for rows that no item uses, which are
 * removed. For the other rows, map[row] is set to the new row. */
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
        kept++;
    }
    if (p->points.n > 0)
        TRY(join_place_names(ctx, &p->points, map, p->v, kept));
    p->v = kept;
done:
    mem_free(ctx, slot);
    return status;
}

typedef struct renumbering {
    measures_parts *p;
    int32_t *map;
} renumbering;

enum { ENTRIES_A_PIECE = 1 << 16 };

static ddsc_status mark_used(void *arg, int64_t begin, int64_t end, int worker)
{
    const renumbering *r = arg;
    (void)worker;
    for (int64_t e = begin; e < end; e++)
        __atomic_store_n(&r->map[r->p->index[e]], 0, __ATOMIC_RELAXED);
    return DDSC_OK;
}

static ddsc_status renumber_entries(void *arg, int64_t begin, int64_t end, int worker)
{
    const renumbering *r = arg;
    (void)worker;
    for (int64_t e = begin; e < end; e++)
        r->p->index[e] = r->map[r->p->index[e]];
    return DDSC_OK;
}

ddsc_status parts_merge_points(ddsc_context *ctx, measures_parts *p)
{
    ddsc_status status = DDSC_OK;
    int32_t *map = NULL;
    TRY(MEM_NEW(ctx, map, p->v));
    memset(map, 0xff, (size_t)p->v * sizeof *map);
    renumbering r = {p, map};
    TRY(parallel_for(ctx, p->nnz, ENTRIES_A_PIECE, mark_used, &r));
    int64_t before = p->v;
    TRY(compact_rows(ctx, p, map));
    if (p->v < before) /* otherwise all rows have their old index */
        TRY(parallel_for(ctx, p->nnz, ENTRIES_A_PIECE, renumber_entries, &r));
    if (p->v < before)
        TRY(mem_resize(ctx, &p->support, p->v * p->d, sizeof *p->support));
done:
    mem_free(ctx, map);
    return status;
}
