/* Orthonormal directions: start, projection, ascent (Huang, Ma, Lai 2021, section 4). */
#include "baseline/plane.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum { POWER_ROUNDS = 30 };

static void subtract(double *x, double factor, const double *y, int64_t d)
{
    for (int64_t k = 0; k < d; k++)
        x[k] -= factor * y[k];
}

/* Gram-Schmidt, twice for good measure; what is left of the direction's length. */
static double make_orthogonal(double *u, int64_t at, int64_t d)
{
    double *x = u + at * d, before = la_norm(d, x);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t q = 0; q < at; q++)
            subtract(x, la_dot(d, x, u + q * d), u + q * d, d);
    double after = la_norm(d, x);
    if (!(before > 0) || !(after > 1e-10 * before))
        return 0;
    for (int64_t k = 0; k < d; k++)
        x[k] /= after;
    return after;
}

void plane_orthonormalise(double *u, int64_t p, int64_t d)
{
    for (int64_t q = 0; q < p; q++) {
        int64_t axis = 0;
        while (make_orthogonal(u, q, d) == 0) {
            memset(u + q * d, 0, (size_t)d * sizeof *u);
            u[q * d + axis++] = 1;
        }
    }
}

void plane_project(double *out, const double *u, int64_t p, int64_t d, const double *x)
{
    for (int64_t q = 0; q < p; q++)
        out[q] = la_dot(d, u + q * d, x);
}

ddsc_status plane_principal(ddsc_context *ctx, double *u, int64_t p, const measures *m)
{
    ddsc_status status = DDSC_OK;
    double *mean = NULL, *next = NULL;
    int64_t d = m->d;
    TRY(MEM_ZERO(ctx, mean, d));
    TRY(MEM_NEW(ctx, next, p * d));
    for (int64_t v = 0; v < m->v; v++)
        for (int64_t k = 0; k < d; k++)
            mean[k] += m->support[v * d + k] / (double)m->v;
    memset(u, 0, (size_t)(p * d) * sizeof *u);
    plane_orthonormalise(u, p, d);
    for (int round = 0; round < POWER_ROUNDS && p < d; round++) {
        memset(next, 0, (size_t)(p * d) * sizeof *next);
        for (int64_t v = 0; v < m->v; v++)
            for (int64_t q = 0; q < p; q++) {
                const double *x = m->support + v * d;
                double along = la_dot(d, u + q * d, x) - la_dot(d, u + q * d, mean);
                for (int64_t k = 0; k < d; k++)
                    next[q * d + k] += along * (x[k] - mean[k]);
            }
        memcpy(u, next, (size_t)(p * d) * sizeof *u);
        plane_orthonormalise(u, p, d);
    }
done:
    mem_free(ctx, next);
    mem_free(ctx, mean);
    return status;
}

/* g becomes its tangent part: g_q - sum_r u_r (g_r . u_q + u_r . g_q) / 2. */
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
    plane_orthonormalise(u, p, d);
    return relative;
}
