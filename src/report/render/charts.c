/* Draws the charts of a result from its tree, labels, map and items. */
#include "base/text.h"
#include "report/render/charts.h"
#include "report/render/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 64, TOP = 16, WIDTH = 560, HEIGHT = 180, FOOT = 36 };

static const json_t *part(const ddsc_report *r, const char *key, const char *inner)
{
    const json_t *found = json_object_get(r->tree, key);
    return inner ? json_object_get(found, inner) : found;
}

static void add_axes(plot *p, double top, const char *words)
{
    plot_line(p, LEFT, TOP, 0, HEIGHT, 0.5);
    plot_line(p, LEFT, TOP + HEIGHT, WIDTH, 0, 0.5);
    plot_words(p, LEFT - 6, TOP + 10, ANCHOR_END, "%.4g", top);
    plot_words(p, LEFT - 6, TOP + HEIGHT, ANCHOR_END, "0");
    plot_words(p, LEFT + WIDTH, TOP + HEIGHT + 30, ANCHOR_END, "%s", words);
}

static plot chart_begin(ddsc_context *ctx, const char *name)
{
    return (plot){
        .ctx = ctx, .name = name, .width = LEFT + WIDTH + 16, .height = TOP + HEIGHT + FOOT};
}

bool chart_eigenvalues(plot *p, const ddsc_report *r)
{
    const json_t *values = part(r, "eigenvalues", NULL);
    size_t n = json_array_size(values);
    double top = 1e-12;
    *p = chart_begin(p->ctx, "eigenvalues");
    for (size_t i = 0; i < n; i++)
        top = fmax(top, json_number_value(json_array_get(values, i)));
    if (n == 0)
        return false;
    double step = WIDTH / (double)n;
    add_axes(p, top, "eigenvalues of the normalized Laplacian, smallest first");
    for (size_t i = 0; i < n; i++) {
        double value = json_number_value(json_array_get(values, i));
        plot_dot(p, LEFT + step * ((double)i + 0.5),
                 TOP + HEIGHT - (HEIGHT - 8) * fmax(value, 0) / top, 3.5,
                 (int64_t)i < r->k ? 0 : COLOR_NONE, 1);
        plot_hover(p, "%zu: %.6g", i + 1, value);
    }
    double at = LEFT + step * fmin((double)r->k, (double)n);
    plot_line(p, at, TOP, 0, HEIGHT, 0.4);
    plot_words(p, at, TOP + HEIGHT + 14, ANCHOR_MIDDLE, "K = %" PRId64, r->k);
    return true;
}

bool chart_sizes(plot *p, const ddsc_report *r)
{
    const json_t *sizes = part(r, "sizes", "clusters");
    size_t n = json_array_size(sizes);
    double top = 1;
    *p = chart_begin(p->ctx, "sizes");
    for (size_t c = 0; c < n; c++)
        top = fmax(top, json_number_value(json_array_get(sizes, c)));
    if (n == 0)
        return false;
    double step = WIDTH / (double)n;
    add_axes(p, top, "items in each cluster");
    for (size_t c = 0; c < n; c++) {
        double size = json_number_value(json_array_get(sizes, c));
        double high = HEIGHT * size / top;
        plot_box(p, LEFT + step * ((double)c + 0.1), TOP + HEIGHT - high, 0.8 * step, high,
                 (int32_t)c, 1);
        plot_hover(p, "cluster %zu: %.0f items", c, size);
        if (n <= 30)
            plot_words(p, LEFT + step * ((double)c + 0.5), TOP + HEIGHT + 14, ANCHOR_MIDDLE, "%zu",
                       c);
    }
    return true;
}

bool chart_neighbors(plot *p, const ddsc_report *r)
{
    const json_t *counts = part(r, "neighbors", "counts");
    double from = json_number_value(part(r, "neighbors", "from"));
    double to = json_number_value(part(r, "neighbors", "to")), top = 1;
    size_t n = json_array_size(counts);
    *p = chart_begin(p->ctx, "neighbors");
    for (size_t i = 0; i < n; i++)
        top = fmax(top, json_number_value(json_array_get(counts, i)));
    if (n == 0)
        return false;
    double step = WIDTH / (double)n, wide = (to - from) / (double)n;
    add_axes(p, top, "distance between neighbors");
    for (size_t i = 0; i < n; i++) {
        double count = json_number_value(json_array_get(counts, i)), high = HEIGHT * count / top;
        plot_box(p, LEFT + step * (double)i, TOP + HEIGHT - high, fmax(step - 1, 1), high, 0, 0.8);
        plot_hover(p, "%.4g to %.4g: %.0f edges", from + wide * (double)i,
                   from + wide * (double)(i + 1), count);
    }
    plot_words(p, LEFT, TOP + HEIGHT + 14, ANCHOR_START, "%.4g", from);
    plot_words(p, LEFT + WIDTH, TOP + HEIGHT + 14, ANCHOR_END, "%.4g", to);
    return true;
}

const char *chart_short_name(const json_t *name, char *space, size_t size)
{
    const char *full = json_string_value(name);
    size_t n = full ? strlen(full) : 0;
    if (n < size) {
        snprintf(space, size, "%s", full ? full : "");
        return space;
    }
    snprintf(space, size, "%.*s...", (int)text_cut(full, n, size - 4), full);
    return space;
}

