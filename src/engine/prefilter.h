/* A screen: rows of floats whose distances enclose the metric's values,
 *
 *     0 <= D^2(i, j) - (c_i + c_j + |y_i - y_j|^2) <= tail_i + tail_j   before rounding.
 *
 * All pairs then cost one product of float matrices; only the few that the rounding leaves in doubt
 * are computed by the metric itself, in double. */
#ifndef DDSC_ENGINE_PREFILTER_H
#define DDSC_ENGINE_PREFILTER_H

#include "engine/backend.h"

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

#endif
