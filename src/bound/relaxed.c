/* The relaxed one-sided bound for blocks of items. Points that items share are multiplied once per
 * block; a product has the points of a row item side by side, so that a pair reads whole vectors:
 * row minima go down the columns of a pair, column minima are folded sixteen at a time. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/workspace.h"
#include "bound/bound.h"
#include "bound/first.h"
#include "bound/tuning.h"
#include "linalg/linalg.h"

typedef int32_t vector_bits __attribute__((vector_size(64), aligned(4)));

enum { WIDTH = 16, GROUP = 128 /* slots of row items multiplied at once, unless one has more */ };

typedef float vector __attribute__((vector_size(WIDTH * sizeof(float)), aligned(4)));

static const float FAR_AWAY = 1e30f; /* norm of padding */

static int64_t slots_of(const bound_relaxed *b, int64_t i)
{
    return BASE_ROUND_UP(b->m->offset[i + 1] - b->m->offset[i], WIDTH);
}

/* ---- making ---- */

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
        float *x = b->point + r * m->d;
        b->norm2[r] = 0;
        for (int64_t c = 0; c < m->d; c++) {
            x[c] = (float)((m->support[r * m->d + c] - mean[c]) / unit);
            b->norm2[r] += city ? fabsf(x[c]) : x[c] * x[c];
        }
    }
}

/* The distinct rows of every block of items, in the order of their first use. */
static void find_distinct(bound_relaxed *b, int64_t *seen)
{
    const measures *m = b->m;
    int64_t count = 0, block = 0;
    for (int64_t r = 0; r < m->v; r++)
        seen[r] = -1;
    for (int64_t i = 0; i < m->n; i++) {
        if (i % b->side == 0)
            b->block[block++] = count;
        int64_t first = b->block[block - 1];
        for (int64_t p = m->offset[i]; p < m->offset[i + 1]; p++) {
            int32_t r = m->index[p];
            if (seen[r] < first) {
                seen[r] = count;
                b->distinct[count++] = r;
            }
            b->local[p] = (int32_t)(seen[r] - first);
        }
        b->largest = BASE_MAX(b->largest, slots_of(b, i));
        b->widest = BASE_MAX(b->widest, count - first);
    }
    b->block[block] = count;
}

/* A power of two of the size of the costs. */
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
                               const ground_cost *ground, int64_t side)
{
    ddsc_status status = DDSC_OK;
    /* Rounding of coordinates, products of d terms and weighted sums. */
    bound_relaxed b = {
        .m = m, .ground = *ground, .side = side, .slack = (double)(m->d + 64) * 0x1p-23};
    double *mean = NULL, unit = bound_unit(m);
    int64_t *seen = NULL;
    b.unit = cost_unit(m, ground);
    TRY(MEM_NEW(ctx, mean, m->d));
    TRY(MEM_NEW(ctx, seen, m->v));
    TRY(MEM_NEW(ctx, b.point, m->v * m->d));
    TRY(MEM_NEW(ctx, b.norm2, m->v));
    TRY(MEM_NEW(ctx, b.block, (m->n + side - 1) / side + 1));
    TRY(MEM_NEW(ctx, b.distinct, m->nnz));
    TRY(MEM_NEW(ctx, b.local, m->nnz));
    fill_points(&b, mean, unit);
    find_distinct(&b, seen);
    if (ground->kind != DDSC_COST_SQEUCLIDEAN)
        b.slack += (double)b.largest * 0x1p-23;
    *out = b;
    b = (bound_relaxed){0};
done:
    MEM_FREE(ctx, seen, mean);
    bound_relaxed_free(ctx, &b);
    return status;
}

void bound_relaxed_free(ddsc_context *ctx, bound_relaxed *b)
{
    MEM_FREE(ctx, b->point, b->norm2, b->block, b->distinct, b->local);
    *b = (bound_relaxed){0};
}

/* ---- one pair ---- */

SIMD_INLINE vector wide_load(const float *at)
{
    return *(const vector *)at;
}

SIMD_INLINE void wide_store(float *at, vector x)
{
    *(vector *)at = x;
}

SIMD_INLINE vector vector_min(vector a, vector b)
{
    vector_bits less = a < b;
    return (vector)(((vector_bits)a & less) | ((vector_bits)b & ~less));
}

SIMD_INLINE float wide_sum(vector x)
{
    float sum = 0;
    for (int k = 0; k < WIDTH; k++)
        sum += x[k];
    return sum;
}

/* Neighbours against each other: the halves of the result belong to a and b. */
SIMD_INLINE vector fold(vector a, vector b)
{
    vector even =
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    vector odd =
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return vector_min(even, odd);
}

/* Lane k is the least lane of x[k]. */
SIMD_INLINE vector fold_all(const vector *x)
{
    vector two[8], four[4];
    for (int k = 0; k < 8; k++)
        two[k] = fold(x[2 * k], x[2 * k + 1]);
    for (int k = 0; k < 4; k++)
        four[k] = fold(two[2 * k], two[2 * k + 1]);
    return fold(fold(four[0], four[1]), fold(four[2], four[3]));
}

