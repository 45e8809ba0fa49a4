/* Computes the costs of a block of pairs before the pairs are solved.
 *
 * Items such as documents share many points. In a block of pairs, each distinct point is listed
 * once, and the costs between all listed points are computed in one pass with inner products. Each
 * pair then copies its costs from the tile. The results do not change, because a cost depends only
 * on its two points (see cost.h). A tile is skipped if it has more than TILE_CELLS costs, or if
 * some pair, solved alone, would not compute its costs from products. */
#include "distance/cost/cost.h"
#include "distance/exact/solver.h"

bool exact_tile_applies(const measures *m, const ground_cost *ground)
{
    return ground_from_squares(ground->kind) && m->d >= PRODUCT_DIM && m->n > 0 &&
           m->nnz <= 2 * TINY_SIDE * m->n;
}

/* Returns true if every pair in the block would also compute its costs from products when solved
 * alone. */
static bool within_range(const measures *m, const block_points *p)
{
    for (int64_t i = p->begin; i < p->end; i++) {
        const int32_t *place = cost_tile_places(p, m, i);
        double largest = 0;
        for (int64_t k = 0; k < measures_item(m, i).n; k++)
            largest = BASE_MAX(largest, p->norm2[place[k]]);
        if (!cost_products_fit(largest))
            return false;
    }
    return true;
}

ddsc_status exact_tile_costs(exact_solver *s, const measures *m, int64_t i0, int64_t i1, int64_t j0,
                             int64_t j1)
{
    cost_tile *t = &s->tile;
    CHECK(cost_tile_list(s->ctx, t, m, &(item_block){i0, i1, j0, j1}, INT64_MAX));
    if (t->x.n * t->y.n > TILE_CELLS)
        return DDSC_OK;
    cost_tile_norms(t, m);
    if (!within_range(m, &t->x) || !within_range(m, &t->y))
        return DDSC_OK;
    return cost_tile_make(s->ctx, t, m, &s->ground);
}
