/* Approximate metrics: random Fourier features, and the linear embedding cut to few components.
 * Each metric reports its error on a sample of pairs, and the tests compare it with the true error.
 * */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/lot/lot.h"
#include "numeric/graph/graph.h"
#include "numeric/linalg/linalg.h"
#include "graph_support.h"

static double *matrix_of(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                         ddsc_pair_stats *stats)
{
    double *d2 = malloc((size_t)(m->n * m->n) * sizeof *d2);
    assert_int_equal(ddsc_distance_run(ctx, d2, stats, m, set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    return d2;
}

static double rms(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t k = 0; k < n * n; k++)
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sqrt(sum / (double)(n * (n - 1)));
}

/* The error decreases as 1 / sqrt(L), and the reported error holds for all pairs. */
static void check_features(ddsc_context *ctx, const measures *m, ddsc_metric_settings set)
{
    double *exact = matrix_of(ctx, m, &set, NULL), last = 1;
    for (int64_t features = 32; features <= 32 * 64; features *= 8) {
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        set.mmd_features = features;
        double *found = matrix_of(ctx, m, &set, &stats);
        double error = rms(m->n, found, exact), largest = 0;
        for (int64_t k = 0; k < m->n * m->n; k++)
            largest = fmax(largest, fabs(found[k] - exact[k]));
        assert_true(error < 2.0 / sqrt((double)features));
        assert_true(error < 0.75 * last); /* 0.35 is expected */
        assert_int_equal(stats.n_features, features);
        assert_int_equal(stats.n_checked, 32 * 31 / 2);
        assert_true(stats.check_median <= stats.check_high && stats.check_high <= stats.check_max);
        assert_true(stats.check_max <= largest + 1e-12);
        assert_true(stats.check_median < 1.5 * error && stats.check_high > 0.8 * error);
        last = error;
        free(found);
    }
    free(exact);
}

static void test_features(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 1);
    measures *m = test_random_measures(ctx, 60, 25, 4, 1);
    for (int kernel = DDSC_KERNEL_GAUSSIAN; kernel <= DDSC_KERNEL_LAPLACE; kernel++)
        for (int estimator = DDSC_MMD_UNBIASED; estimator <= DDSC_MMD_BIASED; estimator++) {
            ddsc_metric_settings set = test_metric(DDSC_METRIC_MMD);
            set.mmd_kernel = (ddsc_mmd_kernel)kernel;
            set.mmd_estimator = (ddsc_mmd_estimator)estimator;
            set.bandwidth_rule = DDSC_BANDWIDTH_MEDIAN;
            check_features(ctx, m, set);
        }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Equal items tie at 0 (biased), far-away data are no worse, threads do not matter. */
static void test_features_are_a_function_of_the_item(void **state)
{
    (void)state;
    enum { N = 40, POINTS = 30, D = 3 };
    double *points = malloc(N * POINTS * D * sizeof *points), *first = NULL;
    int64_t offsets[N + 1];
    rng r = rng_make(3, RNG_GAUSSIANS, 1);
    for (int64_t i = 0; i <= N; i++)
        offsets[i] = i * POINTS;
    for (int p = 0; p < N * POINTS * D; p++)
        points[p] = p >= N / 2 * POINTS * D ? points[p - N / 2 * POINTS * D] : 1e6 + rng_normal(&r);
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 0);
        measures *m = NULL;
        ddsc_metric_settings set = test_metric(DDSC_METRIC_MMD);
        set.mmd_estimator = DDSC_MMD_BIASED;
        set.mmd_features = 101;
        assert_int_equal(
            ddsc_measures_create_clouds(ctx, &m, N, D, points, NULL, offsets, DDSC_EMPTY_ERROR),
            DDSC_OK);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        double *d2 = matrix_of(ctx, m, &set, &stats);
        assert_int_equal(stats.n_features, 102);
        assert_true(stats.check_max < 0.3);
        for (int i = 0; i < N / 2; i++)
            assert_true(d2[i * N + i + N / 2] == 0);
        if (first)
            assert_memory_equal(first, d2, N * N * sizeof *d2);
        else
            first = memcpy(malloc(N * N * sizeof *d2), d2, N * N * sizeof *d2);
        free(d2);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
    free(first);
    free(points);
}

