/* Items in breadth-first order: neighbours come to lie near each other in memory, which is most of
 * what a product with a large sparse matrix costs. */
#include "eigen/order.h"

void order_free(ddsc_context *ctx, reordered *r)
{
    sparse_free(ctx, &r->m);
    MEM_FREE(ctx, r->component, r->degree, r->place, r->item);
    *r = (reordered){0};
}

/* item[p]: which item stands at place p; place is the inverse. */
static void breadth_first(int32_t *item, int32_t *place, const sparse *m)
{
    int64_t end = 0;
    for (int64_t i = 0; i < m->n; i++)
        place[i] = -1;
    for (int64_t root = 0, next = 0; root < m->n; root++) {
        if (place[root] >= 0)
            continue;
        place[root] = (int32_t)end;
        item[end++] = (int32_t)root;
        for (; next < end; next++)
            for (int64_t p = m->offset[item[next]]; p < m->offset[item[next] + 1]; p++) {
                int32_t j = m->column[p];
                if (place[j] < 0) {
                    place[j] = (int32_t)end;
                    item[end++] = j;
                }
            }
    }
}

static void permute_rows(reordered *r, const sparse *m)
{
    int64_t at = 0;
    for (int64_t p = 0; p < m->n; p++) {
        int32_t i = r->item[p];
        for (int64_t q = m->offset[i]; q < m->offset[i + 1]; q++) {
            r->m.column[at] = r->place[m->column[q]];
            r->m.value[at++] = m->value[q];
        }
        r->m.offset[p + 1] = at;
    }
}

ddsc_status order_make(ddsc_context *ctx, reordered *r, const sparse *m, const double *degree,
                       const int32_t *component)
{
    ddsc_status status = DDSC_OK;
    *r = (reordered){0};
    TRY(MEM_NEW(ctx, r->place, m->n));
    TRY(MEM_NEW(ctx, r->item, m->n));
    TRY(MEM_NEW(ctx, r->degree, m->n));
    TRY(MEM_NEW(ctx, r->component, m->n));
    TRY(sparse_new(ctx, &r->m, m->n, m->nnz));
    breadth_first(r->item, r->place, m);
    for (int64_t p = 0; p < m->n; p++) {
        r->degree[p] = degree[r->item[p]];
        r->component[p] = component[r->item[p]];
    }
    permute_rows(r, m);
done:
    if (status < 0)
        order_free(ctx, r);
    return status;
}