/* Rows are the points of one item, in vectors; columns those of another. */
typedef struct relaxed_pair {
    int64_t n, slots; /* columns; rows, padded */
    const int32_t *local;
    const double *column_weight;
    const float *product; /* by local column */
    int64_t ld;
    const float *norm2; /* by local column */
    const float *own, *weight;
    float keep;
    float *cost, *least, *rest;
} relaxed_pair;

/* Sixteen columns from q on, sixteen rows from p on: costs lowered by the slack, never below 0,
 * kept for the second pass; returns the least of each column. */
SIMD_INLINE vector costs_at(const relaxed_pair *t, int64_t q, int64_t p)
{
    const vector zero = {0}, far = zero + FAR_AWAY;
    vector own = wide_load(t->own + p), least = q == 0 ? far : wide_load(t->least + p), x[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++) {
        x[k] = far;
        if (q + k < t->n) {
            int64_t column = t->local[q + k];
            x[k] = wide_load(t->product + column * t->ld + p) + t->keep * (own + t->norm2[column]);
            x[k] = (vector)((vector_bits)x[k] & (x[k] > zero));
            wide_store(t->cost + (q + k) * t->slots + p, x[k]);
            least = vector_min(least, x[k]);
        }
    }
    wide_store(t->least + p, least);
    return fold_all(x);
}

/* What row potentials leave to sixteen columns is returned; what column potentials leave to sixteen
 * rows is kept in `rest`. */
SIMD_INLINE vector rest_at(const relaxed_pair *t, int64_t q, int64_t p, vector column_least)
{
    const vector zero = {0}, far = zero + FAR_AWAY;
    vector least = wide_load(t->least + p), rest = q == 0 ? far : wide_load(t->rest + p), x[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++) {
        x[k] = far;
        if (q + k < t->n) {
            vector cost = wide_load(t->cost + (q + k) * t->slots + p);
            x[k] = cost - least;
            rest = vector_min(rest, cost - column_least[k]);
        }
    }
    wide_store(t->rest + p, rest);
    return fold_all(x);
}

SIMD_INLINE vector weights_at(const relaxed_pair *t, int64_t q)
{
    vector weight = {0};
    for (int64_t k = 0; k < WIDTH && q + k < t->n; k++)
        weight[k] = (float)t->column_weight[q + k];
    return weight;
}

/* Padding must not bind the columns: its potential is 0, its costs are far. */
SIMD_INLINE void clear_padding(const relaxed_pair *t)
{
    for (int64_t p = 0; p < t->slots; p++)
        t->least[p] = t->own[p] < FAR_AWAY ? t->least[p] : 0;
}

/* Potentials f_i = min_j C_ij, g_j = min_i C_ij - f_i, and the same from the other side.
 * column_least has n slots in whole vectors. */
SIMD_CLONES static float pair_bound(const relaxed_pair *t, float *column_least)
{
    vector by_row = {0}, by_column = {0};
    for (int64_t q = 0; q < t->n; q += WIDTH) {
        vector least = costs_at(t, q, 0);
        for (int64_t p = WIDTH; p < t->slots; p += WIDTH)
            least = vector_min(least, costs_at(t, q, p));
        wide_store(column_least + q, least);
    }
    clear_padding(t);
    for (int64_t q = 0; q < t->n; q += WIDTH) {
        vector least = wide_load(column_least + q), left = rest_at(t, q, 0, least);
        for (int64_t p = WIDTH; p < t->slots; p += WIDTH)
            left = vector_min(left, rest_at(t, q, p, least));
        vector weight = weights_at(t, q);
        by_row += weight * left;
        by_column += weight * least;
    }
    for (int64_t p = 0; p < t->slots; p += WIDTH) {
        by_row += wide_load(t->weight + p) * wide_load(t->least + p);
        by_column += wide_load(t->weight + p) * wide_load(t->rest + p);
    }
    float row_sum = wide_sum(by_row), column_sum = wide_sum(by_column);
    return t->keep * (row_sum > column_sum ? row_sum : column_sum);
}

/* ---- tiles ---- */

typedef struct relaxed_scratch {
    float *columns; /* points of the block of column items: widest x d */
    float *norms;   /* widest */
    float *rows;    /* points of a group of row items: slots x d, zero on padding */
    float *own;     /* slots: their norms */
    float *weight;  /* slots */
    float *product; /* widest x slots */
    float *cost;    /* of one pair */
    float *least, *rest, *column_least;
    float *none; /* widest zeros: norms of columns whose costs are made already */
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
    ARENA_TAKE(a, s.product, b->widest * slots);
    ARENA_TAKE(a, s.cost, b->largest * b->largest);
    ARENA_TAKE(a, s.least, b->largest);
    ARENA_TAKE(a, s.rest, b->largest);
    ARENA_TAKE(a, s.column_least, b->largest);
    ARENA_TAKE(a, s.none, b->ground.kind == DDSC_COST_SQEUCLIDEAN ? 0 : b->widest);
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
        memcpy(s->columns + u * d, b->point + r * d, (size_t)d * sizeof(float));
        s->norms[u] = b->norm2[r];
    }
    return count;
}

