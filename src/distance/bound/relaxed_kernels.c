/* Inner loops for the relaxed one-sided bound (relaxed.c): minima over the rows and columns of the
 * costs of a pair.
 *
 * Dropping the column constraint of transport gives sum_i a_i min_j C_ij <= value (Kusner, Sun,
 * Kolkin, Weinberger 2015), and dropping the row constraint gives the corresponding bound for
 * columns. The remaining reduced costs give potentials g_j = min_i C_ij - f_i on the other side,
 * which keep (f, g) feasible and tighten the bound. The soft bound replaces minima with -eps log
 * sum exp(-c / eps).
 *
 * Costs are computed sixteen columns by sixteen rows at a time from float products. Row minima are
 * accumulated over the columns in registers, and column minima are reduced sixteen at a time by
 * combining adjacent lanes. Padding has a very large cost and weight 0, so it affects neither
 * minima nor sums. relaxed.c bounds and subtracts the rounding errors of products, exponentials and
 * sums. A pair takes O(n m) operations. */
#include "distance/bound/relaxed_kernels.h"

#include <math.h>
#include <stdbool.h>

#include "base/simd.h"

enum { WIDTH = RELAXED_WIDTH };

typedef int32_t vector_bits __attribute__((vector_size(64), aligned(4)));
typedef float vector __attribute__((vector_size(WIDTH * sizeof(float)), aligned(4)));

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

/* Combines adjacent lanes by minimum or sum. One half of the result belongs to a, the other to
 * b. */
SIMD_INLINE vector fold(vector a, vector b, bool least)
{
    vector even =
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    vector odd =
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return least ? vector_min(even, odd) : even + odd;
}

/* Returns a vector whose lane k is the smallest lane of x[k], or the sum of the lanes of x[k]. */
SIMD_INLINE vector fold_all(const vector *x, bool least)
{
    vector two[8], four[4];
    for (int k = 0; k < 8; k++)
        two[k] = fold(x[2 * k], x[2 * k + 1], least);
    for (int k = 0; k < 4; k++)
        four[k] = fold(two[2 * k], two[2 * k + 1], least);
    return fold(fold(four[0], four[1], least), fold(four[2], four[3], least), least);
}

/* ---- products ---- */

enum { BLOCK = 4 }; /* points of each item that are multiplied at once */

/* Computes the products of up to BLOCK points of each item. If there are fewer points, the last
 * point is repeated. */
SIMD_INLINE vector block_products(const float *const *x, const float *const *y, int64_t stride)
{
    const vector zero = {0};
    vector sum[BLOCK * BLOCK];
    for (int k = 0; k < BLOCK * BLOCK; k++)
        sum[k] = zero;
    for (int64_t c = 0; c < stride; c += WIDTH) {
        vector x0 = wide_load(x[0] + c), x1 = wide_load(x[1] + c), x2 = wide_load(x[2] + c),
               x3 = wide_load(x[3] + c);
        for (int k = 0; k < BLOCK; k++) {
            vector at = wide_load(y[k] + c);
            sum[BLOCK * k] += at * x0;
            sum[BLOCK * k + 1] += at * x1;
            sum[BLOCK * k + 2] += at * x2;
            sum[BLOCK * k + 3] += at * x3;
        }
    }
    return -2 * fold_all(sum, false);
}

SIMD_INLINE void block_points(const float **x, const float *point, int64_t stride,
                              const int32_t *index, int64_t first, int64_t n)
{
    for (int64_t k = first; k < first + BLOCK; k++)
        x[k - first] = point + (int64_t)index[k < n ? k : n - 1] * stride;
}

SIMD_CLONES void bound_relaxed_products(float *out, int64_t ld, const float *point, int64_t stride,
                                        const int32_t *row, int64_t n_rows, const int32_t *column,
                                        int64_t n_columns)
{
    const float *x[BLOCK], *y[BLOCK];
    for (int64_t p = 0; p < ld; p += BLOCK) {
        block_points(x, point, stride, row, p, n_rows);
        for (int64_t q = 0; q < n_columns; q += BLOCK) {
            vector all = {0};
            if (p < n_rows) {
                block_points(y, point, stride, column, q, n_columns);
                all = block_products(x, y, stride);
            }
            for (int64_t k = 0; k < BLOCK && q + k < n_columns; k++)
                for (int64_t l = 0; l < BLOCK; l++)
                    out[(q + k) * ld + p + l] = p + l < n_rows ? all[BLOCK * k + l] : 0;
        }
    }
}

/* ---- centers ---- */

