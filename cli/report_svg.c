#include "plot.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A file of its own carries its colours. */
static void svg_style(text *t)
{
    text_add(t, "<style>svg{background:#fff;color:#222}"
                "@media(prefers-color-scheme:dark){svg{background:#16181c;color:#ddd}}"
                "text{font:12px system-ui,sans-serif;fill:currentColor}"
                ".dots{stroke:currentColor;stroke-linecap:round;fill:none}.none{color:#888}");
    for (int32_t c = 0; c < PLOT_COLOURS; c++)
        text_addf(t, ".c%d{color:%s}", (int)c, plot_colour(c));
    text_add(t, "</style>\n");
}

typedef struct frame {
    double low[2], scale, width, height;
} frame;

/* One scale for both axes, so that angles and circles stay what they are. */
static frame fit(const double *xy, int64_t n, double width, double height, double margin)
{
    double high[2] = {-INFINITY, -INFINITY};
    frame f = {.low = {INFINITY, INFINITY}, .width = width, .height = height};
    for (int64_t i = 0; i < 2 * n; i++) {
        f.low[i % 2] = fmin(f.low[i % 2], xy[i]);
        high[i % 2] = fmax(high[i % 2], xy[i]);
    }
    double dx = high[0] - f.low[0], dy = high[1] - f.low[1];
    double sx = dx > 0 ? (width - 2 * margin) / dx : INFINITY;
    double sy = dy > 0 ? (height - 2 * margin) / dy : INFINITY;
    f.scale = isfinite(fmin(sx, sy)) ? fmin(sx, sy) : 1;
    f.low[0] -= 0.5 * (width / f.scale - dx);
    f.low[1] -= 0.5 * (height / f.scale - dy);
    return f;
}

static double frame_x(const frame *f, double x)
{
    return f->scale * (x - f->low[0]);
}

static double frame_y(const frame *f, double y)
{
    return f->height - f->scale * (y - f->low[1]);
}

enum { CELL = 26, PANEL_GAP = 24, PANEL_HEAD = 22 };

typedef struct panel_grid {
    int64_t columns, rows; /* cells of a panel */
    int across;            /* panels in a line */
    double width, height;  /* of a panel */
} panel_grid;

static panel_grid lay_out(int64_t n_items, int n_panels)
{
    panel_grid g = {.columns = (int64_t)ceil(sqrt((double)(n_items > 0 ? n_items : 1) * 1.6))};
    g.rows = (n_items + g.columns - 1) / g.columns;
    g.across = n_panels < 4 ? n_panels : 4;
    g.width = (double)(g.columns * CELL);
    g.height = (double)(g.rows * CELL);
    return g;
}

/* The dots of every item, once; panels use them again in their own colours. */
static void add_item_paths(text *t, const ddsc_measures_view *v)
{
    frame f = fit(v->support, v->n_support, CELL, CELL, 2);
    text_add(t, "<defs>\n");
    for (int64_t i = 0; i < v->n_items; i++) {
        text_addf(t, "<path id=\"item%" PRId64 "\" class=\"dots\" stroke-width=\"1.3\" d=\"", i);
        for (int64_t p = v->offset[i]; p < v->offset[i + 1]; p++) {
            const double *x = v->support + 2 * v->index[p];
            text_addf(t, "M%.2f %.2fh0", frame_x(&f, x[0]), frame_y(&f, x[1]));
        }
        text_add(t, "\"/>\n");
    }
    text_add(t, "</defs>\n");
}

static void add_panel(text *t, const svg_panel *panel, int64_t n_items, const panel_grid *g,
                      double x0, double y0)
{
    text_addf(t, "<g transform=\"translate(%.0f %.0f)\"><text y=\"14\">", x0, y0);
    text_add_html(t, panel->title);
    text_add(t, "</text>\n");
    for (int64_t i = 0; i < n_items; i++) {
        text_add(t, "<g class=\"");
        plot_class(t, panel->label[i]);
        text_addf(t, "\"><use href=\"#item%" PRId64 "\" x=\"%" PRId64 "\" y=\"%" PRId64 "\"/></g>",
                  i, CELL * (i % g->columns), PANEL_HEAD + CELL * (i / g->columns));
    }
    text_add(t, "\n</g>\n");
}

void svg_shapes(text *t, const ddsc_measures_view *items, const svg_panel *panels, int n_panels,
                bool standalone)
{
    panel_grid g = lay_out(items->n_items, n_panels);
    int lines = (n_panels + g.across - 1) / g.across;
    double wide = g.width + PANEL_GAP, high = g.height + PANEL_HEAD + PANEL_GAP;
    text_addf(t, "<svg viewBox=\"0 0 %.0f %.0f\"", g.across * wide, lines * high);
    if (standalone) {
        text_add(t, " xmlns=\"http://www.w3.org/2000/svg\">\n");
        svg_style(t);
    } else {
        text_add(t, " role=\"img\" aria-label=\"items coloured by cluster\">\n");
    }
    add_item_paths(t, items);
    for (int p = 0; p < n_panels; p++)
        add_panel(t, &panels[p], items->n_items, &g, PANEL_GAP / 2.0 + wide * (p % g.across),
                  8 + high * (p / g.across));
    text_add(t, "</svg>\n");
}
