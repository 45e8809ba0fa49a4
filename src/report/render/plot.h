/* plot: a figure as a list of marks, which is written as inline SVG or passed to the caller.
 * `status` is the status of the first failure. */
#ifndef DDSC_REPORT_RENDER_PLOT_H
#define DDSC_REPORT_RENDER_PLOT_H

#include "report/result/buffer.h"

enum {
    COLOR_INK = -2,
    COLOR_NONE = -1
}; /* values >= 0: the color of the cluster with this number */
enum { PLOT_COLORS = 20 };
typedef enum plot_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } plot_anchor;

typedef struct plot {
    ddsc_context *ctx;
    const char *name; /* name of the file, which screen readers also use */
    double width, height;
    ddsc_mark *mark; /* each mark owns its text */
    int64_t n, capacity;
    ddsc_status status;
} plot;

void plot_free(plot *p);
void plot_line(plot *p, double x, double y, double w, double h, double opacity);
void plot_box(plot *p, double x, double y, double w, double h, int32_t color, double opacity);
void plot_dot(plot *p, double x, double y, double radius, int32_t color, double opacity);
void plot_words(plot *p, double x, double y, plot_anchor anchor, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Sets the text shown when the pointer is over the last mark. */
void plot_hover(plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the color of a cluster, for example "#3c79d1". Colors repeat after PLOT_COLORS
 * clusters. */
const char *plot_color(int32_t cluster);
/* Appends the CSS class of a color: "c3", "none" or "ink". */
void plot_class(buffer *b, int32_t color);
void plot_svg(buffer *b, const plot *p);

#endif
