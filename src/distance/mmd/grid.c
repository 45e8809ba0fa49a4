/* Computes the field on a regular grid. The Gaussian exp(-|x - y|^2 / 2h^2) is a product over the
 * axes, so blocks of MMD_LANES dense histograms are multiplied by one small matrix per axis. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "distance/mmd/internal.h"

#pragma GCC diagnostic ignored "-Wpsabi"

static int64_t axis_slot(const measures_grid *grid, int64_t k, double x)
{
    return (int64_t)round((x - grid->origin[k]) / grid->step[k]);
}

/* Sets the positions along axis k to the coordinates of the points. Positions without points are
 * computed from the step. */
static void axis_positions(const measures *m, int64_t k, double *x)
{
    for (int64_t p = 0; p < m->grid.shape[k]; p++)
        x[p] = m->grid.origin[k] + (double)p * m->grid.step[k];
    for (int64_t r = m->v - 1; r >= 0; r--)
        x[axis_slot(&m->grid, k, m->support[r * m->d + k])] = m->support[r * m->d + k];
}

static ddsc_status axis_kernel(mmd *s, int64_t k)
{
    ddsc_status status = DDSC_OK;
    int64_t n = s->grid.shape[k];
    double *x = NULL, *kernel;
    TRY(MEM_NEW(s->ctx, x, n));
    TRY(MEM_NEW(s->ctx, s->grid.axis[k], n * n));
    kernel = s->grid.axis[k];
    axis_positions(s->m, k, x);
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = 0; q < n; q++)
            kernel[p * n + q] = (x[p] - x[q]) * (x[p] - x[q]);
    mmd_kernel_apply(&s->set.kernel, n * n, kernel);
done:
    mem_free(s->ctx, x);
    return status;
}

ddsc_status mmd_grid_open(mmd *s)
{
    const measures *m = s->m;
    mmd_grid *g = &s->grid;
    g->d = m->d;
    g->n_cells = 1;
    for (int64_t k = 0; k < g->d; k++) {
        g->shape[k] = m->grid.shape[k];
        g->n_cells *= g->shape[k];
        CHECK(axis_kernel(s, k));
    }
    CHECK(MEM_NEW(s->ctx, g->cell, m->v));
    for (int64_t r = 0; r < m->v; r++) {
        int64_t cell = 0;
        for (int64_t k = 0; k < g->d; k++)
            cell = cell * g->shape[k] + axis_slot(&m->grid, k, m->support[r * m->d + k]);
        g->cell[r] = cell;
    }
    return DDSC_OK;
}

void mmd_grid_close(mmd *s)
{
    mem_free(s->ctx, s->grid.cell);
    for (int64_t k = 0; k < GRID_MAX_DIM; k++)
        mem_free(s->ctx, s->grid.axis[k]);
}

/* Computes out = sum_q kernel_q line[q] over a line of n cells, for all lanes. */
SIMD_INLINE void line_product(int64_t n, const double *kernel, const double *line, double *out)
{
    for (int64_t lane = 0; lane < MMD_LANES; lane += SIMD_LANES) {
        simd_f64 sum = simd_all(0);
        for (int64_t q = 0; q < n; q++)
            sum += kernel[q] * simd_load(line + q * MMD_LANES + lane);
        simd_store(out + lane, sum);
    }
}

/* Multiplies every line along an axis by the axis kernel. Adjacent cells of a line of n cells are
 * `stride` cells apart. */
SIMD_CLONES static void smooth_axis(int64_t n_cells, int64_t n, int64_t stride,
                                    const double *kernel, double *cells, double *line)
{
    for (int64_t base = 0; base < n_cells; base++) {
        if (base / stride % n != 0)
            continue;
        double *at = cells + base * MMD_LANES;
        for (int64_t p = 0; p < n; p++)
            memcpy(line + p * MMD_LANES, at + p * stride * MMD_LANES, MMD_LANES * sizeof *line);
        for (int64_t p = 0; p < n; p++)
            line_product(n, kernel + p * n, line, at + p * stride * MMD_LANES);
    }
}

void mmd_grid_apply(const mmd *s, double *const *axis, const int64_t *items, int64_t n,
                    mmd_worker *w)
{
    const mmd_grid *g = &s->grid;
    int64_t stride = 1;
    memset(w->stripe, 0, (size_t)(g->n_cells * MMD_LANES) * sizeof *w->stripe);
    for (int64_t lane = 0; lane < n; lane++) {
        item_view item = measures_item(s->m, items[lane]);
        for (int64_t p = 0; p < item.n; p++)
            w->stripe[g->cell[item.index[p]] * MMD_LANES + lane] = item.weight[p];
    }
    for (int64_t k = g->d - 1; k >= 0; k--) {
        smooth_axis(g->n_cells, g->shape[k], stride, axis[k], w->stripe, w->line);
        stride *= g->shape[k];
    }
}

static void fill_items(mmd *s, int64_t first, int64_t end, mmd_worker *w)
{
    double *to = mmd_field_block(s, first), *cells = w->stripe;
    int64_t items[MMD_LANES];
    for (int64_t i = first; i < end; i++)
        items[i - first] = i;
    mmd_grid_apply(s, s->grid.axis, items, end - first, w);
    for (int64_t r = 0; r < s->m->v; r++)
        memcpy(to + r * MMD_LANES, cells + s->grid.cell[r] * MMD_LANES, MMD_LANES * sizeof *to);
}

static ddsc_status fill_blocks(void *arg, int64_t begin, int64_t end, int worker)
{
    const mmd_fill *f = arg;
    mmd_worker w = mmd_worker_of(f->s, worker);
    for (int64_t k = begin; k < end; k++) {
        int64_t first = f->j0 + k * MMD_LANES;
        fill_items(f->s, first, BASE_MIN(f->j1, first + MMD_LANES), &w);
    }
    return DDSC_OK;
}

ddsc_status mmd_grid_fill(mmd *s, int64_t j0, int64_t j1)
{
    mmd_fill f = {s, j0, j1};
    return parallel_for(s->ctx, (j1 - j0 + MMD_LANES - 1) / MMD_LANES, 1, fill_blocks, &f);
}
