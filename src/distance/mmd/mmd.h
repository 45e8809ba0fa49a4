/* mmd: kernels between points and the maximum mean discrepancy between items,
 *
 *     D^2(i, j) = s_i + s_j - 2 sum_pq a_p b_q k(x_p, y_q),
 *
 * with s the mean kernel within an item: over pairs p != q, divided by 1 - sum a_p^2 (unbiased), or
 * over all pairs (biased). An item of one point has no pair: its s is k(x, x), its only value, in
 * both. */
#ifndef DDSC_DISTANCE_MMD_MMD_H
#define DDSC_DISTANCE_MMD_MMD_H

#include "base/base.h"
#include "data/measures.h"

typedef struct mmd_kernel {
    ddsc_mmd_kernel kind;
    double bandwidth; /* h; unused by the energy kernel */
} mmd_kernel;

/* Squared distances become k(x, y), in place. */
void mmd_kernel_apply(const mmd_kernel *kernel, int64_t n, double *r2);
double mmd_kernel_value(const mmd_kernel *kernel, double r2);
/* That quantile of the non-zero distances in a fixed sample of at most so many points; 1 when all
 * points are equal. */
ddsc_status mmd_point_distance(ddsc_context *ctx, double *distance, const measures *m, double level,
                               int64_t most);
/* The bandwidth by rule. */
ddsc_status mmd_bandwidth(ddsc_context *ctx, double *bandwidth, const measures *m,
                          const ddsc_metric_settings *settings);

/* Three ways to the sums, chosen by cost from sizes alone. */
typedef enum mmd_way {
    MMD_CLOUDS, /* kernel blocks point by point: own supports */
    MMD_FIELD,  /* shared support: g_j(v) = sum_q b_q k(x_v, y_q) on the table, then sparse products
                 */
    MMD_GRID    /* the same field by one Gaussian per axis: the table is a regular grid */
} mmd_way;

typedef struct mmd mmd;

typedef struct mmd_settings {
    mmd_kernel kernel;
    bool biased;
    int64_t budget; /* bytes the field may take; 0: 1 GiB, less under a memory limit */
    int way;        /* an mmd_way, or -1: the cheapest */
} mmd_settings;

ddsc_status mmd_open(ddsc_context *ctx, mmd **out, const measures *m, const mmd_settings *set);
void mmd_close(mmd *s);
mmd_way mmd_get_way(const mmd *s);
int64_t mmd_items(const mmd *s);
/* Side of a tile, and columns served at once (0: all, nothing to prepare). */
int64_t mmd_side(const mmd *s);
int64_t mmd_strip(const mmd *s);
/* Make ready columns [j0, j1), at most a strip; strips in ascending order. */
ddsc_status mmd_prepare(mmd *s, int64_t j0, int64_t j1);
/* D^2 of items [i0, i1) x [j0, j1), i0 <= j0, within the strip; wanted as in a pair_tile. */
ddsc_status mmd_tile(mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2, int64_t ld,
                     int worker);

/* Coordinates of the items in the kernel's feature space, about a common centre and cut to those
 * that matter: before rounding to floats,
 *     0 <= D^2(i, j) - (offset_i + offset_j + |rows_i - rows_j|^2) <= tail_i + tail_j.
 * columns 0: this way of computing has none that pay. Released by the caller. */
typedef struct mmd_features {
    int64_t columns;
    float *rows;           /* n x columns */
    double *offset, *tail; /* n */
} mmd_features;

ddsc_status mmd_features_make(mmd *s, mmd_features *out);

/* ---- random Fourier features, an approximation ---- */

typedef struct mmd_fourier {
    int64_t columns; /* an even number */
    double *rows;    /* n x columns */
    double *offset;  /* n: D^2(i, j) is near |rows_i - rows_j|^2 + offset_i + offset_j */
} mmd_fourier;

/* Gaussian and Laplace kernels only. */
ddsc_status mmd_fourier_make(ddsc_context *ctx, mmd_fourier *out, const measures *m,
                             const mmd_kernel *kernel, bool biased, int64_t n_features);
void mmd_fourier_free(ddsc_context *ctx, mmd_fourier *f);
/* Quantiles of |D^2 - exact D^2| over a fixed sample of pairs into stats. */
ddsc_status mmd_fourier_check(ddsc_context *ctx, const mmd_fourier *f, ddsc_pair_stats *stats,
                              const measures *m, const mmd_kernel *kernel, bool biased);

#endif
