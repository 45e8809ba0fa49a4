/* Draws the share of each cluster per period of a column ("over" in the tree), with its confidence
 * interval. Each cluster has a panel with its own scale. */
#include <math.h>

#include "base/text.h"
#include "report/render/charts.h"
#include "report/render/page.h"

enum { PANEL = 190, BARS = 84, GAP_X = 34, GAP_Y = 50, EDGE = 44, HEAD = 22, ACROSS = 3 };

/* Appends up to `most` bytes of a name, without cutting a UTF-8 character. */
static void add_short_name(buffer *b, const ddsc_report *r, int64_t c, int64_t most)
{
    buffer name = {.ctx = b->ctx};
    report_add_name(&name, r, c);
    if (name.status < 0) {
        b->status = name.status;
        return;
    }
    size_t n = text_cut(name.bytes, (size_t)name.length, (size_t)most);
    buffer_add_bytes(b, name.bytes, n);
    buffer_add(b, n < (size_t)name.length ? "..." : "");
    buffer_free(&name);
}

static void draw_title(plot *p, const ddsc_report *r, const json_t *cluster, int64_t c, double x,
                       double y)
{
    buffer name = {.ctx = p->ctx};
    bool is_new = json_is_true(json_object_get(cluster, "new"));
    bool gone = json_is_true(json_object_get(cluster, "vanished"));
    add_short_name(&name, r, c, is_new || gone ? 18 : 26);
    if (name.status < 0)
        p->status = name.status;
    else
        plot_words(p, x, y - 8, ANCHOR_START, "%s%s%s%s", name.bytes, is_new || gone ? ": " : "",
                   is_new ? "new" : "",
                   gone && is_new ? ", vanished"
                   : gone         ? "vanished"
                                  : "");
    buffer_free(&name);
}

/* Draws one cluster with its upper left corner at (x, y). */
static void draw_panel(plot *p, const ddsc_report *r, const json_t *over, int64_t c, double x,
                       double y)
{
    const json_t *cluster = json_array_get(json_object_get(over, "clusters"), (size_t)c);
    const json_t *names = json_object_get(over, "periods"), *row;
    const json_t *periods = json_object_get(cluster, "periods");
    size_t n = json_array_size(periods), t;
    double top = 1e-9, step = PANEL / (double)BASE_MAX(n, 1);
    json_array_foreach(periods, t, row) top =
        fmax(top, json_number_value(json_object_get(row, "high")));
    draw_title(p, r, cluster, c, x, y);
    plot_words(p, x - 4, y + 10, ANCHOR_END, "%.0f%%", 100 * top);
    plot_line(p, x, y + BARS, PANEL, 0, 0.5);
    json_array_foreach(periods, t, row)
    {
        double share = json_number_value(json_object_get(row, "share"));
        double low = json_number_value(json_object_get(row, "low"));
        double high = json_number_value(json_object_get(row, "high"));
        double at = x + step * (double)t, tall = BARS * share / top;
        plot_box(p, at + 0.12 * step, y + BARS - tall, 0.76 * step, tall, (int32_t)c, 0.8);
        plot_hover(p, "%s: %" JSON_INTEGER_FORMAT " items, %.1f%% (%.1f to %.1f%%)",
                   report_page_text(json_object_get(json_array_get(names, t), "name")),
                   json_integer_value(json_object_get(row, "items")), 100 * share, 100 * low,
                   100 * high);
        plot_line(p, at + 0.5 * step, y + BARS * (1 - high / top), 0, BARS * (high - low) / top,
                  0.7);
    }
    for (int end = 0; end < 2 && n > 0; end++) {
        char space[18];
        const json_t *name = json_object_get(json_array_get(names, end ? n - 1 : 0), "name");
        plot_words(p, end ? x + PANEL : x, y + BARS + 14, end ? ANCHOR_END : ANCHOR_START, "%s",
                   chart_short_name(name, space, sizeof space));
    }
}

bool chart_over(plot *p, const ddsc_report *r)
{
    const json_t *over = json_object_get(r->tree, "over");
    int64_t n = (int64_t)json_array_size(json_object_get(over, "clusters"));
    n = BASE_MIN(BASE_MIN(n, r->k), CHART_OVER_CLUSTERS);
    int64_t rows = (n + ACROSS - 1) / ACROSS;
    *p = (plot){.ctx = p->ctx,
                .name = "over",
                .width = EDGE + ACROSS * (PANEL + GAP_X),
                .height = HEAD + (double)rows * (BARS + GAP_Y)};
    for (int64_t c = 0; c < n; c++)
        draw_panel(p, r, over, c, EDGE + (PANEL + GAP_X) * (double)(c % ACROSS),
                   HEAD + (BARS + GAP_Y) * (double)(c / ACROSS));
    return n > 0;
}
