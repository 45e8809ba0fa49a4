/* Computes MMD between items with separate supports. The kernel between two items is computed in
 * blocks of points, which are summed and discarded. A block of columns contains several small items
 * or a part of a large item. The parts of an item start at multiples of MMD_COLUMNS from its first
 * point, and the item that comes first in rank provides the rows, so the sums for a pair do not
 * depend on other items. */
#include <string.h>

#include "base/simd.h"
#include "base/team.h"
#include "distance/mmd/internal.h"
#include "numeric/linalg/linalg.h"

SIMD_CLONES static void add_weighted(int64_t n, double weight, const double *row, double *sums)
{
    for (int64_t q = 0; q < n; q++)
        sums[q] += weight * row[q];
}

/* Computes sums[q] = sum over the points p of item i of a_p k(x_p, column q). */
static void kernel_sums(const mmd *s, int64_t i, mmd_worker *w)
{
    item_view item = measures_item(s->m, i);
    int64_t n = w->columns.n;
    memset(w->sums, 0, (size_t)n * sizeof *w->sums);
    for (int64_t p0 = 0; p0 < item.n; p0 += MMD_ROWS) {
        int64_t rows = BASE_MIN(MMD_ROWS, item.n - p0);
        points_panel_load(&w->rows, &s->table, rows, item.index + p0, 0);
        points_distance2(&s->table, &w->rows, &w->columns, w->block, MMD_COLUMNS);
        for (int64_t p = 0; p < rows; p++) {
            mmd_kernel_apply(&s->set.kernel, n, w->block + p * MMD_COLUMNS);
            add_weighted(n, item.weight[p0 + p], w->block + p * MMD_COLUMNS, w->sums);
        }
    }
}

static ddsc_status cloud_self_terms(void *arg, int64_t begin, int64_t end, int worker)
{
    mmd *s = arg;
    mmd_worker own = mmd_worker_of(s, worker), *w = &own;
    for (int64_t i = begin; i < end; i++) {
        item_view item = measures_item(s->m, i);
        for (int64_t q = 0; q < item.n; q += MMD_COLUMNS) {
            int64_t n = BASE_MIN(MMD_COLUMNS, item.n - q);
            points_panel_load(&w->columns, &s->table, n, item.index + q, 0);
            kernel_sums(s, i, w);
            memcpy(w->g + q, w->sums, (size_t)n * sizeof *w->g);
        }
        s->self[i] = mmd_self_term(s, i, w->g);
    }
    return DDSC_OK;
}

ddsc_status mmd_clouds_open(mmd *s)
{
    return team_fill(s->ctx, s->self, s->m->n, 1, sizeof *s->self, cloud_self_terms, s);
}

/* The items on one side of a tile, ordered by rank, and the loaded columns: whole items [first,
 * last], or points [begin, begin + n) of one item. */
typedef struct cloud_columns {
    const mmd *s;
    int64_t n_items, first, last, begin, n;
    int64_t item[CLOUDS_SIDE];
    int32_t index[MMD_COLUMNS];
} cloud_columns;

/* The output of a tile: its range, the requested pairs and the array of distances. */
typedef struct cloud_tile {
    const int64_t *range;
    const uint8_t *wanted;
    double *d2;
    int64_t ld;
} cloud_tile;

/* Returns the entry of a pair, or NULL if the pair was not requested or if the row item follows the
 * column item in rank. Such a pair is computed with rows and columns exchanged. */
static double *pair_entry(const mmd *s, const cloud_tile *t, int64_t row, int64_t column)
{
    int64_t i = BASE_MIN(row, column), j = BASE_MAX(row, column);
    int64_t di = i - t->range[0], dj = j - t->range[2];
    if (s->rank[row] >= s->rank[column] || i >= t->range[1] || dj < 0 ||
        (t->wanted && !t->wanted[di * (t->range[3] - t->range[2]) + dj]))
        return NULL;
    return t->d2 + di * t->ld + dj;
}

