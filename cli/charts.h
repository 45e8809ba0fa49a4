/* charts: the pictures of a result. Each is made from the same data the report page is made from.
 */
#ifndef DDSC_CLI_CHARTS_H
#define DDSC_CLI_CHARTS_H

#include "plot.h"
#include "report.h"

/* A result as the page and the pictures see it: result.json, and arrays over the input rows. */
typedef struct report_data {
    const json_t *result;
    int64_t n_rows, k;
    const int32_t *label;          /* n_rows; -1: dropped */
    const double *xy;              /* n_rows x 2, NaN for dropped rows; NULL: no map */
    const int32_t *truth;          /* n_rows: place in scores.confusion.classes, -1; or NULL */
    const ddsc_measures *measures; /* ids and, when planar, pictures; NULL: rows are numbers */
    ddsc_measures_view items;      /* of measures: the rows that were not dropped, in order */
    int64_t *row;                  /* of each item; made by report_index */
    int64_t *item;                 /* of each row, -1 for dropped ones */
} report_data;

/* Rows and items find each other; true when the items are as many as the labels say. */
bool report_index(report_data *d);
void report_index_free(report_data *d);
/* Classes as their place among the sorted distinct ones; NULL without a confusion. free() it. */
int32_t *report_truth(const report_data *d, const int32_t *truth);
/* The id of a row, "" for a dropped one; `room` holds it where there are no ids. */
const char *report_id(const report_data *d, int64_t row, char *room, size_t size);
bool report_has_pictures(const report_data *d);

/* Marks of a picture; false: the result has nothing to draw there. */
typedef bool (*chart_fn)(plot *p, const report_data *d);
bool chart_map(plot *p, const report_data *d);
bool chart_representatives(plot *p, const report_data *d);
bool chart_eigenvalues(plot *p, const report_data *d);
bool chart_sizes(plot *p, const report_data *d);
bool chart_neighbours(plot *p, const report_data *d);
bool chart_confusion(plot *p, const report_data *d);
extern const chart_fn all_charts[]; /* NULL-terminated */

/* ---- small pictures of planar items: side x side cells of 0 .. 15 ---- */

enum { PICTURE_MAX_SIDE = 32, PICTURE_LEVELS = 16 };

typedef struct picture_frame {
    double low[2], scale; /* cell = scale * (place - low) */
    bool image;           /* places are (row, column) of an image */
    int side;
} picture_frame;

/* The frame all items share; images of up to PICTURE_MAX_SIDE pixels keep their pixels. */
picture_frame picture_frame_for(const ddsc_measures_view *items, int side);
void picture_draw(unsigned char *cells, const picture_frame *f, const ddsc_measures_view *items,
                  int64_t item);

#endif
