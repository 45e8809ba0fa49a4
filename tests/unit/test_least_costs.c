/* Bounds from the table of least costs never exceed relaxed transport in long double, even where
 * rounding is worst, and are close to it. Windows do not change them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/bound/first.h"
#include "distance/bound/least_kernels.h"
#include "support.h"

static const ground_cost euclidean = {.kind = DDSC_COST_EUCLIDEAN};

/* ---- sets ---- */

/* Items of 1 to `most` rows of a shared support. */
static measures *items_of(ddsc_context *ctx, int64_t n, int64_t most, int64_t v, int64_t d,
                          const double *support, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 3);
    double *weight = calloc((size_t)(n * v), sizeof *weight);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = rng_below(&r, most); p >= 0; p--)
            weight[i * v + rng_below(&r, v)] = 0.1 + rng_uniform(&r);
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, n, v, d, support, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    free(weight);
    return m;
}

static measures *gaussian_items(ddsc_context *ctx, int64_t n, int64_t most, int64_t v, int64_t d,
                                double offset, double size)
{
    rng r = rng_make(5, RNG_GAUSSIANS, 4);
    double *support = malloc((size_t)(v * d) * sizeof *support);
    for (int64_t k = 0; k < v * d; k++)
        support[k] = offset + size * rng_normal(&r);
    measures *m = items_of(ctx, n, most, v, d, support, 8);
    free(support);
    return m;
}

/* ---- relaxed transport in long double ---- */

static long double cost_of(const measures *m, bool root, int32_t x, int32_t y)
{
    long double sum = 0;
    for (int64_t k = 0; k < m->d; k++) {
        long double gap = (long double)m->support[x * m->d + k] - m->support[y * m->d + k];
        sum += gap * gap;
    }
    return root ? sqrtl(sum) : sum;
}

/* Moves each point of b to the nearest point of a. Costs are clamped to `most`. */
static long double one_side(const measures *m, bool root, int64_t a, int64_t b, long double most)
{
    item_view x = measures_item(m, a), y = measures_item(m, b);
    long double sum = 0;
    for (int64_t q = 0; q < y.n; q++) {
        long double least = most;
        for (int64_t p = 0; p < x.n; p++)
            least = fminl(least, cost_of(m, root, x.index[p], y.index[q]));
        sum += y.weight[q] * least;
    }
    return sum;
}

static long double both_sides(const measures *m, bool root, int64_t a, int64_t b, long double most)
{
    return fmaxl(one_side(m, root, a, b, most), one_side(m, root, b, a, most));
}

/* ---- checks ---- */

typedef struct table {
    bound_relaxed points;
    bound_least least;
    void *scratch;
    float *low; /* n x n */
} table;

static bool open_table(ddsc_context *ctx, table *t, const measures *m, const ground_cost *g,
                       int64_t bytes)
{
    least_limits limits = {.n_pairs = 1e12, .bytes = bytes};
    bool applies;
    *t = (table){0};
    assert_int_equal(bound_relaxed_make(ctx, &t->points, m, g, 0, 32), DDSC_OK);
    assert_int_equal(bound_least_make(ctx, &t->least, &t->points, &limits, &applies), DDSC_OK);
    if (!applies)
        return false;
    t->scratch = malloc((size_t)bound_least_scratch(&t->least));
    t->low = malloc((size_t)(m->n * m->n) * sizeof *t->low);
    return true;
}

static void close_table(ddsc_context *ctx, table *t)
{
    bound_least_free(ctx, &t->least);
    bound_relaxed_free(ctx, &t->points);
    free(t->scratch);
    free(t->low);
}

/* Computes all tiles, window by window. */
static void fill_table(table *t)
{
    int64_t n = t->points.m->n, side = t->least.side;
    for (int64_t i0 = 0; i0 < n; i0 += side)
        for (int64_t j0 = i0; j0 < n; j0 += side) {
            assert_int_equal(
                bound_least_load(&t->least, i0 / t->least.window, j0 / t->least.window), DDSC_OK);
            bound_least_tile(&t->least, i0, BASE_MIN(n, i0 + side), j0, BASE_MIN(n, j0 + side),
                             t->low + i0 * n + j0, n, t->scratch);
        }
}

