/* Computes the kernels as functions of the squared distance, for eight values at a time. */
#include "base/simd.h"
#include "distance/mmd/mmd.h"

#pragma GCC diagnostic ignored "-Wpsabi"

SIMD_INLINE simd_f64 root(simd_f64 x)
{
    for (int k = 0; k < SIMD_LANES; k++)
        x[k] = __builtin_sqrt(x[k]);
    return x;
}

SIMD_INLINE simd_f64 kernel_lanes(const mmd_kernel *kernel, simd_f64 r2)
{
    double h = kernel->bandwidth;
    switch (kernel->kind) {
    case DDSC_KERNEL_GAUSSIAN: return simd_exp(r2 * (-0.5 / (h * h)));
    case DDSC_KERNEL_LAPLACE: return simd_exp(root(r2) * (-1.0 / h));
    case DDSC_KERNEL_ENERGY: break;
    }
    return -root(r2);
}

SIMD_CLONES void mmd_kernel_apply(const mmd_kernel *kernel, int64_t n, double *r2)
{
    int64_t q = 0;
    for (; q + SIMD_LANES <= n; q += SIMD_LANES)
        simd_store(r2 + q, kernel_lanes(kernel, simd_load(r2 + q)));
    if (q < n) {
        simd_f64 rest = {0};
        memcpy(&rest, r2 + q, (size_t)(n - q) * sizeof *r2);
        rest = kernel_lanes(kernel, rest);
        memcpy(r2 + q, &rest, (size_t)(n - q) * sizeof *r2);
    }
}

double mmd_kernel_value(const mmd_kernel *kernel, double r2)
{
    mmd_kernel_apply(kernel, 1, &r2);
    return r2 + 0.0;
}
