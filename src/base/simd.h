/* Operations on eight doubles with the compiler's vector types, including exp and log. No operation
 * is fused or reordered, so a kernel gives the same bits on every instruction set it is compiled
 * for. */
#ifndef DDSC_BASE_SIMD_H
#define DDSC_BASE_SIMD_H

#include <stdint.h>
#include <string.h>

enum { SIMD_LANES = 8 };

typedef double simd_f64 __attribute__((vector_size(64)));
typedef int64_t simd_i64 __attribute__((vector_size(64)));
typedef double simd_f64x4 __attribute__((vector_size(32)));
typedef int64_t simd_i64x4 __attribute__((vector_size(32)));
typedef uint64_t simd_u64 __attribute__((vector_size(64)));
typedef float simd_f32 __attribute__((vector_size(32)));
typedef int32_t simd_i32 __attribute__((vector_size(32)));
typedef uint32_t simd_u32 __attribute__((vector_size(32)));

/* Compiles a function once per instruction set; the variant is selected when the library is loaded.
 * Sanitizers run before this selection is possible, so they use the plain version. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD_CLONES
#endif

#define SIMD_INLINE static inline __attribute__((always_inline))

/* Define the unaligned load and store of a vector type with memcpy, which compilers turn into one
 * instruction. `declare` is the beginning of the definition. */
#define SIMD_LOAD(declare, vector, element, name) \
    declare vector name(const element *from)      \
    {                                             \
        vector x;                                 \
        memcpy(&x, from, sizeof x);               \
        return x;                                 \
    }
#define SIMD_STORE(declare, vector, element, name) \
    declare void name(element *to, vector x)       \
    {                                              \
        memcpy(to, &x, sizeof x);                  \
    }

SIMD_LOAD(SIMD_INLINE, simd_f64, double, simd_load)
SIMD_STORE(SIMD_INLINE, simd_f64, double, simd_store)
SIMD_LOAD(SIMD_INLINE, simd_f64x4, double, simd_load4)
SIMD_STORE(SIMD_INLINE, simd_f64x4, double, simd_store4)
SIMD_LOAD(SIMD_INLINE, simd_f32, float, simd_load_f32)
SIMD_STORE(SIMD_INLINE, simd_f32, float, simd_store_f32)

/* Returns a vector of equal elements. In cloned functions, gcc 12 compiles a shuffle into a single
 * masked broadcast, but an initializer list of eight equal elements into eight. */
SIMD_INLINE simd_f64 simd_all(double x)
{
    simd_f64 first = {x};
    return __builtin_shufflevector(first, first, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* Selects elements. Mask lanes must be all ones or all zeros, as in the results of comparisons. */
SIMD_INLINE simd_f64 simd_select(simd_i64 mask, simd_f64 yes, simd_f64 no)
{
    return (simd_f64)((mask & (simd_i64)yes) | (~mask & (simd_i64)no));
}

SIMD_INLINE simd_f64 simd_max(simd_f64 x, simd_f64 y)
{
    return simd_select(x > y, x, y);
}

SIMD_INLINE simd_f64 simd_min(simd_f64 x, simd_f64 y)
{
    return simd_select(x < y, x, y);
}

SIMD_INLINE simd_f64 simd_abs(simd_f64 x)
{
    return (simd_f64)((simd_i64)x & INT64_MAX);
}

/* Return the sum and the maximum over the lanes, always in the same order. */
#define SIMD_SUM(x) \
    (((x)[0] + (x)[4]) + ((x)[2] + (x)[6])) + (((x)[1] + (x)[5]) + ((x)[3] + (x)[7]))

SIMD_INLINE double simd_sum(simd_f64 x)
{
    return SIMD_SUM(x);
}

SIMD_INLINE double simd_highest(simd_f64 x)
{
    double high = x[0];
    for (int k = 1; k < SIMD_LANES; k++)
        high = x[k] > high ? x[k] : high;
    return high;
}

/* Operations on four doubles, used to combine sums over eight lanes. */
SIMD_INLINE simd_f64x4 simd_all4(double x)
{
    return (simd_f64x4){x, x, x, x};
}

SIMD_INLINE simd_f64x4 simd_max4(simd_f64x4 x, simd_f64x4 y)
{
    simd_i64x4 mask = x > y;
    return (simd_f64x4)((mask & (simd_i64x4)x) | (~mask & (simd_i64x4)y));
}

SIMD_INLINE simd_f64x4 simd_min4(simd_f64x4 x, simd_f64x4 y)
{
    simd_i64x4 mask = x < y;
    return (simd_f64x4)((mask & (simd_i64x4)x) | (~mask & (simd_i64x4)y));
}

SIMD_INLINE simd_f64x4 simd_abs4(simd_f64x4 x)
{
    return (simd_f64x4)((simd_i64x4)x & INT64_MAX);
}

/* SIMD_FOLD_TWO adds lanes k and k + 4 of two vectors and interleaves the results. SIMD_FOLD_FOUR
 * adds lanes k and k + 2 of two results of SIMD_FOLD_TWO. Adding the two halves of the result of
 * SIMD_FOLD_FOUR gives four sums over lanes, each in the order of simd_sum. Both are macros because
 * a function cannot receive vectors of another instruction set. */
#define SIMD_FOLD_TWO(a, b)                                    \
    (__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11) + \
     __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15))
#define SIMD_FOLD_FOUR(ab, cd)                                   \
    (__builtin_shufflevector(ab, cd, 0, 1, 8, 9, 2, 3, 10, 11) + \
     __builtin_shufflevector(ab, cd, 4, 5, 12, 13, 6, 7, 14, 15))

