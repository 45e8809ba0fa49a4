/* A set with spare capacity for more items. Backends size their arrays by this capacity, so
 * appending an item only takes the preparation of that item.
 *
 * The set starts as a copy of an ordered set. If all points of an appended item have rows in the
 * support table, the item uses these rows, which must ascend. If none of its points has a row, the
 * points become new rows. A set on a small grid has rows for all its cells. An item does not fit if
 * only some of its points have rows, if points are off the grid of the set, if it has far more
 * points than any earlier item, or if the capacity is exhausted. The caller must then create a new
 * set. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/growing.h"

/* An appended item may be larger than the largest item of the original set, by up to 1 /
 * LARGER_SHARE of its size. */
enum { LARGER_SHARE = 4 };

/* ---- hash table of rows by their points: open addressing; slots contain row + 1 ---- */

static uint64_t slot_of(const measures_growing *g, const double *x)
{
    const measures *m = g->set;
    size_t size = (size_t)m->d * sizeof *x;
    uint64_t at = hash_bytes(x, size, 0) & g->mask;
    while (g->slot[at] != 0 && memcmp(measures_point(m, g->slot[at] - 1), x, size) != 0)
        at = (at + 1) & g->mask;
    return at;
}

static void insert_row(measures_growing *g, int32_t row)
{
    g->slot[slot_of(g, measures_point(g->set, row))] = row + 1;
}

/* ---- all cells of a grid ---- */

enum { CELLS_MOST = 1 << 14, UNUSED = -1 };

/* Returns the number of cells of the grid, or 0 if there is no grid or it has more than CELLS_MOST
 * cells. */
static int64_t number_of_cells(const measures *m)
{
    int64_t n = m->grid.found ? 1 : 0;
    for (int64_t k = 0; k < m->d && n <= CELLS_MOST; k++)
        n *= m->grid.shape[k];
    return n <= CELLS_MOST ? n : 0;
}

static int64_t cell_of_point(const measures *m, int64_t row)
{
    int64_t cell = 0;
    for (int64_t k = 0; k < m->d; k++)
        cell = cell * m->grid.shape[k] +
               llround((m->support[row * m->d + k] - m->grid.origin[k]) / m->grid.step[k]);
    return cell;
}

static void fill_cell(const measures *m, int64_t cell, double *x)
{
    for (int64_t k = m->d - 1; k >= 0; k--) {
        x[k] = m->grid.origin[k] + (double)(cell % m->grid.shape[k]) * m->grid.step[k];
        cell /= m->grid.shape[k];
    }
}

/* Creates a row for every cell of the grid, so that appended items may use cells that no item uses
 * yet. The rows still ascend. Does nothing if two rows are in the same cell, which is possible
 * because points may deviate slightly from a grid. */
static ddsc_status complete_grid(ddsc_context *ctx, measures *to)
{
    ddsc_status status = DDSC_OK;
    int64_t n = number_of_cells(to), last = UNUSED;
    double *support = NULL;
    int32_t *row = NULL;
    if (n <= to->v)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, support, n * to->d));
    TRY(MEM_NEW(ctx, row, to->v));
    for (int64_t cell = 0; cell < n; cell++)
        fill_cell(to, cell, support + cell * to->d);
    for (int64_t r = 0; r < to->v; r++) {
        int64_t cell = cell_of_point(to, r);
        if (cell <= last || cell >= n)
            goto done;
        memcpy(support + cell * to->d, to->support + r * to->d, (size_t)to->d * sizeof *support);
        row[r] = (int32_t)cell;
        last = cell;
    }
    for (int64_t e = 0; e < to->nnz; e++)
        to->index[e] = row[to->index[e]];
    mem_free(ctx, to->support);
    to->support = support;
    to->v = to->v_capacity = n;
    support = NULL;
done:
    MEM_FREE(ctx, row, support);
    return status;
}

/* ---- capacity ---- */

static ddsc_status copy_with_capacity(ddsc_context *ctx, measures *to, const measures *m)
{
    CHECK(MEM_NEW(ctx, to->support, to->v_capacity * m->d));
    CHECK(MEM_NEW(ctx, to->offset, to->n_capacity + 1));
    CHECK(MEM_NEW(ctx, to->index, to->nnz_capacity));
    CHECK(MEM_NEW(ctx, to->weight, to->nnz_capacity));
    CHECK(MEM_NEW(ctx, to->row, to->n_capacity));
    CHECK(mem_get(ctx, &to->number_ids, to->n_capacity, NUMBER_ID_SIZE));
    memcpy(to->support, m->support, (size_t)(m->v * m->d) * sizeof *to->support);
    memcpy(to->offset, m->offset, (size_t)(m->n + 1) * sizeof *to->offset);
    memcpy(to->index, m->index, (size_t)m->nnz * sizeof *to->index);
    memcpy(to->weight, m->weight, (size_t)m->nnz * sizeof *to->weight);
    for (int64_t i = 0; i < to->n_capacity; i++) {
        to->row[i] = i;
        snprintf(to->number_ids + i * NUMBER_ID_SIZE, NUMBER_ID_SIZE, "%" PRId64, i);
    }
    return DDSC_OK;
}

