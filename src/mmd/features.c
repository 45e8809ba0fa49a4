/* Feature space of a Gaussian kernel on a grid. Each axis kernel is U L U^T, so F = L^1/2 U^T on
 * every axis takes a histogram to coordinates phi with biased MMD^2 = |phi_i - phi_j|^2. Smooth
 * kernels leave most coordinates next to constant: those go into the tail. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "mmd/inside.h"

enum { AXIS_LONGEST = 256, SAMPLE_ITEMS = 256 };
static const double tail_share = 3e-4; /* of the variance of a sample that the tail may hold */

typedef struct coordinate {
    int64_t cell;
    double mean, variance;
} coordinate;

typedef struct making {
    mmd *s;
    double *axis[GRID_MAX_DIM]; /* F of each axis */
    double unsure;              /* rounding of F, relative to |a|^2 */
    coordinate *order;          /* n_cells, largest variance first */
    mmd_features *out;
} making;

static ddsc_status axis_factor(making *k, int64_t axis)
{
    ddsc_status status = DDSC_OK;
    mmd *s = k->s;
    int64_t n = s->grid.shape[axis];
    double *matrix = NULL, *values = NULL, *vectors = NULL;
    TRY(MEM_NEW(s->ctx, matrix, n * n));
    TRY(MEM_NEW(s->ctx, values, n));
    TRY(MEM_NEW(s->ctx, vectors, n * n));
    memcpy(matrix, s->grid.axis[axis], (size_t)(n * n) * sizeof *matrix);
    TRY(la_eigen_symmetric(s->ctx, n, matrix, values, vectors));
    for (int64_t r = 0; r < n; r++)
        for (int64_t x = 0; x < n; x++)
            vectors[r * n + x] *= sqrt(BASE_MAX(values[r], 0.0));
    k->unsure *= values[n - 1];
    k->axis[axis] = vectors;
    vectors = NULL;
done:
    mem_free(s->ctx, vectors);
    mem_free(s->ctx, values);
    mem_free(s->ctx, matrix);
    return status;
}

static int by_variance(const void *a, const void *b)
{
    const coordinate *x = a, *y = b;
    if (x->variance != y->variance)
        return x->variance < y->variance ? 1 : -1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* Mean and variance of every coordinate over items spread evenly through the set. */
static void sample_coordinates(making *k)
{
    mmd *s = k->s;
    int64_t n = BASE_MIN(s->m->n, SAMPLE_ITEMS), cells = s->grid.n_cells;
    for (int64_t first = 0; first < n; first += MMD_LANES) {
        int64_t items[MMD_LANES], count = BASE_MIN(MMD_LANES, n - first);
        for (int64_t lane = 0; lane < count; lane++)
            items[lane] = (first + lane) * s->m->n / n;
        grid_apply(s, k->axis, items, count, &s->worker[0]);
        for (int64_t c = 0; c < cells; c++)
            for (int64_t lane = 0; lane < count; lane++) {
                double x = s->worker[0].stripe[c * MMD_LANES + lane];
                k->order[c].mean += x / (double)n;
                k->order[c].variance += x * x / (double)n;
            }
    }
    for (int64_t c = 0; c < cells; c++) {
        k->order[c].cell = c;
        k->order[c].variance -= k->order[c].mean * k->order[c].mean;
    }
    qsort(k->order, (size_t)cells, sizeof *k->order, by_variance);
}

/* As few coordinates as leave the tail its share. */
static int64_t count_columns(const making *k)
{
    double total = 0, left = 0;
    int64_t columns = k->s->grid.n_cells;
    for (int64_t c = 0; c < columns; c++)
        total += BASE_MAX(k->order[c].variance, 0.0);
    while (columns > 1) {
        left += BASE_MAX(k->order[columns - 1].variance, 0.0);
        if (left > tail_share * total)
            break;
        columns--;
    }
    return columns;
}

static void take_item(const making *k, int64_t i, int64_t lane, const double *cells)
{
    const mmd_features *f = k->out;
    const mmd *s = k->s;
    double all = 0, tail = 0, squares = 0;
    float *row = f->rows + i * f->columns;
    item_view item = measures_item(s->m, i);
    for (int64_t c = 0; c < s->grid.n_cells; c++) {
        double x = cells[k->order[c].cell * MMD_LANES + lane];
        double away = x - k->order[c].mean;
        all += x * x;
        if (c < f->columns)
            row[c] = (float)away;
        else
            tail += away * away;
    }
    for (int64_t p = 0; p < item.n; p++)
        squares += item.weight[p] * item.weight[p];
    f->offset[i] = s->self[i] - all - k->unsure * squares;
    f->tail[i] = 2.0 * (tail + k->unsure * squares);
}

static ddsc_status make_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const making *k = arg;
    int64_t items[MMD_LANES] = {0};
    mmd_worker *w = &k->s->worker[worker];
    for (int64_t i = begin; i < end; i++)
        items[i - begin] = i;
    grid_apply(k->s, k->axis, items, end - begin, w);
    for (int64_t i = begin; i < end; i++)
        take_item(k, i, i - begin, w->stripe);
    return DDSC_OK;
}

/* The terms within items, as the tiles use them. */
static ddsc_status self_terms(mmd *s)
{
    for (int64_t j = 0; j < s->m->n; j += s->strip)
        CHECK(mmd_prepare(s, j, BASE_MIN(s->m->n, j + s->strip)));
    return DDSC_OK;
}

static bool has_features(const mmd *s)
{
    if (s->way != MMD_GRID)
        return false;
    for (int64_t k = 0; k < s->grid.d; k++)
        if (s->grid.shape[k] > AXIS_LONGEST)
            return false;
    return true;
}

/* A column of floats costs about a third of an entry in double. */
static bool features_pay(const mmd *s, int64_t columns)
{
    int64_t size = columns * s->m->n;
    return size < 3 * s->m->nnz && size < ctx_memory_left(s->ctx) / 8;
}

static ddsc_status make_rows(making *k)
{
    mmd *s = k->s;
    mmd_features *f = k->out;
    CHECK(self_terms(s));
    CHECK(MEM_NEW(s->ctx, f->rows, s->m->n * f->columns));
    CHECK(MEM_NEW(s->ctx, f->offset, s->m->n));
    CHECK(MEM_NEW(s->ctx, f->tail, s->m->n));
    CHECK(parallel_for(s->ctx, s->m->n, MMD_LANES, make_range, k));
    return DDSC_OK;
}

ddsc_status mmd_features_make(mmd *s, mmd_features *out)
{
    ddsc_status status = DDSC_OK;
    int64_t sides = 0;
    *out = (mmd_features){0};
    if (!has_features(s))
        return DDSC_OK;
    making k = {.s = s, .unsure = 1, .out = out};
    for (int64_t axis = 0; axis < s->grid.d; axis++) {
        TRY(axis_factor(&k, axis));
        sides += s->grid.shape[axis];
    }
    k.unsure *= 0x1p-48 * (double)sides;
    TRY(MEM_ZERO(s->ctx, k.order, s->grid.n_cells));
    sample_coordinates(&k);
    out->columns = count_columns(&k);
    if (features_pay(s, out->columns))
        TRY(make_rows(&k));
    else
        out->columns = 0;
done:
    mem_free(s->ctx, k.order);
    for (int64_t axis = 0; axis < GRID_MAX_DIM; axis++)
        mem_free(s->ctx, k.axis[axis]);
    return status;
}
