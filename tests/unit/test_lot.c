/* Properties of linear optimal transport: the reference at 0, translations, maps, permutations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/lot/lot.h"
#include "numeric/linalg/linalg.h"
#include "support.h"

static ddsc_metric_settings lot_settings(ddsc_reference_rule rule)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_LOT;
    set.reference_rule = rule;
    return set;
}

static measures *clouds(ddsc_context *ctx, int64_t n, int64_t each, int64_t d, const double *points,
                        const double *weights)
{
    int64_t *offset = calloc((size_t)n + 1, sizeof *offset);
    for (int64_t i = 0; i <= n; i++)
        offset[i] = i * each;
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, d, points, weights, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(offset);
    return m;
}

static double *embed(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                     int64_t *columns, ddsc_pair_stats *stats)
{
    double *z = NULL;
    if (stats)
        ddsc_pair_stats_init(stats);
    ddsc_status status = ddsc_embed_run(ctx, &z, columns, stats, m, set);
    if (status != DDSC_OK)
        fail_msg("embedding: %s", ddsc_context_get_message(ctx));
    return z;
}

/* The reference itself is at the origin for any weights. */
static void test_reference_is_origin(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 1);
    measures *m = test_random_measures(ctx, 6, 9, 3, 4);
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_MEASURES);
    set.reference_measures = m;
    int64_t columns;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    double *z = embed(ctx, m, &set, &columns, &stats);
    assert_int_equal(columns, measures_item(m, 0).n * 3);
    assert_int_equal(stats.reference_size, measures_item(m, 0).n);
    assert_int_equal(stats.n_solved, 6);
    assert_true(stats.max_gap <= 1e-10);
    assert_close(la_norm(columns, z), 0, 0, 1e-12);
    ddsc_release(ctx, z);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Uniform clouds of the reference's size: the plan is a map, and |z_i| = W2(reference, item). */
static void test_norm_is_w2(void **state)
{
    (void)state;
    enum { N = 8, EACH = 12, D = 2 };
    double points[N * EACH * D], w2[N * N];
    rng r = rng_make(2, RNG_GAUSSIANS, 5);
    for (int k = 0; k < N * EACH * D; k++)
        points[k] = rng_normal(&r) + 0.2 * (k / (EACH * D));
    ddsc_context *ctx = test_context(1, 1);
    measures *m = clouds(ctx, N, EACH, D, points, NULL);
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_MEASURES);
    set.reference_measures = m;
    int64_t columns;
    double *z = embed(ctx, m, &set, &columns, NULL);
    assert_int_equal(ddsc_distance_run(ctx, w2, NULL, m, NULL, 0), DDSC_OK);
    for (int i = 0; i < N; i++)
        assert_close(la_norm(columns, z + i * columns), w2[i], 1e-9, 1e-12);
    /* and the LOT distance is never below W2 when both plans are maps */
    double lot[N * N];
    assert_int_equal(ddsc_distance_run(ctx, lot, NULL, m, &set, 0), DDSC_OK);
    for (int k = 0; k < N * N; k++)
        assert_true(lot[k] >= w2[k] - 1e-9);
    ddsc_release(ctx, z);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* |z_i| <= W2: the projection averages. */
static void test_norm_at_most_w2(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 1);
    measures *m = test_random_measures(ctx, 10, 14, 2, 9);
    double w2[100];
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_MEASURES);
    set.reference_measures = m;
    int64_t columns;
    double *z = embed(ctx, m, &set, &columns, NULL);
    assert_int_equal(ddsc_distance_run(ctx, w2, NULL, m, NULL, 0), DDSC_OK);
    for (int i = 0; i < 10; i++)
        assert_true(la_norm(columns, z + i * columns) <= w2[i] + 1e-9);
    ddsc_release(ctx, z);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The distance between translations of one cloud equals the distance of their shifts, for every
 * reference. */
