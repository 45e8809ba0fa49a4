/* items.csv: one line per input row with what is known of its item. */
#include <inttypes.h>
#include <math.h>

#include "report/report.h"

enum { N_NEAR = 3 };

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
    add_number(b, known ? r->doubt[item] : NAN);
}

static void add_near(buffer *b, const ddsc_report *r, int64_t item)
{
    const ddsc_graph_view *g = &r->edges;
    int64_t first = item >= 0 ? g->offset[item] : 0; /* the nearest come first */
    int64_t n = item >= 0 ? g->offset[item + 1] - first : 0;
    char space[REPORT_ID];
    add_number(b, item >= 0 ? r->outlier[item] : NAN);
    buffer_addf(b, ",%s", item < 0 ? "" : r->outlying[item] ? "1" : "0");
    for (int k = 0; k < N_NEAR; k++) {
        buffer_add(b, ",");
        if (k < n)
            buffer_add_csv(b, report_row_id(r, r->row[g->index[first + k]], space));
        add_number(b, k < n ? sqrt(fmax(g->d2[first + k], 0)) : NAN);
    }
}

void report_items(buffer *b, const ddsc_report *r)
{
    bool titles = r->measures && ddsc_measures_get_title(r->measures, 0);
    char space[REPORT_ID];
    buffer_addf(b, "id%s,label,next,doubt", titles ? ",title" : "");
    buffer_add(b, r->order ? ",order" : "");
    buffer_add(b, r->edges.n > 0 ? ",outlier,is_outlier" : "");
    for (int k = 1; r->edges.n > 0 && k <= N_NEAR; k++)
        buffer_addf(b, ",neighbour%d,distance%d", k, k);
    buffer_add(b, "\n");
    for (int64_t row = 0; b->status >= 0 && row < r->n_rows; row++) {
        int64_t item = r->item[row];
        buffer_add_csv(b, report_row_id(r, row, space));
        if (titles) {
            buffer_add(b, ",");
            buffer_add_csv(b, ddsc_measures_get_title(r->measures, row));
        }
        buffer_addf(b, ",%" PRId32, r->shown[row]);
        add_standing(b, r, item);
        if (r->order && item >= 0)
            buffer_addf(b, ",%" PRId64, r->order[item]);
        else if (r->order)
            buffer_add(b, ",");
        if (r->edges.n > 0)
            add_near(b, r, item);
        buffer_add(b, "\n");
    }
}
