/* Lower bounds of W2^2 never exceed the exact value and are not trivial. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/exact/exact.h"
#include "support.h"

/* ---- sets ---- */

/* Small images on a grid of the given shape and steps. Every third item has few pixels, some only
 * one. */
static measures *random_images(ddsc_context *ctx, int64_t n, int64_t rows, int64_t columns,
                               const double origin[2], const double step[2], uint64_t seed)
{
    int64_t v = rows * columns;
    rng r = rng_make(seed, RNG_GAUSSIANS, 77);
    double *support = malloc((size_t)(2 * v) * sizeof *support);
    double *image = calloc((size_t)(n * v), sizeof *image);
    for (int64_t p = 0; p < v; p++) {
        support[2 * p] = origin[0] + step[0] * (double)(p / columns);
        support[2 * p + 1] = origin[1] + step[1] * (double)(p % columns);
    }
    for (int64_t i = 0; i < n; i++) {
        double *own = image + i * v, share = i % 3 == 0 ? 0.05 : 0.6;
        for (int64_t p = 0; p < v; p++)
            own[p] = rng_uniform(&r) < share ? exp(4 * rng_normal(&r)) : 0;
        own[rng_below(&r, v)] += 1;
    }
    measures *m = NULL;
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, n, v, 2, support, image, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(support);
    free(image);
    return m;
}

/* Returns images of a real set, or NULL. */
static measures *real_images(ddsc_context *ctx, const char *name, int64_t n)
{
    char path[4096];
    measures *all = NULL, *some = NULL;
    int64_t row[256];
    if (!test_data_dir())
        return NULL;
    snprintf(path, sizeof path, "%s/%s/t10k-images-idx3-ubyte.gz", test_data_dir(), name);
    if (ddsc_measures_read(ctx, &all, path, NULL) != DDSC_OK)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        row[i] = i;
    assert_int_equal(ddsc_measures_copy_subset(ctx, &some, all, n, row), DDSC_OK);
    ddsc_measures_destroy(all);
    return some;
}

/* ---- each bound against the exact value ---- */

static double exact_value(exact_solver *solver, const measures *m, int64_t i, int64_t j)
{
    exact_result result;
    ddsc_status status = exact_solve_items(solver, &result, m, i, m, j, 0);
    /* squares below the smallest number are lost, and marked */
    assert_int_equal(status,
                     isinf(result.gap) && result.primal == 0 ? DDSC_NOT_CONVERGED : DDSC_OK);
    return result.primal;
}

static void assert_below(const char *name, double bound, double exact, int64_t i, int64_t j)
{
    if (!(bound <= exact * (1 + 1e-12)))
        fail_msg("%s bound of items %lld and %lld is %.17g, the distance %.17g", name, (long long)i,
                 (long long)j, bound, exact);
}

static double mean_ratio(const double *sum)
{
    return sum[1] > 0 ? sum[0] / sum[1] : 1;
}

typedef double (*pair_bound)(void *bound, int64_t i, int64_t j);

/* Checks that no bound exceeds the exact value. Returns the sum of the bounds divided by the sum of
 * the values, over all pairs i < j. */
static double check_all(ddsc_context *ctx, const measures *m, const char *name, pair_bound of,
                        void *bound)
{
    exact_solver *solver = NULL;
    double sum[2] = {0, 0};
    assert_int_equal(exact_create(ctx, &solver), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++) {
            double exact = exact_value(solver, m, i, j), value = of(bound, i, j);
            assert_below(name, value, exact, i, j);
            sum[0] += fmax(0, value);
            sum[1] += exact;
        }
    exact_destroy(solver);
    return mean_ratio(sum);
}

static double projection_average(void *bound, int64_t i, int64_t j)
{
    const bound_projection *b = bound;
    float value = b->start[i] + b->start[j];
    for (int64_t k = 0; k < b->p; k++)
        value -= 2 * b->row[i * b->p + k] * b->row[j * b->p + k];
    return b->unit2 * (double)value;
}

static double projection_largest(void *bound, int64_t i, int64_t j)
{
    double full = bound_projection_pair(bound, i, j, INFINITY);
    assert_true(bound_projection_pair(bound, i, j, 0.9 * full) >= 0.9 * full);
    return full;
}

static void check_projection(ddsc_context *ctx, const measures *m)
{
    bound_projection bound;
    assert_int_equal(bound_projection_make(ctx, &bound, m, true), DDSC_OK);
    check_all(ctx, m, "projection", projection_average, &bound);
    check_all(ctx, m, "frame", projection_largest, &bound);
    bound_projection_free(ctx, &bound);
}

