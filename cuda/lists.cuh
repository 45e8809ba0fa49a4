/* Manages lists of the smallest keys. An entry combines a key and a row number in one 64-bit
 * integer, so the result does not depend on the order of insertion. */
#ifndef DDSC_CUDA_LISTS_CUH
#define DDSC_CUDA_LISTS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

typedef unsigned long long entry; /* key in the high bits and number in the low bits, ordered by both */

__device__ __forceinline__ entry entry_make(float key, int number)
{
    unsigned bits = __float_as_uint(key + 0.0f); /* maps -0 to 0 */
    bits ^= bits >> 31 ? 0xFFFFFFFFu : 0x80000000u;
    return (entry)bits << 32 | (unsigned)number;
}

__device__ __forceinline__ float key_of(unsigned bits)
{
    return __uint_as_float(bits >> 31 ? bits ^ 0x80000000u : ~bits);
}

/* Returns the limit of a row within one segment, given the limit over all segments. Entries with an
 * equal key and a smaller number may still follow, so the result is the next larger float. */
__device__ __forceinline__ unsigned above(unsigned limit)
{
    return limit == ~0u ? limit : limit + 1;
}

/* Returns the value with the given rank among the 32 SLOTS values of a warp. The value is
 * determined bit by bit. */
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

/* Reduces a list to its smallest `keep` entries, in any order, and returns their largest key.
 * Among equal keys, the smallest numbers are kept. Executed by one warp. */
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

/* Sorts a list by moving each entry to the position of its rank. Executed by one warp. */
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

/* Returns the number of entries of a sorted list that are below `other`. */
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

/* Cuts, sorts and merges the lists of a row's segments, with one warp per row. The rank of an entry
 * among all entries is the sum of its ranks in the lists. */
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
