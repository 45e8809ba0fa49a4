/* Panels: tall blocks of vectors, row-major. Sums over rows are computed per block of rows and
 * added in a fixed tree. The size of the blocks depends only on the shape, so results do not depend
 * on the number of threads. */
#ifndef DDSC_NUMERIC_EIGEN_PANEL_H
#define DDSC_NUMERIC_EIGEN_PANEL_H

#include "base/base.h"

typedef struct panel {
    int64_t n, width, stride;
    double *x;
} panel;

ddsc_status panel_new(ddsc_context *ctx, panel *p, int64_t n, int64_t width);
/* Increases the stride in place, which takes less memory than a copy. The width does not change. */
ddsc_status panel_reserve(ddsc_context *ctx, panel *p, int64_t stride);
void panel_free(ddsc_context *ctx, panel *p);

/* Computes g = A^T B, of size a.width x b.width. */
ddsc_status panel_gram(ddsc_context *ctx, double *g, const panel *a, const panel *b);
/* Computes Y = Y - V C, where C is v.width x y.width. */
ddsc_status panel_subtract(ddsc_context *ctx, panel *y, const panel *v, const double *c);
/* Replaces the first `count` columns of X with X U, where U is x.width x count with row stride
 * `ldu`. */
ddsc_status panel_rotate(ddsc_context *ctx, panel *x, int64_t count, const double *u, int64_t ldu);
/* Computes Y = V U, where U is v.width x y.width with row stride `ldu`. */
ddsc_status panel_multiply(ddsc_context *ctx, panel *y, const panel *v, const double *u,
                           int64_t ldu);
/* Computes norm_j = |mx_j - value_j x_j|. */
ddsc_status panel_residuals(ddsc_context *ctx, double *norm, const panel *x, const panel *mx,
                            const double *value);
/* Copies `count` columns from column `from` of a to column `to` of b. */
ddsc_status panel_copy(ddsc_context *ctx, panel *b, int64_t to, const panel *a, int64_t from,
                       int64_t count);

/* The source of random columns. Rows of items with dead[i] < 0 stay zero. */
typedef struct panel_noise {
    enum rng_stream stream;
    uint64_t round; /* incremented so that no two fills are equal */
    const int32_t *dead;
} panel_noise;

ddsc_status panel_random(ddsc_context *ctx, panel *p, int64_t from, int64_t count,
                         panel_noise *noise);
/* Makes the columns of X orthonormal and orthogonal to the panels `against`. Directions that vanish
 * are replaced with random directions. */
ddsc_status panel_orthonormalize(ddsc_context *ctx, panel *x, int n_against,
                                 const panel *const *against, panel_noise *noise);

#endif