SIMD_INLINE simd_f64x4 simd_four_sums(simd_f64 a, simd_f64 b, simd_f64 c, simd_f64 d)
{
    simd_f64 ab = SIMD_FOLD_TWO(a, b), cd = SIMD_FOLD_TWO(c, d), q = SIMD_FOLD_FOUR(ab, cd);
    return __builtin_shufflevector(q, q, 0, 1, 2, 3) + __builtin_shufflevector(q, q, 4, 5, 6, 7);
}

/* Transposes an 8 x 8 matrix stored as eight row vectors. */
SIMD_INLINE void simd_transpose(simd_f64 *x)
{
    simd_f64 y[8];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) { /* pairs of rows: even and odd columns */
        y[2 * k] = __builtin_shufflevector(x[2 * k], x[2 * k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        y[2 * k + 1] = __builtin_shufflevector(x[2 * k], x[2 * k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 2
    for (int k = 0; k < 2;
         k++) { /* columns k and k + 4 on the left, k + 2 and k + 6 on the right */
        simd_f64 low0 = __builtin_shufflevector(y[k], y[2 + k], 0, 1, 8, 9, 4, 5, 12, 13);
        simd_f64 low2 = __builtin_shufflevector(y[k], y[2 + k], 2, 3, 10, 11, 6, 7, 14, 15);
        simd_f64 high0 = __builtin_shufflevector(y[4 + k], y[6 + k], 0, 1, 8, 9, 4, 5, 12, 13);
        simd_f64 high2 = __builtin_shufflevector(y[4 + k], y[6 + k], 2, 3, 10, 11, 6, 7, 14, 15);
        x[k] = __builtin_shufflevector(low0, high0, 0, 1, 2, 3, 8, 9, 10, 11);
        x[k + 4] = __builtin_shufflevector(low0, high0, 4, 5, 6, 7, 12, 13, 14, 15);
        x[k + 2] = __builtin_shufflevector(low2, high2, 0, 1, 2, 3, 8, 9, 10, 11);
        x[k + 6] = __builtin_shufflevector(low2, high2, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* exp(x) = 2^n exp(r) with r = x - n ln 2 in [-ln2/2, ln2/2]. exp(r) = 1 + r + r^2 q(r), with q
 * of degree 9 fitted at Chebyshev nodes (relative error 1.3e-17). The measured error is below 1
 * ulp. Arguments below -708 return 0 (no subnormals), arguments above 709.78 return infinity,
 * and NaN returns NaN. */
SIMD_INLINE simd_f64 simd_exp(simd_f64 x)
{
    static const double q[10] = {
        0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
        0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
        0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
    const double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    const double to_integer = 0x1.8p52; /* adding it leaves the nearest integer in the low bits */
    simd_f64 shifted = x * 0x1.71547652b82fep+0 + to_integer;
    simd_f64 n = shifted - to_integer;
    simd_f64 r = (x - n * ln2_high) - n * ln2_low;
    simd_f64 r2 = r * r, r4 = r2 * r2;
    simd_f64 low = (q[0] + q[1] * r) + (q[2] + q[3] * r) * r2;
    simd_f64 high = (q[4] + q[5] * r) + (q[6] + q[7] * r) * r2;
    simd_f64 p = 1.0 + (r + r2 * (low + r4 * (high + r4 * (q[8] + q[9] * r))));
    /* 2^(n-1), because 2^1024 is not a double; results out of range are replaced below */
    simd_u64 exponent = (simd_u64)shifted - (simd_u64)simd_all(to_integer) + 1022;
    p = (p + p) * (simd_f64)(exponent << 52);
    p = simd_select(x < -708.0, simd_all(0.0), p);
    return simd_select(x > 709.78, simd_all(__builtin_inf()), p);
}

/* log(x) of a positive normal x = 2^n m with m in [sqrt(1/2), sqrt(2)). Here log m = 2 atanh(s)
 * with s = (m - 1) / (m + 1). The series ends where the next term is below 1e-17. The measured
 * error is below 2 ulp away from 1, and below 1e-16 (absolute) near 1. */
SIMD_INLINE simd_f64 simd_log(simd_f64 x)
{
    const double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    const double half = 0x1.6a09e667f3bcdp-1; /* sqrt(1/2) */
    const double to_integer =
        0x1.8p52; /* adding it leaves an integer in the low bits; see simd_exp */
    simd_u64 n = ((simd_u64)x - (simd_u64)simd_all(half) + ((uint64_t)1024 << 52)) >> 52;
    simd_f64 m = (simd_f64)((simd_u64)x - ((n - 1024) << 52));
    simd_f64 e = (simd_f64)(n + (simd_u64)simd_all(to_integer)) - (to_integer + 1024);
    simd_f64 s = (m - 1.0) / (m + 1.0), z = s * s, z2 = z * z, z4 = z2 * z2;
    simd_f64 low = (2.0 / 3 + 2.0 / 5 * z) + (2.0 / 7 + 2.0 / 9 * z) * z2;
    simd_f64 mid = (2.0 / 11 + 2.0 / 13 * z) + (2.0 / 15 + 2.0 / 17 * z) * z2;
    simd_f64 tail = low + z4 * (mid + z4 * (2.0 / 19 + 2.0 / 21 * z));
    return e * ln2_high + (2.0 * s + (s * z * tail + e * ln2_low));
}

#endif
