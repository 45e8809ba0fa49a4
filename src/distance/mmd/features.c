/* Computes the feature space of a Gaussian kernel on a grid. Each axis kernel is U L U^T, and
 * applying F = L^1/2 U^T along every axis maps a histogram to coordinates phi with biased MMD^2 =
 * |phi_i - phi_j|^2. A table of few points has a single factor F (table.c). For smooth kernels,
 * most coordinates are nearly constant. They form the tail, which contributes only to the error
 * bounds. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "distance/mmd/internal.h"
#include "numeric/linalg/linalg.h"

typedef struct feature_space {
    mmd *s;
    int64_t n;                  /* number of coordinates */
    double *axis[GRID_MAX_DIM]; /* grid: factor F of each axis */
    double unsure;              /* grid: rounding error from F, relative to |a|^2 */
    mmd_table table;
    double *mean, *variance; /* n, over a sample of items */
    int32_t *order;          /* n, largest variance first */
    mmd_features *out;
} feature_space;

static ddsc_status axis_factor(feature_space *k, int64_t axis)
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
    TRY(team_first(s->ctx, values, n * (int64_t)sizeof *values));
    TRY(team_first(s->ctx, vectors, n * n * (int64_t)sizeof *vectors));
    for (int64_t r = 0; r < n; r++)
        for (int64_t x = 0; x < n; x++)
            vectors[r * n + x] *= sqrt(BASE_MAX(values[r], 0.0));
    k->unsure *= values[n - 1];
    k->axis[axis] = vectors;
    vectors = NULL;
done:
    MEM_FREE(s->ctx, vectors, values, matrix);
    return status;
}

static void coordinates_of(const feature_space *k, const int64_t *items, int64_t n, mmd_worker *w)
{
    if (k->s->way == MMD_GRID)
        mmd_grid_apply(k->s, k->axis, items, n, w);
    else
        mmd_table_apply(k->s, &k->table, items, n, w);
}

/* Computes the mean and variance of every coordinate over evenly spaced items. */
static void sample_coordinates(feature_space *k)
{
    mmd *s = k->s;
    mmd_worker w = mmd_worker_of(s, 0);
    int64_t n = BASE_MIN(s->m->n, FEATURE_ITEMS), cells = k->n;
    for (int64_t first = 0; first < n; first += MMD_LANES) {
        int64_t items[MMD_LANES], count = BASE_MIN(MMD_LANES, n - first);
        for (int64_t lane = 0; lane < count; lane++)
            items[lane] = (first + lane) * s->m->n / n;
        coordinates_of(k, items, count, &w);
        for (int64_t c = 0; c < cells; c++)
            for (int64_t lane = 0; lane < count; lane++) {
                double x = w.stripe[c * MMD_LANES + lane];
                k->mean[c] += x / (double)n;
                k->variance[c] -= x * x / (double)n;
            }
    }
    for (int64_t c = 0; c < cells; c++)
        k->variance[c] += k->mean[c] * k->mean[c];
    sort_order(k->order, k->variance, cells); /* negated variances, so the largest is first */
    for (int64_t c = 0; c < cells; c++)
        k->variance[c] = -k->variance[c];
}

/* Returns the smallest number of coordinates for which the tail has at most FEATURE_TAIL of the
 * variance. */
static int64_t count_columns(const feature_space *k)
{
    double total = 0, left = 0;
    int64_t columns = k->n;
    for (int64_t c = 0; c < columns; c++)
        total += BASE_MAX(k->variance[k->order[c]], 0.0);
    while (columns > 1) {
        left += BASE_MAX(k->variance[k->order[columns - 1]], 0.0);
        if (left > FEATURE_TAIL * total)
            break;
        columns--;
    }
    return columns;
}

static void keep_item(const feature_space *k, int64_t i, int64_t lane, const double *cells)
{
    const mmd_features *f = k->out;
    const mmd *s = k->s;
    double all = 0, tail = 0, squares = 0, shift = 0;
    float *row = f->rows + i * f->columns;
    item_view item = measures_item(s->m, i);
    for (int64_t c = 0; c < k->n; c++) {
        double x = cells[k->order[c] * MMD_LANES + lane];
        double away = x - k->mean[k->order[c]];
        all += x * x;
        if (c < f->columns)
            row[c] = (float)away;
        else
            tail += away * away;
    }
    for (int64_t p = 0; p < item.n; p++) {
        squares += item.weight[p] * item.weight[p];
        shift += k->table.shift ? item.weight[p] * k->table.shift[item.index[p]] : 0;
    }
    double unsure = k->unsure * squares + k->table.unsure;
    f->offset[i] = s->self[i] - all + shift - unsure;
    f->tail[i] = 2.0 * (tail + unsure);
}

