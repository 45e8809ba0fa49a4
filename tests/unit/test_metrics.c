/* The public calls on pairs, for every metric. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "graph_support.h"
#include "neighbors/metric/metric.h"
#include "support.h"

/* ---- the public calls, every metric ---- */

static ddsc_metric_settings metric_settings(ddsc_metric metric)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    set.sinkhorn_tolerance = 1e-6;
    return set;
}

/* The graph equals that from the full matrix, bit for bit, for 1, 2 and 3 threads. */
static void check_metric(ddsc_metric metric, int64_t n, int64_t points, int64_t dim)
{
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 4);
        measures *m = test_random_measures(ctx, n, points, dim, 77);
        ddsc_metric_settings set = metric_settings(metric);
        ddsc_graph_settings graph_set = graph_settings(7, 1);
        double *d2 = malloc((size_t)(n * n) * sizeof *d2);
        double *half = malloc((size_t)(n * n) * sizeof *half);
        ddsc_pair_stats stats = {.struct_size = sizeof stats}, again = stats;
        ddsc_graph *graph = NULL;
        assert_true(ddsc_distance_run(ctx, d2, &stats, m, &set, DDSC_DISTANCE_SQUARED) >= 0);
        assert_true(ddsc_distance_run(ctx, half, &again, m, &set,
                                      DDSC_DISTANCE_SQUARED | DDSC_DISTANCE_CONDENSED) >= 0);
        assert_true(ddsc_neighbors_run(ctx, &graph, &again, m, &set, &graph_set) >= 0);
        assert_cut(graph, n, 7, d2);
        assert_int_equal(stats.n_pairs, n * (n - 1) / 2);
        assert_int_equal(stats.n_solved, n * (n - 1) / 2);
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++) {
            assert_true(d2[i * n + i] == 0);
            for (int64_t j = i + 1; j < n; j++) {
                assert_true(d2[i * n + j] == d2[j * n + i]);
                assert_true(d2[i * n + j] == half[at++]);
            }
        }
        if (first)
            assert_memory_equal(first, d2, (size_t)(n * n) * sizeof *d2);
        else
            first = memcpy(malloc((size_t)(n * n) * sizeof *d2), d2, (size_t)(n * n) * sizeof *d2);
        ddsc_graph_destroy(graph);
        free(d2);
        free(half);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
    free(first);
}

static void test_metrics(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++) {
        check_metric((ddsc_metric)metric, 23, 6, 2);
        check_metric((ddsc_metric)metric, 37, 9, 20);
    }
}

/* Clouds of few integer points, with ties and zeros. Every fourth cloud is a copy of an earlier
 * one. */
static measures *tied_clouds(ddsc_context *ctx, int64_t n, int64_t dim, uint64_t seed)
{
    enum { POINTS = 4 };
    rng r = rng_make(seed, RNG_GAUSSIANS, 1);
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets), size = POINTS * dim;
    double *points = malloc((size_t)(n * size) * sizeof *points);
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = i * POINTS;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < size; k++)
            points[i * size + k] = i % 4 == 3 ? points[i / 2 * size + k] : (double)rng_below(&r, 4);
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, dim, points, NULL, offsets, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(offsets);
    free(points);
    return m;
}

/* Every search gives the graph from the full matrix, even with ties. */
static void test_ties_and_duplicates(void **state)
{
    (void)state;
    enum { N = 61 };
    const int64_t dims[] = {1, 2, 12}, taus[] = {1, 5, 60};
    ddsc_context *ctx = test_context(2, 0);
    double *d2 = malloc(N * N * sizeof *d2);
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_MMD; metric += 2)
        for (int a = 0; a < 9; a++) {
            measures *m = tied_clouds(ctx, N, dims[a % 3], (uint64_t)a);
            ddsc_metric_settings set = metric_settings((ddsc_metric)metric);
            assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                             DDSC_OK);
            for (int way = DDSC_GRAPH_AUTO; way <= DDSC_GRAPH_PRUNED; way++) {
                ddsc_graph_settings graph_set = graph_settings(taus[a / 3], 1);
                graph_set.exact_graph = (ddsc_exact_graph)way;
                ddsc_graph *graph = NULL;
                if (metric != DDSC_METRIC_W2 && way == DDSC_GRAPH_PRUNED)
                    continue;
                assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, m, &set, &graph_set), 0);
                assert_cut(graph, N, taus[a / 3], d2);
                ddsc_graph_destroy(graph);
            }
            ddsc_measures_destroy(m);
        }
    free(d2);
    ddsc_context_destroy(ctx);
}

