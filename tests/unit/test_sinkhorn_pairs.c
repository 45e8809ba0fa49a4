/* The entropic metric on pairs of items: every entry compared with the single call, the divergence,
 * threads, memory; bounds of documents from soft minima. */
#include <math.h>
#include <stdlib.h>

#include "distance/bound/first.h"
#include "distance/cost/cost.h"
#include "numeric/graph/graph.h"
#include "sinkhorn_support.h"

static const int64_t CAP = 100000;

/* Each entry equals the single call, for both ways of computing costs (few and many dimensions). */
static void check_matrix(ddsc_context *ctx, const measures *m, double percent)
{
    int64_t n = m->n;
    double *matrix = test_zeros(n * n),
           *cost = test_zeros(measures_largest_item(m) * measures_largest_item(m));
    for (int which = 0; which < 2; which++) {
        ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)which, percent);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        assert_int_equal(ddsc_distance_run(ctx, matrix, &stats, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_true(stats.epsilon > 0 && stats.n_not_converged == 0 && stats.n_iterations > 0);
        assert_true(stats.max_gap <= set.sinkhorn_tolerance);
        assert_int_equal(stats.n_solved, n * (n - 1) / 2);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                item_view x = measures_item(m, i), y = measures_item(m, j);
                double value;
                cost_items(m, i, m, j, cost);
                assert_int_equal(call_sinkhorn(ctx, &value, NULL, NULL, NULL, NULL, x.n, y.n,
                                               x.weight, y.weight, cost, stats.epsilon,
                                               (ddsc_sinkhorn_value)which, 1e-9, CAP),
                                 DDSC_OK);
                /* the rows and columns of the problem may be exchanged, and both solves stop at a
                 * marginal error of 1e-9 */
                assert_close(matrix[i * n + j], value, 5e-9, 5e-9 * stats.epsilon);
                assert_true(matrix[i * n + j] == matrix[j * n + i]);
            }
    }
    free(cost);
    free(matrix);
}

