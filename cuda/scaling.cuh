/* Solves entropic transport in doubles between items on a plane grid, with one block of threads per
 * pair. Iterations, over-relaxation and stopping follow src/distance/sinkhorn/grid.c and pace.c. */
#ifndef DDSC_CUDA_SCALING_CUH
#define DDSC_CUDA_SCALING_CUH

#include "transport.cuh"

enum { WINDOW = 12, MOST_PASSES = 2000 };

inline int64_t scaling_doubles(const transport &t)
{
    return 4 * TABLE + (int64_t)t.most + 3 * (int64_t)t.cells;
}

/* A pair in shared memory: kernel tables per axis, space for other tables, scalings times weights
 * of both sides on their boxes, values on a box after processing one axis, and the last sums of
 * side 1 per point. */
struct scaling : boxes {
    double *kernel[2], *other[2], *scale[2], *half, *sum, *room;
};

/* Results of a pass: the errors of both marginals and the range of the sums. */
struct seen {
    double error, low, high;
};

template <int T = TEAM> __device__ __forceinline__ seen team_seen(seen own, double *room)
{
    for (int half = 16; half > 0; half /= 2) {
        own.error += __shfl_down_sync(0xFFFFFFFFu, own.error, half);
        own.low = fmin(own.low, __shfl_down_sync(0xFFFFFFFFu, own.low, half));
        own.high = fmax(own.high, __shfl_down_sync(0xFFFFFFFFu, own.high, half));
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        double *to = room + 3 * (threadIdx.x / 32);
        to[0] = own.error;
        to[1] = own.low;
        to[2] = own.high;
    }
    __syncthreads();
    seen all = {0, CUDART_INF, 0};
    for (int k = 0; k < T / 32; k++) {
        all.error += room[3 * k];
        all.low = fmin(all.low, room[3 * k + 1]);
        all.high = fmax(all.high, room[3 * k + 2]);
    }
    return all;
}

__device__ __forceinline__ double team_sum(double own, double *room)
{
    return team_seen(seen{own, 0, 0}, room).error;
}

__device__ __forceinline__ double weight_of(const transport &t, const scaling &w, int side, int k)
{
    double weight = t.weight[w.at[side] + k];
    return weight > 1e-30 ? weight : 0;
}

/* Updates the scaling x of a point with sum s, over-relaxed by omega. The result is at least
 * half of the plain update. */
__device__ __forceinline__ void relax(double weight, double s, double omega, double *x, seen &own)
{
    double safe = fmax(s, 1e-290), plain = weight / safe;
    if (weight > 0) {
        own.low = fmin(own.low, safe);
        own.high = fmax(own.high, safe);
    }
    own.error += fabs(*x * s - weight);
    *x = fmax(plain + (omega - 1) * (plain - *x), 0.5 * plain);
}

template <int to>
__device__ __forceinline__ void half_pass(const transport &t, const scaling &w, double omega, seen &own)
{
    carry<false, to>(t, w, w.kernel[0], w.kernel[1], w.scale[1 - to], w.half, [&](int k, double s) {
        relax(weight_of(t, w, to, k), s, omega, &w.scale[to][place_of(t, w, to, k)], own);
        if (to == 1)
            w.sum[k] = s;
    });
}

__device__ __forceinline__ bool in_range(const seen &s)
{
    return s.low >= 1e-120 && s.high <= 1e120;
}

/* ---- over-relaxation ---- */

struct pace {
    double omega, mark;
    int since;
};

__device__ __forceinline__ double omega_of(double eta)
{
    return 2 / (1 + sqrt(1 - fmin(eta, 1 - 1e-9)));
}

/* Computes omega from the rate of convergence between Gaussians. */
__device__ __forceinline__ double first_omega(const transport &t, int i, int j, double epsilon)
{
    const double *a = t.cov + 3 * i, *b = t.cov + 3 * j;
    double half = 0.5 * (a[0] * b[0] + 2 * a[1] * b[1] + a[2] * b[2]), s = epsilon / 2;
    double det = (a[0] * a[2] - a[1] * a[1]) * (b[0] * b[2] - b[1] * b[1]);
    double mu = half + sqrt(fmax(0.0, half * half - det));
    double root = sqrt(4 * mu + s * s) - s, eta = root * root / (4 * mu);
    return omega_of(1 - 0.7 * (1 - eta));
}