static void test_features_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 3, 4, 2, 1);
    double out[9];
    ddsc_metric_settings set = test_metric(DDSC_METRIC_MMD);
    set.mmd_features = 16;
    set.mmd_kernel = DDSC_KERNEL_ENERGY;
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, &set, 0), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "energy"));
    set.mmd_kernel = DDSC_KERNEL_GAUSSIAN;
    set.mmd_features = -1;
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, &set, 0), DDSC_ERROR_ARGUMENT);
    set.mmd_features = 0;
    set.lot_components = -2;
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, &set, 0), DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Large separate supports: memory use is far below one kernel matrix, exact and approximate. */
static void test_large_clouds(void **state)
{
    (void)state;
    enum { N = 6, POINTS = 5000, D = 4 };
    ddsc_context *ctx = test_context(2, 0);
    measures *m = NULL;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 2, N / 2, POINTS, D, 3), DDSC_OK);
    int64_t before = ddsc_context_get_peak_memory(ctx);
    ddsc_metric_settings set = test_metric(DDSC_METRIC_MMD);
    set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    set.bandwidth = 2;
    double *exact = matrix_of(ctx, m, &set, NULL);
    assert_true(ddsc_context_get_peak_memory(ctx) - before < 16 << 20);
    set.mmd_features = 2000;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    double *near = matrix_of(ctx, m, &set, &stats);
    assert_true(rms(N, near, exact) < 0.05);
    assert_true(stats.n_checked >= 1 && stats.check_max < 0.1);
    free(near);
    free(exact);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- the embedding ---- */

/* Translations of one cloud with equal weights, for which LOT is exact. */
static measures *translates(ddsc_context *ctx, int64_t n, int64_t n_points, int64_t d)
{
    rng r = rng_make(4, RNG_GAUSSIANS, 3);
    double *points = malloc((size_t)(n * n_points * d) * sizeof *points);
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets);
    for (int64_t p = 0; p < n_points * d; p++)
        points[p] = rng_normal(&r);
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t k = 0; k < d; k++) {
            double step = 5 * rng_normal(&r);
            for (int64_t p = 0; p < n_points; p++)
                points[(i * n_points + p) * d + k] = points[p * d + k] + step;
        }
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = i * n_points;
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, d, points, NULL, offsets, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(points);
    free(offsets);
    return m;
}

static void test_lot_error(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *moved = translates(ctx, 30, 12, 3), *any = test_random_measures(ctx, 30, 12, 3, 5);
    ddsc_metric_settings set = test_metric(DDSC_METRIC_LOT);
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    double *z = NULL;
    int64_t columns = 0;
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, &stats, moved, &set), DDSC_OK);
    assert_int_equal(stats.n_checked, 64);
    assert_true(stats.check_max < 1e-9);
    ddsc_release(ctx, z);
    /* Three numbers determine the position of a translation. */
    set.lot_components = 3;
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, &stats, moved, &set), DDSC_OK);
    assert_int_equal(columns, 3);
    assert_int_equal(stats.n_components, 3);
    assert_true(stats.reduction_error < 1e-9 && stats.check_max < 1e-7);
    ddsc_release(ctx, z);
    set.lot_components = 1;
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, &stats, moved, &set), DDSC_OK);
    assert_true(stats.reduction_error > 0.1 && stats.check_max > 0.1);
    ddsc_release(ctx, z);
    set.lot_components = 0;
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, &stats, any, &set), DDSC_OK);
    assert_true(stats.check_median > 1e-3 && stats.n_components == 0);
    ddsc_release(ctx, z);
    ddsc_measures_destroy(any);
    ddsc_measures_destroy(moved);
    ddsc_context_destroy(ctx);
}

/* Compares with the eigenvalues of the covariance: never better than the optimum, and nearly as
 * good. */
