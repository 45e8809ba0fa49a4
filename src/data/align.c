/* Transforms each item separately: samples a number of points, or removes position, size, slant or
 * rotation.
 *
 * If a set is on a grid, the transformed set is on a grid too. The mass of a moved point is divided
 * among the corners of its cell in the proportions that preserve its mean. If f is the fractional
 * position within the cell, the squared W2 distance between the item before and after is at most
 * the sum over its coordinates of f (1 - f) step^2, that is, at most a quarter of a squared step
 * per coordinate. */
#include "data/recipe.h"

#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"

enum { LATTICE_MAX_CELLS = 1 << 22 };

/* ---- sampling points ---- */

/* Draws n_draws points by systematic sampling over the points in random order. A point of weight w
 * is drawn floor(w n_draws) or ceil(w n_draws) times. Equally weighted points are therefore drawn
 * at most once if n_draws does not exceed their number. */
static void draw_points(double *weight, int64_t n, int64_t n_draws, int32_t *order, rng *r)
{
    double upto = 0, next = rng_uniform(r), sum = 0;
    for (int64_t p = 0; p < n; p++) {
        order[p] = (int32_t)p;
        sum += weight[p];
    }
    for (int64_t p = 0; p < n; p++) {
        int64_t j = p + rng_below(r, n - p);
        int32_t t = order[p];
        order[p] = order[j];
        order[j] = t;
        upto += weight[order[p]] / sum * (double)n_draws;
        weight[order[p]] = 0;
        for (; next < upto; next++)
            weight[order[p]]++;
    }
    for (int64_t p = 0; p < n; p++) /* later steps require a sum of 1 */
        weight[p] /= (double)n_draws;
}

ddsc_status recipe_draw(ddsc_context *ctx, measures_parts *p, int64_t per_item)
{
    ddsc_status status = DDSC_OK;
    int32_t *order = NULL;
    int64_t largest = 0, n_small = 0;
    for (int64_t i = 0; i < p->n; i++)
        largest = BASE_MAX(largest, p->offset[i + 1] - p->offset[i]);
    TRY(MEM_NEW(ctx, order, largest));
    for (int64_t i = 0; i < p->n; i++) {
        int64_t n = p->offset[i + 1] - p->offset[i];
        rng r = rng_make(ctx_seed(ctx), RNG_POINTS, (uint64_t)i);
        if (n > per_item)
            draw_points(p->weight + p->offset[i], n, per_item, order, &r);
        n_small += n < per_item;
    }
    if (n_small > 0)
        ctx_warn(ctx,
                 "%lld of %lld items have fewer than %lld distinct points and keep "
                 "all of them",
                 (long long)n_small, (long long)p->n, (long long)per_item);
done:
    mem_free(ctx, order);
    return status;
}

/* ---- moving one item ---- */

typedef struct mover {
    ddsc_context *ctx;
    measures_parts *p;
    recipe_kind kind;
    double *mean, *moments, *values, *axes; /* sizes d, d x d, d and d x d */
    int exponent; /* unit of the moments, as a power of two (recipe_exponent) */
} mover;

static const double *point_of(const mover *w, int64_t e)
{
    return w->p->support + (int64_t)w->p->index[e] * w->p->d;
}

/* Returns the deviation of entry e from the mean along coordinate k, in the unit of the moments. */
static double deviation(const mover *w, int64_t e, int64_t k)
{
    double x = point_of(w, e)[k] - w->mean[k];
    return w->exponent ? ldexp(x, -w->exponent) : x;
}

/* Computes the mean and the central second moments. The weights of an item sum to 1 up to
 * rounding. */
