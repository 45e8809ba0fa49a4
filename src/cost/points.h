/* Squared Euclidean distances between blocks of points. Few dimensions go by differences, many by a
 * matrix product with the entries that cancellation would spoil computed again by differences, so
 * every value is good to about 1e-12 relative and equal points are at distance exactly 0. */
#ifndef DDSC_COST_POINTS_H
#define DDSC_COST_POINTS_H

#include "base/base.h"

enum { POINTS_MAX_DIRECT = 16 }; /* up to this many dimensions by differences */

/* A table of points (borrowed) and a centre that keeps the norms small. */
typedef struct points {
    int64_t n, d;
    const double *x; /* n x d */
    double *centre;  /* d */
} points;

ddsc_status points_open(ddsc_context *ctx, points *table, int64_t n, int64_t d, const double *x);
void points_close(ddsc_context *ctx, points *table);

/* Some points of a table, laid out for the block kernel. */
typedef struct points_panel {
    int64_t n, room;
    double *x;     /* direct: d x room by coordinate; else n x d by point, centred */
    double *norm2; /* of the centred points; not used by the direct form */
    int64_t *row;  /* rows of the table */
} points_panel;

ddsc_status points_panel_create(ddsc_context *ctx, points_panel *panel, const points *table,
                                int64_t room);
void points_panel_free(ddsc_context *ctx, points_panel *panel);
/* Rows index[0 .. n), or first .. first + n when index is NULL; n <= room. */
void points_panel_load(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                       int64_t first);
/* Append to what is there; what fits is the caller's business. */
void points_panel_add(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                      int64_t first);
/* n points of a loaded panel from `first` on; borrows from it. */
points_panel points_panel_part(const points_panel *panel, const points *table, int64_t first,
                               int64_t n);
/* out[p * ld + q] = |rows_p - columns_q|^2. */
void points_distance2(const points *table, const points_panel *rows, const points_panel *columns,
                      double *out, int64_t ld);
/* Rows [begin, end) of the table of all squared distances, out[p * ld + q]; the panels are room for
 * end - begin points and for as many columns as are taken at a time. */
void points_distance2_rows(const points *table, points_panel *rows, points_panel *columns,
                           int64_t begin, int64_t end, double *out, int64_t ld);

#endif
