/* Finds the smallest keys of every row. The block that computes the products also selects the
 * smallest keys, so products are never written to global memory. A block owns 128 rows and iterates
 * over a segment of the columns in tiles of 128. Keys below the limit of a row are appended to its
 * list. A list that is nearly full is reduced to its smallest `keep` entries, and the last of them
 * is the new limit. Lists are ordered by (key, number) as one 64-bit integer, so the result does
 * not depend on the order of insertion. */
#ifndef DDSC_CUDA_NEAREST_CUH
#define DDSC_CUDA_NEAREST_CUH

#include <cuda_fp16.h>

#include "lists.cuh"

enum {
    SIDE = 128,    /* rows and columns of a tile */
    PANEL = 64,    /* number of rows of halves that are stored together */
    STAGES = 3,    /* number of stages (groups of coordinates) in flight */
    THREADS = 256, /* each handles 8 rows and 8 columns of a tile */
    WARPS = THREADS / 32
};

enum way { WAY_FP16 = 0, WAY_FP32 = 1 };

struct search {
    const char *x; /* numbers in the format of the product type: floats as depth x npad, halves as
                    * in panel_at */
    const float *start, *weight; /* npad values; start is infinite beyond n; weight is NULL for ones */
    const float *scale;          /* FP16: npad divisors of the rows */
    float largest;               /* largest absolute value of the first n starts */
    int64_t npad;
    int depth, used; /* number of coordinates, padded to a multiple that the product type requires;
                      * number of those that may be nonzero, padded to 16 */
    int64_t row0, rows; /* first row of the strip (a range of rows) and number of rows */
    int tiles, span; /* column tiles: total, and per segment */
    int segments;
    int keep;
    unsigned *limit; /* one per row of the strip: smallest limit of its segments so far, encoded as
                      * in entries */
    entry *list;     /* (row - row0) x segments x 32 SLOTS */
    int *count;      /* (row - row0) x segments */
};

/* A stage contains lines of SIDE + 8 numbers. The padding ensures that no two lines of a fragment
 * share a bank. The lines of the rows precede those of the columns. */
template <int WAY> struct piece {
    enum {
        DEPTH = WAY == WAY_FP16 ? 32 : 16,
        SIZE = WAY == WAY_FP16 ? 2 : 4,
        LINE = (SIDE + 8) * SIZE,
        HALF = DEPTH * LINE,
        BYTES = 2 * HALF
    };
};

/* Returns the index of a half. Halves are stored in panels of 64 rows, with a line of 128 bytes for
 * each coordinate. The last three bits of the coordinate permute groups of eight rows within a line
 * (the 128-byte swizzle of the PTX manual). A stage of a panel is therefore contiguous in memory,
 * and reading it by columns causes no bank conflicts. */
__device__ __forceinline__ int64_t panel_at(int64_t row, int k, int depth)
{
    return (row / PANEL * depth + k) * PANEL + (((int)(row % PANEL) / 8) ^ (k % 8)) * 8 + row % 8;
}

/* Returns the address of 16 bytes with coordinate k of consecutive rows from `row`. */
template <int WAY>
__device__ __forceinline__ const char *rows_at(const search &s, int64_t row, int k)
{
    return WAY == WAY_FP16 ? s.x + 2 * panel_at(row, k, s.depth) : s.x + 4 * (k * s.npad + row);
}

__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

/* Copies coordinates k, k + 1, ... of 128 rows and 128 columns. */
template <int WAY>
__device__ __forceinline__ void bring(const search &s, char *stage, int64_t row, int64_t column,
                                      int k)
{
    typedef piece<WAY> p;
    enum { COPIES = SIDE * p::SIZE / 16 };
    for (int c = threadIdx.x; c < p::DEPTH * COPIES; c += THREADS) {
        int line = c / COPIES, at = c % COPIES * 16;
        char *to = stage + line * p::LINE + at;
        copy16(to, rows_at<WAY>(s, row + at / p::SIZE, k + line));
        copy16(to + p::HALF, rows_at<WAY>(s, column + at / p::SIZE, k + line));
    }
}

/* ---- products of a stage; entry (r, c) of a thread belongs to row_of(r) and column_of(c) ---- */

template <int WAY> struct place;