typedef struct relaxed_with_scratch {
    bound_relaxed bound;
    float *scratch;
} relaxed_with_scratch;

static double relaxed_value(void *bound, int64_t i, int64_t j)
{
    relaxed_with_scratch *b = bound;
    float value;
    bound_relaxed_tile(&b->bound, i, i + 1, j, j + 1, &value, 1, b->scratch);
    return b->bound.unit * (double)value;
}

/* Blocks of seven items share points and products; the bounds are those of single pairs. */
static void check_relaxed_blocks(ddsc_context *ctx, const measures *m, relaxed_with_scratch *single)
{
    enum { SIDE = 7 };
    bound_relaxed blocks;
    assert_int_equal(bound_relaxed_make(ctx, &blocks, m, &ground_sqeuclidean, 0, SIDE), DDSC_OK);
    float *scratch = malloc((size_t)bound_relaxed_scratch(&blocks) * sizeof *scratch);
    float *out = malloc((size_t)m->n * SIDE * sizeof *out);
    for (int64_t j0 = 0; j0 < m->n; j0 += SIDE) {
        int64_t j1 = BASE_MIN(m->n, j0 + SIDE);
        bound_relaxed_tile(&blocks, 0, m->n, j0, j1, out, SIDE, scratch);
        for (int64_t i = 0; i < m->n; i++)
            for (int64_t j = j0; j < j1; j++)
                assert_close(blocks.unit * (double)out[i * SIDE + j - j0],
                             relaxed_value(single, i, j), 1e-4, 1e-4 * blocks.unit);
    }
    free(out);
    free(scratch);
    bound_relaxed_free(ctx, &blocks);
}

static void check_relaxed(ddsc_context *ctx, const measures *m)
{
    relaxed_with_scratch b;
    assert_int_equal(bound_relaxed_make(ctx, &b.bound, m, &ground_sqeuclidean, 0, 1), DDSC_OK);
    b.scratch = malloc((size_t)bound_relaxed_scratch(&b.bound) * sizeof *b.scratch);
    check_all(ctx, m, "relaxed", relaxed_value, &b);
    check_relaxed_blocks(ctx, m, &b);
    free(b.scratch);
    bound_relaxed_free(ctx, &b.bound);
}

static double refined_value(void *bound, int64_t i, int64_t j)
{
    double quick = bound_refined_pair(bound, i, j, INFINITY, 0),
           full = bound_refined_pair(bound, i, j, 1e300, 0);
    double last = bound_refined_last(bound, i, j, 1, 0),
           far = bound_refined_last(bound, i, j, 1e300, 0);
    assert_true(quick >= 0 && full >= 0 && last >= 0 && far >= 0);
    return fmax(fmax(quick, full), fmax(last, far));
}

static double check_refined(ddsc_context *ctx, const measures *m)
{
    bound_refined *bound = NULL;
    assert_true(bound_refined_applies(m));
    assert_int_equal(bound_refined_create(ctx, &bound, m, NULL), DDSC_OK);
    double ratio = check_all(ctx, m, "refined", refined_value, bound);
    bound_refined_destroy(bound);
    return ratio;
}

/* Compares minorants of both items of every pair (i, i + 1) with all other items. */
static void check_cuts(ddsc_context *ctx, const measures *m)
{
    exact_solver *solver = NULL, *other = NULL;
    bound_cut_table table;
    float *potential = malloc((size_t)m->v * sizeof *potential);
    assert_int_equal(exact_create(ctx, &solver), DDSC_OK);
    assert_int_equal(exact_create(ctx, &other), DDSC_OK);
    assert_int_equal(bound_cut_table_make(ctx, &table, m), DDSC_OK);
    for (int64_t i = 0; i + 1 < m->n; i++) {
        exact_value(solver, m, i, i + 1);
        for (int side = 0; side < 2; side++) {
            double constant;
            bound_cut_make(&table, measures_item(m, i + side),
                           side ? exact_g(solver) : exact_f(solver), &constant, potential);
            for (int64_t j = 0; j < m->n; j++) {
                item_view y = measures_item(m, j);
                double bound = constant;
                for (int64_t k = 0; k < y.n; k++)
                    bound += y.weight[k] * (double)potential[y.index[k]];
                if (j != i + side)
                    assert_below("cut", table.unit2 * bound, exact_value(other, m, i + side, j),
                                 i + side, j);
            }
        }
    }
    bound_cut_table_free(ctx, &table);
    exact_destroy(solver);
    exact_destroy(other);
    free(potential);
}

/* ---- tests ---- */

