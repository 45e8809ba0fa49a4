/* Costs of a block of pairs made before they are solved. */
#include "cost/cost.h"
#include "exact/solver.h"

enum {
    AHEAD_CELLS = 512 * 512 /* larger tables leave the cache */
};

bool exact_ahead_applies(const measures *m)
{
    return m->d >= PRODUCT_DIM && m->n > 0 && exact_are_small(m);
}

/* Every pair of the block must be one that its own solve would take by products. */
static bool within_range(const measures *m, const block_points *p)
{
    for (int64_t i = p->begin; i < p->end; i++) {
        const int32_t *place = ahead_places(p, m, i);
        double largest = 0;
        for (int64_t k = 0; k < measures_item(m, i).n; k++)
            largest = BASE_MAX(largest, p->norm2[place[k]]);
        if (!cost_products_fit(largest))
            return false;
    }
    return true;
}

ddsc_status exact_ahead(exact_solver *s, const measures *m, int64_t i0, int64_t i1, int64_t j0,
                        int64_t j1)
{
    cost_ahead *a = &s->ahead;
    item_block block = {i0, i1, j0, j1};
    ddsc_status status = ahead_list(s->ctx, a, m, &block, INT64_MAX);
    if (status < 0 || a->x.n * a->y.n > AHEAD_CELLS)
        return status;
    ahead_norms(a, m);
    if (!within_range(m, &a->x) || !within_range(m, &a->y))
        return status;
    return ahead_costs(s->ctx, a, m);
}
