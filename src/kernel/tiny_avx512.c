/* Small problems for processors with AVX-512 F and DQ. */
#include "kernel/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq,bmi,bmi2,popcnt")))

TARGET static inline int32_t tile_best(const int32_t *cost, const int32_t *sink,
                                       const int32_t *source, int64_t rows, int64_t *row,
                                       int64_t *column)
{
    const __m512i one = _mm512_set1_epi32(1), pot = _mm512_load_si512(sink);
    __m512i best = _mm512_set1_epi32(INT32_MAX), where = _mm512_setzero_si512(), at = where;
    for (int64_t i = 0; i < rows; i++, at = _mm512_add_epi32(at, one)) {
        __m512i own = _mm512_add_epi32(_mm512_load_si512(cost + i * LANES), pot);
        own = _mm512_sub_epi32(own, _mm512_set1_epi32(source[i]));
        where = _mm512_mask_mov_epi32(where, _mm512_cmplt_epi32_mask(own, best), at);
        best = _mm512_min_epi32(best, own);
    }
    int32_t value = _mm512_reduce_min_epi32(best);
    unsigned lane =
        (unsigned)__builtin_ctz(_mm512_cmpeq_epi32_mask(best, _mm512_set1_epi32(value)));
    __m512i first = _mm512_permutexvar_epi32(_mm512_set1_epi32((int32_t)lane), where);
    *column = lane;
    *row = _mm_cvtsi128_si32(_mm512_castsi512_si128(first));
    return value;
}

TARGET static inline int64_t open_best(const int32_t *cost, const int32_t *sink, uint32_t open)
{
    __m512i value = _mm512_add_epi32(_mm512_load_si512(cost), _mm512_load_si512(sink));
    __m512i least = _mm512_set1_epi32(_mm512_mask_reduce_min_epi32((__mmask16)open, value));
    return __builtin_ctz(_mm512_mask_cmpeq_epi32_mask((__mmask16)open, value, least));
}

/* The nodes whose subtree holds one of `wanted`. */
TARGET static inline uint32_t holders(__m512i low, __m512i high, uint32_t wanted)
{
    __m512i bits = _mm512_set1_epi32((int32_t)wanted);
    return (uint32_t)_mm512_test_epi32_mask(low, bits) |
           (uint32_t)_mm512_test_epi32_mask(high, bits) << LANES;
}

TARGET static inline int32_t push(small_tree *t, int64_t row, int64_t column, uint32_t side[2],
                                  int64_t *theta)
{
    const uint32_t sources = ((uint32_t)1 << LANES) - 1;
    const __m512i none = _mm512_set1_epi64(INT64_MAX);
    __m512i low = _mm512_load_si512(t->mask), high = _mm512_load_si512(t->mask + LANES);
    uint32_t above = holders(low, high, (uint32_t)1 << row);
    uint32_t other = holders(low, high, (uint32_t)1 << LANES << column);
    side[0] = above & ~other;
    side[1] = other & ~above;
    uint32_t losing = (side[0] & sources) | (side[1] & ~sources), gaining = above ^ other ^ losing;
    __m512i flow[4], least = none;
    for (int k = 0; k < 4; k++) {
        flow[k] = _mm512_load_si512(t->flow + 8 * k);
        __m512i own = _mm512_mask_mov_epi64(none, (__mmask8)(losing >> 8 * k), flow[k]);
        least = _mm512_min_epi64(least, own);
    }
    *theta = _mm512_reduce_min_epi64(least);
    __m512i by = _mm512_set1_epi64(*theta);
    uint32_t empty = 0;
    for (int k = 0; k < 4; k++) {
        __mmask8 lose = (__mmask8)(losing >> 8 * k), gain = (__mmask8)(gaining >> 8 * k);
        empty |= (uint32_t)_mm512_mask_cmpeq_epi64_mask(lose, flow[k], by) << 8 * k;
        __m512i own = _mm512_mask_sub_epi64(flow[k], lose, flow[k], by);
        _mm512_store_si512(t->flow + 8 * k, _mm512_mask_add_epi64(own, gain, own, by));
    }
    return __builtin_ctz(empty);
}

TARGET static inline void regraft(small_tree *t, uint32_t from, uint32_t to, uint32_t cut)
{
    __m512i bits = _mm512_set1_epi32((int32_t)cut);
    for (int k = 0; k < 2 * LANES; k += LANES) {
        __m512i own = _mm512_load_si512(t->mask + k);
        own = _mm512_mask_andnot_epi32(own, (__mmask16)(from >> k), bits, own);
        own = _mm512_mask_or_epi32(own, (__mmask16)(to >> k), own, bits);
        _mm512_store_si512(t->mask + k, own);
    }
}

TARGET static inline void shift(small_tree *t, uint32_t cut, int32_t by)
{
    __m512i step = _mm512_set1_epi32(by);
    for (int k = 0; k < 2 * LANES; k += LANES) {
        __m512i old = _mm512_load_si512(t->potential + k);
        old = _mm512_mask_add_epi32(old, (__mmask16)(cut >> k), old, step);
        _mm512_store_si512(t->potential + k, old);
    }
}

#include "kernel/tiny_steps.h"

TARGET void small_avx512(small_tree *t, const small_problem *p, int count)
{
    if (count == 2)
        solve_two(t, p);
    else
        solve_one(t, p);
}
#endif
