/* Uploads rows to the device, and finds the nearest rows of each row. Rows are processed in strips,
 * which are ranges of consecutive rows whose lists fit into device memory. */
#ifndef DDSC_CUDA_ROWS_CUH
#define DDSC_CUDA_ROWS_CUH

#include <algorithm>
#include <cmath>
#include <vector>

#include "hopper.cuh"
#include "state.cuh"

namespace
{

const int64_t LONGEST = 320; /* length of the longest requested list; lists have 512 entries, of
                              * which 64 more must be free for new entries */
const int64_t STRIP = 65536; /* largest number of rows of a strip */
const int64_t STAGING = 64 << 20;
const int64_t COLUMNS = 1 << 17; /* largest number of columns for which the radii are valid */

void release(cuda *d)
{
    for (void *block :
         {(void *)d->x, (void *)d->start, (void *)d->weight, (void *)d->scale, (void *)d->key[0],
          (void *)d->key[1], (void *)d->list, (void *)d->limit, (void *)d->count,
          (void *)d->index[0], (void *)d->index[1], (void *)d->reaches, (void *)d->reach.pair,
          (void *)d->reach.key, (void *)d->reach.found, (void *)d->framed.pair,
          (void *)d->framed.key, (void *)d->framed.found, (void *)d->frames.rows})
        cudaFree(block);
    d->reaches = nullptr;
    d->reach = d->framed = reaching();
    d->frames = framing();
    d->x = nullptr;
    d->start = d->weight = d->scale = d->key[0] = d->key[1] = nullptr;
    d->list = nullptr;
    d->limit = nullptr;
    d->count = d->index[0] = d->index[1] = nullptr;
    d->ahead = -1;
}

/* ---- kernel selection ---- */

/* Returns true if the kernel with warp groups is used: for FP16, if the device supports it and
 * the lists have space for a tile. */
bool by_groups(const cuda *d)
{
    return d->hopper && d->way == WAY_FP16 && d->keep <= HOPPER_KEEP;
}

/* Returns the size of a list, in units of 32 entries. */
int slots_of(const cuda *d)
{
    return by_groups(d) ? (int)QUARTER / 32 : d->keep <= 64 ? 8 : 16;
}

/* Returns the number of column segments, which is chosen so that all blocks finish at about the
 * same time. */
int segments_of(const cuda *d, int64_t rows)
{
    int64_t blocks = (rows + SIDE - 1) / SIDE, tiles = d->npad / SIDE;
    int64_t wanted = (8 * 2 * (int64_t)d->processors + blocks - 1) / blocks;
    if (!by_groups(d))
        return (int)std::max<int64_t>(1, std::min<int64_t>({wanted, tiles / 8, 16}));
    /* Each multiprocessor runs one block, which processes several parts. Every additional segment
     * requires an additional list. */
    double least = INFINITY;
    int best = 1;
    for (int segments = 1; segments <= std::max<int64_t>(1, std::min<int64_t>(tiles / 8, 16));
         segments++) {
        int64_t rounds = (blocks * segments + d->processors - 1) / d->processors;
        double cost = (double)rounds / segments + 0.02 * segments;
        if (cost < least) {
            least = cost;
            best = segments;
        }
    }
    return best;
}

/* Returns the number of rows per strip: as many as all multiprocessors process at once, or strips
 * of equal length. */
int64_t strip_of(const cuda *d)
{
    int64_t strips = (d->n + STRIP - 1) / STRIP, even = (d->n + strips - 1) / strips;
    int64_t rows = by_groups(d) ? d->processors * (int64_t)TALL : even;
    return std::min(d->npad, (rows + WIDE - 1) / WIDE * WIDE);
}

/* Returns the number of lists for the given number of rows. */
int64_t lists_of(const cuda *d, int64_t rows)
{
    return rows == 0
               ? 0
               : (rows + SIDE - 1) / SIDE * SIDE * segments_of(d, rows) * (by_groups(d) ? 4 : 1);
}

/* Returns the largest number of lists of a strip. The last strip is shorter, but may have more
 * segments. */
int64_t most_lists(const cuda *d, int64_t strip)
{
    return std::max(lists_of(d, strip), lists_of(d, d->n % strip));
}

/* ---- rows ---- */

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
    d->largest = 0;
    for (int64_t i = 0; i < r->n; i++)
        d->largest = std::max(d->largest, std::fabs(r->start[i]));
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
                                               (int64_t)d->depth, i, (const float *)d->scale + i);
        } else {
            turn_kernel<<<grid, dim3(32, 8)>>>(staging, rows, (int)r->columns, (float *)d->x,
                                               d->npad, i, (const float *)nullptr);
        }
        if (error == cudaSuccess)
            error = cudaGetLastError(); /* launch errors are not returned by cudaDeviceSynchronize */
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
    }
    cudaFree(staging);
    return error == cudaSuccess ? 0 : fail(why, "rows", error);
}