/* The points of items [i0, i1), each padded to whole vectors. */
static void gather_rows(const bound_relaxed *b, const relaxed_scratch *s, int64_t i0, int64_t i1)
{
    int64_t at = 0, d = b->m->d;
    for (int64_t i = i0; i < i1; i++) {
        item_view item = measures_item(b->m, i);
        for (int64_t p = 0; p < BASE_ROUND_UP(item.n, WIDTH); p++, at++) {
            bool there = p < item.n;
            s->own[at] = there ? b->norm2[item.index[p]] : FAR_AWAY;
            s->weight[at] = there ? (float)item.weight[p] : 0;
            if (there)
                memcpy(s->rows + at * d, b->point + item.index[p] * d, (size_t)d * sizeof(float));
            else
                memset(s->rows + at * d, 0, (size_t)d * sizeof(float));
        }
    }
}

/* ---- other costs than squared distances: made for a whole group, and never too high ---- */

/* From products: the root of the least that the squared distance can be. */
SIMD_CLONES static void root_row(float *cost, const float *own, float norm, float keep,
                                 int64_t slots)
{
    for (int64_t t = 0; t < slots; t++) {
        float square = cost[t] + keep * (own[t] + norm);
        cost[t] = sqrtf(square > 0 ? square : 0) * (1 - 0x1p-22f);
    }
}

SIMD_CLONES static float city_distance(const float *x, const float *y, int64_t d)
{
    vector sum = {0};
    int64_t k = 0;
    for (; k + WIDTH <= d; k += WIDTH) {
        vector gap = wide_load(x + k) - wide_load(y + k);
        sum += (vector)((vector_bits)gap & INT32_MAX);
    }
    float total = wide_sum(sum);
    for (; k < d; k++)
        total += fabsf(x[k] - y[k]);
    return total;
}

static void relaxed_city_row(const bound_relaxed *b, const relaxed_scratch *s, int64_t u,
                             float *cost, int64_t slots)
{
    int64_t d = b->m->d;
    for (int64_t t = 0; t < slots; t++) {
        float low = s->own[t] < FAR_AWAY ? city_distance(s->columns + u * d, s->rows + t * d, d) -
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
        for (int64_t p = 0; p < BASE_ROUND_UP(item.n, WIDTH); p++)
            *cost++ = p < item.n ? (float)((1 - b->slack) *
                                           from[(int64_t)b->m->support[item.index[p]]] / b->unit)
                                 : 0;
    }
}

/* Costs in the place of the products of items [i0, i1) and all columns; norms count no more. */
static void finish_costs(const bound_relaxed *b, const relaxed_scratch *s, int64_t block,
                         int64_t columns, int64_t slots, int64_t i0, int64_t i1)
{
    for (int64_t u = 0; u < columns; u++) {
        float *cost = s->product + u * slots;
        if (b->ground.kind == DDSC_COST_EUCLIDEAN)
            root_row(cost, s->own, s->norms[u], (float)(1 - b->slack), slots);
        else if (b->ground.kind == DDSC_COST_CITYBLOCK)
            relaxed_city_row(b, s, u, cost, slots);
        else
            relaxed_matrix_row(b, b->distinct[b->block[block] + u], cost, i0, i1);
        s->none[u] = 0;
    }
    for (int64_t t = 0; t < slots; t++)
        s->own[t] = s->own[t] < FAR_AWAY ? 0 : FAR_AWAY;
}

void bound_relaxed_tile(const bound_relaxed *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, void *memory)
{
    const measures *m = b->m;
    relaxed_scratch s = lay_out(b, &(arena){.base = memory});
    int64_t d = m->d, columns = gather_columns(b, &s, j0 / b->side);
    while (i0 < i1) {
        int64_t end = i0 + 1, slots = slots_of(b, i0), slot = 0;
        while (end < i1 && slots + slots_of(b, end) <= GROUP)
            slots += slots_of(b, end++);
        gather_rows(b, &s, i0, end);
        if (ground_from_squares(b->ground.kind))
            la_sgemm(false, true, columns, slots, d, -2, s.columns, d, s.rows, d, 0, s.product,
                     slots);
        if (b->ground.kind != DDSC_COST_SQEUCLIDEAN)
            finish_costs(b, &s, j0 / b->side, columns, slots, i0, end);
        for (; i0 < end; slot += slots_of(b, i0++), out += ld) {
            relaxed_pair t = {.slots = slots_of(b, i0),
                              .ld = slots,
                              .keep = (float)(1 - b->slack),
                              .product = s.product + slot,
                              .own = s.own + slot,
                              .weight = s.weight + slot,
                              .norm2 = b->ground.kind == DDSC_COST_SQEUCLIDEAN ? s.norms : s.none,
                              .cost = s.cost,
                              .least = s.least,
                              .rest = s.rest};
            for (int64_t j = j0; j < j1; j++) {
                t.n = m->offset[j + 1] - m->offset[j];
                t.local = b->local + m->offset[j];
                t.column_weight = m->weight + m->offset[j];
                out[j - j0] = pair_bound(&t, s.column_least);
            }
        }
    }
}
