/* Items that lie apart from all others. The score of an item is the mean distance to its neighbours in the graph over
 * the mean of the same of these neighbours: about 1 within a group, dense or thin, larger outside (after Breunig,
 * Kriegel, Ng and Sander 2000, without reachability). How far scores waver depends on the dimension and the metric, so
 * the limit comes from the set:
 *   median + 5 max(q90 - median, 0.4 v),
 * q90 being the score that nine items in ten stay below and v the median, over items, of the coefficient of variation
 * of the distances in a list. The second part is for items at even distances, where scores do not waver at all and
 * the ends of a line would stand out. Clean sets stay below, planted items lie above (bench/outliers.py). A cluster
 * most of whose items would be marked is a small group, not a heap of outliers: it keeps them. */
#include <math.h>

#include "assess/assess.h"
#include "base/sized.h"

static const double OUTLIER_TIMES = 5, OUTLIER_UNEVEN = 0.4;
/* The middle where most items coincide with all of their neighbours and have no score. */
static const double OUTLIER_TWINS = 2;
/* Mean distances count as at least this part of the median one: duplicates would make all others outliers. */
static const double OUTLIER_LEAST = 0.1;

typedef struct list_shape {
    double mean, variation; /* of the distances to the neighbours; 0 where there are none */
} list_shape;

static list_shape list_shape_of(const ddsc_graph *g, int64_t i)
{
    list_shape s = {0};
    double n = (double)(g->offset[i + 1] - g->offset[i]), square = 0;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
        s.mean += sqrt(fmax(g->d2[e], 0)) / n;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
        double off = sqrt(fmax(g->d2[e], 0)) - s.mean;
        square += off * off / n;
    }
    s.variation = s.mean > 0 ? sqrt(square) / s.mean : 0;
    return s;
}

/* Below which a share of the numbers of x lies, those that are not positive left out or counted as 0;
 * 0 where there are none. */
static double quantile(double *space, const double *x, int64_t n, double share, bool zeros)
{
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] > 0 || zeros)
            space[m++] = x[i] > 0 ? x[i] : 0;
    int64_t at = (int64_t)ceil(share * (double)m) - 1;
    return m > 0 ? select_smallest(space, m, BASE_MAX(at, 0)) : 0;
}

/* NaN where there are no neighbours, or all of them coincide with the item. */
static void score_items(double *score, const ddsc_graph *g, const double *length, double least)
{
    for (int64_t i = 0; i < g->n; i++) {
        double sum = 0, n = (double)(g->offset[i + 1] - g->offset[i]);
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            sum += fmax(length[g->index[e]], least);
        score[i] = length[i] > 0 ? length[i] / (sum / n) : NAN;
    }
}

/* Marks the items above the limit, unless most of their cluster is: then it is a small group, not a heap of outliers. */
static ddsc_status mark(ddsc_context *ctx, ddsc_outliers *out, const double *score,
                        const int32_t *labels, int64_t n, int64_t k)
{
    int64_t *size = NULL, *high = NULL;
    ddsc_status status = DDSC_OK;
    TRY(MEM_ZERO(ctx, size, k));
    TRY(MEM_ZERO(ctx, high, k));
    for (int64_t i = 0; i < n; i++) {
        size[labels[i]]++;
        high[labels[i]] += score[i] > out->from;
    }
    for (int64_t i = 0; i < n; i++) {
        bool outlying = score[i] > out->from && 2 * high[labels[i]] <= size[labels[i]];
        out->n_outlying += outlying;
        if (out->outlying)
            out->outlying[i] = outlying;
    }
done:
    MEM_FREE(ctx, high, size);
    return status;
}

ddsc_status outliers_find(ddsc_context *ctx, ddsc_outliers *out, const ddsc_graph *g,
                          const int32_t *labels, int64_t k)
{
    ddsc_status status = DDSC_OK;
    double *score = NULL, *length = NULL, *variation = NULL, *space = NULL;
    TRY(MEM_NEW(ctx, score, g->n));
    TRY(MEM_NEW(ctx, length, g->n));
    TRY(MEM_NEW(ctx, variation, g->n));
    TRY(MEM_NEW(ctx, space, g->n));
    for (int64_t i = 0; i < g->n; i++) {
        list_shape s = list_shape_of(g, i);
        length[i] = s.mean;
        variation[i] = s.variation;
    }
    score_items(score, g, length, OUTLIER_LEAST * quantile(space, length, g->n, 0.5, false));
    double middle = quantile(space, score, g->n, 0.5, true);
    double wavers = fmax(quantile(space, score, g->n, 0.9, true) - middle,
                         OUTLIER_UNEVEN * quantile(space, variation, g->n, 0.5, false));
    out->from = (middle > 0 ? middle : OUTLIER_TWINS) + OUTLIER_TIMES * wavers;
    out->n_outlying = 0;
    TRY(mark(ctx, out, score, labels, g->n, k));
    for (int64_t i = 0; out->score && i < g->n; i++)
        out->score[i] = score[i];
done:
    MEM_FREE(ctx, space, variation, length, score);
    return status;
}

SIZED_INIT(outliers_struct, ddsc_outliers, n_outlying, NULL);

ddsc_status ddsc_outliers_run(ddsc_context *context, ddsc_outliers *outliers,
                              const ddsc_graph *graph, const int32_t *labels, int64_t k)
{
    ddsc_outliers found;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, outliers, "outliers"));
    CHECK(ctx_need(context, graph, "graph"));
    CHECK(ctx_need(context, labels, "labels"));
    CHECK(sized_take(context, &outliers_struct, &found, outliers));
    for (int64_t i = 0; i < graph->n; i++)
        if (labels[i] < 0 || labels[i] >= k)
            return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                            "outliers: label %lld is %d, must be from 0 to %lld", (long long)i,
                            (int)labels[i], (long long)k - 1);
    CHECK(outliers_find(context, &found, graph, labels, k));
    sized_give(&outliers_struct, outliers, &found);
    return DDSC_OK;
}
