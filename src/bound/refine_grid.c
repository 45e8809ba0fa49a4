/* Coupling over a plane grid: squared distances are sums of one term an axis, so kernels are
 * products, and both the sums of the iterations and the minima of the c-transforms are taken an
 * axis at a time over the bounding boxes of the items. */
#include <math.h>

#include "base/simd.h"
#include "bound/refine.h"
#include "sinkhorn/grid_items.h"

enum {
    MAX_SIDE = 64,
    TABLE_BASE = MAX_SIDE + 2 * REFINE_LANES, /* place of distance 0 in a table of distances */
    TABLE_SIZE = 2 * TABLE_BASE,
    BOX_SIZE = (MAX_SIDE + 2) * MAX_SIDE
};

typedef struct refine_item {
    int32_t first[2], size[2]; /* bounding box: rows, columns */
    int32_t ld;
    double mean[2]; /* in steps */
    double cov[3];  /* xx, xy, yy */
} refine_item;

typedef struct grid_set {
    double step[2]; /* in units, the larger of the two */
    double slack;   /* for points that are off the grid by rounding */
    refine_item *item;
    uint16_t *cell_of; /* v: row and column of a support point */
    uint16_t *cell;    /* nnz: the same of an entry */
    uint16_t *place;   /* nnz: place in the item's box */
} grid_set;

/* A function of the distance along each axis, and for the second axis its mirror image. */
typedef struct axis_tables {
    float row[TABLE_SIZE], column[TABLE_SIZE], mirror[TABLE_SIZE];
} axis_tables;

typedef struct grid_end {
    const refine_item *item;
    const uint16_t *cell, *place;
    float *mass; /* the box: weight times scaling, 0 where the item has no point */
    float *wall; /* the box: potentials with the sign changed, infinite there */
} grid_end;

typedef struct grid_room {
    grid_end end[2];
    axis_tables kernel, cost;
    float *half, *result; /* the box after one axis, after both */
} grid_room;

bool refine_grid_applies(const measures *m)
{
    return m->grid.found && m->d == 2 && m->grid.shape[0] <= MAX_SIDE &&
           m->grid.shape[1] <= MAX_SIDE;
}

/* ---- tables ---- */

/* Costs (t - shift)^2 and kernels exp(-cost / epsilon) for the distances t between two boxes, in
 * steps, and some lanes more. Tiny kernels are left out: they would only make denormal products. */
static void axis_fill(double step, double shift, double epsilon, int low, int high, float *cost,
                      float *kernel)
{
    for (int t = low; t <= high; t++) {
        double distance = step * ((double)t - shift);
        cost[TABLE_BASE + t] = (float)(distance * distance);
    }
    kernel_exp(kernel + TABLE_BASE + low, cost + TABLE_BASE + low, (float)(-1 / epsilon),
               high - low + 1);
}

static void mirror(axis_tables *t, int low, int high)
{
    for (int k = low; k <= high; k++)
        t->mirror[TABLE_BASE - k] = t->column[TABLE_BASE + k];
}

static void fill_box(const refine_item *item, float *box, float value)
{
    for (int64_t k = 0; k < (int64_t)item->size[0] * item->ld; k++)
        box[k] = value;
}

static void grid_couple(const refine_bound *b, refine_room *w, double epsilon)
{
    const grid_set *set = b->set;
    grid_room *g = w->own;
    for (int k = 0; k < 2; k++) {
        grid_end *end = &g->end[k];
        int64_t at = b->m->offset[w->side[k].item];
        end->item = &set->item[w->side[k].item];
        end->cell = set->cell + at;
        end->place = set->place + at;
        fill_box(end->item, end->mass, 0);
        fill_box(end->item, end->wall, INFINITY);
    }
    const refine_item *x = g->end[0].item, *y = g->end[1].item;
    for (int axis = 0; axis < 2; axis++) {
        int low = x->first[axis] - y->first[axis] - y->size[axis] - REFINE_LANES;
        int high = x->first[axis] + x->size[axis] - y->first[axis] + REFINE_LANES;
        axis_fill(set->step[axis], x->mean[axis] - y->mean[axis], epsilon, low, high,
                  axis == 0 ? g->cost.row : g->cost.column,
                  axis == 0 ? g->kernel.row : g->kernel.column);
        if (axis == 1) {
            mirror(&g->cost, low, high);
            mirror(&g->kernel, low, high);
        }
    }
}

