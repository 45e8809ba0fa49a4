/* Kernels for processors with AVX2. */
#include "kernel/avx2.h"
#include "kernel/kernels.h"

#ifdef __x86_64__
#include <math.h>

AVX2 static int32_t row_min(const int32_t *cost, const int32_t *sink, int64_t count)
{
    __m256i low = _mm256_set1_epi32(INT32_MAX), high = low;
    for (int64_t j = 0; j < count; j += LANES) {
        low = _mm256_min_epi32(low, value_at(cost + j, sink + j));
        high = _mm256_min_epi32(high, value_at(cost + j + 8, sink + j + 8));
    }
    return least_int(_mm256_min_epi32(low, high));
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

AVX2 static int32_t block_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                               int64_t rows, int64_t count, int64_t *row, int64_t *column)
{
    __m256i best = _mm256_set1_epi32(INT32_MAX), where = _mm256_setzero_si256();
    const int32_t *own = cost;
    for (int64_t i = 0; i < rows; i++, own += count) {
        __m256i least = value_at(own, sink);
        for (int64_t j = 8; j < count; j += 8)
            least = _mm256_min_epi32(least, value_at(own + j, sink + j));
        least = _mm256_sub_epi32(least, _mm256_set1_epi32(source[i]));
        __m256i better = _mm256_cmpgt_epi32(best, least);
        best = _mm256_min_epi32(best, least);
        where = _mm256_blendv_epi8(where, _mm256_set1_epi32((int32_t)i), better);
    }
    if (!_mm256_movemask_ps(_mm256_castsi256_ps(best)))
        return 0;
    int32_t value = least_int(best);
    __m256i hit = _mm256_cmpeq_epi32(best, _mm256_set1_epi32(value));
    *row = least_int(_mm256_blendv_epi8(_mm256_set1_epi32(INT32_MAX), where, hit));
    *column = row_find(cost + *row * count, sink, value + source[*row]);
    return value;
}

AVX2 static int32_t near_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                              int64_t rows, int64_t count, const int32_t *block, int64_t n_blocks,
                              int64_t *row, int64_t *column)
{
    int32_t best = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int32_t *own = cost + i * count;
        __m256i low = _mm256_set1_epi32(INT32_MAX), high = low;
        for (int64_t k = 0; k < n_blocks; k++) {
            int64_t j = (int64_t)block[k] * LANES;
            low = _mm256_min_epi32(low, value_at(own + j, sink + j));
            high = _mm256_min_epi32(high, value_at(own + j + 8, sink + j + 8));
        }
        int32_t least = least_int(_mm256_min_epi32(low, high)) - source[i];
        *row = least < best ? i : *row;
        best = least < best ? least : best;
    }
    if (best == 0)
        return 0;
    for (cost += *row * count;; block++) {
        int64_t j = (int64_t)*block * LANES;
        if (row_min(cost + j, sink + j, LANES) == best + source[*row]) {
            *column = j + row_find(cost + j, sink + j, best + source[*row]);
            return best;
        }
    }
}

AVX2 static int64_t blocks_below(int32_t *block, const int32_t *cost, const int32_t *sink,
                                 const int32_t *limit, int64_t rows, int64_t count)
{
    int64_t found = 0;
    for (int64_t j = 0; j < count; j += LANES) {
        __m256i in = _mm256_setzero_si256();
        for (int64_t i = 0; i < rows; i++) {
            const int32_t *own = cost + i * count + j;
            __m256i high = _mm256_set1_epi32(limit[i]);
            in = _mm256_or_si256(in, _mm256_cmpgt_epi32(high, value_at(own, sink + j)));
            in = _mm256_or_si256(in, _mm256_cmpgt_epi32(high, value_at(own + 8, sink + j + 8)));
        }
        block[found] = (int32_t)(j / LANES);
        found += !_mm256_testz_si256(in, in);
    }
    return found;
}

AVX2 static int64_t row_best(const int32_t *cost, const int32_t *sink, int64_t count)
{
    return row_find(cost, sink, row_min(cost, sink, count));
}

AVX2 static void row_raise(int32_t *high, const int32_t *cost, int64_t count, int32_t f)
{
    __m256i from = _mm256_set1_epi32(f);
    for (int64_t j = 0; j < count; j += 8) {
        __m256i value = _mm256_sub_epi32(from, load(cost + j));
        store(high + j, _mm256_max_epi32(load(high + j), value));
    }
}

