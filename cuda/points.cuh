/* Uploads items with arbitrary points to the device, and computes values of their pairs. */
#ifndef DDSC_CUDA_POINTS_CUH
#define DDSC_CUDA_POINTS_CUH

#include "grid.cuh"

namespace {

const int64_t SHARED = 200 << 10; /* largest shared memory of a block in bytes */
const int SMALL = 32;             /* largest number of points for one warp per pair */

void release_points(cuda *d)
{
    for (const void *block : {(const void *)d->points.support, (const void *)d->points.weight,
                              (const void *)d->points.offset, (const void *)d->points.index})
        cudaFree((void *)block);
    d->points = clouds();
}

/* Determines the size of the largest kernel matrix, which is limited by the shared memory of a
 * block. */
int measure_points(cuda *d, const device_points *p, char *why)
{
    clouds &c = d->points;
    int shared = 0;
    DO("the device", cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->number));
    for (int64_t i = 0; i < p->n; i++)
        c.most = std::max<int>(c.most, (int)(p->offset[i + 1] - p->offset[i]));
    int64_t left = std::min<int64_t>(SHARED, shared - 1024) / 8 - 7 * (int64_t)c.most;
    c.room = (int)std::max<int64_t>(0, std::min<int64_t>(left, (int64_t)c.most * c.most));
    if (left < 0) {
        snprintf(why, DEVICE_WORDS, "items of %d points are too large for this device", c.most);
        return 1;
    }
    DO("values", cudaFuncSetAttribute(dense_kernel<SMALL>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)(dense_doubles(c) * 8)));
    DO("values", cudaFuncSetAttribute(dense_kernel<256>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)(dense_doubles(c) * 8)));
    return 0;
}

int cuda_load_points(void *state, const device_points *p, char *why)
{
    cuda *d = (cuda *)state;
    clouds &c = d->points;
    size_t free = 0, total = 0;
    int64_t entries = p->offset[p->n];
    int64_t needed = 12 * entries + 8 * (p->n + 1) + 8 * p->n_support * p->d + PAIRS * 40;
    DO("the device", cudaSetDevice(d->number));
    release_points(d);
    DO("the device", cudaMemGetInfo(&free, &total));
    if (needed >= (int64_t)(free - free / 16)) {
        snprintf(why, DEVICE_WORDS, "too little device memory: %.1f GiB are needed, %.1f GiB are free",
                 (double)needed * 0x1p-30, (double)free * 0x1p-30);
        return 1;
    }
    c.n = p->n;
    c.d = p->d;
    return bring_over(&c.support, p->support, p->n_support * p->d, why) ||
           bring_over(&c.weight, p->weight, entries, why) ||
           bring_over(&c.offset, p->offset, p->n + 1, why) ||
           bring_over(&c.index, p->index, entries, why) || measure_points(d, p, why);
}

int cuda_scale_points(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
                      device_scaled *found, char *why)
{
    cuda *d = (cuda *)state;
    const clouds &c = d->points;
    DO("the device", cudaSetDevice(d->number));
    if (room_for_pairs(d, std::min(PAIRS, n), why))
        return 1;
    for (int64_t at = 0; at < n; at += PAIRS) {
        int64_t size = std::min(PAIRS, n - at), bytes = dense_doubles(c) * 8;
        DO("values", cudaMemcpy(d->pair, pair + 2 * at, size * sizeof *d->pair, cudaMemcpyHostToDevice));
        if (c.most <= SMALL)
            dense_kernel<SMALL><<<(unsigned)size, SMALL, bytes>>>(c, *rule, d->pair, d->scaled);
        else
            dense_kernel<256><<<(unsigned)size, 256, bytes>>>(c, *rule, d->pair, d->scaled);
        DO("values", cudaGetLastError());
        DO("values", cudaMemcpy(found + at, d->scaled, size * sizeof *found, cudaMemcpyDeviceToHost));
    }
    return 0;
}

} /* namespace */

#endif
