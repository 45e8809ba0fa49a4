/* Generates data with known clusters. */
#include <math.h>

#include "data/measures.h"

/* Computes the point at position `at` in [0, 1) on the outline of the square with half-side s. */
static void square_point(double s, double at, double *x)
{
    double t = 4 * at, side = floor(t), u = 2 * (t - side) - 1;
    const double corner[4][4] = {{1, 0, 0, -1}, {0, 1, 1, 0}, {-1, 0, 0, 1}, {0, -1, -1, 0}};
    const double *c = corner[(int)side & 3];
    x[0] = s * (c[0] * u + c[1]);
    x[1] = s * (c[2] * u + c[3]);
}

static void circle_point(double radius, double at, double *x)
{
    x[0] = radius * cos(6.283185307179586476925 * at);
    x[1] = radius * sin(6.283185307179586476925 * at);
}

/* Generates the points of a shape. Each step adds 2% of the initial size. A circle has the same
 * mean squared radius as the square of the same step, whose half-side is 1 / 1.15 of the circle's
 * radius. Items of one shape and similar size are therefore much closer to each other than a square
 * and a circle, but the smallest and largest items of a shape are much farther apart. The noise
 * makes the means of the items differ. */
static void shape_points(rng *r, bool circle, int64_t step, int64_t n, double *x)
{
    double size = 1 + 0.02 * (double)step;
    for (int64_t p = 0; p < n; p++, x += 2) {
        double at = ((double)p + 0.5) / (double)n;
        if (circle)
            circle_point(1.15 * size, at, x);
        else
            square_point(size, at, x);
        x[0] += 0.0005 * rng_normal(r);
        x[1] += 0.0005 * rng_normal(r);
    }
}

/* Allocates labeled clouds of equal size with uniform weights. */
static ddsc_status parts_new(ddsc_context *ctx, measures_parts *p, int64_t n, int64_t n_points,
                             int64_t d)
{
    int64_t total, values;
    if (!mul_ok(n, n_points, &total) || !mul_ok(total, d, &values) || total > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%lld items with %lld points are too many",
                        (long long)n, (long long)n_points);
    *p = (measures_parts){.n = n, .v = total, .nnz = total, .d = d};
    CHECK(MEM_NEW(ctx, p->support, values));
    CHECK(MEM_NEW(ctx, p->offset, n + 1));
    CHECK(MEM_NEW(ctx, p->label, n));
    for (int64_t i = 0; i <= n; i++)
        p->offset[i] = i * n_points;
    return DDSC_OK;
}

ddsc_status ddsc_measures_generate_shapes(ddsc_context *ctx, ddsc_measures **out,
                                          int64_t n_per_shape, int64_t n_points)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    CHECK(ctx_enter_new(ctx, out));
    if (n_per_shape < 1 || n_points < 1 || n_per_shape > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "shapes: %lld items per shape with %lld points are not valid",
                        (long long)n_per_shape, (long long)n_points);
    TRY(parts_new(ctx, &p, 2 * n_per_shape, n_points, 2));
    for (int64_t i = 0; i < p.n; i++) {
        rng r = rng_make(ctx_seed(ctx), RNG_SHAPES, (uint64_t)i);
        bool circle = i >= n_per_shape;
        p.label[i] = circle;
        shape_points(&r, circle, i % n_per_shape, n_points, p.support + 2 * i * n_points);
    }
    TRY(measures_build(ctx, out, &p, DDSC_EMPTY_ERROR, "shapes"));
done:
    measures_parts_free(ctx, &p);
    return status;
}

/* Computes the center of cluster g: `separation` times the digits of g, in a base that gives at
 * least k lattice points. In any dimension, the distance between two centers is therefore at least
 * `separation`. */
static void group_center(double *center, int64_t g, int64_t k, int64_t d, double separation)
{
    int64_t base = (int64_t)ceil(pow((double)k, 1.0 / (double)d) - 1e-9);
    base = BASE_MAX(base, 2);
    for (int64_t c = 0; c < d; c++, g /= base)
        center[c] = separation * (double)(g % base);
}

ddsc_status ddsc_measures_generate_gaussians(ddsc_context *ctx, ddsc_measures **out, int64_t k,
                                             int64_t n_per_group, int64_t n_points, int64_t d,
                                             double separation)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    int64_t n;
    CHECK(ctx_enter_new(ctx, out));
    if (k < 1 || n_per_group < 1 || n_points < 1 || d < 1 || !(fabs(separation) < 1e100) ||
        !mul_ok(k, n_per_group, &n) || k > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "gaussians: %lld clusters of %lld clouds with %lld points in %lld "
                        "dimensions and separation %g are not valid",
                        (long long)k, (long long)n_per_group, (long long)n_points, (long long)d,
                        separation);
    TRY(parts_new(ctx, &p, n, n_points, d));
    for (int64_t i = 0; i < n; i++) {
        rng r = rng_make(ctx_seed(ctx), RNG_GAUSSIANS, (uint64_t)i);
        double *x = p.support + i * n_points * d;
        p.label[i] = (int32_t)(i / n_per_group);
        group_center(x, p.label[i], k, d, separation);
        for (int64_t q = 1; q < n_points; q++)
            for (int64_t c = 0; c < d; c++)
                x[q * d + c] = x[c];
        for (int64_t q = 0; q < n_points * d; q++)
            x[q] += rng_normal(&r);
    }
    TRY(measures_build(ctx, out, &p, DDSC_EMPTY_ERROR, "gaussians"));
done:
    measures_parts_free(ctx, &p);
    return status;
}