static void grid_halve(refine_room *w)
{
    grid_room *g = w->own;
    kernel_square(g->kernel.row, TABLE_SIZE);
    kernel_square(g->kernel.column, TABLE_SIZE);
    kernel_square(g->kernel.mirror, TABLE_SIZE);
}

/* ---- from one side to the other ---- */

typedef void (*mix_fn)(const grid_mix *x);

/* result on the box of side `to` from values on the box of the other, by one table an axis. */
static void carry(grid_room *g, int to, const float *from, const axis_tables *t, mix_fn mix)
{
    const refine_item *x = g->end[1 - to].item, *y = g->end[to].item;
    int shift_row = x->first[0] - y->first[0], shift_column = y->first[1] - x->first[1];
    int sign = to == 1 ? 1 : -1; /* tables hold functions of (side 0) - (side 1) */
    grid_mix rows = {.out = g->half,
                     .ld = x->ld,
                     .rows = y->size[0],
                     .lanes = x->ld,
                     .coef = t->row + TABLE_BASE + sign * shift_row,
                     .row_step = -sign,
                     .step = sign,
                     .in = from,
                     .stride = x->ld,
                     .n = x->size[0]};
    grid_mix columns = {.out = g->result,
                        .ld = y->ld,
                        .rows = y->size[0],
                        .lanes = y->ld,
                        .coef = g->half,
                        .row_step = x->ld,
                        .step = 1,
                        .in = (to == 1 ? t->mirror : t->column) + TABLE_BASE + shift_column,
                        .stride = -1,
                        .n = x->size[1]};
    mix(&rows);
    mix(&columns);
}

static void gather(const grid_room *g, refine_room *w, int to)
{
    const uint16_t *place = g->end[to].place;
    for (int64_t k = 0; k < w->side[to].n; k++)
        w->packed[k] = g->result[place[k]];
}

static void grid_sums(refine_room *w, int to)
{
    grid_room *g = w->own;
    const refine_side *from = &w->side[1 - to];
    const grid_end *end = &g->end[1 - to];
    for (int64_t k = 0; k < from->n; k++)
        end->mass[end->place[k]] = (float)from->weight[k] * from->scaling[k];
    carry(g, to, end->mass, &g->kernel, grid_mix_sum);
    gather(g, w, to);
}

static void grid_transform(refine_room *w, int to)
{
    grid_room *g = w->own;
    const grid_end *end = &g->end[1 - to];
    for (int64_t k = 0; k < w->side[1 - to].n; k++)
        end->wall[end->place[k]] = -w->packed[k];
    carry(g, to, end->wall, &g->cost, grid_mix_min);
    gather(g, w, to);
}

/* Each of the two sums is off by 2^-24 of terms of magnitude c and `largest`, and so is a cost,
 * where c <= 4 largest; other pairs of points cannot be violated. */
static double grid_rounding(const refine_bound *b, const refine_room *w, double largest)
{
    const grid_set *set = b->set;
    (void)w;
    return largest * 0x1p-20 + set->slack;
}

/* ---- geometry ---- */

