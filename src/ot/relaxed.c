/* The relaxed one-sided bound for blocks of items: one float matrix product gives all costs of a
 * tile, then row and column minima of each pair's rectangle. */
#include <string.h>

#include "linalg/linalg.h"
#include "ot/bounds.h"

typedef float lanes __attribute__((vector_size(RELAXED_LANES * sizeof(float)), aligned(4)));
typedef int32_t lane_bits __attribute__((vector_size(RELAXED_LANES * sizeof(int32_t)), aligned(4)));

#define RELAXED_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))

static const float FAR_AWAY = 1e30f;

__attribute__((always_inline)) static inline lanes lanes_min(lanes a, lanes b)
{
    lane_bits less = a < b;
    return (lanes)(((lane_bits)a & less) | ((lane_bits)b & ~less));
}

__attribute__((always_inline)) static inline float lanes_least(lanes x)
{
    float least = x[0];
    for (int k = 1; k < RELAXED_LANES; k++)
        least = x[k] < least ? x[k] : least;
    return least;
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

static void fill_item(relaxed_bound *b, const measures *m, int64_t i, const double *mean,
                      double unit)
{
    item_view item = measures_item(m, i);
    for (int64_t p = 0; p < b->offset[i + 1] - b->offset[i]; p++) {
        int64_t row = b->offset[i] + p;
        float *x = b->point + row * b->d;
        b->norm2[row] = p < item.n ? 0 : FAR_AWAY;
        b->weight[row] = p < item.n ? (float)item.weight[p] : 0;
        for (int64_t c = 0; c < b->d; c++) {
            x[c] = p < item.n ? (float)((measures_point(m, item.index[p])[c] - mean[c]) / unit) : 0;
            b->norm2[row] += x[c] * x[c];
        }
    }
}

ddsc_status relaxed_bound_make(ddsc_context *ctx, relaxed_bound *out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    /* Rounding of coordinates, products of d terms and weighted sums. */
    relaxed_bound b = {.n = m->n, .d = m->d, .slack = (double)(m->d + 64) * 0x1p-23};
    double *mean = NULL, unit = bounds_unit(m);
    b.unit2 = unit * unit;
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
        fill_item(&b, m, i, mean, unit);
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
    int64_t rows = largest_block(b, side), largest = largest_block(b, 1);
    return rows * rows + largest * (largest + 3);
}

/* Costs of one row of points against the columns of one item, lowered by the slack, never below 0;
 * the row's minimum is returned, the columns' minima so far are kept in `column`. */
RELAXED_CLONES static float row_costs(const float *product, const float *norm2, int64_t n,
                                      float own, float keep, float *cost, float *column)
{
    lanes zero = {0}, best = zero + FAR_AWAY;
    for (int64_t c = 0; c < n; c += RELAXED_LANES) {
        lanes x = *(const lanes *)(product + c) + keep * (own + *(const lanes *)(norm2 + c));
        x = zero - lanes_min(zero - x, zero); /* max(x, 0) */
        best = lanes_min(best, x);
        *(lanes *)(cost + c) = x;
        *(lanes *)(column + c) = lanes_min(*(const lanes *)(column + c), x);
    }
    return lanes_least(best);
}

/* min over columns of cost - column minimum; what rows leave each column, min over rows of cost -
 * row minimum, is kept in `left`. */
RELAXED_CLONES static float row_rest(const float *cost, int64_t n, float least, const float *column,
                                     float *left)
{
    lanes zero = {0}, best = zero + FAR_AWAY;
    for (int64_t c = 0; c < n; c += RELAXED_LANES) {
        lanes x = *(const lanes *)(cost + c);
        best = lanes_min(best, x - *(const lanes *)(column + c));
        *(lanes *)(left + c) = lanes_min(*(const lanes *)(left + c), x - least);
    }
    return lanes_least(best);
}

/* Potentials f_i = min_j C_ij, g_j = min_i C_ij - f_i, and the same from the other side. */
static float pair_bound(const relaxed_bound *b, const float *product, int64_t ld, int64_t i,
                        int64_t j, float *room)
{
    int64_t n = b->offset[j + 1] - b->offset[j], first = b->offset[i], rows = 0;
    const float *norm2 = b->norm2 + b->offset[j], *w = b->weight + b->offset[j];
    float keep = (float)(1 - b->slack), by_row = 0, by_column = 0;
    float *column = room, *left = room + n, *cost = room + 2 * n;
    float *least = cost + n * (b->offset[i + 1] - first);
    for (int64_t c = 0; c < 2 * n; c++)
        room[c] = FAR_AWAY;
    for (; first + rows < b->offset[i + 1] && b->weight[first + rows] > 0; rows++) {
        least[rows] = row_costs(product + rows * ld, norm2, n, b->norm2[first + rows], keep,
                                cost + rows * n, column);
        by_row += b->weight[first + rows] * least[rows];
    }
    for (int64_t r = 0; r < rows; r++)
        by_column += b->weight[first + r] * row_rest(cost + r * n, n, least[r], column, left);
    for (int64_t c = 0; c < n && w[c] > 0; c++) {
        by_row += w[c] * left[c];
        by_column += w[c] * column[c];
    }
    return keep * (by_row > by_column ? by_row : by_column);
}

void relaxed_bound_tile(const relaxed_bound *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        float *out, int64_t ld, float *room)
{
    int64_t rows = b->offset[i1] - b->offset[i0], columns = b->offset[j1] - b->offset[j0];
    float *product = room, *rest = room + rows * columns;
    la_sgemm(false, true, rows, columns, b->d, -2, b->point + b->offset[i0] * b->d, b->d,
             b->point + b->offset[j0] * b->d, b->d, 0, product, columns);
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++)
            out[(i - i0) * ld + (j - j0)] = pair_bound(
                b,
                product + (b->offset[i] - b->offset[i0]) * columns + (b->offset[j] - b->offset[j0]),
                columns, i, j, rest);
}
