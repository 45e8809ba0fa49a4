/* Items in breadth-first order: neighbours come to lie near each other in memory, which is most of
 * what a product with a large sparse matrix costs. */
#include "eigen/order.h"

enum { ROWS_A_PIECE = 2048 };

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

/* Where an item's row goes, and what belongs to it. */
typedef struct permuting {
    reordered *r;
    const sparse *m;
    const double *degree;
    const int32_t *component;
} permuting;

static ddsc_status permute_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const permuting *t = arg;
    reordered *r = t->r;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        int32_t i = r->item[p];
        int64_t at = r->m.offset[p];
        r->degree[p] = t->degree[i];
        r->component[p] = t->component[i];
        for (int64_t q = t->m->offset[i]; q < t->m->offset[i + 1]; q++) {
            r->m.column[at] = r->place[t->m->column[q]];
            r->m.value[at++] = t->m->value[q];
        }
    }
    return DDSC_OK;
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
    for (int64_t p = 0; p < m->n; p++)
        r->m.offset[p + 1] = r->m.offset[p] + m->offset[r->item[p] + 1] - m->offset[r->item[p]];
    TRY(parallel_for(ctx, m->n, ROWS_A_PIECE, permute_rows, &(permuting){r, m, degree, component}));
done:
    if (status < 0)
        order_free(ctx, r);
    return status;
}
