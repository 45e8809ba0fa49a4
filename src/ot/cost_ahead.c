/* Costs for a block of pairs at once: between all points of some items and all points of others,
 * those that several items have once. */
#include <string.h>

#include "ot/exact.h"

enum {
    AHEAD_CELLS = 512 * 512 /* larger tables leave the cache */
};

bool exact_ahead_applies(const measures *m)
{
    return m->d >= PRODUCT_DIM && m->n > 0 && exact_are_small(m);
}

/* The rows of the table that items [begin, end) use, each once, and where each entry finds its own;
 * `seen` holds -1 for every row before and after. */
static int64_t distinct_rows(const measures *m, int64_t begin, int64_t end, int32_t *row,
                             int32_t *local, int32_t *seen)
{
    int64_t n = 0, first = m->offset[begin];
    for (int64_t p = first; p < m->offset[end]; p++) {
        int32_t r = m->index[p];
        if (seen[r] < 0) {
            seen[r] = (int32_t)n;
            row[n++] = r;
        }
        local[p - first] = seen[r];
    }
    for (int64_t k = 0; k < n; k++)
        seen[row[k]] = -1;
    return n;
}

/* Every pair of the block must be one that its own solve would take by products. */
static bool within_range(const measures *m, int64_t begin, int64_t end, const int32_t *local,
                         const double *norm2)
{
    int64_t first = m->offset[begin];
    for (int64_t i = begin; i < end; i++) {
        double largest = 0;
        for (int64_t p = m->offset[i]; p < m->offset[i + 1]; p++)
            largest = BASE_MAX(largest, norm2[local[p - first]]);
        if (!cost_products_fit(largest))
            return false;
    }
    return true;
}

static void lay_out(cost_ahead *a, arena *room, int64_t rows, int64_t columns)
{
    a->row = arena_take(room, rows, sizeof *a->row);
    a->column = arena_take(room, columns, sizeof *a->column);
    a->row_local = arena_take(room, rows, sizeof *a->row_local);
    a->column_local = arena_take(room, columns, sizeof *a->column_local);
    a->row_norm = arena_take(room, rows, sizeof *a->row_norm);
    a->column_norm = arena_take(room, columns, sizeof *a->column_norm);
    a->cost = arena_take(room, AHEAD_CELLS, sizeof *a->cost);
}

static ddsc_status make_room(exact_solver *s, const measures *m, int64_t rows, int64_t columns)
{
    cost_ahead *a = &s->ahead;
    ddsc_status status = DDSC_OK;
    arena room = {NULL, 0};
    if (a->n_seen < m->v) {
        mem_free(s->ctx, a->seen);
        a->n_seen = 0;
        TRY(MEM_NEW(s->ctx, a->seen, m->v));
        memset(a->seen, -1, (size_t)m->v * sizeof *a->seen);
        a->n_seen = m->v;
    }
    lay_out(a, &room, rows, columns);
    TRY(workspace_grow(s->ctx, &a->room, room.used));
    room = (arena){a->room.block, 0};
    lay_out(a, &room, rows, columns);
done:
    return status;
}

ddsc_status exact_ahead(exact_solver *s, const measures *m, int64_t i0, int64_t i1, int64_t j0,
                        int64_t j1)
{
    cost_ahead *a = &s->ahead;
    ddsc_status status = DDSC_OK;
    int64_t rows = m->offset[i1] - m->offset[i0], columns = m->offset[j1] - m->offset[j0];
    a->m = NULL;
    TRY(make_room(s, m, rows, columns));
    point_list x = {m, distinct_rows(m, i0, i1, a->row, a->row_local, a->seen), a->row};
    point_list y = {m, distinct_rows(m, j0, j1, a->column, a->column_local, a->seen), a->column};
    if (x.n * y.n > AHEAD_CELLS)
        goto done;
    cost_norms(&x, a->row_norm);
    cost_norms(&y, a->column_norm);
    if (!within_range(m, i0, i1, a->row_local, a->row_norm) ||
        !within_range(m, j0, j1, a->column_local, a->column_norm))
        goto done;
    cost_products(a->cost, &x, a->row_norm, &y, a->column_norm);
    a->m = m;
    a->i0 = i0;
    a->i1 = i1;
    a->j0 = j0;
    a->j1 = j1;
    a->ld = y.n;
done:
    return status;
}

bool ahead_fill(const cost_ahead *a, double *cost, const measures *mx, int64_t i,
                const measures *my, int64_t j)
{
    if (a->m == NULL || a->m != mx || a->m != my || i < a->i0 || i >= a->i1 || j < a->j0 ||
        j >= a->j1)
        return false;
    const int32_t *row = a->row_local + (mx->offset[i] - mx->offset[a->i0]);
    const int32_t *column = a->column_local + (mx->offset[j] - mx->offset[a->j0]);
    int64_t n = mx->offset[i + 1] - mx->offset[i], m = mx->offset[j + 1] - mx->offset[j];
    bool together = true;
    for (int64_t q = 1; q < m; q++)
        together &= column[q] == column[0] + q;
    for (int64_t p = 0; p < n; p++) {
        const double *from = a->cost + row[p] * a->ld;
        if (together)
            memcpy(cost + p * m, from + column[0], (size_t)m * sizeof *cost);
        else
            for (int64_t q = 0; q < m; q++)
                cost[p * m + q] = from[column[q]];
    }
    return true;
}

void ahead_free(ddsc_context *ctx, cost_ahead *a)
{
    mem_free(ctx, a->seen);
    mem_free(ctx, a->room.block);
}
