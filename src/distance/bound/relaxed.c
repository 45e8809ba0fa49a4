/* Computes the relaxed one-sided bound for blocks of items: the value of the feasible dual pair f_i
 * = min_j C_ij and g_j = min_i C_ij - f_i, or of this pair with the sides exchanged.
 *
 * Products of points that items share are computed once per block. The products with the points of
 * a row item are contiguous, so that whole vectors can be loaded for a pair.
 *
 * For squared distances, every item is centered at its mean. With means r and s, x' = x - r and y'
 * = y - s,
 *
 * W2^2 = |r - s|^2 + min_P sum P_pq |x'_p - y'_q|^2, |x' - y'|^2 = |x'|^2 + |y'|^2 - 2 x y + 2 r y
 * + 2 x s - 2 r s.
 *
 * Without the common shift of the means, minima over rows or columns are closer to the optimal
 * value. Products with means are weighted sums of products of points, so shared points are still
 * multiplied only once. */
#include <math.h>
#include <string.h>

#include "base/workspace.h"
#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/bound/relaxed_kernels.h"
#include "distance/bound/tuning.h"
#include "numeric/linalg/linalg.h"

enum {
    GROUP = 128 /* slots of row items that are multiplied at once, unless an item has more points */
};

static bool is_centered(const bound_relaxed *b)
{
    return b->ground.kind == DDSC_COST_SQEUCLIDEAN;
}

static int64_t slots_of(const bound_relaxed *b, int64_t i)
{
    return BASE_ROUND_UP(b->m->offset[i + 1] - b->m->offset[i], RELAXED_WIDTH);
}

/* ---- creation ---- */

bool bound_relaxed_applies(const measures *m, const ground_cost *ground)
{
    if (ground->kind == DDSC_COST_MATRIX)
        return true;
    return m->d > BOUND_RELAXED_DIM && m->nnz <= BOUND_RELAXED_MEAN_SIZE * m->n;
}

static void fill_points(bound_relaxed *b, double *mean, double unit)
{
    const measures *m = b->m;
    bool city = b->ground.kind == DDSC_COST_CITYBLOCK;
    memset(mean, 0, (size_t)m->d * sizeof *mean);
    for (int64_t k = 0; k < m->v * m->d; k++)
        mean[k % m->d] += m->support[k] / (double)m->v;
    for (int64_t r = 0; r < m->v; r++) {
        float *x = b->point + r * b->stride;
        b->norm2[r] = 0;
        for (int64_t c = 0; c < m->d; c++) {
            x[c] = (float)((m->support[r * m->d + c] - mean[c]) / unit);
            b->norm2[r] += city ? fabsf(x[c]) : x[c] * x[c];
        }
        for (int64_t c = m->d; c < b->stride; c++)
            x[c] = 0;
    }
}

int64_t bound_list_rows(const measures *m, int64_t side, int64_t *first, int32_t *row,
                        int32_t *local, int64_t *seen)
{
    int64_t count = 0, block = 0, widest = 0;
    for (int64_t r = 0; r < m->v; r++)
        seen[r] = -1;
    for (int64_t i = 0; i < m->n; i++) {
        if (i % side == 0)
            first[block++] = count;
        int64_t start = first[block - 1];
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            int32_t r = m->index[e];
            if (seen[r] < start) {
                if (row)
                    row[count] = r;
                seen[r] = count++;
            }
            if (local)
                local[e] = (int32_t)(seen[r] - start);
        }
        widest = BASE_MAX(widest, count - start);
    }
    first[block] = count;
    return widest;
}

/* Computes |x - r|^2 for an item's points and their mean r. The result is reduced by a bound on the
 * rounding errors of the four products, which is d 2^-23 times the sum of |x|^2 + |y|^2 and the
 * mean squares of both items. */
static void find_away(bound_relaxed *b, int64_t i, double *mean)
{
    const measures *m = b->m;
    item_view item = measures_item(m, i);
    double square = 0, length2 = 0;
    memset(mean, 0, (size_t)m->d * sizeof *mean);
    for (int64_t p = 0; p < item.n; p++) {
        square += item.weight[p] * (double)b->norm2[item.index[p]];
        for (int64_t k = 0; k < m->d; k++)
            mean[k] += item.weight[p] * (double)b->point[item.index[p] * b->stride + k];
    }
    for (int64_t k = 0; k < m->d; k++)
        length2 += mean[k] * mean[k];
    b->mean2[i] = (float)(length2 - b->slack * square);
    if (b->epsilon > 0) {
        /* sum a |x'|^2 = square - length2. The slack covers the errors in products, rounded
         * exponents and sums. */
        double most = 0;
        for (int64_t p = 0; p < item.n; p++)
            most = fmax(most, (double)b->norm2[item.index[p]]);
        b->mean2[i] = (float)(square - b->slack * (4 * square + 3 * most));
        return;
    }
    for (int64_t p = 0; p < item.n; p++) {
        const float *x = b->point + item.index[p] * b->stride;
        double away2 = 0;
        for (int64_t k = 0; k < m->d; k++)
            away2 += ((double)x[k] - mean[k]) * ((double)x[k] - mean[k]);
        b->away2[m->offset[i] + p] =
            (float)(away2 - b->slack * ((double)b->norm2[item.index[p]] + square));
    }
}

