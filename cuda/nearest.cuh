/* The least keys of every row, selected in the block that makes the products: no product ever reaches
 * memory. A block owns 128 rows and walks over a segment of the columns in tiles of 128; what lies
 * below a row's limit goes to the row's list, and a list that is nearly full is cut down to its least
 * `keep`, the last of which is the new limit. Lists are sorted by (key, number) as one 64-bit number,
 * so what is kept does not depend on the order of arrival. */
#ifndef DDSC_CUDA_NEAREST_CUH
#define DDSC_CUDA_NEAREST_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

enum {
    SIDE = 128,    /* rows and columns of a tile */
    STAGES = 3,    /* pieces of coordinates on their way */
    THREADS = 256, /* of which each has 8 rows and 8 columns of a tile */
    WARPS = THREADS / 32
};

enum way { WAY_FP16 = 0, WAY_FP32 = 1 };

typedef unsigned long long entry; /* key above, number below, in the order of both */

struct search {
    const char *x; /* depth x npad numbers of the way, coordinates of a row below each other */
    const float *start, *weight; /* npad; start infinite behind n; weight NULL: ones */
    const float *scale;          /* FP16: npad, what a row was divided by */
    int64_t npad;
    int depth;       /* a multiple of that of the way */
    int64_t row0;    /* first row of the strip */
    int tiles, span; /* of columns: all, and those of a segment */
    int keep;
    unsigned *limit; /* row - row0: the least limit of its segments so far, as in entries */
    entry *list;     /* (row - row0) x segments x 32 SLOTS */
    int *count;      /* (row - row0) x segments */
};

/* A piece: lines of SIDE numbers and 8 more, so that no two lines of a fragment share a bank. Those of
 * the rows, then those of the columns. */
template <int WAY> struct piece {
    enum {
        DEPTH = WAY == WAY_FP16 ? 32 : 16,
        SIZE = WAY == WAY_FP16 ? 2 : 4,
        LINE = (SIDE + 8) * SIZE,
        HALF = DEPTH * LINE,
        BYTES = 2 * HALF
    };
};

__device__ __forceinline__ entry entry_make(float key, int number)
{
    unsigned bits = __float_as_uint(key + 0.0f); /* -0 is 0 */
    bits ^= bits >> 31 ? 0xFFFFFFFFu : 0x80000000u;
    return (entry)bits << 32 | (unsigned)number;
}

__device__ __forceinline__ float key_of(unsigned bits)
{
    return __uint_as_float(bits >> 31 ? bits ^ 0x80000000u : ~bits);
}

__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

