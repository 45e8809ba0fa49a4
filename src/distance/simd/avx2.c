/* Compiles the kernels for processors with AVX2. */
#include "distance/simd/kernels.h"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define VECTOR_BYTES 32
#define KERNELS kernels_avx2
#define KERNELS_NAME "avx2"
#include "distance/simd/loops.h"
#endif
