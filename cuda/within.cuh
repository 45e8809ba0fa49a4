/* Finds pairs of rows whose key is within the reach of either row. A block computes the products
 * of one 128 x 128 tile and stores the few matching entries. */
#ifndef DDSC_CUDA_WITHIN_CUH
#define DDSC_CUDA_WITHIN_CUH

#include "nearest.cuh"

struct reaching {
    int64_t row[2], column[2]; /* first row and column are multiples of SIDE */
    const float *reach;        /* npad values; those beyond n are smaller than any key */
    unsigned long long most, *found;
    int2 *pair;
    float *key;
};

struct framing {
    const float *rows; /* n x n_frames x length, or NULL */
    int n_frames, length;
    double keep, slack;
};

/* Returns the maximum of `key` and the frame bounds of a pair, or the first of these values above
 * `reach`. Executed by one warp per pair. */
__device__ float frame_key(const framing &f, int2 pair, float key, float reach)
{
    const int lane = threadIdx.x % 32;
    const int64_t size = (int64_t)f.n_frames * f.length;
    const float *x = f.rows + pair.x * size, *y = f.rows + pair.y * size;
    for (int frame = 0; frame < f.n_frames && key <= reach; frame++, x += f.length, y += f.length) {
        float sum = 0;
        for (int c = 4 * lane; c < f.length; c += 128) {
            float4 a = *(const float4 *)(x + c), b = *(const float4 *)(y + c);
            float gap[4] = {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
            for (int p = 0; p < 4; p++)
                sum = fmaf(gap[p], gap[p], sum);
        }
        for (int half = 16; half > 0; half /= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, half);
        double low = fmax(0.0, f.keep * sqrt((double)sum) - f.slack);
        key = fmaxf(key, __double2float_rd(low * low));
    }
    return key;
}

__global__ void framed_kernel(framing f, int64_t n, const int2 *pair, float *key)
{
    int64_t k = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (k >= n)
        return;
    float largest = frame_key(f, pair[k], 0, INFINITY);
    if (threadIdx.x % 32 == 0)
        key[k] = largest;
}

/* Keeps the pairs that are within reach in all frames. */
__global__ void frames_kernel(framing f, reaching from, unsigned long long n, reaching to)
{
    unsigned long long k = (unsigned long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (k >= n)
        return;
    const int2 pair = from.pair[k];
    const float reach = fmaxf(from.reach[pair.x], from.reach[pair.y]);
    const float key = frame_key(f, pair, from.key[k], reach);
    if (threadIdx.x % 32 == 0 && key <= reach) {
        unsigned long long at = atomicAdd(to.found, 1ull);
        to.pair[at] = pair;
        to.key[at] = key;
    }
}

template <int WAY> __global__ void __launch_bounds__(THREADS, 2) within_kernel(search s, reaching w)
{
    typedef piece<WAY> p;
    typedef place<WAY> at;
    extern __shared__ __align__(16) char stages[];
    const int64_t row = w.row[0] + (int64_t)blockIdx.x * SIDE;
    const int64_t column = w.column[0] + (int64_t)blockIdx.y * SIDE;
    const int chunks = s.depth / p::DEPTH;
    float sum[8][8] = {};
    if (row > column + SIDE - 1)
        return;
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < chunks)
            bring<WAY>(s, stages + step * p::BYTES, row, column, step * p::DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < chunks; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        int ahead = step + STAGES - 1;
        if (ahead < chunks)
            bring<WAY>(s, stages + ahead % STAGES * p::BYTES, row, column, ahead * p::DEPTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
        at::add(stages + step % STAGES * p::BYTES, sum);
    }
    float other[8], divided[8], theirs[8];
#pragma unroll
    for (int c = 0; c < 8; c++) {
        int64_t j = column + at::column_of(c);
        other[c] = s.start[j];
        theirs[c] = w.reach[j];
        divided[c] = WAY == WAY_FP16 ? s.scale[j] : 1.0f;
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int64_t i = row + at::row_of(r);
        float first = s.start[i], own = w.reach[i], times = WAY == WAY_FP16 ? s.scale[i] : 1.0f;
#pragma unroll
        for (int c = 0; c < 8; c++) {
            int64_t j = column + at::column_of(c);
            float product = WAY == WAY_FP16 ? sum[r][c] * times * divided[c] : sum[r][c];
            float key = (first + other[c]) - 2.0f * product;
            if ((key <= own || key <= theirs[c]) && i < j && i < w.row[1] && j < w.column[1]) {
                unsigned long long to = atomicAdd(w.found, 1ull);
                if (to < w.most) {
                    w.pair[to] = make_int2((int)i, (int)j);
                    w.key[to] = key;
                }
            }
        }
    }
}

#endif
