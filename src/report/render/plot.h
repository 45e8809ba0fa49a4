/* plot: a picture as a list of marks, drawn once: inline SVG of a page, or handed to the caller. The
 * first failure stays in `status`. */
#ifndef DDSC_REPORT_RENDER_PLOT_H
#define DDSC_REPORT_RENDER_PLOT_H

#include "report/content/buffer.h"

enum { COLOUR_INK = -2, COLOUR_NONE = -1 }; /* 0 and up: the colour of that cluster */
enum { PLOT_COLOURS = 20 };
typedef enum plot_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } plot_anchor;

typedef struct plot {
    ddsc_context *ctx;
    const char *name; /* of the file, and for readers of the screen */
    double width, height;
    ddsc_mark *mark; /* with words of their own */
    int64_t n, capacity;
    ddsc_status status;
} plot;

void plot_free(plot *p);
void plot_line(plot *p, double x, double y, double w, double h, double opacity);
void plot_box(plot *p, double x, double y, double w, double h, int32_t colour, double opacity);
void plot_dot(plot *p, double x, double y, double radius, int32_t colour, double opacity);
void plot_words(plot *p, double x, double y, plot_anchor anchor, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Words shown when the pointer rests on the last mark. */
void plot_hover(plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "#3c79d1" of a cluster; colours come again after PLOT_COLOURS. */
const char *plot_colour(int32_t cluster);
/* The class names of the style sheet: "c3", "none", "ink". */
void plot_class(buffer *b, int32_t colour);
void plot_svg(buffer *b, const plot *p);

#endif
