/* Kernels in plain C, and the choice among the sets. */
#include "ot/kernels.h"

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

static int64_t row_best(const int32_t *cost, const int32_t *sink, int64_t count)
{
    return row_find(cost, sink, row_min(cost, sink, count));
}

static int32_t tile_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                         int64_t rows, int64_t *row, int64_t *column)
{
    int32_t best[LANES];
    int64_t where[LANES];
    for (int j = 0; j < LANES; j++)
        best[j] = INT32_MAX;
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < LANES; j++) {
            int32_t value = cost[i * LANES + j] + sink[j] - source[i];
            where[j] = value < best[j] ? i : where[j];
            best[j] = value < best[j] ? value : best[j];
        }
    *column = 0;
    for (int j = 1; j < LANES; j++)
        *column = best[j] < best[*column] ? j : *column;
    *row = where[*column];
    return best[*column];
}

static int64_t open_best(const int32_t *cost, const int32_t *sink, uint32_t open)
{
    int64_t best = __builtin_ctz(open);
    for (; open; open &= open - 1) {
        int64_t j = __builtin_ctz(open);
        best = cost[j] + sink[j] < cost[best] + sink[best] ? j : best;
    }
    return best;
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

/* The nodes from x up to where the subtree holds `other`; those of `losing` give flow away. */
static uint32_t climb(const small_tree *t, int32_t x, uint32_t other, uint32_t losing,
                      int32_t *blocking, int64_t *theta)
{
    uint32_t way = 0;
    for (; !(t->mask[x] & other); x = t->parent[x]) {
        way |= (uint32_t)1 << x;
        if (losing >> x & 1 && t->flow[x] < *theta) {
            *theta = t->flow[x];
            *blocking = x;
        }
    }
    return way;
}

static int32_t small_push(small_tree *t, int64_t row, int64_t column, uint32_t side[2],
                          int64_t *theta)
{
    const uint32_t sources = ((uint32_t)1 << LANES) - 1;
    int32_t sink = (int32_t)(LANES + column), blocking = -1;
    *theta = INT64_MAX;
    side[0] = climb(t, (int32_t)row, (uint32_t)1 << sink, sources, &blocking, theta);
    side[1] = climb(t, sink, (uint32_t)1 << row, ~sources, &blocking, theta);
    uint32_t losing = (side[0] & sources) | (side[1] & ~sources);
    for (uint32_t way = side[0] | side[1]; way; way &= way - 1) {
        int x = __builtin_ctz(way);
        t->flow[x] += losing >> x & 1 ? -*theta : *theta;
    }
    return blocking;
}

static void small_regraft(small_tree *t, uint32_t from, uint32_t to, uint32_t cut)
{
    for (; from; from &= from - 1)
        t->mask[__builtin_ctz(from)] &= ~cut;
    for (; to; to &= to - 1)
        t->mask[__builtin_ctz(to)] |= cut;
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
    .row_best = row_best,
    .open_best = open_best,
    .tile_best = tile_best,
    .row_raise = row_raise,
    .whole_distances = whole_distances,
    .quantise = quantise,
    .move = move,
    .shift = shift_mask,
    .shift_fine = shift_fine,
    .small_push = small_push,
    .small_regraft = small_regraft,
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
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_portable;
}
