/* Uploads items on a grid to the device, and computes bounds and values of their pairs. */
#ifndef DDSC_CUDA_GRID_CUH
#define DDSC_CUDA_GRID_CUH

#include <algorithm>
#include <vector>

#include "state.cuh"

namespace {

const int64_t PAIRS = 1 << 22; /* pairs per launch */

void release_grid(cuda *d)
{
    transport &t = d->grid;
    for (const void *block :
         {(const void *)t.offset, (const void *)t.weight, (const void *)t.mean, (const void *)t.cov,
          (const void *)t.mass, (const void *)t.cell, (const void *)t.self, (const void *)t.box,
          (const void *)d->pair, (const void *)d->enough, (const void *)d->bound,
          (const void *)d->scaled})
        cudaFree((void *)block);
    t = transport();
    d->pair = nullptr;
    d->enough = d->bound = nullptr;
    d->scaled = nullptr;
    d->n_scaled = 0;
}

/* Determines the shared memory that a block needs for the largest item and for a box with the
 * largest numbers of rows and columns. */
int measure_boxes(cuda *d, const device_grid *g, char *why)
{
    transport &t = d->grid;
    std::vector<uchar4> box((size_t)g->n);
    int rows = 0, columns = 0;
    boxes_kernel<<<(unsigned)((g->n + 7) / 8), 256>>>(t, (float *)t.mass);
    DO("items", cudaGetLastError());
    DO("items", cudaMemcpy(box.data(), t.box, g->n * sizeof *t.box, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < g->n; i++) {
        rows = std::max<int>(rows, box[i].z);
        columns = std::max<int>(columns, box[i].w);
        t.most = std::max<int>(t.most, (int)(g->offset[i + 1] - g->offset[i]));
    }
    t.cells = rows * columns;
    if (t.n_levels > 0)
        DO("items", cudaFuncSetAttribute(bounds_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)(shared_floats(t) * 4)));
    return 0;
}

int cuda_load_grid(void *state, const device_grid *g, char *why)
{
    cuda *d = (cuda *)state;
    transport &t = d->grid;
    size_t free = 0, total = 0;
    int64_t entries = g->offset[g->n];
    DO("the device", cudaSetDevice(d->number));
    release_grid(d);
    DO("the device", cudaMemGetInfo(&free, &total));
    int64_t needed = entries * (14 + 4 * g->n_levels) + g->n * 52 + PAIRS * 24;
    if (needed >= (int64_t)(free - free / 16) || g->n_levels > LEVELS || g->side > REACH) {
        snprintf(why, DEVICE_WORDS, "too little device memory: %.1f GiB are needed, %.1f GiB are free",
                 (double)needed * 0x1p-30, (double)free * 0x1p-30);
        return 1;
    }
    t.n = g->n;
    t.entries = entries;
    t.side = g->side;
    t.rounding = g->rounding;
    t.unit = g->unit;
    t.n_levels = g->n_levels;
    t.n_start = g->n_start;
    t.n_pair = g->n_pair;
    t.hopeless_tight = g->hopeless_tight;
    std::copy(g->step, g->step + 2, t.step);
    std::copy(g->epsilon, g->epsilon + g->n_levels, t.epsilon);
    std::copy(g->hopeless, g->hopeless + g->n_pair, t.hopeless);
    if (bring_over(&t.offset, g->offset, g->n + 1, why) ||
        bring_over(&t.weight, g->weight, entries, why) ||
        bring_over(&t.cell, g->cell, entries, why) || bring_over(&t.mean, g->mean, 2 * g->n, why) ||
        bring_over(&t.cov, g->cov, 3 * g->n, why) ||
        bring_over(&t.self, g->self, entries * g->n_levels, why))
        return 1;
    DO("memory", cudaMalloc((void **)&t.mass, entries * sizeof *t.mass));
    DO("memory", cudaMalloc(&t.box, g->n * sizeof *t.box));
    DO("memory", cudaMalloc(&d->pair, PAIRS * sizeof *d->pair));
    DO("memory", cudaMalloc(&d->enough, PAIRS * sizeof *d->enough));
    DO("memory", cudaMalloc(&d->bound, PAIRS * sizeof *d->bound));
    return measure_boxes(d, g, why);
}

int cuda_bounds(void *state, int kind, int64_t n, const int32_t *pair, const double *enough,
                double *bound, char *why)
{
    cuda *d = (cuda *)state;
    DO("the device", cudaSetDevice(d->number));
    for (int64_t at = 0; at < n; at += PAIRS) {
        int64_t size = std::min(PAIRS, n - at);
        DO("bounds", cudaMemcpy(d->pair, pair + 2 * at, size * sizeof *d->pair, cudaMemcpyHostToDevice));
        DO("bounds", cudaMemcpy(d->enough, enough + at, size * sizeof *enough, cudaMemcpyHostToDevice));
        bounds_kernel<<<(unsigned)size, TEAM, shared_floats(d->grid) * 4>>>(d->grid, kind, d->pair,
                                                                          d->enough, d->bound);
        DO("bounds", cudaGetLastError());
        DO("bounds", cudaMemcpy(bound + at, d->bound, size * sizeof *bound, cudaMemcpyDeviceToHost));
    }
    return 0;
}

/* Allocates memory for the pairs of a call for values. */
int room_for_pairs(cuda *d, int64_t n, char *why)
{
    if (!d->pair)
        DO("memory", cudaMalloc(&d->pair, PAIRS * sizeof *d->pair));
    if (d->n_scaled >= n)
        return 0;
    cudaFree(d->scaled);
    d->scaled = nullptr;
    d->n_scaled = 0;
    DO("memory", cudaMalloc(&d->scaled, n * sizeof *d->scaled));
    d->n_scaled = n;
    return 0;
}

int cuda_scale(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
               device_scaled *found, char *why)
{
    cuda *d = (cuda *)state;
    int64_t most = std::min(PAIRS, n), bytes = scaling_doubles(d->grid) * 8;
    DO("the device", cudaSetDevice(d->number));
    if (room_for_pairs(d, most, why))
        return 1;
    DO("values", cudaFuncSetAttribute(scaling_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)bytes));
    for (int64_t at = 0; at < n; at += PAIRS) {
        int64_t size = std::min(PAIRS, n - at);
        DO("values", cudaMemcpy(d->pair, pair + 2 * at, size * sizeof *d->pair, cudaMemcpyHostToDevice));
        scaling_kernel<<<(unsigned)size, TEAM, bytes>>>(d->grid, *rule, d->pair, d->scaled);
        DO("values", cudaGetLastError());
        DO("values", cudaMemcpy(found + at, d->scaled, size * sizeof *found, cudaMemcpyDeviceToHost));
    }
    return 0;
}

} /* namespace */

#endif
