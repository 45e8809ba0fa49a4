/* The relaxed one-sided bound for blocks of items. Points that items share are multiplied once a
 * block; a product has the points of a row item side by side, so that a pair reads whole vectors:
 * row minima go down the columns of a pair, column minima are folded sixteen at a time. */
#include <string.h>

#include "base/simd.h"
#include "bound/bound.h"
#include "linalg/linalg.h"

typedef int32_t lane_bits __attribute__((vector_size(64), aligned(4)));

enum { LANES = 16, GROUP = 128 /* slots of row items multiplied at once, unless one has more */ };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

static const float FAR_AWAY = 1e30f; /* norm of padding */

static int64_t padded(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

static int64_t slots_of(const relaxed_bound *b, int64_t i)
{
    return padded(b->m->offset[i + 1] - b->m->offset[i]);
}

/* ---- making ---- */

static void mean_point(const measures *m, double *mean)
{
    memset(mean, 0, (size_t)m->d * sizeof *mean);
    for (int64_t r = 0; r < m->v; r++)
        for (int64_t c = 0; c < m->d; c++)
            mean[c] += measures_point(m, (int32_t)r)[c] / (double)m->v;
}

static void fill_points(relaxed_bound *b, const double *mean, double unit)
{
    const measures *m = b->m;
    for (int64_t r = 0; r < m->v; r++) {
        const double *from = measures_point(m, (int32_t)r);
        float *x = b->point + r * m->d;
        b->norm2[r] = 0;
        for (int64_t c = 0; c < m->d; c++) {
            x[c] = (float)((from[c] - mean[c]) / unit);
            b->norm2[r] += x[c] * x[c];
        }
    }
}

/* The distinct rows of every block of items, in the order of their first use. */
static void find_distinct(relaxed_bound *b, int64_t *seen)
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

ddsc_status relaxed_bound_make(ddsc_context *ctx, relaxed_bound *out, const measures *m,
                               int64_t side)
{
    ddsc_status status = DDSC_OK;
    /* Rounding of coordinates, products of d terms and weighted sums. */
    relaxed_bound b = {.m = m, .side = side, .slack = (double)(m->d + 64) * 0x1p-23};
    double *mean = NULL, unit = bounds_unit(m);
    int64_t *seen = NULL;
    b.unit2 = unit * unit;
    TRY(MEM_NEW(ctx, mean, m->d));
    TRY(MEM_NEW(ctx, seen, m->v));
    TRY(MEM_NEW(ctx, b.point, m->v * m->d));
    TRY(MEM_NEW(ctx, b.norm2, m->v));
    TRY(MEM_NEW(ctx, b.block, (m->n + side - 1) / side + 1));
    TRY(MEM_NEW(ctx, b.distinct, m->nnz));
    TRY(MEM_NEW(ctx, b.local, m->nnz));
    mean_point(m, mean);
    fill_points(&b, mean, unit);
    find_distinct(&b, seen);
    *out = b;
    b = (relaxed_bound){0};
done:
    mem_free(ctx, seen);
    mem_free(ctx, mean);
    relaxed_bound_free(ctx, &b);
    return status;
}

void relaxed_bound_free(ddsc_context *ctx, relaxed_bound *b)
{
    mem_free(ctx, b->point);
    mem_free(ctx, b->norm2);
    mem_free(ctx, b->block);
    mem_free(ctx, b->distinct);
    mem_free(ctx, b->local);
    *b = (relaxed_bound){0};
}

/* ---- one pair ---- */

SIMD_INLINE lanes load(const float *at)
{
    return *(const lanes *)at;
}

SIMD_INLINE void store(float *at, lanes x)
{
    *(lanes *)at = x;
}

SIMD_INLINE lanes lanes_min(lanes a, lanes b)
{
    lane_bits less = a < b;
    return (lanes)(((lane_bits)a & less) | ((lane_bits)b & ~less));
}

SIMD_INLINE lanes not_negative(lanes x)
{
    lanes zero = {0};
    return (lanes)((lane_bits)x & (x > zero));
}

SIMD_INLINE float lanes_sum(lanes x)
{
    float sum = 0;
    for (int k = 0; k < LANES; k++)
        sum += x[k];
    return sum;
}

/* Neighbours against each other: the halves of the result belong to a and b. */
SIMD_INLINE lanes fold(lanes a, lanes b)
{
    lanes even =
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    lanes odd =
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return lanes_min(even, odd);
}

/* Lane k is the least lane of x[k]. */
SIMD_INLINE lanes fold_all(const lanes *x)
{
    lanes two[8], four[4];
    for (int k = 0; k < 8; k++)
        two[k] = fold(x[2 * k], x[2 * k + 1]);
    for (int k = 0; k < 4; k++)
        four[k] = fold(two[2 * k], two[2 * k + 1]);
    return fold(fold(four[0], four[1]), fold(four[2], four[3]));
}

/* Rows are the points of one item, in lanes; columns those of another. */
typedef struct pair {
    int64_t n, slots; /* columns; rows, padded */
    const int32_t *local;
    const double *column_weight;
    const float *product; /* by local column */
    int64_t ld;
    const float *norm2; /* by local column */
    const float *own, *weight;
    float keep;
    float *cost, *least, *rest;
} pair;

/* Sixteen columns from q on, sixteen rows from p on: costs lowered by the slack, never below 0,
 * kept for the second pass; returns the least of each column. */
SIMD_INLINE lanes costs_at(const pair *t, int64_t q, int64_t p)
{
    const lanes zero = {0}, far = zero + FAR_AWAY;
    lanes own = load(t->own + p), least = q == 0 ? far : load(t->least + p), x[LANES];
    for (int64_t k = 0; k < LANES; k++) {
        x[k] = far;
        if (q + k < t->n) {
            int64_t column = t->local[q + k];
            x[k] = load(t->product + column * t->ld + p) + t->keep * (own + t->norm2[column]);
            x[k] = not_negative(x[k]);
            store(t->cost + (q + k) * t->slots + p, x[k]);
            least = lanes_min(least, x[k]);
        }
    }
    store(t->least + p, least);
    return fold_all(x);
}

/* What row potentials leave to sixteen columns is returned; what column potentials leave to sixteen
 * rows is kept in `rest`. */
SIMD_INLINE lanes rest_at(const pair *t, int64_t q, int64_t p, lanes column_least)
{
    const lanes zero = {0}, far = zero + FAR_AWAY;
    lanes least = load(t->least + p), rest = q == 0 ? far : load(t->rest + p), x[LANES];
    for (int64_t k = 0; k < LANES; k++) {
        x[k] = far;
        if (q + k < t->n) {
            lanes cost = load(t->cost + (q + k) * t->slots + p);
            x[k] = cost - least;
            rest = lanes_min(rest, cost - column_least[k]);
        }
    }
    store(t->rest + p, rest);
    return fold_all(x);
}

SIMD_INLINE lanes weights_at(const pair *t, int64_t q)
{
    lanes weight = {0};
    for (int64_t k = 0; k < LANES && q + k < t->n; k++)
        weight[k] = (float)t->column_weight[q + k];
    return weight;
}

/* Padding must not bind the columns: its potential is 0, its costs are far. */
SIMD_INLINE void clear_padding(const pair *t)
{
    for (int64_t p = 0; p < t->slots; p++)
        t->least[p] = t->own[p] < FAR_AWAY ? t->least[p] : 0;
}

/* Potentials f_i = min_j C_ij, g_j = min_i C_ij - f_i, and the same from the other side.
 * column_least has padded(n) slots. */
SIMD_CLONES static float pair_bound(const pair *t, float *column_least)
{
    lanes by_row = {0}, by_column = {0};
    for (int64_t q = 0; q < t->n; q += LANES) {
        lanes least = costs_at(t, q, 0);
        for (int64_t p = LANES; p < t->slots; p += LANES)
            least = lanes_min(least, costs_at(t, q, p));
        store(column_least + q, least);
    }
    clear_padding(t);
    for (int64_t q = 0; q < t->n; q += LANES) {
        lanes least = load(column_least + q), left = rest_at(t, q, 0, least);
        for (int64_t p = LANES; p < t->slots; p += LANES)
            left = lanes_min(left, rest_at(t, q, p, least));
        lanes weight = weights_at(t, q);
        by_row += weight * left;
        by_column += weight * least;
    }
    for (int64_t p = 0; p < t->slots; p += LANES) {
        by_row += load(t->weight + p) * load(t->least + p);
        by_column += load(t->weight + p) * load(t->rest + p);
    }
    float row_sum = lanes_sum(by_row), column_sum = lanes_sum(by_column);
    return t->keep * (row_sum > column_sum ? row_sum : column_sum);
}

/* ---- tiles ---- */

/* Parts of a worker's room. */
enum part {
    COLUMNS, /* points of the block of column items: widest x d */
    NORMS,   /* widest */
    ROWS,    /* points of a group of row items: slots x d, zero on padding */
    OWN,     /* their norms and weights */
    WEIGHT,
    PRODUCT, /* widest x slots */
    COST,    /* of one pair */
    LEAST,
    REST,
    COLUMN_LEAST,
    N_PARTS
};

static int64_t part_size(const relaxed_bound *b, enum part part)
{
    int64_t slots = BASE_MAX(GROUP, b->largest);
    switch (part) {
    case COLUMNS: return padded(b->widest * b->m->d);
    case NORMS: return padded(b->widest);
    case ROWS: return slots * b->m->d;
    case OWN:
    case WEIGHT: return slots;
    case PRODUCT: return b->widest * slots;
    case COST: return b->largest * b->largest;
    default: return b->largest;
    }
}

int64_t relaxed_bound_room(const relaxed_bound *b)
{
    int64_t total = 0;
    for (int k = 0; k < N_PARTS; k++)
        total += part_size(b, (enum part)k);
    return total;
}

static void lay_out(const relaxed_bound *b, float *part[N_PARTS], float *room)
{
    for (int k = 0; k < N_PARTS; k++) {
        part[k] = room;
        room += part_size(b, (enum part)k);
    }
}

static int64_t gather_columns(const relaxed_bound *b, float *const part[N_PARTS], int64_t block)
{
    int64_t first = b->block[block], count = b->block[block + 1] - first, d = b->m->d;
    for (int64_t u = 0; u < count; u++) {
        int64_t r = b->distinct[first + u];
        memcpy(part[COLUMNS] + u * d, b->point + r * d, (size_t)d * sizeof(float));
        part[NORMS][u] = b->norm2[r];
    }
    return count;
}

/* The points of items [i0, i1), each padded to whole vectors. */
static void gather_rows(const relaxed_bound *b, float *const part[N_PARTS], int64_t i0, int64_t i1)
{
    int64_t at = 0, d = b->m->d;
    for (int64_t i = i0; i < i1; i++) {
        item_view item = measures_item(b->m, i);
        for (int64_t p = 0; p < padded(item.n); p++, at++) {
            bool there = p < item.n;
            part[OWN][at] = there ? b->norm2[item.index[p]] : FAR_AWAY;
            part[WEIGHT][at] = there ? (float)item.weight[p] : 0;
            if (there)
                memcpy(part[ROWS] + at * d, b->point + item.index[p] * d,
                       (size_t)d * sizeof(float));
            else
                memset(part[ROWS] + at * d, 0, (size_t)d * sizeof(float));
        }
    }
}

/* Row item i, whose slots begin at `slot`, against items [j0, j1). */
static void bound_row(const relaxed_bound *b, float *const part[N_PARTS], int64_t i, int64_t slot,
                      int64_t ld, int64_t j0, int64_t j1, float *out)
{
    const measures *m = b->m;
    pair t = {.slots = slots_of(b, i), .ld = ld, .keep = (float)(1 - b->slack)};
    t.product = part[PRODUCT] + slot;
    t.own = part[OWN] + slot;
    t.weight = part[WEIGHT] + slot;
    t.norm2 = part[NORMS];
    t.cost = part[COST];
    t.least = part[LEAST];
    t.rest = part[REST];
    for (int64_t j = j0; j < j1; j++) {
        t.n = m->offset[j + 1] - m->offset[j];
        t.local = b->local + m->offset[j];
        t.column_weight = m->weight + m->offset[j];
        out[j - j0] = pair_bound(&t, part[COLUMN_LEAST]);
    }
}

void relaxed_bound_tile(const relaxed_bound *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, float *room)
{
    float *part[N_PARTS];
    int64_t d = b->m->d;
    lay_out(b, part, room);
    int64_t columns = gather_columns(b, part, j0 / b->side);
    while (i0 < i1) {
        int64_t end = i0 + 1, slots = slots_of(b, i0), slot = 0;
        while (end < i1 && slots + slots_of(b, end) <= GROUP)
            slots += slots_of(b, end++);
        gather_rows(b, part, i0, end);
        la_sgemm(false, true, columns, slots, d, -2, part[COLUMNS], d, part[ROWS], d, 0,
                 part[PRODUCT], slots);
        for (; i0 < end; slot += slots_of(b, i0++), out += ld)
            bound_row(b, part, i0, slot, slots, j0, j1, out);
    }
}
