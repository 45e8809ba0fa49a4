/* Computes sequences of products of a sparse matrix with blocks of vectors, in doubles, for
 * Chebyshev filters. Every operation is rounded separately, without fused multiply-add, and sums
 * follow the order of a row's entries. The results are therefore bit-identical to those of the
 * CPU. */
#ifndef DDSC_CUDA_SPARSE_CUH
#define DDSC_CUDA_SPARSE_CUH

#include "state.cuh"

namespace {

/* Computes y = scale (M x - shift x) - back y with one thread per entry of y. Threads of the
 * same row are adjacent, so that they read whole rows of x. */
__global__ void step_kernel(sparse_matrix m, int64_t width, double scale, double shift, bool back,
                            const double *__restrict__ x, double *y)
{
    int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m.n * width)
        return;
    int64_t i = t / width;
    const double *from = x + (t - i * width);
    double sum = 0;
#pragma unroll 8
    for (int64_t p = m.offset[i], end = m.offset[i + 1]; p < end; p++)
        sum = __dadd_rn(sum, __dmul_rn(__ldg(m.value + p), __ldg(from + __ldg(m.column + p) * width)));
    double step = __dmul_rn(scale, __dsub_rn(sum, __dmul_rn(shift, x[t])));
    y[t] = back ? __dsub_rn(step, y[t]) : step;
}

void release_sparse(cuda *d)
{
    for (const void *block : {(const void *)d->matrix.offset, (const void *)d->matrix.column,
                              (const void *)d->matrix.value, (const void *)d->block[0],
                              (const void *)d->block[1]})
        cudaFree((void *)block);
    d->matrix = sparse_matrix();
    d->block[0] = d->block[1] = nullptr;
    d->n_block = 0;
}

int cuda_load_sparse(void *state, const device_sparse *m, char *why)
{
    cuda *d = (cuda *)state;
    size_t free = 0, total = 0;
    int64_t entries = m->offset[m->n], needed = 12 * entries + 8 * m->n;
    DO("the device", cudaSetDevice(d->number));
    release_sparse(d);
    DO("the device", cudaMemGetInfo(&free, &total));
    if (needed >= (int64_t)(free - free / 16)) {
        snprintf(why, DEVICE_WORDS, "too little device memory: %.1f GiB are needed, %.1f GiB are free",
                 (double)needed * 0x1p-30, (double)free * 0x1p-30);
        return 1;
    }
    d->matrix.n = m->n;
    return bring_over(&d->matrix.offset, m->offset, m->n + 1, why) ||
           bring_over(&d->matrix.column, m->column, entries, why) ||
           bring_over(&d->matrix.value, m->value, entries, why);
}

int room_for_block(cuda *d, int64_t n, char *why)
{
    if (d->n_block >= n)
        return 0;
    for (double *&block : d->block) {
        cudaFree(block);
        block = nullptr;
    }
    d->n_block = 0;
    for (double *&block : d->block)
        DO("memory", cudaMalloc(&block, n * sizeof *block));
    d->n_block = n;
    return 0;
}

int cuda_filter(void *state, int64_t width, double scale, double shift, int64_t degree,
                const double *x, double *y, char *why)
{
    cuda *d = (cuda *)state;
    int64_t n = d->matrix.n * width;
    unsigned blocks = (unsigned)((n + 255) / 256);
    DO("the device", cudaSetDevice(d->number));
    if (room_for_block(d, n, why))
        return 1;
    double *now = d->block[1], *before = d->block[0];
    DO("vectors", cudaMemcpy(before, x, n * sizeof *x, cudaMemcpyHostToDevice));
    step_kernel<<<blocks, 256>>>(d->matrix, width, scale, shift, false, before, now);
    for (int64_t k = 1; k < degree; k++) {
        step_kernel<<<blocks, 256>>>(d->matrix, width, 2 * scale, shift, true, now, before);
        std::swap(now, before);
    }
    DO("products", cudaGetLastError());
    DO("products", cudaMemcpy(y, now, n * sizeof *y, cudaMemcpyDeviceToHost));
    return 0;
}

} /* namespace */

#endif
