/* Kernels for processors with AVX-512 F and DQ. */
#include "kernel/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <math.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,bmi,bmi2,popcnt")))

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

AVX512 static int32_t block_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                                 int64_t rows, int64_t count, int64_t *row, int64_t *column)
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512i best = _mm512_set1_epi32(INT32_MAX), where = _mm512_setzero_si512(), at = where;
    const int32_t *own = cost;
    for (int64_t i = 0; i < rows; i++, own += count) {
        __m512i least = value_at(own, sink);
        for (int64_t j = LANES; j < count; j += LANES)
            least = _mm512_min_epi32(least, value_at(own + j, sink + j));
        least = _mm512_sub_epi32(least, _mm512_set1_epi32(source[i]));
        __mmask16 better = _mm512_cmplt_epi32_mask(least, best);
        best = _mm512_min_epi32(best, least);
        where = _mm512_mask_mov_epi32(where, better, at);
        at = _mm512_add_epi32(at, one);
    }
    if (!_mm512_movepi32_mask(best))
        return 0;
    int32_t value = _mm512_reduce_min_epi32(best);
    __mmask16 hit = _mm512_cmpeq_epi32_mask(best, _mm512_set1_epi32(value));
    *row = _mm512_mask_reduce_min_epi32(hit, where);
    *column = row_find(cost + *row * count, sink, value + source[*row]);
    return value;
}

AVX512 static int32_t near_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                                int64_t rows, int64_t count, const int32_t *block, int64_t n_blocks,
                                int64_t *row, int64_t *column)
{
    const int32_t *own[QUAD];
    __m512i least[QUAD];
    int32_t from[QUAD];
    for (int64_t i = 0; i < QUAD; i++) { /* where rows lack, the last one again */
        int64_t at = BASE_MIN(i, rows - 1);
        own[i] = cost + at * count;
        from[i] = source[at];
        least[i] = _mm512_set1_epi32(INT32_MAX);
    }
    for (int64_t k = 0; k < n_blocks; k++) {
        int64_t j = (int64_t)block[k] * LANES;
        for (int i = 0; i < QUAD; i++)
            least[i] = _mm512_min_epi32(least[i], value_at(own[i] + j, sink + j));
    }
    __m512i best = _mm512_setzero_si512();
    for (int i = 0; i < QUAD; i++) {
        least[i] = _mm512_sub_epi32(least[i], _mm512_set1_epi32(from[i]));
        best = _mm512_min_epi32(best, least[i]);
    }
    if (!_mm512_movepi32_mask(best))
        return 0;
    int32_t value = _mm512_reduce_min_epi32(best);
    int64_t at = 0;
    while (!_mm512_cmpeq_epi32_mask(least[at], _mm512_set1_epi32(value)))
        at++;
    __m512i wanted = _mm512_set1_epi32(value + from[at]);
    __mmask16 hit;
    while (!(hit = _mm512_cmpeq_epi32_mask(
                 value_at(own[at] + *block * LANES, sink + *block * LANES), wanted)))
        block++;
    *row = at;
    *column = (int64_t)*block * LANES + __builtin_ctz(hit);
    return value;
}

AVX512 static int64_t blocks_below(int32_t *block, const int32_t *cost, const int32_t *sink,
                                   const int32_t *limit, int64_t rows, int64_t count)
{
    int64_t found = 0;
    for (int64_t j = 0; j < count; j += LANES) {
        __mmask16 in = 0;
        for (int64_t i = 0; i < rows; i++)
            in |= _mm512_cmplt_epi32_mask(value_at(cost + i * count + j, sink + j),
                                          _mm512_set1_epi32(limit[i]));
        block[found] = (int32_t)(j / LANES);
        found += in != 0;
    }
    return found;
}

