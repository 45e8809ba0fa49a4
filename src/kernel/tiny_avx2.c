/* Small problems for processors with AVX2. */
#include "kernel/avx2.h"
#include "kernel/kernels.h"

#ifdef __x86_64__
#define TARGET AVX2

/* Half a tile: the least of eight columns, its lane and row. */
TARGET static inline int32_t half_tile(const int32_t *cost, const int32_t *sink,
                                       const int32_t *source, int64_t rows, int32_t *row, int *lane)
{
    const __m256i one = _mm256_set1_epi32(1), pot = load(sink);
    __m256i best = _mm256_set1_epi32(INT32_MAX), where = _mm256_setzero_si256(), at = where;
    for (int64_t i = 0; i < rows; i++, at = _mm256_add_epi32(at, one)) {
        __m256i own = _mm256_add_epi32(load(cost + i * LANES), pot);
        own = _mm256_sub_epi32(own, _mm256_set1_epi32(source[i]));
        where = _mm256_blendv_epi8(where, at, _mm256_cmpgt_epi32(best, own));
        best = _mm256_min_epi32(best, own);
    }
    int32_t value = least_int(best);
    __m256i hit = _mm256_cmpeq_epi32(best, _mm256_set1_epi32(value));
    *lane = __builtin_ctz((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(hit)));
    __m256i first = _mm256_permutevar8x32_epi32(where, _mm256_set1_epi32(*lane));
    *row = _mm_cvtsi128_si32(_mm256_castsi256_si128(first));
    return value;
}

TARGET static inline int32_t tile_best(const int32_t *cost, const int32_t *sink,
                                       const int32_t *source, int64_t rows, int64_t *row,
                                       int64_t *column)
{
    int32_t row_of[2], value[2];
    int lane[2];
    value[0] = half_tile(cost, sink, source, rows, &row_of[0], &lane[0]);
    value[1] = half_tile(cost + 8, sink + 8, source, rows, &row_of[1], &lane[1]);
    int half = value[1] < value[0];
    *row = row_of[half];
    *column = 8 * half + lane[half];
    return value[half];
}

TARGET static inline int64_t open_best(const int32_t *cost, const int32_t *sink, uint32_t open)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i none = _mm256_set1_epi32(INT32_MAX);
    __m256i own = _mm256_and_si256(_mm256_set1_epi32((int32_t)open), lane);
    __m256i low = _mm256_blendv_epi8(none, value_at(cost, sink), _mm256_cmpeq_epi32(own, lane));
    own = _mm256_and_si256(_mm256_set1_epi32((int32_t)(open >> 8)), lane);
    __m256i high =
        _mm256_blendv_epi8(none, value_at(cost + 8, sink + 8), _mm256_cmpeq_epi32(own, lane));
    __m256i least = _mm256_set1_epi32(least_int(_mm256_min_epi32(low, high)));
    int hit = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(low, least)));
    hit |= _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(high, least))) << 8;
    return __builtin_ctz((unsigned)hit);
}

/* The nodes whose subtree holds one of `wanted`. */
TARGET static inline uint32_t holders(const small_tree *t, uint32_t wanted)
{
    __m256i bits = _mm256_set1_epi32((int32_t)wanted), zero = _mm256_setzero_si256();
    uint32_t without = 0;
    for (int k = 0; k < 2 * LANES; k += 8) {
        __m256i miss = _mm256_cmpeq_epi32(_mm256_and_si256(load(t->mask + k), bits), zero);
        without |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(miss)) << k;
    }
    return ~without;
}

/* Four of the bits from k on as masks of whole lanes. */
TARGET static inline __m256i four_lanes(uint32_t bits, int k)
{
    const __m256i lane = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits >> k), lane), lane);
}

TARGET static inline int64_t least_long(__m256i four)
{
    int64_t part[4], best = INT64_MAX;
    store(part, four);
    for (int k = 0; k < 4; k++)
        best = part[k] < best ? part[k] : best;
    return best;
}

TARGET static inline int32_t push(small_tree *t, int64_t row, int64_t column, uint32_t side[2],
                                  int64_t *theta)
{
    const uint32_t sources = ((uint32_t)1 << LANES) - 1;
    __m256i least = _mm256_set1_epi64x(INT64_MAX);
    uint32_t above = holders(t, (uint32_t)1 << row), empty = 0;
    uint32_t other = holders(t, (uint32_t)1 << LANES << column);
    side[0] = above & ~other;
    side[1] = other & ~above;
    uint32_t losing = (side[0] & sources) | (side[1] & ~sources), gaining = above ^ other ^ losing;
    for (int k = 0; k < 2 * LANES; k += 4) {
        __m256i own = load(t->flow + k);
        __m256i less = _mm256_and_si256(four_lanes(losing, k), _mm256_cmpgt_epi64(least, own));
        least = _mm256_blendv_epi8(least, own, less);
    }
    *theta = least_long(least);
    __m256i by = _mm256_set1_epi64x(*theta);
    for (int k = 0; k < 2 * LANES; k += 4) {
        __m256i own = load(t->flow + k), lose = four_lanes(losing, k);
        __m256i gone = _mm256_and_si256(lose, _mm256_cmpeq_epi64(own, by));
        empty |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(gone)) << k;
        own = _mm256_sub_epi64(own, _mm256_and_si256(lose, by));
        own = _mm256_add_epi64(own, _mm256_and_si256(four_lanes(gaining, k), by));
        store(t->flow + k, own);
    }
    return __builtin_ctz(empty);
}

TARGET static inline void regraft(small_tree *t, uint32_t from, uint32_t to, uint32_t cut)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i bits = _mm256_set1_epi32((int32_t)cut);
    for (int k = 0; k < 2 * LANES; k += 8) {
        __m256i own = load(t->mask + k), at = _mm256_set1_epi32((int32_t)(from >> k & 255));
        __m256i less = _mm256_cmpeq_epi32(_mm256_and_si256(at, lane), lane);
        at = _mm256_set1_epi32((int32_t)(to >> k & 255));
        __m256i more = _mm256_cmpeq_epi32(_mm256_and_si256(at, lane), lane);
        own = _mm256_andnot_si256(_mm256_and_si256(less, bits), own);
        store(t->mask + k, _mm256_or_si256(own, _mm256_and_si256(more, bits)));
    }
}

TARGET static inline void shift(small_tree *t, uint32_t cut, int32_t by)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i step = _mm256_set1_epi32(by);
    for (int k = 0; k < 2 * LANES; k += 8) {
        __m256i at = _mm256_set1_epi32((int32_t)(cut >> k & 255));
        __m256i in = _mm256_cmpeq_epi32(_mm256_and_si256(at, lane), lane);
        store(t->potential + k,
              _mm256_add_epi32(load(t->potential + k), _mm256_and_si256(in, step)));
    }
}

#include "kernel/tiny_steps.h"

TARGET void small_avx2(small_tree *t, const small_problem *p, int count)
{
    if (count == 2)
        solve_two(t, p);
    else
        solve_one(t, p);
}
#endif
