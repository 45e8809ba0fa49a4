/* Finds outliers. The score of an item is its mean distance to its neighbors in the graph, divided
 * by the average of the mean distances of these neighbors. The score is about 1 inside a cluster of
 * any density and larger outside (after Breunig, Kriegel, Ng and Sander 2000, without the
 * reachability distance). The spread of the scores depends on the dimension and the metric, so the
 * limit is computed from the data:
 *
 *     median + 5 max(q90 - median, 0.4 v).
 *
 * Here, q90 is the 90% quantile of the scores, and v is the median over all items of the
 * coefficient of variation of the distances to their neighbors. The second term is needed for
 * evenly spaced items, whose scores hardly vary: without it, both ends of a line would be marked.
 * In bench/outliers.py, the scores of clean data are below the limit, and those of planted outliers
 * exceed it. If most items of a cluster exceed the limit, none of them is marked, because they are
 * a sparse cluster and not outliers. */
#include <math.h>

#include "assess/quality/quality.h"
#include "base/sized.h"

static const double OUTLIER_TIMES = 5, OUTLIER_UNEVEN = 0.4;
/* Replaces the median score if most items coincide with all of their neighbors and therefore have
 * no score. */
static const double OUTLIER_TWINS = 2;
/* Lower limit for mean distances, relative to their median. Without this limit, duplicates would
 * make all other items outliers. */
static const double OUTLIER_LEAST = 0.1;

typedef struct list_shape {
    double mean,
        variation; /* mean and coefficient of variation of the distances to the neighbors, or 0 */
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

/* Returns a quantile of the numbers in x. Non-positive and NaN values count as 0 if `zeros` is
 * true, and are ignored otherwise. Returns 0 if no values remain. */
static double quantile(double *space, const double *x, int64_t n, double share, bool zeros)
{
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] > 0 || zeros)
            space[m++] = x[i] > 0 ? x[i] : 0;
    int64_t at = (int64_t)ceil(share * (double)m) - 1;
    return m > 0 ? select_smallest(space, m, BASE_MAX(at, 0)) : 0;
}

/* Computes the scores. The score is NaN for items without neighbors and for items that coincide
 * with all of their neighbors. */
static void score_items(double *score, const ddsc_graph *g, const double *length, double least)
{
    for (int64_t i = 0; i < g->n; i++) {
        double sum = 0, n = (double)(g->offset[i + 1] - g->offset[i]);
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            sum += fmax(length[g->index[e]], least);
        score[i] = length[i] > 0 ? length[i] / (sum / n) : NAN;
    }
}

/* Marks the items whose scores exceed the limit, except in clusters where this would mark most
 * items. */
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
    double deviation = fmax(quantile(space, score, g->n, 0.9, true) - middle,
                            OUTLIER_UNEVEN * quantile(space, variation, g->n, 0.5, false));
    out->from = (middle > 0 ? middle : OUTLIER_TWINS) + OUTLIER_TIMES * deviation;
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
                            "outliers: label %lld is %d, but must be from 0 to %lld", (long long)i,
                            (int)labels[i], (long long)k - 1);
    CHECK(outliers_find(context, &found, graph, labels, k));
    sized_give(&outliers_struct, outliers, &found);
    return DDSC_OK;
}
