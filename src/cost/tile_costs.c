#include "cost/tile_costs.h"

#include <string.h>

#include "base/simd.h"
#include "cost/cost.h"

/* ---- lists ---- */

static void lay_out_side(block_points *p, arena *room, int64_t entries)
{
    p->row = arena_take(room, entries, sizeof *p->row);
    p->place = arena_take(room, entries, sizeof *p->place);
    p->norm2 = arena_take(room, entries, sizeof *p->norm2);
}

static void lay_out(cost_ahead *a, arena *room, int64_t rows, int64_t columns)
{
    lay_out_side(&a->x, room, rows);
    lay_out_side(&a->y, room, columns);
    a->slot = arena_take(room, a->n_slots, sizeof *a->slot);
}

static ddsc_status make_room(ddsc_context *ctx, cost_ahead *a, int64_t rows, int64_t columns)
{
    arena room = {NULL, 0};
    for (a->n_slots = 64; a->n_slots < 2 * BASE_MAX(rows, columns);)
        a->n_slots *= 2;
    lay_out(a, &room, rows, columns);
    ddsc_status status = workspace_grow(ctx, &a->lists, room.used);
    room = (arena){a->lists.block, 0};
    if (status == DDSC_OK)
        lay_out(a, &room, rows, columns);
    return status;
}

/* The slot of a row of the table among those listed, or the free one where it belongs. */
static int32_t *find_slot(const cost_ahead *a, const block_points *p, int32_t row)
{
    uint64_t mask = (uint64_t)a->n_slots - 1, at = ((uint64_t)row * 0x9e3779b97f4a7c15u) >> 32;
    while (a->slot[at & mask] >= 0 && p->row[a->slot[at & mask]] != row)
        at++;
    return &a->slot[at & mask];
}

static void list_points(cost_ahead *a, block_points *p, const measures *m, int64_t most)
{
    int32_t *place = p->place;
    p->n = 0;
    memset(a->slot, -1, (size_t)a->n_slots * sizeof *a->slot);
    for (int64_t i = p->begin; i < p->end; i++) {
        item_view x = measures_item(m, i);
        for (int64_t k = 0; k < x.n && x.n <= most; k++) {
            int32_t *slot = find_slot(a, p, x.index[k]);
            if (*slot < 0) {
                *slot = (int32_t)p->n;
                p->row[p->n++] = x.index[k];
            }
            place[k] = *slot;
        }
        place += x.n;
    }
}

ddsc_status ahead_list(ddsc_context *ctx, cost_ahead *a, const measures *m, const item_block *block,
                       int64_t most)
{
    int64_t rows = m->offset[block->i1] - m->offset[block->i0];
    int64_t columns = m->offset[block->j1] - m->offset[block->j0];
    a->m = NULL;
    a->most = most;
    ddsc_status status = make_room(ctx, a, rows, columns);
    if (status < 0)
        return status;
    a->x.begin = block->i0;
    a->x.end = block->i1;
    a->y.begin = block->j0;
    a->y.end = block->j1;
    list_points(a, &a->x, m, most);
    list_points(a, &a->y, m, most);
    return DDSC_OK;
}

/* ---- costs ---- */

static point_list listed(const block_points *p, const measures *m)
{
    return (point_list){m, p->n, p->row};
}

void ahead_norms(cost_ahead *a, const measures *m)
{
    point_list x = listed(&a->x, m), y = listed(&a->y, m);
    cost_norms(&x, a->x.norm2);
    cost_norms(&y, a->y.norm2);
}

ddsc_status ahead_costs(ddsc_context *ctx, cost_ahead *a, const measures *m)
{
    point_list x = listed(&a->x, m), y = listed(&a->y, m);
    int64_t cells = x.n * y.n + SIMD_LANES;
    ddsc_status status = workspace_grow(ctx, &a->cells, cells * (int64_t)sizeof *a->cost);
    if (status < 0)
        return status;
    a->cost = (double *)(void *)a->cells.block;
    cost_products(a->cost, &x, a->x.norm2, &y, a->y.norm2);
    a->m = m;
    return DDSC_OK;
}

static bool holds(const cost_ahead *a, const block_points *p, const measures *m, int64_t i)
{
    return a->m != NULL && a->m == m && i >= p->begin && i < p->end &&
           measures_item(m, i).n <= a->most;
}

bool ahead_fill(const cost_ahead *a, double *cost, const measures *mx, int64_t i,
                const measures *my, int64_t j)
{
    if (!holds(a, &a->x, mx, i) || !holds(a, &a->y, my, j))
        return false;
    const int32_t *row = ahead_places(&a->x, mx, i), *column = ahead_places(&a->y, my, j);
    int64_t n = measures_item(mx, i).n, m = measures_item(my, j).n;
    bool together = true;
    for (int64_t q = 1; q < m; q++)
        together &= column[q] == column[0] + q;
    for (int64_t p = 0; p < n; p++) {
        const double *from = a->cost + row[p] * a->y.n;
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
    mem_free(ctx, a->lists.block);
    mem_free(ctx, a->cells.block);
}