/* Returns the largest strip that fits into memory, and stores the total number of required bytes in
 * *needed. */
int64_t strip_that_fits(const cuda *d, int64_t free, int64_t *needed)
{
    int64_t fixed = d->npad * (size_of(d->way) * d->depth + 12) + STAGING;
    for (int64_t strip = strip_of(d);; strip = (strip / 2 + WIDE - 1) / WIDE * WIDE) {
        *needed =
            fixed + most_lists(d, strip) * (slots_of(d) * 256 + 4) + strip * (d->keep * 16 + 4);
        if (strip <= WIDE || *needed < free - free / 16)
            return strip;
    }
}

int cuda_load(void *state, int way, const device_rows *r, int64_t keep, int64_t *strip, char *why)
{
    cuda *d = (cuda *)state;
    size_t free = 0, total = 0;
    int64_t needed;
    DO("the device", cudaSetDevice(d->number));
    release(d);
    d->way = way;
    d->n = r->n;
    d->npad = (r->n + WIDE - 1) / WIDE * WIDE;
    int64_t depth = way == WAY_FP16 ? (int)piece<WAY_FP16>::DEPTH : (int)piece<WAY_FP32>::DEPTH;
    d->depth = (int)((r->columns + depth - 1) / depth * depth);
    d->used = (int)((r->columns + 15) / 16 * 16);
    d->keep = keep;
    DO("the device", cudaMemGetInfo(&free, &total));
    d->strip = strip_that_fits(d, (int64_t)free, &needed);
    if (r->columns > COLUMNS || keep > LONGEST) {
        snprintf(why, DEVICE_WORDS, "rows of %lld columns or lists of %lld entries are too long for this device",
                 (long long)r->columns, (long long)keep);
        return 1;
    }
    if (needed >= (int64_t)free) {
        snprintf(why, DEVICE_WORDS, "too little device memory: %.1f GiB are needed, %.1f GiB are free",
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
    DO("memory", cudaMalloc(&d->list, most_lists(d, d->strip) * slots_of(d) * 256));
    DO("memory", cudaMalloc(&d->count, most_lists(d, d->strip) * 4));
    for (int side = 0; side < 2; side++) {
        DO("memory", cudaMalloc(&d->key[side], d->strip * keep * 4));
        DO("memory", cudaMalloc(&d->index[side], d->strip * keep * 4));
    }
    *strip = d->strip;
    return upload(d, r, why);
}

/* ---- lists ---- */

template <int WAY, bool WEIGHTED, int SLOTS> cudaError_t launch(const cuda *d, const search &s)
{
    const int bytes = STAGES * piece<WAY>::BYTES;
    dim3 grid((unsigned)((s.rows + SIDE - 1) / SIDE), (unsigned)s.segments);
    cudaError_t error = cudaFuncSetAttribute(nearest_kernel<WAY, WEIGHTED, SLOTS>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    nearest_kernel<WAY, WEIGHTED, SLOTS><<<grid, THREADS, bytes, d->work>>>(s);
    return cudaGetLastError();
}

template <int WAY> cudaError_t launch_way(const cuda *d, const search &s)
{
    if (slots_of(d) == 8)
        return s.weight ? launch<WAY, true, 8>(d, s) : launch<WAY, false, 8>(d, s);
    return s.weight ? launch<WAY, true, 16>(d, s) : launch<WAY, false, 16>(d, s);
}

template <int TAIL, bool WEIGHTED> cudaError_t launch_groups(const cuda *d, const search &s)
{
    const int parts = (int)((s.rows + TALL - 1) / TALL) * s.segments;
    cudaError_t error = cudaFuncSetAttribute(
        hopper_kernel<TAIL, WEIGHTED>, cudaFuncAttributeMaxDynamicSharedMemorySize, HOPPER_BYTES);
    if (error != cudaSuccess)
        return error;
    hopper_kernel<TAIL, WEIGHTED>
        <<<std::min(parts, d->processors), CREW, HOPPER_BYTES, d->work>>>(s, parts);
    return cudaGetLastError();
}

template <int TAIL> cudaError_t launch_tail(const cuda *d, const search &s)
{
    return s.weight ? launch_groups<TAIL, true>(d, s) : launch_groups<TAIL, false>(d, s);
}

cudaError_t launch_any(const cuda *d, const search &s)
{
    if (!by_groups(d))
        return d->way == WAY_FP16 ? launch_way<WAY_FP16>(d, s) : launch_way<WAY_FP32>(d, s);
    switch (s.used % LINES / 16) {
    case 0: return launch_tail<0>(d, s);
    case 1: return launch_tail<1>(d, s);
    case 2: return launch_tail<2>(d, s);
    default: return launch_tail<3>(d, s);
    }
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
    s.used = d->used;
    s.largest = d->largest;
    return s;
}

/* Starts a strip. The buffers alternate with the number of the strip. */
int begin_strip(cuda *d, int64_t begin, char *why)
{
    search s = search_of(d);
    const int side = (int)(begin / d->strip % 2);
    s.row0 = begin;
    s.rows = std::min(d->strip, d->n - begin);
    s.segments = segments_of(d, s.rows);
    s.tiles = (int)(d->npad / (by_groups(d) ? (int)WIDE : (int)SIDE));
    s.span = (s.tiles + s.segments - 1) / s.segments;
    s.keep = (int)d->keep;
    s.limit = d->limit;
    s.list = d->list;
    s.count = d->count;
    DO("lists", cudaMemsetAsync(d->index[side], 0xFF, s.rows * d->keep * 4, d->work));
    DO("lists", cudaMemsetAsync(d->limit, 0xFF, d->strip * 4, d->work));
    DO("products", launch_any(d, s));
    const unsigned blocks = (unsigned)((s.rows + 7) / 8);
    auto join = by_groups(d)       ? join_kernel<QUARTER / 32>
                : slots_of(d) == 8 ? join_kernel<8>
                                   : join_kernel<16>;
    join<<<blocks, 256, 0, d->work>>>(s.rows, s.segments * (by_groups(d) ? 4 : 1), s.keep, d->list,
                                      d->count, d->key[side], d->index[side]);
    DO("lists", cudaGetLastError());
    DO("lists", cudaEventRecord(d->listed[side], d->work));
    d->ahead = begin;
    return 0;
}

/* Returns the lists of a strip. The next strip is computed while the caller processes these
 * lists. */
int cuda_nearest(void *state, int64_t begin, int64_t end, int64_t keep, float *key, int32_t *index,
                 char *why)
{
    cuda *d = (cuda *)state;
    const int64_t entries = (end - begin) * keep * 4;
    const int side = (int)(begin / d->strip % 2);
    DO("the device", cudaSetDevice(d->number));
    if (keep != d->keep) {
        snprintf(why, DEVICE_WORDS, "the rows were loaded for lists of %lld entries", (long long)d->keep);
        return 1;
    }
    if (d->ahead != begin && begin_strip(d, begin, why))
        return 1;
    if (begin + d->strip < d->n && begin_strip(d, begin + d->strip, why))
        return 1;
    if (d->ahead == begin) /* if the same strip is requested again, it is recomputed */
        d->ahead = -1;
    DO("products", cudaStreamWaitEvent(d->copies, d->listed[side], 0));
    DO("lists", cudaMemcpyAsync(key, d->key[side], entries, cudaMemcpyDeviceToHost, d->copies));
    DO("lists", cudaMemcpyAsync(index, d->index[side], entries, cudaMemcpyDeviceToHost, d->copies));
    DO("products", cudaStreamSynchronize(d->copies));
    return 0;
}

} /* namespace */

#endif
