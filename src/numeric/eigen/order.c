/* Reorders the items of a graph so that neighbors are close to each other in memory.
 *
 * A product with a large sparse matrix spends most of its time reading the entries of the vector.
 * If neighbors have nearby indices, those entries are often in the cache. If one process has all
 * rows, the items are sorted in breadth-first order, and the matrix is copied in that order. This
 * takes O(n + nnz) time.
 *
 * With several ranks, no rank has all rows, so each rank reorders only its own rows. Equally spaced
 * items in the input order are the seeds of cells, which grow by one step of the graph per round.
 * Each rank then sorts its rows by cell with a counting sort. */
#include "numeric/eigen/order.h"

#include <string.h>

#include "base/blocks.h"

enum { ROWS_A_PIECE = 2048 };
enum { CELL_ITEMS = 1 << 14, CELLS_LEAST = 8, SPREAD_MOST = 16 };

void order_free(ddsc_context *ctx, reordered *r)
{
    sparse_free(ctx, &r->m);
    MEM_FREE(ctx, r->component, r->degree, r->place, r->item);
    *r = (reordered){0};
}

/* Computes the breadth-first order: item[p] is the item at position p, and place is the inverse. */
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

/* The data of permute_rows. */
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
    DDSC_ASSERT(invariant_permutation(r->item, m->n) && invariant_permutation(r->place, m->n));
    for (int64_t p = 0; p < m->n; p++)
        r->m.offset[p + 1] = r->m.offset[p] + m->offset[r->item[p] + 1] - m->offset[r->item[p]];
    TRY(parallel_for(ctx, m->n, ROWS_A_PIECE, permute_rows, &(permuting){r, m, degree, component}));
done:
    if (status < 0)
        order_free(ctx, r);
    return status;
}

/* ---- order of one rank's rows ---- */

/* The cells of the graph. Every item belongs to the cell that reaches it first or, if several do so
 * in the same round, to the cell with the lowest number. */
typedef struct spreading {
    const sparse *m;
    const int32_t *cell; /* negative if not reached */
    int32_t *next;
} spreading;

static ddsc_status spread_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const spreading *t = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int32_t least = t->cell[i];
        for (int64_t p = t->m->offset[i]; p < t->m->offset[i + 1] && t->cell[i] < 0; p++) {
            int32_t c = t->cell[t->m->column[p]];
            if (c >= 0 && (least < 0 || c < least))
                least = c;
        }
        t->next[i] = least;
    }
    return DDSC_OK;
}

static int64_t count_reached(const int32_t *cell, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += cell[i] >= 0;
    return count;
}

/* Chooses equally spaced seeds in the input order and lets their cells grow by one step per round.
 * After a few rounds, the cells contain all items except those in long chains or in components
 * without a seed. */
static ddsc_status spread_cells(ddsc_context *ctx, int32_t *cell, const sparse *m, int64_t n_cells)
{
    ddsc_status status = DDSC_OK;
    int64_t n = m->n, reached = 0;
    spreading t = {.m = m, .cell = cell};
    TRY(MEM_NEW(ctx, t.next, n));
    for (int64_t i = 0; i < n; i++)
        cell[i] = -1;
    for (int64_t c = 0; c < n_cells; c++)
        cell[c * n / n_cells] = (int32_t)c;
    for (int round = 0; round < SPREAD_MOST; round++) {
        int64_t now = count_reached(cell, n);
        if (now == reached || now == n)
            break;
        reached = now;
        TRY(team_fill(ctx, t.next, n, block_rows(n), sizeof *t.next, spread_rows, &t));
        memcpy(cell, t.next, (size_t)n * sizeof *cell);
    }
done:
    mem_free(ctx, t.next);
    return status;
}

/* Sorts this rank's rows by cell with a counting sort. Items without a cell come last, sorted by
 * component. */
ddsc_status order_own(ddsc_context *ctx, int32_t *item, int32_t *place, const sparse *m,
                      team_part own, const int32_t *component)
{
    ddsc_status status = DDSC_OK;
    int64_t n = m->n, n_keys = 0, *at = NULL;
    int64_t n_cells = BASE_MIN(BASE_MAX(n / CELL_ITEMS, CELLS_LEAST), n);
    int32_t *key = place;
    TRY(spread_cells(ctx, key, m, n_cells));
    for (int64_t i = 0; i < n; i++) {
        key[i] = key[i] >= 0 ? key[i] : (int32_t)n_cells + 1 + component[i];
        n_keys = BASE_MAX(n_keys, key[i] + 1);
    }
    TRY(MEM_ZERO(ctx, at, n_keys + 1));
    for (int64_t i = own.begin; i < own.end; i++)
        at[key[i] + 1]++;
    for (int64_t k = 0; k < n_keys; k++)
        at[k + 1] += at[k];
    for (int64_t i = own.begin; i < own.end; i++) {
        int64_t p = at[key[i]]++;
        item[p] = (int32_t)i;
        place[i] = (int32_t)(own.begin + p);
    }
    TRY(team_gather(ctx, place, n, block_rows(n), sizeof *place));
    DDSC_ASSERT(invariant_permutation(place, n));
done:
    mem_free(ctx, at);
    return status;
}