static void take_moments(mover *w, int64_t i)
{
    const measures_parts *p = w->p;
    int64_t d = p->d;
    double largest = 0;
    memset(w->mean, 0, (size_t)d * sizeof *w->mean);
    memset(w->moments, 0, (size_t)(d * d) * sizeof *w->moments);
    for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
        for (int64_t k = 0; k < d; k++)
            w->mean[k] += p->weight[e] * point_of(w, e)[k];
    for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
        for (int64_t k = 0; k < d; k++)
            largest = BASE_MAX(largest, fabs(point_of(w, e)[k] - w->mean[k]));
    w->exponent = recipe_exponent(largest);
    for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
        for (int64_t k = 0; k < d; k++)
            for (int64_t j = 0; j <= k; j++)
                w->moments[k * d + j] += p->weight[e] * deviation(w, e, k) * deviation(w, e, j);
    for (int64_t k = 0; k < d; k++)
        for (int64_t j = 0; j < k; j++)
            w->moments[j * d + k] = w->moments[k * d + j];
}

static double radius_of(const mover *w)
{
    double trace = 0;
    for (int64_t k = 0; k < w->p->d; k++)
        trace += w->moments[k * (w->p->d + 1)];
    return ldexp(sqrt(trace), w->exponent);
}

/* Computes the principal axes in order of increasing variance. Each axis points toward the longer
 * tail of the item. */
static ddsc_status find_axes(mover *w, int64_t i)
{
    const measures_parts *p = w->p;
    int64_t d = p->d;
    CHECK(la_eigen_symmetric(w->ctx, d, w->moments, w->values, w->axes));
    for (int64_t a = 0; a < d; a++) {
        double *axis = w->axes + a * d, third = 0, scale = 0;
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++) {
            double x = 0;
            for (int64_t k = 0; k < d; k++)
                x += axis[k] * deviation(w, e, k);
            third += p->weight[e] * x * x * x;
            scale += p->weight[e] * fabs(x * x * x);
        }
        int64_t largest = 0;
        for (int64_t k = 1; k < d; k++)
            largest = fabs(axis[k]) > fabs(axis[largest]) ? k : largest;
        bool turn = fabs(third) > 1e-9 * scale ? third < 0 : axis[largest] < 0;
        for (int64_t k = 0; k < d && turn; k++)
            axis[k] = -axis[k];
    }
    return DDSC_OK;
}

static ddsc_status prepare_item(mover *w, int64_t i)
{
    take_moments(w, i);
    return w->kind == RECIPE_PRINCIPAL ? find_axes(w, i) : DDSC_OK;
}

/* Computes the new position of entry e. */
static void move_point(const mover *w, int64_t e, double *out)
{
    int64_t d = w->p->d;
    const double *x = point_of(w, e);
    double radius = w->kind == RECIPE_SIZE ? radius_of(w) : 1;
    for (int64_t k = 0; k < d; k++)
        out[k] = (x[k] - w->mean[k]) / (radius > 0 ? radius : 1);
    if (w->kind == RECIPE_DESKEW && w->moments[0] > 0)
        out[1] -= w->moments[1] / w->moments[0] * out[0];
    if (w->kind != RECIPE_PRINCIPAL)
        return;
    for (int64_t a = 0; a < d; a++) {
        const double *axis = w->axes + (d - 1 - a) * d; /* eigenvalues are ascending */
        out[a] = 0;
        for (int64_t k = 0; k < d; k++)
            out[a] += axis[k] * (x[k] - w->mean[k]);
    }
}

static ddsc_status mover_open(ddsc_context *ctx, mover *w, measures_parts *p, recipe_kind kind)
{
    *w = (mover){.ctx = ctx, .p = p, .kind = kind};
    if (kind == RECIPE_DESKEW && p->d != 2)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "deskewing requires points with two coordinates (row, column), but "
                        "these have %lld",
                        (long long)p->d);
    CHECK(MEM_NEW(ctx, w->mean, p->d));
    CHECK(MEM_NEW(ctx, w->moments, p->d * p->d));
    CHECK(MEM_NEW(ctx, w->values, p->d));
    return MEM_NEW(ctx, w->axes, p->d * p->d);
}

static void mover_close(mover *w)
{
    MEM_FREE(w->ctx, w->mean, w->moments, w->values, w->axes);
}