static bool chart_confusion(plot *p, const ddsc_report *r)
{
    enum { SIDE = 34, MARGIN = 150, HEAD = 28 };
    const json_t *table = part(r, "scores", "confusion");
    const json_t *names = json_object_get(table, "classes");
    const json_t *rows = json_object_get(table, "counts");
    size_t n_rows = json_array_size(rows), n_clusters = json_array_size(json_array_get(rows, 0));
    *p = (plot){.ctx = p->ctx,
                .name = "confusion",
                .width = MARGIN + SIDE * (double)n_clusters + 8,
                .height = HEAD + SIDE * (double)n_rows + 8};
    if (n_rows == 0 || n_clusters == 0)
        return false;
    for (size_t c = 0; c < n_clusters; c++)
        plot_words(p, MARGIN + SIDE * ((double)c + 0.5), HEAD - 8, ANCHOR_MIDDLE, "%zu", c);
    for (size_t i = 0; i < n_rows; i++) {
        char space[20];
        const json_t *row = json_array_get(rows, i), *name = json_array_get(names, i);
        double sum = 0, y = HEAD + SIDE * (double)i;
        for (size_t c = 0; c < n_clusters; c++)
            sum += json_number_value(json_array_get(row, c));
        plot_words(p, MARGIN - 8, y + 21, ANCHOR_END, "%s",
                   chart_short_name(name, space, sizeof space));
        for (size_t c = 0; c < n_clusters; c++) {
            double count = json_number_value(json_array_get(row, c));
            double x = MARGIN + SIDE * (double)c;
            plot_box(p, x, y, SIDE - 1, SIDE - 1, (int32_t)c, 0.08 + 0.72 * count / fmax(sum, 1));
            plot_hover(p, "class %s in cluster %zu: %.0f of %.0f", report_page_text(name), c, count,
                       sum);
            if (count > 0)
                plot_words(p, x + SIDE / 2.0, y + 21, ANCHOR_MIDDLE, "%.0f", count);
        }
    }
    return true;
}

static bool chart_map(plot *p, const ddsc_report *r)
{
    enum { SIZE = 640, EDGE = 12 };
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    *p = (plot){.ctx = p->ctx, .name = "map", .width = SIZE, .height = SIZE};
    if (!r->xy)
        return false;
    for (int64_t i = 0; i < 2 * r->n_rows; i++) {
        low[i % 2] = fmin(low[i % 2], r->xy[i]);
        high[i % 2] = fmax(high[i % 2], r->xy[i]);
    }
    double size = fmax(high[0] - low[0], high[1] - low[1]);
    double scale = size > 0 && isfinite(size) ? (SIZE - 2 * EDGE) / size : 0;
    double radius = r->n_rows > 20000 ? 1 : r->n_rows > 3000 ? 1.8 : 3;
    for (int64_t i = 0; i < r->n_rows; i++)
        if (r->label[i] >= 0 && isfinite(r->xy[2 * i]) && isfinite(r->xy[2 * i + 1]))
            plot_dot(p, EDGE + scale * (r->xy[2 * i] - low[0]),
                     SIZE - EDGE - scale * (r->xy[2 * i + 1] - low[1]), radius, r->shown[i], 0.8);
    return true;
}

static void add_picture(plot *p, const picture_frame *f, const ddsc_report *r, int64_t row,
                        double x, double y, double size)
{
    unsigned char cells[PICTURE_MAX_SIDE * PICTURE_MAX_SIDE];
    int64_t item = r->item[row];
    double step = size / f->side;
    if (item < 0)
        return;
    picture_draw(cells, f, &r->items, item);
    for (int c = 0; c < f->side * f->side; c++)
        if (cells[c])
            plot_box(p, x + step * (c % f->side), y + step * (c / f->side), step, step,
                     r->label[row], cells[c] / (PICTURE_LEVELS - 1.0));
}

static bool chart_representatives(plot *p, const ddsc_report *r)
{
    enum { CELL = 56, STEP = 62, MARGIN = 90, HEAD = 24 };
    const json_t *clusters = part(r, "clusters", NULL);
    size_t n = json_array_size(clusters), most = 0;
    *p = (plot){.ctx = p->ctx, .name = "representatives"};
    if (n == 0 || !result_has_pictures(r))
        return false;
    picture_frame f = picture_frame_for(&r->items, PICTURE_MAX_SIDE);
    for (size_t c = 0; c < n; c++) {
        const json_t *shown = json_object_get(json_array_get(clusters, c), "representatives");
        for (size_t i = 0; i < json_array_size(shown); i++) {
            int64_t row = json_integer_value(json_object_get(json_array_get(shown, i), "row"));
            if (row >= 0 && row < r->n_rows)
                add_picture(p, &f, r, row, MARGIN + STEP * (double)i, HEAD + STEP * (double)c,
                            CELL);
        }
        most = json_array_size(shown) > most ? json_array_size(shown) : most;
        plot_words(p, MARGIN - 12, HEAD + STEP * (double)c + CELL / 2.0, ANCHOR_END, "cluster %zu",
                   c);
    }
    p->width = MARGIN + STEP * (double)most + 8;
    p->height = HEAD + STEP * (double)n;
    return most > 0;
}

static const chart_fn charts_all[] = {
    chart_map,   chart_representatives, chart_means,     chart_eigenvalues,
    chart_sizes, chart_neighbors,       chart_confusion, chart_over,
    NULL};

ddsc_status ddsc_report_draw(ddsc_context *context, const ddsc_report *report, ddsc_picture_fn draw,
                             void *user)
{
    ddsc_status status = DDSC_OK;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    if (!report || !draw)
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "report or draw is NULL");
    bool stop = false;
    for (int c = 0; charts_all[c] && status >= 0 && !stop; c++) {
        plot p = {.ctx = context};
        bool has = charts_all[c](&p, report);
        status = p.status;
        if (has && status >= 0)
            stop = draw(user, p.name, p.width, p.height, p.n, p.mark) != 0;
        plot_free(&p);
    }
    result_call_end(&call);
    return status;
}
