/* Computes lower bounds on transport between items on a plane grid, with one block of threads per
 * pair. The kernel runs some relaxed Sinkhorn iterations in floats with decreasing epsilon,
 * followed by c-transforms. The algorithm is that of src/distance/bound/refined.c. For any
 * potentials g of side 1, (g^c, g) is feasible, so its value is a lower bound. Only the rounding of
 * g^c, two additions and a cost per entry in floats, can affect its validity. This error is at most
 * 2^-20 times the largest potential, and that margin is subtracted. */
#ifndef DDSC_CUDA_TRANSPORT_CUH
#define DDSC_CUDA_TRANSPORT_CUH

#include <cuda_runtime.h>
#include <math_constants.h>
#include <stdint.h>

extern "C" {
#include "base/device_table.h"
}

enum {
    TEAM = 128,  /* threads per pair */
    LEVELS = 16, /* largest number of levels */
    REACH = 64,  /* largest number of cells along an axis */
    MIDDLE = REACH + 4, /* index of distance 0 in a table */
    TABLE = 2 * MIDDLE
};

struct transport {
    int64_t n, entries, side;
    const int64_t *offset;
    const double *weight, *mean, *cov;
    const float *mass; /* weights as floats */
    const uint16_t *cell;
    const float *self;
    uchar4 *box; /* per item: first row, first column, rows, columns */
    double step[2], rounding, unit;
    int n_levels, n_start, n_pair, most, cells; /* most: largest number of points of an item; cells:
                                                 * largest number of cells of a box */
    double epsilon[LEVELS], hopeless[LEVELS], hopeless_tight;
};

inline int64_t shared_floats(const transport &t)
{
    return 4 * TABLE + 3 * (int64_t)t.most + 4 * (int64_t)t.cells;
}

/* Positions and sizes of both sides of a pair. */
struct boxes {
    int64_t at[2]; /* first entry of each side */
    int count[2], first[2][2], size[2][2];
};

__device__ __forceinline__ boxes boxes_of(const transport &t, int i, int j)
{
    boxes w;
#pragma unroll
    for (int side = 0; side < 2; side++) {
        int item = side == 0 ? i : j;
        uchar4 box = t.box[item];
        w.at[side] = t.offset[item];
        w.count[side] = (int)(t.offset[item + 1] - w.at[side]);
        w.first[side][0] = box.x;
        w.first[side][1] = box.y;
        w.size[side][0] = box.z;
        w.size[side][1] = box.w;
    }
    return w;
}

/* A pair in shared memory. Tables are indexed by the distance (side 0) - (side 1) along an axis,
 * in cells. */
struct pair_state : boxes {
    float *kernel[2], *cost[2]; /* per axis */
    float *scale[2];            /* per point of a side */
    float *packed;              /* potentials of one side */
    float *in[2];               /* mass of a side on its box, 0 at cells without a point */
    float *wall;                /* negated potentials on a box; infinite at cells without a point */
    float *half;                /* values on the box after processing one axis */
};

__device__ __forceinline__ int place_of(const transport &t, const boxes &w, int side, int k)
{
    int cell = t.cell[w.at[side] + k];
    return (cell / (int)t.side - w.first[side][0]) * w.size[side][1] + cell % (int)t.side -
           w.first[side][1];
}

/* Adds one term to a sum or, with MIN, applies (min, +) instead of (+, x). */
template <bool MIN> __device__ __forceinline__ float more(float sum, float a, float v)
{
    return MIN ? fminf(sum, a + v) : fmaf(a, v, sum);
}

template <bool MIN> __device__ __forceinline__ double more(double sum, double a, double v)
{
    return MIN ? fmin(sum, a + v) : fma(a, v, sum);
}

/* Transfers values from the box of the other side to the points of side `to`, with one table per
 * axis, and calls fn(k, value). Four rows of a column are processed together, because the
 * coefficients of consecutive rows are shifted by one. */
