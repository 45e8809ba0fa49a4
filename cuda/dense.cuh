/* Solves entropic transport in doubles between items with arbitrary points and squared distances as
 * costs. A pair of small items is solved by one warp, and larger pairs by one block with the kernel
 * matrix in shared memory. Iterations, over-relaxation and stopping are the same as for items on a
 * grid (scaling.cuh). The minimum of each row and then of each column is subtracted from the costs,
 * so that no row or column of the kernel vanishes. Pairs whose kernel does not fit into shared
 * memory are left to the CPU. */
#ifndef DDSC_CUDA_DENSE_CUH
#define DDSC_CUDA_DENSE_CUH

#include "scaling.cuh"

struct clouds {
    int64_t n, d;
    const double *support, *weight;
    const int64_t *offset;
    const int32_t *index;
    int most, room; /* largest number of points of an item; kernel entries that fit into shared memory */
};

inline int64_t dense_doubles(const clouds &c)
{
    return c.room + 7 * (int64_t)c.most;
}

/* A pair, solved by T threads: scalings times weights (u), weights, the subtracted parts of the
 * costs, and the sums of side 1. */
template <int T> struct dense {
    int count[2];
    double *kernel, *scale[2], *mass[2], *off[2], *sum, *room;

    __device__ double row_sum(int i) const /* executed by a warp */
    {
        double s = 0;
        for (int j = threadIdx.x % 32; j < count[1]; j += 32)
            s = fma(kernel[i * count[1] + j], scale[1][j], s);
        for (int half = 16; half > 0; half /= 2)
            s += __shfl_xor_sync(0xFFFFFFFFu, s, half);
        return s;
    }

    /* Calls f(point, sum) for the points of side `to`, each in one thread. */
    template <int to, typename F> __device__ void sums(F f) const
    {
        __syncthreads();
        if (to == 0)
            for (int i = threadIdx.x / 32; i < count[0]; i += T / 32) {
                double s = row_sum(i);
                if (threadIdx.x % 32 == 0)
                    f(i, s);
            }
        else
            for (int j = threadIdx.x; j < count[1]; j += T) {
                double s = 0;
                for (int i = 0; i < count[0]; i++)
                    s = fma(kernel[i * count[1] + j], scale[0][i], s);
                f(j, s);
            }
        __syncthreads();
    }

    template <int to> __device__ void half(double omega, seen &own) const
    {
        sums<to>([&](int k, double s) {
            relax(mass[to][k], s, omega, &scale[to][k], own);
            if (to == 1)
                sum[k] = s;
        });
    }

    __device__ seen all(seen own) const
    {
        return team_seen<T>(own, room);
    }

    /* Makes side 1 exact from the current sums and measures the error of side 0. The value is
     * the dual objective. */
    __device__ bool settle(const device_rule &rule, device_scaled &found) const
    {
        double error = 0, mass_sum = 0, dual = 0, taken = 0;
        for (int j = threadIdx.x; j < count[1]; j += T)
            scale[1][j] = mass[1][j] / fmax(sum[j], 1e-290);
        sums<0>([&](int i, double s) {
            error += fabs(scale[0][i] * s - mass[0][i]);
            mass_sum += scale[0][i] * s;
        });
        found.marginal_error = all(seen{error, 0, 0}).error;
        if (!(found.marginal_error <= rule.tolerance))
            return false;
        for (int side = 0; side < 2; side++)
            for (int k = threadIdx.x; k < count[side]; k += T)
                if (mass[side][k] > 0) {
                    dual += mass[side][k] * log(scale[side][k] / mass[side][k]);
                    taken += mass[side][k] * off[side][k];
                }
        double value = rule.epsilon * (dual - mass_sum) + taken;
        found.regularized = all(seen{value, 0, 0}).error + rule.epsilon;
        return true;
    }

    /* Returns the sum of u K v C. The cost of an entry is the subtracted part plus -epsilon log
     * K. */
    __device__ double sharp(double epsilon) const
    {
        double total = 0;
        for (int p = threadIdx.x; p < count[0] * count[1]; p += T) {
            int i = p / count[1], j = p - i * count[1];
            double flow = scale[0][i] * kernel[p] * scale[1][j];
            if (kernel[p] > 0)
                total += flow * (off[0][i] + off[1][j] - epsilon * log(kernel[p]));
        }
        return all(seen{total, 0, 0}).error;
    }

    __device__ void load(const clouds &c, const int64_t at[2], double epsilon) const
    {
        for (int side = 0; side < 2; side++)
            for (int k = threadIdx.x; k < count[side]; k += T) {
                double weight = c.weight[at[side] + k];
                mass[side][k] = weight > 1e-30 ? weight : 0;
                scale[side][k] = side == 0 ? mass[side][k] : 0;
                off[side][k] = CUDART_INF;
            }
        for (int p = threadIdx.x; p < count[0] * count[1]; p += T) {
            int i = p / count[1], j = p - i * count[1];
            const double *x = c.support + c.index[at[0] + i] * c.d;
            const double *y = c.support + c.index[at[1] + j] * c.d;
            double cost = 0;
            for (int64_t k = 0; k < c.d; k++)
                cost = fma(x[k] - y[k], x[k] - y[k], cost);
            kernel[p] = cost;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count[0]; i += T)
            for (int j = 0; j < count[1]; j++)
                off[0][i] = fmin(off[0][i], kernel[i * count[1] + j]);
        __syncthreads();
        for (int j = threadIdx.x; j < count[1]; j += T)
            for (int i = 0; i < count[0]; i++)
                off[1][j] = fmin(off[1][j], kernel[i * count[1] + j] - off[0][i]);
        __syncthreads();
        for (int p = threadIdx.x; p < count[0] * count[1]; p += T) {
            int i = p / count[1], j = p - i * count[1];
            kernel[p] = exp(-(kernel[p] - off[0][i] - off[1][j]) / epsilon);
        }
    }
};

template <int T>
__global__ void __launch_bounds__(T) dense_kernel(clouds c, device_rule rule, const int2 *pair,
                                                  device_scaled *found)
{
    extern __shared__ __align__(16) double numbers[];
    __shared__ double room[3 * T / 32];
    const int item[2] = {pair[blockIdx.x].x, pair[blockIdx.x].y};
    const int64_t at[2] = {c.offset[item[0]], c.offset[item[1]]};
    device_scaled own = {0, 0, 0, 0};
    dense<T> w;
    double *next = numbers;
    for (int side = 0; side < 2; side++) {
        w.count[side] = (int)(c.offset[item[side] + 1] - at[side]);
        w.scale[side] = next;
        w.mass[side] = next + c.most;
        w.off[side] = next + 2 * c.most;
        next += 3 * c.most;
    }
    w.sum = next;
    w.kernel = next + c.most;
    w.room = room;
    if ((int64_t)w.count[0] * w.count[1] <= c.room) {
        w.load(c, at, rule.epsilon);
        bool done = iterate(w, rule, pace{1, 0, -1}, own);
        if (done && rule.sharp)
            own.sharp = w.sharp(rule.epsilon);
        if (!done)
            own.iterations = 0;
    }
    if (threadIdx.x == 0)
        found[blockIdx.x] = own;
}

#endif
