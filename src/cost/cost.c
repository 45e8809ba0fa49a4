/* Squared Euclidean costs between the points of items, always by differences: |x|^2 + |y|^2 - 2 xy
 * would lose the small distances that decide a transport plan. */
#include <math.h>
#include <stdlib.h>

#include "cost/cost.h"

static double squared_distance(const double *x, const double *y, int64_t d)
{
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sum;
}

void cost_items(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    for (int64_t p = 0; p < x.n; p++)
        for (int64_t q = 0; q < y.n; q++)
            cost[p * y.n + q] = squared_distance(measures_point(mx, x.index[p]),
                                                 measures_point(my, y.index[q]), mx->d);
}

enum { MEDIAN_SAMPLE = 16384 };

static int ascending(const void *left, const void *right)
{
    double x = *(const double *)left, y = *(const double *)right;
    return (x > y) - (x < y);
}

/* A random point of a random item, weights aside: every item counts alike whatever its size. */
static const double *draw_point(const measures *m, int64_t item, rng *r)
{
    item_view v = measures_item(m, item);
    return measures_point(m, v.index[rng_below(r, v.n)]);
}

ddsc_status cost_median(ddsc_context *ctx, const measures *m, double *median)
{
    double *sample = NULL;
    ddsc_status status = DDSC_OK;
    *median = 0;
    if (m->n < 1)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, sample, MEDIAN_SAMPLE));
    rng r = rng_make(ctx_seed(ctx), RNG_COST_SAMPLE, 0);
    for (int64_t k = 0; k < MEDIAN_SAMPLE; k++) {
        int64_t i = rng_below(&r, m->n);
        int64_t j = m->n > 1 ? (i + 1 + rng_below(&r, m->n - 1)) % m->n : i;
        const double *x = draw_point(m, i, &r);
        sample[k] = squared_distance(x, draw_point(m, j, &r), m->d);
    }
    qsort(sample, MEDIAN_SAMPLE, sizeof *sample, ascending);
    *median = 0.5 * (sample[MEDIAN_SAMPLE / 2 - 1] + sample[MEDIAN_SAMPLE / 2]);
done:
    mem_free(ctx, sample);
    return status;
}
