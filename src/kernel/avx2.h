/* What the files for processors with AVX2 share. */
#ifndef DDSC_KERNEL_AVX2_H
#define DDSC_KERNEL_AVX2_H

#ifdef __x86_64__
#include <immintrin.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))

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

AVX2 static inline int32_t least_int(__m256i eight)
{
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0xb1));
    return _mm_cvtsi128_si32(four);
}
#endif

#endif
