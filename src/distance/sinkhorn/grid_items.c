/* Represents items on a plane grid: bounding boxes, moments, and the affine map between the
 * Gaussians of two items.
 *
 * An item is a function on the cells of its bounding box, which is 0 where it has no point. The
 * mean and the covariance are computed from positions within the box, so that the rounding errors
 * do not depend on the origin of the grid. The covariance of a uniform cell, step^2 / 12 per axis,
 * is added, so that the sum is never singular, even for items on a line.
 *
 * The optimal map between the Gaussians with covariances A and B is x -> M x with the geometric
 * mean M = A^-1 # B = A^-1/2 (A^1/2 B A^1/2)^1/2 A^-1/2 (Gelbrich 1990). The potential of this map,
 * x' (1 - M) x, is a good initial guess for the potentials between the items. In two dimensions,
 * the geometric mean has a closed form that needs only determinants.
 *
 * Apart from the common grid steps, every value depends on a single item. Creating the items takes
 * O(nnz) time. */
#include "distance/sinkhorn/grid_items.h"

#include <math.h>

#include "base/team.h"

enum { SIDE = SINKHORN_GRID_SIDE, ITEMS_GRAIN = 64 };

/* Largest deviation of a point from the grid, relative to the extent of the grid. Points must be on
 * the grid up to rounding errors, because values are computed from grid positions. */
static const double OFF_GRID = 1e-13;

static void cell_of(const measures *m, int32_t row, int32_t at[2])
{
    for (int axis = 0; axis < 2; axis++) {
        double x = measures_point(m, row)[axis] - m->grid.origin[axis];
        at[axis] = (int32_t)round(x / m->grid.step[axis]);
    }
}

bool sinkhorn_grid_fits(const measures *m)
{
    return m->grid.found && m->d == 2 && m->grid.shape[0] <= SIDE && m->grid.shape[1] <= SIDE;
}

bool sinkhorn_grid_is_exact(const measures *m)
{
    const measures_grid *grid = &m->grid;
    for (int64_t r = 0; r < m->v; r++) {
        int32_t at[2];
        cell_of(m, (int32_t)r, at);
        for (int axis = 0; axis < 2; axis++) {
            double x = measures_point(m, (int32_t)r)[axis], step = grid->step[axis];
            double off = x - (grid->origin[axis] + (double)at[axis] * step);
            if (fabs(off) > OFF_GRID * step * (double)grid->shape[axis])
                return false;
        }
    }
    return true;
}

bool sinkhorn_grid_is_in(const measures *m, const pair_frame *frame)
{
    for (int axis = 0; axis < 2; axis++)
        if (m->grid.shape[axis] > 1 &&
            fabs(m->grid.step[axis] - frame->step[axis]) > 1e-9 * frame->step[axis])
            return false;
    return true;
}

static void find_box(const measures *m, item_view view, grid_item *item)
{
    int32_t last[2] = {-1, -1}, at[2];
    item->first[0] = item->first[1] = SIDE;
    for (int64_t k = 0; k < view.n; k++) {
        cell_of(m, view.index[k], at);
        for (int axis = 0; axis < 2; axis++) {
            item->first[axis] = BASE_MIN(item->first[axis], at[axis]);
            last[axis] = BASE_MAX(last[axis], at[axis]);
        }
    }
    for (int axis = 0; axis < 2; axis++)
        item->size[axis] = last[axis] - item->first[axis] + 1;
    item->ld = BASE_ROUND_UP(item->size[1], SIMD_LANES);
}

bool sinkhorn_grid_is_faster(const measures *m)
{
    double boxes = 0, dense = 0;
    for (int64_t i = 0; i < m->n; i++) {
        grid_item item;
        item_view view = measures_item(m, i);
        find_box(m, view, &item);
        double h = item.size[0], w = item.size[1];
        boxes += SINKHORN_GRID_CELL_PRICE * h * w * (h + w);
        dense += (double)(view.n * view.n) + 64;
    }
    return boxes < dense;
}

