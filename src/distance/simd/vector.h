/* Vector operations for the kernels. A line has 64 bytes (16 int32, 8 doubles or 8 int64) and
 * consists of as many vectors as the instruction set needs.
 *
 * The vector types of the compiler provide + - * & | < and ==. This file adds the operations that
 * compilers do not derive from these operators, using intrinsics where available. A file that
 * defines TARGET and VECTOR_BYTES and includes loops.h gets all kernels for its instruction set.
 *
 * No operation on doubles is reordered, and only doubles_fma is fused, so every instruction set
 * gives the same bits. */
#ifndef DDSC_DISTANCE_SIMD_VECTOR_H
#define DDSC_DISTANCE_SIMD_VECTOR_H

#include <math.h>
#include <string.h>
#if VECTOR_BYTES > 16
#include <immintrin.h>
#endif

#include "base/simd.h"
#include "distance/simd/kernels.h"

#define OP TARGET static inline __attribute__((always_inline))

enum {
    PARTS = 64 / VECTOR_BYTES, /* vectors per line */
    INTS = VECTOR_BYTES / 4,
    LONGS = VECTOR_BYTES / 8
};

typedef int32_t ints __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t uints __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t longs __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));

SIMD_LOAD(OP, ints, void, ints_at)
SIMD_LOAD(OP, longs, void, longs_at)
SIMD_STORE(OP, longs, void, longs_put)
SIMD_LOAD(OP, doubles, double, doubles_at)

/* Compilers broadcast a scalar operand with one instruction, but need many instructions for a list
 * of lanes. */
#define ints_all(x) ((int32_t)(x) - (ints){0})
#define longs_all(x) ((int64_t)(x) - (longs){0})
#define doubles_all(x) ((x) - (doubles){0})

/* ---- operations that depend on the instruction set ----
 *
 * - X_equal, X_less: bit mask of the lanes for which the relation holds.
 * - ints_common: bit mask of the lanes in which a & b is not 0.
 * - X_select: `yes` in lanes whose bit is set, `no` in the others.
 * - ints_pick: `yes` in lanes with a < b, `no` in the others.
 * - doubles_some: loads the first n values and sets the others to 0.
 * - doubles_put: stores the first n values.
 * - doubles_first: the first n values of x, and the rest of `other`.
 * - doubles_round: stores the first n values rounded to integers; returns true if all are exact. */

#if VECTOR_BYTES == 64
#define M(x) ((__m512i)(x))
#define D(x) ((__m512d)(x))
#define FIRST(n) ((__mmask8)((1u << (n)) - 1))
#define ints_min(a, b) ((ints)_mm512_min_epi32(M(a), M(b)))
#define ints_max(a, b) ((ints)_mm512_max_epi32(M(a), M(b)))
#define ints_equal(a, b) ((uint32_t)_mm512_cmpeq_epi32_mask(M(a), M(b)))
#define ints_less(a, b) ((uint32_t)_mm512_cmplt_epi32_mask(M(a), M(b)))
#define ints_common(a, b) ((uint32_t)_mm512_test_epi32_mask(M(a), M(b)))
#define ints_select(bits, yes, no) ((ints)_mm512_mask_mov_epi32(M(no), (__mmask16)(bits), M(yes)))
#define ints_pick(a, b, yes, no) ints_select(ints_less(a, b), yes, no)
#define ints_least(x) _mm512_reduce_min_epi32(M(x))
#define longs_min(a, b) ((longs)_mm512_min_epi64(M(a), M(b)))
#define longs_equal(a, b) ((uint32_t)_mm512_cmpeq_epi64_mask(M(a), M(b)))
#define longs_select(bits, yes, no) ((longs)_mm512_mask_mov_epi64(M(no), (__mmask8)(bits), M(yes)))
#define longs_least(x) _mm512_reduce_min_epi64(M(x))
#define longs_any(x) (_mm512_test_epi64_mask(M(x), M(x)) != 0)
#define doubles_min(a, b) ((doubles)_mm512_min_pd(D(a), D(b)))
#define doubles_fma(a, b, c) ((doubles)_mm512_fmadd_pd(D(a), D(b), D(c)))
#define doubles_less(a, b) ((uint32_t)_mm512_cmp_pd_mask(D(a), D(b), _CMP_LT_OQ))
#define doubles_least(x) _mm512_reduce_min_pd(D(x))
#define doubles_some(from, n) ((doubles)_mm512_maskz_loadu_pd(FIRST(n), from))
#define doubles_put(to, x, n) _mm512_mask_storeu_pd(to, FIRST(n), D(x))
#define doubles_first(n, x, other) ((doubles)_mm512_mask_mov_pd(D(other), FIRST(n), D(x)))

