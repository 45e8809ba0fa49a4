/* Projection of rows to the plane of their largest variance: compared with a dense decomposition,
 * and without a second direction. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "numeric/linalg/linalg.h"
#include "support.h"

/* Creates n rows whose column a has the standard deviation 1 / (1 + a), slightly rotated. */
static double *make_rows(int64_t n, int64_t dim, uint64_t seed)
{
    double *rows = malloc((size_t)(n * dim) * sizeof *rows);
    rng r = rng_make(seed, RNG_GAUSSIANS, 1);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t a = 0; a < dim; a++)
            rows[i * dim + a] = 5 + rng_normal(&r) / (double)(1 + a);
        for (int64_t a = 1; a < dim; a++)
            rows[i * dim + a] += 0.3 * rows[i * dim + a - 1];
    }
    return rows;
}

/* Computes sums of squares and products of the columns around their means, dim x dim. */
static void scatter(double *c, const double *rows, int64_t n, int64_t dim)
{
    double *mean = calloc((size_t)dim, sizeof *mean);
    for (int64_t p = 0; p < n * dim; p++)
        mean[p % dim] += rows[p] / (double)n;
    memset(c, 0, (size_t)(dim * dim) * sizeof *c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < dim * dim; p++)
            c[p] += (rows[i * dim + p / dim] - mean[p / dim]) *
                    (rows[i * dim + p % dim] - mean[p % dim]);
    free(mean);
}

static double between(const double *x, int64_t i, int64_t j, int64_t dim)
{
    return sqrt(la_distance2(dim, x + i * dim, x + j * dim));
}

/* The variances along the two axes are the two leading eigenvalues, and the axes are uncorrelated.
 * No projected distance exceeds the original one. Also tested with more columns than rows. */
static void test_widest(void **state)
{
    (void)state;
    static const int64_t shape[][2] = {{300, 12}, {40, 40}, {30, 200}, {500, 2}};
    ddsc_context *ctx = test_context(2, 0);
    for (int s = 0; s < 4; s++) {
        int64_t n = shape[s][0], dim = shape[s][1];
        double *rows = make_rows(n, dim, (uint64_t)s), seen[4];
        double *xy = malloc((size_t)n * 2 * sizeof *xy);
        double *c = malloc((size_t)(dim * dim) * sizeof *c);
        double *values = malloc((size_t)dim * sizeof *values);
        double *vectors = malloc((size_t)(dim * dim) * sizeof *vectors);
        scatter(c, rows, n, dim);
        assert_int_equal(la_eigen_symmetric(ctx, dim, c, values, vectors), DDSC_OK);
        assert_int_equal(ddsc_project_run(ctx, xy, n, dim, rows), DDSC_OK);
        scatter(seen, xy, n, 2);
        assert_close(seen[0], values[dim - 1], 1e-9, 0);
        assert_close(seen[3], values[dim - 2], 1e-9, 0);
        assert_close(seen[1], 0, 0, 1e-6 * values[dim - 1]);
        for (int64_t i = 0; i < n; i++) {
            double far = between(rows, i, 0, dim), near = between(xy, i, 0, 2);
            assert_true(near <= far * (1 + 1e-12));
            assert_true(dim > 2 || near >= far * (1 - 1e-12));
        }
        free(vectors);
        free(values);
        free(c);
        free(xy);
        free(rows);
    }
    ddsc_context_destroy(ctx);
}

/* Clusters at the corners of a simplex have the same variance in all directions: any two orthogonal
 * directions are correct, and each has the full variance. */
static void test_ties(void **state)
{
    (void)state;
    enum { CORNERS = 8, EACH = 10 };
    ddsc_context *ctx = test_context(1, 0);
    double rows[CORNERS * EACH][CORNERS] = {{0}}, xy[CORNERS * EACH][2], seen[4];
    for (int i = 0; i < CORNERS * EACH; i++)
        rows[i][i % CORNERS] = 1;
    assert_int_equal(ddsc_project_run(ctx, xy[0], CORNERS * EACH, CORNERS, rows[0]), DDSC_OK);
    scatter(seen, xy[0], CORNERS * EACH, 2);
    assert_close(seen[0], EACH, 1e-12, 0);
    assert_close(seen[3], EACH, 1e-12, 0);
    assert_close(seen[1], 0, 0, 1e-12);
    ddsc_context_destroy(ctx);
}

