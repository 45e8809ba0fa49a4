/* Compares several labelings of one planar set. The output has a table of scores and one panel
 * per labeling, which shows every item in its own cell, colored by label. */
#include <inttypes.h>
#include <math.h>

#include "base/sized.h"
#include "report/render/html.h"
#include "report/render/plot.h"
#include "report/render/report.h"

/* Defines the colors, because a standalone file cannot inherit them from a page. */
static void svg_style(buffer *t)
{
    buffer_add(t, "<style>svg{background:#fff;color:#222}"
                  "@media(prefers-color-scheme:dark){svg{background:#16181c;color:#ddd}}"
                  "text{font:12px system-ui,sans-serif;fill:currentColor}"
                  ".dots{stroke:currentColor;stroke-linecap:round;fill:none}.none{color:#888}");
    for (int32_t c = 0; c < PLOT_COLORS; c++)
        buffer_addf(t, ".c%d{color:%s}", (int)c, plot_color(c));
    buffer_add(t, "</style>\n");
}

typedef struct frame {
    double low[2], scale, width, height;
} frame;

/* Uses the same scale for both axes, to preserve angles and circles. */
static frame frame_fit(const double *xy, int64_t n, double width, double height, double margin)
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

/* A labeling to draw. scores is NULL for the true classes. */
typedef struct svg_panel {
    const char *name;
    const ddsc_scores *scores;
    const int32_t *label; /* n_items */
} svg_panel;

typedef struct panel_grid {
    int64_t columns, rows; /* columns and rows of cells in one panel */
    int64_t across;        /* panels per line */
    double width, height;  /* size of one panel */
} panel_grid;

static panel_grid panels_lay_out(int64_t n_items, int64_t n_panels)
{
    panel_grid g = {.columns = (int64_t)ceil(sqrt((double)(n_items > 0 ? n_items : 1) * 1.6))};
    g.rows = (n_items + g.columns - 1) / g.columns;
    g.across = n_panels < 4 ? n_panels : 4;
    g.width = (double)(g.columns * CELL);
    g.height = (double)(g.rows * CELL);
    return g;
}

/* Draws the points of every item once. The panels refer to these points and set their own colors.
 * */
static void add_item_paths(buffer *t, const ddsc_measures_view *v)
{
    frame f = frame_fit(v->support, v->n_support, CELL, CELL, 2);
    buffer_add(t, "<defs>\n");
    for (int64_t i = 0; i < v->n_items; i++) {
        buffer_addf(t, "<path id=\"item%" PRId64 "\" class=\"dots\" stroke-width=\"1.3\" d=\"", i);
        for (int64_t p = v->offset[i]; p < v->offset[i + 1]; p++) {
            const double *x = v->support + 2 * v->index[p];
            buffer_addf(t, "M%.2f %.2fh0", frame_x(&f, x[0]), frame_y(&f, x[1]));
        }
        buffer_add(t, "\"/>\n");
    }
    buffer_add(t, "</defs>\n");
}

static void add_panel(buffer *t, const svg_panel *panel, int64_t n_items, const panel_grid *g,
                      double x0, double y0)
{
    buffer_addf(t, "<g transform=\"translate(%.0f %.0f)\"><text y=\"14\">", x0, y0);
    buffer_add_html(t, panel->name);
    if (panel->scores)
        buffer_addf(t, ", AMI %.2f", panel->scores->ami);
    buffer_add(t, "</text>\n");
    for (int64_t i = 0; i < n_items; i++) {
        buffer_add(t, "<g class=\"");
        plot_class(t, panel->label[i]);
        buffer_addf(t,
                    "\"><use href=\"#item%" PRId64 "\" x=\"%" PRId64 "\" y=\"%" PRId64 "\"/></g>",
                    i, CELL * (i % g->columns), PANEL_HEAD + CELL * (i / g->columns));
    }
    buffer_add(t, "\n</g>\n");
}

