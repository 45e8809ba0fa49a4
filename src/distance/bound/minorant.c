/* Computes linear minorants of the regularized value on a plane grid.
 *
 * For any f on item a, the soft c-transform g(y) = -eps log sum_x a(x) exp((f(x) - |x - y|^2) /
 * eps) is feasible together with f. The value of (a, b) is therefore at least <a, f> + <b, g> for
 * every item b (minorant.h). f is the potential of the affine map from the Gaussian of a to the
 * Gaussian of a block of similar items, so one g serves the whole block. The bounds of a tile are
 * the matrix product of the functions g of its rows with the weights of its columns. For each pair,
 * the larger minorant of both sides is used.
 *
 * The transform is computed in double precision and stored in floats, with each g centered so that
 * |g| <= r. A sum of up to p products of floats, in any order, has an error of at most (p + 3)
 * 2^-24 r (Higham 2002, section 3.1). The weights sum to one, and terms that are 0 add no error.
 * This error and the rounding errors of the added constants are subtracted from the constant term.
 *
 * Each g takes two small matrix products over the grid, and each bound takes one dot product of
 * rows with at most one float per occupied cell. */
#include "distance/bound/minorant.h"

#include <math.h>
#include <string.h>

#include "distance/bound/tuning.h"
#include "distance/sinkhorn/dense_kernel.h"
#include "distance/sinkhorn/grid_kernel.h"
#include "numeric/linalg/linalg.h"

enum { MOMENTS = 5 };

/* EXPONENT_LIMIT limits the exponents f / epsilon, and LEAST_SUM is added to every sum. Both keep
 * all values within the range of doubles, and can only lower a bound. */
static const double EXPONENT_LIMIT = 200, LEAST_SUM = 1e-200;

/* The items on one side of a tile. */
typedef struct minorant_side {
    const int32_t *item;
    int64_t n;
    double mean[2], cov[3]; /* mean and covariance, averaged over the items */
    float *weight;          /* n x v */
    float *potential;       /* n x v: g of each item */
    float *constant;        /* n: constant term of the bound */
} minorant_side;

/* The arrays of one worker. */
typedef struct minorant_scratch {
    minorant_side side[2];
    float *back; /* bounds from the minorants of side 1 */
    double *weight, *scale, *half, *sum;
    double *packed; /* v */
} minorant_scratch;

static minorant_scratch minorant_scratch_take(const bound_minorant *b, arena *a)
{
    minorant_scratch s;
    int64_t v = BASE_ROUND_UP(b->v, SIMD_LANES), side = BASE_MIN(BOUND_MINORANT_SIDE, b->m->n);
    for (int k = 0; k < 2; k++) {
        ARENA_TAKE(a, s.side[k].weight, side * v);
        ARENA_TAKE(a, s.side[k].potential, side * v);
        ARENA_TAKE(a, s.side[k].constant, side);
    }
    ARENA_TAKE(a, s.back, side * side);
    ARENA_TAKE(a, s.weight, GRID_BOX);
    ARENA_TAKE(a, s.scale, GRID_BOX);
    ARENA_TAKE(a, s.half, GRID_BOX);
    ARENA_TAKE(a, s.sum, GRID_BOX);
    ARENA_TAKE(a, s.packed, v);
    return s;
}

/* ---- order of the items ---- */

/* Computes the mean and the square root of the covariance as one vector. Distances between these
 * vectors are close to the W2 distances between the Gaussians. */
static void moments_of(const bound_minorant *b, int64_t i, double *to)
{
    const grid_item *item = &b->items->item[i];
    const double *c = item->cov, *step = b->items->step;
    double det = sqrt(fmax(0, c[0] * c[2] - c[1] * c[1])), trace = sqrt(c[0] + c[2] + 2 * det);
    to[0] = step[0] * item->mean[0];
    to[1] = step[1] * item->mean[1];
    to[2] = (c[0] + det) / trace;
    to[3] = sqrt(2) * c[1] / trace;
    to[4] = (c[2] + det) / trace;
}

typedef struct ordering {
    const double *moment; /* n x MOMENTS */
    double *key;          /* n */
    int32_t *by, *copy;   /* n */
} ordering;

