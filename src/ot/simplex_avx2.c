/* Kernels for processors with AVX2. */
#include "ot/simplex_kernels.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <math.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2")))

AVX2 static inline __m256i load(const void *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

AVX2 static inline void store(void *at, __m256i value)
{
    _mm256_storeu_si256((__m256i *)at, value);
}

AVX2 static inline __m256i value_at(const int32_t *cost, const int32_t *sink)
{
    return _mm256_add_epi32(load(cost), load(sink));
}

AVX2 static int32_t row_min(const int32_t *cost, const int32_t *sink, int64_t count)
{
    __m256i low = _mm256_set1_epi32(INT32_MAX), high = low;
    for (int64_t j = 0; j < count; j += LANES) {
        low = _mm256_min_epi32(low, value_at(cost + j, sink + j));
        high = _mm256_min_epi32(high, value_at(cost + j + 8, sink + j + 8));
    }
    low = _mm256_min_epi32(low, high);
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0xb1));
    return _mm_cvtsi128_si32(four);
}

AVX2 static int64_t row_find(const int32_t *cost, const int32_t *sink, int32_t value)
{
    __m256i wanted = _mm256_set1_epi32(value);
    for (int64_t j = 0;; j += 8) {
        __m256i equal = _mm256_cmpeq_epi32(value_at(cost + j, sink + j), wanted);
        int hit = _mm256_movemask_ps(_mm256_castsi256_ps(equal));
        if (hit)
            return j + __builtin_ctz((unsigned)hit);
    }
}

/* Four words of every mask on the way, from word w on. */
AVX2 static void move_strip(const mask_move *m, int64_t w)
{
    int64_t stride = m->words;
    uint64_t *mask = m->mask + w;
    __m256i cut = load(mask + m->path[m->at] * stride);
    store(m->cut + w, cut);
    if (_mm256_testz_si256(cut, cut))
        return;
    for (int64_t k = m->at + 1; k < m->length; k++) {
        uint64_t *own = mask + m->path[k] * stride;
        store(own, _mm256_andnot_si256(cut, load(own)));
    }
    for (int64_t k = 0; k < m->n_other; k++) {
        uint64_t *own = mask + m->other[k] * stride;
        store(own, _mm256_or_si256(cut, load(own)));
    }
    for (int64_t k = m->at; k > 0; k--)
        store(mask + m->path[k] * stride,
              _mm256_andnot_si256(load(mask + m->path[k - 1] * stride), cut));
    store(mask + m->path[0] * stride, cut);
}

AVX2 static void move(const mask_move *m)
{
    if (m->words == 1) {
        simplex_portable.move(m);
        return;
    }
    for (int64_t w = 0; w < m->words; w += 4)
        move_strip(m, w);
}

AVX2 static void shift(int32_t *potential, const uint64_t *mask, int64_t words, int32_t by)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i step = _mm256_set1_epi32(by);
    for (int64_t w = 0; w < words; w++) {
        uint64_t bits = mask[w];
        for (int32_t *p = potential + 64 * w; bits; bits >>= 8, p += 8) {
            __m256i own = _mm256_and_si256(_mm256_set1_epi32((int)(bits & 255)), lane);
            __m256i in = _mm256_cmpeq_epi32(own, lane);
            store(p, _mm256_add_epi32(load(p), _mm256_and_si256(in, step)));
        }
    }
}

AVX2 static double row_slack(const double *cost, const double *g, int64_t count)
{
    __m256d least = _mm256_set1_pd(INFINITY);
    int64_t j = 0;
    for (; j + 4 <= count; j += 4)
        least =
            _mm256_min_pd(_mm256_sub_pd(_mm256_loadu_pd(cost + j), _mm256_loadu_pd(g + j)), least);
    double part[4], best = INFINITY;
    _mm256_storeu_pd(part, least);
    for (int k = 0; k < 4; k++)
        best = part[k] < best ? part[k] : best;
    for (; j < count; j++)
        best = cost[j] - g[j] < best ? cost[j] - g[j] : best;
    return best;
}

const simplex_kernels simplex_avx2 = {"avx2", row_min, row_find, move, shift, row_slack};
#endif
