/* Implements the coupling of the refined bound (refined.c) for items on a plane grid.
 *
 * Squared distances are sums of one term per axis, c(x, y) = (x_0 - y_0)^2 + (x_1 - y_1)^2. The
 * kernel exp(-c / eps) is therefore a product, and sums with it are computed one axis at a time
 * over the bounding boxes of the items. The minima of a c-transform are also computed one axis at a
 * time, because min_x (c - f) is a minimum over rows of minima within rows. Each axis has a table
 * of costs and kernel values by distance.
 *
 * Items are first centered at their means, so distances along an axis are (t - gap) step for
 * integers t. Cells without a point have mass 0 in sums and are infinite in minima.
 *
 * The iteration starts from the potential f(x) = x' (1 - M) x of the affine map M between the
 * Gaussians (sinkhorn/grid_items.c). A sum or minimum takes O(h w (h + w)) operations for boxes of
 * h x w cells. grid_open bounds the rounding errors of two sums and of a cost, so that the result
 * is a valid lower bound. */
#include <math.h>
#include <string.h>

#include "distance/bound/refined.h"

/* Offsets of the tables, which are functions of the distance along an axis: one table per axis, and
 * the second table mirrored. */
enum { ROW = 0, COLUMN = GRID_TABLE, MIRROR = 2 * GRID_TABLE, TABLES = 3 * GRID_TABLE };

/* The coupling's arrays, with the layout of refined_pair.own. */
typedef struct grid_own {
    float kernel[TABLES], cost[TABLES];
    float mass[2][GRID_BOX]; /* weight times scaling, 0 where the item has no point */
    float wall[2][GRID_BOX]; /* negated potentials, infinite where the item has no point */
    float half[GRID_BOX], result[GRID_BOX]; /* values on the box after one axis, and after both
                                             * axes */
} grid_own;

static const grid_item *item_of(const bound_refined *b, const refined_pair *w, int k)
{
    return &b->items.item[w->side[k].item];
}

static const uint16_t *places_of(const bound_refined *b, const refined_pair *w, int k)
{
    return b->items.place + b->m->offset[w->side[k].item];
}

/* Computes costs (t - shift)^2 and kernels exp(-cost / epsilon) for the distances t between two
 * boxes, in steps. Very small kernel values are set to 0 because their products would be
 * denormal. */
static void grid_couple(const bound_refined *b, refined_pair *w, double epsilon)
{
    grid_own *own = (grid_own *)(void *)w->own;
    const grid_item *x = item_of(b, w, 0), *y = item_of(b, w, 1);
    for (int k = 0; k < 2; k++)
        for (int64_t p = 0; p < (int64_t)item_of(b, w, k)->size[0] * item_of(b, w, k)->ld; p++) {
            own->mass[k][p] = 0;
            own->wall[k][p] = INFINITY;
        }
    for (int axis = 0; axis < 2; axis++) {
        double gap = sinkhorn_grid_gap(x, y, axis);
        float *cost = own->cost + (axis == 0 ? ROW : COLUMN) + GRID_TABLE_ZERO;
        float *kernel = own->kernel + (axis == 0 ? ROW : COLUMN) + GRID_TABLE_ZERO;
        int low, high;
        sinkhorn_grid_reach(x, y, axis, &low, &high);
        for (int t = low; t <= high; t++) {
            double off = b->step[axis] * ((double)t - gap);
            cost[t] = (float)(off * off);
        }
        bound_kernel_exp(kernel + low, cost + low, (float)(-1 / epsilon), high - low + 1);
        for (int t = low; axis == 1 && t <= high; t++) {
            own->cost[MIRROR + GRID_TABLE_ZERO - t] = cost[t];
            own->kernel[MIRROR + GRID_TABLE_ZERO - t] = kernel[t];
        }
    }
    w->kernel = own->kernel;
    w->kernel_size = TABLES;
}

typedef void (*mix_fn)(const grid_mix *x, float *out, const float *coef, const float *in);

/* Computes packed values on side `to` from values on the box of the other side, with one table per
 * axis. */
static void carry_values(const bound_refined *b, refined_pair *w, int to, const float *from,
                         const float *tables, mix_fn mix)
{
    grid_own *own = (grid_own *)(void *)w->own;
    const grid_item *x = item_of(b, w, 1 - to), *y = item_of(b, w, to);
    const uint16_t *place = places_of(b, w, to);
    grid_carry by = sinkhorn_grid_carry(x, y, to == 1 ? 1 : -1);
    by.columns.in_step = -1; /* reads the table of column distances backwards */
    const float *columns = tables + (to == 1 ? MIRROR : COLUMN) + GRID_TABLE_ZERO;
    mix(&by.rows, own->half, tables + ROW + by.row_at, from);
    mix(&by.columns, own->result, own->half, columns + (y->first[1] - x->first[1]));
    for (int64_t k = 0; k < w->side[to].n; k++)
        w->packed[k] = own->result[place[k]];
}