/* Updates omega at the end of a window. Returns false if the predicted number of iterations is
 * too large. */
__device__ __forceinline__ bool decide(pace &p, double error, double tolerance)
{
    double rate = pow(error / p.mark, 1.0 / (WINDOW / 2)), wanted = 1;
    if (rate < 1)
        wanted = p.omega > 1 && rate <= p.omega - 1
                     ? p.omega
                     : omega_of((rate + p.omega - 1) * (rate + p.omega - 1) /
                                (rate * p.omega * p.omega));
    double coming = rate >= 1 ? 0.9 : fmin(0.9999, fmax(wanted - 1, 0.2));
    p.omega = wanted;
    p.since = 0;
    return log(tolerance / error) / log(coming) <= MOST_PASSES;
}

/* ---- values ---- */

__device__ __forceinline__ double log_ratio(const transport &t, const scaling &w, int side)
{
    double sum = 0;
    for (int k = threadIdx.x; k < w.count[side]; k += TEAM) {
        double weight = weight_of(t, w, side, k);
        if (weight > 0)
            sum += weight * log(w.scale[side][place_of(t, w, side, k)] / weight);
    }
    return sum;
}

/* Makes side 1 exact from the current sums and measures the error of side 0. The value is the
 * dual objective. */
__device__ __forceinline__ bool settle(const transport &t, const scaling &w, const device_rule &rule,
                                       double apart, device_scaled &found)
{
    double error = 0, mass = 0;
    for (int k = threadIdx.x; k < w.count[1]; k += TEAM)
        w.scale[1][place_of(t, w, 1, k)] = weight_of(t, w, 1, k) / fmax(w.sum[k], 1e-290);
    carry<false, 0>(t, w, w.kernel[0], w.kernel[1], w.scale[1], w.half, [&](int k, double s) {
        double x = w.scale[0][place_of(t, w, 0, k)];
        error += fabs(x * s - weight_of(t, w, 0, k));
        mass += x * s;
    });
    found.marginal_error = team_sum(error, w.room);
    if (!(found.marginal_error <= rule.tolerance))
        return false;
    double dual = log_ratio(t, w, 0) + log_ratio(t, w, 1) - mass;
    found.regularized = rule.epsilon * (team_sum(dual, w.room) + 1) + apart;
    return true;
}

/* Returns the sum of u K C v, where C is the sum of one cost per axis. */
__device__ __forceinline__ double sharp_value(const transport &t, const scaling &w, int i, int j)
{
    double total = 0;
    __syncthreads();
    for (int p = threadIdx.x; p < 2 * TABLE; p += TEAM) {
        int axis = p / TABLE, at = p % TABLE;
        double off = t.step[axis] *
                     ((double)(at - MIDDLE) - (t.mean[2 * i + axis] - t.mean[2 * j + axis]));
        w.other[axis][at] = w.kernel[axis][at] * off * off;
    }
    for (int axis = 0; axis < 2; axis++)
        carry<false, 0>(t, w, axis == 0 ? w.other[0] : w.kernel[0],
                        axis == 1 ? w.other[1] : w.kernel[1], w.scale[1], w.half,
                        [&](int k, double s) {
                            total += w.scale[0][place_of(t, w, 0, k)] * s;
                        });
    return team_sum(total, w.room);
}

/* ---- a pair ---- */

