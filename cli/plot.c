#include "plot.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Ten hues that stay apart on white and on black. */
static const char *const colours[PLOT_COLOURS] = {"#3b7dd8", "#e0662b", "#2a9d5c", "#c0399f",
                                                  "#c9970c", "#17a2b8", "#8a56d6", "#d63c4a",
                                                  "#7a8b2e", "#8d6e63"};

const char *plot_colour(int32_t cluster)
{
    return cluster < 0 ? "#888888" : colours[cluster % PLOT_COLOURS];
}

void plot_class(text *t, int32_t colour)
{
    if (colour >= 0)
        text_addf(t, "c%d", (int)(colour % PLOT_COLOURS));
    else
        text_add(t, colour == COLOUR_NONE ? "none" : "ink");
}

void plot_free(plot *p)
{
    for (int64_t i = 0; i < p->n; i++)
        free(p->mark[i].words);
    free(p->mark);
    *p = (plot){0};
}

static plot_mark *add_mark(plot *p, plot_mark mark)
{
    if (p->n == p->capacity) {
        int64_t capacity = p->capacity ? 2 * p->capacity : 64;
        plot_mark *more = cli_allocate((size_t)capacity, sizeof *more);
        if (p->n)
            memcpy(more, p->mark, (size_t)p->n * sizeof *more);
        free(p->mark);
        p->mark = more;
        p->capacity = capacity;
    }
    p->mark[p->n] = mark;
    return &p->mark[p->n++];
}

void plot_line(plot *p, double x, double y, double w, double h, double opacity)
{
    add_mark(p, (plot_mark){.kind = PLOT_LINE,
                            .colour = COLOUR_INK,
                            .opacity = opacity,
                            .x = x,
                            .y = y,
                            .w = w,
                            .h = h});
}

void plot_box(plot *p, double x, double y, double w, double h, int32_t colour, double opacity)
{
    add_mark(p, (plot_mark){.kind = PLOT_BOX,
                            .colour = colour,
                            .opacity = opacity,
                            .x = x,
                            .y = y,
                            .w = w,
                            .h = h});
}

void plot_dot(plot *p, double x, double y, double radius, int32_t colour, double opacity)
{
    add_mark(
        p,
        (plot_mark){
            .kind = PLOT_DOT, .colour = colour, .opacity = opacity, .x = x, .y = y, .w = radius});
}

static char *words_of(const char *format, va_list values)
{
    char *words = NULL;
    if (vasprintf(&words, format, values) < 0) {
        message_error("out of memory");
        exit(EXIT_MEMORY);
    }
    return words;
}

void plot_words(plot *p, double x, double y, plot_anchor anchor, const char *format, ...)
{
    va_list values;
    plot_mark *m = add_mark(p, (plot_mark){.kind = PLOT_WORDS,
                                           .colour = COLOUR_INK,
                                           .opacity = 1,
                                           .x = x,
                                           .y = y,
                                           .anchor = anchor});
    va_start(values, format);
    m->words = words_of(format, values);
    va_end(values);
}

void plot_hover(plot *p, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    p->mark[p->n - 1].words = words_of(format, values);
    va_end(values);
}

/* ---- inline SVG: colours come from the classes of the page, so that they follow its mode ---- */

static void add_words(text *t, const plot_mark *m)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    text_addf(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", m->x, m->y, anchors[m->anchor]);
    text_add_html(t, m->words);
    text_add(t, "</text>\n");
}

static void add_shape(text *t, const plot_mark *m)
{
    if (m->kind == PLOT_LINE)
        text_addf(t, "<path class=\"line\" opacity=\"%.2g\" d=\"M%.1f %.1fl%.1f %.1f\"", m->opacity,
                  m->x, m->y, m->w, m->h);
    else if (m->kind == PLOT_BOX)
        text_addf(t,
                  "<rect class=\"mark\" opacity=\"%.2g\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\"",
                  m->opacity, m->x, m->y, m->w, m->h);
    else
        text_addf(t, "<circle class=\"mark\" opacity=\"%.2g\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"",
                  m->opacity, m->x, m->y, m->w);
}

static void add_svg_mark(text *t, const plot_mark *m)
{
    if (m->kind == PLOT_WORDS) {
        add_words(t, m);
        return;
    }
    text_add(t, "<g class=\"");
    plot_class(t, m->colour);
    text_add(t, "\">");
    add_shape(t, m);
    if (m->words) {
        text_add(t, "><title>");
        text_add_html(t, m->words);
        text_add(t, m->kind == PLOT_LINE  ? "</title></path>"
                    : m->kind == PLOT_BOX ? "</title></rect>"
                                          : "</title></circle>");
    } else {
        text_add(t, "/>");
    }
    text_add(t, "</g>\n");
}

void plot_svg(text *t, const plot *p)
{
    text_addf(t, "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
              p->width, p->height);
    text_add_html(t, p->name);
    text_add(t, "\">\n");
    for (int64_t i = 0; i < p->n; i++)
        add_svg_mark(t, &p->mark[i]);
    text_add(t, "</svg>\n");
}