/* Returns a power of two close to the magnitude of the costs. */
static double cost_unit(const measures *m, const ground_cost *g)
{
    int exponent;
    double unit = bound_unit(m);
    if (g->kind != DDSC_COST_MATRIX)
        return g->kind == DDSC_COST_SQEUCLIDEAN ? unit * unit : unit;
    frexp(ground_range(g, m), &exponent);
    return ldexp(1, exponent);
}

ddsc_status bound_relaxed_make(ddsc_context *ctx, bound_relaxed *out, const measures *m,
                               const ground_cost *ground, double epsilon, int64_t side)
{
    ddsc_status status = DDSC_OK;
    bound_relaxed b = {.m = m, .ground = *ground, .side = side};
    double *mean = NULL, unit = bound_unit(m);
    int64_t *seen = NULL;
    b.unit = cost_unit(m, ground);
    b.epsilon = epsilon / b.unit;
    TRY(MEM_NEW(ctx, mean, m->d));
    TRY(MEM_NEW(ctx, seen, m->v));
    b.stride = BASE_ROUND_UP(m->d, RELAXED_WIDTH);
    TRY(MEM_NEW(ctx, b.point, m->v * b.stride));
    TRY(MEM_NEW(ctx, b.norm2, m->v));
    TRY(MEM_NEW(ctx, b.block, (m->n + side - 1) / side + 1));
    TRY(MEM_NEW(ctx, b.distinct, m->nnz));
    TRY(MEM_NEW(ctx, b.local, m->nnz));
    fill_points(&b, mean, unit);
    b.widest = bound_list_rows(m, side, b.block, b.distinct, b.local, seen);
    for (int64_t i = 0; i < m->n; i++)
        b.largest = BASE_MAX(b.largest, slots_of(&b, i));
    /* The slack covers the rounding errors of coordinates, products of d terms and weighted sums.
     * Products with means are counted twice. */
    b.slack = (double)((is_centered(&b) ? 2 * m->d : m->d) + 2 * b.largest + 64) * 0x1p-23;
    if (is_centered(&b)) {
        TRY(MEM_NEW(ctx, b.mean2, m->n));
        TRY(MEM_ZERO(ctx, b.away2, m->nnz));
        for (int64_t i = 0; i < m->n; i++)
            find_away(&b, i, mean);
    }
    *out = b;
    b = (bound_relaxed){0};
done:
    MEM_FREE(ctx, seen, mean);
    bound_relaxed_free(ctx, &b);
    return status;
}

void bound_relaxed_free(ddsc_context *ctx, bound_relaxed *b)
{
    MEM_FREE(ctx, b->point, b->norm2, b->block, b->distinct, b->local, b->mean2, b->away2);
    *b = (bound_relaxed){0};
}

/* ---- tiles ---- */

typedef struct relaxed_scratch {
    float *columns; /* points of the column items of a block: widest x d */
    float *norms;   /* widest */
    float *rows;    /* points of a batch of row items: slots x d, zero in padding */
    float *own;     /* slots: norms of these points */
    float *weight;  /* slots */
    float *product; /* widest x slots */
    float *cost;    /* costs of one pair */
    float *least, *rest, *column_least;
    float *row, *column; /* values added to the costs of a pair */
    int32_t *ascending;  /* 0, 1, ...: columns of a single pair */
} relaxed_scratch;

