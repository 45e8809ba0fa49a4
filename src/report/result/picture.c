/* Renders planar items as small pictures with 16 gray levels. */
#include <math.h>
#include <string.h>

#include "report/result/picture.h"
#include "report/result/result.h"

bool result_has_pictures(const ddsc_report *r)
{
    return r->measures && r->items.dim == 2 && r->items.n_support > 0;
}

/* Returns true if the points are image pixels: a grid of (row, column) with step 1 whose origin
 * is a small non-negative integer. */
static bool picture_is_image(const ddsc_measures_view *v)
{
    for (int c = 0; c < 2; c++)
        if (!v->is_grid || v->grid_step[c] != 1 || v->grid_origin[c] < 0 ||
            v->grid_origin[c] != floor(v->grid_origin[c]) ||
            v->grid_origin[c] > (double)v->grid_shape[c])
            return false;
    return true;
}

/* Shrinks the box around the points. Otherwise, a few distant points would reduce every picture to
 * a dot. Each round clips the box to five standard deviations of the points inside. Shrinking stops
 * before more than one point in a hundred is outside. Points outside the box are drawn at its edge.
 * */
static void trim_box(double *low, double *high, const ddsc_measures_view *v)
{
    for (int round = 0; round < 8; round++) {
        double sum[2] = {0}, square[2] = {0}, l[2], h[2];
        int64_t n = 0, n_kept = 0;
        for (int64_t p = 0; p < v->n_support; p++) {
            const double *x = v->support + 2 * p;
            if (x[0] < low[0] || x[0] > high[0] || x[1] < low[1] || x[1] > high[1])
                continue;
            n++;
            for (int c = 0; c < 2; c++) {
                double from = x[c] - low[c];
                sum[c] += from;
                square[c] += from * from;
            }
        }
        for (int c = 0; c < 2; c++) {
            double mean = sum[c] / (double)n;
            double reach = 5 * sqrt(fmax(square[c] / (double)n - mean * mean, 0));
            l[c] = fmax(low[c], low[c] + mean - reach);
            h[c] = fmin(high[c], low[c] + mean + reach);
        }
        for (int64_t p = 0; p < v->n_support; p++) {
            const double *x = v->support + 2 * p;
            n_kept += x[0] >= l[0] && x[0] <= h[0] && x[1] >= l[1] && x[1] <= h[1];
        }
        if (100 * (v->n_support - n_kept) > v->n_support || n_kept == n)
            return;
        memcpy(low, l, sizeof l);
        memcpy(high, h, sizeof h);
    }
}

picture_frame picture_frame_for(const ddsc_measures_view *v, int side)
{
    double high[2] = {-INFINITY, -INFINITY};
    picture_frame f = {.low = {INFINITY, INFINITY}, .image = picture_is_image(v), .side = side};
    for (int64_t p = 0; p < v->n_support; p++)
        for (int c = 0; c < 2; c++) {
            f.low[c] = fmin(f.low[c], v->support[2 * p + c]);
            high[c] = fmax(high[c], v->support[2 * p + c]);
        }
    if (f.image) {
        double longest = fmax(v->grid_origin[0] + (double)v->grid_shape[0],
                              v->grid_origin[1] + (double)v->grid_shape[1]);
        f.low[0] = f.low[1] = -0.5;
        if (longest <= side)
            f.side = (int)longest;
        f.scale = f.side / longest;
        return f;
    }
    trim_box(f.low, high, v);
    double wide = fmax(high[0] - f.low[0], high[1] - f.low[1]);
    f.scale = wide > 0 && isfinite(wide) ? (side - 1) / wide : 1;
    for (int c = 0; c < 2; c++) /* the shorter axis is centered, with a margin of half a cell */
        f.low[c] -= (side / f.scale - (high[c] - f.low[c])) / 2;
    return f;
}

static int picture_cell(const picture_frame *f, double place, int axis)
{
    double cell = floor(f->scale * (place - f->low[axis]));
    return (int)fmin(fmax(cell, 0), f->side - 1);
}

void picture_add(double *mass, const picture_frame *f, const ddsc_measures_view *v, int64_t item)
{
    for (int64_t p = v->offset[item]; p < v->offset[item + 1]; p++) {
        const double *at = v->support + 2 * (int64_t)v->index[p];
        int row = f->image ? picture_cell(f, at[0], 0) : f->side - 1 - picture_cell(f, at[1], 1);
        int column = f->image ? picture_cell(f, at[1], 1) : picture_cell(f, at[0], 0);
        mass[row * f->side + column] += v->weight[p];
    }
}

/* Maps mass to darkness. The square root makes small masses visible. */
void picture_draw(unsigned char *cells, const picture_frame *f, const ddsc_measures_view *v,
                  int64_t item)
{
    double mass[PICTURE_MAX_SIDE * PICTURE_MAX_SIDE] = {0}, top = 0;
    picture_add(mass, f, v, item);
    for (int c = 0; c < f->side * f->side; c++)
        top = fmax(top, mass[c]);
    for (int c = 0; c < f->side * f->side; c++) {
        double share = top > 0 ? mass[c] / top : 0;
        cells[c] = (unsigned char)lround((PICTURE_LEVELS - 1) * (f->image ? share : sqrt(share)));
    }
}
