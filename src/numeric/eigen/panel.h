/* Panels: tall blocks of vectors, row-major. Every sum over rows is taken in pieces whose size
 * depends on the shape alone and added up in order, so results do not depend on the thread count.
 */
#ifndef DDSC_NUMERIC_EIGEN_PANEL_H
#define DDSC_NUMERIC_EIGEN_PANEL_H

#include "base/base.h"

typedef struct panel {
    int64_t n, width, stride;
    double *x;
} panel;

ddsc_status panel_new(ddsc_context *ctx, panel *p, int64_t n, int64_t width);
void panel_free(ddsc_context *ctx, panel *p);

/* g (a.width x b.width) = A^T B. */
ddsc_status panel_gram(ddsc_context *ctx, double *g, const panel *a, const panel *b);
/* Y = Y - V C, C v.width x y.width. */
ddsc_status panel_subtract(ddsc_context *ctx, panel *y, const panel *v, const double *c);
/* The first `count` columns of X become X U in place, U x.width x count with rows `ldu` apart. */
ddsc_status panel_rotate(ddsc_context *ctx, panel *x, int64_t count, const double *u, int64_t ldu);
/* Y = V U, U v.width x y.width with rows `ldu` apart. */
ddsc_status panel_multiply(ddsc_context *ctx, panel *y, const panel *v, const double *u,
                           int64_t ldu);
/* norm_j = |mx_j - value_j x_j|. */
ddsc_status panel_residuals(ddsc_context *ctx, double *norm, const panel *x, const panel *mx,
                            const double *value);
/* Copy `count` columns from column `from` of a to column `to` of b. */
ddsc_status panel_copy(ddsc_context *ctx, panel *b, int64_t to, const panel *a, int64_t from,
                       int64_t count);

/* Where random columns come from; rows of items with dead[i] < 0 stay zero. */
typedef struct panel_noise {
    enum rng_stream stream;
    uint64_t round; /* counts up, so that no two fills are alike */
    const int32_t *dead;
} panel_noise;

ddsc_status panel_random(ddsc_context *ctx, panel *p, int64_t from, int64_t count,
                         panel_noise *noise);
/* Make the columns of X orthonormal and orthogonal to the panels of `against`; directions that
 * vanish are replaced by random ones. */
ddsc_status panel_orthonormalise(ddsc_context *ctx, panel *x, int n_against,
                                 const panel *const *against, panel_noise *noise);

#endif