/* Processes sixteen columns from q and sixteen rows from p. Adds their contribution to the weighted
 * sums over columns to by_column, and returns their contribution to the sums over rows. */
SIMD_INLINE vector mean_products(const relaxed_pair *t, int64_t q, int64_t p, float *by_column)
{
    const vector zero = {0};
    vector weight = wide_load(t->weight + p), sum = q == 0 ? zero : wide_load(by_column + p),
           x[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++) {
        x[k] = zero;
        if (q + k < t->n) {
            vector product = wide_load(t->product + t->local[q + k] * t->ld + p);
            x[k] = product * weight;
            sum += product * (float)t->column_weight[q + k];
        }
    }
    wide_store(by_column + p, sum);
    return fold_all(x, false);
}

SIMD_CLONES float bound_relaxed_center(const relaxed_pair *t, float *row, const float *row_away2,
                                       float *column, const float *column_away2)
{
    vector both = {0};
    for (int64_t q = 0; q < t->n; q += WIDTH) {
        vector sum = mean_products(t, q, 0, row);
        for (int64_t p = WIDTH; p < t->slots; p += WIDTH)
            sum += mean_products(t, q, p, row);
        for (int64_t k = 0; k < WIDTH && q + k < t->n; k++)
            column[q + k] = column_away2[q + k] - sum[k];
    }
    for (int64_t p = 0; p < t->slots; p += WIDTH)
        both += wide_load(t->weight + p) * wide_load(row + p);
    float between = wide_sum(both);
    for (int64_t p = 0; p < t->slots; p += WIDTH)
        wide_store(row + p, wide_load(row_away2 + p) - wide_load(row + p) + between);
    return between;
}

/* ---- minima ---- */

/* Computes and stores the costs (at least 0) of sixteen columns from q and sixteen rows from p.
 * Returns the minimum of each column. */
SIMD_INLINE vector costs_at(const relaxed_pair *t, int64_t q, int64_t p)
{
    const vector zero = {0}, far = zero + RELAXED_FAR;
    vector own = wide_load(t->row + p);
    vector least = q == 0 ? far : wide_load(t->least + p), x[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++) {
        x[k] = far;
        if (q + k < t->n) {
            x[k] = wide_load(t->product + t->local[q + k] * t->ld + p) + (own + t->column[q + k]);
            x[k] = (vector)((vector_bits)x[k] & (x[k] > zero));
            wide_store(t->cost + (q + k) * t->slots + p, x[k]);
            least = vector_min(least, x[k]);
        }
    }
    wide_store(t->least + p, least);
    return fold_all(x, true);
}

/* Returns the minimum costs of sixteen columns after subtracting the row potentials. Stores in
 * `rest` the minimum costs of sixteen rows after subtracting the column potentials. */
SIMD_INLINE vector rest_at(const relaxed_pair *t, int64_t q, int64_t p, vector column_least)
{
    const vector zero = {0}, far = zero + RELAXED_FAR;
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
    return fold_all(x, true);
}

SIMD_INLINE vector weights_at(const relaxed_pair *t, int64_t q)
{
    vector weight = {0};
    for (int64_t k = 0; k < WIDTH && q + k < t->n; k++)
        weight[k] = (float)t->column_weight[q + k];
    return weight;
}

/* Excludes the padding from the column minima. The potential of the padding is 0, and its costs
 * are very large. */
SIMD_INLINE void clear_padding(const relaxed_pair *t)
{
    for (int64_t p = 0; p < t->slots; p++)
        t->least[p] = t->row[p] < RELAXED_FAR / 2 ? t->least[p] : 0;
}