static int varies_most(const ordering *o, const int32_t *item, int64_t n)
{
    int best = 0;
    double most = -1;
    for (int c = 0; c < MOMENTS; c++) {
        double sum = 0, squares = 0, first = o->moment[item[0] * MOMENTS + c];
        for (int64_t k = 0; k < n; k++) {
            double x = o->moment[item[k] * MOMENTS + c] - first;
            sum += x;
            squares += x * x;
        }
        double spread = squares - sum * sum / (double)n;
        best = spread > most ? c : best;
        most = fmax(most, spread);
    }
    return best;
}

/* Recursively splits the items into halves of whole blocks, along the moment with the largest
 * variance. */
static void split(const ordering *o, int32_t *item, int64_t n)
{
    const int64_t side = BOUND_MINORANT_SIDE;
    while (n > side) {
        int64_t low = BASE_MAX(1, (n / 2 + side / 2) / side) * side;
        int c = varies_most(o, item, n);
        memcpy(o->copy, item, (size_t)n * sizeof *item);
        for (int64_t k = 0; k < n; k++)
            o->key[k] = o->moment[item[k] * MOMENTS + c];
        sort_order(o->by, o->key, n);
        for (int64_t k = 0; k < n; k++)
            item[k] = o->copy[o->by[k]];
        split(o, item, low);
        item += low;
        n -= low;
    }
}

static ddsc_status items_order(ddsc_context *ctx, bound_minorant *b, int64_t n_old)
{
    ddsc_status status = DDSC_OK;
    int64_t n = b->m->n;
    double *moment = NULL;
    ordering o = {0};
    TRY(MEM_NEW(ctx, b->order, n));
    TRY(MEM_NEW(ctx, moment, n * MOMENTS));
    TRY(MEM_NEW(ctx, o.key, n));
    TRY(MEM_NEW(ctx, o.by, n));
    TRY(MEM_NEW(ctx, o.copy, n));
    o.moment = moment;
    for (int64_t i = 0; i < n; i++) {
        b->order[i] = (int32_t)i;
        moments_of(b, i, moment + i * MOMENTS);
    }
    split(&o, b->order, n_old);
    split(&o, b->order + n_old, n - n_old);
done:
    MEM_FREE(ctx, moment, o.key, o.by, o.copy);
    return status;
}

/* ---- creation ---- */

void bound_minorant_free(ddsc_context *ctx, bound_minorant *b)
{
    MEM_FREE(ctx, b->order, b->slot, b->column, b->across);
    scratch_free(ctx, &b->memory);
    *b = (bound_minorant){0};
}

/* Tabulates the kernels of both axes: the kernel of the rows by distance, and the kernel of the
 * columns as a matrix. */
static void kernels_make(bound_minorant *b)
{
    const double *step = b->items->step;
    for (int t = 0; t < GRID_TABLE; t++) {
        double off = step[0] * (double)(t - GRID_TABLE_ZERO);
        b->table[t] = -off * off / b->epsilon;
    }
    for (int64_t s = 0; s < b->ld; s++)
        for (int64_t c = 0; c < b->ld; c++) {
            double off = step[1] * (double)(s - c);
            b->across[s * b->ld + c] = -off * off / b->epsilon;
        }
    sinkhorn_exp(b->table, GRID_TABLE, 0);
    sinkhorn_exp(b->across, b->ld * b->ld, 0);
}

/* Lists the occupied cells. Unlike the rows of the support, there are never more of them than cells
 * in the grid. */
static void columns_make(bound_minorant *b)
{
    for (int64_t k = 0; k < b->m->nnz; k++)
        b->column[b->items->cell[k]] = 1;
    for (int32_t cell = 0; cell < SINKHORN_GRID_SIDE * SINKHORN_GRID_SIDE; cell++) {
        int64_t row = cell / SINKHORN_GRID_SIDE, column = cell % SINKHORN_GRID_SIDE;
        if (!b->column[cell])
            continue;
        b->column[cell] = (int32_t)b->v;
        b->slot[b->v++] = (int32_t)(row * b->ld + column);
    }
}

