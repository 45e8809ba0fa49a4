/* Compiles the kernels for processors with AVX-512 F and DQ. */
#include "distance/simd/kernels.h"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx512f,avx512dq,bmi,bmi2,popcnt")))
#define VECTOR_BYTES 64
#define KERNELS kernels_avx512
#define KERNELS_NAME "avx512"
#include "distance/simd/loops.h"
#endif