SIMD_CLONES float bound_relaxed_pair(const relaxed_pair *t)
{
    vector by_row = {0}, by_column = {0};
    for (int64_t q = 0; q < t->n; q += WIDTH) {
        vector least = costs_at(t, q, 0);
        for (int64_t p = WIDTH; p < t->slots; p += WIDTH)
            least = vector_min(least, costs_at(t, q, p));
        wide_store(t->column_least + q, least);
    }
    clear_padding(t);
    for (int64_t q = 0; q < t->n; q += WIDTH) {
        vector least = wide_load(t->column_least + q), left = rest_at(t, q, 0, least);
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

/* ---- soft minima ---- */

/* Computes exp(x) for x <= 0 with a relative error of 3e-7. For x < -80, returns exp(-80). This is
 * simd_exp with a shorter polynomial. */
SIMD_INLINE vector soft_exp(vector x)
{
    const vector zero = {0};
    const float to_integer = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
    x = -vector_min(zero + 80, -x);
    vector shifted = x * 0x1.715476p+0f + to_integer, n = shifted - to_integer;
    vector r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    vector p = 1 / 120.0f + r * (1 / 720.0f);
    p = 1 / 6.0f + r * (1 / 24.0f + r * p);
    p = 1 + (r + r * r * (0.5f + r * p));
    vector_bits exponent = (vector_bits)shifted - (vector_bits)(zero + to_integer) + 127;
    return p * (vector)(exponent << 23);
}

/* Computes log(x) for a positive normal x with absolute and relative errors of 3e-7, like
 * simd_log. */
SIMD_INLINE vector soft_log(vector x)
{
    const vector zero = {0};
    const vector_bits half = (vector_bits)(zero + 0x1.6a09e6p-1f); /* sqrt(1/2) */
    vector_bits n = ((vector_bits)x - half) >> 23;
    vector m = (vector)((vector_bits)x - (n << 23)), s = (m - 1) / (m + 1), z = s * s;
    vector tail = z * (2 / 3.0f + z * (2 / 5.0f + z * (2 / 7.0f + z * (2 / 9.0f))));
    return __builtin_convertvector(n, vector) * 0x1.62e43p-1f + (2 * s + s * tail);
}

/* Computes and stores the exponents 2 x'y' for sixteen columns from q, and returns their
 * maximum. */
SIMD_INLINE vector exponents_at(const relaxed_pair *t, int64_t q, int64_t p, vector least)
{
    for (int64_t k = q; k < q + WIDTH && k < t->n; k++) {
        vector x = wide_load(t->product + t->local[k] * t->ld + p) +
                   (wide_load(t->row + p) + t->column[k]);
        wide_store(t->cost + k * t->slots + p, x);
        least = vector_min(least, x);
    }
    return least;
}

/* Returns the contribution of sixteen rows to the sums of sixteen columns, and stores the row sums
 * in `rest`. */
SIMD_INLINE vector soft_sums_at(const relaxed_pair *t, int64_t q, int64_t p, float least,
                                float inverse)
{
    const vector zero = {0};
    vector weight = wide_load(t->weight + p), rest = q == 0 ? zero : wide_load(t->rest + p),
           x[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++) {
        x[k] = zero;
        if (q + k < t->n) {
            vector e = soft_exp((least - wide_load(t->cost + (q + k) * t->slots + p)) * inverse);
            rest += e * (float)t->column_weight[q + k];
            x[k] = e * weight;
        }
    }
    wide_store(t->rest + p, rest);
    return fold_all(x, false);
}

/* The exponents have a relative rounding error of 2^-22, which the caller subtracts together with
 * the error of the products. exp, log and the two sums have a relative error below 2^-21 per
 * term. */
SIMD_CLONES float bound_relaxed_soft(const relaxed_pair *t, float epsilon)
{
    const vector zero = {0}, tiny = zero + 1e-37f;
    vector by_row = zero, by_column = zero, lowest = zero + RELAXED_FAR;
    float least = RELAXED_FAR, inverse = 1 / epsilon;
    for (int64_t q = 0; q < t->n; q += WIDTH)
        for (int64_t p = 0; p < t->slots; p += WIDTH)
            lowest = exponents_at(t, q, p, lowest);
    for (int k = 0; k < WIDTH; k++)
        least = lowest[k] < least ? lowest[k] : least;
    for (int64_t q = 0; q < t->n; q += WIDTH) {
        vector sum = soft_sums_at(t, q, 0, least, inverse);
        for (int64_t p = WIDTH; p < t->slots; p += WIDTH)
            sum += soft_sums_at(t, q, p, least, inverse);
        by_column += weights_at(t, q) * soft_log(sum + tiny);
    }
    for (int64_t p = 0; p < t->slots; p += WIDTH)
        by_row += wide_load(t->weight + p) * soft_log(wide_load(t->rest + p) + tiny);
    float row_sum = wide_sum(by_row), column_sum = wide_sum(by_column);
    float better = row_sum < column_sum ? row_sum : column_sum;
    return least - epsilon * (better + (float)(t->n + t->slots + 32) * 0x1p-21f);
}

/* ---- costs other than squared distances ---- */

SIMD_CLONES void bound_relaxed_roots(float *cost, const float *own, float norm, float keep,
                                     int64_t slots)
{
    for (int64_t t = 0; t < slots; t++) {
        float square = cost[t] + keep * (own[t] + norm);
        cost[t] = sqrtf(square > 0 ? square : 0) * (1 - 0x1p-22f);
    }
}

SIMD_CLONES float bound_city_distance(const float *x, const float *y, int64_t d)
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