AVX512 static int64_t row_best(const int32_t *cost, const int32_t *sink, int64_t count)
{
    if (count > LANES)
        return row_find(cost, sink, row_min(cost, sink, count));
    __m512i value = value_at(cost, sink);
    __m512i least = _mm512_set1_epi32(_mm512_reduce_min_epi32(value));
    return __builtin_ctz(_mm512_cmpeq_epi32_mask(value, least));
}

AVX512 static void row_raise(int32_t *high, const int32_t *cost, int64_t count, int32_t f)
{
    __m512i from = _mm512_set1_epi32(f);
    for (int64_t j = 0; j < count; j += LANES) {
        __m512i value = _mm512_sub_epi32(from, _mm512_load_si512(cost + j));
        _mm512_store_si512(high + j, _mm512_max_epi32(_mm512_load_si512(high + j), value));
    }
}

AVX512 static void whole_distances(int32_t *out, const int32_t *x, const int32_t *y, int64_t stride,
                                   int64_t d, int64_t count, int shift)
{
    __m128i by = _mm_cvtsi32_si128(shift);
    for (int64_t j = 0; j < count; j += LANES) {
        __mmask16 in = (__mmask16)(j + LANES <= count ? 0xffffu : (1u << (count - j)) - 1);
        __m512i sum = _mm512_setzero_si512();
        for (int64_t k = 0; k < d; k++) {
            __m512i t = _mm512_sub_epi32(_mm512_set1_epi32(x[k]),
                                         _mm512_maskz_loadu_epi32(in, y + k * stride + j));
            sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(t, t));
        }
        _mm512_mask_storeu_epi32(out + j, in, _mm512_sll_epi32(sum, by));
    }
}

/* Two vectors of each mask at a time. */
AVX512 static void move_pair(const mask_move *m, int64_t w)
{
    int64_t stride = m->words;
    uint64_t *mask = m->mask + w, *top = mask + m->path[m->at] * stride;
    __m512i low = _mm512_load_si512(top), high = _mm512_load_si512(top + MASK_WORDS);
    _mm512_store_si512(m->cut + w, low);
    _mm512_store_si512(m->cut + w + MASK_WORDS, high);
    for (int64_t k = m->at + 1; k < m->length; k++) {
        uint64_t *own = mask + m->path[k] * stride, *next = own + MASK_WORDS;
        _mm512_store_si512(own, _mm512_andnot_si512(low, _mm512_load_si512(own)));
        _mm512_store_si512(next, _mm512_andnot_si512(high, _mm512_load_si512(next)));
    }
    for (int64_t k = 0; k < m->n_other; k++) {
        uint64_t *own = mask + m->other[k] * stride, *next = own + MASK_WORDS;
        _mm512_store_si512(own, _mm512_or_si512(low, _mm512_load_si512(own)));
        _mm512_store_si512(next, _mm512_or_si512(high, _mm512_load_si512(next)));
    }
    for (int64_t k = m->at; k > 0; k--) {
        const uint64_t *below = mask + m->path[k - 1] * stride;
        uint64_t *own = mask + m->path[k] * stride;
        _mm512_store_si512(own, _mm512_andnot_si512(_mm512_load_si512(below), low));
        _mm512_store_si512(own + MASK_WORDS,
                           _mm512_andnot_si512(_mm512_load_si512(below + MASK_WORDS), high));
    }
    uint64_t *first = mask + m->path[0] * stride;
    _mm512_store_si512(first, low);
    _mm512_store_si512(first + MASK_WORDS, high);
}