__device__ __forceinline__ void load_pair(const transport &t, const scaling &w, int i, int j,
                                          double epsilon, double *form)
{
    for (int p = threadIdx.x; p < 2 * TABLE; p += TEAM) {
        int axis = p / TABLE, at = p % TABLE;
        double off = t.step[axis] *
                     ((double)(at - MIDDLE) - (t.mean[2 * i + axis] - t.mean[2 * j + axis]));
        w.kernel[axis][at] = exp(-off * off / epsilon);
    }
#pragma unroll
    for (int side = 0; side < 2; side++)
        for (int p = threadIdx.x; p < w.size[side][0] * w.size[side][1]; p += TEAM)
            w.scale[side][p] = 0;
    if (threadIdx.x == 0)
        affine(t, i, j, epsilon, form);
    __syncthreads();
    for (int k = threadIdx.x; k < w.count[0]; k += TEAM) {
        int cell = t.cell[w.at[0] + k];
        double x = (double)(cell / (int)t.side) - t.mean[2 * i];
        double y = (double)(cell % (int)t.side) - t.mean[2 * i + 1];
        double power = form[0] * x * x + form[1] * x * y + form[2] * y * y;
        w.scale[0][place_of(t, w, 0, k)] =
            weight_of(t, w, 0, k) * exp(fmax(-200.0, fmin(200.0, power)));
    }
}

/* The interface of a pair for the iterations. */
struct grid_pair {
    const transport &t;
    const scaling &w;
    double apart; /* squared distance of the means */

    template <int to> __device__ __forceinline__ void half(double omega, seen &own) const
    {
        half_pass<to>(t, w, omega, own);
    }

    __device__ __forceinline__ seen all(seen own) const
    {
        return team_seen(own, w.room);
    }

    __device__ __forceinline__ bool settle(const device_rule &rule, device_scaled &found) const
    {
        return ::settle(t, w, rule, apart, found);
    }
};

template <class P>
__device__ __forceinline__ bool iterate(const P &pair, const device_rule &rule, pace p,
                                        device_scaled &found)
{
    const int64_t cap = rule.max_iterations < MOST_PASSES ? rule.max_iterations : MOST_PASSES;
    seen own = {0, CUDART_INF, 0};
    pair.template half<1>(1, own);
    if (!in_range(pair.all(own)))
        return false;
    for (int64_t k = 1; k <= cap; k++) {
        double omega = k == 1 ? 1 : p.omega;
        own = seen{0, CUDART_INF, 0};
        pair.template half<0>(omega, own);
        pair.template half<1>(omega, own);
        seen all = pair.all(own);
        found.iterations = k;
        if (!in_range(all))
            return false;
        if (all.error <= rule.tolerance) {
            if (pair.settle(rule, found))
                return true;
            continue;
        }
        p.since++;
        if (p.since == WINDOW / 2)
            p.mark = all.error;
        if (p.since >= WINDOW && !decide(p, all.error, rule.tolerance))
            return false;
    }
    return false;
}

__global__ void __launch_bounds__(TEAM, 6) scaling_kernel(transport t, device_rule rule,
                                                       const int2 *pair, device_scaled *found)
{
    extern __shared__ __align__(16) double numbers[];
    __shared__ double room[3 * TEAM / 32], form[3];
    const int i = pair[blockIdx.x].x, j = pair[blockIdx.x].y;
    device_scaled own = {0, 0, 0, 0};
    scaling w;
    (boxes &)w = boxes_of(t, i, j);
    for (int axis = 0; axis < 2; axis++) {
        w.kernel[axis] = numbers + axis * TABLE;
        w.other[axis] = numbers + (2 + axis) * TABLE;
        w.scale[axis] = numbers + 4 * TABLE + axis * t.cells;
    }
    w.half = numbers + 4 * TABLE + 2 * t.cells;
    w.sum = w.half + t.cells;
    w.room = room;
    double apart = 0;
    for (int axis = 0; axis < 2; axis++) {
        double off = t.step[axis] * (t.mean[2 * i + axis] - t.mean[2 * j + axis]);
        apart += off * off;
    }
    load_pair(t, w, i, j, rule.epsilon, form);
    pace p = {first_omega(t, i, j, rule.epsilon), 0, -1};
    bool done = iterate(grid_pair{t, w, apart}, rule, p, own);
    if (done && rule.sharp)
        own.sharp = sharp_value(t, w, i, j) + apart;
    if (!done)
        own.iterations = 0;
    if (threadIdx.x == 0)
        found[blockIdx.x] = own;
}

#endif
