#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { N_COLOURS = 10 };

/* Ten hues that stay apart on white and on black. */
static const char *const colours[N_COLOURS] = {"#3b7dd8", "#e0662b", "#2a9d5c", "#c0399f",
                                               "#c9970c", "#17a2b8", "#8a56d6", "#d63c4a",
                                               "#7a8b2e", "#8d6e63"};

void svg_style(text *t)
{
    text_add(t, "text{font:12px system-ui,sans-serif;fill:currentColor}"
                ".axis{stroke:currentColor;opacity:.5;fill:none}"
                ".mark{fill:currentColor}.dots{stroke:currentColor;stroke-linecap:round;fill:none}"
                ".none{color:#888}");
    for (int c = 0; c < N_COLOURS; c++)
        text_addf(t, ".c%d{color:%s}", c, colours[c]);
}

void svg_class(text *t, int32_t label)
{
    if (label < 0)
        text_add(t, "none");
    else
        text_addf(t, "c%d", (int)(label % N_COLOURS));
}

/* After ten clusters the colours come again on squares, then on diamonds. */
static void add_marker(text *t, int32_t label, double x, double y)
{
    int form = label < 0 ? 0 : (label / N_COLOURS) % 3;
    if (form == 0)
        text_addf(t, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x, y);
    else if (form == 1)
        text_addf(t, "<path class=\"mark\" d=\"M%.1f %.1fh5v5h-5z\"/>", x - 2.5, y - 2.5);
    else
        text_addf(t, "<path class=\"mark\" d=\"M%.1f %.1fl4 4-4 4-4-4z\"/>", x, y - 4);
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

void svg_scatter(text *t, const svg_points *p)
{
    frame f = fit(p->xy, p->n, 640, 480, 12);
    text_add(t, "<svg viewBox=\"0 0 640 480\" role=\"img\" aria-label=\"items in the plane\">\n");
    for (int64_t i = 0; i < p->n; i++) {
        text_add(t, "<g class=\"");
        svg_class(t, p->label[i]);
        text_add(t, "\">");
        add_marker(t, p->label[i], frame_x(&f, p->xy[2 * i]), frame_y(&f, p->xy[2 * i + 1]));
        if (p->name) {
            text_add(t, "<title>");
            text_add_html(t, p->name[i]);
            text_addf(t, ": cluster %" PRId32 "</title>", p->label[i]);
        }
        text_add(t, "</g>\n");
    }
    text_add(t, "</svg>\n");
}

void svg_eigenvalues(text *t, const double *values, int64_t n, int64_t k)
{
    enum { LEFT = 48, TOP = 10, WIDTH = 580, HEIGHT = 180 };
    double top = 1e-12;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, values[i]);
    double step = WIDTH / (double)(n > 1 ? n : 1);
    text_add(t, "<svg viewBox=\"0 0 640 220\" role=\"img\" aria-label=\"eigenvalues\">\n");
    text_addf(t, "<path class=\"axis\" d=\"M%d %dv%dh%d\"/>\n", LEFT, TOP, HEIGHT, WIDTH);
    text_addf(t, "<text x=\"4\" y=\"%d\">%.3g</text><text x=\"4\" y=\"%d\">0</text>\n", TOP + 10,
              top, TOP + HEIGHT);
    for (int64_t i = 0; i < n; i++)
        text_addf(t,
                  "<g class=\"%s\"><circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>"
                  "<title>%" PRId64 ": %.6g</title></g>\n",
                  i < k ? "c0" : "none", LEFT + step * ((double)i + 0.5),
                  TOP + HEIGHT - (HEIGHT - 8) * fmax(values[i], 0) / top, i + 1, values[i]);
    if (k < n)
        text_addf(t, "<path class=\"axis\" stroke-dasharray=\"4 4\" d=\"M%.1f %dv%d\"/>\n",
                  LEFT + step * (double)k, TOP, HEIGHT);
    text_addf(t, "<text x=\"%.1f\" y=\"%d\">K = %" PRId64 "</text>\n</svg>\n",
              LEFT + step * (double)(k < n ? k : n) - 30, TOP + HEIGHT + 18, k);
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
        svg_class(t, panel->label[i]);
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
        text_add(t, " xmlns=\"http://www.w3.org/2000/svg\">\n<style>svg{background:#fff;color:#222}"
                    "@media(prefers-color-scheme:dark){svg{background:#16181c;color:#ddd}}");
        svg_style(t);
        text_add(t, "</style>\n");
    } else {
        text_add(t, " role=\"img\" aria-label=\"items coloured by cluster\">\n");
    }
    add_item_paths(t, items);
    for (int p = 0; p < n_panels; p++)
        add_panel(t, &panels[p], items->n_items, &g, PANEL_GAP / 2.0 + wide * (p % g.across),
                  8 + high * (p / g.across));
    text_add(t, "</svg>\n");
}