static void test_w2_stats(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_random_measures(ctx, 12, 30, 3, 5);
    double *d = malloc(144 * sizeof *d);
    ddsc_metric_settings set = metric_settings(DDSC_METRIC_W2);
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(ddsc_distance_run(ctx, d, &stats, m, &set, 0), DDSC_OK);
    assert_true(stats.max_gap <= 1e-10 && stats.n_iterations > 0 && stats.n_not_converged == 0);
    for (int64_t i = 0; i < 12; i++) /* a metric: the triangle inequality holds */
        for (int64_t j = 0; j < 12; j++)
            for (int64_t k = 0; k < 12; k++)
                assert_true(d[i * 12 + j] <= d[i * 12 + k] + d[k * 12 + j] + 1e-9);
    set.w2_max_pivots = 1;
    assert_int_equal(ddsc_distance_run(ctx, d, &stats, m, &set, 0), DDSC_NOT_CONVERGED);
    assert_true(stats.n_not_converged > 0);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "iteration limit"));
    free(d);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_bad_calls(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 3, 4, 2, 1);
    double out[9] = {0};
    ddsc_graph *graph = NULL;
    assert_int_equal(ddsc_distance_run(NULL, out, NULL, m, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_distance_run(ctx, NULL, NULL, m, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, NULL, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, NULL, 0), DDSC_OK);
    assert_int_equal(ddsc_neighbors_run(NULL, &graph, NULL, m, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_neighbors_run(ctx, NULL, NULL, m, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, NULL, NULL, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_metric_settings mmd = metric_settings(DDSC_METRIC_MMD);
    ddsc_graph_settings pruned = graph_settings(1, 1);
    pruned.exact_graph = DDSC_GRAPH_PRUNED;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, m, &mmd, &pruned), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "mmd has no lower bounds"));
    assert_null(graph);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_memory_without_matrix(void **state)
{
    (void)state;
    for (int metric = 0; metric < 4; metric++) {
        int64_t n = metric == DDSC_METRIC_SINKHORN ? 2000 : 4000;
        ddsc_context *ctx = test_context(2, 0);
        measures *m = test_random_measures(ctx, n, 3, 1, 2);
        ddsc_metric_settings set = metric_settings((ddsc_metric)metric);
        ddsc_graph *graph = NULL;
        assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, m, &set, NULL), DDSC_OK);
        assert_true(ddsc_context_get_peak_memory(ctx) < n * n * 8 / 4);
        ddsc_graph_destroy(graph);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* ---- failed allocations ---- */

static ddsc_status call_distance(ddsc_context *ctx, void *arg)
{
    double out[64];
    const ddsc_metric_settings set = metric_settings(*(const ddsc_metric *)arg);
    ddsc_context *other = test_context(1, 0);
    measures *m = test_random_measures(other, 8, 5, 2, 3);
    ddsc_status status = ddsc_distance_run(ctx, out, NULL, m, &set, 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}

static ddsc_status call_neighbors(ddsc_context *ctx, void *arg)
{
    const ddsc_metric_settings set = metric_settings(*(const ddsc_metric *)arg);
    const ddsc_graph_settings graph_set = graph_settings(2, 0.5);
    ddsc_context *other = test_context(1, 0);
    measures *m = test_random_measures(other, 8, 5, 2, 3);
    return graph_once(ctx, other, m, &set, &graph_set);
}

static ddsc_status call_matrix(ddsc_context *ctx, void *arg)
{
    ddsc_graph *graph = NULL;
    ddsc_status status =
        ddsc_graph_create_from_matrix(ctx, &graph, 3, arg, DDSC_DISTANCE_SQUARED, NULL);
    ddsc_graph_destroy(graph);
    return status;
}

static ddsc_status call_vectors(ddsc_context *ctx, void *arg)
{
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_graph_create_from_vectors(ctx, &graph, 3, 3, arg, NULL);
    ddsc_graph_destroy(graph);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    double zeros[9] = {0};
    for (int k = DDSC_METRIC_W2; k <= DDSC_METRIC_W1; k++) {
        ddsc_metric metric = (ddsc_metric)k;
        assert_true(test_failing_allocations(call_distance, &metric) > 3);
        assert_true(test_failing_allocations(call_neighbors, &metric) > 3);
    }
    assert_true(test_failing_allocations(call_matrix, zeros) > 3);
    assert_true(test_failing_allocations(call_vectors, zeros) > 3);
}

/* Rules are replaced with values only once: resolving again changes nothing, and these values are
 * used. */
static void test_resolved_once(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 4);
    measures *m = test_random_measures(ctx, 25, 9, 3, 5);
    for (int k = DDSC_METRIC_W2; k <= DDSC_METRIC_W1; k++) {
        ddsc_metric_settings set = metric_settings((ddsc_metric)k);
        metric_resolved once, twice;
        ddsc_pair_stats by_rule, by_value;
        ddsc_pair_stats_init(&by_rule);
        ddsc_pair_stats_init(&by_value);
        double rule[25 * 25], value[25 * 25];
        assert_int_equal(metric_resolve(ctx, &once, m, &set), DDSC_OK);
        assert_int_equal(metric_resolve(ctx, &twice, m, &once.set), DDSC_OK);
        assert_true(once.set.epsilon == twice.set.epsilon);
        assert_true(once.set.bandwidth == twice.set.bandwidth);
        assert_true(once.set.reference_measures == twice.set.reference_measures);
        assert_true(once.backend == twice.backend && twice.reference == NULL);
        assert_int_equal(ddsc_distance_run(ctx, rule, &by_rule, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_int_equal(
            ddsc_distance_run(ctx, value, &by_value, m, &once.set, DDSC_DISTANCE_SQUARED), DDSC_OK);
        assert_memory_equal(rule, value, sizeof rule);
        assert_true(by_rule.epsilon == by_value.epsilon);
        assert_true(by_rule.epsilon == (k == DDSC_METRIC_SINKHORN ? once.set.epsilon : 0));
        assert_true(by_rule.bandwidth == (k == DDSC_METRIC_MMD ? once.set.bandwidth : 0));
        assert_true(k != DDSC_METRIC_SINKHORN || !once.set.epsilon_is_percent);
        metric_resolved_free(&twice);
        metric_resolved_free(&once);
    }
    /* All points coincide: every epsilon gives the same result, but one must be chosen. */
    double nowhere[8] = {0};
    int64_t offset[] = {0, 2, 4};
    measures *still = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &still, 2, 2, nowhere, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    ddsc_metric_settings set = metric_settings(DDSC_METRIC_SINKHORN);
    metric_resolved r;
    assert_int_equal(metric_resolve(ctx, &r, still, &set), DDSC_OK);
    assert_true(r.set.epsilon > 0 && isfinite(r.set.epsilon));
    ddsc_measures_destroy(still);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Every run over pairs reports which search it used and why. */
static void test_notes(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 4);
    measures *m = test_random_measures(ctx, 25, 9, 3, 5);
    static const char *const expected[] = {"pruned", "full", "full", "full", "pruned"};
    for (int k = DDSC_METRIC_W2; k <= DDSC_METRIC_W1; k++) {
        ddsc_metric_settings set = metric_settings((ddsc_metric)k);
        const char *stage, *path, *why;
        ddsc_graph *g = NULL;
        bool found = false;
        assert_int_equal(ddsc_neighbors_run(ctx, &g, NULL, m, &set, NULL), DDSC_OK);
        for (int64_t n = 0; ddsc_context_get_note(ctx, n, &stage, &path, &why); n++) {
            assert_true(*stage && *path && *why);
            if (strcmp(stage, "search") == 0) {
                assert_string_equal(path, expected[k]);
                found = true;
            }
        }
        assert_true(found);
        ddsc_graph_destroy(g);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_ties_and_duplicates),
        cmocka_unit_test(test_w2_stats),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_memory_without_matrix),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_resolved_once),
        cmocka_unit_test(test_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