static void test_clouds(void **state)
{
    static const int64_t dims[] = {1, 2, 3, 5, 10, 100};
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        measures *m = test_random_measures(ctx, 25, k % 2 ? 6 : 40, dims[k], 100 + k);
        check_projection(ctx, m);
        check_relaxed(ctx, m);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* A cloud and its translation: the distance equals the shift. The relaxed bound finds it, but the
 * minima of the original costs do not. */
static void test_shift_is_found(void **state)
{
    enum { N = 6, SIZE = 21, D = 20 };
    ddsc_context *ctx = test_context(1, 0);
    rng r = rng_make(7, RNG_GAUSSIANS, 1);
    double points[N * SIZE * D], shape[SIZE * D];
    int64_t offset[N + 1];
    measures *m = NULL;
    relaxed_with_scratch b;
    (void)state;
    for (int64_t k = 0; k < SIZE * D; k++)
        shape[k] = rng_normal(&r);
    for (int64_t i = 0; i <= N; i++)
        offset[i] = SIZE * i;
    for (int64_t p = 0; p < N * SIZE * D; p++)
        points[p] = shape[p % (SIZE * D)] + 0.3 * (double)(p / (SIZE * D));
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, N, D, points, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(bound_relaxed_make(ctx, &b.bound, m, &ground_sqeuclidean, 0, 1), DDSC_OK);
    b.scratch = malloc((size_t)bound_relaxed_scratch(&b.bound) * sizeof *b.scratch);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            double shift2 = D * 0.09 * (double)((j - i) * (j - i));
            assert_close(relaxed_value(&b, i, j), shift2, 1e-3, 1e-3);
        }
    check_relaxed(ctx, m);
    free(b.scratch);
    bound_relaxed_free(ctx, &b.bound);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Clouds large enough to be refined; the dense coupling pads both sides. */
static void test_larger_clouds(void **state)
{
    static const int64_t dims[] = {2, 3, 10, 64};
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++)
        for (int64_t size = 60; size <= 120; size += 30) {
            measures *m = test_random_measures(ctx, 12, size, dims[k], 40 + k);
            double ratio = check_refined(ctx, m);
            if (ratio < 0.7)
                fail_msg("refined bounds in %d dimensions reach %g", (int)dims[k], ratio);
            check_projection(ctx, m);
            ddsc_measures_destroy(m);
        }
    ddsc_context_destroy(ctx);
}

/* Far from the origin, floats have few significant digits, and values may exceed their range. The
 * bounds must remain valid. */
