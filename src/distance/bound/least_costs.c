/* Computes relaxed transport between all pairs of items from a table of least costs.
 *
 * Let F_a(w) = min over the points x of item a of C(x, w), for any row w of the support. Dropping
 * one marginal constraint of transport between a and b gives
 *
 *     sum_q b_q F_a(y_q) <= the transport value.
 *
 * Once F_a is known for all rows, a pair takes one weighted sum over the points of b, and no
 * products of points. The sums for 64 items a are computed together. The bound with the sides
 * exchanged is computed in the same way, and the larger bound is returned.
 *
 * A table entry is a byte q = floor(C * inverse), at most 255, so q / inverse <= C. Entries are
 * computed from float products of points. A table of all N items and all V rows has N V bytes. If
 * this is too large, the items are divided into windows. The tables for two windows A and B contain
 * F of the items in A for the points in B, and F of the items in B for the points in A. They are
 * computed when the pairs of A and B are processed.
 *
 * Proof that rounding errors never raise a bound above the value: let u = 2^-24, let x be a point
 * after translation and division by the unit, and let X be the vector of its stored coordinates.
 * Every coordinate has a relative error of at most u + 2^-51 =: v, so |X - Y| <= |x - y| + v (|x| +
 * |y|) and
 *
 *     |X - Y|^2 <= |x - y|^2 + (4 v + 2 v^2) (|x|^2 + |y|^2).                               (1)
 *
 * Let E = |X|^2 + |Y|^2. The relative error of a float sum of d squares is at most (d + 1) u, and
 * the product p of X and Y has an error of at most d u |X||Y| <= d u E / 2 in any order of
 * summation, with or without fused operations (Higham 2002, section 3.1; terms of order u^2 are
 * omitted). `low2` is (1 - slack) times the computed |X|^2. Rounding low2, adding low2 of Y, adding
 * -2 p and multiplying by `inverse` are four more operations on numbers of at most 2 E. The
 * computed number t, divided by `inverse`, satisfies
 *
 *     t / inverse <= |X - Y|^2 + E ((d + 1) u + d u + 8 u - slack (1 - (d + 1) u)).         (2)
 *
 * By (1) and (2), t / inverse <= |x - y|^2 if slack >= (2 d + 14) u, apart from terms of order u^2.
 * bound_relaxed_make sets slack >= (4 d + 128) u, which is twice the required value. Denormal
 * products have an absolute error of at most d 2^-148, which the constant TINY in low2 covers.
 * floor and the minimum with 255 only reduce t. For Euclidean distances, the square root, two
 * products and their factor 1 - 4 u give at most the root of t.
 *
 * Minima of bytes are exact. In a weighted sum of n bytes, the weight, the product and n additions
 * have relative errors of at most u each, and all terms are non-negative. The sum is therefore at
 * most (1 + u)^(n + 2) times its true value. The factor `scale` is at most (1 - slack) (1 + u) /
 * inverse, and slack >= (4 n + 128) u covers the remaining factors. */
#include <math.h>
#include <string.h>

#include "base/workspace.h"
#include "distance/bound/first.h"
#include "distance/bound/least_kernels.h"
#include "distance/bound/tuning.h"
#include "distance/cost/cost.h"
#include "numeric/linalg/linalg.h"

enum { LANES = LEAST_LANES, CHUNK = LEAST_CHUNK };

static const double TINY = 1e-33;

/* ---- windows ---- */

static int64_t window_items(const bound_least *b, int64_t window)
{
    return BASE_MIN(b->points->m->n, (window + 1) * b->window) - window * b->window;
}

static int64_t window_rows(const bound_least *b, int64_t window)
{
    return b->first[window + 1] - b->first[window];
}

/* Returns the size of the tables of two windows in bytes, or of one table if there is only one
 * window. */
static int64_t table_bytes(const bound_least *b)
{
    return BASE_ROUND_UP(b->window, LANES) * b->widest * (b->n_windows > 1 ? 2 : 1);
}

/* Returns the number of products of points for all windows, divided by their number in
 * bound_relaxed_tile. */
static double table_work(const bound_least *b)
{
    double work = 0;
    for (int64_t k = 0; k < b->n_windows; k++)
        for (int64_t l = 0; l < b->n_windows; l++)
            work += (double)window_rows(b, k) * (double)window_rows(b, l);
    return work;
}

static double relaxed_work(const bound_relaxed *r, double n_pairs)
{
    double n = (double)r->m->n, slots = 0;
    for (int64_t i = 0; i < r->m->n; i++)
        slots += (double)BASE_ROUND_UP(r->m->offset[i + 1] - r->m->offset[i], LEAST_WIDTH);
    return n_pairs * (slots / n) * ((double)r->block[(r->m->n + r->side - 1) / r->side] / n);
}

/* Chooses the largest windows whose tables fit in memory. Sets *applies to false if a table would
 * not save time. */