AVX512 static void move(const mask_move *m)
{
    int64_t stride = m->words, w = 0;
    for (; w + MASK_WORDS < stride; w += 2 * MASK_WORDS)
        move_pair(m, w);
    for (; w < stride; w += MASK_WORDS) {
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

AVX512 static void shift(int32_t *potential, const uint64_t *mask, int64_t count, int32_t by)
{
    const uint16_t *bits = (const uint16_t *)(const void *)mask;
    __m512i step = _mm512_set1_epi32(by);
    for (int64_t j = 0; j < count; j += LANES) {
        __m512i old = _mm512_load_si512(potential + j);
        __mmask16 in = bits[j / LANES];
        _mm512_store_si512(potential + j, _mm512_mask_add_epi32(old, in, old, step));
    }
}

AVX512 static void shift_fine(double *potential, const uint64_t *mask, int64_t count, double by)
{
    const uint8_t *bits = (const uint8_t *)(const void *)mask;
    __m512d step = _mm512_set1_pd(by);
    for (int64_t j = 0; j < count; j += 8) {
        __m512d old = _mm512_load_pd(potential + j);
        _mm512_store_pd(potential + j, _mm512_mask_add_pd(old, bits[j / 8], old, step));
    }
}

/* Lanes j .. j + 7 that lie below count. */
static inline __mmask8 inside(int64_t j, int64_t count)
{
    return (__mmask8)(j + 8 <= count ? 0xffu : (1u << (count - j)) - 1);
}

AVX512 static bool quantise(int32_t *out, const double *cost, int64_t count, double offset,
                            double scale)
{
    __m512d from = _mm512_set1_pd(offset), by = _mm512_set1_pd(scale);
    __mmask8 lost = 0;
    for (int64_t j = 0; j < count; j += 8) {
        __mmask8 in = inside(j, count);
        __m512d value = _mm512_maskz_loadu_pd(in, cost + j);
        value = _mm512_mul_pd(_mm512_maskz_sub_pd(in, value, from), by);
        __m256i whole = _mm512_cvtpd_epi32(value);
        lost |= _mm512_cmp_pd_mask(value, _mm512_cvtepi32_pd(whole), _CMP_NEQ_UQ);
        __m512i wide = _mm512_castsi256_si512(whole);
        _mm512_mask_storeu_epi32(out + j, in, wide);
    }
    return lost == 0;
}

AVX512 static inline __m512d squares(__m512d sum, __m512d x, const double *y, __mmask8 in)
{
    __m512d t = _mm512_sub_pd(x, _mm512_maskz_loadu_pd(in, y));
    return _mm512_add_pd(sum, _mm512_mul_pd(t, t));
}

/* One row, 32 columns at a time: four chains of additions hide each other's delay. */
AVX512 static void row_distances(double *out, const double *x, const double *y, int64_t stride,
                                 int64_t d, int64_t count)
{
    int64_t j = 0;
    for (; j + 32 <= count; j += 32) {
        __m512d s0 = _mm512_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
        for (int64_t k = 0; k < d; k++) {
            const double *at = y + k * stride + j;
            __m512d own = _mm512_set1_pd(x[k]);
            s0 = squares(s0, own, at, 0xff);
            s1 = squares(s1, own, at + 8, 0xff);
            s2 = squares(s2, own, at + 16, 0xff);
            s3 = squares(s3, own, at + 24, 0xff);
        }
        _mm512_storeu_pd(out + j, s0);
        _mm512_storeu_pd(out + j + 8, s1);
        _mm512_storeu_pd(out + j + 16, s2);
        _mm512_storeu_pd(out + j + 24, s3);
    }
    for (; j < count; j += 8) {
        __mmask8 in = inside(j, count);
        __m512d sum = _mm512_setzero_pd();
        for (int64_t k = 0; k < d; k++)
            sum = squares(sum, _mm512_set1_pd(x[k]), y + k * stride + j, in);
        _mm512_mask_storeu_pd(out + j, in, sum);
    }
}

/* Four rows of at most eight columns. */
AVX512 static void four_rows(double *out, const double *x, const double *y, int64_t stride,
                             int64_t d, int64_t ld, __mmask8 in)
{
    __m512d s0 = _mm512_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t k = 0; k < d; k++) {
        const double *at = y + k * stride;
        s0 = squares(s0, _mm512_set1_pd(x[k]), at, in);
        s1 = squares(s1, _mm512_set1_pd(x[d + k]), at, in);
        s2 = squares(s2, _mm512_set1_pd(x[2 * d + k]), at, in);
        s3 = squares(s3, _mm512_set1_pd(x[3 * d + k]), at, in);
    }
    _mm512_mask_storeu_pd(out, in, s0);
    _mm512_mask_storeu_pd(out + ld, in, s1);
    _mm512_mask_storeu_pd(out + 2 * ld, in, s2);
    _mm512_mask_storeu_pd(out + 3 * ld, in, s3);
}

AVX512 static void distances(double *out, const double *x, const double *y, int64_t stride,
                             int64_t d, int64_t rows, int64_t count)
{
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4)
        for (int64_t j = 0; j < count; j += 8)
            four_rows(out + i * count + j, x + i * d, y + j, stride, d, count, inside(j, count));
    for (; i < rows; i++)
        row_distances(out + i * count, x + i * d, y, stride, d, count);
}

