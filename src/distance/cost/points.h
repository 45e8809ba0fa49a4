/* Squared Euclidean distances between blocks of points. Few dimensions go by differences, many by a
 * matrix product with the entries that cancellation would spoil computed again by differences, so
 * every value is good to about 1e-12 relative and equal points are at distance exactly 0. */
#ifndef DDSC_DISTANCE_COST_POINTS_H
#define DDSC_DISTANCE_COST_POINTS_H

#include "base/workspace.h"
#include "distance/cost/tuning.h"

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
    int64_t n, capacity;
    double *x;     /* direct: d x capacity by coordinate; else n x d by point, centred */
    double *norm2; /* of the centred points; not used by the direct form */
    int64_t *row;  /* rows of the table */
} points_panel;

/* A panel with memory of its own, or out of an arena. */
ddsc_status points_panel_create(ddsc_context *ctx, points_panel *panel, const points *table,
                                int64_t capacity);
void points_panel_free(ddsc_context *ctx, points_panel *panel);
void points_panel_take(arena *a, points_panel *panel, const points *table, int64_t capacity);
/* Rows index[0 .. n), or first .. first + n when index is NULL; n <= capacity. */
void points_panel_load(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                       int64_t first);
/* n points of a loaded panel from `first` on; borrows from it. */
points_panel points_panel_part(const points_panel *panel, const points *table, int64_t first,
                               int64_t n);
/* out[p * ld + q] = |rows_p - columns_q|^2. */
void points_distance2(const points *table, const points_panel *rows, const points_panel *columns,
                      double *out, int64_t ld);
/* Rows [begin, end) of the table of all squared distances, out[p * ld + q]; the panels take
 * end - begin points and as many columns as are computed at a time. */
void points_distance2_rows(const points *table, points_panel *rows, points_panel *columns,
                           int64_t begin, int64_t end, double *out, int64_t ld);

#endif
