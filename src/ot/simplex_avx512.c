/* Kernels for processors with AVX-512 F and DQ. */
#include "ot/simplex_kernels.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <math.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,bmi,bmi2")))

AVX512 static inline __m512i value_at(const int32_t *cost, const int32_t *sink)
{
    return _mm512_add_epi32(_mm512_loadu_si512(cost), _mm512_load_si512(sink));
}

AVX512 static int32_t row_min(const int32_t *cost, const int32_t *sink, int64_t count)
{
    __m512i best = value_at(cost, sink), second = best;
    int64_t j = LANES;
    for (; j + LANES < count; j += 2 * LANES) {
        best = _mm512_min_epi32(best, value_at(cost + j, sink + j));
        second = _mm512_min_epi32(second, value_at(cost + j + LANES, sink + j + LANES));
    }
    if (j < count)
        best = _mm512_min_epi32(best, value_at(cost + j, sink + j));
    return _mm512_reduce_min_epi32(_mm512_min_epi32(best, second));
}

AVX512 static int64_t row_find(const int32_t *cost, const int32_t *sink, int32_t value)
{
    __m512i wanted = _mm512_set1_epi32(value);
    int64_t j = 0;
    __mmask16 hit;
    while (!(hit = _mm512_cmpeq_epi32_mask(value_at(cost + j, sink + j), wanted)))
        j += LANES;
    return j + __builtin_ctz(hit);
}

AVX512 static void move_one_word(const mask_move *m)
{
    uint64_t *mask = m->mask, cut = mask[m->path[m->at]];
    *m->cut = cut;
    for (int64_t k = m->at + 1; k < m->length; k++)
        mask[m->path[k]] &= ~cut;
    for (int64_t k = 0; k < m->n_other; k++)
        mask[m->other[k]] |= cut;
    for (int64_t k = m->at; k > 0; k--)
        mask[m->path[k]] = cut & ~mask[m->path[k - 1]];
    mask[m->path[0]] = cut;
}

AVX512 static void move(const mask_move *m)
{
    if (m->words == 1) {
        move_one_word(m);
        return;
    }
    int64_t stride = m->words;
    for (int64_t w = 0; w < stride; w += MASK_WORDS) {
        uint64_t *mask = m->mask + w;
        __m512i cut = _mm512_load_si512(mask + m->path[m->at] * stride);
        _mm512_store_si512(m->cut + w, cut);
        if (!_mm512_test_epi64_mask(cut, cut))
            continue;
        for (int64_t k = m->at + 1; k < m->length; k++) {
            uint64_t *own = mask + m->path[k] * stride;
            _mm512_store_si512(own, _mm512_andnot_si512(cut, _mm512_load_si512(own)));
        }
        for (int64_t k = 0; k < m->n_other; k++) {
            uint64_t *own = mask + m->other[k] * stride;
            _mm512_store_si512(own, _mm512_or_si512(cut, _mm512_load_si512(own)));
        }
        for (int64_t k = m->at; k > 0; k--) {
            __m512i below = _mm512_load_si512(mask + m->path[k - 1] * stride);
            _mm512_store_si512(mask + m->path[k] * stride, _mm512_andnot_si512(below, cut));
        }
        _mm512_store_si512(mask + m->path[0] * stride, cut);
    }
}

AVX512 static void shift(int32_t *potential, const uint64_t *mask, int64_t words, int32_t by)
{
    __m512i step = _mm512_set1_epi32(by);
    for (int64_t w = 0; w < words; w++) {
        uint64_t bits = mask[w];
        for (int32_t *p = potential + 64 * w; bits; bits >>= LANES, p += LANES) {
            __m512i old = _mm512_load_si512(p);
            _mm512_store_si512(p, _mm512_mask_add_epi32(old, (__mmask16)bits, old, step));
        }
    }
}

AVX512 static double row_slack(const double *cost, const double *g, int64_t count)
{
    __m512d least = _mm512_set1_pd(INFINITY);
    int64_t j = 0;
    for (; j + 8 <= count; j += 8)
        least =
            _mm512_min_pd(_mm512_sub_pd(_mm512_loadu_pd(cost + j), _mm512_loadu_pd(g + j)), least);
    if (j < count) {
        __mmask8 rest = (__mmask8)((1u << (count - j)) - 1);
        __m512d slack = _mm512_sub_pd(_mm512_maskz_loadu_pd(rest, cost + j),
                                      _mm512_maskz_loadu_pd(rest, g + j));
        least = _mm512_mask_min_pd(least, rest, slack, least);
    }
    return _mm512_reduce_min_pd(least);
}

const simplex_kernels simplex_avx512 = {"avx512", row_min, row_find, move, shift, row_slack};
#endif