AVX512 static inline __m256d halves(__m512d x)
{
    return _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
}

/* The sums over the lanes of four vectors. */
AVX512 static inline __m256d lane_sums(const __m512d *x)
{
    __m256d a = halves(x[0]), b = halves(x[1]), c = halves(x[2]), d = halves(x[3]);
    __m256d ac =
        _mm256_add_pd(_mm256_permute2f128_pd(a, c, 0x20), _mm256_permute2f128_pd(a, c, 0x31));
    __m256d bd =
        _mm256_add_pd(_mm256_permute2f128_pd(b, d, 0x20), _mm256_permute2f128_pd(b, d, 0x31));
    return _mm256_add_pd(_mm256_unpacklo_pd(ac, bd), _mm256_unpackhi_pd(ac, bd));
}

/* One row against four columns. */
AVX512 static inline void add_products(__m512d sum[DOT_SIDE], const double *row,
                                       const __m512d *column, __mmask8 in)
{
    __m512d own = _mm512_maskz_loadu_pd(in, row);
    sum[0] = _mm512_fmadd_pd(own, column[0], sum[0]);
    sum[1] = _mm512_fmadd_pd(own, column[1], sum[1]);
    sum[2] = _mm512_fmadd_pd(own, column[2], sum[2]);
    sum[3] = _mm512_fmadd_pd(own, column[3], sum[3]);
}

AVX512 static void dots(double *out, int64_t ld, const double *const *row,
                        const double *const *column, int64_t d)
{
    const double *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    const double *c0 = column[0], *c1 = column[1], *c2 = column[2], *c3 = column[3];
    __m512d zero = _mm512_setzero_pd(), s0[] = {zero, zero, zero, zero};
    __m512d s1[] = {zero, zero, zero, zero}, s2[] = {zero, zero, zero, zero};
    __m512d s3[] = {zero, zero, zero, zero};
    for (int64_t k = 0; k < d; k += 8) {
        __mmask8 in = inside(k, d);
        __m512d x[] = {_mm512_maskz_loadu_pd(in, c0 + k), _mm512_maskz_loadu_pd(in, c1 + k),
                       _mm512_maskz_loadu_pd(in, c2 + k), _mm512_maskz_loadu_pd(in, c3 + k)};
        add_products(s0, r0 + k, x, in);
        add_products(s1, r1 + k, x, in);
        add_products(s2, r2 + k, x, in);
        add_products(s3, r3 + k, x, in);
    }
    _mm256_storeu_pd(out, lane_sums(s0));
    _mm256_storeu_pd(out + ld, lane_sums(s1));
    _mm256_storeu_pd(out + 2 * ld, lane_sums(s2));
    _mm256_storeu_pd(out + 3 * ld, lane_sums(s3));
}

