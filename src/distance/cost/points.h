/* points: squared Euclidean distances between blocks of points.
 *
 * The distances are computed by differences in few dimensions, and by a matrix product in many.
 * Entries that lose too many digits to cancellation are recomputed by differences. Every value
 * therefore has a relative error of about 1e-12, and the distance between equal points is exactly
 * 0. */
#ifndef DDSC_DISTANCE_COST_POINTS_H
#define DDSC_DISTANCE_COST_POINTS_H

#include "base/workspace.h"
#include "distance/cost/tuning.h"

/* A borrowed table of points, and a center that keeps the norms small. */
typedef struct points {
    int64_t n, d;
    const double *x; /* n x d */
    double *center;  /* d */
} points;

ddsc_status points_open(ddsc_context *ctx, points *table, int64_t n, int64_t d, const double *x);
void points_close(ddsc_context *ctx, points *table);

/* Some points of a table, in the layout of the block kernel. */
typedef struct points_panel {
    int64_t n, capacity;
    /* Direct form: d x capacity, one coordinate after another. Otherwise: n x d, relative to
     * `center`. */
    double *x;
    double *norm2; /* squared norms of the centered points; unused in the direct form */
    int64_t *row;  /* rows of the table */
} points_panel;

/* Creates a panel with separate memory. points_panel_take uses an arena instead. */
ddsc_status points_panel_create(ddsc_context *ctx, points_panel *panel, const points *table,
                                int64_t capacity);
void points_panel_free(ddsc_context *ctx, points_panel *panel);
void points_panel_take(arena *a, points_panel *panel, const points *table, int64_t capacity);
/* Loads rows index[0 .. n) of the table, or rows first .. first + n - 1 if index is NULL. Requires
 * n <= capacity. */
void points_panel_load(points_panel *panel, const points *table, int64_t n, const int32_t *index,
                       int64_t first);
/* Returns n points of a loaded panel, starting at `first`. The result points into the panel. */
points_panel points_panel_part(const points_panel *panel, const points *table, int64_t first,
                               int64_t n);
/* Computes out[p * ld + q] = |rows_p - columns_q|^2. */
void points_distance2(const points *table, const points_panel *rows, const points_panel *columns,
                      double *out, int64_t ld);

#endif