ddsc_status bound_minorant_make(ddsc_context *ctx, bound_minorant *out, const measures *m,
                                const grid_items *items, double epsilon, double unit, int64_t n_old)
{
    ddsc_status status = DDSC_OK;
    arena measured = {0};
    bound_minorant b = {.m = m, .items = items, .epsilon = epsilon, .unit = unit};
    b.rows = m->grid.shape[0];
    b.ld = BASE_ROUND_UP(m->grid.shape[1], SIMD_LANES);
    b.largest = measures_largest_item(m);
    TRY(MEM_NEW(ctx, b.across, b.ld * b.ld));
    TRY(MEM_NEW(ctx, b.slot, SINKHORN_GRID_SIDE * SINKHORN_GRID_SIDE));
    TRY(MEM_ZERO(ctx, b.column, SINKHORN_GRID_SIDE * SINKHORN_GRID_SIDE));
    kernels_make(&b);
    columns_make(&b);
    TRY(items_order(ctx, &b, n_old));
    minorant_scratch_take(&b, &measured);
    TRY(scratch_create(ctx, &b.memory, measured.used, 1));
    *out = b;
    b = (bound_minorant){0};
done:
    bound_minorant_free(ctx, &b);
    return status;
}

/* ---- one side of a tile ---- */

static void side_load(const bound_minorant *b, minorant_side *s, const int32_t *item, int64_t n)
{
    int64_t v = b->v;
    s->item = item;
    s->n = n;
    memset(s->mean, 0, sizeof s->mean);
    memset(s->cov, 0, sizeof s->cov);
    memset(s->weight, 0, (size_t)(n * v) * sizeof *s->weight);
    for (int64_t k = 0; k < n; k++) {
        item_view view = measures_item(b->m, item[k]);
        const grid_item *g = &b->items->item[item[k]];
        const uint16_t *cell = b->items->cell + b->m->offset[item[k]];
        for (int64_t p = 0; p < view.n; p++)
            s->weight[k * v + b->column[cell[p]]] += (float)view.weight[p];
        for (int c = 0; c < 2; c++)
            s->mean[c] += g->mean[c] / (double)n;
        for (int c = 0; c < 3; c++)
            s->cov[c] += g->cov[c] / (double)n;
    }
}

/* Computes the scalings a exp(f / epsilon) on the box of an item, and returns <a, f> / epsilon. */
static double start_scalings(const bound_minorant *b, minorant_scratch *w, int64_t i,
                             const minorant_side *onto)
{
    item_view view = measures_item(b->m, i);
    const grid_item *x = &b->items->item[i];
    const uint16_t *place = b->items->place + b->m->offset[i];
    const double *step = b->items->step;
    double m[3], scale = 1 / b->epsilon;
    memset(w->weight, 0, (size_t)(x->size[0] * x->ld) * sizeof *w->weight);
    for (int64_t k = 0; k < view.n; k++)
        w->weight[place[k]] += view.weight[k];
    sinkhorn_grid_affine(x->cov, onto->cov, m);
    grid_form form = {.y0 = step[0] * ((double)x->first[0] - x->mean[0]),
                      .x0 = step[1] * ((double)x->first[1] - x->mean[1]),
                      .y_step = step[0],
                      .x_step = step[1],
                      .y = 2 * step[0] * (x->mean[0] - onto->mean[0]) * scale,
                      .x = 2 * step[1] * (x->mean[1] - onto->mean[1]) * scale,
                      .yy = (1 - m[0]) * scale,
                      .xy = -2 * m[1] * scale,
                      .xx = (1 - m[2]) * scale};
    return sinkhorn_grid_start(w->scale, w->weight, x->size[0], x->ld, &form, EXPONENT_LIMIT);
}

/* Replaces x with -log(x + LEAST_SUM), and computes the range of the result. */
SIMD_CLONES static void minus_log(double *x, int64_t n, double range[2])
{
    simd_f64 low = simd_all(INFINITY), high = simd_all(-INFINITY);
    for (int64_t k = 0; k < n; k += SIMD_LANES) {
        simd_f64 y = -simd_log(simd_load(x + k) + LEAST_SUM);
        low = simd_min(low, y);
        high = simd_max(high, y);
        simd_store(x + k, y);
    }
    range[0] = -simd_highest(-low);
    range[1] = simd_highest(high);
}

