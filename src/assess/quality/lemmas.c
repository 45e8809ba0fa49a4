/* Computes the quantities of Lemma 1 (sampling error of W_eps) and Lemma 2 (similarity matrix) of
 * the paper. perturbation.c computes the quantities of Lemma 3 from the Laplacians. */
#include <math.h>

#include "assess/quality/quality.h"
#include "base/sized.h"
#include "neighbors/planner/plan.h"

/* ---- Lemma 2: |A_ij - A'_ij| <= |sqrt(gamma) D_ij - sqrt(gamma) D'_ij| ---- */

static ddsc_status lemma_weigh(ddsc_context *ctx, double **weight, const ddsc_graph *g,
                               const affinity_settings *how)
{
    affinity_report ignored;
    CHECK(MEM_NEW(ctx, *weight, g->offset[g->n]));
    return affinity_weigh(ctx, *weight, &ignored, g, how);
}

/* Compares the pairs that are in the neighbor lists of both graphs. sqrt(gamma) D is computed as
 * sqrt(-log A), which is also valid with local scaling and for runs with different gamma. */
ddsc_status lemma_2_measure(ddsc_context *ctx, ddsc_stability_row *row, const ddsc_graph *first,
                            const ddsc_graph *again, const affinity_settings *how)
{
    ddsc_status status = DDSC_OK;
    double *w[2] = {NULL, NULL};
    int64_t *at = NULL;
    TRY(lemma_weigh(ctx, &w[0], first, how));
    TRY(lemma_weigh(ctx, &w[1], again, how));
    TRY(MEM_NEW(ctx, at, first->n));
    for (int64_t i = 0; i < first->n; i++)
        at[i] = -1;
    for (int64_t i = 0; i < first->n; i++) {
        for (int64_t p = first->offset[i]; p < first->offset[i + 1]; p++)
            at[first->index[p]] = p;
        for (int64_t q = again->offset[i]; q < again->offset[i + 1]; q++) {
            int64_t p = at[again->index[q]];
            if (p < 0)
                continue;
            double a = w[0][p], b = w[1][q];
            row->similarity_change = fmax(row->similarity_change, fabs(a - b));
            row->lemma_2_bound =
                fmax(row->lemma_2_bound, fabs(sqrt(fmax(0, -log(a))) - sqrt(fmax(0, -log(b)))));
        }
        for (int64_t p = first->offset[i]; p < first->offset[i + 1]; p++)
            at[first->index[p]] = -1;
    }
done:
    MEM_FREE(ctx, at, w[1], w[0]);
    return status;
}

/* ---- Lemma 1: kappa and E ---- */

/* Returns the length of the diagonal of the smallest box that contains all points. */
static double lemma_diagonal(const measures *m)
{
    double sum = 0;
    for (int64_t k = 0; k < m->d; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t p = 0; p < m->v; p++) {
            low = fmin(low, m->support[p * m->d + k]);
            high = fmax(high, m->support[p * m->d + k]);
        }
        sum += m->v > 0 ? (high - low) * (high - low) : 0;
    }
    return sqrt(sum);
}

static int64_t fewest_points(const measures *m)
{
    int64_t fewest = INT64_MAX;
    for (int64_t i = 0; i < m->n; i++)
        fewest = BASE_MIN(fewest, m->offset[i + 1] - m->offset[i]);
    return fewest;
}

/* E = sqrt(2/m) (kappa + epsilon exp(kappa / epsilon)). The exponential overflows for typical data,
 * so the sum is computed from the logarithms of the two terms. */
static double log10_of_e(double kappa, double epsilon, double m)
{
    double first = log(kappa), second = log(epsilon) + kappa / epsilon;
    double high = fmax(first, second), low = fmin(first, second);
    return (high + log1p(exp(low - high)) + 0.5 * log(2 / m)) / log(10);
}

SIZED_INIT(constants_struct, ddsc_sampling_constants, log10_e, NULL);

ddsc_status ddsc_sampling_constants_run(ddsc_context *context, ddsc_sampling_constants *constants,
                                        const ddsc_measures *data,
                                        const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_sampling_constants own;
    ddsc_metric_settings set;
    metric_resolved metric = {0};
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, constants, "constants"));
    CHECK(ctx_need(context, data, "measures"));
    CHECK(sized_take(context, &constants_struct, &own, constants));
    CHECK(ctx_check(context, own.lipschitz >= 0 && isfinite(own.lipschitz), "lipschitz",
                    own.lipschitz, "0 (the constant of the cost) or positive"));
    CHECK(plan_take_metric(context, &set, settings));
    set.metric = DDSC_METRIC_SINKHORN;
    bool squares = set.cost == DDSC_COST_DEFAULT || set.cost == DDSC_COST_SQEUCLIDEAN;
    if (!squares && set.cost != DDSC_COST_EUCLIDEAN)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                        "cost = %s: the constants of Lemma 1 require sqeuclidean or euclidean",
                        plan_cost_name(set.cost));
    if (data->n < 1)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "there are no items");
    TRY(metric_resolve(context, &metric, data, &set));
    double size = lemma_diagonal(data);
    own.epsilon = metric.set.epsilon;
    own.diameter = size;
    own.largest_cost = squares ? size * size : size;
    if (own.lipschitz == 0)
        own.lipschitz = squares ? 2 * size : 1;
    own.n_points = fewest_points(data);
    own.kappa = 2 * own.lipschitz * size + own.largest_cost;
    own.log10_e = log10_of_e(own.kappa, own.epsilon, (double)own.n_points);
    sized_give(&constants_struct, constants, &own);
done:
    metric_resolved_free(&metric);
    return status;
}
