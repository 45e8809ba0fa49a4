/* The sum over the axes of a frame of the exact 1-D W2^2 of the projections, for the frames whose
 * projections stay on a grid; see marginal.c. */
#ifndef DDSC_BOUND_MARGINAL_H
#define DDSC_BOUND_MARGINAL_H

#include "data/measures.h"

enum { MARGINAL_FRAMES = 2, MARGINAL_LINES = 2 * GRID_MAX_DIM };

typedef struct marginal_line {
    int32_t step[GRID_MAX_DIM]; /* place on the line: sum of step times place in the grid - first */
    int64_t first, at, length;  /* at: where the line begins in a row */
} marginal_line;

typedef struct marginal_frame {
    int first, end; /* lines */
    double unit;    /* of sums of whole numbers */
} marginal_frame;

typedef struct bound_marginal {
    int n_frames, n_lines;
    marginal_frame frame[MARGINAL_FRAMES];
    marginal_line line[MARGINAL_LINES];
    int64_t width;
    int16_t *row; /* n x width: distribution functions on each line, then ones */
    double slack; /* for points that are off the grid by rounding */
} bound_marginal;

bool bound_marginal_applies(const measures *m);
ddsc_status bound_marginal_make(ddsc_context *ctx, bound_marginal *out, const measures *m);
void bound_marginal_free(ddsc_context *ctx, bound_marginal *b);
/* The largest over the frames; stops as soon as it exceeds `enough`. */
double bound_marginal_pair(const bound_marginal *b, int64_t i, int64_t j, double enough);

#endif
