/* Inner loops for the table of least costs (least_costs.c): convert float products of points to
 * bytes, take minima of bytes, and sum bytes.
 *
 * A table entry is q = floor(C * inverse), at most 255, so that q / inverse <= C. Costs are
 * computed from products, C = |x|^2 + |y|^2 - 2 x y, where the squared lengths are reduced by the
 * rounding margin. Rounding down is monotone, so the minimum over the points of an item can be
 * computed from the bytes. A row of the table contains the bytes of 64 items, so a weighted sum
 * over the points of one item gives 64 bounds.
 *
 * Four bytes share a 32-bit word. The bytes belong to items that are WIDTH apart, so shifts and
 * masks of whole words separate them without permutations. Sums are accumulated in the order of the
 * points, so they are the same on every instruction set. The compiler vectorizes the loops. The 64
 * sums over n points take 64 n operations and need no products of pairs of points. */
#include "distance/bound/least_kernels.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/simd.h"

enum { LANES = LEAST_LANES, CHUNK = LEAST_CHUNK, WIDTH = LEAST_WIDTH };

typedef float vector __attribute__((vector_size(WIDTH * sizeof(float))));
typedef int32_t vector_i32 __attribute__((vector_size(WIDTH * sizeof(int32_t))));
typedef uint32_t vector_u32 __attribute__((vector_size(WIDTH * sizeof(uint32_t))));

SIMD_CLONES void bound_least_quantize(uint8_t *cost, const float *product, float low,
                                      const float *lows, float inverse, int64_t width, bool root)
{
    float t[CHUNK];
    for (int64_t c = 0; c < width; c++)
        t[c] = (low + lows[c]) + product[c];
    for (int64_t c = 0; c < width && root; c++)
        t[c] = sqrtf(t[c] > 0 ? t[c] : 0) * (1 - 0x1p-22F);
    for (int64_t c = 0; c < width; c++) {
        float x = t[c] * inverse;
        x = x > 0 ? x : 0;
        x = x < LEAST_MOST ? x : LEAST_MOST;
        cost[c] = (uint8_t)(int32_t)x;
    }
}

SIMD_CLONES void bound_least_minima(uint8_t *least, const uint8_t *cost, const int32_t *index,
                                    int64_t n)
{
    uint8_t m[CHUNK];
    memcpy(m, cost + (int64_t)index[0] * CHUNK, CHUNK);
    for (int64_t p = 1; p < n; p++) {
        const uint8_t *x = cost + (int64_t)index[p] * CHUNK;
        for (int c = 0; c < CHUNK; c++)
            m[c] = x[c] < m[c] ? x[c] : m[c];
    }
    memcpy(least, m, CHUNK);
}

/* Returns the index of the byte for item `lane` of a block in a row of the table. */
SIMD_INLINE int64_t byte_of(int64_t lane)
{
    int64_t byte = lane / WIDTH;
    return lane % WIDTH * 4 + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 3 - byte : byte);
}

SIMD_CLONES void bound_least_transpose(uint8_t *table, const uint8_t *least, int64_t lanes,
                                       int64_t width)
{
    for (int64_t c = 0; c < width; c++) {
        uint8_t *to = table + c * LANES;
        for (int64_t l = 0; l < lanes; l++)
            to[byte_of(l)] = least[l * CHUNK + c];
        for (int64_t l = lanes; l < LANES; l++)
            to[byte_of(l)] = 0;
    }
}

SIMD_CLONES void bound_least_sums(float *out, const uint8_t *table, const int32_t *index,
                                  const float *weight, int64_t n)
{
    vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t p = 0; p < n; p++) {
        vector_u32 x;
        memcpy(&x, table + (int64_t)index[p] * LANES, sizeof x);
        s0 += __builtin_convertvector((vector_i32)(x & 255), vector) * weight[p];
        s1 += __builtin_convertvector((vector_i32)(x >> 8 & 255), vector) * weight[p];
        s2 += __builtin_convertvector((vector_i32)(x >> 16 & 255), vector) * weight[p];
        s3 += __builtin_convertvector((vector_i32)(x >> 24), vector) * weight[p];
    }
    memcpy(out, &s0, sizeof s0);
    memcpy(out + WIDTH, &s1, sizeof s1);
    memcpy(out + 2 * WIDTH, &s2, sizeof s2);
    memcpy(out + 3 * WIDTH, &s3, sizeof s3);
}

SIMD_CLONES void bound_least_larger(float *out, int64_t ld, const float *there, const float *back,
                                    int64_t width, int64_t n_i, int64_t n_j, float scale)
{
    for (int64_t i0 = 0; i0 < n_i; i0 += WIDTH)
        for (int64_t j0 = 0; j0 < n_j; j0 += WIDTH)
            for (int64_t i = i0; i < BASE_MIN(n_i, i0 + WIDTH); i++)
                for (int64_t j = j0; j < BASE_MIN(n_j, j0 + WIDTH); j++) {
                    float x = there[i * width + j], y = back[j * width + i];
                    out[i * ld + j] = scale * (x > y ? x : y);
                }
}
