/* Compiles the portable kernels, which run on any processor, and selects the fastest kernels at run
 * time. */
#define TARGET
#define VECTOR_BYTES 16
#define KERNELS kernels_portable
#define KERNELS_NAME "portable"
#include "distance/simd/loops.h"

const kernels *kernels_find(void)
{
#ifdef __x86_64__
    bool bits = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (bits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &kernels_avx512;
    if (bits && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_portable;
}