/* ---- items with separate points ---- */

static ddsc_status move_apart(mover *w)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = w->p;
    double *support = NULL;
    const char **name = NULL;
    TRY(MEM_NEW(w->ctx, support, p->nnz * p->d));
    TRY(MEM_NEW(w->ctx, name, p->nnz));
    for (int64_t i = 0; i < p->n; i++) {
        TRY(prepare_item(w, i));
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
            move_point(w, e, support + e * p->d);
    }
    for (int64_t e = 0; e < p->nnz; e++)
        name[e] = texts_get(&p->points, p->index[e]);
    if (p->points.n > 0) {
        measures_texts fresh = {0};
        TRY(texts_pack(w->ctx, &fresh, p->nnz, name));
        texts_free(w->ctx, &p->points);
        p->points = fresh;
    }
    for (int64_t e = 0; e < p->nnz; e++)
        p->index[e] = (int32_t)e;
    mem_free(w->ctx, p->support);
    p->support = support;
    p->v = p->nnz;
    support = NULL;
done:
    MEM_FREE(w->ctx, support, name);
    return status;
}

/* ---- a lattice ---- */

typedef struct lattice {
    const double *step;
    int64_t d, low[GRID_MAX_DIM], shape[GRID_MAX_DIM], cells;
    double *mass;
} lattice;

/* Determines the range of cells that contains all moved points. */
static ddsc_status find_cells(mover *w, lattice *l)
{
    double x[GRID_MAX_DIM];
    int64_t high[GRID_MAX_DIM];
    bool far = false; /* true if a point is too far from 0 for a table of cells */
    for (int64_t k = 0; k < l->d; k++) {
        l->low[k] = INT64_MAX;
        high[k] = INT64_MIN;
    }
    for (int64_t i = 0; i < w->p->n; i++) {
        CHECK(prepare_item(w, i));
        for (int64_t e = w->p->offset[i]; e < w->p->offset[i + 1]; e++) {
            move_point(w, e, x);
            for (int64_t k = 0; k < l->d; k++) {
                double cell = floor(x[k] / l->step[k]);
                far = far || !(fabs(cell) < 1e9);
                cell = far ? 0 : cell;
                l->low[k] = BASE_MIN(l->low[k], (int64_t)cell);
                high[k] = BASE_MAX(high[k], (int64_t)cell + 1);
            }
        }
    }
    l->cells = 1;
    for (int64_t k = 0; k < l->d; k++) {
        l->shape[k] = high[k] - l->low[k] + 1;
        l->cells = BASE_MIN(l->cells * BASE_MIN(l->shape[k], LATTICE_MAX_CELLS + 1),
                            LATTICE_MAX_CELLS + 1);
    }
    if (far)
        l->cells = LATTICE_MAX_CELLS + 1;
    return DDSC_OK;
}

/* Divides the weight of a point among the corners of its cell. Cells that had no mass before are
 * added to `touched`. */
static void spread_point(const lattice *l, const double *x, double weight, int32_t *touched,
                         int64_t *n_touched)
{
    int64_t base[GRID_MAX_DIM];
    double part[GRID_MAX_DIM];
    for (int64_t k = 0; k < l->d; k++) {
        double cell = floor(x[k] / l->step[k]);
        part[k] = x[k] / l->step[k] - cell;
        base[k] = (int64_t)cell - l->low[k];
    }
    for (int corner = 0; corner < 1 << l->d; corner++) {
        int64_t at = 0;
        double mass = weight;
        for (int64_t k = 0; k < l->d; k++) {
            int up = corner >> k & 1;
            at = at * l->shape[k] + base[k] + up;
            mass *= up ? part[k] : 1 - part[k];
        }
        if (mass > 0) {
            if (l->mass[at] == 0)
                touched[(*n_touched)++] = (int32_t)at;
            l->mass[at] += mass;
        }
    }
}