static void test_reduction(void **state)
{
    (void)state;
    enum { N = 300, C = 50, KEEP = 6 };
    ddsc_context *ctx = test_context(2, 0);
    rng r = rng_make(1, RNG_GAUSSIANS, 5);
    double *z = malloc(N * C * sizeof *z), mean[C] = {0};
    double cov[C * C] = {0}, values[C], vectors[C * C], all = 0, best = 0;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < C; c++) {
            z[i * C + c] = 100 + rng_normal(&r) / (1 + c);
            mean[c] += z[i * C + c] / N;
        }
    for (int i = 0; i < N; i++)
        for (int a = 0; a < C; a++)
            for (int b = 0; b < C; b++)
                cov[a * C + b] += (z[i * C + a] - mean[a]) * (z[i * C + b] - mean[b]);
    assert_int_equal(la_eigen_symmetric(ctx, C, cov, values, vectors), DDSC_OK);
    for (int c = 0; c < C; c++) {
        all += values[c];
        best += c >= C - KEEP ? values[c] : 0;
    }
    la_principal p = {0};
    assert_int_equal(la_principal_make(ctx, &p, N, C, z, KEEP), DDSC_OK);
    assert_close(p.all, all, 1e-9, 0);
    assert_true(p.kept <= best * (1 + 1e-12));
    assert_close(1 - p.kept / p.all, 1 - best / all, 1e-3, 0);
    for (int i = 1; i < N; i++) /* a projection shortens */
        assert_true(la_distance2(KEEP, p.image, p.image + i * KEEP) <=
                    la_distance2(C, z, z + i * C) * (1 + 1e-9));
    for (int k = 0; k < KEEP; k++) { /* orthonormal, and the image lies along them */
        for (int q = 0; q <= k; q++)
            assert_close(la_dot(C, p.direction + k * C, p.direction + q * C), k == q, 0, 1e-12);
        double along = 0;
        for (int c = 0; c < C; c++)
            along += (z[c] - p.mean[c]) * p.direction[k * C + c];
        assert_close(along, p.image[k], 0, 1e-10);
    }
    la_principal_free(ctx, &p);
    free(z);
    ddsc_context_destroy(ctx);
}

/* ---- approximate neighbors ---- */

static ddsc_graph *neighbors_of(ddsc_context *ctx, const measures *m,
                                const ddsc_metric_settings *set, ddsc_neighbors how,
                                ddsc_pair_stats *stats)
{
    ddsc_graph_settings graph_set;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings_init(&graph_set);
    graph_set.tau = 8;
    graph_set.neighbors = how;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, stats, m, set, &graph_set), DDSC_OK);
    return graph;
}

static double recall_of(const ddsc_graph *found, const ddsc_graph *exact)
{
    int64_t right = 0;
    for (int64_t i = 0; i < exact->n; i++)
        for (int64_t e = exact->offset[i]; e < exact->offset[i + 1]; e++)
            right += found->d2[e] <= exact->d2[exact->offset[i + 1] - 1];
    return (double)right / (double)exact->offset[exact->n];
}

/* Values are those of the metric, recall is high and reported correctly, and threads have no
 * effect. */
static void check_neighbors(const measures *m, const ddsc_metric_settings *set, double least)
{
    ddsc_context *ctx[3];
    ddsc_graph *found[3];
    ddsc_pair_stats stats[3];
    for (int t = 0; t < 3; t++) {
        ctx[t] = test_context(t + 1, 5);
        ddsc_pair_stats_init(&stats[t]);
        found[t] = neighbors_of(ctx[t], m, set, DDSC_NEIGHBORS_APPROXIMATE, &stats[t]);
        size_t edges = (size_t)found[0]->offset[m->n];
        assert_memory_equal(found[t]->index, found[0]->index, edges * sizeof *found[0]->index);
        assert_memory_equal(found[t]->d2, found[0]->d2, edges * sizeof *found[0]->d2);
        assert_true(stats[t].recall == stats[0].recall && stats[t].n_solved == stats[0].n_solved);
    }
    ddsc_pair_stats exact_stats = {.struct_size = sizeof exact_stats};
    ddsc_graph *exact = neighbors_of(ctx[0], m, set, DDSC_NEIGHBORS_EXACT, &exact_stats);
    double recall = recall_of(found[0], exact);
    assert_true(exact_stats.n_recall_rows == 0 && stats[0].n_recall_rows > 0);

    assert_true(recall > least);
    assert_true(fabs(recall - stats[0].recall) < 0.15);
    for (int64_t e = 0; e < exact->offset[m->n]; e++)
        assert_true(found[0]->d2[e] >= exact->d2[e]);
    ddsc_graph_destroy(exact);
    for (int t = 0; t < 3; t++) {
        ddsc_graph_destroy(found[t]);
        ddsc_context_destroy(ctx[t]);
    }
}

