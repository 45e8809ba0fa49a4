/* plot: a picture as a list of marks, drawn once and rendered as inline SVG (report.html) or, where
 * Cairo is there, as a PNG, SVG or PDF file. */
#ifndef DDSC_CLI_PLOT_H
#define DDSC_CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum { COLOUR_INK = -2, COLOUR_NONE = -1 }; /* 0 and up: the colour of that cluster */
enum { PLOT_COLOURS = 10 };

typedef enum plot_kind { PLOT_LINE, PLOT_BOX, PLOT_DOT, PLOT_WORDS } plot_kind;
typedef enum plot_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } plot_anchor;

typedef struct plot_mark {
    plot_kind kind;
    int32_t colour;
    double opacity;
    double x, y, w, h; /* line: to (x + w, y + h); dot: w its radius */
    plot_anchor anchor;
    char *words; /* of PLOT_WORDS; else shown on hover, or NULL */
} plot_mark;

typedef struct plot {
    const char *name; /* of the file, and for readers of the screen */
    double width, height;
    plot_mark *mark;
    int64_t n, capacity;
} plot;

void plot_free(plot *p);
void plot_line(plot *p, double x, double y, double w, double h, double opacity);
void plot_box(plot *p, double x, double y, double w, double h, int32_t colour, double opacity);
void plot_dot(plot *p, double x, double y, double radius, int32_t colour, double opacity);
void plot_words(plot *p, double x, double y, plot_anchor anchor, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Words shown when the pointer rests on the last mark. */
void plot_hover(plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "#3b7dd8" of a cluster; colours come again after PLOT_COLOURS. */
const char *plot_colour(int32_t cluster);
/* The class names of the style sheet: "c3", "none", "ink". */
void plot_class(text *t, int32_t colour);
void plot_svg(text *t, const plot *p);

typedef enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_PDF } plot_format;
/* false: this build has no Cairo, or it failed; *why says which. */
bool plot_render(text *out, const plot *p, plot_format format, const char **why);

#endif
