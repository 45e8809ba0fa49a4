/* The least keys of every row, selected in the block that makes the products: no product ever reaches
 * memory. A block owns 128 rows and walks over a segment of the columns in tiles of 128; what lies
 * below a row's limit goes to the row's list, and a list that is nearly full is cut down to its least
 * `keep`, the last of which is the new limit. Lists are sorted by (key, number) as one 64-bit number,
 * so what is kept does not depend on the order of arrival. */
#ifndef DDSC_CUDA_NEAREST_CUH
#define DDSC_CUDA_NEAREST_CUH

#include <cuda_runtime.h>
#include <stdint.h>

enum {
    SIDE = 128,    /* rows and columns of a tile */
    DEPTH = 16,    /* coordinates brought in at a time */
    STAGES = 3,    /* of them on their way */
    STRIDE = 136,  /* of a line of SIDE in shared memory: 8 mod 32, no two of a fragment in one bank */
    THREADS = 256, /* of which each has 8 rows and 8 columns of a tile */
    WARPS = THREADS / 32
};

enum way { WAY_TF32 = 0, WAY_FP32 = 1 };

typedef unsigned long long entry; /* key above, number below, in the order of both */

struct search {
    const float *x; /* kpad x npad, coordinates of a row below each other; TF32: rounded */
    const float *start, *weight; /* npad; start infinite behind n; weight NULL: ones */
    int64_t npad;
    int depth;         /* kpad */
    int64_t row0;      /* first row of the strip */
    int tiles, span;   /* of columns: all, and those of a segment */
    int keep;
    entry *list;       /* (row - row0) x segments x 32 SLOTS */
    int *count;        /* (row - row0) x segments */
};

constexpr int stage_floats = 2 * DEPTH * STRIDE;
constexpr int shared_bytes = STAGES * stage_floats * (int)sizeof(float);

__device__ __forceinline__ entry entry_make(float key, int number)
{
    unsigned bits = __float_as_uint(key + 0.0f); /* -0 is 0 */
    bits ^= bits >> 31 ? 0xFFFFFFFFu : 0x80000000u;
    return (entry)bits << 32 | (unsigned)number;
}

__device__ __forceinline__ float entry_key(entry e)
{
    unsigned bits = (unsigned)(e >> 32);
    return __uint_as_float(bits >> 31 ? bits ^ 0x80000000u : ~bits);
}

__device__ __forceinline__ void copy16(float *to, const float *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

/* Coordinates [k, k + DEPTH) of 128 rows and 128 columns. */
__device__ __forceinline__ void bring(const search &s, float *stage, int64_t row, int64_t column,
                                      int k)
{
    for (int p = threadIdx.x; p < DEPTH * SIDE / 4; p += THREADS) {
        int line = p / (SIDE / 4), at = p % (SIDE / 4) * 4;
        const float *x = s.x + (int64_t)(k + line) * s.npad + at;
        copy16(stage + line * STRIDE + at, x + row);
        copy16(stage + (DEPTH + line) * STRIDE + at, x + column);
    }
}

/* ---- products of a stage; entry (r, c) of a thread is that of row_of(r) and column_of(c) ---- */

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
    __device__ __forceinline__ static void add(const float *stage, float (&sum)[8][8])
    {
        const float *rows = stage + row_of(0), *columns = stage + DEPTH * STRIDE + column_of(0);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
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

/* Warps in 2 x 4, each with 64 x 32 entries: fragments of 16 x 8 x 8 as the PTX manual lays them out
 * (mma.m16n8k8 with .tf32). */
template <> struct place<WAY_TF32> {
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
    __device__ __forceinline__ static void add(const float *stage, float (&sum)[8][8])
    {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const float *rows = stage + (lane % 4) * STRIDE + (warp / 4) * 64 + lane / 4;
        const float *columns = stage + (DEPTH + lane % 4) * STRIDE + (warp % 4) * 32 + lane / 4;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            unsigned a[4][4], b[4][2];
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int p = 0; p < 4; p++)
                    a[m][p] = __float_as_uint(
                        rows[(k + (p >> 1) * 4) * STRIDE + m * 16 + (p & 1) * 8]);
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int p = 0; p < 2; p++)
                    b[m][p] = __float_as_uint(columns[(k + p * 4) * STRIDE + m * 8]);
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(sum[2 * m][2 * c]), "+f"(sum[2 * m][2 * c + 1]),
                                   "+f"(sum[2 * m + 1][2 * c]), "+f"(sum[2 * m + 1][2 * c + 1])
                                 : "r"(a[m][0]), "r"(a[m][1]), "r"(a[m][2]), "r"(a[m][3]),
                                   "r"(b[c][0]), "r"(b[c][1]));
        }
    }
};

/* ---- selection ---- */

/* The least `keep` of a list, in order, by one warp: an entry goes to the place of its rank. */
template <int SLOTS> __device__ __noinline__ void cut(entry *list, int count, int keep)
{
    int lane = threadIdx.x % 32;
    entry own[SLOTS];
    int rank[SLOTS];
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        own[s] = lane + 32 * s < count ? list[lane + 32 * s] : ~(entry)0;
        rank[s] = 0;
    }
