#include "sinkhorn/grid_items.h"

#include <math.h>

#include "base/simd.h"

/* Points must meet the grid to rounding: values are those of the grid. */
static const double OFF_GRID = 1e-13;

static int64_t cell_of(const measures *m, int32_t row, int axis)
{
    double x = measures_point(m, row)[axis] - m->grid.origin[axis];
    return (int64_t)round(x / m->grid.step[axis]);
}

bool grid_items_apply(const measures *m)
{
    const measures_grid *grid = &m->grid;
    if (!grid->found || m->d != 2 || grid->shape[0] > GRID_SIDE || grid->shape[1] > GRID_SIDE)
        return false;
    for (int64_t r = 0; r < m->v; r++)
        for (int axis = 0; axis < 2; axis++) {
            double x = measures_point(m, (int32_t)r)[axis];
            double at =
                grid->origin[axis] + (double)cell_of(m, (int32_t)r, axis) * grid->step[axis];
            double extent = grid->step[axis] * (double)grid->shape[axis];
            if (fabs(x - at) > OFF_GRID * extent)
                return false;
        }
    return true;
}

static void find_bounds(const measures *m, item_view view, int32_t first[2], int32_t size[2])
{
    for (int axis = 0; axis < 2; axis++) {
        int32_t low = GRID_SIDE, high = -1;
        for (int64_t k = 0; k < view.n; k++) {
            int32_t at = (int32_t)cell_of(m, view.index[k], axis);
            low = BASE_MIN(low, at);
            high = BASE_MAX(high, at);
        }
        first[axis] = low;
        size[axis] = high - low + 1;
    }
}

/* Boxes of h x w cells cost about 0.6 h w (h + w) times what an entry of a dense kernel does. */
bool grid_items_pay(const measures *m)
{
    double boxes = 0, dense = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int32_t first[2], size[2];
        item_view view = measures_item(m, i);
        find_bounds(m, view, first, size);
        boxes += 0.6 * size[0] * size[1] * (size[0] + size[1]);
        dense += (double)(view.n * view.n) + 64;
    }
    return boxes < dense;
}

static void find_box(const measures *m, grid_item *item, item_view view, uint16_t *place)
{
    find_bounds(m, view, item->first, item->size);
    item->ld = (item->size[1] + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    for (int64_t k = 0; k < view.n; k++) {
        int64_t row = cell_of(m, view.index[k], 0) - item->first[0];
        place[k] = (uint16_t)(row * item->ld + cell_of(m, view.index[k], 1) - item->first[1]);
    }
}

/* Mean and covariance; that of a single cell is added, so that lines and points have a map too. */
static void find_moments(const measures *m, grid_item *item, item_view view, const double step[2])
{
    item->mean[0] = item->mean[1] = item->cov[1] = 0;
    for (int64_t k = 0; k < view.n; k++)
        for (int axis = 0; axis < 2; axis++)
            item->mean[axis] += view.weight[k] * (double)cell_of(m, view.index[k], axis);
    item->cov[0] = step[0] * step[0] / 12;
    item->cov[2] = step[1] * step[1] / 12;
    for (int64_t k = 0; k < view.n; k++) {
        double y = step[0] * ((double)cell_of(m, view.index[k], 0) - item->mean[0]);
        double x = step[1] * ((double)cell_of(m, view.index[k], 1) - item->mean[1]);
        item->cov[0] += view.weight[k] * y * y;
        item->cov[1] += view.weight[k] * y * x;
        item->cov[2] += view.weight[k] * x * x;
    }
}

ddsc_status grid_items_make(ddsc_context *ctx, grid_items *out, const measures *m)
{
    *out = (grid_items){.step = {m->grid.step[0], m->grid.step[1]}};
    CHECK(MEM_NEW(ctx, out->item, m->n));
    CHECK(MEM_NEW(ctx, out->place, m->nnz));
    for (int64_t i = 0; i < m->n; i++) {
        item_view view = measures_item(m, i);
        find_box(m, &out->item[i], view, out->place + m->offset[i]);
        find_moments(m, &out->item[i], view, out->step);
    }
    return DDSC_OK;
}

void grid_items_free(ddsc_context *ctx, grid_items *items)
{
    mem_free(ctx, items->item);
    mem_free(ctx, items->place);
}

/* M = A^-1 # B, the geometric mean; in the plane that of P and Q is sqrt(pq) S / sqrt(det S), S = P
 * / p + Q / q, with p, q the roots of their determinants. */
void grid_affine_map(const double a[3], const double b[3], double m[3])
{
    double p = sqrt(a[0] * a[2] - a[1] * a[1]), q = sqrt(b[0] * b[2] - b[1] * b[1]);
    double s[3] = {a[2] / p + b[0] / q, b[1] / q - a[1] / p, a[0] / p + b[2] / q};
    double scale = sqrt(q / p / (s[0] * s[2] - s[1] * s[1]));
    for (int k = 0; k < 3; k++)
        m[k] = scale * s[k];
}
