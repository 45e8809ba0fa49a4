/* Preparation of the refined bound: boxes, moments and self scalings of every item. */
#include "ot/refine.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

static const double EPSILON_SHARE = 0.2;

static void item_box(refine_bound *b, int64_t i)
{
    item_view view = measures_item(b->m, i);
    int last[2] = {-1, -1}, first[2] = {MAX_SIDE, MAX_SIDE};
    for (int64_t k = 0; k < view.n; k++) {
        int at[2] = {b->cell_of[view.index[k]] / MAX_SIDE, b->cell_of[view.index[k]] % MAX_SIDE};
        for (int axis = 0; axis < 2; axis++) {
            first[axis] = BASE_MIN(first[axis], at[axis]);
            last[axis] = BASE_MAX(last[axis], at[axis]);
        }
    }
    refine_item *item = &b->item[i];
    for (int axis = 0; axis < 2; axis++) {
        item->first[axis] = first[axis];
        item->size[axis] = last[axis] - first[axis] + 1;
    }
    item->ld = (item->size[1] + GRID_LANES - 1) / GRID_LANES * GRID_LANES;
    for (int64_t k = 0; k < view.n; k++) {
        int cell = b->cell_of[view.index[k]], at = (cell / MAX_SIDE - first[0]) * item->ld;
        b->cell[b->m->offset[i] + k] = (uint16_t)cell;
        b->place[b->m->offset[i] + k] = (uint16_t)(at + cell % MAX_SIDE - first[1]);
    }
}

/* Mean and covariance; that of a single cell is added, so that lines and points have a map too. */
static void item_moments(refine_bound *b, int64_t i)
{
    item_view view = measures_item(b->m, i);
    refine_item *item = &b->item[i];
    item->mean[0] = item->mean[1] = 0;
    for (int64_t k = 0; k < view.n; k++) {
        item->mean[0] += view.weight[k] * (double)(b->cell_of[view.index[k]] / MAX_SIDE);
        item->mean[1] += view.weight[k] * (double)(b->cell_of[view.index[k]] % MAX_SIDE);
    }
    item->cov[0] = b->step[0] * b->step[0] / 12;
    item->cov[1] = 0;
    item->cov[2] = b->step[1] * b->step[1] / 12;
    for (int64_t k = 0; k < view.n; k++) {
        double x = b->step[0] * (b->cell_of[view.index[k]] / MAX_SIDE - item->mean[0]);
        double y = b->step[1] * (b->cell_of[view.index[k]] % MAX_SIDE - item->mean[1]);
        item->cov[0] += view.weight[k] * x * x;
        item->cov[1] += view.weight[k] * x * y;
        item->cov[2] += view.weight[k] * y * y;
    }
}

/* Scalings of the item with itself; values of any size do, they are only kept ordinary. */
static void item_self(refine_bound *b, refine_room *w, int64_t i)
{
    refine_side *s = &w->side[0];
    side_set(b, s, i);
    side_set(b, &w->side[1], i);
    tables_fill(b, w, b->epsilon[0]);
    fill_box(s->item, s->mass, 0);
    for (int64_t k = 0; k < s->n; k++)
        s->scaling[k] = 1;
    for (int level = 0; level < N_LEVELS; level++) {
        for (int t = 0; t < SELF_ITERATIONS; t++) {
            kernel_sums(w, 1);
            scaling_average(s->scaling, w->packed, s->n);
        }
        float *self = b->self + level * b->m->nnz + b->m->offset[i];
        for (int64_t k = 0; k < s->n; k++)
            self[k] = fminf(fmaxf(s->scaling[k], 1e-12f), 1e12f);
        tables_square(&w->kernel);
    }
}

static ddsc_status shape_range(void *arg, int64_t begin, int64_t end, int worker)
{
    refine_bound *b = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        item_box(b, i);
        item_moments(b, i);
    }
    return DDSC_OK;
}

static ddsc_status self_range(void *arg, int64_t begin, int64_t end, int worker)
{
    refine_bound *b = arg;
    for (int64_t i = begin; i < end; i++)
        item_self(b, &b->room[worker], i);
    return DDSC_OK;
}

