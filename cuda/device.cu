/* libddsc_cuda.so: implements the device table (src/base/device_table.h) with CUDA. Only this
 * file and the kernels it includes use cuda_runtime.h. */
#include <algorithm>
#include <cmath>
#include <vector>

#include "grid.cuh"
#include "points.cuh"
#include "rows.cuh"
#include "sparse.cuh"
#include "state.cuh"

namespace {

void cuda_close(void *state)
{
    cuda *d = (cuda *)state;
    cudaSetDevice(d->number);
    release(d);
    release_grid(d);
    release_sparse(d);
    release_points(d);
    for (cudaEvent_t listed : d->listed)
        cudaEventDestroy(listed);
    for (cudaStream_t stream : {d->work, d->copies})
        cudaStreamDestroy(stream);
    cudaGetLastError();
    delete d;
}

int open_streams(cuda *d, char *why)
{
    for (cudaStream_t *stream : {&d->work, &d->copies})
        DO("the device", cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (cudaEvent_t &listed : d->listed)
        DO("the device", cudaEventCreateWithFlags(&listed, cudaEventDisableTiming));
    return 0;
}

int cuda_open(void **state, int number, device_about *about, char *why)
{
    int devices = 0;
    cudaDeviceProp p;
    size_t free = 0, total = 0;
    DO("no device", cudaGetDeviceCount(&devices));
    if (number >= devices) {
        snprintf(why, DEVICE_WORDS, "no device has this number; %d devices were found, numbered from 0", devices);
        return 1;
    }
    DO("the device", cudaGetDeviceProperties(&p, number));
    if (p.major < 8) {
        snprintf(why, DEVICE_WORDS, "%.80s has compute capability %d.%d; at least 8.0 is required",
                 p.name, p.major, p.minor);
        return 1;
    }
    DO("the device", cudaSetDevice(number));
    DO("the device", cudaMemGetInfo(&free, &total));
    cuda *d = new cuda();
    d->number = number;
    d->processors = p.multiProcessorCount;
    d->hopper = p.major == 9 && p.minor == 0;
    *state = d;
    if (open_streams(d, why)) {
        cuda_close(d);
        return 1;
    }
    snprintf(about->name, sizeof about->name, "%.60s", p.name);
    about->memory = (int64_t)free;
    about->n_ways = 2;
    about->longest = LONGEST;
    return 0;
}

/* Returns the name of a product type (way) and the relative error bound (radius) of its products.
 * Let u = 2^-24, and let R be the number of columns, which is at most 2^17.
 *
 * FP32: every term is rounded once (fma), so the error is at most R u |x||y| in any order (Higham
 * 2002, section 3.1).
 *
 * FP16 on tensor cores: each row is divided by the power of two that brings its largest value to
 * 2^14 .. 2^15. Rounding a value to 11 bits has a relative error of 2^-11, so by the Cauchy-Schwarz
 * inequality the product of two rows has an error of at most (2^-10 + 2^-22) |x||y|. A value below
 * 2^-14, where halves are denormal, has an absolute error of at most 2^-14 even if it is flushed to
 * zero. This is 2^-28 of the largest value, so each of the two rows adds sqrt(R) 2^-28 |x||y|. The
 * product of two halves is exact in 22 bits. Sums are truncated after all terms of a step are
 * aligned to the largest exponent (Fasi, Higham, Mikaitis, Pranesh 2021, "Numerical behavior of
 * NVIDIA tensor cores", PeerJ Computer Science 7:e330). Each term, and finally the sum, loses less
 * than 2^-23 of the largest term. The largest term is at most |x||y| plus the earlier losses, which
 * are at most a 16th of |x||y|. In the worst case of one term per step, this is 3 x 2^-23 = 6 u per
 * column. The bound uses 8 u per column. The two products with the divisors are exact or below
 * 2^-126. */
const char *cuda_way(void *state, int way, int64_t columns, double *radius)
{
    (void)state;
    if (way == WAY_FP16)
        *radius = 0x1.01p-10 + 0x1p-26 * std::sqrt((double)columns) +
                  0x1.02p-21 * (double)(columns + 8);
    else
        *radius = 0x1.02p-24 * (double)(columns + 1);
    return way == WAY_FP16 ? "FP16" : "FP32";
}

/* ---- pairs within reach ---- */

template <int WAY> cudaError_t launch_within(const cuda *d, const reaching &w)
{
    const int bytes = STAGES * piece<WAY>::BYTES;
    cudaError_t error = cudaFuncSetAttribute(within_kernel<WAY>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    dim3 grid((unsigned)((w.row[1] - w.row[0] + SIDE - 1) / SIDE),
              (unsigned)((w.column[1] - w.column[0] + SIDE - 1) / SIDE));
    if (error != cudaSuccess)
        return error;
    within_kernel<WAY><<<grid, THREADS, bytes>>>(search_of(d), w);
    return cudaGetLastError();
}

int room_for(reaching &w, int64_t most, char *why)
{
    if (!w.found)
        DO("memory", cudaMalloc(&w.found, sizeof *w.found));
    if ((int64_t)w.most >= most)
        return 0;
    cudaFree(w.pair);
    cudaFree(w.key);
    w.pair = nullptr;
    w.key = nullptr;
    w.most = 0;
    DO("memory", cudaMalloc(&w.pair, most * sizeof *w.pair));
    DO("memory", cudaMalloc(&w.key, most * sizeof *w.key));
    w.most = (unsigned long long)most;
    return 0;
}

/* Applies the frames to the n pairs found, and sets n to the number of pairs that remain. */
int filter_pairs(cuda *d, unsigned long long *n, char *why)
{
    reaching from = d->reach;
    from.reach = d->reaches;
    DO("pairs", cudaMemset(d->framed.found, 0, sizeof *d->framed.found));
    frames_kernel<<<(unsigned)((*n + 7) / 8), 256>>>(d->frames, from, *n, d->framed);
    DO("pairs", cudaGetLastError());
    DO("pairs", cudaMemcpy(n, d->framed.found, sizeof *n, cudaMemcpyDeviceToHost));
    return 0;
}

int cuda_load_frames(void *state, const device_frames *f, char *why)
{
    cuda *d = (cuda *)state;
    size_t free = 0, total = 0;
    int64_t bytes = f->n * f->n_frames * f->length * 4;
    float *rows = nullptr;
    DO("the device", cudaSetDevice(d->number));
    DO("the device", cudaMemGetInfo(&free, &total));
    cudaFree((void *)d->frames.rows);
    d->frames = framing();
    if (bytes >= (int64_t)(free / 2) || f->n != d->n) {
        snprintf(why, DEVICE_WORDS, "too little memory for frames");
        return 1;
    }
    DO("memory", cudaMalloc(&rows, bytes));
    cudaError_t error = cudaMemcpy(rows, f->rows, bytes, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) {
        cudaFree(rows);
        return fail(why, "frames", error);
    }
    d->frames.rows = rows;
    d->frames.n_frames = (int)f->n_frames;
    d->frames.length = (int)f->length;
    d->frames.keep = f->keep;
    d->frames.slack = f->slack;
    return 0;
}

int cuda_framed(void *state, int64_t n, const int32_t *pair, float *key, char *why)
{
    cuda *d = (cuda *)state;
    const reaching &w = d->framed;
    DO("the device", cudaSetDevice(d->number));
    if (!d->frames.rows) {
        snprintf(why, DEVICE_WORDS, "no frames were loaded");
        return 1;
    }
    if (n == 0) /* launching zero blocks is an error */
        return 0;
    if (room_for(d->framed, n, why))
        return 1;
    DO("frames", cudaMemcpy(w.pair, pair, n * sizeof *w.pair, cudaMemcpyHostToDevice));
    framed_kernel<<<(unsigned)((n + 7) / 8), 256>>>(d->frames, n, w.pair, w.key);
    DO("frames", cudaGetLastError());
    DO("frames", cudaMemcpy(key, w.key, n * sizeof *key, cudaMemcpyDeviceToHost));
    return 0;
}

int cuda_within(void *state, const int64_t row[2], const int64_t column[2], const float *reach,
                int64_t most, int32_t *pair, float *key, int64_t *found, char *why)
{
    cuda *d = (cuda *)state;
    reaching &w = d->reach;
    unsigned long long n = 0;
    DO("the device", cudaSetDevice(d->number));
    if (!d->reaches)
        DO("memory", cudaMalloc(&d->reaches, d->npad * 4));
    if (room_for(w, most, why) || (d->frames.rows && room_for(d->framed, most, why)))
        return 1;
    if (reach) {
        std::vector<float> padded((size_t)d->npad, -INFINITY);
        std::copy(reach, reach + d->n, padded.begin());
        DO("pairs", cudaMemcpy(d->reaches, padded.data(), d->npad * 4, cudaMemcpyHostToDevice));
    }
    DO("pairs", cudaMemset(w.found, 0, sizeof *w.found));
    if (row[0] % SIDE != 0 || column[0] % SIDE != 0) {
        snprintf(why, DEVICE_WORDS, "first row and column must be multiples of %d", (int)SIDE);
        return 1;
    }
    reaching ask = w;
    ask.reach = d->reaches;
    ask.most = (unsigned long long)most;
    std::copy(row, row + 2, ask.row);
    std::copy(column, column + 2, ask.column);
    DO("pairs", d->way == WAY_FP16 ? launch_within<WAY_FP16>(d, ask) : launch_within<WAY_FP32>(d, ask));
    DO("pairs", cudaMemcpy(&n, w.found, sizeof n, cudaMemcpyDeviceToHost));
    *found = (int64_t)n;
    if (*found > most || n == 0)
        return 0;
    if (d->frames.rows && filter_pairs(d, &n, why))
        return 1;
    const reaching &left = d->frames.rows ? d->framed : w;
    *found = (int64_t)n;
    DO("pairs", cudaMemcpy(pair, left.pair, n * sizeof *left.pair, cudaMemcpyDeviceToHost));
    DO("pairs", cudaMemcpy(key, left.key, n * sizeof *left.key, cudaMemcpyDeviceToHost));
    return 0;
}

const device_table table = {DEVICE_TABLE_VERSION, cuda_open,    cuda_close,
                            cuda_way,             cuda_load,    cuda_nearest,
                            cuda_within,          cuda_load_frames, cuda_load_grid, cuda_bounds,
                            cuda_scale,           cuda_load_sparse, cuda_filter,
                            cuda_framed,          cuda_load_points, cuda_scale_points};

} /* namespace */

extern "C" __attribute__((visibility("default"))) const device_table *ddsc_device_table(void)
{
    return &table;
}
