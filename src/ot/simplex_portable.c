/* Kernels in plain C, and the choice among the sets. */
#include "ot/simplex_kernels.h"

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

static void shift(int32_t *potential, const uint64_t *mask, int64_t words, int32_t by)
{
    for (int64_t w = 0; w < words; w++)
        for (uint64_t bits = mask[w]; bits; bits &= bits - 1)
            potential[64 * w + __builtin_ctzll(bits)] += by;
}

static double row_slack(const double *cost, const double *g, int64_t count)
{
    double least = INFINITY;
    for (int64_t j = 0; j < count; j++)
        least = cost[j] - g[j] < least ? cost[j] - g[j] : least;
    return least;
}

const simplex_kernels simplex_portable = {"portable", row_min, row_find, move, shift, row_slack};

const simplex_kernels *simplex_kernels_find(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &simplex_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &simplex_avx2;
#endif
    return &simplex_portable;
}