static ddsc_status choose_windows(ddsc_context *ctx, bound_least *b, const least_limits *limits,
                                  bool *applies)
{
    ddsc_status status = DDSC_OK;
    const measures *m = b->points->m;
    int64_t *seen = NULL, parts = 1;
    *applies = false;
    TRY(MEM_NEW(ctx, seen, m->v));
    TRY(MEM_NEW(ctx, b->first, m->n / b->side + 2));
    for (;; parts *= 2) {
        b->window = BASE_ROUND_UP((m->n + parts - 1) / parts, b->side);
        b->n_windows = (m->n + b->window - 1) / b->window;
        b->widest = bound_list_rows(m, b->window, b->first, NULL, NULL, seen);
        if (table_bytes(b) <= limits->bytes)
            break;
        if (limits->one_window || b->window == b->side)
            goto done;
    }
    if (table_work(b) > relaxed_work(b->points, limits->n_pairs))
        goto done;
    TRY(MEM_NEW(ctx, b->row, b->first[b->n_windows]));
    TRY(MEM_NEW(ctx, b->local, m->nnz));
    bound_list_rows(m, b->window, b->first, b->row, b->local, seen);
    *applies = true;
done:
    mem_free(ctx, seen);
    return status;
}

/* ---- creation ---- */

/* Chooses the step between table entries. Costs above the median are clamped to the median, because
 * least costs are rarely that large, and a smaller range allows smaller steps. */
static ddsc_status choose_step(ddsc_context *ctx, bound_least *b, bool *applies)
{
    const bound_relaxed *r = b->points;
    double median;
    CHECK(cost_median(ctx, &r->ground, r->m, &median));
    b->inverse = (float)(LEAST_MOST * r->unit / median);
    *applies = b->inverse > 1e-3F && b->inverse < 1e9F;
    b->scale = (float)((1 - r->slack) / (double)b->inverse);
    return DDSC_OK;
}

static ddsc_status make_arrays(ddsc_context *ctx, bound_least *b)
{
    const bound_relaxed *r = b->points;
    int64_t bytes = BASE_ROUND_UP(b->window, LANES) * b->widest;
    CHECK(MEM_NEW(ctx, b->low2, r->m->v));
    for (int64_t k = 0; k < r->m->v; k++)
        b->low2[k] = (float)((double)r->norm2[k] * (1 - r->slack) - TINY);
    CHECK(MEM_NEW(ctx, b->weight, r->m->nnz));
    for (int64_t e = 0; e < r->m->nnz; e++)
        b->weight[e] = (float)r->m->weight[e];
    for (int k = 0; k < (b->n_windows > 1 ? 2 : 1); k++) {
        CHECK(MEM_NEW(ctx, b->table[k], bytes));
        CHECK(MEM_NEW(ctx, b->gathered[k], b->widest * r->stride));
    }
    return DDSC_OK;
}

ddsc_status bound_least_make(ddsc_context *ctx, bound_least *out, const bound_relaxed *points,
                             const least_limits *limits, bool *applies)
{
    ddsc_status status = DDSC_OK;
    int64_t n = points->m->n;
    bound_least b = {.ctx = ctx,
                     .points = points,
                     .side = n >= BOUND_LEAST_SIDE * 8 ? BOUND_LEAST_SIDE : LANES,
                     .loaded = {-1, -1}};
    *applies =
        points->ground.kind == DDSC_COST_SQEUCLIDEAN || points->ground.kind == DDSC_COST_EUCLIDEAN;
    if (*applies)
        TRY(choose_windows(ctx, &b, limits, applies));
    if (*applies)
        TRY(choose_step(ctx, &b, applies));
    if (!*applies)
        goto done;
    TRY(make_arrays(ctx, &b));
    *out = b;
    b = (bound_least){0};
    if (out->n_windows == 1)
        status = bound_least_load(out, 0, 0);
done:
    bound_least_free(ctx, &b);
    return status;
}

void bound_least_free(ddsc_context *ctx, bound_least *b)
{
    MEM_FREE(ctx, b->first, b->row, b->local, b->low2, b->weight, b->table[0], b->table[1],
             b->gathered[0], b->gathered[1]);
    *b = (bound_least){0};
}

/* ---- tables ---- */

typedef struct filler {
    bound_least *b;
    int64_t items, rows;          /* windows */
    const float *points, *others; /* gathered points in these windows */
    uint8_t *table;
    scratch memory; /* products, costs and minima of a chunk */
} filler;

