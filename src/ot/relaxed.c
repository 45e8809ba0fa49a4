/* The relaxed one-sided bound for blocks of items: one float matrix product gives all costs of a
 * tile, then row and column minima of each pair's rectangle. */
#include <string.h>

#include "linalg/linalg.h"
#include "ot/bounds.h"

typedef float lanes __attribute__((vector_size(RELAXED_LANES * sizeof(float)), aligned(4)));
typedef int32_t lane_bits __attribute__((vector_size(RELAXED_LANES * sizeof(int32_t)), aligned(4)));


static const float FAR_AWAY = 1e30f;

__attribute__((always_inline)) static inline lanes lanes_min(lanes a, lanes b)
{
    lane_bits less = a < b;
    return (lanes)(((lane_bits)a & less) | ((lane_bits)b & ~less));
}

static int64_t padded(int64_t n)
{
    return (n + RELAXED_LANES - 1) / RELAXED_LANES * RELAXED_LANES;
}

static void mean_point(const measures *m, double *mean)
{
    memset(mean, 0, (size_t)m->d * sizeof *mean);
    for (int64_t r = 0; r < m->v; r++)
        for (int64_t c = 0; c < m->d; c++)
            mean[c] += measures_point(m, (int32_t)r)[c] / (double)m->v;
}

static void fill_item(relaxed_bound *b, const measures *m, int64_t i, const double *mean)
{
    item_view item = measures_item(m, i);
    for (int64_t p = 0; p < b->offset[i + 1] - b->offset[i]; p++) {
        int64_t row = b->offset[i] + p;
        float *x = b->point + row * b->d;
        b->norm2[row] = p < item.n ? 0 : FAR_AWAY;
        b->weight[row] = p < item.n ? (float)item.weight[p] : 0;
        for (int64_t c = 0; c < b->d; c++) {
            x[c] = p < item.n ? (float)(measures_point(m, item.index[p])[c] - mean[c]) : 0;
            b->norm2[row] += x[c] * x[c];
        }
    }
}

ddsc_status relaxed_bound_make(ddsc_context *ctx, relaxed_bound *out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    /* Rounding of coordinates, products of d terms and weighted sums. */
    relaxed_bound b = {.n = m->n, .d = m->d, .slack = (double)(m->d + 64) * 0x1p-23};
    double *mean = NULL;
    TRY(MEM_NEW(ctx, mean, m->d));
    TRY(MEM_NEW(ctx, b.offset, m->n + 1));
    b.offset[0] = 0;
    for (int64_t i = 0; i < m->n; i++)
        b.offset[i + 1] = b.offset[i] + padded(measures_item(m, i).n);
    TRY(MEM_NEW(ctx, b.point, b.offset[m->n] * m->d));
    TRY(MEM_NEW(ctx, b.norm2, b.offset[m->n]));
    TRY(MEM_NEW(ctx, b.weight, b.offset[m->n]));
    mean_point(m, mean);
    for (int64_t i = 0; i < m->n; i++)
        fill_item(&b, m, i, mean);
    *out = b;
    b = (relaxed_bound){0};
done:
    mem_free(ctx, mean);
    relaxed_bound_free(ctx, &b);
    return status;
}

void relaxed_bound_free(ddsc_context *ctx, relaxed_bound *b)
{
    mem_free(ctx, b->offset);
    mem_free(ctx, b->point);
    mem_free(ctx, b->norm2);
    mem_free(ctx, b->weight);
    *b = (relaxed_bound){0};
}

static int64_t largest_block(const relaxed_bound *b, int64_t side)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < b->n; i += side)
        rows = BASE_MAX(rows, b->offset[BASE_MIN(b->n, i + side)] - b->offset[i]);
    return rows;
}

int64_t relaxed_bound_room(const relaxed_bound *b, int64_t side)
{
    int64_t rows = largest_block(b, side);
    return rows * rows + rows;
}

/* Costs of one row of points against the columns of one item, lowered by the slack, never below 0;
 * the row's minimum is returned, the columns' minima so far are kept in `column`. */
__attribute__((target_clones("avx512f", "avx2", "default"))) static float
row_minimum(const float *product, const float *norm2, int64_t n, float own, float keep,
            float *column)
{
    lanes zero = {0}, best = zero + FAR_AWAY;
    for (int64_t c = 0; c < n; c += RELAXED_LANES) {
        lanes cost = *(const lanes *)(product + c) + keep * (own + *(const lanes *)(norm2 + c));
        cost = lanes_min(zero - cost, zero); /* -max(cost, 0) */
        cost = zero - cost;
        best = lanes_min(best, cost);
        *(lanes *)(column + c) = lanes_min(*(const lanes *)(column + c), cost);
    }
    float least = best[0];
    for (int k = 1; k < RELAXED_LANES; k++)
        least = best[k] < least ? best[k] : least;
    return least;
}

/* max(sum_i a_i min_j C_ij, sum_j b_j min_i C_ij) of one pair; `product` is the rectangle's corner.
 */
static float pair_bound(const relaxed_bound *b, const float *product, int64_t ld, int64_t i,
                        int64_t j, float *column)
{
    int64_t n = b->offset[j + 1] - b->offset[j];
    float keep = (float)(1 - b->slack), rows = 0, columns = 0;
    const float *norm2 = b->norm2 + b->offset[j], *w = b->weight + b->offset[j];
    for (int64_t c = 0; c < n; c++)
        column[c] = FAR_AWAY;
    for (int64_t r = b->offset[i]; r < b->offset[i + 1] && b->weight[r] > 0; r++)
        rows += b->weight[r] *
                row_minimum(product + (r - b->offset[i]) * ld, norm2, n, b->norm2[r], keep, column);
    for (int64_t c = 0; c < n; c++)
        columns += w[c] * column[c];
    return keep * (rows > columns ? rows : columns);
}

void relaxed_bound_tile(const relaxed_bound *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, float *room)
{
    int64_t rows = b->offset[i1] - b->offset[i0], columns = b->offset[j1] - b->offset[j0];
    float *product = room, *column = room + rows * columns;
    la_sgemm(false, true, rows, columns, b->d, -2, b->point + b->offset[i0] * b->d, b->d,
             b->point + b->offset[j0] * b->d, b->d, 0, product, columns);
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++)
            out[(i - i0) * ld + (j - j0)] = pair_bound(
                b,
                product + (b->offset[i] - b->offset[i0]) * columns + (b->offset[j] - b->offset[j0]),
                columns, i, j, column);
}