static void test_neighbors(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = NULL, *few = NULL;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 4, test_size(500), 12, 3, 4),
                     DDSC_OK);
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &few, 3, 80, 10, 2, 4), DDSC_OK);
    ddsc_metric_settings lot = test_metric(DDSC_METRIC_LOT);
    ddsc_metric_settings mmd = test_metric(DDSC_METRIC_MMD);
    ddsc_metric_settings w2 = test_metric(DDSC_METRIC_W2);
    mmd.mmd_features = 64;
    check_neighbors(m, &lot, 0.95);
    check_neighbors(m, &mmd, 0.9);
    check_neighbors(few, &w2, 0.9); /* its candidates come from LOT and projections */
    mmd.mmd_features = 0;
    check_neighbors(few, &mmd, 0.9);
    ddsc_measures_destroy(few);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_few_items(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    for (int64_t n = 1; n <= 6; n++) {
        measures *m = test_random_measures(ctx, n, 5, 2, 3);
        ddsc_metric_settings set = test_metric(DDSC_METRIC_LOT);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        ddsc_graph *exact = neighbors_of(ctx, m, &set, DDSC_NEIGHBORS_EXACT, NULL);
        ddsc_graph *found = neighbors_of(ctx, m, &set, DDSC_NEIGHBORS_APPROXIMATE, &stats);
        assert_memory_equal(found->index, exact->index,
                            (size_t)exact->offset[n] * sizeof *exact->index);
        ddsc_graph_destroy(exact);
        ddsc_graph_destroy(found);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* ---- failed allocations ---- */

static ddsc_status call_distance(ddsc_context *ctx, void *arg)
{
    ddsc_metric_settings set = test_metric(*(const ddsc_metric *)arg);
    ddsc_context *other = test_context(1, 0);
    measures *m = test_random_measures(other, 8, 5, 2, 3);
    double out[64];
    set.mmd_features = 20;
    set.lot_components = 2;
    ddsc_status status = ddsc_distance_run(ctx, out, NULL, m, &set, 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}

static ddsc_status call_neighbors(ddsc_context *ctx, void *arg)
{
    const ddsc_metric_settings set = test_metric(*(const ddsc_metric *)arg);
    ddsc_graph_settings graph_set;
    ddsc_graph_settings_init(&graph_set);
    graph_set.tau = 3;
    graph_set.neighbors = DDSC_NEIGHBORS_APPROXIMATE;
    ddsc_context *other = test_context(1, 0);
    measures *m = test_random_measures(other, 12, 5, 2, 3);
    return graph_once(ctx, other, m, &set, &graph_set);
}

static void test_allocations(void **state)
{
    (void)state;
    for (int k = DDSC_METRIC_W2; k <= DDSC_METRIC_W1; k++) {
        ddsc_metric metric = (ddsc_metric)k;
        assert_true(test_failing_allocations(call_neighbors, &metric) > 10);
    }
    for (int k = DDSC_METRIC_MMD; k <= DDSC_METRIC_W1; k++) {
        ddsc_metric metric = (ddsc_metric)k;
        assert_true(test_failing_allocations(call_distance, &metric) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_features_are_a_function_of_the_item),
        cmocka_unit_test(test_features_refused),
        cmocka_unit_test(test_large_clouds),
        cmocka_unit_test(test_lot_error),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_neighbors),
        cmocka_unit_test(test_few_items),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