#pragma unroll
    for (int from = 0; from < SLOTS; from++)
        for (int l = 0; l < 32 && 32 * from + l < count; l++) {
            entry other = __shfl_sync(0xFFFFFFFFu, own[from], l);
#pragma unroll
            for (int s = 0; s < SLOTS; s++)
                rank[s] += other < own[s];
        }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
        if (lane + 32 * s < count && rank[s] < keep)
            list[rank[s]] = own[s];
    __syncwarp();
}

/* Entries of a tile below their row's limit join the lists. Is one nearly full? */
template <int WAY, bool WEIGHTED, int SLOTS>
__device__ __forceinline__ bool take(const search &s, float (&sum)[8][8], int64_t row,
                                     int64_t column, const float *start, const float *limit,
                                     int *count, entry *list, int64_t stride)
{
    typedef place<WAY> at;
    float other[8], weight[8];
    bool full = false;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        other[c] = s.start[column + at::column_of(c)];
        weight[c] = WEIGHTED ? s.weight[column + at::column_of(c)] : 1.0f;
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int own = at::row_of(r);
        float first = start[own], below = limit[own];
#pragma unroll
        for (int c = 0; c < 8; c++) {
            float key = (first + other[c]) - 2.0f * sum[r][c];
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
    extern __shared__ __align__(16) float stages[];
    __shared__ float start[SIDE], limit[SIDE];
    __shared__ int count[SIDE];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t block = (int64_t)blockIdx.x * SIDE, row = s.row0 + block;
    const int64_t stride = (int64_t)gridDim.y * 32 * SLOTS;
    entry *list = s.list + block * stride + (int64_t)blockIdx.y * 32 * SLOTS;
    const int first = (int)blockIdx.y * s.span, last = min(s.tiles, first + s.span);
    const int chunks = s.depth / DEPTH, steps = (last - first) * chunks;
    float sum[8][8] = {};
    for (int r = threadIdx.x; r < SIDE; r += THREADS) {
        start[r] = s.start[row + r];
        limit[r] = __int_as_float(0x7f800000);
        count[r] = 0;
    }
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            bring(s, stages + step * stage_floats, row, (int64_t)(first + step / chunks) * SIDE,
                  step % chunks * DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0, tile = first, chunk = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* the stage is there for all, and nobody reads the one to be filled */
        int ahead = step + STAGES - 1;
        if (ahead < steps)
            bring(s, stages + ahead % STAGES * stage_floats, row,
                  (int64_t)(first + ahead / chunks) * SIDE, ahead % chunks * DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
        place<WAY>::add(stages + step % STAGES * stage_floats, sum);
        if (++chunk < chunks)
            continue;
        chunk = 0;
        bool full = take<WAY, WEIGHTED, SLOTS>(s, sum, row, (int64_t)tile++ * SIDE, start, limit,
                                               count, list, stride);
        if (!__syncthreads_or(full))
            continue;
        for (int r = warp; r < SIDE; r += WARPS)
            if (count[r] > 32 * SLOTS - SIDE) {
                cut<SLOTS>(list + r * stride, count[r], s.keep);
                __syncwarp();
                if (lane == 0) {
                    count[r] = s.keep;
                    limit[r] = entry_key(list[r * stride + s.keep - 1]);
                }
            }
        __syncthreads();
    }
    __syncthreads();
    for (int r = warp; r < SIDE; r += WARPS) {
        cut<SLOTS>(list + r * stride, count[r], s.keep);
        if (lane == 0)
            s.count[(block + r) * gridDim.y + blockIdx.y] = min(count[r], s.keep);
    }
}

/* Entries of a sorted list below another entry. */
__device__ __forceinline__ int below(const entry *list, int count, entry other)
{
    int low = 0;
    while (low < count) {
        int middle = (low + count) / 2;
        if (list[middle] < other)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The lists of a row's segments become one, by one warp per row: the rank among all is the sum of
 * the ranks in each. */
__global__ void join_kernel(int64_t rows, int segments, int slots, int keep, const entry *list,
                            const int *count, float *key, int *index)
{
    int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    list += row * segments * slots;
    count += row * segments;
    for (int own = 0; own < segments; own++)
        for (int e = threadIdx.x % 32; e < count[own]; e += 32) {
            entry mine = list[own * slots + e];
            int rank = e;
            for (int s = 0; s < segments && rank < keep; s++)
                if (s != own)
                    rank += below(list + s * slots, count[s], mine);
            if (rank < keep) {
                key[row * keep + rank] = entry_key(mine);
                index[row * keep + rank] = (int)(unsigned)mine;
            }
        }
}

/* Rows below each other become columns below each other; TF32: rounded to nearest. */
__global__ void turn_kernel(const float *rows, int64_t n, int columns, float *x, int64_t npad,
                            int64_t at, bool round)
{
    __shared__ float tile[32][33];
    int64_t row = (int64_t)blockIdx.x * 32;
    int column = (int)blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        if (row + r < n && column + (int)threadIdx.x < columns)
            tile[r][threadIdx.x] = rows[(row + r) * columns + column + threadIdx.x];
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += blockDim.y)
        if (row + threadIdx.x < n && column + c < columns) {
            float value = tile[threadIdx.x][c];
            if (round) {
                unsigned bits;
                asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
                value = __uint_as_float(bits);
            }
            x[(int64_t)(column + c) * npad + at + row + threadIdx.x] = value;
        }
}

#endif
