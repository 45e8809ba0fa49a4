/* Initializes orthonormal directions, projects points onto them, and improves them by gradient
 * ascent (Huang, Ma, Lai 2021, section 4). */
#include "cluster/baseline/plane.h"

#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"

static void subtract(double *x, double factor, const double *y, int64_t d)
{
    for (int64_t k = 0; k < d; k++)
        x[k] -= factor * y[k];
}

/* Orthonormalizes u, which has p directions with d coordinates. Directions that become zero are
 * replaced with coordinate axes. */
static void plane_orthonormalize(double *u, int64_t p, int64_t d)
{
    for (int64_t q = 0; q < p; q++) {
        int64_t axis = 0;
        while (la_orthogonalize(u, q, d) == 0)
            u[q * d + axis++] = 1;
    }
}

void plane_project(double *out, const double *u, int64_t p, int64_t d, const double *x)
{
    for (int64_t q = 0; q < p; q++)
        out[q] = la_dot(d, u + q * d, x);
}

ddsc_status plane_principal(ddsc_context *ctx, double *u, int64_t p, const measures *m)
{
    la_principal found = {0};
    CHECK(la_principal_make(ctx, &found, m->v, m->d, m->support, p));
    memcpy(u, found.direction, (size_t)(p * m->d) * sizeof *u);
    la_principal_free(ctx, &found);
    plane_orthonormalize(u, p, m->d);
    return DDSC_OK;
}

/* Projects g onto the tangent space: g_q - sum_r u_r (g_r . u_q + u_r . g_q) / 2. */
static void take_tangent(double *g, const double *u, int64_t p, int64_t d)
{
    double mixed[64];
    for (int64_t r = 0; r < p; r++)
        for (int64_t q = 0; q < p; q++)
            mixed[r * p + q] =
                (la_dot(d, g + r * d, u + q * d) + la_dot(d, u + r * d, g + q * d)) / 2;
    for (int64_t q = 0; q < p; q++)
        for (int64_t r = 0; r < p; r++)
            subtract(g + q * d, mixed[r * p + q], u + r * d, d);
}

double plane_ascend(double *u, double *g, int64_t p, int64_t d, double step)
{
    double size = la_norm(p * d, g);
    if (!(size > 0))
        return 0;
    take_tangent(g, u, p, d);
    double relative = la_norm(p * d, g) / size;
    subtract(u, -step * sqrt((double)p) / size, g, p * d);
    plane_orthonormalize(u, p, d);
    return relative;
}
