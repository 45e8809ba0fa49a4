/* Builds figures from marks and writes them as inline SVG. */
#include "report/render/plot.h"

#include <stdarg.h>
#include <stdio.h>

/* The palette has ten hues, followed by ten darker hues between them. Each color has a contrast
 * ratio of at least 3 against white. */
static const char *const colors[PLOT_COLORS] = {
    "#3c79d1", "#d16022", "#218a45", "#ad3d9a", "#a97f05", "#068b96", "#7d51d2",
    "#cc3143", "#6c7e1e", "#77563a", "#38428a", "#7e4501", "#02523b", "#75104c",
    "#615604", "#095366", "#5c1f7c", "#7c1f02", "#2b5016", "#49371c"};

const char *plot_color(int32_t cluster)
{
    if (cluster == COLOR_INK)
        return "#1d1f23";
    return cluster < 0 ? "#888888" : colors[cluster % PLOT_COLORS];
}

void plot_class(buffer *t, int32_t color)
{
    if (color >= 0)
        buffer_addf(t, "c%d", (int)(color % PLOT_COLORS));
    else
        buffer_add(t, color == COLOR_NONE ? "none" : "ink");
}

void plot_free(plot *p)
{
    for (int64_t i = 0; i < p->n; i++)
        mem_free(p->ctx, (void *)(uintptr_t)p->mark[i].words);
    mem_free(p->ctx, p->mark);
    *p = (plot){0};
}

static void add_mark(plot *p, ddsc_mark mark)
{
    if (p->status >= 0 && p->n == p->capacity) {
        int64_t capacity = p->capacity ? 2 * p->capacity : 64;
        p->status = mem_resize(p->ctx, &p->mark, capacity, sizeof *p->mark);
        p->capacity = p->status < 0 ? p->capacity : capacity;
    }
    if (p->status < 0)
        return;
    mark.color = plot_color(mark.cluster);
    p->mark[p->n++] = mark;
}

void plot_line(plot *p, double x, double y, double w, double h, double opacity)
{
    add_mark(p, (ddsc_mark){DDSC_MARK_LINE, COLOR_INK, NULL, opacity, x, y, w, h, 0, NULL});
}

void plot_box(plot *p, double x, double y, double w, double h, int32_t color, double opacity)
{
    add_mark(p, (ddsc_mark){DDSC_MARK_BOX, color, NULL, opacity, x, y, w, h, 0, NULL});
}

void plot_dot(plot *p, double x, double y, double radius, int32_t color, double opacity)
{
    add_mark(p, (ddsc_mark){DDSC_MARK_DOT, color, NULL, opacity, x, y, radius, 0, 0, NULL});
}

/* Sets the text of the last mark. */
static void set_words(plot *p, const char *format, va_list values)
{
    va_list again;
    char *words = NULL;
    if (p->status < 0)
        return;
    va_copy(again, values);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    p->status = mem_get(p->ctx, &words, (n > 0 ? n : 0) + 1, 1);
    if (p->status < 0)
        return;
    vsnprintf(words, (size_t)(n > 0 ? n : 0) + 1, format, values);
    p->mark[p->n - 1].words = words;
}

void plot_words(plot *p, double x, double y, plot_anchor anchor, const char *format, ...)
{
    va_list values;
    add_mark(p, (ddsc_mark){DDSC_MARK_WORDS, COLOR_INK, NULL, 1, x, y, 0, 0, (int)anchor, NULL});
    va_start(values, format);
    set_words(p, format, values);
    va_end(values);
}

void plot_hover(plot *p, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    set_words(p, format, values);
    va_end(values);
}

/* ---- inline SVG: CSS classes set the colors, so that they follow light and dark mode ---- */

static void add_svg_words(buffer *t, const ddsc_mark *m)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    buffer_addf(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", m->x, m->y,
                anchors[m->anchor]);
    buffer_add_html(t, m->words);
    buffer_add(t, "</text>\n");
}

static void add_svg_shape(buffer *t, const ddsc_mark *m)
{
    if (m->kind == DDSC_MARK_LINE)
        buffer_addf(t, "<path class=\"line\" opacity=\"%.2g\" d=\"M%.1f %.1fl%.1f %.1f\"",
                    m->opacity, m->x, m->y, m->w, m->h);
    else if (m->kind == DDSC_MARK_BOX)
        buffer_addf(t,
                    "<rect class=\"mark\" opacity=\"%.2g\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                    "height=\"%.1f\"",
                    m->opacity, m->x, m->y, m->w, m->h);
    else
        buffer_addf(t, "<circle class=\"mark\" opacity=\"%.2g\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"",
                    m->opacity, m->x, m->y, m->w);
}

static void add_svg_mark(buffer *t, const ddsc_mark *m)
{
    if (m->kind == DDSC_MARK_WORDS) {
        add_svg_words(t, m);
        return;
    }
    buffer_add(t, "<g class=\"");
    plot_class(t, m->cluster);
    buffer_add(t, "\">");
    add_svg_shape(t, m);
    if (m->words) {
        buffer_add(t, "><title>");
        buffer_add_html(t, m->words);
        buffer_add(t, m->kind == DDSC_MARK_LINE  ? "</title></path>"
                      : m->kind == DDSC_MARK_BOX ? "</title></rect>"
                                                 : "</title></circle>");
    } else {
        buffer_add(t, "/>");
    }
    buffer_add(t, "</g>\n");
}

void plot_svg(buffer *t, const plot *p)
{
    if (p->status < 0) {
        t->status = p->status;
        return;
    }
    buffer_addf(t, "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
                p->width, p->height);
    buffer_add_html(t, p->name);
    buffer_add(t, "\">\n");
    for (int64_t i = 0; i < p->n; i++)
        add_svg_mark(t, &p->mark[i]);
    buffer_add(t, "</svg>\n");
}