static void grid_sums(const bound_refined *b, refined_pair *w, int to)
{
    grid_own *own = (grid_own *)(void *)w->own;
    const refined_side *from = &w->side[1 - to];
    const uint16_t *place = places_of(b, w, 1 - to);
    float *mass = own->mass[1 - to];
    for (int64_t k = 0; k < from->n; k++)
        mass[place[k]] = (float)from->weight[k] * from->scaling[k];
    carry_values(b, w, to, mass, own->kernel, bound_mix_sum);
}

static void grid_transform(const bound_refined *b, refined_pair *w, int to)
{
    grid_own *own = (grid_own *)(void *)w->own;
    const uint16_t *place = places_of(b, w, 1 - to);
    float *wall = own->wall[1 - to];
    for (int64_t k = 0; k < w->side[1 - to].n; k++)
        wall[place[k]] = -w->packed[k];
    carry_values(b, w, to, wall, own->cost, bound_mix_min);
}

/* ---- geometry ---- */

/* Computes f(x) = x' (1 - M) x with x relative to the mean. */
static void grid_affine(const bound_refined *b, refined_pair *w, int k)
{
    const grid_item *own = item_of(b, w, k);
    const uint16_t *place = places_of(b, w, k);
    const double *step = b->step;
    double m[3];
    sinkhorn_grid_affine(own->cov, item_of(b, w, 1 - k)->cov, m);
    double xx = (1 - m[0]) * step[0] * step[0], yy = (1 - m[2]) * (step[1] * step[1]);
    double xy = -2 * m[1] * step[0] * step[1];
    for (int64_t p = 0; p < w->side[k].n; p++) {
        double x = (double)(place[p] / own->ld) - own->local[0];
        double y = (double)(place[p] % own->ld) - own->local[1];
        w->wide[p] = xx * x * x + xy * x * y + yy * y * y;
    }
}

/* Positions are relative to the box of side 1, which changes all starting potentials by the same
 * amount and therefore has no effect. */
static void grid_point(const bound_refined *b, const refined_pair *w, int64_t k, double *x)
{
    int place = places_of(b, w, 1)[k], ld = item_of(b, w, 1)->ld;
    x[0] = b->step[0] * (place / ld);
    x[1] = b->step[1] * (place % ld);
}

static double grid_shift(const bound_refined *b, const refined_pair *w, int64_t c)
{
    return b->step[c] * sinkhorn_grid_gap(item_of(b, w, 0), item_of(b, w, 1), (int)c);
}

static void copy_moments(bound_refined *b, int64_t first)
{
    for (int64_t i = first; i < b->m->n; i++) {
        const grid_item *item = &b->items.item[i];
        memcpy(b->cov + 3 * i, item->cov, sizeof item->cov);
        b->mean[2 * i] = item->mean[0];
        b->mean[2 * i + 1] = item->mean[1];
    }
}

static ddsc_status grid_grow(bound_refined *b, int64_t first)
{
    CHECK(sinkhorn_grid_items_grow(&b->items, b->m, first));
    copy_moments(b, first);
    return DDSC_OK;
}

/* Bounds the rounding errors. Each of the two sums in a transform has a relative error of 2^-24 in
 * terms of magnitude c and `largest`, and so does a cost. This is valid for c <= 4 largest; other
 * pairs of points cannot violate the constraint. Points may be off the grid by 1e-9 of their
 * distance from its origin (see grid_find). */
static ddsc_status grid_open(bound_refined *b)
{
    const measures *m = b->m;
    const measures_grid *grid = &m->grid;
    b->rounding[2] = 0x1p-20;
    for (int axis = 0; axis < 2; axis++) {
        b->step[axis] = b->frame.step[axis] / b->unit;
        double extent = b->step[axis] * (double)grid->shape[axis];
        b->rounding[0] += 1e-8 * extent * extent;
    }
    CHECK(sinkhorn_grid_items_make(b->ctx, &b->items, m, b->step));
    CHECK(MEM_NEW(b->ctx, b->cov, 3 * measures_item_capacity(m)));
    copy_moments(b, 0);
    b->n_own = sizeof(grid_own) / sizeof(float);
    return DDSC_OK;
}

const refined_coupling bound_refined_grid = {.open = grid_open,
                                             .grow = grid_grow,
                                             .couple = grid_couple,
                                             .affine = grid_affine,
                                             .sums = grid_sums,
                                             .transform = grid_transform,
                                             .point = grid_point,
                                             .shift = grid_shift};