static void rank_columns(const mmd *s, cloud_columns *c, int64_t begin, int64_t end)
{
    c->n_items = end - begin;
    for (int64_t k = 0; k < c->n_items; k++) {
        int64_t at = k;
        for (; at > 0 && s->rank[c->item[at - 1]] > s->rank[begin + k]; at--)
            c->item[at] = c->item[at - 1];
        c->item[at] = begin + k;
    }
    c->first = c->last = c->begin = c->n = 0;
}

/* Lists the next columns: as many whole items as fit, or the next part of a large item. Returns
 * false if there are no more columns. */
static bool next_columns(cloud_columns *c)
{
    const measures *m = c->s->m;
    bool more =
        c->n > 0 && c->first == c->last && c->begin + c->n < measures_item(m, c->item[c->first]).n;
    c->begin = more ? c->begin + c->n : 0;
    c->first = more || c->n == 0 ? c->first : c->last + 1;
    c->n = 0;
    if (c->first >= c->n_items)
        return false;
    for (c->last = c->first; c->last < c->n_items; c->last++) {
        item_view item = measures_item(m, c->item[c->last]);
        int64_t n = BASE_MIN(MMD_COLUMNS, item.n - c->begin);
        if (c->n + n > MMD_COLUMNS || (c->n > 0 && n < item.n))
            break;
        memcpy(c->index + c->n, item.index + c->begin, (size_t)n * sizeof *c->index);
        c->n += n;
        if (n < item.n)
            return true;
    }
    c->last--;
    return true;
}

/* Adds the kernel sums of `row` with the loaded columns to the entries of the requested pairs. */
static void add_row_sums(const mmd *s, const cloud_tile *t, const cloud_columns *c, int64_t row,
                         mmd_worker *w)
{
    bool any = false;
    for (int64_t k = c->first; k <= c->last; k++)
        any |= pair_entry(s, t, row, c->item[k]) != NULL;
    if (!any)
        return;
    kernel_sums(s, row, w);
    const double *sums = w->sums;
    for (int64_t k = c->first; k <= c->last; k++) {
        item_view item = measures_item(s->m, c->item[k]);
        int64_t n = BASE_MIN(MMD_COLUMNS, item.n - c->begin);
        double *to = pair_entry(s, t, row, c->item[k]);
        if (to)
            *to += la_dot(n, item.weight + c->begin, sums);
        sums += n;
    }
}

/* Adds the sums of rows [i0, i1) with those columns of [j0, j1) that follow them in rank. */
static void add_side(const mmd *s, const cloud_tile *t, const int64_t side[4], mmd_worker *w)
{
    cloud_columns c = {.s = s};
    for (int64_t j = side[2]; j < side[3]; j += CLOUDS_SIDE) {
        rank_columns(s, &c, j, BASE_MIN(side[3], j + CLOUDS_SIDE));
        while (next_columns(&c)) {
            points_panel_load(&w->columns, &s->table, c.n, c.index, 0);
            for (int64_t i = side[0]; i < side[1]; i++)
                add_row_sums(s, t, &c, i, w);
        }
    }
}

void mmd_clouds_tile(mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2, int64_t ld,
                     mmd_worker *w)
{
    const measures *m = s->m;
    int64_t i0 = range[0], i1 = range[1], j0 = range[2], j1 = range[3];
    cloud_tile t = {range, wanted, d2, ld};
    const int64_t turned[4] = {j0, j1, i0, i1};
    for (int64_t i = i0; i < i1; i++)
        memset(d2 + (i - i0) * ld, 0, (size_t)(j1 - j0) * sizeof *d2);
    add_side(s, &t, range, w);
    if (i0 != j0)
        add_side(s, &t, turned, w);
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = BASE_MAX(j0, i + 1); j < j1; j++) {
            double *value = d2 + (i - i0) * ld + (j - j0);
            *value = (s->self[i] + s->self[j]) - 2.0 * *value;
            /* The self terms are summed in a different order, so the distance between equal items
             * is set to 0. */
            if (s->set.biased && measures_equal_items(m, i, j))
                *value = 0;
        }
}