template <bool MIN, int to, typename T, typename F>
__device__ __forceinline__ void carry(const transport &t, const boxes &w, const T *table,
                                      const T *across, const T *from, T *room, F fn)
{
    const int x = 1 - to, rows = w.size[to][0], columns = w.size[x][1], n = w.size[x][0];
    const int sign = to == 1 ? 1 : -1;
    const T nothing = MIN ? CUDART_INF_F : 0.0f;
    __syncthreads();
    for (int task = threadIdx.x; task < (rows + 3) / 4 * columns; task += TEAM) {
        int c = task % columns, r = task / columns * 4;
        const T *by = table + MIDDLE + sign * (w.first[x][0] - w.first[to][0] - r);
        const T *value = from + c;
        T sum[4] = {nothing, nothing, nothing, nothing};
        T b1 = by[-sign], b2 = by[-2 * sign], b3 = by[-3 * sign];
#pragma unroll 4
        for (int s = 0; s < n; s++) {
            T v = value[s * columns], a = by[sign * s];
            sum[0] = more<MIN>(sum[0], a, v);
            sum[1] = more<MIN>(sum[1], b1, v);
            sum[2] = more<MIN>(sum[2], b2, v);
            sum[3] = more<MIN>(sum[3], b3, v);
            b3 = b2;
            b2 = b1;
            b1 = a;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (r + i < rows)
                room[(r + i) * columns + c] = sum[i];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < w.count[to]; k += TEAM) {
        int cell = t.cell[w.at[to] + k], column = cell % (int)t.side;
        const T *line = room + (cell / (int)t.side - w.first[to][0]) * columns;
        const T *by = across + MIDDLE + sign * (w.first[x][1] - column);
        T sum = nothing;
#pragma unroll 4
        for (int s = 0; s < columns; s++)
            sum = more<MIN>(sum, by[sign * s], line[s]);
        fn(k, sum);
    }
}

/* Computes costs and kernels for all distances between the boxes. Tiny kernel values become
 * zero. */
__device__ __forceinline__ void couple(const transport &t, pair_state &w, int i, int j)
{
    for (int p = threadIdx.x; p < 2 * TABLE; p += TEAM) {
        int axis = p / TABLE, at = p % TABLE;
        double off = t.step[axis] *
                     ((double)(at - MIDDLE) - (t.mean[2 * i + axis] - t.mean[2 * j + axis]));
        float cost = (float)(off * off), x = (float)(-1 / t.epsilon[0]) * cost;
        w.cost[axis][at] = cost;
        w.kernel[axis][at] = x > -41.0f ? expf(x) : 0.0f;
    }
#pragma unroll
    for (int side = 0; side < 2; side++)
        for (int p = threadIdx.x; p < w.size[side][0] * w.size[side][1]; p += TEAM)
            w.in[side][p] = 0;
}

/* Computes the potentials x' (1 - M) x of the affine map between the Gaussians of i and j,
 * divided by epsilon, as a function of cells. */
__device__ __forceinline__ void affine(const transport &t, int i, int j, double epsilon, double *form)
{
    const double *a = t.cov + 3 * i, *b = t.cov + 3 * j;
    double p = sqrt(a[0] * a[2] - a[1] * a[1]), q = sqrt(b[0] * b[2] - b[1] * b[1]);
    double s[3] = {a[2] / p + b[0] / q, b[1] / q - a[1] / p, a[0] / p + b[2] / q};
    double scale = sqrt(q / p / (s[0] * s[2] - s[1] * s[1]));
    form[0] = (1 - scale * s[0]) * t.step[0] * t.step[0] / epsilon;
    form[1] = -2 * scale * s[1] * t.step[0] * t.step[1] / epsilon;
    form[2] = (1 - scale * s[2]) * t.step[1] * t.step[1] / epsilon;
}

/* Computes the initial scalings from the potentials of the affine map. */
__device__ __forceinline__ void begin(const transport &t, pair_state &w, int i, int j,
                                      double (*form)[3])
{
    if (threadIdx.x < 2)
        affine(t, threadIdx.x == 0 ? i : j, threadIdx.x == 0 ? j : i, t.epsilon[0],
               form[threadIdx.x]);
    __syncthreads();
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const double *mean = t.mean + 2 * (side == 0 ? i : j), *f = form[side];
        for (int k = threadIdx.x; k < w.count[side]; k += TEAM) {
            int cell = t.cell[w.at[side] + k];
            double x = (double)(cell / (int)t.side) - mean[0];
            double y = (double)(cell % (int)t.side) - mean[1];
            w.scale[side][k] = (float)exp(f[0] * x * x + f[1] * x * y + f[2] * y * y) *
                               t.self[w.at[side] + k];
        }
    }
}