/* Returns the bound of a pair i < j, and fails if it exceeds relaxed transport. */
static long double check_valid(const table *t, bool root, int64_t i, int64_t j)
{
    const measures *m = t->points.m;
    long double low = (long double)t->points.unit * t->low[i * m->n + j];
    long double exact = both_sides(m, root, i, j, INFINITY);
    if (i < j && !(low <= exact * (1 + 1e-18L)))
        fail_msg("bound of items %lld and %lld is %.17Lg, relaxed transport %.17Lg", (long long)i,
                 (long long)j, low, exact);
    return low;
}

static void check_set(ddsc_context *ctx, const measures *m, const ground_cost *g)
{
    bool root = g->kind == DDSC_COST_EUCLIDEAN;
    table t;
    assert_true(open_table(ctx, &t, m, g, INT64_MAX));
    fill_table(&t);
    long double step = t.points.unit / t.least.inverse, most = LEAST_MOST * step;
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++)
            assert_true(check_valid(&t, root, i, j) >=
                        both_sides(m, root, i, j, most) * (1 - 1e-3L) - 1.01L * step);
    close_table(ctx, &t);
}

static void test_random_sets(void **state)
{
    ddsc_context *ctx = *state;
    const double offset[] = {0, 1e3, -1e5}, size[] = {1, 1e-3, 1e8};
    for (int k = 0; k < 3; k++) {
        measures *m = gaussian_items(ctx, 90, 9, 40, 10 + 7 * k, offset[k], size[k]);
        check_set(ctx, m, &ground_sqeuclidean);
        check_set(ctx, m, &euclidean);
        ddsc_measures_destroy(m);
    }
}

enum { ROWS = 251, ANCHORS = 1600 };

/* Creates two families of single points, each near its first point, which is far from the mean. The
 * distance from the first point is slightly below a whole number of steps, while the rounding errors
 * of products and coordinates are several times this gap. Without the margin for rounding, many
 * entries of the table are therefore one step too high. Anchors at a distance of LEAST_MOST `scale`
 * from each other determine the median and thus the step. `far` is in units of one step. */
static measures *adversarial(ddsc_context *ctx, bool root, double step, double scale, int64_t d,
                             double far)
{
    rng r = rng_make(9, RNG_GAUSSIANS, 5);
    int64_t v = 2 * ROWS + d, n = 2 * ROWS + ANCHORS;
    double *support = calloc((size_t)(v * d), sizeof *support), *x = malloc((size_t)d * sizeof *x);
    double *weight = calloc((size_t)(n * v), sizeof *weight);
    double size = far * (root ? scale : sqrt(scale)) / sqrt((double)d);
    double diameter = root ? LEAST_MOST * scale : sqrt(LEAST_MOST * scale);
    for (int64_t i = 0; i < 2 * ROWS; i++) {
        double length = 0, cost = fmax(0, ((double)(i % ROWS) - 0.01) * step);
        for (int64_t k = 0; k < d; k++) {
            x[k] = rng_normal(&r);
            length += x[k] * x[k];
        }
        for (int64_t k = 0; k < d; k++)
            support[i * d + k] =
                (i < ROWS ? size : -size) + (root ? cost : sqrt(cost)) * x[k] / sqrt(length);
    }
    for (int64_t k = 0; k < d; k++)
        support[(2 * ROWS + k) * d + k] = diameter / sqrt(2);
    for (int64_t i = 0; i < n; i++)
        weight[i * v + (i < 2 * ROWS ? i : 2 * ROWS + i % d)] = 1;
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, n, v, d, support, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    free(x);
    free(support);
    free(weight);
    return m;
}