static void test_translations(void **state)
{
    (void)state;
    enum { N = 5, EACH = 10, D = 3 };
    double points[N * EACH * D], weights[N * EACH], lot[N * N];
    rng r = rng_make(3, RNG_GAUSSIANS, 6);
    for (int k = 0; k < EACH * D; k++)
        points[k] = rng_normal(&r);
    for (int p = 0; p < N * EACH; p++)
        weights[p] = p < EACH ? 0.1 + rng_uniform(&r) : weights[p - EACH];
    for (int k = EACH * D; k < N * EACH * D; k++)
        points[k] = points[k % (EACH * D)] + (k / (EACH * D)) * (1 + k % D);
    ddsc_context *ctx = test_context(2, 1);
    measures *m = clouds(ctx, N, EACH, D, points, weights);
    for (int rule = 0; rule < 3; rule++) {
        ddsc_metric_settings set = lot_settings((ddsc_reference_rule)rule);
        set.reference_measures = m;
        assert_int_equal(ddsc_distance_run(ctx, lot, NULL, m, &set, 0), DDSC_OK);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                assert_close(lot[i * N + j], abs(i - j) * sqrt(1.0 + 4 + 9), 1e-9, 0);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The order of an item's points does not matter; equal items are at distance exactly 0. */
static void test_permutation(void **state)
{
    (void)state;
    enum { EACH = 11, D = 2 };
    double points[3 * EACH * D], lot[9];
    rng r = rng_make(4, RNG_GAUSSIANS, 7);
    for (int k = 0; k < 3 * EACH * D; k++)
        points[k] = rng_normal(&r);
    for (int p = 0; p < EACH; p++)
        for (int k = 0; k < D; k++)
            points[(EACH + p) * D + k] = points[(EACH - 1 - p) * D + k];
    ddsc_context *ctx = test_context(1, 1);
    measures *m = clouds(ctx, 3, EACH, D, points, NULL);
    for (int rule = 0; rule < 2; rule++) {
        ddsc_metric_settings set = lot_settings((ddsc_reference_rule)rule);
        assert_int_equal(ddsc_distance_run(ctx, lot, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_true(lot[1] == 0 && lot[2] > 0);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The distances of the metric equal the distances between the rows. */
static void test_distance_of_rows(void **state)
{
    (void)state;
    enum { N = 70 };
    ddsc_context *ctx = test_context(2, 5);
    measures *m = test_random_measures(ctx, N, 9, 2, 14);
    double *lot = calloc(N * N, sizeof *lot);
    for (int rule = 0; rule < 2; rule++) {
        ddsc_metric_settings set = lot_settings((ddsc_reference_rule)rule);
        set.reference_size = rule == 0 ? 0 : 7;
        int64_t columns;
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        double *z = embed(ctx, m, &set, &columns, &stats);
        int64_t size = rule == 0 ? (m->nnz + N / 2) / N : 7;
        assert_int_equal(stats.reference_size, size);
        assert_int_equal(columns, 2 * size);
        assert_int_equal(ddsc_distance_run(ctx, lot, &stats, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_int_equal(stats.n_solved, N * (N - 1) / 2);
        assert_int_equal(stats.reference_size, size);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++)
                assert_close(lot[i * N + j],
                             la_distance2(columns, z + i * columns, z + j * columns), 1e-11, 0);
        ddsc_release(ctx, z);
    }
    free(lot);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* A row of the embedding depends on its item only, bit for bit, and not on the order of its points or
 * on the other items of the set. Items share points, so the numbers of the points differ, too. */
static void test_rows_of_shuffled_sets(void **state)
{
    (void)state;
    enum { N = 12, EACH = 30, D = 5, POOL = 100, SIZE = N * EACH * D };
    double *points = calloc(SIZE, sizeof *points), *moved = calloc(SIZE, sizeof *moved);
    double weight[N * EACH], moved_weight[N * EACH], pool[POOL * D];
    rng r = rng_make(4, RNG_GAUSSIANS, 9);
    for (int k = 0; k < POOL * D; k++)
        pool[k] =
            k % D == 0 ? (double)rng_below(&r, 3) : rng_normal(&r); /* equal first coordinates */
    for (int p = 0; p < N * EACH; p++) {
        int64_t from = (p % EACH) * 3 + rng_below(&r, 3), i = p / EACH;
        int64_t to =
            (N - 1 - i) * EACH + (7 * p + 3) % EACH; /* last item first, points in another order */
        weight[p] = moved_weight[to] = 1 + (double)rng_below(&r, 4);
        memcpy(points + p * D, pool + from * D, D * sizeof *points);
        memcpy(moved + to * D, pool + from * D, D * sizeof *points);
    }
    ddsc_context *ctx = test_context(2, 3);
    measures *reference = test_random_measures(ctx, 1, 40, D, 4);
    measures *m = clouds(ctx, N, EACH, D, points, weight),
             *other = clouds(ctx, N, EACH, D, moved, moved_weight);
    assert_true(m->v <= POOL && memcmp(m->support, other->support, (size_t)(m->v * D)) != 0);
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_MEASURES);
    set.reference_measures = reference;
    int64_t columns;
    double *z = embed(ctx, m, &set, &columns, NULL), *y = embed(ctx, other, &set, &columns, NULL);
    for (int i = 0; i < N; i++)
        assert_memory_equal(z + i * columns, y + (N - 1 - i) * columns,
                            (size_t)columns * sizeof *z);
    ddsc_release(ctx, z);
    ddsc_release(ctx, y);
    ddsc_measures_destroy(m);
    ddsc_measures_destroy(other);
    ddsc_measures_destroy(reference);
    ddsc_context_destroy(ctx);
    free(points);
    free(moved);
}

/* Mean and scale of a large normal reference are those of the pooled points. */
static void test_normal_reference(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 11);
    measures *m = test_random_measures(ctx, 50, 20, 2, 15);
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_NORMAL);
    set.reference_size = 4000;
    measures *reference = NULL;
    assert_int_equal(lot_reference_make(ctx, &reference, m, &set), DDSC_OK);
    for (int64_t k = 0; k < 2; k++) {
        double mean[2] = {0, 0}, square[2] = {0, 0};
        const measures *set_of[2] = {m, reference};
        for (int w = 0; w < 2; w++)
            for (int64_t p = 0; p < set_of[w]->nnz; p++) {
                double share = set_of[w]->weight[p] / (double)set_of[w]->n;
                double x = measures_point(set_of[w], set_of[w]->index[p])[k];
                mean[w] += share * x;
                square[w] += share * x * x;
            }
        double scale = sqrt(square[0] - mean[0] * mean[0]);
        assert_close(mean[1], mean[0], 0, 5 * scale / sqrt(4000));
        assert_close(sqrt(square[1] - mean[1] * mean[1]), scale, 0.06, 0);
    }
    ddsc_measures_destroy(reference);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Points in tight groups: with as many centers as groups, each center is the mean of a group. */
static void test_kmeans_reference(void **state)
{
    (void)state;
    enum { N = 6, EACH = 200, D = 10, GROUPS = 4 };
    double *points = calloc(N * EACH * D, sizeof *points);
    rng r = rng_make(6, RNG_GAUSSIANS, 8);
    for (int p = 0; p < N * EACH; p++)
        for (int k = 0; k < D; k++)
            points[p * D + k] = (k == p % GROUPS ? 10 : 0) + 0.01 * rng_normal(&r);
    ddsc_context *ctx = test_context(2, 1);
    measures *m = clouds(ctx, N, EACH, D, points, NULL), *reference = NULL;
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_KMEANS);
    set.reference_size = GROUPS;
    assert_int_equal(lot_reference_make(ctx, &reference, m, &set), DDSC_OK);
    assert_int_equal(reference->nnz, GROUPS);
    for (int c = 0; c < GROUPS; c++) {
        double best = INFINITY, corner[D] = {0};
        corner[c] = 10;
        for (int q = 0; q < GROUPS; q++)
            best = fmin(best, la_distance2(D, corner, reference->support + q * D));
        assert_true(best < 1e-3);
    }
    ddsc_measures_destroy(reference);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
    free(points);
}

static void test_threads(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        double *z[2];
        int64_t columns[2];
        ddsc_pair_stats stats[2];
        ddsc_context *ctx[2];
        for (int k = 0; k < 2; k++) {
            ctx[k] = test_context(k + 1, 21);
            measures *m = test_random_measures(ctx[k], 60, 15, 10, 5);
            ddsc_metric_settings set = lot_settings((ddsc_reference_rule)rule);
            z[k] = embed(ctx[k], m, &set, &columns[k], &stats[k]);
            ddsc_measures_destroy(m);
        }
        assert_int_equal(columns[0], columns[1]);
        assert_int_equal(stats[0].n_iterations, stats[1].n_iterations);
        assert_memory_equal(z[0], z[1], (size_t)(60 * columns[0]) * sizeof(double));
        for (int k = 0; k < 2; k++) {
            ddsc_release(ctx[k], z[k]);
            ddsc_context_destroy(ctx[k]);
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 4, 5, 2, 1),
             *other = test_random_measures(ctx, 2, 5, 3, 1);
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_MEASURES);
    double *z = NULL, matrix[16];
    int64_t columns = -1;
    assert_int_equal(ddsc_embed_run(NULL, &z, &columns, NULL, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_embed_run(ctx, NULL, &columns, NULL, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_embed_run(ctx, &z, NULL, NULL, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, NULL, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, NULL, m, &set), DDSC_ERROR_ARGUMENT);
    set.reference_measures = other;
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, NULL, m, &set), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "dimensions"));
    assert_int_equal(ddsc_distance_run(ctx, matrix, NULL, m, &set, 0), DDSC_ERROR_ARGUMENT);
    assert_null(z);
    ddsc_measures_destroy(m);
    ddsc_measures_destroy(other);
    ddsc_context_destroy(ctx);
}

/* If the pivot limit is reached, it is reported, and the rows are still returned. */
static void test_cap(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 3, 40, 2, 6);
    ddsc_metric_settings set = lot_settings(DDSC_REFERENCE_NORMAL);
    set.w2_max_pivots = 1;
    set.reference_size = 30;
    double *z = NULL;
    int64_t columns;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, &stats, m, &set), DDSC_NOT_CONVERGED);
    assert_true(stats.n_not_converged > 0 && stats.max_gap > 1e-10);
    assert_non_null(z);
    ddsc_release(ctx, z);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status embed_once(ddsc_context *ctx, void *arg)
{
    double points[4 * 5 * 2];
    int64_t offset[] = {0, 5, 10, 15, 20}, columns;
    rng r = rng_make(9, RNG_GAUSSIANS, 3);
    for (int k = 0; k < 40; k++)
        points[k] = rng_normal(&r);
    measures *m = NULL;
    double *z = NULL, matrix[16];
    ddsc_status status =
        ddsc_measures_create_clouds(ctx, &m, 4, 2, points, NULL, offset, DDSC_EMPTY_ERROR);
    ddsc_metric_settings set = lot_settings(*(const ddsc_reference_rule *)arg);
    set.reference_measures = m;
    if (status >= 0)
        status = ddsc_embed_run(ctx, &z, &columns, NULL, m, &set);
    if (status >= 0)
        status = ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED);
    ddsc_release(ctx, z);
    ddsc_measures_destroy(m);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    for (int rule = 0; rule < 3; rule++) {
        ddsc_reference_rule given = (ddsc_reference_rule)rule;
        assert_true(test_failing_allocations(embed_once, &given) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_is_origin),
        cmocka_unit_test(test_norm_is_w2),
        cmocka_unit_test(test_norm_at_most_w2),
        cmocka_unit_test(test_translations),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_distance_of_rows),
        cmocka_unit_test(test_rows_of_shuffled_sets),
        cmocka_unit_test(test_normal_reference),
        cmocka_unit_test(test_kmeans_reference),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