AVX2 static void whole_distances(int32_t *out, const int32_t *x, const int32_t *y, int64_t stride,
                                 int64_t d, int64_t count, int shift)
{
    __m128i by = _mm_cvtsi32_si128(shift);
    int64_t j = 0;
    for (; j + 8 <= count; j += 8) {
        __m256i sum = _mm256_setzero_si256();
        for (int64_t k = 0; k < d; k++) {
            __m256i t = _mm256_sub_epi32(_mm256_set1_epi32(x[k]), load(y + k * stride + j));
            sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(t, t));
        }
        store(out + j, _mm256_sll_epi32(sum, by));
    }
    kernels_portable.whole_distances(out + j, x, y + j, stride, d, count - j, shift);
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
    for (int64_t w = 0; w < m->words; w += 4)
        move_strip(m, w);
}

AVX2 static void shift(int32_t *potential, const uint64_t *mask, int64_t count, int32_t by)
{
    const uint8_t *bits = (const uint8_t *)(const void *)mask;
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i step = _mm256_set1_epi32(by);
    for (int64_t j = 0; j < count; j += 8) {
        __m256i own = _mm256_and_si256(_mm256_set1_epi32(bits[j / 8]), lane);
        __m256i in = _mm256_cmpeq_epi32(own, lane);
        store(potential + j, _mm256_add_epi32(load(potential + j), _mm256_and_si256(in, step)));
    }
}

AVX2 static void shift_fine(double *potential, const uint64_t *mask, int64_t count, double by)
{
    const __m256i lane = _mm256_setr_epi64x(1, 2, 4, 8);
    __m256d step = _mm256_set1_pd(by);
    for (int64_t j = 0; j < count; j += 4) {
        int64_t bits = (int64_t)(mask[j / 64] >> (j % 64));
        __m256i own = _mm256_and_si256(_mm256_set1_epi64x(bits), lane);
        __m256d in = _mm256_castsi256_pd(_mm256_cmpeq_epi64(own, lane));
        double *p = potential + j;
        _mm256_storeu_pd(p, _mm256_add_pd(_mm256_loadu_pd(p), _mm256_and_pd(in, step)));
    }
}

AVX2 static bool quantise(int32_t *out, const double *cost, int64_t count, double offset,
                          double scale)
{
    __m256d from = _mm256_set1_pd(offset), by = _mm256_set1_pd(scale);
    __m256d lost = _mm256_setzero_pd();
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) {
        __m256d value = _mm256_mul_pd(_mm256_sub_pd(_mm256_loadu_pd(cost + j), from), by);
        __m128i whole = _mm256_cvtpd_epi32(value);
        __m256d other = _mm256_cmp_pd(value, _mm256_cvtepi32_pd(whole), _CMP_NEQ_UQ);
        lost = _mm256_or_pd(lost, other);
        _mm_storeu_si128((__m128i *)(void *)(out + j), whole);
    }
    bool exact = _mm256_movemask_pd(lost) == 0;
    return kernels_portable.quantise(out + j, cost + j, count - j, offset, scale) && exact;
}

AVX2 static inline __m256d squares(__m256d sum, __m256d x, const double *y)
{
    __m256d t = _mm256_sub_pd(x, _mm256_loadu_pd(y));
    return _mm256_add_pd(sum, _mm256_mul_pd(t, t));
}

/* One row; sixteen columns at a time: four chains of additions hide each other's delay. */
AVX2 static void row_distances(double *out, const double *x, const double *y, int64_t stride,
                               int64_t d, int64_t count)
{
    int64_t j = 0;
    for (; j + 16 <= count; j += 16) {
        __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
        for (int64_t k = 0; k < d; k++) {
            const double *at = y + k * stride + j;
            __m256d own = _mm256_set1_pd(x[k]);
            s0 = squares(s0, own, at);
            s1 = squares(s1, own, at + 4);
            s2 = squares(s2, own, at + 8);
            s3 = squares(s3, own, at + 12);
        }
        _mm256_storeu_pd(out + j, s0);
        _mm256_storeu_pd(out + j + 4, s1);
        _mm256_storeu_pd(out + j + 8, s2);
        _mm256_storeu_pd(out + j + 12, s3);
    }
    kernels_portable.distances(out + j, x, y + j, stride, d, 1, count - j);
}

AVX2 static void distances(double *out, const double *x, const double *y, int64_t stride, int64_t d,
                           int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; i++)
        row_distances(out + i * count, x + i * d, y, stride, d, count);
}

AVX2 static inline double least_of(__m256d four)
{
    double part[4], best = INFINITY;
    _mm256_storeu_pd(part, four);
    for (int k = 0; k < 4; k++)
        best = part[k] < best ? part[k] : best;
    return best;
}

/* Numbers k .. k + 3 of d, zeros beyond. */
AVX2 static inline __m256d load_some(const double *x, int64_t k, int64_t d)
{
    __m256i in = _mm256_cmpgt_epi64(_mm256_set1_epi64x(d - k), _mm256_setr_epi64x(0, 1, 2, 3));
    return _mm256_maskload_pd(x + k, in);
}