/* Without optimization, the gather intrinsic is a macro that mixes signed and unsigned masks, so
 * the warning is disabled. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
OP doubles doubles_gather(const double *from, const int32_t *at)
{
    return (doubles)_mm512_i32gather_pd(_mm256_loadu_si256((const void *)at), from, 8);
}
#pragma GCC diagnostic pop

/* Stores the indices of the set bits, counted from `first`, and returns their number. May write a
 * whole line. */
OP int64_t put_numbers(int32_t *to, uint32_t bits, int32_t first)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    if (!bits)
        return 0;
    __m512i at = _mm512_add_epi32(lane, _mm512_set1_epi32(first));
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)bits, at));
    return __builtin_popcount(bits);
}

OP bool doubles_round(int32_t *to, doubles x, int64_t n)
{
    __m256i whole = _mm512_cvtpd_epi32(D(x));
    _mm512_mask_storeu_epi32(to, FIRST(n), _mm512_castsi256_si512(whole));
    return !_mm512_mask_cmp_pd_mask(FIRST(n), D(x), _mm512_cvtepi32_pd(whole), _CMP_NEQ_UQ);
}

#else

static const int32_t int_bit[] = {1, 2, 4, 8, 16, 32, 64, 128};
static const int64_t long_bit[] = {1, 2, 4, 8}, long_number[] = {0, 1, 2, 3};

OP ints ints_pick(ints a, ints b, ints yes, ints no)
{
    ints in = a < b;
    return (in & yes) | (~in & no);
}

OP ints ints_select(uint32_t bits, ints yes, ints no)
{
    ints in = (ints_all(bits) & ints_at(int_bit)) == 0;
    return (in & no) | (~in & yes);
}

OP longs longs_select(uint32_t bits, longs yes, longs no)
{
    longs in = (longs_all(bits) & longs_at(long_bit)) == 0;
    return (in & no) | (~in & yes);
}

OP longs longs_min(longs a, longs b)
{
    longs in = a < b;
    return (in & a) | (~in & b);
}

OP int64_t longs_least(longs x)
{
    int64_t least = x[0];
    for (int k = 1; k < LONGS; k++)
        least = x[k] < least ? x[k] : least;
    return least;
}

OP double doubles_least(doubles x)
{
    double least = x[0];
    for (int k = 1; k < LONGS; k++)
        least = x[k] < least ? x[k] : least;
    return least;
}

OP doubles doubles_first(int64_t n, doubles x, doubles other)
{
    longs in = longs_at(long_number) < n;
    return (doubles)((in & (longs)x) | (~in & (longs)other));
}

OP int64_t put_numbers(int32_t *to, uint32_t bits, int32_t first)
{
    int64_t found = 0;
    for (; bits; bits &= bits - 1)
        to[found++] = first + __builtin_ctz(bits);
    return found;
}

#if VECTOR_BYTES == 32
#define ints_min(a, b) ((ints)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define ints_max(a, b) ((ints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define ints_equal(a, b) ((uint32_t)_mm256_movemask_ps((__m256)((a) == (b))))
#define ints_less(a, b) ((uint32_t)_mm256_movemask_ps((__m256)((a) < (b))))
#define longs_equal(a, b) ((uint32_t)_mm256_movemask_pd((__m256d)((a) == (b))))
#define longs_any(x) (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#define doubles_min(a, b) ((doubles)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define doubles_fma(a, b, c) ((doubles)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define doubles_less(a, b) ((uint32_t)_mm256_movemask_pd((__m256d)((a) < (b))))