static ddsc_status make_table(ddsc_context *ctx, measures_parts *p, const lattice *l)
{
    double *support = NULL;
    CHECK(MEM_NEW(ctx, support, l->cells * l->d));
    for (int64_t r = 0; r < l->cells; r++) {
        int64_t rest = r;
        for (int64_t k = l->d - 1; k >= 0; k--) {
            support[r * l->d + k] = (double)(l->low[k] + rest % l->shape[k]) * l->step[k];
            rest /= l->shape[k];
        }
    }
    mem_free(ctx, p->support);
    p->support = support;
    p->v = l->cells;
    p->points_distinct = true;
    texts_free(ctx, &p->points);
    return DDSC_OK;
}

static ddsc_status move_onto(mover *w, lattice *l)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = w->p;
    int32_t *index = NULL;
    double *weight = NULL, x[GRID_MAX_DIM];
    int64_t n = 0, index_capacity = 0, weight_capacity = 0, *offset = NULL;
    TRY(MEM_ZERO(w->ctx, l->mass, l->cells));
    TRY(MEM_ZERO(w->ctx, offset, p->n + 1));
    for (int64_t i = 0; i < p->n; i++) {
        TRY(prepare_item(w, i));
        int64_t most = (p->offset[i + 1] - p->offset[i]) << l->d, n_touched = 0;
        most = BASE_MIN(most, l->cells);
        TRY(MEM_RESERVE(w->ctx, index, &index_capacity, n + most));
        TRY(MEM_RESERVE(w->ctx, weight, &weight_capacity, n + most));
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++) {
            move_point(w, e, x);
            spread_point(l, x, p->weight[e], index + n, &n_touched);
        }
        sort_i32(index + n, n_touched);
        for (int64_t k = 0; k < n_touched; k++, n++) {
            weight[n] = l->mass[index[n]];
            l->mass[index[n]] = 0;
        }
        offset[i + 1] = n;
    }
    TRY(make_table(w->ctx, p, l));
    MEM_FREE(w->ctx, p->index, p->weight, p->offset);
    p->index = index;
    p->weight = weight;
    p->offset = offset;
    p->nnz = n;
    index = NULL;
    weight = NULL;
    offset = NULL;
done:
    MEM_FREE(w->ctx, index, weight, offset, l->mass);
    return status;
}

/* ---- both cases ---- */

ddsc_status recipe_align(ddsc_context *ctx, measures_parts *p, recipe_kind kind, const double *step)
{
    ddsc_status status = DDSC_OK;
    mover w;
    lattice l = {.step = step, .d = p->d, .cells = LATTICE_MAX_CELLS + 1};
    TRY(mover_open(ctx, &w, p, kind));
    if (step[0] > 0 && p->d <= GRID_MAX_DIM)
        TRY(find_cells(&w, &l));
    TRY(l.cells <= LATTICE_MAX_CELLS ? move_onto(&w, &l) : move_apart(&w));
done:
    mover_close(&w);
    return status;
}

/* Sets the steps to those of the grid, or to 0 if there is no grid. If items are scaled to the same
 * size, the steps are multiplied by the average scale factor. */
ddsc_status recipe_fit_lattice(ddsc_context *ctx, measures_parts *p, recipe_kind kind,
                               const measures_grid *grid, double *step)
{
    ddsc_status status = DDSC_OK;
    double scale = kind == RECIPE_SIZE ? 0 : 1;
    int64_t n = 0;
    mover w;
    TRY(mover_open(ctx, &w, p, kind));
    for (int64_t i = 0; grid->found && kind == RECIPE_SIZE && i < p->n; i++) {
        take_moments(&w, i);
        double radius = radius_of(&w);
        scale += radius > 0 ? 1 / radius : 0;
        n += radius > 0;
    }
    for (int64_t k = 0; k < p->d; k++)
        step[k] = grid->found ? grid->step[k] * (n > 0 ? scale / (double)n : 1) : 0;
done:
    mover_close(&w);
    return status;
}
