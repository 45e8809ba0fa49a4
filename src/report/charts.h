/* charts: the pictures of a result. Each is made from the same data the report page is made from.
 */
#ifndef DDSC_REPORT_CHARTS_H
#define DDSC_REPORT_CHARTS_H

#include "report/plot.h"
#include "report/report.h"

/* Marks of a picture into p, which has its context; false: the result has nothing to draw there. */
typedef bool (*chart_fn)(plot *p, const ddsc_report *r);
bool chart_map(plot *p, const ddsc_report *r);
bool chart_representatives(plot *p, const ddsc_report *r);
bool chart_means(plot *p, const ddsc_report *r);
bool chart_eigenvalues(plot *p, const ddsc_report *r);
bool chart_sizes(plot *p, const ddsc_report *r);
bool chart_neighbours(plot *p, const ddsc_report *r);
bool chart_confusion(plot *p, const ddsc_report *r);

/* ---- small pictures of planar items: side x side cells of 0 .. 15 ---- */

enum { PICTURE_MAX_SIDE = 32, PICTURE_LEVELS = 16 };

typedef struct picture_frame {
    double low[2], scale; /* cell = scale * (place - low) */
    bool image;           /* places are (row, column) of an image */
    int side;
} picture_frame;

/* The frame all items share; images of up to PICTURE_MAX_SIDE pixels keep their pixels. */
picture_frame picture_frame_for(const ddsc_measures_view *items, int side);
/* Adds the mass of an item to side x side cells. */
void picture_add(double *mass, const picture_frame *f, const ddsc_measures_view *items,
                 int64_t item);
void picture_draw(unsigned char *cells, const picture_frame *f, const ddsc_measures_view *items,
                  int64_t item);

#endif