OP int32_t ints_least(ints x)
{
    __m128i four =
        _mm_min_epi32(_mm256_castsi256_si128((__m256i)x), _mm256_extracti128_si256((__m256i)x, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_min_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

OP doubles doubles_some(const double *from, int64_t n)
{
    __m256i in = (__m256i)(longs_at(long_number) < n);
    return n == LONGS ? doubles_at(from) : (doubles)_mm256_maskload_pd(from, in);
}

OP void doubles_put(double *to, doubles x, int64_t n)
{
    _mm256_maskstore_pd(to, (__m256i)(longs_at(long_number) < n), (__m256d)x);
}

OP doubles doubles_gather(const double *from, const int32_t *at)
{
    return (doubles)_mm256_i32gather_pd(from, _mm_loadu_si128((const void *)at), 8);
}

OP bool doubles_round(int32_t *to, doubles x, int64_t n)
{
    __m128i whole = _mm256_cvtpd_epi32((__m256d)x);
    longs lost = (doubles)_mm256_cvtepi32_pd(whole) != x;
    memcpy(to, &whole, (size_t)n * sizeof *to);
    return !longs_any(lost & (longs_at(long_number) < n));
}

#else

OP ints ints_min(ints a, ints b)
{
    return ints_pick(a, b, a, b);
}

OP ints ints_max(ints a, ints b)
{
    return ints_pick(a, b, b, a);
}

/* Converts the lanes of a comparison, which are 0 or -1, to bits. */
OP uint32_t ints_bits(ints x)
{
    uint32_t bits = 0;
    for (int k = 0; k < INTS; k++)
        bits |= (uint32_t)x[k] & 1u << k;
    return bits;
}

OP uint32_t longs_bits(longs x)
{
    return ((uint32_t)x[0] & 1) | ((uint32_t)x[1] & 2);
}

#define ints_equal(a, b) ints_bits((a) == (b))
#define ints_less(a, b) ints_bits((a) < (b))
#define longs_equal(a, b) longs_bits((a) == (b))
#define longs_any(x) (((x)[0] | (x)[1]) != 0)
#define doubles_less(a, b) longs_bits((a) < (b))

OP int32_t ints_least(ints x)
{
    int32_t least = x[0];
    for (int k = 1; k < INTS; k++)
        least = x[k] < least ? x[k] : least;
    return least;
}

OP doubles doubles_min(doubles a, doubles b)
{
    longs in = a < b;
    return (doubles)((in & (longs)a) | (~in & (longs)b));
}

OP doubles doubles_fma(doubles a, doubles b, doubles c)
{
    return (doubles){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
}

OP doubles doubles_some(const double *from, int64_t n)
{
    return (doubles){from[0], n > 1 ? from[1] : 0};
}

OP void doubles_put(double *to, doubles x, int64_t n)
{
    memcpy(to, &x, (size_t)n * sizeof *to);
}

OP doubles doubles_gather(const double *from, const int32_t *at)
{
    return (doubles){from[at[0]], from[at[1]]};
}

OP bool doubles_round(int32_t *to, doubles x, int64_t n)
{
    bool exact = true;
    for (int64_t k = 0; k < n; k++) {
        to[k] = (int32_t)rint(x[k]);
        exact &= x[k] == (double)to[k];
    }
    return exact;
}
#endif

OP uint32_t ints_common(ints a, ints b)
{
    return ints_equal(a & b, (ints){0}) ^ ((1u << INTS) - 1);
}
#endif

/* ---- lines ---- */

typedef struct double_line {
    doubles part[PARTS];
} double_line;

typedef struct int_line {
    ints part[PARTS];
} int_line;

/* Loads cost + sink for COLUMN_BLOCK columns. */
OP int_line line_at(const int32_t *cost, const int32_t *sink)
{
    int_line x;
    for (int p = 0; p < PARTS; p++)
        x.part[p] = ints_at(cost + p * INTS) + ints_at(sink + p * INTS);
    return x;
}

OP int_line line_all(int32_t value)
{
    int_line x;
    for (int p = 0; p < PARTS; p++)
        x.part[p] = ints_all(value);
    return x;
}

OP int_line line_minus(int_line x, int32_t by)
{
    for (int p = 0; p < PARTS; p++)
        x.part[p] -= by;
    return x;
}

OP int_line line_min(int_line x, int_line y)
{
    for (int p = 0; p < PARTS; p++)
        x.part[p] = ints_min(x.part[p], y.part[p]);
    return x;
}

/* Returns `yes` in lanes with x < y, and `no` in the others. */
OP int_line line_pick(int_line x, int_line y, int_line yes, int_line no)
{
    for (int p = 0; p < PARTS; p++)
        x.part[p] = ints_pick(x.part[p], y.part[p], yes.part[p], no.part[p]);
    return x;
}

/* Returns `yes` in lanes whose bit is set, and `no` in the others. */
OP int_line line_select(uint32_t bits, int_line yes, int_line no)
{
    for (int p = 0; p < PARTS; p++)
        yes.part[p] = ints_select(bits >> p * INTS, yes.part[p], no.part[p]);
    return yes;
}

OP int32_t line_least(int_line x)
{
    ints least = x.part[0];
    for (int p = 1; p < PARTS; p++)
        least = ints_min(least, x.part[p]);
    return ints_least(least);
}

OP uint32_t line_equal(int_line x, int32_t value)
{
    uint32_t bits = 0;
    for (int p = 0; p < PARTS; p++)
        bits |= ints_equal(x.part[p], ints_all(value)) << p * INTS;
    return bits;
}

OP int32_t line_lane(int_line x, int64_t lane)
{
#if VECTOR_BYTES == 64
    __m512i first = _mm512_permutexvar_epi32(_mm512_set1_epi32((int32_t)lane), (__m512i)x.part[0]);
    return _mm_cvtsi128_si32(_mm512_castsi512_si128(first));
#else
    return ((const int32_t *)(const void *)&x)[lane];
#endif
}

OP uint32_t line_negative(int_line x)
{
    uint32_t bits = 0;
    for (int p = 0; p < PARTS; p++)
        bits |= ints_less(x.part[p], (ints){0}) << p * INTS;
    return bits;
}

#endif