static void test_clouds_far_away(void **state)
{
    static const double origin[] = {1e7, 0, 0, 0, 0}, size[] = {1, 1e-30, 1e40, 1e-170, 1e149};
    ddsc_context *ctx = test_context(1, 0);
    rng r = rng_make(5, RNG_GAUSSIANS, 1);
    enum { N = 10, SIZE = 25 };
    int64_t offset[N + 1];
    double points[N * SIZE * 2];
    (void)state;
    for (int64_t i = 0; i <= N; i++)
        offset[i] = SIZE * i;
    for (int k = 0; k < 5; k++) {
        for (int64_t p = 0; p < N * SIZE * 2; p++)
            points[p] = origin[k] + size[k] * rng_normal(&r);
        measures *m = NULL;
        assert_int_equal(
            ddsc_measures_create_clouds(ctx, &m, N, 2, points, NULL, offset, DDSC_EMPTY_ERROR),
            DDSC_OK);
        check_projection(ctx, m);
        check_relaxed(ctx, m);
        check_refined(ctx, m);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

static void test_images(void **state)
{
    static const struct {
        int64_t rows, columns;
        double origin[2], step[2];
    } grids[] = {
        {6, 6, {0, 0}, {1, 1}},           {12, 5, {-3, 100}, {0.1, 7}},
        {1, 16, {0, 0}, {1, 2}},          {9, 9, {1e6, -1e6}, {1, 1}},
        {5, 64, {0, 0}, {1e-6, 1e-6}},    {3, 3, {0, 0}, {1e8, 1e8}},
        {7, 7, {0, 0}, {1e-30, 1e-30}},   {7, 7, {0, 0}, {1e40, 1e40}},
        {7, 7, {0, 0}, {1e-170, 1e-170}}, {7, 7, {0, 0}, {1e148, 1e148}},
        {40, 2, {0, 0}, {1e-20, 1}},
    };
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        measures *m = random_images(ctx, 20, grids[k].rows, grids[k].columns, grids[k].origin,
                                    grids[k].step, k);
        check_projection(ctx, m);
        check_cuts(ctx, m);
        if (bound_refined_applies(m) && grids[k].step[1] > 1e-100)
            assert_true(check_refined(ctx, m) > 0.5);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* A solve starts from the same potentials whether or not a tight bound was computed before. */
static void test_starts(void **state)
{
    ddsc_context *ctx = test_context(1, 0);
    const double origin[2] = {0, 0}, step[2] = {1, 1};
    measures *m = random_images(ctx, 10, 12, 12, origin, step, 6);
    bound_refined *bound = NULL;
    double fresh[144];
    (void)state;
    assert_int_equal(bound_refined_create(ctx, &bound, m, NULL), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++) {
            size_t size = (size_t)measures_item(m, j).n * sizeof *fresh;
            bound_refined_start(bound, j, i, 0); /* another pair */
            const double *start = bound_refined_start(bound, i, j, 0);
            assert_non_null(start);
            memcpy(fresh, start, size);
            bound_refined_last(bound, j, i, 1e300, 0);
            bound_refined_last(bound, i, j, 1e-3, 0);
            assert_memory_equal(bound_refined_start(bound, i, j, 0), fresh, size);
            bound_refined_pair(bound, i, j, 1e300, 0);
            assert_memory_equal(bound_refined_start(bound, i, j, 0), fresh, size);
        }
    bound_refined_destroy(bound);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Weights over 20 decades overflow single-precision scalings: the bound may be lost but is never
 * wrong. */
static void test_images_of_wild_weights(void **state)
{
    enum { SIDE = 10, N = 12 };
    ddsc_context *ctx = test_context(1, 0);
    rng r = rng_make(9, RNG_GAUSSIANS, 3);
    double support[2 * SIDE * SIDE], image[N * SIDE * SIDE];
    (void)state;
    for (int64_t p = 0; p < SIDE * SIDE; p++) {
        support[2 * p] = (double)(p / SIDE);
        support[2 * p + 1] = (double)(p % SIDE);
    }
    for (int64_t p = 0; p < N * SIDE * SIDE; p++)
        image[p] = exp(46 * (rng_uniform(&r) - 0.5));
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, N, SIDE * SIDE, 2, support, image, DDSC_EMPTY_ERROR),
        DDSC_OK);
    check_refined(ctx, m);
    check_cuts(ctx, m);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The computation of a bound may stop early once it exceeds `enough`, but not before. */
static void test_refinement_stops(void **state)
{
    ddsc_context *ctx = test_context(1, 0);
    const double origin[2] = {0, 0}, step[2] = {1, 1};
    measures *m = random_images(ctx, 12, 14, 14, origin, step, 4);
    bound_refined *bound = NULL;
    (void)state;
    assert_int_equal(bound_refined_create(ctx, &bound, m, NULL), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++) {
            double full = bound_refined_pair(bound, i, j, 1e300, 0);
            assert_true(bound_refined_pair(bound, i, j, 0.9 * full, 0) > 0.9 * full);
            assert_true(bound_refined_pair(bound, i, j, 1e300, 0) == full);
        }
    bound_refined_destroy(bound);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_real_images(void **state)
{
    static const char *const names[] = {"mnist", "fashion-mnist"};
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (int k = 0; k < 2; k++) {
        measures *m = real_images(ctx, names[k], k == 0 ? 60 : 30);
        if (!m) {
            ddsc_context_destroy(ctx);
            skip();
        }
        check_projection(ctx, m);
        double ratio = check_refined(ctx, m);
        if (ratio < 0.9)
            fail_msg("refined bounds of %s reach only %g of the distances", names[k], ratio);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

static ddsc_status make_refined(ddsc_context *ctx, void *arg)
{
    bound_refined *bound = NULL;
    ddsc_status status = bound_refined_create(ctx, &bound, arg, NULL);
    bound_refined_destroy(bound);
    return status;
}

static ddsc_status make_projection(ddsc_context *ctx, void *arg)
{
    bound_projection bound;
    ddsc_status status = bound_projection_make(ctx, &bound, arg, true);
    bound_projection_free(ctx, &bound);
    return status;
}

static void test_failed_allocations(void **state)
{
    ddsc_context *ctx = test_context(1, 0);
    const double origin[2] = {0, 0}, step[2] = {1, 1};
    measures *m = random_images(ctx, 10, 5, 5, origin, step, 2);
    (void)state;
    test_failing_allocations(make_refined, m);
    test_failing_allocations(make_projection, m);
    ddsc_measures_destroy(m);
    m = test_random_measures(ctx, 6, 60, 3, 1);
    test_failing_allocations(make_refined, m);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clouds),
        cmocka_unit_test(test_shift_is_found),
        cmocka_unit_test(test_larger_clouds),
        cmocka_unit_test(test_clouds_far_away),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_images_of_wild_weights),
        cmocka_unit_test(test_refinement_stops),
        cmocka_unit_test(test_real_images),
        cmocka_unit_test(test_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
