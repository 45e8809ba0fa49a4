/* mmd: kernels between points, and the maximum mean discrepancy between items,
 *
 *     D^2(i, j) = s_i + s_j - 2 sum_pq a_p b_q k(x_p, y_q).
 *
 * Here, s_i is the mean kernel within item i. The unbiased form sums over pairs p != q, and divides
 * by 1 - sum a_p^2. The biased form sums over all pairs. If an item has only one point, there is no
 * pair p != q, and s is k(x, x) in both forms. */
#ifndef DDSC_DISTANCE_MMD_MMD_H
#define DDSC_DISTANCE_MMD_MMD_H

#include "base/base.h"
#include "data/measures.h"

typedef struct mmd_kernel {
    ddsc_mmd_kernel kind;
    double bandwidth; /* h; unused by the energy kernel */
} mmd_kernel;

/* Replaces squared distances with k(x, y). */
void mmd_kernel_apply(const mmd_kernel *kernel, int64_t n, double *r2);
double mmd_kernel_value(const mmd_kernel *kernel, double r2);
/* Computes the `level` quantile of the non-zero distances in a fixed sample of at most `most`
 * points. The quantile is 1 if all points are equal. */
ddsc_status mmd_point_distance(ddsc_context *ctx, double *distance, const measures *m, double level,
                               int64_t most);
/* Chooses the bandwidth by the rule in the settings. */
ddsc_status mmd_bandwidth(ddsc_context *ctx, double *bandwidth, const measures *m,
                          const ddsc_metric_settings *settings);

/* The three methods for computing the sums. The method with the lowest estimated cost is used. The
 * estimate depends only on sizes. */
typedef enum mmd_way {
    /* For separate supports: kernel values between all points, in blocks. */
    MMD_CLOUDS,
    /* For a shared support: g_j(v) = sum_q b_q k(x_v, y_q) on the table, then sparse products. */
    MMD_FIELD,
    /* For a table on a regular grid: the same field, computed with one Gaussian per axis. */
    MMD_GRID
} mmd_way;

typedef struct mmd mmd;

typedef struct mmd_settings {
    mmd_kernel kernel;
    bool biased;
    /* Maximum size of the field in bytes; 0: 1 GiB, or less under a memory limit. */
    int64_t budget;
    int way;          /* an mmd_way, or -1 for the cheapest method */
    pair_frame frame; /* if its kind is not FRAME_NONE, it overrides the choice of the method */
} mmd_settings;

/* Returns the frame of the cheapest method for the set. The frame is recorded because the methods
 * differ in the last bits of their results. */
pair_frame mmd_frame(ddsc_context *ctx, const measures *m, const mmd_settings *set);
/* Returns true if the method of the frame can be used for the set. */
bool mmd_fits(ddsc_context *ctx, const measures *m, const mmd_settings *set,
              const pair_frame *frame);

ddsc_status mmd_open(ddsc_context *ctx, mmd **out, const measures *m, const mmd_settings *set);
void mmd_close(mmd *s);
mmd_way mmd_get_way(const mmd *s);
int64_t mmd_items(const mmd *s);
/* Returns the side of a tile. */
int64_t mmd_side(const mmd *s);
/* Returns the number of columns that can be prepared at once, or 0 if no preparation is needed. */
int64_t mmd_strip(const mmd *s);
/* Prepares columns [j0, j1), at most mmd_strip columns at once and in ascending order. */
ddsc_status mmd_prepare(mmd *s, int64_t j0, int64_t j1);
/* Computes D^2 for items [i0, i1) x [j0, j1) within the prepared columns. Requires i0 <= j0.
 * `wanted` has the same layout as in a pair_tile. */
ddsc_status mmd_tile(mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2, int64_t ld,
                     int worker);

/* The relevant centered coordinates of the items in the feature space of the kernel. Before
 * rounding to float,
 *
 *     0 <= D^2(i, j) - (offset_i + offset_j + |rows_i - rows_j|^2) <= tail_i + tail_j.
 *
 * If columns is 0, features would not save time. The caller must free the arrays. */
typedef struct mmd_features {
    int64_t columns;
    float *rows;           /* n x columns */
    double *offset, *tail; /* n */
} mmd_features;

ddsc_status mmd_features_make(mmd *s, mmd_features *out);

/* ---- random Fourier features (approximate) ---- */

typedef struct mmd_fourier {
    int64_t columns; /* an even number */
    double *rows;    /* n x columns */
    double *offset;  /* n: D^2(i, j) is about |rows_i - rows_j|^2 + offset_i + offset_j */
} mmd_fourier;

/* Computes the features. Only the Gaussian and the Laplace kernel are supported. */
ddsc_status mmd_fourier_make(ddsc_context *ctx, mmd_fourier *out, const measures *m,
                             const mmd_kernel *kernel, bool biased, int64_t n_features);
void mmd_fourier_free(ddsc_context *ctx, mmd_fourier *f);
/* Measures |D^2 - exact D^2| over a fixed sample of pairs, and stores the quantiles in *stats. */
ddsc_status mmd_fourier_check(ddsc_context *ctx, const mmd_fourier *f, ddsc_pair_stats *stats,
                              const measures *m, const mmd_kernel *kernel, bool biased);

#endif