static ddsc_status room_make(ddsc_context *ctx, refine_room *w, int64_t largest)
{
    ddsc_status status = DDSC_OK;
    int64_t padded = (largest + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    for (int k = 0; k < 2; k++) {
        TRY(MEM_ZERO(ctx, w->side[k].scaling, padded));
        TRY(MEM_NEW(ctx, w->side[k].mass, BOX_SIZE));
        TRY(MEM_NEW(ctx, w->side[k].wall, BOX_SIZE));
    }
    TRY(MEM_ZERO(ctx, w->packed, padded));
    TRY(MEM_ZERO(ctx, w->wide, padded));
    TRY(MEM_NEW(ctx, w->half, BOX_SIZE));
    TRY(MEM_NEW(ctx, w->result, BOX_SIZE));
done:
    return status;
}

static void room_free(ddsc_context *ctx, refine_room *w)
{
    for (int k = 0; k < 2; k++) {
        mem_free(ctx, w->side[k].scaling);
        mem_free(ctx, w->side[k].mass);
        mem_free(ctx, w->side[k].wall);
    }
    mem_free(ctx, w->packed);
    mem_free(ctx, w->wide);
    mem_free(ctx, w->half);
    mem_free(ctx, w->result);
}

void refine_free(refine_bound *b)
{
    if (!b)
        return;
    for (int k = 0; b->room && k < b->n_workers; k++)
        room_free(b->ctx, &b->room[k]);
    mem_free(b->ctx, b->room);
    mem_free(b->ctx, b->item);
    mem_free(b->ctx, b->cell_of);
    mem_free(b->ctx, b->cell);
    mem_free(b->ctx, b->place);
    mem_free(b->ctx, b->self);
    mem_free(b->ctx, b);
}

bool refine_applies(const measures *m)
{
    return m->grid.found && m->d == 2 && m->grid.shape[0] <= MAX_SIDE &&
           m->grid.shape[1] <= MAX_SIDE;
}

static void fill_cells(refine_bound *b)
{
    const measures_grid *grid = &b->m->grid;
    for (int64_t r = 0; r < b->m->v; r++) {
        const double *x = measures_point(b->m, (int32_t)r);
        int64_t row = (int64_t)round((x[0] - grid->origin[0]) / grid->step[0]);
        int64_t column = (int64_t)round((x[1] - grid->origin[1]) / grid->step[1]);
        b->cell_of[r] = (uint16_t)(row * MAX_SIDE + column);
    }
}

/* Points may be off the grid by 1e-9 of their distance to its origin; see grid_find. */
static void set_steps(refine_bound *b, const measures_grid *grid)
{
    b->unit = 0;
    for (int axis = 0; axis < 2; axis++)
        if (grid->shape[axis] > 1)
            b->unit = fmax(b->unit, grid->step[axis]);
    for (int axis = 0; axis < 2; axis++) {
        b->step[axis] = grid->shape[axis] > 1 ? grid->step[axis] / b->unit : 1;
        double extent = b->step[axis] * (double)grid->shape[axis];
        b->slack += 1e-8 * extent * extent;
    }
}

/* The first epsilon follows the mean spread of an item; the last is not far below a cell. */
static void set_levels(refine_bound *b)
{
    double spread = 0;
    for (int64_t i = 0; i < b->m->n; i++)
        spread += (b->item[i].cov[0] + b->item[i].cov[2]) / (double)b->m->n;
    double first = fmax(EPSILON_SHARE * spread, 4 * b->step[0] * b->step[1]);
    for (int k = 0; k < N_LEVELS; k++)
        b->epsilon[k] = ldexp(first, -k);
}

ddsc_status refine_make(ddsc_context *ctx, refine_bound **out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    refine_bound *b = NULL;
    TRY(MEM_ZERO(ctx, b, 1));
    *b = (refine_bound){.ctx = ctx, .m = m, .n_workers = parallel_width(ctx)};
    set_steps(b, &m->grid);
    TRY(MEM_NEW(ctx, b->item, m->n));
    TRY(MEM_NEW(ctx, b->cell_of, m->v));
    TRY(MEM_NEW(ctx, b->cell, m->nnz));
    TRY(MEM_NEW(ctx, b->place, m->nnz));
    TRY(MEM_ZERO(ctx, b->self, N_LEVELS * m->nnz + GRID_LANES));
    TRY(MEM_ZERO(ctx, b->room, b->n_workers));
    for (int k = 0; k < b->n_workers; k++)
        TRY(room_make(ctx, &b->room[k], measures_largest_item(m)));
    fill_cells(b);
    TRY(parallel_for(ctx, m->n, 64, shape_range, b));
    set_levels(b);
    TRY(parallel_for(ctx, m->n, 8, self_range, b));
    *out = b;
    b = NULL;
done:
    refine_free(b);
    return status;
}