/* Rows along any line have a negligible second coordinate. */
static void test_no_second_direction(void **state)
{
    (void)state;
    enum { MANY = 50 };
    ddsc_context *ctx = test_context(1, 0);
    for (int64_t dim = 1; dim <= 90; dim += dim < 5 ? 1 : 17) {
        double *rows = malloc((size_t)(MANY * dim) * sizeof *rows), xy[2 * MANY], seen[4];
        for (int64_t p = 0; p < MANY * dim; p++)
            rows[p] = 3 + (double)(p / dim) * (double)(p % dim + 1);
        assert_int_equal(ddsc_project_run(ctx, xy, MANY, dim, rows), DDSC_OK);
        scatter(seen, xy, MANY, 2);
        assert_true(seen[0] > 100 && seen[3] <= 1.01e-4 * seen[0]);
        for (int64_t p = 0; p < MANY * dim; p++)
            rows[p] = (double)(p % dim + 1);
        assert_int_equal(ddsc_project_run(ctx, xy, MANY, dim, rows), DDSC_OK);
        scatter(seen, xy, MANY, 2);
        assert_true(seen[0] <= 1e-20 && seen[3] <= 1e-20);
        assert_int_equal(ddsc_project_run(ctx, xy, 1, dim, rows), DDSC_OK);
        assert_true(isfinite(xy[0]) && isfinite(xy[1]));
        free(rows);
    }
    ddsc_context_destroy(ctx);
}

/* Scaling by a power of two, however large or small, is exact. */
static void test_scales(void **state)
{
    (void)state;
    enum { MANY = 60, WIDE = 5 };
    static const int power[] = {490, -400, -960};
    ddsc_context *ctx = test_context(1, 0);
    double *rows = make_rows(MANY, WIDE, 9), scaled[MANY * WIDE], xy[2 * MANY], at[2 * MANY];
    assert_int_equal(ddsc_project_run(ctx, xy, MANY, WIDE, rows), DDSC_OK);
    for (int s = 0; s < 3; s++) {
        for (int p = 0; p < MANY * WIDE; p++)
            scaled[p] = ldexp(rows[p], power[s]);
        assert_int_equal(ddsc_project_run(ctx, at, MANY, WIDE, scaled), DDSC_OK);
        for (int p = 0; p < 2 * MANY; p++)
            assert_true(at[p] == ldexp(xy[p], power[s]));
    }
    free(rows);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    enum { MANY = 2500, WIDE = 33 };
    static double xy[3][2 * MANY];
    double *rows = make_rows(MANY, WIDE, 4);
    for (int t = 0; t < 3; t++) {
        ddsc_context *ctx = test_context(t + 1, (uint64_t)t);
        assert_int_equal(ddsc_project_run(ctx, xy[t], MANY, WIDE, rows), DDSC_OK);
        assert_memory_equal(xy[t], xy[0], sizeof xy[0]);
        ddsc_context_destroy(ctx);
    }
    free(rows);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double rows[] = {0, 1, 5, 6}, xy[8] = {-7};
    assert_int_equal(ddsc_project_run(NULL, xy, 4, 1, rows), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_project_run(ctx, NULL, 4, 1, rows), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_project_run(ctx, xy, 4, 1, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_project_run(ctx, xy, 0, 1, rows), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_project_run(ctx, xy, 4, -1, rows), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_project_run(ctx, xy, INT32_MAX, INT64_MAX / 4, rows),
                     DDSC_ERROR_ARGUMENT);
    rows[3] = NAN;
    assert_int_equal(ddsc_project_run(ctx, xy, 2, 2, rows), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "projection: row 1, column 1 is nan"));
    rows[3] = 1e151;
    assert_int_equal(ddsc_project_run(ctx, xy, 2, 2, rows), DDSC_ERROR_INPUT);
    assert_true(xy[0] == -7);
    ddsc_context_destroy(ctx);
}

static ddsc_status project(ddsc_context *ctx, void *arg)
{
    double xy[80];
    return ddsc_project_run(ctx, xy, 40, 6, arg);
}

static void test_no_memory(void **state)
{
    (void)state;
    double *rows = make_rows(40, 6, 5);
    assert_true(test_failing_allocations(project, rows) >= 5);
    free(rows);
}

static int stop(void *user)
{
    return ++*(int *)user > 20;
}

static void test_cancel(void **state)
{
    (void)state;
    ddsc_context_settings set;
    ddsc_context *ctx;
    double *rows = make_rows(40, 6, 5), xy[80];
    int asked = 0;
    ddsc_context_settings_init(&set);
    set.cancel = stop;
    set.cancel_user = &asked;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    assert_int_equal(ddsc_project_run(ctx, xy, 40, 6, rows), DDSC_ERROR_CANCELED);
    ddsc_context_destroy(ctx);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widest),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_no_second_direction),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
