/* Computes the leading eigenpairs of a symmetric matrix by subspace iteration (Halko, Martinsson,
 * Tropp 2011).
 *
 * The iteration starts with a random block X of w > k columns. Each of `rounds` rounds multiplies X
 * by M and makes it orthonormal. The product multiplies the component along an eigenvector by its
 * eigenvalue, so the block approaches the space of the eigenvectors with the largest |lambda|.
 * Rayleigh-Ritz then gives the pairs: the eigenpairs (theta, u) of X^T M X yield the vectors X u.
 *
 * X^T M X is symmetrized before its eigenpairs are computed. The vectors are orthonormal up to
 * rounding. The last pairs may be inaccurate; the residuals show by how much. The cost is rounds +
 * 1 products with a block of w columns. */
#include <math.h>
#include <string.h>

#include "numeric/eigen/eigen.h"
#include "numeric/eigen/panel.h"
#include "numeric/linalg/linalg.h"

/* Returns the width of the block. With some extra columns, the block contains the space of the k
 * largest eigenvalues after fewer rounds. */
static int64_t block_width(int64_t n, int64_t k)
{
    return BASE_MIN(n, k + BASE_MAX(16, k / 2));
}

static void swap_panels(panel *a, panel *b)
{
    panel c = *a;
    *a = *b;
    *b = c;
}

/* Runs the subspace iteration. On return, x is orthonormal and mx = M x. */
static ddsc_status leading_iterate(ddsc_context *ctx, panel *x, panel *mx, const sparse *m,
                                   int64_t rounds)
{
    panel_noise noise = {.stream = RNG_EIGEN};
    CHECK(panel_random(ctx, x, 0, x->width, &noise));
    for (int64_t r = 0;; r++) {
        CHECK(panel_orthonormalize(ctx, x, 0, NULL, &noise));
        CHECK(operator_apply(ctx, m, x->width, x->x, mx->x));
        progress_add(ctx, 1);
        if (r == rounds)
            return DDSC_OK;
        swap_panels(x, mx);
    }
}

/* Computes the k Ritz values with the largest |theta| and their vectors as columns of u (width x
 * k). */
static ddsc_status leading_pairs(ddsc_context *ctx, double *value, double *u, double *h, int64_t w,
                                 int64_t k)
{
    ddsc_status status = DDSC_OK;
    double *theta = NULL, *rows = NULL, *key = NULL;
    int32_t *order = NULL;
    TRY(MEM_NEW(ctx, theta, w));
    TRY(MEM_NEW(ctx, key, w));
    TRY(MEM_NEW(ctx, order, w));
    TRY(MEM_NEW(ctx, rows, w * w));
    TRY(la_eigen_symmetric(ctx, w, h, theta, rows));
    for (int64_t j = 0; j < w; j++)
        key[j] = -fabs(theta[j]);
    sort_order(order, key, w);
    for (int64_t j = 0; j < k; j++) {
        value[j] = theta[order[j]];
        for (int64_t i = 0; i < w; i++)
            u[i * k + j] = rows[order[j] * w + i];
    }
done:
    MEM_FREE(ctx, theta, key, order, rows);
    return status;
}

static ddsc_status leading_solve(ddsc_context *ctx, eigen_result *out, panel *x, panel *mx,
                                 const sparse *m, int64_t rounds)
{
    ddsc_status status = DDSC_OK;
    int64_t w = x->width, k = out->k;
    double *h = NULL, *u = NULL;
    panel v = {.n = m->n, .width = k, .stride = k, .x = out->vector}, mv = {0};
    TRY(MEM_NEW(ctx, h, w * w));
    TRY(MEM_NEW(ctx, u, w * k));
    TRY(leading_iterate(ctx, x, mx, m, rounds));
    TRY(panel_gram(ctx, h, x, mx));
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < i; j++)
            h[i * w + j] = h[j * w + i] = (h[i * w + j] + h[j * w + i]) / 2;
    TRY(leading_pairs(ctx, out->value, u, h, w, k));
    TRY(panel_multiply(ctx, &v, x, u, k));
    TRY(panel_new(ctx, &mv, m->n, k));
    TRY(panel_multiply(ctx, &mv, mx, u, k));
    TRY(panel_residuals(ctx, out->residual, &v, &mv, out->value));
done:
    panel_free(ctx, &mv);
    MEM_FREE(ctx, h, u);
    return status;
}

ddsc_status eigen_leading(ddsc_context *ctx, eigen_result *out, const sparse *m, int64_t k,
                          int64_t rounds)
{
    ddsc_status status = DDSC_OK;
    panel x = {0}, mx = {0};
    *out = (eigen_result){.n = m->n, .k = k, .n_products = rounds + 1};
    progress_begin(ctx, "leading vectors", rounds + 1);
    TRY(MEM_NEW(ctx, out->value, k));
    TRY(MEM_NEW(ctx, out->residual, k));
    TRY(MEM_NEW(ctx, out->vector, m->n * k));
    TRY(panel_new(ctx, &x, m->n, block_width(m->n, k)));
    TRY(panel_new(ctx, &mx, m->n, x.width));
    TRY(leading_solve(ctx, out, &x, &mx, m, rounds));
    progress_end(ctx);
done:
    panel_free(ctx, &x);
    panel_free(ctx, &mx);
    if (status < 0)
        eigen_free(ctx, out);
    return status;
}
