/* Computes MMD between items with separate supports. The kernel between two items is computed in
 * blocks of points, which are summed and discarded. Entries of neighboring items are contiguous, so
 * a block of columns may contain many small items or a part of a large one. */
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

/* The loaded columns: entries [e0, e1), which belong to items [first, last]. */
typedef struct strip_of_entries {
    int64_t e0, e1, first, last;
} strip_of_entries;

static bool any_wanted(const int64_t range[4], const uint8_t *wanted, int64_t i,
                       const strip_of_entries *c)
{
    for (int64_t j = BASE_MAX(c->first, i + 1); j <= c->last; j++)
        if (!wanted || wanted[(i - range[0]) * (range[3] - range[2]) + (j - range[2])])
            return true;
    return false;
}

/* Adds the sums of item i to the items that own the columns. */
static void share_sums(const measures *m, const strip_of_entries *c, const double *sums,
                       double *cross)
{
    for (int64_t j = c->first; j <= c->last; j++) {
        int64_t from = BASE_MAX(c->e0, m->offset[j]), to = BASE_MIN(c->e1, m->offset[j + 1]);
        cross[j - c->first] += la_dot(to - from, m->weight + from, sums + (from - c->e0));
    }
}

void mmd_clouds_tile(mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2, int64_t ld,
                     mmd_worker *w)
{
    const measures *m = s->m;
    int64_t i0 = range[0], i1 = range[1], j0 = range[2], j1 = range[3];
    for (int64_t i = i0; i < i1; i++)
        memset(d2 + (i - i0) * ld, 0, (size_t)(j1 - j0) * sizeof *d2);
    strip_of_entries c = {.first = j0};
    for (c.e0 = m->offset[j0]; c.e0 < m->offset[j1]; c.e0 = c.e1) {
        c.e1 = BASE_MIN(m->offset[j1], c.e0 + MMD_COLUMNS);
        while (m->offset[c.first + 1] <= c.e0)
            c.first++;
        for (c.last = c.first; m->offset[c.last + 1] < c.e1;)
            c.last++;
        points_panel_load(&w->columns, &s->table, c.e1 - c.e0, m->index + c.e0, 0);
        for (int64_t i = i0; i < i1; i++)
            if (any_wanted(range, wanted, i, &c)) {
                kernel_sums(s, i, w);
                share_sums(m, &c, w->sums, d2 + (i - i0) * ld + (c.first - j0));
            }
    }
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = BASE_MAX(j0, i + 1); j < j1; j++) {
            double *value = d2 + (i - i0) * ld + (j - j0);
            *value = (s->self[i] + s->self[j]) - 2.0 * *value;
            /* The blocks divide the sums of i and j at different points, so their rounding may
             * differ. Equal items have distance 0. */
            if (s->set.biased && measures_equal_items(m, i, j))
                *value = 0;
        }
}