template <> struct place<WAY_FP32> {
    __device__ __forceinline__ static int row_of(int r)
    {
        return (threadIdx.x / 16) * 4 + (r & 3) + (r >> 2) * 64;
    }
    __device__ __forceinline__ static int column_of(int c)
    {
        return (threadIdx.x % 16) * 4 + (c & 3) + (c >> 2) * 64;
    }
    __device__ __forceinline__ static void add(const char *stage, float (&sum)[8][8])
    {
        enum { STRIDE = piece<WAY_FP32>::LINE / 4 };
        const float *rows = (const float *)stage + row_of(0);
        const float *columns = (const float *)(stage + piece<WAY_FP32>::HALF) + column_of(0);
#pragma unroll
        for (int k = 0; k < piece<WAY_FP32>::DEPTH; k++) {
            float a[8], b[8];
            *(float4 *)a = *(const float4 *)(rows + k * STRIDE);
            *(float4 *)(a + 4) = *(const float4 *)(rows + k * STRIDE + 64);
            *(float4 *)b = *(const float4 *)(columns + k * STRIDE);
            *(float4 *)(b + 4) = *(const float4 *)(columns + k * STRIDE + 64);
#pragma unroll
            for (int r = 0; r < 8; r++)
#pragma unroll
                for (int c = 0; c < 8; c++)
                    sum[r][c] = fmaf(a[r], b[c], sum[r][c]);
        }
    }
};

/* Loads four transposed matrices of 8 x 8 halves. Each lane provides the address of one line. */
__device__ __forceinline__ void fragments(unsigned (&to)[4], const char *line)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(line);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

/* Warps are arranged in a 2 x 4 grid with 64 x 32 entries each. The layout of fragments of 16 x 8 x
 * 16 is described in the PTX manual (mma.m16n8k16 with .f16). */
template <> struct place<WAY_FP16> {
    __device__ __forceinline__ static int row_of(int r)
    {
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        return (warp / 4) * 64 + (r >> 1) * 16 + (r & 1) * 8 + lane / 4;
    }
    __device__ __forceinline__ static int column_of(int c)
    {
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        return (warp % 4) * 32 + (c >> 1) * 8 + (c & 1) + lane % 4 * 2;
    }
    __device__ __forceinline__ static void add(const char *stage, float (&sum)[8][8])
    {
        typedef piece<WAY_FP16> p;
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, matrix = lane / 8, line = lane % 8;
        const char *rows = stage + ((matrix >> 1) * 8 + line) * p::LINE +
                           ((warp / 4) * 64 + (matrix & 1) * 8) * 2;
        const char *columns = stage + p::HALF + ((matrix & 1) * 8 + line) * p::LINE +
                              ((warp % 4) * 32 + (matrix >> 1) * 8) * 2;
#pragma unroll
        for (int k = 0; k < p::DEPTH; k += 16) {
            unsigned a[4][4], b[2][4];
#pragma unroll
            for (int m = 0; m < 4; m++)
                fragments(a[m], rows + k * p::LINE + m * 32);
#pragma unroll
            for (int c = 0; c < 2; c++)
                fragments(b[c], columns + k * p::LINE + c * 32);
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(sum[2 * m][2 * c]), "+f"(sum[2 * m][2 * c + 1]),
                          "+f"(sum[2 * m + 1][2 * c]), "+f"(sum[2 * m + 1][2 * c + 1])
                        : "r"(a[m][0]), "r"(a[m][1]), "r"(a[m][2]), "r"(a[m][3]),
                          "r"(b[c / 2][c % 2 * 2]), "r"(b[c / 2][c % 2 * 2 + 1]));
        }
    }
};

/* Appends the entries of a tile that are below the limits of their rows. Returns true if a list
 * is nearly full. */
template <int WAY, bool WEIGHTED, int SLOTS>
__device__ __forceinline__ bool take(const search &s, float (&sum)[8][8], int64_t row,
                                     int64_t column, const float *start, const float *scale,
                                     const float *limit, int *count, entry *list, int64_t stride)
{
    typedef place<WAY> at;
    float other[8], weight[8], divided[8];
    bool full = false;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        other[c] = s.start[column + at::column_of(c)];
        weight[c] = WEIGHTED ? s.weight[column + at::column_of(c)] : 1.0f;
        divided[c] = WAY == WAY_FP16 ? s.scale[column + at::column_of(c)] : 1.0f;
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int own = at::row_of(r);
        float first = start[own], below = limit[own], times = WAY == WAY_FP16 ? scale[own] : 1.0f;
#pragma unroll
        for (int c = 0; c < 8; c++) {
            float product = WAY == WAY_FP16 ? sum[r][c] * times * divided[c] : sum[r][c];
            float key = (first + other[c]) - 2.0f * product;
            if (WEIGHTED)
                key *= weight[c];
            sum[r][c] = 0;
            if (key < below && row + own != column + at::column_of(c)) {
                int place = atomicAdd(&count[own], 1);
                list[own * stride + place] = entry_make(key, (int)(column + at::column_of(c)));
                full |= place + 1 > 32 * SLOTS - SIDE;
            }
        }
    }
    return full;
}

