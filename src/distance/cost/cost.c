/* Computes the scale of the costs in a set: the median cost over a fixed sample of point pairs.
 * Squared distances are computed from coordinate differences, so the accuracy does not depend on
 * the distance of the points from the origin. */
#include "distance/cost/ground.h"
#include "distance/cost/tuning.h"

/* Draws a random point of an item. Weights are ignored. */
static const double *draw_point(const measures *m, int64_t item, rng *r)
{
    item_view v = measures_item(m, item);
    return measures_point(m, v.index[rng_below(r, v.n)]);
}

ddsc_status cost_median(ddsc_context *ctx, const ground_cost *g, const measures *m, double *median)
{
    const kernels *k = kernels_find();
    double *sample = NULL;
    *median = 0;
    if (m->n < 1)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, sample, MEDIAN_SAMPLE));
    rng r = rng_make(ctx_seed(ctx), RNG_COST_SAMPLE, 0);
    for (int64_t s = 0; s < MEDIAN_SAMPLE; s++) {
        int64_t i = rng_below(&r, m->n);
        int64_t j = m->n > 1 ? (i + 1 + rng_below(&r, m->n - 1)) % m->n : i;
        const double *x = draw_point(m, i, &r);
        const double *y = draw_point(m, j, &r);
        if (g->matrix)
            sample[s] = g->matrix[(int64_t)*x * g->size + (int64_t)*y];
        else
            ground_block(g->kind, k, &sample[s], 1, m->d, (point_block){x, 1, m->d, 1},
                         (point_block){y, 1, 1, 1});
    }
    double upper = select_smallest(sample, MEDIAN_SAMPLE, MEDIAN_SAMPLE / 2);
    *median = 0.5 * (select_smallest(sample, MEDIAN_SAMPLE / 2, MEDIAN_SAMPLE / 2 - 1) + upper);
    mem_free(ctx, sample);
    return DDSC_OK;
}