AVX512 static void range(double *low, double *high, const double *value, int64_t count)
{
    __m512d least = _mm512_set1_pd(value[0]), largest = least;
    for (int64_t j = 0; j < count; j += 8) {
        __mmask8 in = inside(j, count);
        __m512d x = _mm512_maskz_loadu_pd(in, value + j);
        least = _mm512_mask_min_pd(least, in, x, least);
        largest = _mm512_mask_max_pd(largest, in, x, largest);
    }
    *low = _mm512_reduce_min_pd(least);
    *high = _mm512_reduce_max_pd(largest);
}

AVX512 static void slack(double *f, const double *cost, const double *g, int64_t rows,
                         int64_t count)
{
    for (int64_t i = 0; i < rows; i++, cost += count) {
        __m512d least = _mm512_set1_pd(INFINITY);
        for (int64_t j = 0; j < count; j += 8) {
            __mmask8 in = inside(j, count);
            __m512d own = _mm512_sub_pd(_mm512_maskz_loadu_pd(in, cost + j),
                                        _mm512_maskz_loadu_pd(in, g + j));
            least = _mm512_mask_min_pd(least, in, own, least);
        }
        f[i] = _mm512_reduce_min_pd(least);
    }
}

AVX512 static double row_quanta(double *out, const double *cost, const double *sink, int64_t count,
                                double scale)
{
    const __m512d magic = _mm512_set1_pd(0x1.8p52);
    __m512d least = _mm512_set1_pd(INFINITY), by = _mm512_set1_pd(scale);
    for (int64_t j = 0; j < count; j += 8) {
        __mmask8 in = inside(j, count);
        __m512d value = _mm512_mul_pd(_mm512_maskz_loadu_pd(in, cost + j), by);
        value = _mm512_sub_pd(_mm512_add_pd(value, magic), magic);
        value = _mm512_add_pd(value, _mm512_maskz_loadu_pd(in, sink + j));
        _mm512_mask_storeu_pd(out + j, in, value);
        least = _mm512_mask_min_pd(least, in, value, least);
    }
    return _mm512_reduce_min_pd(least);
}

AVX512 static int64_t collect(int32_t *index, const double *value, int64_t count, double limit)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512d high = _mm512_set1_pd(limit);
    int64_t found = 0;
    for (int64_t j = 0; j < count; j += 8) {
        __mmask8 in = inside(j, count);
        __mmask8 hit =
            _mm512_mask_cmp_pd_mask(in, _mm512_maskz_loadu_pd(in, value + j), high, _CMP_LT_OQ);
        if (!hit)
            continue;
        __m512i at = _mm512_add_epi32(lane, _mm512_set1_epi32((int32_t)j));
        _mm512_storeu_si512(index + found, _mm512_maskz_compress_epi32(hit, at));
        found += __builtin_popcount(hit);
    }
    return found;
}

/* Without optimisation the gather is a macro that mixes signed and unsigned masks. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
AVX512 static double arcs_min(const double *cost, const int32_t *column, const double *sink,
                              int64_t count)
{
    __m512d least = _mm512_set1_pd(INFINITY);
    for (int64_t k = 0; k < count; k += 8) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(column + k));
        __m512d value = _mm512_add_pd(_mm512_loadu_pd(cost + k), _mm512_i32gather_pd(at, sink, 8));
        least = _mm512_min_pd(value, least);
    }
    return _mm512_reduce_min_pd(least);
}
#pragma GCC diagnostic pop

const kernels kernels_avx512 = {
    .name = "avx512",
    .block_best = block_best,
    .near_best = near_best,
    .row_best = row_best,
    .row_least = row_min,
    .blocks_below = blocks_below,
    .row_raise = row_raise,
    .whole_distances = whole_distances,
    .quantise = quantise,
    .move = move,
    .shift = shift,
    .shift_fine = shift_fine,
    .small = small_avx512,
    .distances = distances,
    .dots = dots,
    .range = range,
    .slack = slack,
    .row_quanta = row_quanta,
    .collect = collect,
    .arcs_min = arcs_min,
};
#endif
