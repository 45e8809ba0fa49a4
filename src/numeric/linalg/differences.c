/* Computes squared distances from differences of coordinates. Differences avoid cancellation, and
 * each distance depends only on its two rows. With a matrix product, the bits would also depend on
 * the other rows of the block. */
#include "base/simd.h"
#include "numeric/linalg/linalg.h"

#pragma GCC diagnostic ignored "-Wpsabi"

enum { BLOCK_ROWS = 2, BLOCK_COLUMNS = 4 };

SIMD_INLINE simd_f64 tail_load(const double *from, int64_t n)
{
    simd_f64 x = {0};
    for (int64_t k = 0; k < n; k++)
        x[k] = from[k];
    return x;
}

/* Computes a block of distances with eight running sums per pair, over coordinates k, k + 8, ...
 * The numbers of rows and columns are constants at every call, so the compiler unrolls the loops
 * after inlining. */
SIMD_INLINE void block(int rows, int columns, int64_t d, const double *x, const double *y,
                       double *out, int64_t ld)
{
    simd_f64 sum[BLOCK_ROWS][BLOCK_COLUMNS];
    for (int p = 0; p < rows; p++)
        for (int q = 0; q < columns; q++)
            sum[p][q] = simd_all(0);
    int64_t k = 0;
    for (; k + SIMD_LANES <= d; k += SIMD_LANES)
        for (int p = 0; p < rows; p++)
            for (int q = 0; q < columns; q++) {
                simd_f64 step = simd_load(x + p * d + k) - simd_load(y + q * d + k);
                sum[p][q] += step * step;
            }
    for (int p = 0; k < d && p < rows; p++)
        for (int q = 0; q < columns; q++) {
            simd_f64 step = tail_load(x + p * d + k, d - k) - tail_load(y + q * d + k, d - k);
            sum[p][q] += step * step;
        }
    for (int p = 0; p < rows; p++)
        for (int q = 0; q < columns; q++)
            out[p * ld + q] = simd_sum(sum[p][q]);
}

SIMD_CLONES void la_differences(int64_t n, int64_t m, int64_t d, const double *x, const double *y,
                                double *out, int64_t ld)
{
    int64_t p = 0;
    for (; p + BLOCK_ROWS <= n; p += BLOCK_ROWS) {
        int64_t q = 0;
        for (; q + BLOCK_COLUMNS <= m; q += BLOCK_COLUMNS)
            block(BLOCK_ROWS, BLOCK_COLUMNS, d, x + p * d, y + q * d, out + p * ld + q, ld);
        for (; q < m; q++)
            block(BLOCK_ROWS, 1, d, x + p * d, y + q * d, out + p * ld + q, ld);
    }
    for (; p < n; p++)
        for (int64_t q = 0; q < m; q++)
            block(1, 1, d, x + p * d, y + q * d, out + p * ld + q, ld);
}
