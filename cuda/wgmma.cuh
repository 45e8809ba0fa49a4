/* Wraps features that only compute capability 9.0 has: barriers in shared memory that count bytes,
 * asynchronous bulk copies, and warp-group products from shared memory. */
#ifndef DDSC_CUDA_WGMMA_CUH
#define DDSC_CUDA_WGMMA_CUH

#include "nearest.cuh"

enum {
    WIDE = 256, /* columns of a tile */
    LINES = 64, /* coordinates of a stage */
    PANEL_BYTES = LINES * PANEL * 2
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ unsigned shared_at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void await(unsigned long long *barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_at(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ __forceinline__ void arrive(unsigned long long *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(barrier)) : "memory");
}

/* Makes the barrier also wait for the given number of bytes. */
__device__ __forceinline__ void expect(unsigned long long *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void bring_bytes(void *to, const void *from, int bytes,
                                            unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_at(to)),
                 "l"(from), "r"(bytes), "r"(shared_at(barrier))
                 : "memory");
}

/* ---- products ---- */

/* Returns the matrix descriptor of panels in shared memory (see the PTX manual). Each coordinate
 * has a line of 128 bytes for 64 rows, with the 128-byte swizzle. The distance to the next 8
 * coordinates is 1,024 bytes, and the distance to the next 64 rows is PANEL_BYTES. */
__device__ __forceinline__ unsigned long long panels_at(const char *at)
{
    return (unsigned long long)(shared_at(at) >> 4) | (unsigned long long)(PANEL_BYTES >> 4) << 16 |
           (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

#define FOUR(i) "%" #i
#define SUMS8(a, b, c, d, e, f, g, h) \
    FOUR(a)                           \
    ", " FOUR(b) ", " FOUR(c) ", " FOUR(d) ", " FOUR(e) ", " FOUR(f) ", " FOUR(g) ", " FOUR(h)
#define IN4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define IN16(i) IN4(i), IN4(i + 4), IN4(i + 8), IN4(i + 12)
#define IN64(i) IN16(i), IN16(i + 16), IN16(i + 32), IN16(i + 48)

/* Multiplies 64 rows by 256 columns over 16 coordinates. If `more` is 0, the sums are reset
 * first. */
__device__ __forceinline__ void multiply(float (&sum)[WIDE / 2], unsigned long long rows,
                                         unsigned long long columns, int more)
{
    asm volatile("{\n"
                 ".reg .pred more;\n"
                 "setp.ne.b32 more, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" SUMS8(0, 1, 2, 3, 4, 5, 6, 7) ", " SUMS8(
                     8, 9, 10, 11, 12, 13, 14,
                     15) ", " SUMS8(16, 17, 18, 19, 20, 21, 22,
                                    23) ", " SUMS8(24, 25, 26, 27, 28, 29, 30,
                                                   31) ", " SUMS8(32, 33, 34, 35, 36, 37, 38,
                                                                  39) ", " SUMS8(40, 41, 42, 43, 44,
                                                                                 45, 46,
                                                                                 47) ", " SUMS8(48,
                                                                                                49,
                                                                                                50,
                                                                                                51,
                                                                                                52,
                                                                                                53,
                                                                                                54,
                                                                                                55) ", " SUMS8(56, 57, 58, 59, 60, 61, 62, 63) ", " SUMS8(64, 65, 66, 67, 68, 69, 70, 71) ", " SUMS8(72, 73, 74, 75, 76, 77, 78, 79) ", " SUMS8(80,
                                                                                                                                                                                                                                                81,
                                                                                                                                                                                                                                                82,
                                                                                                                                                                                                                                                83, 84, 85, 86, 87) ", " SUMS8(88, 89, 90, 91,
                                                                                                                                                                                                                                                                               92, 93, 94, 95) ", " SUMS8(96,
                                                                                                                                                                                                                                                                                                          97, 98, 99, 100, 101, 102, 103) ", " SUMS8(104,
                                                                                                                                                                                                                                                                                                                                                     105,
                                                                                                                                                                                                                                                                                                                                                     106,
                                                                                                                                                                                                                                                                                                                                                     107, 108,
                                                                                                                                                                                                                                                                                                                                                     109,
                                                                                                                                                                                                                                                                                                                                                     110,
                                                                                                                                                                                                                                                                                                                                                     111) ", " SUMS8(112,
                                                                                                                                                                                                                                                                                                                                                                     113,
                                                                                                                                                                                                                                                                                                                                                                     114,
                                                                                                                                                                                                                                                                                                                                                                     115,
                                                                                                                                                                                                                                                                                                                                                                     116,
                                                                                                                                                                                                                                                                                                                                                                     117,
                                                                                                                                                                                                                                                                                                                                                                     118,
                                                                                                                                                                                                                                                                                                                                                                     119) ", " SUMS8(120,
                                                                                                                                                                                                                                                                                                                                                                                     121,
                                                                                                                                                                                                                                                                                                                                                                                     122,
                                                                                                                                                                                                                                                                                                                                                                                     123,
                                                                                                                                                                                                                                                                                                                                                                                     124,
                                                                                                                                                                                                                                                                                                                                                                                     125,
                                                                                                                                                                                                                                                                                                                                                                                     126,
                                                                                                                                                                                                                                                                                                                                                                                     127) "}, %128, %129, more, 1, 1, 1, 1;\n"
                                                                                                                                                                                                                                                                                                                                                                                          "}\n"
                 : IN64(0), IN64(64)
                 : "l"(rows), "l"(columns), "r"(more)
                 : "memory");
}

/* Waits until the sums include all stages except the last LEFT. */
template <int LEFT> __device__ __forceinline__ void products_wait(float (&sum)[WIDE / 2])
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
    if (LEFT == 0) /* prevents reads of the sums before this point */
#pragma unroll
        for (int i = 0; i < WIDE / 2; i++)
            asm volatile("" : "+f"(sum[i])::"memory");
}

#undef IN64
#undef IN16
#undef IN4
#undef SUMS8
#undef FOUR

#endif /* compute capability 9.0 */

#endif