static void test_matrix(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3);
    static const int64_t dim[] = {1, 2, 9, 30};
    for (size_t k = 0; k < 4; k++) {
        measures *m = test_random_measures(ctx, 12, 15, dim[k], 40 + k);
        check_matrix(ctx, m, 5);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* A shared vocabulary in many dimensions uses the table of costs. */
static void test_matrix_shared(void **state)
{
    (void)state;
    enum { V = 20, D = 12, N = 30, EACH = 6 };
    double support[V * D], weight[N * EACH];
    int64_t offset[N + 1];
    int32_t index[N * EACH];
    rng r = rng_make(4, RNG_GAUSSIANS, 1);
    for (int k = 0; k < V * D; k++)
        support[k] = rng_normal(&r);
    for (int i = 0; i <= N; i++)
        offset[i] = i * EACH;
    for (int k = 0; k < N * EACH; k++) {
        index[k] = (int32_t)((k % EACH) * 3 + rng_below(&r, 3));
        weight[k] = 0.1 + rng_uniform(&r);
    }
    ddsc_context *ctx = test_context(2, 3);
    measures *m = NULL;
    assert_int_equal(
        make_shared(ctx, &m, N, V, D, support, offset, index, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    check_matrix(ctx, m, 2);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Three copies of one cloud, the last moved: divergence 0 between the copies, positive to the rest,
 * and the squared length of the move for a large epsilon. */
static void test_debiased(void **state)
{
    (void)state;
    enum { N = 10 };
    double points[3 * N * 2], matrix[9];
    int64_t offset[] = {0, N, 2 * N, 3 * N};
    rng r = rng_make(5, RNG_GAUSSIANS, 2);
    for (int k = 0; k < 2 * N; k++) {
        points[k] = points[2 * N + k] = rng_normal(&r);
        points[4 * N + k] = points[k] + (k % 2 ? 0.4 : 0.3);
    }
    ddsc_context *ctx = test_context(1, 3);
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 3, 2, points, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    for (double percent = 0.01; percent <= 1e9; percent *= 10) {
        ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_DEBIASED, percent);
        assert_int_equal(ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_true(matrix[1] == 0);
        assert_close(matrix[2], matrix[5], 1e-12, 0);
        /* for a translation the divergence is the squared move at every epsilon */
        assert_close(matrix[2], 0.25, 1e-7, 0);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_debiased_positive(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3);
    measures *m = test_random_measures(ctx, 15, 12, 2, 77);
    double matrix[15 * 15];
    for (double percent = 0.1; percent <= 1000; percent *= 10) {
        ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_DEBIASED, percent);
        assert_int_equal(ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        for (int i = 0; i < 15; i++)
            for (int j = 0; j < 15; j++)
                assert_true(i == j ? matrix[i * 15 + j] == 0 : matrix[i * 15 + j] > 0);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    double one[40 * 40], two[40 * 40];
    for (int which = 0; which < 3; which++)
        for (int64_t dim = 2; dim <= 30; dim += 28) {
            ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)which, 0.5);
            for (int threads = 1; threads <= 2; threads++) {
                ddsc_context *ctx = test_context(threads, 3);
                measures *m = test_random_measures(ctx, 40, 14, dim, 5);
                assert_int_equal(ddsc_distance_run(ctx, threads == 1 ? one : two, NULL, m, &set, 0),
                                 DDSC_OK);
                ddsc_measures_destroy(m);
                ddsc_context_destroy(ctx);
            }
            assert_memory_equal(one, two, sizeof one);
        }
}

/* Creates n histograms on the same v points. */
static measures *histograms(ddsc_context *ctx, int64_t n, int64_t v)
{
    double *support = test_zeros(v * 3), *weight = test_zeros(n * v);
    rng r = rng_make(31, RNG_GAUSSIANS, 4);
    measures *m = NULL;
    for (int64_t k = 0; k < v * 3; k++)
        support[k] = rng_normal(&r);
    for (int64_t k = 0; k < n * v; k++)
        weight[k] = 0.01 + rng_uniform(&r) * rng_uniform(&r);
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, n, v, 3, support, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    free(support);
    free(weight);
    return m;
}

/* ---- documents ---- */

/* Creates items of 1 to 40 words from a table of 90, in d dimensions, away from the origin. */
static measures *documents(ddsc_context *ctx, int64_t n, int64_t d, double size, double shift)
{
    enum { WORDS = 90 };
    double *support = test_zeros(WORDS * d), *weight = test_zeros(n * WORDS);
    rng r = rng_make(32, RNG_GAUSSIANS, (uint64_t)d);
    measures *m = NULL;
    for (int64_t k = 0; k < WORDS * d; k++)
        support[k] = size * (rng_normal(&r) + 3 * (double)(k / d % 4 == k % d) + shift);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0, words = 1 + (int64_t)rng_below(&r, i % 5 == 0 ? 40 : 12); k < words;
             k++)
            weight[i * WORDS + (i % 4 + 4 * (int64_t)rng_below(&r, 23)) % WORDS] +=
                exp(2 * rng_normal(&r));
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, n, WORDS, d, support, weight, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(support);
    free(weight);
    return m;
}

/* Soft minima: never above the value, and close to it unless epsilon is small. */
static void check_soft(const measures *m, double percent, double least)
{
    int64_t n = m->n;
    double *matrix = test_zeros(n * n), share = 0;
    float low;
    bound_relaxed b;
    ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_REGULARIZED, percent);
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    set.sinkhorn_tolerance = 1e-12;
    assert_true(ddsc_distance_run(m->ctx, matrix, &stats, m, &set, DDSC_DISTANCE_SQUARED) >= 0);
    ground_cost ground = {.kind = DDSC_COST_SQEUCLIDEAN};
    assert_int_equal(bound_relaxed_make(m->ctx, &b, m, &ground, stats.epsilon, n), DDSC_OK);
    float *scratch = malloc((size_t)bound_relaxed_scratch(&b));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            bound_relaxed_tile(&b, i, i + 1, j, j + 1, &low, 1, scratch);
            double bound = b.unit * (double)low, value = matrix[i * n + j];
            if (!(bound <= value * (1 + 1e-9)))
                fail_msg("epsilon %g%%: bound %.17g, value %.17g", percent, bound, value);
            share += fmax(bound, 0) / value / (double)(n * (n - 1) / 2);
        }
    if (share < least)
        fail_msg("epsilon %g%%: bounds are %.3f of the values", percent, share);
    free(scratch);
    bound_relaxed_free(m->ctx, &b);
    free(matrix);
}

static void test_soft_bounds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 3);
    int64_t d[] = {9, 30, 100};
    double size[] = {1, 1e-6, 1e6}, shift[] = {0, 0, 30};
    for (int k = 0; k < 3; k++) {
        measures *m = documents(ctx, 24, d[k], size[k], shift[k]);
        check_soft(m, 0.3, 0);
        check_soft(m, 5, 0.9);
        check_soft(m, 30, 0.97);
        check_soft(m, 1000, 0.98);
        check_soft(m, 1e6, 0);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* The pruned graph of documents equals the graph of all pairs, for every value and bound and any
 * number of threads. */
static void test_documents(void **state)
{
    (void)state;
    for (int k = 0; k < 15; k++) {
        ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)(k % 3),
                                                     (double[]){0.5, 5, 20, 300, 1e6}[k / 3]);
        ddsc_context *ctx[3];
        ddsc_graph *graph[3] = {NULL, NULL, NULL};
        ddsc_graph_settings part;
        ddsc_pair_stats stats;
        ddsc_graph_settings_init(&part);
        ddsc_pair_stats_init(&stats);
        part.tau = 6;
        set.sinkhorn_tolerance = 1e-6;
        for (int which = 0; which < 3; which++) {
            ctx[which] = test_context(which == 2 ? 2 : 1, 3);
            measures *m = documents(ctx[which], 300, 20, 1, 0);
            part.exact_graph = which == 0 ? DDSC_GRAPH_FULL : DDSC_GRAPH_AUTO;
            assert_true(ddsc_neighbors_run(ctx[which], &graph[which], &stats, m, &set, &part) >= 0);
            assert_true((stats.n_bounds > 0) == (which > 0 && k % 3 != DDSC_SINKHORN_SHARP));
            assert_true(stats.n_bounds == 0 || stats.n_solved < stats.n_pairs / 2);
            assert_memory_equal(graph[0]->index, graph[which]->index, 300 * 6 * sizeof(int32_t));
            assert_memory_equal(graph[0]->d2, graph[which]->d2, 300 * 6 * sizeof(double));
            ddsc_measures_destroy(m);
        }
        for (int which = 0; which < 3; which++) {
            ddsc_graph_destroy(graph[which]);
            ddsc_context_destroy(ctx[which]);
        }
    }
}

