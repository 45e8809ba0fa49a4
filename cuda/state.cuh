/* What a device that is open holds, and how its calls fail. */
#ifndef DDSC_CUDA_STATE_CUH
#define DDSC_CUDA_STATE_CUH

#include <cstdio>

#include "scaling.cuh"
#include "within.cuh"

namespace {

struct cuda {
    int number;
    int processors;
    int way;
    int64_t n, npad, keep, strip;
    int depth, slots, segments;
    char *x;
    float *start, *weight, *scale, *key;
    entry *list;
    unsigned *limit;
    int *count, *index;
    /* Of `within`: */
    reaching reach, framed; /* what products found, what frames left of it */
    float *reaches;
    framing frames;
    /* Of `bounds` and `scale`: */
    transport grid;
    int2 *pair;
    double *enough, *bound;
    device_scaled *scaled;
    int64_t n_scaled;
};

int fail(char *why, const char *what, cudaError_t error)
{
    snprintf(why, DEVICE_WORDS, "%s: %s", what, cudaGetErrorString(error));
    cudaGetLastError(); /* an error that does not stick is forgotten */
    return 1;
}

#define DO(what, call)                     \
    do {                                   \
        cudaError_t error_ = (call);       \
        if (error_ != cudaSuccess)         \
            return fail(why, what, error_); \
    } while (0)

} /* namespace */

#endif