/* Two vectors a product: lanes 0 to 3 and 4 to 7. */
AVX2 static inline double dot(const double *x, const double *y, int64_t d)
{
    __m256d low = _mm256_setzero_pd(), high = low;
    int64_t k = 0;
    for (; k + 8 <= d; k += 8) {
        low = _mm256_fmadd_pd(_mm256_loadu_pd(x + k), _mm256_loadu_pd(y + k), low);
        high = _mm256_fmadd_pd(_mm256_loadu_pd(x + k + 4), _mm256_loadu_pd(y + k + 4), high);
    }
    if (k < d)
        low = _mm256_fmadd_pd(load_some(x, k, d), load_some(y, k, d), low);
    if (k + 4 < d)
        high = _mm256_fmadd_pd(load_some(x, k + 4, d), load_some(y, k + 4, d), high);
    low = _mm256_add_pd(low, high);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(low), _mm256_extractf128_pd(low, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

AVX2 static void dots(double *out, int64_t ld, const double *const *row,
                      const double *const *column, int64_t d)
{
    for (int r = 0; r < DOT_SIDE; r++)
        for (int c = 0; c < DOT_SIDE; c++)
            out[r * ld + c] = dot(row[r], column[c], d);
}

AVX2 static void range(double *low, double *high, const double *value, int64_t count)
{
    __m256d least = _mm256_set1_pd(value[0]), largest = least;
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) {
        least = _mm256_min_pd(_mm256_loadu_pd(value + j), least);
        largest = _mm256_max_pd(_mm256_loadu_pd(value + j), largest);
    }
    *low = least_of(least);
    *high = -least_of(_mm256_sub_pd(_mm256_setzero_pd(), largest));
    for (; j < count; j++) {
        *low = value[j] < *low ? value[j] : *low;
        *high = value[j] > *high ? value[j] : *high;
    }
}

AVX2 static void slack(double *f, const double *cost, const double *g, int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; i++, cost += count) {
        __m256d least = _mm256_set1_pd(INFINITY);
        int64_t j = 0;
        for (; j + 4 <= count; j += 4)
            least = _mm256_min_pd(_mm256_sub_pd(_mm256_loadu_pd(cost + j), _mm256_loadu_pd(g + j)),
                                  least);
        f[i] = least_of(least);
        for (; j < count; j++)
            f[i] = cost[j] - g[j] < f[i] ? cost[j] - g[j] : f[i];
    }
}

AVX2 static double row_quanta(double *out, const double *cost, const double *sink, int64_t count,
                              double scale)
{
    const __m256d magic = _mm256_set1_pd(0x1.8p52);
    __m256d least = _mm256_set1_pd(INFINITY), by = _mm256_set1_pd(scale);
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) {
        __m256d value = _mm256_mul_pd(_mm256_loadu_pd(cost + j), by);
        value = _mm256_sub_pd(_mm256_add_pd(value, magic), magic);
        value = _mm256_add_pd(value, _mm256_loadu_pd(sink + j));
        _mm256_storeu_pd(out + j, value);
        least = _mm256_min_pd(value, least);
    }
    double best = least_of(least);
    double rest = kernels_portable.row_quanta(out + j, cost + j, sink + j, count - j, scale);
    return rest < best ? rest : best;
}

AVX2 static int64_t collect(int32_t *index, const double *value, int64_t count, double limit)
{
    __m256d high = _mm256_set1_pd(limit);
    int64_t found = 0, j = 0;
    for (; j + 4 <= count; j += 4) {
        __m256d below = _mm256_cmp_pd(_mm256_loadu_pd(value + j), high, _CMP_LT_OQ);
        for (unsigned hit = (unsigned)_mm256_movemask_pd(below); hit; hit &= hit - 1)
            index[found++] = (int32_t)(j + __builtin_ctz(hit));
    }
    for (; j < count; j++)
        if (value[j] < limit)
            index[found++] = (int32_t)j;
    return found;
}

AVX2 static double arcs_min(const double *cost, const int32_t *column, const double *sink,
                            int64_t count)
{
    __m256d least = _mm256_set1_pd(INFINITY);
    for (int64_t k = 0; k < count; k += 4) {
        __m128i at = _mm_loadu_si128((const __m128i *)(const void *)(column + k));
        __m256d value = _mm256_add_pd(_mm256_loadu_pd(cost + k), _mm256_i32gather_pd(sink, at, 8));
        least = _mm256_min_pd(value, least);
    }
    return least_of(least);
}

const kernels kernels_avx2 = {
    .name = "avx2",
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
    .small = small_avx2,
    .distances = distances,
    .dots = dots,
    .range = range,
    .slack = slack,
    .row_quanta = row_quanta,
    .collect = collect,
    .arcs_min = arcs_min,
};
#endif