/* Computes the table for a chunk of rows. */
static ddsc_status fill_chunks(void *arg, int64_t begin, int64_t end, int worker)
{
    const filler *f = arg;
    const bound_least *b = f->b;
    const measures *m = b->points->m;
    int64_t n_points = window_rows(b, f->items), n_rows = window_rows(b, f->rows);
    int64_t stride = b->points->stride, first = f->items * b->window, n = window_items(b, f->items);
    const int32_t *row = b->row + b->first[f->items], *column = b->row + b->first[f->rows];
    bool root = b->points->ground.kind == DDSC_COST_EUCLIDEAN;
    float *product = scratch_of(&f->memory, worker), low[CHUNK] = {0};
    uint8_t *cost = (uint8_t *)(product + b->widest * CHUNK), *least = cost + b->widest * CHUNK;
    for (int64_t c0 = begin * CHUNK; c0 < end * CHUNK && c0 < n_rows; c0 += CHUNK) {
        int64_t width = BASE_MIN(CHUNK, n_rows - c0);
        la_sgemm(false, true, n_points, width, stride, -2, f->points, stride,
                 f->others + c0 * stride, stride, 0, product, CHUNK);
        for (int64_t c = 0; c < width; c++)
            low[c] = b->low2[column[c0 + c]];
        for (int64_t r = 0; r < n_points; r++)
            bound_least_quantize(cost + r * CHUNK, product + r * CHUNK, b->low2[row[r]], low,
                                 b->inverse, width, root);
        for (int64_t l0 = 0; l0 < n; l0 += LANES) {
            int64_t lanes = BASE_MIN(LANES, n - l0);
            for (int64_t l = 0; l < lanes; l++) {
                int64_t e = m->offset[first + l0 + l];
                bound_least_minima(least + l * CHUNK, cost, b->local + e,
                                   m->offset[first + l0 + l + 1] - e);
            }
            bound_least_transpose(f->table + (l0 * n_rows + c0 * LANES), least, lanes, width);
        }
    }
    return DDSC_OK;
}

static void gather_window(const bound_least *b, float *out, int64_t window)
{
    const bound_relaxed *r = b->points;
    for (int64_t k = b->first[window]; k < b->first[window + 1]; k++, out += r->stride)
        memcpy(out, r->point + b->row[k] * r->stride, (size_t)r->stride * sizeof *out);
}

ddsc_status bound_least_load(bound_least *b, int64_t a, int64_t c)
{
    ddsc_status status = DDSC_OK;
    const int64_t window[2] = {a, c};
    int n_tables = a == c ? 1 : 2;
    filler f = {.b = b};
    if (b->loaded[0] == a && b->loaded[1] == c)
        return DDSC_OK;
    b->loaded[0] = b->loaded[1] = -1;
    TRY(scratch_create(b->ctx, &f.memory,
                       b->widest * CHUNK * (int64_t)(sizeof(float) + 1) + LANES * CHUNK, 1));
    for (int k = 0; k < n_tables; k++)
        gather_window(b, b->gathered[k], window[k]);
    for (int k = 0; k < n_tables; k++) {
        int other = n_tables - 1 - k;
        f.items = window[k];
        f.rows = window[other];
        f.points = b->gathered[k];
        f.others = b->gathered[other];
        f.table = b->table[k];
        TRY(parallel_for(b->ctx, (window_rows(b, f.rows) + CHUNK - 1) / CHUNK, 1, fill_chunks, &f));
    }
    b->loaded[0] = a;
    b->loaded[1] = c;
done:
    scratch_free(b->ctx, &f.memory);
    return status;
}

/* ---- tiles ---- */

int64_t bound_least_scratch(const bound_least *b)
{
    return 2 * b->side * (b->side + 2 * LANES) * (int64_t)sizeof(float);
}

/* Computes the sums of table `which` over the weighted points of each item in [i0, i1). The table
 * belongs to the other window. There is one sum per item of that window, from j0 rounded down to
 * whole blocks. */
static void table_sums(const bound_least *b, int which, int64_t i0, int64_t i1, int64_t j0,
                       int64_t j1, float *out, int64_t ld)
{
    const measures *m = b->points->m;
    int64_t window = j0 / b->window, from = window * b->window;
    int64_t n_rows = window_rows(b, i0 / b->window);
    for (int64_t l0 = (j0 - from) / LANES * LANES; from + l0 < j1; l0 += LANES, out += LANES)
        for (int64_t i = i0; i < i1; i++)
            bound_least_sums(out + (i - i0) * ld, b->table[which] + l0 * n_rows,
                             b->local + m->offset[i], b->weight + m->offset[i],
                             m->offset[i + 1] - m->offset[i]);
}

void bound_least_tile(const bound_least *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                      float *out, int64_t ld, void *memory)
{
    int64_t width = b->side + 2 * LANES;
    float *there = memory, *back = there + b->side * width;
    bool same = i0 / b->window == j0 / b->window;
    DDSC_ASSERT(b->loaded[0] == i0 / b->window && b->loaded[1] == j0 / b->window);
    table_sums(b, same ? 0 : 1, i0, i1, j0, j1, there, width);
    there += j0 % LANES;
    if (i0 == j0 && i1 == j1) {
        back = there;
    } else {
        table_sums(b, 0, j0, j1, i0, i1, back, width);
        back += i0 % LANES;
    }
    bound_least_larger(out, ld, there, back, width, i1 - i0, j1 - j0, b->scale);
}
