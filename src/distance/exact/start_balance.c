/* Balances the guessed potentials of a dense problem against the weights.
 *
 * A few rounds of entropic scaling (Sinkhorn) at two temperatures T use the kernel K_ij =
 * exp(-(C_ij - g_j - r_i) / T), where r_i is the least C_ij - g_j of row i. A round sets u_i = a_i
 * / sum_j K_ij v_j, and then moves v_j towards b_j / sum_i K_ij u_i, over-relaxed on the log scale
 * by BALANCE_RELAXATION. At the end, g_j is increased by T log(v_j / b_j). A simplex that starts
 * from balanced potentials needs about half as many pivots.
 *
 * Only column blocks near the least value of some row are used, and each group of four rows shares
 * a list of blocks. The cost of a round is linear in the number of listed cells. Single precision
 * is sufficient for a guess, and every instruction set executes the same operations. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "distance/exact/simplex.h"

/* Lower limit for column sums, which bounds the potential of a sink that no source needs. */
static const float least_sum = 1e-6f;

typedef float f32 __attribute__((vector_size(64)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef int32_t i32 __attribute__((vector_size(64)));

/* Broadcasts x. Compilers broadcast a scalar operand with one instruction, but need many
 * instructions for a list of lanes. */
SIMD_INLINE f32 float_all(float x)
{
    return x - (f32){0};
}

SIMD_INLINE f32 float_select(i32 mask, f32 yes, f32 no)
{
    return (f32)((mask & (i32)yes) | (~mask & (i32)no));
}

SIMD_INLINE f32 float_clamp(f32 x, float low, float high)
{
    x = float_select(x < low, float_all(low), x);
    return float_select(x > high, float_all(high), x);
}

SIMD_INLINE f32x8 fold_halves(f32 x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* Returns the sums over the lanes of four vectors. */
SIMD_INLINE f32x4 four_sums(f32 a, f32 b, f32 c, f32 d)
{
    f32x8 p = fold_halves(a), q = fold_halves(b), r = fold_halves(c), s = fold_halves(d);
    f32x8 pq = __builtin_shufflevector(p, q, 0, 8, 1, 9, 4, 12, 5, 13) +
               __builtin_shufflevector(p, q, 2, 10, 3, 11, 6, 14, 7, 15);
    f32x8 rs = __builtin_shufflevector(r, s, 0, 8, 1, 9, 4, 12, 5, 13) +
               __builtin_shufflevector(r, s, 2, 10, 3, 11, 6, 14, 7, 15);
    f32x8 t = __builtin_shufflevector(pq, rs, 0, 1, 8, 9, 4, 5, 12, 13) +
              __builtin_shufflevector(pq, rs, 2, 3, 10, 11, 6, 7, 14, 15);
    return __builtin_shufflevector(t, t, 0, 1, 2, 3) + __builtin_shufflevector(t, t, 4, 5, 6, 7);
}

/* Returns 2^x with a relative error of 1e-4, for x clamped to [-100, 60]. */
SIMD_INLINE f32 power2(f32 x)
{
    const float to_integer = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
    x = float_clamp(x, -100, 60);
    f32 shifted = x + to_integer, r = x - (shifted - to_integer);
    f32 p = 1 + r * (0.6931472f + r * (0.2402265f + r * (0.0555041f + r * 0.0096181f)));
    return (f32)((i32)p + ((i32)shifted << 23));
}

/* Returns log2 x for normal x > 0 with an error of 1e-4: x = 2^n m with m near 1, and log m = 2
 * artanh((m - 1) / (m + 1)). */
SIMD_INLINE f32 log2_of(f32 x)
{
    const int32_t root_half = 0x3f3504f3; /* bits of sqrt(1/2) */
    i32 n = ((i32)x - root_half) >> 23;
    f32 m = (f32)((i32)x - (n << 23)), t = (m - 1) / (m + 1), q = t * t;
    return __builtin_convertvector(n, f32) + t * (2.885390f + q * (0.9617967f + q * 0.5770780f));
}

/* ---- choice of blocks ---- */

SIMD_CLONES static int64_t count_below(const int32_t *cost, const int32_t *sink, int64_t count,
                                       int32_t limit)
{
    int32_t found = 0;
    for (int64_t j = 0; j < count; j++)
        found += cost[j] + sink[j] < limit;
    return found;
}

/* Returns the range of values of the NEAR_COLUMNS cheapest columns in a row, averaged over a few
 * rows. */
static double near_width(const simplex *s)
{
    const int32_t *sink = s->potential32 + s->sink0;
    int64_t wanted = BASE_MIN(NEAR_COLUMNS, s->m / 2);
    double sum = 0;
    for (int64_t k = 0; k < SAMPLED_ROWS; k++) {
        const int32_t *row = s->cost32 + (2 * k + 1) * s->n / (2 * SAMPLED_ROWS) * s->ld;
        int32_t least = s->k->row_least(row, sink, s->ld), low, high = 1;
        while (high < INT32_LIMIT && count_below(row, sink, s->m, least + high) < wanted)
            high *= 2;
        for (low = high / 2; high - low > high / 16 + 1;) {
            int32_t middle = low + (high - low) / 2;
            if (count_below(row, sink, s->m, least + middle) < wanted)
                low = middle;
            else
                high = middle;
        }
        sum += high;
    }
    return sum / SAMPLED_ROWS;
}

/* Lists, for each row group, the blocks with a value within `width` of the least value of some row.
 * Every list contains at least one block. */
static void list_near(simplex *s, int32_t width)
{
    const int32_t *sink = s->potential32 + s->sink0;
    int32_t limit[ROW_GROUP];
    for (int64_t q = 0; ROW_GROUP * q < s->n; q++) {
        const int32_t *cost = s->cost32 + ROW_GROUP * q * s->ld;
        int64_t rows = BASE_MIN(ROW_GROUP, s->n - ROW_GROUP * q);
        for (int64_t r = 0; r < rows; r++) {
            s->least[ROW_GROUP * q + r] = s->k->row_least(cost + r * s->ld, sink, s->ld);
            limit[r] = s->least[ROW_GROUP * q + r] + width + 1;
        }
        s->near_count[q] = (int32_t)s->k->blocks_below(
            s->near_block + q * (s->ld / COLUMN_BLOCK + 1), cost, sink, limit, rows, s->ld);
    }
}

/* ---- scaling ---- */

/* Computes the kernel exp((least - value) / temperature) block by block, with the four rows of a
 * group together. */
SIMD_CLONES static void near_weights(const simplex *s, double temperature)
{
    const i32 *sink = (const i32 *)(const void *)(s->potential32 + s->sink0);
    f32 *kernel = (f32 *)(void *)s->kernel;
    float by = (float)(-1.4426950408889634 / temperature);
    for (int64_t q = 0; ROW_GROUP * q < s->n; q++) {
        const int32_t *block = s->near_block + q * (s->ld / COLUMN_BLOCK + 1);
        const int32_t *cost = s->cost32 + ROW_GROUP * q * s->ld, *least = s->least + ROW_GROUP * q;
        int64_t rows = BASE_MIN(ROW_GROUP, s->n - ROW_GROUP * q);
        for (int64_t k = 0; k < s->near_count[q]; k++, kernel += ROW_GROUP) {
            i32 own = sink[block[k]];
            for (int64_t r = 0; r < rows; r++) {
                i32 over = ((const i32 *)(const void *)(cost + r * s->ld))[block[k]] + own;
                kernel[r] = power2(__builtin_convertvector(over - least[r], f32) * by);
            }
            for (int64_t r = rows; r < ROW_GROUP; r++)
                kernel[r] = float_all(0);
        }
    }
}

/* Runs one round: scales the rows, then the columns, to their weights. Over-relaxing the columns
 * halves the number of rounds. */
SIMD_CLONES static void balance_round(const simplex *s)
{
    const f32 *kernel = (const f32 *)(const void *)s->kernel;
    const f32 *weight = (const f32 *)(const void *)(s->weight + s->sink0);
    f32 *v = (f32 *)(void *)s->scaling, *log_v = (f32 *)(void *)s->log_scaling;
    f32 *sum = (f32 *)(void *)s->scaled_sum;
    for (int64_t b = 0; b < s->ld / COLUMN_BLOCK; b++)
        sum[b] = float_all(0);
    for (int64_t q = 0; ROW_GROUP * q < s->n; q++) {
        const int32_t *block = s->near_block + q * (s->ld / COLUMN_BLOCK + 1);
        f32 s0 = float_all(0), s1 = s0, s2 = s0, s3 = s0;
        for (int64_t k = 0; k < s->near_count[q]; k++) {
            f32 own = v[block[k]];
            s0 += kernel[ROW_GROUP * k] * own;
            s1 += kernel[ROW_GROUP * k + 1] * own;
            s2 += kernel[ROW_GROUP * k + 2] * own;
            s3 += kernel[ROW_GROUP * k + 3] * own;
        }
        f32x4 u;
        memcpy(&u, s->weight + ROW_GROUP * q, sizeof u);
        u /= four_sums(s0, s1, s2, s3) + 1e-30f;
        float u0 = u[0], u1 = u[1], u2 = u[2], u3 = u[3];
        for (int64_t k = 0; k < s->near_count[q]; k++, kernel += ROW_GROUP)
            sum[block[k]] += (kernel[0] * u0 + kernel[1] * u1) + (kernel[2] * u2 + kernel[3] * u3);
    }
    for (int64_t b = 0; b < s->ld / COLUMN_BLOCK; b++) {
        f32 wanted = -log2_of(float_select(sum[b] < least_sum, float_all(least_sum), sum[b]));
        log_v[b] += BALANCE_RELAXATION * (wanted - log_v[b]);
        v[b] = weight[b] * power2(log_v[b]);
    }
}

/* Applies the column scalings to the potentials of the sinks, which are clamped to half of
 * INT32_LIMIT. */
SIMD_CLONES static void update_sinks(const simplex *s, double temperature)
{
    const f32 *log_v = (const f32 *)(const void *)s->log_scaling;
    i32 *sink = (i32 *)(void *)(s->potential32 + s->sink0);
    float by = (float)(-0.6931471805599453 * temperature), far = INT32_LIMIT / 2;
    for (int64_t b = 0; b < s->ld / COLUMN_BLOCK; b++) {
        f32 value = __builtin_convertvector(sink[b], f32) + log_v[b] * by;
        sink[b] = __builtin_convertvector(float_clamp(value, -far, far), i32);
    }
    for (int64_t j = s->m; j < s->ld; j++)
        s->potential32[s->sink0 + j] = 0;
}

static void balance_at(simplex *s, double temperature)
{
    near_weights(s, temperature);
    memset(s->log_scaling, 0, (size_t)s->ld * sizeof *s->log_scaling);
    memcpy(s->scaling, s->weight + s->sink0, (size_t)s->ld * sizeof *s->scaling);
    for (int round = 0; round < BALANCE_ROUNDS; round++)
        balance_round(s);
    update_sinks(s, temperature);
}

/* Sets the weights on both sides. They sum to 1 on each side. */
static void set_weights(simplex *s)
{
    double total = 0;
    for (int64_t i = 0; i < s->n; i++)
        total += (double)s->supply[i];
    memset(s->weight, 0, (size_t)s->nodes * sizeof *s->weight);
    for (int64_t i = 0; i < s->n; i++)
        s->weight[i] = (float)((double)s->supply[i] / total);
    for (int64_t x = s->sink0; x < s->sink0 + s->m; x++)
        s->weight[x] = (float)((double)s->supply[x] / total);
}

void start_balance(simplex *s, bool balanced)
{
    double width = near_width(s);
    s->near = true;
    list_near(s, (int32_t)((balanced ? PRICE_REACH : BALANCE_REACH) * width));
    if (balanced)
        return;
    set_weights(s);
    balance_at(s, BALANCE_HOT * width);
    balance_at(s, BALANCE_COLD * width);
}