SIMD_CLONES static void to_floats(float *out, const double *x, int64_t n, double middle,
                                  double scale)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = (float)((x[k] - middle) * scale);
}

/* Computes g for item k of one side, for the items on the other side. */
static void item_transform(const bound_minorant *b, minorant_scratch *w, minorant_side *s,
                           int64_t k, const minorant_side *onto)
{
    const grid_item *x = &b->items->item[s->item[k]];
    const grid_item all = {.size = {(int32_t)b->rows, (int32_t)b->ld}, .ld = (int32_t)b->ld};
    int64_t v = b->v, whole = BASE_ROUND_UP(v, SIMD_LANES);
    double range[2], constant = start_scalings(b, w, s->item[k], onto),
                     scale = b->epsilon / b->unit;
    grid_carry by = sinkhorn_grid_carry(x, &all, 1);
    sinkhorn_grid_mix(&by.rows, w->half, b->table + by.row_at, w->scale);
    sinkhorn_grid_mix(&by.columns, w->sum, w->half, b->across + x->first[1] * b->ld);
    for (int64_t q = 0; q < whole; q++)
        w->packed[q] = w->sum[b->slot[BASE_MIN(q, v - 1)]];
    minus_log(w->packed, whole, range);
    double middle = 0.5 * (range[0] + range[1]), most = 0.5 * (range[1] - range[0]);
    to_floats(s->potential + k * v, w->packed, v, middle, scale);
    double rest = scale * (constant + middle), size = fabs(rest) + scale * (most + 1);
    double error =
        ((double)b->largest + 8) * 0x1.02p-24 * scale * most + (0x1p-22 + 1e-11) * size + 1e-30;
    s->constant[k] = (float)(rest - error);
}

/* ---- tiles ---- */

/* Takes the larger minorant of both sides. `back` contains the products of the other side, stored
 * by columns. */
SIMD_CLONES static void take_better(float *low, const float *back, int64_t n, float constant,
                                    const float *constants)
{
    for (int64_t k = 0; k < n; k++) {
        float x = low[k] + constant, y = back[k] + constants[k];
        low[k] = x > y ? x : y;
    }
}

static void add_constant(float *low, int64_t n, float constant)
{
    for (int64_t k = 0; k < n; k++)
        low[k] += constant;
}

/* Computes the bounds from the minorants of the rows and, if the tile has enough rows, also from
 * the minorants of the columns. On the diagonal, both are the same. */
void bound_minorant_tile(const bound_minorant *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                         float *low, int64_t ld, int worker)
{
    minorant_scratch w = minorant_scratch_take(b, &(arena){.base = scratch_of(&b->memory, worker)});
    minorant_side *x = &w.side[0], *y = &w.side[1];
    int64_t n = i1 - i0, m = j1 - j0, v = b->v;
    bool diagonal = i0 == j0 && n == m, both = !diagonal && 4 * n >= m;
    side_load(b, x, b->order + i0, n);
    if (diagonal)
        *y = *x;
    else
        side_load(b, y, b->order + j0, m);
    for (int64_t k = 0; k < n; k++)
        item_transform(b, &w, x, k, y);
    for (int64_t k = 0; both && k < m; k++)
        item_transform(b, &w, y, k, x);
    la_sgemm(false, true, n, m, v, 1, x->potential, v, y->weight, v, 0, low, ld);
    if (both)
        la_sgemm(false, true, n, m, v, 1, x->weight, v, y->potential, v, 0, w.back, m);
    for (int64_t i = 0; i < n; i++) {
        if (both)
            take_better(low + i * ld, w.back + i * m, m, x->constant[i], y->constant);
        else
            add_constant(low + i * ld, m, x->constant[i]);
    }
    for (int64_t i = 0; diagonal && i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            low[i * ld + j] = BASE_MAX(low[i * ld + j], low[j * ld + i]);
}