static relaxed_scratch lay_out(const bound_relaxed *b, arena *a)
{
    int64_t slots = BASE_MAX(GROUP, b->largest), d = b->m->d;
    relaxed_scratch s;
    ARENA_TAKE(a, s.columns, b->widest * d);
    ARENA_TAKE(a, s.norms, b->widest);
    ARENA_TAKE(a, s.rows, slots * d);
    ARENA_TAKE(a, s.own, slots);
    ARENA_TAKE(a, s.weight, slots);
    ARENA_TAKE(a, s.product, BASE_MAX(b->widest * slots, b->largest * b->largest));
    ARENA_TAKE(a, s.cost, b->largest * b->largest);
    ARENA_TAKE(a, s.least, b->largest);
    ARENA_TAKE(a, s.rest, b->largest);
    ARENA_TAKE(a, s.column_least, b->largest);
    ARENA_TAKE(a, s.row, b->largest);
    ARENA_TAKE(a, s.column, b->largest);
    ARENA_TAKE(a, s.ascending, b->largest);
    return s;
}

int64_t bound_relaxed_scratch(const bound_relaxed *b)
{
    arena measured = {0};
    lay_out(b, &measured);
    return measured.used;
}

static int64_t gather_columns(const bound_relaxed *b, const relaxed_scratch *s, int64_t block)
{
    int64_t first = b->block[block], count = b->block[block + 1] - first, d = b->m->d;
    for (int64_t u = 0; u < count; u++) {
        int64_t r = b->distinct[first + u];
        memcpy(s->columns + u * d, b->point + r * b->stride, (size_t)d * sizeof(float));
        s->norms[u] = b->norm2[r];
    }
    return count;
}

/* Gathers the points of items [i0, i1), each padded to whole vectors. */
static void gather_rows(const bound_relaxed *b, const relaxed_scratch *s, int64_t i0, int64_t i1)
{
    int64_t at = 0, d = b->m->d;
    for (int64_t i = i0; i < i1; i++) {
        item_view item = measures_item(b->m, i);
        for (int64_t p = 0; p < BASE_ROUND_UP(item.n, RELAXED_WIDTH); p++, at++) {
            bool there = p < item.n;
            s->own[at] = !there           ? RELAXED_FAR
                         : is_centered(b) ? b->away2[b->m->offset[i] + p]
                                          : b->norm2[item.index[p]];
            s->weight[at] = there ? (float)item.weight[p] : 0;
            if (there)
                memcpy(s->rows + at * d, b->point + item.index[p] * b->stride,
                       (size_t)d * sizeof(float));
            else
                memset(s->rows + at * d, 0, (size_t)d * sizeof(float));
        }
    }
}

/* ---- costs other than squared distances, for all points of a range of items; rounded down ---- */

static void relaxed_city_row(const bound_relaxed *b, const relaxed_scratch *s, int64_t u,
                             float *cost, int64_t slots)
{
    int64_t d = b->m->d;
    for (int64_t t = 0; t < slots; t++) {
        float low = s->own[t] < RELAXED_FAR
                        ? bound_city_distance(s->columns + u * d, s->rows + t * d, d) -
                              (float)b->slack * (s->norms[u] + s->own[t])
                        : 0;
        cost[t] = low > 0 ? low : 0;
    }
}

static void relaxed_matrix_row(const bound_relaxed *b, int32_t row, float *cost, int64_t i0,
                               int64_t i1)
{
    const double *from = b->ground.matrix + (int64_t)b->m->support[row] * b->ground.size;
    for (int64_t i = i0; i < i1; i++) {
        item_view item = measures_item(b->m, i);
        for (int64_t p = 0; p < BASE_ROUND_UP(item.n, RELAXED_WIDTH); p++)
            *cost++ = p < item.n ? (float)((1 - b->slack) *
                                           from[(int64_t)b->m->support[item.index[p]]] / b->unit)
                                 : 0;
    }
}

/* Converts the products of items [i0, i1) with all columns to costs. The norms are not needed
 * afterwards. */
static void finish_costs(const bound_relaxed *b, const relaxed_scratch *s, int64_t block,
                         int64_t columns, int64_t slots, int64_t i0, int64_t i1)
{
    for (int64_t u = 0; u < columns; u++) {
        float *cost = s->product + u * slots;
        if (b->ground.kind == DDSC_COST_EUCLIDEAN)
            bound_relaxed_roots(cost, s->own, s->norms[u], (float)(1 - b->slack), slots);
        else if (b->ground.kind == DDSC_COST_CITYBLOCK)
            relaxed_city_row(b, s, u, cost, slots);
        else
            relaxed_matrix_row(b, b->distinct[b->block[block] + u], cost, i0, i1);
    }
    for (int64_t t = 0; t < slots; t++)
        s->own[t] = s->own[t] < RELAXED_FAR ? 0 : RELAXED_FAR;
}

