/* Orthonormal panels from Gram matrices: each pass takes the eigenvectors of the scaled Gram matrix
 * (Stathopoulos and Wu, "A block orthogonalization procedure with constant synchronization
 * requirements", 2002); passes repeat until the Gram matrix is the identity. */
#include <math.h>
#include <string.h>

#include "eigen/panel.h"
#include "linalg/linalg.h"

enum { PASSES_MAX = 12 };

static const double GRAM_TOLERANCE = 1e-12;
/* Directions of a normalised panel below this are rounding noise. */
static const double RANK_TOLERANCE = 1e-13;

static ddsc_status project(ddsc_context *ctx, panel *x, int n_against, const panel *const *against,
                           double *c)
{
    for (int k = 0; k < n_against; k++) {
        CHECK(panel_gram(ctx, c, against[k], x));
        CHECK(panel_subtract(ctx, x, against[k], c));
    }
    return DDSC_OK;
}

static double distance_from_identity(const double *g, int64_t b)
{
    double worst = 0;
    for (int64_t i = 0; i < b; i++)
        for (int64_t j = 0; j < b; j++)
            worst = fmax(worst, fabs(g[i * b + j] - (i == j)));
    return worst;
}

/* u so that X u is orthonormal up to rounding: D Q T^-1/2 with D G D = Q T Q^T. Returns how many
 * leading columns are sound; those after them have to be drawn anew. */
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

ddsc_status panel_orthonormalise(ddsc_context *ctx, panel *x, int n_against,
                                 const panel *const *against, panel_noise *noise)
{
    ddsc_status status = DDSC_OK;
    int64_t b = x->width, widest = b, n_sound;
    double *work = NULL;
    for (int k = 0; k < n_against; k++)
        widest = BASE_MAX(widest, against[k]->width);
    TRY(MEM_NEW(ctx, work, b * (widest + 2 * b + 2)));
    double *g = work, *u = g + b * widest, *rows = u + b * b, *values = rows + b * b;
    for (int pass = 0; b > 0; pass++) {
        TRY(project(ctx, x, n_against, against, g));
        TRY(panel_gram(ctx, g, x, x));
        if (distance_from_identity(g, b) <= GRAM_TOLERANCE)
            break;
        if (pass == PASSES_MAX) {
            status = ctx_fail(ctx, DDSC_ERROR_INTERNAL,
                              "a block of %lld vectors did not become orthonormal", (long long)b);
            break;
        }
        TRY(whiten(ctx, u, &n_sound, g, b, values, rows));
        TRY(panel_rotate(ctx, x, b, u, b));
        if (n_sound < b)
            TRY(panel_random(ctx, x, n_sound, b - n_sound, noise));
    }
done:
    mem_free(ctx, work);
    return status;
}