static void svg_shapes(buffer *t, const ddsc_measures_view *items, const svg_panel *panels,
                       int64_t n_panels, bool standalone)
{
    panel_grid g = panels_lay_out(items->n_items, n_panels);
    int64_t lines = (n_panels + g.across - 1) / g.across;
    double wide = g.width + PANEL_GAP, high = g.height + PANEL_HEAD + PANEL_GAP;
    buffer_addf(t, "<svg viewBox=\"0 0 %.0f %.0f\"", (double)g.across * wide, (double)lines * high);
    if (standalone) {
        buffer_add(t, " xmlns=\"http://www.w3.org/2000/svg\">\n");
        svg_style(t);
    } else {
        buffer_add(t, " role=\"img\" aria-label=\"items colored by cluster\">\n");
    }
    add_item_paths(t, items);
    for (int64_t p = 0; p < n_panels; p++)
        add_panel(t, &panels[p], items->n_items, &g,
                  PANEL_GAP / 2.0 + wide * (double)(p % g.across),
                  8 + high * (double)(p / g.across));
    buffer_add(t, "</svg>\n");
}

static void compare_page(buffer *t, const ddsc_comparison *c, const ddsc_measures_view *items,
                         const svg_panel *panels)
{
    static const char *const heads[] = {"method", "", "AMI", "ARI", "NMI", NULL};
    html_begin(t, c->title ? c->title : "Comparison");
    if (c->words)
        html_paragraph(t, c->words);
    html_table_begin(t, heads);
    for (int64_t i = 1; i <= c->n; i++) {
        html_row_begin(t);
        html_cell(t, panels[i].name);
        html_cell(t, c->notes ? c->notes[i - 1] : "");
        html_cell_real(t, panels[i].scores->ami);
        html_cell_real(t, panels[i].scores->ari);
        html_cell_real(t, panels[i].scores->nmi);
        html_row_end(t);
    }
    html_table_end(t);
    svg_shapes(t, items, panels, c->n + 1, false);
    html_end(t, false);
}

static ddsc_status compare_check(ddsc_context *ctx, const ddsc_comparison *c,
                                 const ddsc_measures_view *items)
{
    if (!c->measures || c->n < 0 || (c->n > 0 && (!c->names || !c->labels)))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "a comparison needs measures, names and labels; set all of them");
    if (items->dim != 2 || !items->label || items->n_rows != items->n_items)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "a comparison needs labeled items in the plane, all of which have mass");
    return DDSC_OK;
}

SIZED_INIT(comparison_struct, ddsc_comparison, labels, NULL);

ddsc_status ddsc_comparison_write(ddsc_context *context, const ddsc_comparison *comparison,
                                  int picture, ddsc_write_fn write, void *user)
{
    ddsc_status status = DDSC_OK;
    ddsc_comparison c;
    ddsc_measures_view items;
    svg_panel *panels = NULL;
    ddsc_scores *scores = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    buffer b = {.ctx = context};
    if (!comparison || !write) {
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "comparison or write is NULL");
        goto done;
    }
    TRY(sized_take(context, &comparison_struct, &c, comparison));
    ddsc_measures_get_view(c.measures, &items);
    TRY(compare_check(context, &c, &items));
    TRY(MEM_NEW(context, panels, c.n + 1));
    TRY(MEM_NEW(context, scores, c.n));
    panels[0] = (svg_panel){"truth", NULL, items.label};
    for (int64_t i = 0; i < c.n; i++) {
        ddsc_scores_init(&scores[i]);
        TRY(ddsc_scores_run(context, &scores[i], items.n_items, c.labels[i], items.label));
        panels[i + 1] = (svg_panel){c.names[i], &scores[i], c.labels[i]};
    }
    if (picture)
        svg_shapes(&b, &items, panels, c.n + 1, true);
    else
        compare_page(&b, &c, &items, panels);
    TRY(report_hand_out(&b, write, user));
done:
    MEM_FREE(context, panels, scores);
    result_call_end(&call);
    return status;
}
