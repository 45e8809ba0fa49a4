/* Measures the error of embedded distances relative to W2, by solving a fixed sample of pairs
 * exactly. For large items, the sample is smaller, because the work grows with the number of
 * arcs. */
#include <math.h>

#include "data/check.h"
#include "distance/exact/exact.h"
#include "distance/lot/lot.h"
#include "distance/lot/tuning.h"
#include "numeric/linalg/linalg.h"

typedef struct lot_sample {
    const measures *m;
    const double *z;
    int64_t columns, max_pivots;
    int64_t n_pairs, pair[CHECK_PAIRS][2];
    double error[CHECK_PAIRS]; /* negative if W2 is 0 or the solve did not converge */
    exact_solver **solver;
} lot_sample;

static void draw_pairs(ddsc_context *ctx, lot_sample *c)
{
    rng r = rng_make(ctx_seed(ctx), RNG_CHECK, 1);
    int64_t n = c->m->n, most = BASE_MIN(CHECK_PAIRS, n * (n - 1) / 2), arcs = 0;
    while (c->n_pairs < most) {
        int64_t i = rng_below(&r, n), j = rng_below(&r, n - 1);
        j += j >= i;
        arcs += measures_item(c->m, i).n * measures_item(c->m, j).n;
        if (c->n_pairs >= CHECK_PAIRS_LEAST && arcs > CHECK_ARCS)
            return;
        c->pair[c->n_pairs][0] = i;
        c->pair[c->n_pairs++][1] = j;
    }
}

static ddsc_status check_pairs(void *arg, int64_t begin, int64_t end, int worker)
{
    lot_sample *c = arg;
    for (int64_t p = begin; p < end; p++) {
        int64_t i = c->pair[p][0], j = c->pair[p][1];
        exact_result exact;
        ddsc_status solved =
            exact_solve_items(c->solver[worker], &exact, c->m, i, c->m, j, c->max_pivots);
        CHECK(solved < 0 ? solved : DDSC_OK);
        double w2 = sqrt(fmax(exact.primal, 0));
        double near = sqrt(la_distance2(c->columns, c->z + i * c->columns, c->z + j * c->columns));
        c->error[p] = solved == DDSC_OK && w2 > 0 ? fabs(near - w2) / w2 : -1;
    }
    return DDSC_OK;
}

ddsc_status lot_check(ddsc_context *ctx, ddsc_pair_stats *stats, const measures *m, const double *z,
                      int64_t columns, int64_t max_pivots)
{
    ddsc_status status = DDSC_OK;
    lot_sample c = {.m = m, .z = z, .columns = columns, .max_pivots = max_pivots};
    int64_t count = 0;
    if (m->n < 2)
        return DDSC_OK;
    draw_pairs(ctx, &c);
    TRY(exact_create_team(ctx, &c.solver, &ground_sqeuclidean));
    TRY(parallel_for(ctx, c.n_pairs, 1, check_pairs, &c));
    for (int64_t p = 0; p < c.n_pairs; p++)
        if (c.error[p] >= 0)
            c.error[count++] = c.error[p];
    check_quantiles(stats, c.error, count);
done:
    exact_destroy_team(ctx, c.solver);
    return status;
}
