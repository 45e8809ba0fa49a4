/* Orthonormalizes a panel of vectors with Gram matrices (Stathopoulos and Wu, "A block
 * orthogonalization procedure with constant synchronization requirements", 2002).
 *
 * Each pass first projects the panel X against the known vectors and forms the Gram matrix G = X^T
 * X. Let D scale G to a unit diagonal, and let D G D = Q T Q^T be the eigendecomposition. Then X D
 * Q T^(-1/2) is orthonormal up to rounding. Directions whose eigenvalue in T is at rounding level
 * are replaced with random vectors.
 *
 * Passes repeat until G is the identity to within GRAM_TOLERANCE, or until an error bound shows
 * that the last pass must have achieved it. If X is well conditioned, one pass is enough. A pass
 * consists of the projections and a few matrix products with n x width^2 operations. */
#include <math.h>
#include <string.h>

#include "numeric/eigen/panel.h"
#include "numeric/linalg/linalg.h"

enum { PASSES_MAX = 12 };

static const double GRAM_TOLERANCE = 3e-14;
/* Rounding error of a projection of a vector of length 1. This constant bounds the component that
 * remains along the subtracted vectors, and the error of an inner product. */
static const double ROUNDING = 1e-15;
/* A direction of a normalized panel consists only of rounding errors if its eigenvalue is below
 * this constant times the width. */
static const double RANK_TOLERANCE = 1e-13;

/* Projects x against the known panels. taken[j] receives the squared norm of the part subtracted
 * from column j. */
static ddsc_status project(ddsc_context *ctx, panel *x, int n_against, const panel *const *against,
                           double *c, double *taken)
{
    memset(taken, 0, (size_t)x->width * sizeof *taken);
    for (int k = 0; k < n_against; k++) {
        CHECK(panel_gram(ctx, c, against[k], x));
        CHECK(panel_subtract(ctx, x, against[k], c));
        for (int64_t i = 0; i < against[k]->width; i++)
            for (int64_t j = 0; j < x->width; j++)
                taken[j] += c[i * x->width + j] * c[i * x->width + j];
    }
    return DDSC_OK;
}

/* Returns the largest ratio of a column's squared norms before and after the projection. Relative
 * to the column, rounding errors along the subtracted vectors grow by the square root of this
 * ratio. */
static double shrinking(const double *g, const double *taken, int64_t b)
{
    double worst = 1;
    for (int64_t j = 0; j < b; j++)
        worst = fmax(worst, 1 + taken[j] / g[j * b + j]);
    return worst;
}

static double distance_from_identity(const double *g, int64_t b)
{
    double worst = 0;
    for (int64_t i = 0; i < b; i++)
        for (int64_t j = 0; j < b; j++)
            worst = fmax(worst, fabs(g[i * b + j] - (i == j)));
    return worst;
}

/* Computes u = D Q T^(-1/2) with D G D = Q T Q^T, so that X u is orthonormal up to rounding.
 * n_sound receives the number of leading columns that are valid; the others must be replaced with
 * random vectors. */
static ddsc_status whiten(ddsc_context *ctx, double *u, int64_t *n_sound, double *g, int64_t b,
                          double *values, double *rows)
{
    double *d = values + b;
    for (int64_t i = 0; i < b; i++) {
        double norm2 = g[i * b + i];
        d[i] = norm2 > 0 && norm2 < INFINITY ? 1 / sqrt(norm2) : 0;
    }
    for (int64_t i = 0; i < b; i++)
        for (int64_t j = 0; j < b; j++)
            g[i * b + j] *= d[i] * d[j];
    ddsc_status status = la_eigen_symmetric(ctx, b, g, values, rows);
    *n_sound = 0;
    memset(u, 0, (size_t)(b * b) * sizeof *u);
    for (int64_t j = 0; j < b && status >= 0; j++) {
        const double *q = rows + (b - 1 - j) * b;
        double t = values[b - 1 - j];
        if (!(t > RANK_TOLERANCE * (double)b))
            break;
        for (int64_t i = 0; i < b; i++)
            u[i * b + j] = d[i] * q[i] / sqrt(t);
        ++*n_sound;
    }
    return status;
}

ddsc_status panel_orthonormalize(ddsc_context *ctx, panel *x, int n_against,
                                 const panel *const *against, panel_noise *noise)
{
    ddsc_status status = DDSC_OK;
    int64_t b = x->width, widest = b, n_sound;
    double *work = NULL;
    for (int k = 0; k < n_against; k++)
        widest = BASE_MAX(widest, against[k]->width);
    TRY(MEM_NEW(ctx, work, b * (widest + 2 * b + 3)));
    double *g = work, *u = g + b * widest, *rows = u + b * b, *values = rows + b * b;
    double *taken = values + 2 * b;
    bool apart =
        false; /* x is orthogonal to `against`; only its own columns remain to be checked */
    for (int pass = 0; b > 0; pass++) {
        TRY(project(ctx, x, apart ? 0 : n_against, against, g, taken));
        TRY(panel_gram(ctx, g, x, x));
        if (distance_from_identity(g, b) <= GRAM_TOLERANCE)
            break;
        if (pass == PASSES_MAX) {
            status = ctx_fail(ctx, DDSC_ERROR_INTERNAL,
                              "a block of %lld vectors did not become orthonormal", (long long)b);
            break;
        }
        double shrunk = shrinking(g, taken, b);
        TRY(whiten(ctx, u, &n_sound, g, b, values, rows));
        TRY(panel_rotate(ctx, x, b, u, b));
        if (n_sound < b)
            TRY(panel_random(ctx, x, n_sound, b - n_sound, noise));
        /* Let t be the smallest eigenvalue. Whitening lengthens a direction by up to 1/sqrt(t),
         * including its remaining component along the known vectors. Whitening amplifies errors in
         * the Gram matrix by 1/t. */
        apart = n_sound == b && ROUNDING * sqrt(shrunk / values[0]) <= GRAM_TOLERANCE;
        if (apart && ROUNDING / values[0] <= GRAM_TOLERANCE)
            break;
    }
done:
    mem_free(ctx, work);
    return status;
}