/* f(x) = x' (1 - M) x, x from the mean. */
static void grid_affine(const refine_bound *b, refine_room *w, int k)
{
    const grid_set *set = b->set;
    const grid_room *g = w->own;
    const refine_item *own = g->end[k].item;
    const uint16_t *cell = g->end[k].cell;
    double m[3];
    grid_affine_map(own->cov, g->end[1 - k].item->cov, m);
    double xx = (1 - m[0]) * set->step[0] * set->step[0], yy = 1 - m[2];
    double xy = -2 * m[1] * set->step[0] * set->step[1];
    yy *= set->step[1] * set->step[1];
    for (int64_t p = 0; p < w->side[k].n; p++) {
        double x = (double)(cell[p] / MAX_SIDE) - own->mean[0];
        double y = (double)(cell[p] % MAX_SIDE) - own->mean[1];
        w->wide[p] = xx * x * x + xy * x * y + yy * y * y;
    }
}

static void grid_point(const refine_bound *b, const refine_room *w, int64_t k, double *x)
{
    const grid_set *set = b->set;
    int cell = ((const grid_room *)w->own)->end[1].cell[k];
    x[0] = set->step[0] * (cell / MAX_SIDE);
    x[1] = set->step[1] * (cell % MAX_SIDE);
}

static void grid_shift(const refine_bound *b, const refine_room *w, double *d)
{
    const grid_set *set = b->set;
    const grid_room *g = w->own;
    for (int axis = 0; axis < 2; axis++)
        d[axis] = set->step[axis] * (g->end[0].item->mean[axis] - g->end[1].item->mean[axis]);
}

/* ---- preparation ---- */

static void item_box(const measures *m, grid_set *set, int64_t i)
{
    item_view view = measures_item(m, i);
    int last[2] = {-1, -1}, first[2] = {MAX_SIDE, MAX_SIDE};
    for (int64_t k = 0; k < view.n; k++) {
        int cell = set->cell_of[view.index[k]], at[2] = {cell / MAX_SIDE, cell % MAX_SIDE};
        for (int axis = 0; axis < 2; axis++) {
            first[axis] = BASE_MIN(first[axis], at[axis]);
            last[axis] = BASE_MAX(last[axis], at[axis]);
        }
    }
    refine_item *item = &set->item[i];
    for (int axis = 0; axis < 2; axis++) {
        item->first[axis] = first[axis];
        item->size[axis] = last[axis] - first[axis] + 1;
    }
    item->ld = (item->size[1] + REFINE_LANES - 1) / REFINE_LANES * REFINE_LANES;
    for (int64_t k = 0; k < view.n; k++) {
        int cell = set->cell_of[view.index[k]], at = (cell / MAX_SIDE - first[0]) * item->ld;
        set->cell[m->offset[i] + k] = (uint16_t)cell;
        set->place[m->offset[i] + k] = (uint16_t)(at + cell % MAX_SIDE - first[1]);
    }
}

/* Mean and covariance; that of a single cell is added, so that lines and points have a map too. */
static void item_moments(const measures *m, grid_set *set, int64_t i)
{
    item_view view = measures_item(m, i);
    const uint16_t *cell = set->cell + m->offset[i];
    refine_item *item = &set->item[i];
    item->mean[0] = item->mean[1] = 0;
    for (int64_t k = 0; k < view.n; k++) {
        item->mean[0] += view.weight[k] * (double)(cell[k] / MAX_SIDE);
        item->mean[1] += view.weight[k] * (double)(cell[k] % MAX_SIDE);
    }
    item->cov[0] = set->step[0] * set->step[0] / 12;
    item->cov[1] = 0;
    item->cov[2] = set->step[1] * set->step[1] / 12;
    for (int64_t k = 0; k < view.n; k++) {
        double x = set->step[0] * ((double)(cell[k] / MAX_SIDE) - item->mean[0]);
        double y = set->step[1] * ((double)(cell[k] % MAX_SIDE) - item->mean[1]);
        item->cov[0] += view.weight[k] * x * x;
        item->cov[1] += view.weight[k] * x * y;
        item->cov[2] += view.weight[k] * y * y;
    }
}

