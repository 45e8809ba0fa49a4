/* Adds the key "over" to a report: the clusters in each period of a metadata column. */
#include <string.h>

#include "report/traits/over.h"

enum { COLUMNS_LISTED = 20 };

/* ---- values of the column ---- */

static ddsc_status over_no_column(const ddsc_report *r, const char *column)
{
    const char *name;
    buffer list = {.ctx = r->ctx};
    for (int64_t c = 0; c < COLUMNS_LISTED && (name = ddsc_measures_get_meta_name(r->measures, c));
         c++)
        buffer_addf(&list, "%s%s", c ? ", " : "; the columns are ", name);
    ddsc_status status = list.status;
    if (status >= 0)
        status = ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT, "no metadata column \"%s\"%s", column,
                          list.length > 0 ? list.bytes : "; the result has no such columns");
    buffer_free(&list);
    return status;
}

/* Fills value[i] with the value of item i in a metadata column. */
static ddsc_status over_take_column(const ddsc_report *r, const char **value, int64_t n,
                                    const char *column)
{
    const char *name = NULL;
    int64_t c = 0;
    while (r->measures && (name = ddsc_measures_get_meta_name(r->measures, c)) &&
           strcmp(name, column) != 0)
        c++;
    if (!r->measures || !name)
        return over_no_column(r, column);
    for (int64_t i = 0; i < n; i++)
        value[i] = ddsc_measures_get_meta(r->measures, result_measures_row(r, r->row[i]), c);
    return DDSC_OK;
}

/* ---- tree ---- */

static void put_over_cluster(ddsc_report *r, json_t *list, const ddsc_over_view *v, int64_t c)
{
    json_t *row = put_row(r, list);
    put_count(r, row, "cluster", c);
    put_bool(r, row, "new", v->change[c] & DDSC_OVER_NEW);
    put_bool(r, row, "vanished", v->change[c] & DDSC_OVER_VANISHED);
    put_count(r, row, "first", v->first[c]);
    put_count(r, row, "last", v->last[c]);
    put_real(r, row, "p_new", v->p_new[c]);
    put_real(r, row, "p_vanished", v->p_vanished[c]);
    json_t *periods = put_array(r, row, "periods");
    for (int64_t t = 0, at = c * v->n_periods; t < v->n_periods; t++, at++) {
        json_t *period = put_row(r, periods);
        put_count(r, period, "items", v->counts[at]);
        put_real(r, period, "share", v->share[at]);
        put_real(r, period, "low", v->low[at]);
        put_real(r, period, "high", v->high[at]);
    }
}

static ddsc_status over_put(ddsc_report *r, const char *column, const over_items *items)
{
    static const char *const kinds[] = {"date", "number", "text"};
    const ddsc_over_view *v = items->view;
    json_t *over = put_object(r, r->tree, "over");
    put_text(r, over, "column", column);
    put_text(r, over, "kind", kinds[v->kind]);
    put_text(r, over, "unit", v->unit);
    put_count(r, over, "missing", v->n_missing);
    json_t *periods = put_array(r, over, "periods");
    for (int64_t t = 0; t < v->n_periods; t++) {
        json_t *row = put_row(r, periods);
        put_text(r, row, "name", v->periods[t]);
        put_count(r, row, "items", v->items[t]);
    }
    json_t *clusters = put_array(r, over, "clusters");
    for (int64_t c = 0; c < v->k; c++)
        put_over_cluster(r, clusters, v, c);
    CHECK(traits_put_over(r, clusters, items));
    if (r->lost)
        return ctx_fail(r->ctx, DDSC_ERROR_MEMORY, "out of memory for the tree of a report");
    return DDSC_OK;
}

ddsc_status traits_add_over(ddsc_report *r, const char *column, const char *const *values,
                            int64_t n_values)
{
    ddsc_status status = DDSC_OK;
    over_items items = {.k = r->k};
    ddsc_over *over = NULL;
    ddsc_over_view v;
    const char **own = NULL;
    for (int64_t row = 0; row < r->n_rows; row++)
        items.n += r->item[row] >= 0;
    if (values && n_values != items.n)
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "over: found %lld values for %lld items; pass one value per item",
                        (long long)n_values, (long long)items.n);
    TRY(MEM_NEW(r->ctx, items.label, items.n));
    for (int64_t i = 0; i < items.n; i++)
        items.label[i] = r->shown[r->row[i]];
    if (!values) {
        TRY(MEM_NEW(r->ctx, own, items.n));
        TRY(over_take_column(r, own, items.n, column));
    }
    TRY(ddsc_over_run(r->ctx, &over, items.n, items.label, r->k, column, values ? values : own));
    ddsc_over_get_view(over, &v);
    items.view = &v;
    TRY(over_put(r, column, &items));
done:
    ddsc_over_destroy(over);
    MEM_FREE(r->ctx, own, items.label);
    return status;
}

ddsc_status ddsc_report_add_over(ddsc_context *context, ddsc_report *report, const char *column,
                                 const char *const *values, int64_t n)
{
    ddsc_status status;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    if (!report || !column || report->k == 0)
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT,
                          "over: report or column is NULL, or the report has no clusters");
    else
        status = traits_add_over(report, column, values, n);
    result_call_end(&call);
    return status;
}
