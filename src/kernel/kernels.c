/* Kernels in plain C, and the choice among the sets. */
#include "kernel/kernels.h"

#include <math.h>

static int32_t row_min(const int32_t *cost, const int32_t *sink, int64_t count)
{
    int32_t best = INT32_MAX;
    for (int64_t j = 0; j < count; j++) {
        int32_t value = cost[j] + sink[j];
        best = value < best ? value : best;
    }
    return best;
}

static int64_t row_find(const int32_t *cost, const int32_t *sink, int32_t value)
{
    int64_t j = 0;
    while (cost[j] + sink[j] != value)
        j++;
    return j;
}

static int32_t block_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                          int64_t rows, int64_t count, int64_t *row, int64_t *column)
{
    int32_t best = 0;
    for (int64_t i = 0; i < rows; i++) {
        int32_t value = row_min(cost + i * count, sink, count) - source[i];
        if (value < best) {
            best = value;
            *row = i;
        }
    }
    if (best < 0)
        *column = row_find(cost + *row * count, sink, best + source[*row]);
    return best;
}

static int32_t near_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                         int64_t rows, int64_t count, const int32_t *block, int64_t n_blocks,
                         int64_t *row, int64_t *column)
{
    int32_t best = 0;
    for (int64_t i = 0; i < rows; i++) {
        int32_t least = INT32_MAX;
        for (int64_t k = 0; k < n_blocks; k++) {
            int32_t own =
                row_min(cost + i * count + block[k] * LANES, sink + block[k] * LANES, LANES);
            least = own < least ? own : least;
        }
        if (least - source[i] < best) {
            best = least - source[i];
            *row = i;
        }
    }
    if (best == 0)
        return 0;
    for (cost += *row * count;; block++)
        for (int64_t j = block[0] * LANES; j < (block[0] + 1) * LANES; j++)
            if (cost[j] + sink[j] == best + source[*row]) {
                *column = j;
                return best;
            }
}

static int64_t blocks_below(int32_t *block, const int32_t *cost, const int32_t *sink,
                            const int32_t *limit, int64_t rows, int64_t count)
{
    int64_t found = 0;
    for (int64_t j = 0; j < count; j += LANES) {
        int32_t in = 0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t k = j; k < j + LANES; k++)
                in |= cost[i * count + k] + sink[k] < limit[i];
        block[found] = (int32_t)(j / LANES);
        found += in;
    }
    return found;
}

static int64_t row_best(const int32_t *cost, const int32_t *sink, int64_t count)
{
    return row_find(cost, sink, row_min(cost, sink, count));
}

static void row_raise(int32_t *high, const int32_t *cost, int64_t count, int32_t f)
{
    for (int64_t j = 0; j < count; j++)
        high[j] = f - cost[j] > high[j] ? f - cost[j] : high[j];
}

static void whole_distances(int32_t *out, const int32_t *x, const int32_t *y, int64_t stride,
                            int64_t d, int64_t count, int shift)
{
    for (int64_t j = 0; j < count; j++)
        out[j] = (x[0] - y[j]) * (x[0] - y[j]) << shift;
    for (int64_t k = 1; k < d; k++)
        for (int64_t j = 0; j < count; j++)
            out[j] += (x[k] - y[k * stride + j]) * (x[k] - y[k * stride + j]) << shift;
}

static bool quantise(int32_t *out, const double *cost, int64_t count, double offset, double scale)
{
    bool exact = true;
    for (int64_t j = 0; j < count; j++) {
        double value = (cost[j] - offset) * scale;
        out[j] = (int32_t)rint(value);
        exact &= value == (double)out[j];
    }
    return exact;
}

static void move(const mask_move *m)
{
    for (int64_t w = 0; w < m->words; w++) {
        uint64_t *mask = m->mask + w;
        uint64_t cut = mask[m->path[m->at] * m->words];
        m->cut[w] = cut;
        if (cut == 0)
            continue;
        for (int64_t k = m->at + 1; k < m->length; k++)
            mask[m->path[k] * m->words] &= ~cut;
        for (int64_t k = 0; k < m->n_other; k++)
            mask[m->other[k] * m->words] |= cut;
        for (int64_t k = m->at; k > 0; k--)
            mask[m->path[k] * m->words] = cut & ~mask[m->path[k - 1] * m->words];
        mask[m->path[0] * m->words] = cut;
    }
}