template <int WAY, bool WEIGHTED, int SLOTS>
__global__ void __launch_bounds__(THREADS, 2) nearest_kernel(search s)
{
    typedef piece<WAY> p;
    extern __shared__ __align__(16) char stages[];
    __shared__ float start[SIDE], scale[SIDE], limit[SIDE];
    __shared__ int count[SIDE];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t block = (int64_t)blockIdx.x * SIDE, row = s.row0 + block;
    const int64_t stride = (int64_t)gridDim.y * 32 * SLOTS;
    entry *list = s.list + block * stride + (int64_t)blockIdx.y * 32 * SLOTS;
    const int first = (int)blockIdx.y * s.span, last = min(s.tiles, first + s.span);
    const int chunks = s.depth / p::DEPTH, steps = max(0, last - first) * chunks;
    const unsigned infinite = 0xFF800000u; /* encoded as in entries */
    float sum[8][8] = {};
    for (int r = threadIdx.x; r < SIDE; r += THREADS) {
        start[r] = s.start[row + r];
        scale[r] = WAY == WAY_FP16 ? s.scale[row + r] : 1.0f;
        limit[r] = key_of(min(infinite, above(s.limit[block + r])));
        count[r] = 0;
    }
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            bring<WAY>(s, stages + step * p::BYTES, row, (int64_t)(first + step / chunks) * SIDE,
                       step % chunks * p::DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0, tile = first, chunk = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* the stage is complete, and no thread still reads the stage that is
                          * filled next */
        int ahead = step + STAGES - 1;
        if (ahead < steps)
            bring<WAY>(s, stages + ahead % STAGES * p::BYTES, row,
                       (int64_t)(first + ahead / chunks) * SIDE, ahead % chunks * p::DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
        place<WAY>::add(stages + step % STAGES * p::BYTES, sum);
        if (++chunk < chunks)
            continue;
        chunk = 0;
        bool full = take<WAY, WEIGHTED, SLOTS>(s, sum, row, (int64_t)tile++ * SIDE, start, scale,
                                               limit, count, list, stride);
        if (!__syncthreads_or(full))
            continue;
        for (int r = warp; r < SIDE; r += WARPS)
            if (count[r] > 32 * SLOTS - SIDE) {
                unsigned own = cut<SLOTS>(list + r * stride, count[r], s.keep);
                __syncwarp();
                if (lane == 0) {
                    count[r] = s.keep;
                    limit[r] = key_of(min(own, above(atomicMin(&s.limit[block + r], own))));
                }
            }
        __syncthreads();
    }
    __syncthreads();
    for (int r = threadIdx.x; r < SIDE; r += THREADS)
        s.count[(block + r) * gridDim.y + blockIdx.y] = count[r];
}

/* FP16: computes the divisor of each row, a power of two that brings its largest value to 2^14
 * .. 2^15. One warp per row. */
__global__ void scale_kernel(const float *rows, int64_t n, int columns, float *scale)
{
    int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    unsigned largest = 0;
    if (row >= n)
        return;
    for (int k = threadIdx.x % 32; k < columns; k += 32)
        largest = max(largest, __float_as_uint(fabsf(rows[row * columns + k])));
    largest = __reduce_max_sync(0xFFFFFFFFu, largest);
    if (threadIdx.x % 32 == 0) /* 2^-141 if all values are denormal, which makes the smallest value
                                * 2^-8 */
        scale[row] = largest ? ldexpf(1.0f, (int)(largest >> 23) - 127 - 14) : 1.0f;
}

/* Stores a number in the layout that the products use. size is npad or depth. */
__device__ __forceinline__ void put(float *x, int64_t row, int k, int64_t size, float number)
{
    x[k * size + row] = number;
}

__device__ __forceinline__ void put(half *x, int64_t row, int k, int64_t size, float number)
{
    x[panel_at(row, k, (int)size)] = (half)number;
}

/* Transposes the rows and stores them in the layout of the products. */
template <typename number>
__global__ void turn_kernel(const float *rows, int64_t n, int columns, number *x, int64_t size,
                            int64_t at, const float *scale)
{
    __shared__ float tile[32][33];
    int64_t row = (int64_t)blockIdx.x * 32;
    int column = (int)blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        if (row + r < n && column + (int)threadIdx.x < columns)
            tile[r][threadIdx.x] =
                rows[(row + r) * columns + column + threadIdx.x] / (scale ? scale[row + r] : 1.0f);
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += blockDim.y)
        if (row + threadIdx.x < n && column + c < columns)
            put(x, at + row + threadIdx.x, column + c, size, tile[threadIdx.x][c]);
}

#endif