void bound_relaxed_tile(const bound_relaxed *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, void *memory)
{
    const measures *m = b->m;
    relaxed_scratch s = lay_out(b, &(arena){.base = memory});
    int64_t d = m->d, columns = gather_columns(b, &s, j0 / b->side);
    bool centered = is_centered(b);
    memset(s.column, 0, (size_t)b->largest * sizeof(float));
    while (i0 < i1) {
        int64_t end = i0 + 1, slots = slots_of(b, i0), slot = 0;
        while (end < i1 && slots + slots_of(b, end) <= GROUP)
            slots += slots_of(b, end++);
        gather_rows(b, &s, i0, end);
        if (ground_from_squares(b->ground.kind))
            la_sgemm(false, true, columns, slots, d, -2, s.columns, d, s.rows, d, 0, s.product,
                     slots);
        if (!centered)
            finish_costs(b, &s, j0 / b->side, columns, slots, i0, end);
        for (; i0 < end; slot += slots_of(b, i0++), out += ld) {
            relaxed_pair t = {.slots = slots_of(b, i0),
                              .ld = slots,
                              .keep = (float)(1 - b->slack),
                              .product = s.product + slot,
                              .weight = s.weight + slot,
                              .row = centered ? s.row : s.own + slot,
                              .column = s.column,
                              .cost = s.cost,
                              .least = s.least,
                              .rest = s.rest,
                              .column_least = s.column_least};
            for (int64_t j = j0; j < j1; j++) {
                float apart2 = 0; /* squared distance between the means */
                t.n = m->offset[j + 1] - m->offset[j];
                t.local = b->local + m->offset[j];
                t.column_weight = m->weight + m->offset[j];
                if (centered)
                    apart2 = b->mean2[i0] + b->mean2[j] +
                             bound_relaxed_center(&t, s.row, s.own + slot, s.column,
                                                  b->away2 + m->offset[j]);
                out[j - j0] = b->epsilon > 0 ? apart2 + bound_relaxed_soft(&t, (float)b->epsilon)
                                             : BASE_MAX(apart2, 0) + bound_relaxed_pair(&t);
            }
        }
    }
}

/* ---- one pair ---- */

/* Returns the bound of a pair whose costs and weights have been filled in. Item i is the row
 * item. */
static float pair_value(const bound_relaxed *b, const relaxed_scratch *s, relaxed_pair *t,
                        int64_t i, int64_t j)
{
    float apart2 = 0;
    if (is_centered(b))
        apart2 = b->mean2[i] + b->mean2[j] +
                 bound_relaxed_center(t, s->row, s->own, s->column, b->away2 + b->m->offset[j]);
    return b->epsilon > 0 ? apart2 + bound_relaxed_soft(t, (float)b->epsilon)
                          : BASE_MAX(apart2, 0) + bound_relaxed_pair(t);
}

float bound_relaxed_single(const bound_relaxed *b, int64_t i, int64_t j, void *memory)
{
    relaxed_scratch s = lay_out(b, &(arena){.base = memory});
    item_view x = measures_item(b->m, i), y = measures_item(b->m, j);
    int64_t slots = slots_of(b, i);
    bool centered = is_centered(b);
    for (int64_t p = 0; p < slots; p++) {
        bool there = p < x.n;
        s.own[p] = !there     ? RELAXED_FAR
                   : centered ? b->away2[b->m->offset[i] + p]
                              : b->norm2[x.index[p]];
        s.weight[p] = there ? (float)x.weight[p] : 0;
    }
    for (int64_t q = 0; q < y.n; q++)
        s.ascending[q] = (int32_t)q;
    memset(s.column, 0, (size_t)b->largest * sizeof(float));
    bound_relaxed_products(s.product, slots, b->point, b->stride, x.index, x.n, y.index, y.n);
    if (!centered) {
        for (int64_t q = 0; q < y.n; q++)
            bound_relaxed_roots(s.product + q * slots, s.own, b->norm2[y.index[q]],
                                (float)(1 - b->slack), slots);
        for (int64_t p = 0; p < slots; p++)
            s.own[p] = p < x.n ? 0 : RELAXED_FAR;
    }
    relaxed_pair t = {.n = y.n,
                      .slots = slots,
                      .local = s.ascending,
                      .column_weight = y.weight,
                      .product = s.product,
                      .ld = slots,
                      .weight = s.weight,
                      .row = centered ? s.row : s.own,
                      .column = s.column,
                      .keep = (float)(1 - b->slack),
                      .cost = s.cost,
                      .least = s.least,
                      .rest = s.rest,
                      .column_least = s.column_least};
    return pair_value(b, &s, &t, i, j);
}
