/* Draws the mean pictures of clusters (report/traits/means.c) and their differences from the
 * other items. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/charts.h"

/* Returns the value of a cell, from 0 to 255, or `none` if the picture is invalid. */
static int cell_at(const json_t *rows, int x, int y, int none)
{
    const char *line = json_string_value(json_array_get(rows, (size_t)y));
    unsigned value;
    if (!line || strlen(line) < 2 * ((size_t)x + 1) || sscanf(line + 2 * x, "%2x", &value) != 1)
        return none;
    return (int)value;
}

static void draw_mean(plot *p, const json_t *picture, int32_t cluster, double x, double y,
                      double size)
{
    const json_t *mean = json_object_get(picture, "mean");
    const json_t *off = json_object_get(picture, "difference");
    int side = (int)json_integer_value(json_object_get(picture, "side"));
    if (side < 1 || side > PICTURE_MAX_SIDE)
        return;
    double step = size / side, second = x + size + 12;
    for (int c = 0; c < side * side; c++) {
        double at = step * (c % side), down = y + step * (c / side);
        int dark = cell_at(mean, c % side, c / side, 0);
        int more = cell_at(off, c % side, c / side, 128) - 128;
        if (dark > 0)
            plot_box(p, x + at, down, step, step, cluster, dark / 255.0);
        if (more != 0)
            plot_box(p, second + at, down, step, step, more > 0 ? cluster : COLOR_INK,
                     fmin(abs(more) / 127.0, 1));
    }
}

bool chart_means(plot *p, const ddsc_report *r)
{
    enum { CELL = 84, STEP = 96, MARGIN = 90, HEAD = 30 };
    const json_t *clusters = json_object_get(r->tree, "clusters");
    size_t n = json_array_size(clusters);
    bool any = false;
    *p = (plot){.ctx = p->ctx, .name = "means"};
    plot_words(p, MARGIN, HEAD - 12, ANCHOR_START, "mean");
    plot_words(p, MARGIN + STEP, HEAD - 12, ANCHOR_START,
               "difference from the other items (black: less)");
    for (size_t c = 0; c < n; c++) {
        const json_t *picture = json_object_get(json_array_get(clusters, c), "picture");
        double y = HEAD + STEP * (double)c;
        plot_words(p, MARGIN - 12, y + CELL / 2.0, ANCHOR_END, "cluster %zu", c);
        if (picture)
            draw_mean(p, picture, (int32_t)c, MARGIN, y, CELL);
        any |= picture != NULL;
    }
    p->width = MARGIN + 2 * STEP + 120;
    p->height = HEAD + STEP * (double)n;
    return any;
}