/* By default, the search prunes if solves are slow, that is, unless epsilon is far above the costs.
 * The edges are always those of the matrix. */
static void test_auto(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 3);
    measures *m = histograms(ctx, 20, 60);
    for (int value = 0; value < 3; value++)
        for (int large = 0; large < 2; large++) {
            ddsc_metric_settings set =
                sinkhorn_settings((ddsc_sinkhorn_value)value, large ? 300 : 5);
            ddsc_graph_settings part;
            ddsc_graph *graph[2] = {NULL, NULL};
            ddsc_pair_stats stats;
            ddsc_graph_settings_init(&part);
            ddsc_pair_stats_init(&stats);
            for (int k = 0; k < 2; k++) {
                part.exact_graph = k == 0 ? DDSC_GRAPH_FULL : DDSC_GRAPH_AUTO;
                assert_int_equal(ddsc_neighbors_run(ctx, &graph[k], &stats, m, &set, &part),
                                 DDSC_OK);
            }
            assert_true((stats.n_bounds > 0) == !large);
            int64_t n_edges = graph[0]->offset[m->n];
            assert_int_equal(n_edges, graph[1]->offset[m->n]);
            assert_memory_equal(graph[0]->index, graph[1]->index,
                                (size_t)n_edges * sizeof *graph[0]->index);
            assert_memory_equal(graph[0]->d2, graph[1]->d2, (size_t)n_edges * sizeof *graph[0]->d2);
            ddsc_graph_destroy(graph[0]);
            ddsc_graph_destroy(graph[1]);
        }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* All or most points are equal: epsilon must still be found, and values must be correct. */
static void test_coinciding_points(void **state)
{
    (void)state;
    double points[] = {1, 2, 1, 2, 1, 2}, matrix[9];
    int64_t offset[] = {0, 1, 2, 3};
    ddsc_context *ctx = test_context(1, 0);
    for (int which = 0; which < 3; which++) {
        ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)which, 5);
        measures *m = NULL;
        assert_int_equal(
            ddsc_measures_create_clouds(ctx, &m, 3, 2, points, NULL, offset, DDSC_EMPTY_ERROR),
            DDSC_OK);
        assert_int_equal(ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        for (int k = 0; k < 9; k++)
            assert_true(matrix[k] == 0);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

static void test_cap(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_random_measures(ctx, 8, 20, 2, 3);
    ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_REGULARIZED, 0.01);
    set.sinkhorn_max_iterations = 2;
    check_cap(ctx, m, &set);
}

static ddsc_status matrix_once(ddsc_context *ctx, void *arg)
{
    int64_t dim = *(const int64_t *)arg;
    double matrix[25], points[5 * 4 * 30];
    int64_t offset[6];
    for (int i = 0; i <= 5; i++)
        offset[i] = 4 * i;
    rng r = rng_make(8, RNG_GAUSSIANS, 3);
    for (int64_t k = 0; k < 20 * dim; k++)
        points[k] = rng_normal(&r);
    measures *m = NULL;
    ddsc_status status =
        ddsc_measures_create_clouds(ctx, &m, 5, dim, points, NULL, offset, DDSC_EMPTY_ERROR);
    ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_DEBIASED, 1);
    if (status >= 0)
        status = ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED);
    ddsc_measures_destroy(m);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    int64_t dim[] = {2, 30};
    assert_true(test_failing_allocations(matrix_once, &dim[0]) > 10);
    assert_true(test_failing_allocations(matrix_once, &dim[1]) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),    cmocka_unit_test(test_matrix_shared),
        cmocka_unit_test(test_debiased),  cmocka_unit_test(test_debiased_positive),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_coinciding_points),
        cmocka_unit_test(test_auto),      cmocka_unit_test(test_cap),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_soft_bounds),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