ddsc_status measures_growing_make(ddsc_context *ctx, measures_growing *g, const measures *m,
                                  int64_t more)
{
    measures *to = NULL;
    uint64_t size = 16;
    int64_t largest = measures_largest_item(m);
    largest += largest / LARGER_SHARE;
    *g = (measures_growing){0};
    CHECK(MEM_ZERO(ctx, to, 1));
    g->set = to;
    *to = (measures){.ctx = ctx,
                     .n = m->n,
                     .n_rows = m->n,
                     .v = m->v,
                     .nnz = m->nnz,
                     .d = m->d,
                     .grid = m->grid,
                     .largest_capacity = largest,
                     .n_capacity = m->n + more,
                     .nnz_capacity = m->nnz + more * (m->nnz / BASE_MAX(1, m->n) + 1) + largest,
                     .v_capacity = m->v};
    if (!measures_is_shared(m))
        to->v_capacity += more * (m->v / BASE_MAX(1, m->n) + 1) + largest;
    if (to->n_capacity > INT32_MAX || to->v_capacity > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%lld items with %lld points are too many",
                        (long long)to->n_capacity, (long long)to->v_capacity);
    CHECK(copy_with_capacity(ctx, to, m));
    CHECK(complete_grid(ctx, to));
    while (size < 2 * (uint64_t)to->v_capacity)
        size *= 2;
    g->mask = size - 1;
    CHECK(MEM_ZERO(ctx, g->slot, size));
    for (int64_t r = 0; r < to->v; r++)
        insert_row(g, (int32_t)r);
    return DDSC_OK;
}

void measures_growing_free(ddsc_context *ctx, measures_growing *g)
{
    ddsc_measures_destroy(g->set);
    mem_free(ctx, g->slot);
    *g = (measures_growing){0};
}

/* ---- appending ---- */

/* Finds the rows of an item's points. Returns the number of points with a row, or -1 if the rows do
 * not ascend. */
static int64_t rows_of_points(const measures_growing *g, const measures *from, item_view item,
                              int32_t *row)
{
    int64_t n = 0;
    for (int64_t p = 0; p < item.n; p++) {
        int32_t found = g->slot[slot_of(g, measures_point(from, item.index[p]))] - 1;
        if (found < 0)
            continue;
        if (n > 0 && row[n - 1] >= found)
            return -1;
        row[n++] = found;
    }
    return n;
}

static void append_rows(measures_growing *g, const measures *from, item_view item, int32_t *row)
{
    measures *to = g->set;
    for (int64_t p = 0; p < item.n; p++) {
        row[p] = (int32_t)to->v;
        memcpy(to->support + to->v * to->d, measures_point(from, item.index[p]),
               (size_t)to->d * sizeof *to->support);
        insert_row(g, (int32_t)to->v++);
    }
}

static bool append_item(measures_growing *g, const measures *from, item_view item)
{
    measures *to = g->set;
    int32_t *row = to->index + to->nnz;
    if (item.n > to->largest_capacity || to->n == to->n_capacity ||
        to->nnz + item.n > to->nnz_capacity)
        return false;
    int64_t found = rows_of_points(g, from, item, row);
    if (found == 0 && !to->grid.found && to->v + item.n <= to->v_capacity)
        append_rows(g, from, item, row);
    else if (found != item.n)
        return false;
    memcpy(to->weight + to->nnz, item.weight, (size_t)item.n * sizeof *to->weight);
    to->nnz += item.n;
    to->offset[++to->n] = to->nnz;
    to->n_rows = to->n;
    return true;
}

bool measures_growing_append(measures_growing *g, const measures *from)
{
    measures *to = g->set;
    int64_t n = to->n, nnz = to->nnz, v = to->v;
    for (int64_t i = 0; i < from->n; i++)
        if (!append_item(g, from, measures_item(from, i))) {
            to->n = to->n_rows = n;
            to->nnz = nnz;
            to->v = v;
            return false;
        }
    return true;
}
