/* Computes the field of items on a shared table, g_j(v) = sum_q b_q k(x_v, y_q).
 *
 * The Gram matrix of the table is never stored. A worker computes one stripe of it (all rows x
 * MMD_LANES columns), uses it for every item, and continues with the next stripe. Computing the
 * field and using it are the same sparse product. If the field of all items fits in memory, half of
 * the symmetric Gram matrix K = L + L^T is sufficient. */
#include <string.h>

#include "base/simd.h"
#include "distance/mmd/internal.h"

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

/* In a diagonal block, keeps the entries whose row precedes their lane, halves the diagonal, and
 * sets all other entries to 0. */
static void cut_diagonal(int64_t n, double *block)
{
    for (int64_t r = 0; r < n; r++) {
        memset(block + r * MMD_LANES, 0, (size_t)r * sizeof *block);
        block[r * MMD_LANES + r] *= 0.5;
    }
}

void mmd_stripe(const mmd *s, int64_t first, int64_t rows, double *stripe)
{
    int64_t lanes = BASE_MIN(MMD_LANES, s->m->v - first);
    points_panel columns = points_panel_part(&s->whole, &s->table, first, lanes);
    if (lanes < MMD_LANES)
        memset(stripe, 0, (size_t)(rows * MMD_LANES) * sizeof *stripe);
    for (int64_t r = 0; r < rows; r += STRIPE_ROWS) {
        double *block = stripe + r * MMD_LANES;
        int64_t n = BASE_MIN(STRIPE_ROWS, rows - r);
        points_panel some = points_panel_part(&s->whole, &s->table, r, n);
        points_distance2(&s->table, &some, &columns, block, MMD_LANES);
        if (lanes == MMD_LANES)
            mmd_kernel_apply(&s->set.kernel, n * MMD_LANES, block);
        for (int64_t p = 0; lanes < MMD_LANES && p < n; p++)
            mmd_kernel_apply(&s->set.kernel, lanes, block + p * MMD_LANES);
    }
}

/* Returns the entries of an item whose table row is below `row`. */
static item_view entries_below(item_view item, int64_t row)
{
    int64_t low = 0, high = item.n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (item.index[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    item.n = low;
    return item;
}

/* Computes rows [row, row + MMD_LANES) of the field for one block of items, using the first `below`
 * rows of the table. */
static void fill_block(const mmd *s, int64_t item, int64_t end, int64_t row, int64_t below,
                       const double *stripe)
{
    double part[MMD_LANES][MMD_LANES];
    int64_t n = BASE_MIN(MMD_LANES, end - item), rows = BASE_MIN(MMD_LANES, s->m->v - row);
    double *to = mmd_field_block(s, item) + row * MMD_LANES;
    memset(part, 0, sizeof part);
    for (int64_t k = 0; k < n; k++)
        mmd_gather(entries_below(measures_item(s->m, item + k), below), stripe, part[k]);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < MMD_LANES; k++)
            to[r * MMD_LANES + k] = part[k][r];
}

/* Fills stripes [begin, end). Stripes are numbered from longest to shortest, so that the threads
 * finish at about the same time. */
static ddsc_status fill_stripes(void *arg, int64_t begin, int64_t end, int worker)
{
    const mmd_fill *f = arg;
    mmd *s = f->s;
    double *stripe = mmd_worker_of(s, worker).stripe;
    int64_t n_stripes = (s->m->v + MMD_LANES - 1) / MMD_LANES;
    for (int64_t k = begin; k < end; k++) {
        int64_t first = (n_stripes - 1 - k) * MMD_LANES;
        int64_t below = s->half ? BASE_MIN(s->m->v, first + MMD_LANES) : s->m->v;
        mmd_stripe(s, first, below, stripe);
        if (s->half)
            cut_diagonal(below - first, stripe + first * MMD_LANES);
        for (int64_t j = f->j0; j < f->j1; j += MMD_LANES)
            fill_block(s, j, f->j1, first, below, stripe);
    }
    return DDSC_OK;
}

ddsc_status mmd_field_fill(mmd *s, int64_t j0, int64_t j1)
{
    mmd_fill f = {s, j0, j1};
    int64_t n_stripes = (s->m->v + MMD_LANES - 1) / MMD_LANES;
    return parallel_for(s->ctx, n_stripes, 1, fill_stripes, &f);
}

/* ---- tiles ---- */

static bool lanes_wanted(const uint8_t *wanted, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (wanted[k])
            return true;
    return false;
}

static bool any_later(const mmd *s, int64_t i, int64_t j, int64_t end)
{
    for (; j < end; j++)
        if (s->rank[j] > s->rank[i])
            return true;
    return false;
}

/* Adds sum_p a_p g_j(p) to cross(i, j), which is at d2[i * rows + j * columns], for the items in
 * `range`. If `later` is true, adds only pairs in which j comes after i in rank. */
static void add_cross(const mmd *s, const int64_t range[4], bool later, double *d2, int64_t rows,
                      int64_t columns)
{
    double cross[MMD_LANES];
    for (int64_t j = range[2], end; j < range[3]; j = end) {
        int64_t lane = mmd_field_lane(s, j);
        end = BASE_MIN(range[3], j + MMD_LANES - lane);
        for (int64_t i = range[0]; i < range[1]; i++) {
            double *to = d2 + (i - range[0]) * rows + (j - range[2]) * columns;
            if (later && !any_later(s, i, j, end))
                continue;
            mmd_gather(measures_item(s->m, i), mmd_field_block(s, j), cross);
            for (int64_t k = 0; k < end - j; k++)
                if (!later || s->rank[j + k] > s->rank[i])
                    to[k * columns] += cross[lane + k];
        }
    }
}

/* Computes a tile. If the field uses only L, adds both halves: a^T K b = a^T L b + b^T L a. If the
 * fields of all items are stored, uses the field of the item that comes second in rank, so that the
 * sum for a pair does not depend on the indices of its items. */
void mmd_field_tile(const mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2,
                    int64_t ld)
{
    int64_t columns = range[3] - range[2];
    for (int64_t i = range[0]; i < range[1]; i++) {
        double *row = d2 + (i - range[0]) * ld;
        const int64_t one[4] = {i, i + 1, range[2], range[3]};
        memset(row, 0, (size_t)columns * sizeof *row);
        if (!wanted || lanes_wanted(wanted + (i - range[0]) * columns, columns))
            add_cross(s, one, s->whole_field && !s->half, row, 0, 1);
    }
    if (s->whole_field) {
        const int64_t other[4] = {range[2], range[3], range[0], range[1]};
        add_cross(s, other, !s->half, d2, 1, ld);
    }
    for (int64_t i = range[0]; i < range[1]; i++)
        for (int64_t k = 0; k < columns; k++) {
            double *value = d2 + (i - range[0]) * ld + k;
            *value = (s->self[i] + s->self[range[2] + k]) - 2.0 * *value;
        }
}
