/* Lists of the least keys: an entry is a key and a number as one 64-bit number, so what is kept does not depend on
 * the order of arrival. */
#ifndef DDSC_CUDA_LISTS_CUH
#define DDSC_CUDA_LISTS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

typedef unsigned long long entry; /* key above, number below, in the order of both */

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

/* The limit of a row from that of all its segments: those may come behind numbers that are equal in
 * key, so the next float. */
__device__ __forceinline__ unsigned above(unsigned limit)
{
    return limit == ~0u ? limit : limit + 1;
}

/* The number of rank `rank` among those of a warp, 32 SLOTS of them, bit by bit. */
template <int SLOTS>
__device__ __forceinline__ unsigned ranked(const unsigned (&x)[SLOTS], int rank)
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
template <int SLOTS> __device__ __forceinline__ unsigned cut_here(entry *list, int count, int keep)
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

template <int SLOTS> __device__ __noinline__ unsigned cut(entry *list, int count, int keep)
{
    return cut_here<SLOTS>(list, count, keep);
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

/* The lists of a row's segments are cut, put in order, and become one, by one warp per row: the rank among
 * all is the sum of the ranks in each. */
template <int SLOTS>
__global__ void join_kernel(int64_t rows, int segments, int keep, entry *list, int *count,
                            float *key, int *index)
{
    const int slots = 32 * SLOTS;
    int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    list += row * segments * slots;
    count += row * segments;
    for (int s = 0; s < segments; s++) {
        if (count[s] > keep)
            cut<SLOTS>(list + s * slots, count[s], keep);
        order<SLOTS>(list + s * slots, min(count[s], keep));
    }
    for (int own = 0; own < segments; own++)
        for (int e = threadIdx.x % 32; e < min(count[own], keep); e += 32) {
            entry mine = list[own * slots + e];
            int rank = e;
            for (int s = 0; s < segments && rank < keep; s++)
                if (s != own)
                    rank += below(list + s * slots, min(count[s], keep), mine);
            if (rank < keep) {
                key[row * keep + rank] = key_of((unsigned)(mine >> 32));
                index[row * keep + rank] = (int)(unsigned)mine;
            }
        }
}

#endif
