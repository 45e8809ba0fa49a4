/* mmd: kernels between points and the maximum mean discrepancy between items. */
#ifndef DDSC_MMD_H
#define DDSC_MMD_H

#include "base/base.h"
#include "data/measures.h"

typedef struct mmd_kernel {
    ddsc_mmd_kernel kind;
    double bandwidth; /* h; unused by the energy kernel */
} mmd_kernel;

/* k(x, y) from the squared distance of two points. */
double mmd_kernel_value(const mmd_kernel *kernel, double r2);
/* The bandwidth by rule: a quantile of the non-zero distances in a fixed sample of points. */
ddsc_status mmd_bandwidth(ddsc_context *ctx, double *bandwidth, const measures *m,
                          const ddsc_metric_settings *settings);
/* Values k(x, y) for support rows [r0, r1) x columns [c0, c1) of the table into out (row-major). */
void mmd_gram_block(const mmd_kernel *kernel, const measures *m, const double *norm2, int64_t r0,
                    int64_t r1, int64_t c0, int64_t c1, double *out);

#endif
