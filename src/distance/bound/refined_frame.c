/* Chooses the frame of the refined bound: its coupling, unit of length and first epsilon.
 *
 * The coupling is the grid if the items are on a plane grid, and the dense matrix otherwise. The
 * unit is the larger grid step, or a power of two close to the size of the support. The first
 * epsilon is a fraction of the mean trace of the covariances in this unit, rounded to four bits.
 *
 * Exact transport solves start from the potentials of this bound. If a pair has several optimal
 * plans, the start determines which plan is found, and the last bits of the value depend on the
 * plan. The frame is therefore part of the resolved settings, so that a later set can use the same
 * frame.
 *
 * The frame does not depend on the order of the items, because traces are summed as integers.
 * Choosing it takes one pass over the points of the set. */
#include <math.h>

#include "distance/bound/refined.h"

/* Maximum and resolution of a trace that is summed as an integer. */
static const double TRACE_MOST = 1e5, TRACE_UNIT = 0x1p-20;

/* Returns the trace of the covariance of an item, in units of length squared. */
static double trace_of(const measures *m, int64_t i, double unit)
{
    item_view view = measures_item(m, i);
    const double *first = measures_point(m, view.index[0]);
    double trace = 0;
    for (int64_t c = 0; c < m->d; c++) {
        double mean = 0, square = 0;
        for (int64_t p = 0; p < view.n; p++)
            mean += view.weight[p] * ((measures_point(m, view.index[p])[c] - first[c]) / unit);
        for (int64_t p = 0; p < view.n; p++) {
            double x = (measures_point(m, view.index[p])[c] - first[c]) / unit - mean;
            square += view.weight[p] * x * x;
        }
        trace += square;
    }
    return trace;
}

/* Returns the mean trace, rounded to 4 bits so that adding or removing a few items rarely changes
 * it. The traces are summed as integers, so the result does not depend on the order of the
 * items. */
static double spread_of(const measures *m, double unit, double more)
{
    int64_t sum = 0, most = (INT64_MAX >> 1) / BASE_MAX(1, m->n);
    int exponent;
    for (int64_t i = 0; i < m->n; i++) {
        double trace = fmin(trace_of(m, i, unit) + more, TRACE_MOST);
        sum += BASE_MIN(most, llround(trace / TRACE_UNIT));
    }
    double mean = (double)sum / (double)BASE_MAX(1, m->n) * TRACE_UNIT;
    double part = frexp(mean, &exponent);
    return ldexp(rint(part * 16) / 16, exponent);
}

static pair_frame grid_frame(const measures *m)
{
    const measures_grid *grid = &m->grid;
    pair_frame f = {.kind = FRAME_GRID};
    for (int axis = 0; axis < 2; axis++)
        if (grid->shape[axis] > 1)
            f.unit = fmax(f.unit, grid->step[axis]);
    f.unit = f.unit > 0 ? f.unit : 1;
    for (int axis = 0; axis < 2; axis++)
        f.step[axis] = grid->shape[axis] > 1 ? grid->step[axis] : f.unit;
    double height = f.step[0] / f.unit, width = f.step[1] / f.unit;
    /* The covariance of an item includes that of a cell (grid_items.c). A spread of less than a few
     * cells is not meaningful. */
    f.spread = spread_of(m, f.unit, (height * height + width * width) / 12);
    f.spread = fmax(f.spread, 20 * height * width);
    return f;
}

pair_frame bound_refined_frame(const measures *m)
{
    if (sinkhorn_grid_fits(m))
        return grid_frame(m);
    double unit = bound_unit(m);
    return (pair_frame){.kind = FRAME_DENSE,
                        .unit = unit,
                        .step = {unit, unit},
                        .spread = fmax(spread_of(m, unit, 0), 1e-6)};
}

bool bound_refined_fits(const measures *m, const pair_frame *frame)
{
    if (frame->kind == FRAME_DENSE)
        return m->d > 1 && m->d <= BOUND_POINT_DIM && measures_largest_item(m) <= BOUND_DENSE_SIZE;
    return frame->kind == FRAME_GRID && sinkhorn_grid_fits(m) && sinkhorn_grid_is_in(m, frame);
}