static void shift_mask(int32_t *potential, const uint64_t *mask, int64_t count, int32_t by)
{
    for (int64_t w = 0; 64 * w < count; w++)
        for (uint64_t bits = mask[w]; bits; bits &= bits - 1)
            potential[64 * w + __builtin_ctzll(bits)] += by;
}

static void shift_fine(double *potential, const uint64_t *mask, int64_t count, double by)
{
    for (int64_t w = 0; 64 * w < count; w++)
        for (uint64_t bits = mask[w]; bits; bits &= bits - 1)
            potential[64 * w + __builtin_ctzll(bits)] += by;
}

static void range(double *low, double *high, const double *value, int64_t count)
{
    double least = value[0], largest = value[0];
    for (int64_t j = 1; j < count; j++) {
        least = value[j] < least ? value[j] : least;
        largest = value[j] > largest ? value[j] : largest;
    }
    *low = least;
    *high = largest;
}

static void distances(double *out, const double *x, const double *y, int64_t stride, int64_t d,
                      int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; i++, x += d, out += count) {
        for (int64_t j = 0; j < count; j++)
            out[j] = (x[0] - y[j]) * (x[0] - y[j]);
        for (int64_t k = 1; k < d; k++)
            for (int64_t j = 0; j < count; j++)
                out[j] += (x[k] - y[k * stride + j]) * (x[k] - y[k * stride + j]);
    }
}

static void slack(double *f, const double *cost, const double *g, int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; i++, cost += count) {
        double least = INFINITY;
        for (int64_t j = 0; j < count; j++)
            least = cost[j] - g[j] < least ? cost[j] - g[j] : least;
        f[i] = least;
    }
}

static double row_quanta(double *out, const double *cost, const double *sink, int64_t count,
                         double scale)
{
    const double magic = 0x1.8p52; /* adding and taking it away rounds to an integer */
    double least = INFINITY;
    for (int64_t j = 0; j < count; j++) {
        out[j] = ((cost[j] * scale + magic) - magic) + sink[j];
        least = out[j] < least ? out[j] : least;
    }
    return least;
}

static int64_t collect(int32_t *index, const double *value, int64_t count, double limit)
{
    int64_t found = 0;
    for (int64_t j = 0; j < count; j++)
        if (value[j] < limit)
            index[found++] = (int32_t)j;
    return found;
}

static double arcs_min(const double *cost, const int32_t *column, const double *sink, int64_t count)
{
    double least = INFINITY;
    for (int64_t k = 0; k < count; k++) {
        double value = cost[k] + sink[column[k]];
        least = value < least ? value : least;
    }
    return least;
}

static double dot(const double *x, const double *y, int64_t d)
{
    double lane[8] = {0};
    for (int64_t k = 0; k < d; k++)
        lane[k % 8] = fma(x[k], y[k], lane[k % 8]);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void dots(double *out, int64_t ld, const double *const *row, const double *const *column,
                 int64_t d)
{
    for (int r = 0; r < DOT_SIDE; r++)
        for (int c = 0; c < DOT_SIDE; c++)
            out[r * ld + c] = dot(row[r], column[c], d);
}

const kernels kernels_portable = {
    .name = "portable",
    .block_best = block_best,
    .near_best = near_best,
    .row_best = row_best,
    .row_least = row_min,
    .blocks_below = blocks_below,
    .row_raise = row_raise,
    .whole_distances = whole_distances,
    .quantise = quantise,
    .move = move,
    .shift = shift_mask,
    .shift_fine = shift_fine,
    .small = small_portable,
    .distances = distances,
    .dots = dots,
    .range = range,
    .slack = slack,
    .row_quanta = row_quanta,
    .collect = collect,
    .arcs_min = arcs_min,
};

const kernels *kernels_find(void)
{
#ifdef __x86_64__
    bool bits = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (bits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &kernels_avx512;
    if (bits && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_portable;
}