static void check_adversarial(ddsc_context *ctx, const ground_cost *g, int64_t d, double far)
{
    bool root = g->kind == DDSC_COST_EUCLIDEAN;
    const double scale = 0.0101;
    table t;
    measures *m = adversarial(ctx, root, scale, scale, d, far);
    assert_true(open_table(ctx, &t, m, g, INT64_MAX));
    double step = t.points.unit / (double)t.least.inverse; /* scale, rounded to a float */
    assert_close(step, scale, 1e-6, 0);
    close_table(ctx, &t);
    ddsc_measures_destroy(m);
    m = adversarial(ctx, root, step, scale, d, far);
    assert_true(open_table(ctx, &t, m, g, INT64_MAX));
    fill_table(&t);
    for (int64_t i = 0; i < 2 * ROWS; i++)
        check_valid(&t, root, i < ROWS ? 0 : ROWS, i);
    close_table(ctx, &t);
    ddsc_measures_destroy(m);
}

static void test_adversarial_rows(void **state)
{
    for (int64_t d = 9; d < 60; d += 25) {
        check_adversarial(*state, &ground_sqeuclidean, d, 300);
        check_adversarial(*state, &euclidean, d, 3000);
    }
}

/* ---- windows ---- */

static void test_windows(void **state)
{
    ddsc_context *ctx = *state;
    measures *m = gaussian_items(ctx, 333, 6, 150, 12, 0, 1);
    for (int k = 0; k < 2; k++) {
        const ground_cost *g = k ? &euclidean : &ground_sqeuclidean;
        table one, many;
        assert_true(open_table(ctx, &one, m, g, INT64_MAX));
        assert_true(open_table(ctx, &many, m, g, 25000));
        assert_int_equal(one.least.n_windows, 1);
        assert_true(many.least.n_windows > 3);
        fill_table(&one);
        fill_table(&many);
        for (int64_t i = 0; i < m->n; i++)
            assert_memory_equal(one.low + i * m->n + i, many.low + i * m->n + i,
                                (size_t)(m->n - i) * sizeof *one.low);
        close_table(ctx, &one);
        close_table(ctx, &many);
    }
    ddsc_measures_destroy(m);
}

/* Sets for which the table does not apply. */
static void test_refusals(void **state)
{
    ddsc_context *ctx = *state;
    const ground_cost city = {.kind = DDSC_COST_CITYBLOCK};
    measures *m = gaussian_items(ctx, 100, 6, 60, 12, 0, 1),
             *equal = gaussian_items(ctx, 100, 6, 60, 12, 1, 0);
    table t;
    assert_false(open_table(ctx, &t, m, &city, INT64_MAX));
    close_table(ctx, &t);
    assert_false(open_table(ctx, &t, m, &ground_sqeuclidean, 1000));
    close_table(ctx, &t);
    assert_false(open_table(ctx, &t, equal, &ground_sqeuclidean, INT64_MAX));
    close_table(ctx, &t);
    ddsc_measures_destroy(m);
    ddsc_measures_destroy(equal);
}

/* ---- single pairs ---- */

static void test_single_pairs(void **state)
{
    ddsc_context *ctx = *state;
    measures *m = gaussian_items(ctx, 60, 40, 90, 21, 0, 1);
    for (int k = 0; k < 2; k++) {
        bound_relaxed b;
        assert_int_equal(bound_relaxed_make(ctx, &b, m, k ? &euclidean : &ground_sqeuclidean, 0, 1),
                         DDSC_OK);
        void *scratch = malloc((size_t)bound_relaxed_scratch(&b));
        for (int64_t i = 0; i < m->n; i++)
            for (int64_t j = i + 1; j < m->n; j++) {
                float tile, single = bound_relaxed_single(&b, i, j, scratch);
                bound_relaxed_tile(&b, i, i + 1, j, j + 1, &tile, 1, scratch);
                assert_close(single, tile, 1e-4, 1e-4);
            }
        free(scratch);
        bound_relaxed_free(ctx, &b);
    }
    ddsc_measures_destroy(m);
}

static int create_context(void **state)
{
    return ddsc_context_create((ddsc_context **)state, NULL) == DDSC_OK ? 0 : -1;
}

static int destroy_context(void **state)
{
    ddsc_context_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sets), cmocka_unit_test(test_adversarial_rows),
        cmocka_unit_test(test_windows), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_single_pairs)};
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