static ddsc_status feature_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const feature_space *k = arg;
    int64_t items[MMD_LANES] = {0};
    mmd_worker w = mmd_worker_of(k->s, worker);
    for (int64_t i = begin; i < end; i++)
        items[i - begin] = i;
    coordinates_of(k, items, end - begin, &w);
    for (int64_t i = begin; i < end; i++)
        keep_item(k, i, i - begin, w.stripe);
    return DDSC_OK;
}

/* Returns the mean number of entries that are read to compare one item with all others. A pair
 * reads the entries of one item, or of both items if only half of the Gram matrix is used. */
static int64_t entries_all(const mmd *s)
{
    return (s->half ? 2 : 1) * s->m->nnz;
}

/* Returns true if computing the eigenvectors of the table of kernel values is cheaper than
 * computing the sums over all pairs. If the table is so large that all coordinates together would
 * be more expensive than these sums, few kernels reduce the number of coordinates enough, so the
 * eigenproblem must be much cheaper. */
static bool table_is_faster(const mmd *s)
{
    double v = (double)s->m->v, all = (double)s->m->n * (double)s->m->nnz;
    bool likely = s->m->v * s->m->n < COLUMNS_PER_ENTRY * entries_all(s);
    return s->m->v <= TABLE_LONGEST && v * v * v * (likely ? TABLE_WORK : TABLE_STAKE) < all &&
           s->m->v * s->m->v < ctx_memory_left(s->ctx) / 128;
}

static bool has_features(const mmd *s)
{
    if (s->way != MMD_GRID)
        return s->way == MMD_FIELD && table_is_faster(s);
    for (int64_t k = 0; k < s->grid.d; k++)
        if (s->grid.shape[k] > AXIS_LONGEST)
            return false;
    return true;
}

static bool features_pay(const mmd *s, int64_t columns)
{
    int64_t size = columns * s->m->n;
    return size < COLUMNS_PER_ENTRY * entries_all(s) && size < ctx_memory_left(s->ctx) / 8;
}

/* Computes the factors of the axes or of the table. */
static ddsc_status make_factors(feature_space *k)
{
    mmd *s = k->s;
    int64_t sides = 0;
    if (s->way != MMD_GRID) {
        CHECK(mmd_table_open(s, &k->table));
        k->n = k->table.n;
        return DDSC_OK;
    }
    k->n = s->grid.n_cells;
    k->unsure = 1;
    for (int64_t axis = 0; axis < s->grid.d; axis++) {
        CHECK(axis_factor(k, axis));
        sides += s->grid.shape[axis];
    }
    k->unsure *= 0x1p-48 * (double)sides;
    return DDSC_OK;
}

static ddsc_status feature_rows(feature_space *k)
{
    mmd *s = k->s;
    mmd_features *f = k->out;
    for (int64_t j = 0; j < s->m->n; j += s->strip) /* compute the terms within items */
        CHECK(mmd_prepare(s, j, BASE_MIN(s->m->n, j + s->strip)));
    CHECK(MEM_NEW(s->ctx, f->rows, s->m->n * f->columns));
    CHECK(MEM_NEW(s->ctx, f->offset, s->m->n));
    CHECK(MEM_NEW(s->ctx, f->tail, s->m->n));
    int64_t n = s->m->n;
    CHECK(team_fill(s->ctx, f->rows, n, MMD_LANES, f->columns * (int64_t)sizeof *f->rows,
                    feature_range, k));
    CHECK(team_gather(s->ctx, f->offset, n, MMD_LANES, sizeof *f->offset));
    return team_gather(s->ctx, f->tail, n, MMD_LANES, sizeof *f->tail);
}

ddsc_status mmd_features_make(mmd *s, mmd_features *out)
{
    ddsc_status status = DDSC_OK;
    *out = (mmd_features){0};
    if (!has_features(s))
        return DDSC_OK;
    feature_space k = {.s = s, .out = out};
    TRY(make_factors(&k));
    if (k.n == 0) /* all items are equal, or kernel values exceed the float range */
        goto done;
    TRY(MEM_ZERO(s->ctx, k.mean, k.n));
    TRY(MEM_ZERO(s->ctx, k.variance, k.n));
    TRY(MEM_NEW(s->ctx, k.order, k.n));
    sample_coordinates(&k);
    TRY(team_first(s->ctx, k.mean, k.n * (int64_t)sizeof *k.mean));
    TRY(team_first(s->ctx, k.variance, k.n * (int64_t)sizeof *k.variance));
    TRY(team_first(s->ctx, k.order, k.n * (int64_t)sizeof *k.order));
    out->columns = count_columns(&k);
    if (features_pay(s, out->columns))
        TRY(feature_rows(&k));
    else
        out->columns = 0;
done:
    MEM_FREE(s->ctx, k.order, k.variance, k.mean);
    mmd_table_close(s, &k.table);
    for (int64_t axis = 0; axis < GRID_MAX_DIM; axis++)
        mem_free(s->ctx, k.axis[axis]);
    return status;
}