static void find_places(const measures *m, item_view view, const grid_item *item, uint16_t *cell,
                        uint16_t *place)
{
    int32_t at[2];
    for (int64_t k = 0; k < view.n; k++) {
        cell_of(m, view.index[k], at);
        cell[k] = (uint16_t)(at[0] * SIDE + at[1]);
        place[k] = (uint16_t)((at[0] - item->first[0]) * item->ld + at[1] - item->first[1]);
    }
}

/* Computes the mean and the covariance from the positions in the box. The covariance of a single
 * cell is added, so that the map also exists for items on a line or at a point. */
static void find_moments(item_view view, const uint16_t *place, const double step[2],
                         grid_item *item)
{
    item->local[0] = item->local[1] = item->cov[1] = 0;
    for (int64_t k = 0; k < view.n; k++) {
        item->local[0] += view.weight[k] * (double)(place[k] / item->ld);
        item->local[1] += view.weight[k] * (double)(place[k] % item->ld);
    }
    for (int axis = 0; axis < 2; axis++)
        item->mean[axis] = (double)item->first[axis] + item->local[axis];
    item->cov[0] = step[0] * step[0] / 12;
    item->cov[2] = step[1] * step[1] / 12;
    for (int64_t k = 0; k < view.n; k++) {
        double y = step[0] * ((double)(place[k] / item->ld) - item->local[0]);
        double x = step[1] * ((double)(place[k] % item->ld) - item->local[1]);
        item->cov[0] += view.weight[k] * y * y;
        item->cov[1] += view.weight[k] * y * x;
        item->cov[2] += view.weight[k] * x * x;
    }
}

typedef struct items_job {
    grid_items *out;
    const measures *m;
} items_job;

static ddsc_status items_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const items_job *j = arg;
    grid_items *out = j->out;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        item_view view = measures_item(j->m, i);
        uint16_t *place = out->place + j->m->offset[i];
        find_box(j->m, view, &out->item[i]);
        find_places(j->m, view, &out->item[i], out->cell + j->m->offset[i], place);
        find_moments(view, place, out->step, &out->item[i]);
    }
    return DDSC_OK;
}

ddsc_status sinkhorn_grid_items_make(ddsc_context *ctx, grid_items *out, const measures *m,
                                     const double step[2])
{
    int64_t bytes = sizeof *out->cell, item = sizeof *out->item;
    *out = (grid_items){.step = {step[0], step[1]}};
    CHECK(team_table_new(ctx, &out->item, measures_item_capacity(m) * item));
    CHECK(team_table_new(ctx, &out->cell, measures_entry_capacity(m) * bytes));
    CHECK(team_table_new(ctx, &out->place, measures_entry_capacity(m) * bytes));
    CHECK(team_fill(ctx, out->item, m->n, ITEMS_GRAIN, item, items_range, &(items_job){out, m}));
    CHECK(team_gather_entries(ctx, out->cell, m->offset, m->n, ITEMS_GRAIN, bytes));
    return team_gather_entries(ctx, out->place, m->offset, m->n, ITEMS_GRAIN, bytes);
}

ddsc_status sinkhorn_grid_items_grow(grid_items *items, const measures *m, int64_t first)
{
    return items_range(&(items_job){items, m}, first, m->n, 0);
}

void sinkhorn_grid_items_free(ddsc_context *ctx, grid_items *items)
{
    team_unshare(ctx, items->item);
    team_unshare(ctx, items->cell);
    team_unshare(ctx, items->place);
}

/* Computes M = A^-1 # B, the geometric mean. In the plane, the mean of P and Q is sqrt(pq) S /
 * sqrt(det S) with S = P / p + Q / q, where p and q are the square roots of the determinants of P
 * and Q. */
void sinkhorn_grid_affine(const double a[3], const double b[3], double m[3])
{
    double p = sqrt(a[0] * a[2] - a[1] * a[1]), q = sqrt(b[0] * b[2] - b[1] * b[1]);
    double s[3] = {a[2] / p + b[0] / q, b[1] / q - a[1] / p, a[0] / p + b[2] / q};
    double scale = sqrt(q / p / (s[0] * s[2] - s[1] * s[1]));
    for (int k = 0; k < 3; k++)
        m[k] = scale * s[k];
}
