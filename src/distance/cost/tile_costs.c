/* Lists the distinct points of the items in a tile, using a hash table over the rows of the
 * support, and computes the costs between all these points. */
#include "distance/cost/tile_costs.h"

#include <string.h>

#include "base/simd.h"
#include "distance/cost/cost.h"

/* ---- lists ---- */

static void take_point_lists(void *owner, arena *a)
{
    cost_tile *t = owner;
    block_points *sides[2] = {&t->x, &t->y};
    for (int z = 0; z < 2; z++) {
        ARENA_TAKE(a, sides[z]->row, sides[z]->n_entries);
        ARENA_TAKE(a, sides[z]->place, sides[z]->n_entries);
        ARENA_TAKE(a, sides[z]->norm2, sides[z]->n_entries);
    }
    ARENA_TAKE(a, t->slot, t->n_slots);
}

/* Returns the slot of a row of the table, or the free slot where it belongs if it is not listed
 * yet. */
static int32_t *point_slot(const cost_tile *t, const block_points *p, int32_t row)
{
    uint64_t mask = (uint64_t)t->n_slots - 1, at = hash_u64((uint64_t)row);
    while (t->slot[at & mask] >= 0 && p->row[t->slot[at & mask]] != row)
        at++;
    return &t->slot[at & mask];
}

static void list_points(cost_tile *t, block_points *p, const measures *m)
{
    int32_t *place = p->place;
    p->n = 0;
    memset(t->slot, -1, (size_t)t->n_slots * sizeof *t->slot);
    for (int64_t i = p->begin; i < p->end; i++) {
        item_view x = measures_item(m, i);
        for (int64_t k = 0; k < x.n && x.n <= t->most; k++) {
            int32_t *slot = point_slot(t, p, x.index[k]);
            if (*slot < 0) {
                *slot = (int32_t)p->n;
                p->row[p->n++] = x.index[k];
            }
            place[k] = *slot;
        }
        place += x.n;
    }
}

static block_points points_of(const measures *m, int64_t begin, int64_t end)
{
    return (block_points){
        .begin = begin, .end = end, .n_entries = m->offset[end] - m->offset[begin]};
}

ddsc_status cost_tile_list(ddsc_context *ctx, cost_tile *t, const measures *m,
                           const item_block *block, int64_t most)
{
    t->m = NULL;
    t->most = most;
    t->x = points_of(m, block->i0, block->i1);
    t->y = points_of(m, block->j0, block->j1);
    for (t->n_slots = 64; t->n_slots < 2 * BASE_MAX(t->x.n_entries, t->y.n_entries);)
        t->n_slots *= 2;
    CHECK(workspace_lay_out(ctx, &t->lists, take_point_lists, t));
    list_points(t, &t->x, m);
    list_points(t, &t->y, m);
    return DDSC_OK;
}

/* ---- costs ---- */

static point_list listed(const block_points *p, const measures *m)
{
    return (point_list){m, p->n, p->row};
}

void cost_tile_norms(cost_tile *t, const measures *m)
{
    point_list x = listed(&t->x, m), y = listed(&t->y, m);
    cost_norms(&x, t->x.norm2);
    cost_norms(&y, t->y.norm2);
}

ddsc_status cost_tile_make(ddsc_context *ctx, cost_tile *t, const measures *m,
                           const ground_cost *ground)
{
    point_list x = listed(&t->x, m), y = listed(&t->y, m);
    int64_t cells = x.n * y.n + SIMD_LANES;
    CHECK(workspace_grow(ctx, &t->cells, cells * (int64_t)sizeof *t->cost));
    t->cost = (double *)(void *)t->cells.block;
    ground_lists(ground, t->cost, &x, t->x.norm2, &y, t->y.norm2);
    t->m = m;
    return DDSC_OK;
}

static bool tile_holds(const cost_tile *a, const block_points *p, const measures *m, int64_t i)
{
    return a->m != NULL && a->m == m && i >= p->begin && i < p->end &&
           measures_item(m, i).n <= a->most;
}

/* Copies the costs of a pair whose row item is a column item of the tile, and vice versa. */
static void fill_turned(const cost_tile *a, double *cost, const measures *m, int64_t i, int64_t j)
{
    const int32_t *column = cost_tile_places(&a->y, m, i), *row = cost_tile_places(&a->x, m, j);
    int64_t n_x = measures_item(m, i).n, n_y = measures_item(m, j).n;
    for (int64_t p = 0; p < n_x; p++)
        for (int64_t q = 0; q < n_y; q++)
            cost[p * n_y + q] = a->cost[row[q] * a->y.n + column[p]];
}

bool cost_tile_fill(const cost_tile *a, double *cost, const measures *mx, int64_t i,
                    const measures *my, int64_t j)
{
    if (mx == my && tile_holds(a, &a->y, mx, i) && tile_holds(a, &a->x, my, j)) {
        fill_turned(a, cost, mx, i, j);
        return true;
    }
    if (!tile_holds(a, &a->x, mx, i) || !tile_holds(a, &a->y, my, j))
        return false;
    const int32_t *row = cost_tile_places(&a->x, mx, i), *column = cost_tile_places(&a->y, my, j);
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

void cost_tile_free(ddsc_context *ctx, cost_tile *a)
{
    MEM_FREE(ctx, a->lists.block, a->cells.block);
}
