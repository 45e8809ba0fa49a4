/* libddsc_cuda.so: the table of a device (src/device/table.h) by CUDA. The only file, with the kernels it
 * includes, that sees cuda_runtime.h. */
#include <algorithm>
#include <cmath>
#include <vector>

#include "grid.cuh"
#include "sparse.cuh"
#include "state.cuh"

namespace {

const int64_t LONGEST = 320; /* of a list: 64 below what is free in lists of 512 */
const int64_t STRIP = 65536; /* rows at a time, at most */
const int64_t STAGING = 64 << 20;
const int64_t COLUMNS = 1 << 17; /* what the radii below hold for */

void release(cuda *d)
{
    for (void *block :
         {(void *)d->x, (void *)d->start, (void *)d->weight, (void *)d->scale, (void *)d->key,
          (void *)d->list, (void *)d->limit, (void *)d->count, (void *)d->index, (void *)d->reaches,
          (void *)d->reach.pair, (void *)d->reach.key, (void *)d->reach.found,
          (void *)d->framed.pair, (void *)d->framed.key, (void *)d->framed.found,
          (void *)d->frames.rows})
        cudaFree(block);
    d->reaches = nullptr;
    d->reach = d->framed = reaching();
    d->frames = framing();
    d->x = nullptr;
    d->start = d->weight = d->scale = d->key = nullptr;
    d->list = nullptr;
    d->limit = nullptr;
    d->count = d->index = nullptr;
}

void cuda_close(void *state)
{
    cuda *d = (cuda *)state;
    cudaSetDevice(d->number);
    release(d);
    release_grid(d);
    release_sparse(d);
    cudaGetLastError();
    delete d;
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
    *state = d;
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

/* Segments of the columns, so that the last blocks do not wait alone. */
int segments_of(const cuda *d, int64_t rows)
{
    int64_t blocks = (rows + SIDE - 1) / SIDE, tiles = d->npad / SIDE;
    int64_t wanted = (8 * 2 * (int64_t)d->processors + blocks - 1) / blocks;
    return (int)std::max<int64_t>(1, std::min<int64_t>({wanted, tiles / 8, 16}));
}

int64_t size_of(int way)
{
    return way == WAY_FP16 ? 2 : 4;
}

int upload(cuda *d, const device_rows *r, char *why)
{
    int64_t at_once = std::max<int64_t>(1, STAGING / (4 * r->columns));
    float *staging = nullptr;
    std::vector<float> padded((size_t)d->npad, INFINITY);
    std::copy(r->start, r->start + r->n, padded.begin());
    DO("rows", cudaMemcpy(d->start, padded.data(), d->npad * 4, cudaMemcpyHostToDevice));
    if (d->weight) {
        std::fill(padded.begin(), padded.end(), 1.0f);
        std::copy(r->weight, r->weight + r->n, padded.begin());
        DO("rows", cudaMemcpy(d->weight, padded.data(), d->npad * 4, cudaMemcpyHostToDevice));
    }
    DO("rows", cudaMemset(d->x, 0, d->npad * d->depth * size_of(d->way)));
    if (d->scale)
        DO("rows", cudaMemset(d->scale, 0, d->npad * 4));
    DO("rows", cudaMalloc(&staging, std::min(at_once, r->n) * r->columns * 4));
    cudaError_t error = cudaSuccess;
    for (int64_t i = 0; i < r->n && error == cudaSuccess; i += at_once) {
        int64_t rows = std::min(at_once, r->n - i);
        error = cudaMemcpy(staging, r->rows + i * r->columns, rows * r->columns * 4,
                           cudaMemcpyHostToDevice);
        dim3 grid((unsigned)((rows + 31) / 32), (unsigned)((r->columns + 31) / 32));
        if (d->way == WAY_FP16) {
            scale_kernel<<<(unsigned)((rows + 7) / 8), 256>>>(staging, rows, (int)r->columns,
                                                              d->scale + i);
            turn_kernel<<<grid, dim3(32, 8)>>>(staging, rows, (int)r->columns, (half *)d->x,
                                               d->npad, i, (const float *)d->scale + i);
        } else {
            turn_kernel<<<grid, dim3(32, 8)>>>(staging, rows, (int)r->columns, (float *)d->x,
                                               d->npad, i, (const float *)nullptr);
        }
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
    }
    cudaFree(staging);
    return error == cudaSuccess ? 0 : fail(why, "rows", error);
}

int cuda_load(void *state, int way, const device_rows *r, int64_t keep, int64_t *strip, char *why)
{
    cuda *d = (cuda *)state;
    size_t free = 0, total = 0;
    DO("the device", cudaSetDevice(d->number));
    release(d);
    d->way = way;
    d->n = r->n;
    d->npad = (r->n + SIDE - 1) / SIDE * SIDE;
    int64_t depth = way == WAY_FP16 ? (int)piece<WAY_FP16>::DEPTH : (int)piece<WAY_FP32>::DEPTH;
    d->depth = (int)((r->columns + depth - 1) / depth * depth);
    d->keep = keep;
    d->slots = keep <= 64 ? 256 : 512;
    int64_t strips = (d->n + STRIP - 1) / STRIP;
    d->strip = ((d->n + strips - 1) / strips + SIDE - 1) / SIDE * SIDE;
    DO("the device", cudaMemGetInfo(&free, &total));
    int64_t fixed = d->npad * (size_of(way) * d->depth + 12) + STAGING, per_row;
    for (;; d->strip = (d->strip / 2 + SIDE - 1) / SIDE * SIDE) {
        d->segments = segments_of(d, d->strip);
        per_row = (int64_t)d->segments * (d->slots * 8 + 4) + keep * 8 + 4;
        if (d->strip == SIDE || fixed + d->strip * per_row < (int64_t)(free - free / 16))
            break;
    }
    int64_t needed = fixed + d->strip * per_row;
    if (r->columns > COLUMNS || keep > LONGEST) {
        snprintf(why, DEVICE_WORDS, "rows of %lld columns, lists of %lld: too long",
                 (long long)r->columns, (long long)keep);
        return 1;
    }
    if (needed >= (int64_t)free) {
        snprintf(why, DEVICE_WORDS, "too little memory: %.1f GiB are needed, %.1f are free",
                 (double)needed * 0x1p-30, (double)free * 0x1p-30);
        return 1;
    }
    DO("memory", cudaMalloc(&d->x, d->npad * d->depth * size_of(way)));
    DO("memory", cudaMalloc(&d->start, d->npad * 4));
    if (r->weight)
        DO("memory", cudaMalloc(&d->weight, d->npad * 4));
    if (way == WAY_FP16)
        DO("memory", cudaMalloc(&d->scale, d->npad * 4));
    DO("memory", cudaMalloc(&d->limit, d->strip * 4));
    DO("memory", cudaMalloc(&d->list, d->strip * d->segments * d->slots * 8));
    DO("memory", cudaMalloc(&d->count, d->strip * d->segments * 4));
    DO("memory", cudaMalloc(&d->key, d->strip * keep * 4));
    DO("memory", cudaMalloc(&d->index, d->strip * keep * 4));
    *strip = d->strip;
    return upload(d, r, why);
}

template <int WAY, bool WEIGHTED, int SLOTS> cudaError_t launch(const search &s, dim3 grid)
{
    const int bytes = STAGES * piece<WAY>::BYTES;
    cudaError_t error = cudaFuncSetAttribute(nearest_kernel<WAY, WEIGHTED, SLOTS>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    nearest_kernel<WAY, WEIGHTED, SLOTS><<<grid, THREADS, bytes>>>(s);
    return cudaGetLastError();
}

template <int WAY> cudaError_t launch_way(const search &s, dim3 grid, int slots)
{
    if (slots == 256)
        return s.weight ? launch<WAY, true, 8>(s, grid) : launch<WAY, false, 8>(s, grid);
    return s.weight ? launch<WAY, true, 16>(s, grid) : launch<WAY, false, 16>(s, grid);
}

search search_of(const cuda *d)
{
    search s = {};
    s.x = d->x;
    s.start = d->start;
    s.weight = d->weight;
    s.scale = d->scale;
    s.npad = d->npad;
    s.depth = d->depth;
    return s;
}

int cuda_nearest(void *state, int64_t begin, int64_t end, int64_t keep, float *key, int32_t *index,
                 char *why)
{
    cuda *d = (cuda *)state;
    int64_t rows = end - begin;
    DO("the device", cudaSetDevice(d->number));
    search s = search_of(d);
    s.row0 = begin;
    s.tiles = (int)(d->npad / SIDE);
    s.span = (s.tiles + d->segments - 1) / d->segments;
    s.keep = (int)keep;
    s.limit = d->limit;
    s.list = d->list;
    s.count = d->count;
    dim3 grid((unsigned)((rows + SIDE - 1) / SIDE), (unsigned)d->segments);
    DO("lists", cudaMemset(d->index, 0xFF, rows * keep * 4));
    DO("lists", cudaMemset(d->limit, 0xFF, d->strip * 4));
    DO("products", d->way == WAY_FP16 ? launch_way<WAY_FP16>(s, grid, d->slots)
                                      : launch_way<WAY_FP32>(s, grid, d->slots));
    join_kernel<<<(unsigned)((rows + 7) / 8), 256>>>(rows, d->segments, d->slots, (int)keep,
                                                     d->list, d->count, d->key, d->index);
    DO("lists", cudaGetLastError());
    DO("products", cudaDeviceSynchronize());
    DO("lists", cudaMemcpy(key, d->key, rows * keep * 4, cudaMemcpyDeviceToHost));
    DO("lists", cudaMemcpy(index, d->index, rows * keep * 4, cudaMemcpyDeviceToHost));
    return 0;
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
                            cuda_scale,           cuda_load_sparse, cuda_filter};

} /* namespace */

extern "C" __attribute__((visibility("default"))) const device_table *ddsc_device_table(void)
{
    return &table;
}
