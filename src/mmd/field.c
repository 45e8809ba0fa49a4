/* The field of items on a shared table, g_j(v) = sum_q b_q k(x_v, y_q). The Gram of the table is
 * never held: a worker makes a stripe of it (all rows x MMD_LANES columns), uses it for every item,
 * and moves on. Filling the field and using it are the same sparse product. */
#include <string.h>

#include "base/simd.h"
#include "mmd/inside.h"

#pragma GCC diagnostic ignored "-Wpsabi"

SIMD_CLONES void mmd_gather(item_view item, const double *panel, double out[MMD_LANES])
{
    simd_f64 s0 = simd_all(0), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t p = 0; p < item.n; p++) {
        const double *row = panel + (int64_t)item.index[p] * MMD_LANES;
        double w = item.weight[p];
        s0 += w * simd_load(row);
        s1 += w * simd_load(row + 8);
        s2 += w * simd_load(row + 16);
        s3 += w * simd_load(row + 24);
    }
    simd_store(out, s0);
    simd_store(out + 8, s1);
    simd_store(out + 16, s2);
    simd_store(out + 24, s3);
}

/* stripe[v][lane] = k(x_v, x_{first + lane}); lanes beyond the table are 0. */
static void make_stripe(const mmd *s, int64_t first, mmd_worker *w)
{
    int64_t v = s->m->v, lanes = BASE_MIN(MMD_LANES, v - first);
    points_panel_load(&w->columns, &s->table, lanes, NULL, first);
    if (lanes < MMD_LANES)
        memset(w->stripe, 0, (size_t)(v * MMD_LANES) * sizeof *w->stripe);
    for (int64_t r = 0; r < v; r += MMD_ROWS) {
        double *block = w->stripe + r * MMD_LANES;
        int64_t rows = BASE_MIN(MMD_ROWS, v - r);
        points_panel_load(&w->rows, &s->table, rows, NULL, r);
        points_distance2(&s->table, &w->rows, &w->columns, block, MMD_LANES);
        for (int64_t p = 0; p < rows; p++)
            mmd_kernel_apply(&s->set.kernel, lanes, block + p * MMD_LANES);
    }
}

/* Rows [row, row + MMD_LANES) of the field of one block of items. */
static void fill_block(const mmd *s, int64_t item, int64_t end, int64_t row, const double *stripe)
{
    double part[MMD_LANES][MMD_LANES];
    int64_t n = BASE_MIN(MMD_LANES, end - item), rows = BASE_MIN(MMD_LANES, s->m->v - row);
    double *to = mmd_field_block(s, item) + row * MMD_LANES;
    memset(part, 0, sizeof part);
    for (int64_t k = 0; k < n; k++)
        mmd_gather(measures_item(s->m, item + k), stripe, part[k]);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < MMD_LANES; k++)
            to[r * MMD_LANES + k] = part[k][r];
}

typedef struct fill {
    mmd *s;
    int64_t j0, j1;
} fill;

static ddsc_status fill_stripes(void *arg, int64_t begin, int64_t end, int worker)
{
    const fill *f = arg;
    mmd_worker *w = &f->s->worker[worker];
    for (int64_t k = begin; k < end; k++) {
        make_stripe(f->s, k * MMD_LANES, w);
        for (int64_t j = f->j0; j < f->j1; j += MMD_LANES)
            fill_block(f->s, j, f->j1, k * MMD_LANES, w->stripe);
    }
    return DDSC_OK;
}

ddsc_status field_fill(mmd *s, int64_t j0, int64_t j1)
{
    fill f = {s, j0, j1};
    int64_t n_stripes = (s->m->v + MMD_LANES - 1) / MMD_LANES;
    return parallel_for(s->ctx, n_stripes, 1, fill_stripes, &f);
}
