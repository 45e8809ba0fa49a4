/* Represents items as plain vectors for the baselines: histograms if all items share one support,
 * otherwise the weighted means of the points. */
#include "data/measures.h"

static void histogram_row(double *row, const measures *m, int64_t i)
{
    item_view item = measures_item(m, i);
    for (int64_t e = 0; e < item.n; e++)
        row[item.index[e]] = item.weight[e];
}

static void mean_row(double *row, const measures *m, int64_t i)
{
    item_view item = measures_item(m, i);
    for (int64_t e = 0; e < item.n; e++)
        for (int64_t c = 0; c < m->d; c++)
            row[c] += item.weight[e] * measures_point(m, item.index[e])[c];
}

ddsc_status ddsc_vectors_run(ddsc_context *context, double **out, int64_t *n_columns,
                             const ddsc_measures *data, ddsc_vectors_rule rule)
{
    double *rows = NULL;
    if (!context || !out || !n_columns)
        return DDSC_ERROR_ARGUMENT;
    CHECK(ctx_enter(context));
    *out = NULL;
    CHECK(ctx_need(context, data, "measures"));
    if ((int)rule < DDSC_VECTORS_AUTO || (int)rule > DDSC_VECTORS_MEAN)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "vectors rule = %d: must be 0 .. %d",
                        (int)rule, DDSC_VECTORS_MEAN);
    bool shared =
        rule == DDSC_VECTORS_AUTO ? measures_is_shared(data) : rule == DDSC_VECTORS_HISTOGRAM;
    int64_t width = shared ? data->v : data->d, cells = 0;
    if (!mul_ok(data->n, width, &cells))
        CHECK(ctx_fail(context, DDSC_ERROR_MEMORY, "cannot allocate %lld vectors of %lld values",
                       (long long)data->n, (long long)width));
    CHECK(MEM_ZERO(context, rows, cells));
    for (int64_t i = 0; i < data->n; i++)
        (shared ? histogram_row : mean_row)(rows + i * width, data, i);
    *out = rows;
    *n_columns = width;
    return DDSC_OK;
}
