/* libddsc_cuda.so: the table of a device (src/base/device_table.h) by CUDA. The only file, with the kernels it
 * includes, that sees cuda_runtime.h. */
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
        snprintf(why, DEVICE_WORDS, "there is no device of this number: %d are here", devices);
        return 1;
    }
    DO("the device", cudaGetDeviceProperties(&p, number));
    if (p.major < 8) {
        snprintf(why, DEVICE_WORDS, "%.80s is too old: compute capability %d.%d, 8.0 is needed",
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

/* With u = 2^-24 and R columns, at most 2^17.
 *
 * FP32: one rounding to nearest per term (fma), so R u |x||y| in any order (Higham 2002, section 3.1).
 *
 * FP16 on tensor cores: rows are divided by powers of two that bring their largest number to 2^14 ..
 * 2^15. A number rounded to 11 bits errs by 2^-11 of its size, so the product of two rows by
 * (2^-10 + 2^-22) |x||y| after the inequality of Cauchy and Schwarz. One below 2^-14, where halves thin
 * out, errs by at most 2^-14 even if it is taken as zero, 2^-28 of the largest: sqrt(R) 2^-28 |x||y| for
 * each of the two rows. A product of two halves is exact in 22 bits. Sums are cut off, not rounded,
 * after all terms of a step are brought to the exponent of the largest (Fasi, Higham, Mikaitis,
 * Pranesh 2021, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330): each of
 * them, and the sum once more, loses less than 2^-23 of the largest, which is at most |x||y| and what
 * was lost before (a 16th of it). With steps of one term, the worst case, that is 3 x 2^-23 = 6 u per column; 8 u per
 * column are taken. The two products with the divisors are exact, or below 2^-126. */
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

/* What frames leave of the n pairs found. */
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
        snprintf(why, DEVICE_WORDS, "it has no frames");
        return 1;
    }
    if (n == 0) /* a launch of no blocks is an error */
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
        snprintf(why, DEVICE_WORDS, "rows and columns begin at multiples of %d", (int)SIDE);
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