/* Coordinates from k on of 128 rows and 128 columns. */
template <int WAY>
__device__ __forceinline__ void bring(const search &s, char *stage, int64_t row, int64_t column,
                                      int k)
{
    typedef piece<WAY> p;
    enum { COPIES = SIDE * p::SIZE / 16 };
    for (int c = threadIdx.x; c < p::DEPTH * COPIES; c += THREADS) {
        int line = c / COPIES, at = c % COPIES * 16;
        const char *x = s.x + (int64_t)(k + line) * s.npad * p::SIZE + at;
        copy16(stage + line * p::LINE + at, x + row * p::SIZE);
        copy16(stage + p::HALF + line * p::LINE + at, x + column * p::SIZE);
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

/* Four matrices of 8 x 8 halves, each turned: a lane gives the address of one line. */
__device__ __forceinline__ void fragments(unsigned (&to)[4], const char *line)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(line);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

/* Warps in 2 x 4, each with 64 x 32 entries: fragments of 16 x 8 x 16 as the PTX manual lays them out
 * (mma.m16n8k16 with .f16). */
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

/* ---- selection ---- */

/* The number of rank `rank` among those of a warp, 32 SLOTS of them, bit by bit. */
template <int SLOTS> __device__ __forceinline__ unsigned ranked(const unsigned (&x)[SLOTS], int rank)
{
    unsigned found = 0;
    for (int bit = 31; bit >= 0; bit--) {
        unsigned tried = found | 1u << bit;
        int less = 0;
#pragma unroll
        for (int s = 0; s < SLOTS; s++)
            less += x[s] < tried;
        if (__reduce_add_sync(0xFFFFFFFFu, less) <= rank)
            found = tried;
    }
    return found;
}

/* The least `keep` of more entries, in any order, by one warp; returns the largest key among them. Of
 * equal keys the least numbers stay. */
template <int SLOTS> __device__ __noinline__ unsigned cut(entry *list, int count, int keep)
{
    int lane = threadIdx.x % 32, less = 0, equal = 0, base = 0;
    entry own[SLOTS];
    unsigned part[SLOTS], number = ~0u;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        own[s] = lane + 32 * s < count ? list[lane + 32 * s] : ~(entry)0;
        part[s] = (unsigned)(own[s] >> 32);
    }
    unsigned key = ranked<SLOTS>(part, keep - 1);
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        less += part[s] < key;
        equal += part[s] == key;
        part[s] = part[s] == key ? (unsigned)own[s] : ~0u;
    }
    less = __reduce_add_sync(0xFFFFFFFFu, less);
    equal = __reduce_add_sync(0xFFFFFFFFu, equal);
    if (less + equal > keep)
        number = ranked<SLOTS>(part, keep - less - 1);
    entry last = (entry)key << 32 | number;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        bool stays = own[s] <= last;
        unsigned who = __ballot_sync(0xFFFFFFFFu, stays);
        if (stays)
            list[base + __popc(who & ((1u << lane) - 1))] = own[s];
        base += __popc(who);
    }
    __syncwarp();
    return key;
}

/* A list in order, by one warp: an entry goes to the place of its rank. */
template <int SLOTS> __device__ __noinline__ void order(entry *list, int count)
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
        if (lane + 32 * s < count)
            list[rank[s]] = own[s];
    __syncwarp();
}

/* Entries of a tile below their row's limit join the lists. Is one nearly full? */
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

/* The limit of a row from that of all its segments: those may come behind numbers that are equal in
 * key, so the next float. */
__device__ __forceinline__ unsigned above(unsigned limit)
{
    return limit == ~0u ? limit : limit + 1;
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
    const unsigned infinite = 0xFF800000u; /* as in entries */
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
        __syncthreads(); /* the stage is there for all, and nobody reads the one to be filled */
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
    for (int r = warp; r < SIDE; r += WARPS) {
        if (count[r] > s.keep)
            cut<SLOTS>(list + r * stride, count[r], s.keep);
        order<SLOTS>(list + r * stride, min(count[r], s.keep));
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
                key[row * keep + rank] = key_of((unsigned)(mine >> 32));
                index[row * keep + rank] = (int)(unsigned)mine;
            }
        }
}

/* FP16: what each row is divided by, a power of two that brings its largest number to 2^14 .. 2^15;
 * one warp per row. */
__global__ void scale_kernel(const float *rows, int64_t n, int columns, float *scale)
{
    int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    unsigned largest = 0;
    if (row >= n)
        return;
    for (int k = threadIdx.x % 32; k < columns; k += 32)
        largest = max(largest, __float_as_uint(fabsf(rows[row * columns + k])));
    largest = __reduce_max_sync(0xFFFFFFFFu, largest);
    if (threadIdx.x % 32 == 0) /* 2^-141 where all are denormal: the least of them becomes 2^-8 */
        scale[row] = largest ? ldexpf(1.0f, (int)(largest >> 23) - 127 - 14) : 1.0f;
}

/* Rows below each other become columns below each other. */
template <typename number>
__global__ void turn_kernel(const float *rows, int64_t n, int columns, number *x, int64_t npad,
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
            x[(int64_t)(column + c) * npad + at + row + threadIdx.x] = (number)tile[threadIdx.x][c];
}

#endif