/* Performs half an iteration: updates the scalings of side `to`. */
template <int to> __device__ __forceinline__ void rescale(const transport &t, pair_state &w, bool fine)
{
    const int from = 1 - to;
    float *scale = w.scale[to];
    for (int k = threadIdx.x; k < w.count[from]; k += TEAM)
        w.in[from][place_of(t, w, from, k)] = t.mass[w.at[from] + k] * w.scale[from][k];
    carry<false, to>(t, w, w.kernel[0], w.kernel[1], w.in[from], w.half, [=](int k, float sum) {
        float plain = 1 / sum, root = sqrtf(plain / scale[k]);
        float quarter = fine ? sqrtf(root) : 1.0f;
        scale[k] = plain * root * quarter * (fine ? sqrtf(quarter) : 1.0f);
    });
}

/* Performs one iteration at a level, or two iterations with larger steps at fine levels. */
__device__ __forceinline__ void refine(const transport &t, pair_state &w, int level)
{
    const bool fine = level >= t.n_pair;
    if (level > 0) {
        __syncthreads();
    #pragma unroll
    for (int side = 0; side < 2; side++) {
            const float *self = t.self + (level - 1) * t.entries + w.at[side];
            for (int k = threadIdx.x; k < w.count[side]; k += TEAM) {
                float bare = w.scale[side][k] / self[k];
                w.scale[side][k] = bare * bare * self[t.entries + k];
            }
        }
        for (int p = threadIdx.x; p < 2 * TABLE; p += TEAM) {
            float *kernel = &w.kernel[p / TABLE][p % TABLE];
            *kernel = *kernel < 1e-9f ? 0.0f : *kernel * *kernel;
        }
    }
    for (int pass = 0; pass < (fine ? 2 : 1); pass++) {
        rescale<1>(t, w, fine);
        rescale<0>(t, w, fine);
    }
}

/* Reduces a sum and a maximum over the block. */
__device__ __forceinline__ void reduce(double &sum, float &largest, double *room)
{
    for (int half = 16; half > 0; half /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, half);
        largest = fmaxf(largest, __shfl_down_sync(0xFFFFFFFFu, largest, half));
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        room[threadIdx.x / 32] = sum;
        room[TEAM / 32 + threadIdx.x / 32] = (double)largest;
    }
    __syncthreads();
    sum = 0;
    for (int k = 0; k < TEAM / 32; k++) {
        sum += room[k];
        largest = fmaxf(largest, (float)room[TEAM / 32 + k]);
    }
}

/* Computes the c-transform to side `to` of potentials f(k) of the other side. The transform to
 * side 1 is stored. */
template <int to, typename F>
__device__ __forceinline__ void transform(const transport &t, pair_state &w, F f, double &sum,
                                          float &largest)
{
    const int from = 1 - to;
    double own = 0;
    float most = 0;
    __syncthreads();
    for (int p = threadIdx.x; p < w.size[from][0] * w.size[from][1]; p += TEAM)
        w.wall[p] = CUDART_INF_F;
    __syncthreads();
    for (int k = threadIdx.x; k < w.count[from]; k += TEAM)
        w.wall[place_of(t, w, from, k)] = -f(k);
    carry<true, to>(t, w, w.cost[0], w.cost[1], w.wall, w.half, [&](int k, float value) {
        own += t.weight[w.at[to] + k] * (double)value;
        most = fmaxf(most, fabsf(value));
        if (to == 1)
            w.packed[k] = value;
    });
    sum += own;
    largest = fmaxf(largest, most);
}

