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

#include "report/content/tree.h"

static const double OUTLIER_TIMES = 5, OUTLIER_UNEVEN = 0.4;
/* The middle where most items coincide with all of their neighbours and have no score. */
static const double OUTLIER_TWINS = 2;
/* Mean distances count as at least this part of the median one: duplicates would make all others outliers. */
static const double OUTLIER_LEAST = 0.1;

typedef struct list_shape {
    double mean, variation; /* of the distances to the neighbours; 0 where there are none */
} list_shape;

static list_shape list_shape_of(const ddsc_graph_view *g, int64_t i)
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
static void score_items(double *score, const ddsc_graph_view *g, const double *length, double least)
{
    for (int64_t i = 0; i < g->n; i++) {
        double sum = 0, n = (double)(g->offset[i + 1] - g->offset[i]);
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            sum += fmax(length[g->index[e]], least);
        score[i] = length[i] > 0 ? length[i] / (sum / n) : NAN;
    }
}

static ddsc_status mark(ddsc_report *r, double limit)
{
    int64_t n = r->view.n, *size = NULL, *high = NULL;
    ddsc_status status = DDSC_OK;
    TRY(MEM_ZERO(r->ctx, r->outlying, n));
    TRY(MEM_ZERO(r->ctx, size, r->k));
    TRY(MEM_ZERO(r->ctx, high, r->k));
    for (int64_t i = 0; i < n; i++) {
        size[r->view.labels[i]]++;
        high[r->view.labels[i]] += r->outlier[i] > limit;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t c = r->view.labels[i];
        r->outlying[i] = r->outlier[i] > limit && 2 * high[c] <= size[c];
        r->n_outlying += r->outlying[i];
    }
done:
    MEM_FREE(r->ctx, high, size);
    return status;
}

ddsc_status result_find_outliers(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    const ddsc_graph_view *g = &r->edges;
    double *length = NULL, *variation = NULL, *space = NULL;
    if (r->from.outliers && (g->n == 0 || !r->from.clustering))
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "outliers are told by a graph of neighbours, which this method does not "
                        "make");
    if (g->n == 0 || !r->from.clustering)
        return DDSC_OK;
    TRY(MEM_NEW(r->ctx, r->outlier, g->n));
    TRY(MEM_NEW(r->ctx, length, g->n));
    TRY(MEM_NEW(r->ctx, variation, g->n));
    TRY(MEM_NEW(r->ctx, space, g->n));
    for (int64_t i = 0; i < g->n; i++) {
        list_shape s = list_shape_of(g, i);
        length[i] = s.mean;
        variation[i] = s.variation;
    }
    score_items(r->outlier, g, length, OUTLIER_LEAST * quantile(space, length, g->n, 0.5, false));
    double middle = quantile(space, r->outlier, g->n, 0.5, true);
    double wavers = fmax(quantile(space, r->outlier, g->n, 0.9, true) - middle,
                         OUTLIER_UNEVEN * quantile(space, variation, g->n, 0.5, false));
    r->outlier_from = (middle > 0 ? middle : OUTLIER_TWINS) + OUTLIER_TIMES * wavers;
    TRY(mark(r, r->outlier_from));
done:
    MEM_FREE(r->ctx, space, variation, length);
    return status;
}

bool result_left_out(const ddsc_report *r, int64_t item)
{
    return r->from.outliers && r->outlying && r->outlying[item];
}

void result_put_outliers(ddsc_report *r, json_t *root)
{
    char space[RESULT_ID];
    if (!r->outlying)
        return;
    json_t *outliers = put_object(r, root, "outliers");
    put_real(r, outliers, "from", r->outlier_from);
    put_count(r, outliers, "count", r->n_outlying);
    put_bool(r, outliers, "left_out", r->from.outliers);
    json_t *list = put_array(r, outliers, "items");
    for (int64_t i = 0; i < r->view.n; i++)
        if (r->outlying[i]) {
            json_t *row = put_row(r, list);
            put_count(r, row, "row", r->row[i]);
            put_text(r, row, "id", result_row_id(r, r->row[i], space));
            put_real(r, row, "score", r->outlier[i]);
            put_count(r, row, "cluster", r->view.labels[i]);
        }
}
