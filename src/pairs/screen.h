/* A screen: rows of floats whose distances enclose the metric's values,
 *
 *     0 <= D^2(i, j) - (c_i + c_j + |y_i - y_j|^2) <= tail_i + tail_j   before rounding.
 *
 * All pairs then cost one product of float matrices; only the few that the rounding leaves in doubt
 * are computed by the metric itself, in double. */
#ifndef DDSC_PAIRS_SCREEN_H
#define DDSC_PAIRS_SCREEN_H

#include "pairs/pairs.h"

typedef struct pair_screen {
    int64_t n, columns; /* columns 0: none to be had */
    float *rows;        /* n x columns: y, rounded; best near the origin */
    double *offset;     /* c (n) */
    double *tail;       /* n */
} pair_screen;

ddsc_status screen_create(ddsc_context *ctx, pair_screen *s, int64_t n, int64_t columns);
void screen_free(ddsc_context *ctx, pair_screen *s);

/* What the rounding of the rows and of their products may add up to: with start_i + start_j - 2
 * y_i.y_j = low in floats, low <= D^2 <= low + spread_i + spread_j. */
ddsc_status screen_bounds(ddsc_context *ctx, const pair_screen *s, float *start, double *spread);

/* The same graph as neighbors_search gives. *done false: too many items stay in doubt (many equal
 * ones), nothing was made. */
ddsc_status screened_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                            const pair_screen *screen, const pair_backend *backend, void *state,
                            const ddsc_graph_settings *settings, bool *done);

#endif
