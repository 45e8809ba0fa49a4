/* Writes items.csv, with one line per input row. */
#include <inttypes.h>
#include <math.h>

#include "report/render/report.h"

enum { ROWS_A_PIECE = 512, NEAREST = 3 };

static void add_number(buffer *b, double value)
{
    buffer_add(b, ",");
    if (isfinite(value))
        buffer_add_double(b, value);
}

static void add_standing(buffer *b, const ddsc_report *r, int64_t item)
{
    bool known = item >= 0 && r->next && r->next[item] >= 0;
    buffer_add(b, ",");
    if (known)
        buffer_addf(b, "%" PRId32, r->next[item]);
    add_number(b, known ? r->ambiguity[item] : NAN);
}

/* Writes the nearest items by distance, even if the graph connects other items to avoid hubs. */
static void add_near(buffer *b, const ddsc_report *r, const ddsc_graph_view *g, int64_t item)
{
    int64_t first = item >= 0 ? g->offset[item] : 0; /* the neighbors are sorted by distance */
    int64_t n = item >= 0 ? g->offset[item + 1] - first : 0;
    char space[RESULT_ID];
    bool scored = item >= 0 && r->outlier;
    add_number(b, scored ? r->outlier[item] : NAN);
    buffer_addf(b, ",%s", !scored ? "" : r->outlying[item] ? "1" : "0");
    for (int k = 0; k < NEAREST; k++) {
        buffer_add(b, ",");
        if (k < n)
            buffer_add_csv(b, result_row_id(r, r->row[g->index[first + k]], space));
        add_number(b, k < n ? sqrt(fmax(g->d2[first + k], 0)) : NAN);
    }
}

/* Writes the label before refinement. */
static void add_spectral(buffer *b, const ddsc_report *r, int64_t item)
{
    buffer_add(b, ",");
    if (item >= 0)
        buffer_addf(b, "%" PRId32, r->view.spectral_labels[item]);
}

static const char *item_column(const ddsc_report *r, int64_t which)
{
    return r->measures ? ddsc_measures_get_meta_name(r->measures, which) : NULL;
}

static void add_meta_names(buffer *b, const ddsc_report *r)
{
    const char *name;
    for (int64_t k = 0; (name = item_column(r, k)); k++) {
        buffer whole = {.ctx = b->ctx};
        buffer_addf(&whole, "meta:%s", name);
        buffer_add(b, ",");
        if (whole.status < 0)
            b->status = whole.status;
        else
            buffer_add_csv(b, whole.bytes);
        buffer_free(&whole);
    }
}

static void put_item(buffer *b, const ddsc_report *r, const ddsc_graph_view *near, bool titles,
                     int64_t row)
{
    char space[RESULT_ID];
    int64_t item = r->item[row];
    buffer_add_csv(b, result_row_id(r, row, space));
    if (titles) {
        buffer_add(b, ",");
        buffer_add_csv(b, ddsc_measures_get_title(r->measures, row));
    }
    buffer_addf(b, ",%" PRId32, r->shown[row]);
    add_standing(b, r, item);
    if (r->order && item >= 0 && r->order[item] >= 0)
        buffer_addf(b, ",%" PRId64, r->order[item]);
    else if (r->order)
        buffer_add(b, ",");
    if (r->edges.n > 0)
        add_near(b, r, near, item);
    if (r->view.n_refine_rounds > 0)
        add_spectral(b, r, item);
    for (int64_t k = 0; item_column(r, k); k++) {
        const char *value = ddsc_measures_get_meta(r->measures, row, k);
        buffer_add(b, ",");
        buffer_add_csv(b, value ? value : "");
    }
    buffer_add(b, "\n");
}

static ddsc_graph_view nearest_of(const ddsc_report *r)
{
    ddsc_graph_view near = r->edges;
    if (r->edges.nearest)
        ddsc_graph_get_view(r->edges.nearest, &near);
    return near;
}

static void add_item_rows(buffer *b, const void *arg, int64_t begin, int64_t end)
{
    const ddsc_report *r = arg;
    bool titles = r->measures && ddsc_measures_get_title(r->measures, 0);
    ddsc_graph_view near = nearest_of(r);
    for (int64_t row = begin; b->status >= 0 && row < end; row++)
        put_item(b, r, &near, titles, row);
}

void report_items(buffer *b, const ddsc_report *r)
{
    bool titles = r->measures && ddsc_measures_get_title(r->measures, 0);
    buffer_addf(b, "id%s,label,next,ambiguity", titles ? ",title" : "");
    buffer_add(b, r->order ? ",order" : "");
    buffer_add(b, r->edges.n > 0 ? ",outlier,is_outlier" : "");
    for (int k = 1; r->edges.n > 0 && k <= NEAREST; k++)
        buffer_addf(b, ",neighbor%d,distance%d", k, k);
    buffer_add(b, r->view.n_refine_rounds > 0 ? ",spectral_label" : "");
    add_meta_names(b, r);
    buffer_add(b, "\n");
    buffer_add_pieces(b, r->n_rows, ROWS_A_PIECE, add_item_rows, r);
}