/* Returns the value of the feasible pair (f^cc, f^c), or 0 if it is not finite and positive. */
__device__ __forceinline__ double feasible(const transport &t, pair_state &w, int i, int j, int level,
                                           double *room)
{
    const float epsilon = (float)t.epsilon[level];
    const float *self = t.self + level * t.entries + w.at[0], *scale = w.scale[0];
    float *packed = w.packed, largest = 0;
    double value = 0;
    transform<1>(t, w, [=](int k) { return epsilon * logf(scale[k] / self[k]); }, value, largest);
    transform<0>(t, w, [=](int k) { return packed[k]; }, value, largest);
    reduce(value, largest, room);
    for (int axis = 0; axis < 2; axis++) {
        double apart = t.step[axis] * (t.mean[2 * i + axis] - t.mean[2 * j + axis]);
        value += apart * apart;
    }
    value = t.unit * (value - t.rounding - 0x1p-20 * (double)largest);
    return isfinite(value) && value > 0 ? value : 0;
}

__global__ void __launch_bounds__(TEAM, 6) bounds_kernel(transport t, int kind, const int2 *pair,
                                                      const double *enough, double *bound)
{
    extern __shared__ __align__(16) float shared[];
    __shared__ double room[2 * TEAM / 32], form[2][3];
    const int i = pair[blockIdx.x].x, j = pair[blockIdx.x].y;
    const double end = enough[blockIdx.x];
    pair_state w;
    float *at = shared;
    for (int axis = 0; axis < 2; axis++) {
        w.kernel[axis] = at + axis * TABLE;
        w.cost[axis] = at + (2 + axis) * TABLE;
    }
    at += 4 * TABLE;
    w.scale[0] = at;
    w.scale[1] = at + t.most;
    w.packed = at + 2 * t.most;
    at += 3 * t.most;
    w.in[0] = at;
    w.in[1] = at + t.cells;
    w.wall = at + 2 * t.cells;
    w.half = at + 3 * t.cells;
    (boxes &)w = boxes_of(t, i, j);
    couple(t, w, i, j);
    begin(t, w, i, j, form);
    __syncthreads();
    double best = 0;
    if (kind == DEVICE_DUAL && isfinite(end)) {
        for (int level = 0; level < t.n_pair; level++) {
            refine(t, w, level);
            if (t.hopeless[level] < 0)
                continue;
            best = fmax(best, feasible(t, w, i, j, level, room));
            if (best > end || best < t.hopeless[level] * end)
                break;
        }
    } else {
        for (int level = 0; level < t.n_start; level++)
            refine(t, w, level);
        best = feasible(t, w, i, j, t.n_start - 1, room);
        if (kind == DEVICE_TIGHT && !(best > end) && !(best < t.hopeless_tight * end)) {
            for (int level = t.n_start; level < t.n_levels; level++)
                refine(t, w, level);
            best = fmax(best, feasible(t, w, i, j, t.n_levels - 1, room));
        }
    }
    if (threadIdx.x == 0)
        bound[blockIdx.x] = best;
}

/* Computes the boxes of the items, one warp per item, and converts their weights to floats. */
__global__ void boxes_kernel(transport t, float *mass)
{
    int64_t item = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    unsigned low[2] = {REACH, REACH}, high[2] = {0, 0};
    if (item >= t.n)
        return;
    for (int64_t e = t.offset[item] + threadIdx.x % 32; e < t.offset[item + 1]; e += 32) {
        unsigned place[2] = {t.cell[e] / (unsigned)t.side, t.cell[e] % (unsigned)t.side};
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = min(low[axis], place[axis]);
            high[axis] = max(high[axis], place[axis]);
        }
        mass[e] = (float)t.weight[e];
    }
    for (int axis = 0; axis < 2; axis++) {
        low[axis] = __reduce_min_sync(0xFFFFFFFFu, low[axis]);
        high[axis] = __reduce_max_sync(0xFFFFFFFFu, high[axis]);
    }
    if (threadIdx.x % 32 == 0)
        t.box[item] = make_uchar4((unsigned char)low[0], (unsigned char)low[1],
                                  (unsigned char)(high[0] - low[0] + 1),
                                  (unsigned char)(high[1] - low[1] + 1));
}

#endif
