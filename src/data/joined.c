/* Joins two sets into one with a common support table. The items of the first set precede those of
 * the second. */
#include <string.h>

#include "data/measures.h"

static void put_items(measures_parts *p, const measures *m, int64_t items_before,
                      int64_t entries_before, int64_t rows_before)
{
    memcpy(p->support + rows_before * m->d, m->support, (size_t)(m->v * m->d) * sizeof *p->support);
    memcpy(p->weight + entries_before, m->weight, (size_t)m->nnz * sizeof *p->weight);
    for (int64_t e = 0; e < m->nnz; e++)
        p->index[entries_before + e] = (int32_t)(m->index[e] + rows_before);
    for (int64_t i = 0; i <= m->n; i++)
        p->offset[items_before + i] = entries_before + m->offset[i];
}

ddsc_status measures_join(ddsc_context *ctx, measures **out, const measures *a, const measures *b)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {.n = a->n + b->n, .v = a->v + b->v, .nnz = a->nnz + b->nnz, .d = a->d};
    if (p.n > INT32_MAX || p.v > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "%lld items with %lld points are too many to compare at once",
                        (long long)p.n, (long long)p.v);
    TRY(MEM_NEW(ctx, p.support, p.v * p.d));
    TRY(MEM_NEW(ctx, p.offset, p.n + 1));
    TRY(MEM_NEW(ctx, p.index, p.nnz));
    TRY(MEM_NEW(ctx, p.weight, p.nnz));
    put_items(&p, a, 0, 0, 0);
    put_items(&p, b, a->n, a->nnz, a->v);
    TRY(measures_build(ctx, out, &p, DDSC_EMPTY_ERROR, "joined sets"));
done:
    measures_parts_free(ctx, &p);
    return status;
}
