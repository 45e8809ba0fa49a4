/* The state of an open device, and error handling. */
#ifndef DDSC_CUDA_STATE_CUH
#define DDSC_CUDA_STATE_CUH

#include <cstdio>

#include "dense.cuh"
#include "scaling.cuh"
#include "within.cuh"

namespace {

struct sparse_matrix {
    int64_t n;
    const int64_t *offset;
    const int32_t *column;
    const double *value;
};

struct cuda {
    int number;
    int processors;
    bool hopper; /* compute capability 9.0; other versions lack its wgmma instructions */
    int way;
    int64_t n, npad, keep, strip;
    int depth, used;
    float largest;
    char *x;
    float *start, *weight, *scale;
    entry *list;
    unsigned *limit;
    int *count;
    /* The lists of two strips. The lists of one strip are computed while those of the other strip
     * are copied to the host. */
    float *key[2];
    int *index[2];
    int64_t ahead; /* first row of the strip started last, or -1 */
    cudaStream_t work, copies;
    cudaEvent_t listed[2];
    /* Used by `within`. */
    reaching reach, framed; /* pairs found by products, and pairs that remain after frames */
    float *reaches;
    framing frames;
    /* Used by `bounds` and `scale`. */
    transport grid;
    int2 *pair;
    double *enough, *bound;
    device_scaled *scaled;
    int64_t n_scaled;
    clouds points; /* used by `scale_points` */
    /* Used by `filter`. */
    sparse_matrix matrix;
    double *block[2]; /* vectors, n_block values each */
    int64_t n_block;
};

int fail(char *why, const char *what, cudaError_t error)
{
    snprintf(why, DEVICE_WORDS, "%s: %s", what, cudaGetErrorString(error));
    cudaGetLastError(); /* clears a non-sticky error */
    return 1;
}

#define DO(what, call)                     \
    do {                                   \
        cudaError_t error_ = (call);       \
        if (error_ != cudaSuccess)         \
            return fail(why, what, error_); \
    } while (0)

template <typename T> int bring_over(const T **to, const T *from, int64_t n, char *why)
{
    T *block = nullptr;
    if (n == 0)
        return 0;
    DO("memory", cudaMalloc(&block, n * sizeof *from));
    *to = block;
    DO("data", cudaMemcpy(block, from, n * sizeof *from, cudaMemcpyHostToDevice));
    return 0;
}

} /* namespace */

#endif