static void find_cells(const measures *m, grid_set *set)
{
    for (int64_t r = 0; r < m->v; r++) {
        const double *x = measures_point(m, (int32_t)r);
        int64_t at[2];
        for (int axis = 0; axis < 2; axis++)
            at[axis] = (int64_t)round((x[axis] - m->grid.origin[axis]) / m->grid.step[axis]);
        set->cell_of[r] = (uint16_t)(at[0] * MAX_SIDE + at[1]);
    }
}

/* Points may be off the grid by 1e-9 of their distance to its origin; see grid_find. */
static double set_steps(grid_set *set, const measures_grid *grid)
{
    double unit = 0;
    for (int axis = 0; axis < 2; axis++)
        if (grid->shape[axis] > 1)
            unit = fmax(unit, grid->step[axis]);
    for (int axis = 0; axis < 2; axis++) {
        set->step[axis] = grid->shape[axis] > 1 ? grid->step[axis] / unit : 1;
        double extent = set->step[axis] * (double)grid->shape[axis];
        set->slack += 1e-8 * extent * extent;
    }
    return unit;
}

static ddsc_status grid_open(refine_bound *b)
{
    const measures *m = b->m;
    grid_set *set = NULL;
    CHECK(MEM_ZERO(b->ctx, set, 1));
    b->set = set;
    CHECK(MEM_NEW(b->ctx, set->item, m->n));
    CHECK(MEM_NEW(b->ctx, set->cell_of, m->v));
    CHECK(MEM_NEW(b->ctx, set->cell, m->nnz));
    CHECK(MEM_NEW(b->ctx, set->place, m->nnz));
    b->unit = set_steps(set, &m->grid);
    find_cells(m, set);
    for (int64_t i = 0; i < m->n; i++) {
        item_box(m, set, i);
        item_moments(m, set, i);
        b->spread += (set->item[i].cov[0] + set->item[i].cov[2]) / (double)m->n;
    }
    /* Below a few cells there is nothing to tell apart. */
    b->spread = fmax(b->spread, 20 * set->step[0] * set->step[1]);
    return DDSC_OK;
}

static void grid_close(refine_bound *b)
{
    grid_set *set = b->set;
    if (!set)
        return;
    mem_free(b->ctx, set->item);
    mem_free(b->ctx, set->cell_of);
    mem_free(b->ctx, set->cell);
    mem_free(b->ctx, set->place);
    mem_free(b->ctx, set);
}

static ddsc_status grid_room_open(const refine_bound *b, refine_room *w)
{
    grid_room *g = NULL;
    CHECK(MEM_ZERO(b->ctx, g, 1));
    w->own = g;
    for (int k = 0; k < 2; k++) {
        CHECK(MEM_NEW(b->ctx, g->end[k].mass, BOX_SIZE));
        CHECK(MEM_NEW(b->ctx, g->end[k].wall, BOX_SIZE));
    }
    CHECK(MEM_NEW(b->ctx, g->half, BOX_SIZE));
    CHECK(MEM_NEW(b->ctx, g->result, BOX_SIZE));
    return DDSC_OK;
}

static void grid_room_close(const refine_bound *b, refine_room *w)
{
    grid_room *g = w->own;
    if (!g)
        return;
    for (int k = 0; k < 2; k++) {
        mem_free(b->ctx, g->end[k].mass);
        mem_free(b->ctx, g->end[k].wall);
    }
    mem_free(b->ctx, g->half);
    mem_free(b->ctx, g->result);
    mem_free(b->ctx, g);
}

const refine_coupling refine_grid = {
    .open = grid_open,
    .close = grid_close,
    .room_open = grid_room_open,
    .room_close = grid_room_close,
    .couple = grid_couple,
    .affine = grid_affine,
    .sums = grid_sums,
    .halve = grid_halve,
    .transform = grid_transform,
    .rounding = grid_rounding,
    .shift = grid_shift,
    .point = grid_point,
};
