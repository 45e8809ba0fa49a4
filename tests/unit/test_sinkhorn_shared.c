/* Dense items over one table: against the single solver, alone and together, threads, memory. */
#include <math.h>
#include <stdlib.h>

#include "cost/cost.h"
#include "graph/graph.h"
#include "metric/metric.h"
#include "sinkhorn/shared.h"
#include "support.h"

/* n histograms over v points of d dimensions; `filled` of a hundred points have weight. */
static measures *histograms(ddsc_context *ctx, int64_t n, int64_t v, int64_t d, int64_t filled)
{
    rng r = rng_make(31, RNG_GAUSSIANS, (uint64_t)(v + d));
    double *support = calloc((size_t)(v * d), sizeof *support);
    double *weight = calloc((size_t)(n * v), sizeof *weight);
    int64_t *offset = calloc((size_t)n + 1, sizeof *offset);
    int32_t *index = calloc((size_t)(n * v), sizeof *index);
    measures *m = NULL;
    for (int64_t k = 0; k < v * d; k++)
        support[k] = rng_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = offset[i];
        for (int64_t k = 0; k < v; k++)
            if (rng_below(&r, 100) < filled || (k == v - 1 && at == offset[i])) {
                index[at] = (int32_t)k;
                weight[at++] = 0.01 + rng_uniform(&r) * rng_uniform(&r);
            }
        offset[i + 1] = at;
    }
    assert_int_equal(
        make_shared(ctx, &m, n, v, d, support, offset, index, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    free(support);
    free(weight);
    free(offset);
    free(index);
    return m;
}

static void check_pair(ddsc_context *ctx, sinkhorn_shared *s, const measures *m, double epsilon,
                       const shared_pair *p)
{
    item_view x = measures_item(m, p->i), y = measures_item(m, p->j);
    double *cost = calloc((size_t)(x.n * y.n), sizeof *cost);
    ddsc_transport single;
    cost_items(m, p->i, m, p->j, cost);
    assert_int_equal(call_sinkhorn(ctx, NULL, &single, NULL, NULL, NULL, x.n, y.n, x.weight,
                                   y.weight, cost, epsilon, DDSC_SINKHORN_REGULARISED, 1e-11,
                                   100000),
                     DDSC_OK);
    assert_close(p->found.regularised, single.dual, 1e-9, 1e-10);
    assert_close(p->found.sharp, single.primal, 1e-7, 1e-8);
    assert_true(p->found.marginal_error <= 1e-10);
    /* alone: the same bits */
    shared_pair alone = {.i = p->i, .j = p->j};
    sinkhorn_stop stop = {1e-10, 100000, true};
    sinkhorn_shared_solve(s, &alone, 1, &stop, 0);
    assert_true(alone.solved && alone.found.regularised == p->found.regularised);
    assert_true(alone.found.sharp == p->found.sharp);
    assert_true(alone.found.marginal_error == p->found.marginal_error);
    assert_int_equal(alone.found.iterations, p->found.iterations);
    double bound = sinkhorn_shared_bound(s, p->i, p->j, p->found.regularised, 0);
    assert_true(isfinite(bound) && bound <= p->found.regularised + 1e-9 * epsilon);
    free(cost);
}

static void test_pairs(void **state)
{
    (void)state;
    static const int64_t points[] = {1, 2, 7, 33, 70, 131}, dim[] = {1, 3, 20};
    ddsc_context *ctx = test_context(1, 0);
    sinkhorn_stop stop = {1e-10, 100000, true};
    int64_t n_solved = 0, n_all = 0;
    for (int k = 0; k < 6; k++)
        for (int e = 0; e < 3; e++) {
            int64_t d = dim[(k + e) % 3];
            double epsilon = (double)d * (e == 0 ? 0.1 : e == 1 ? 1 : 10);
            measures *m = histograms(ctx, 9, points[k], d, 85);
            sinkhorn_shared *s = NULL;
            shared_pair pair[36];
            int64_t n = 0;
            assert_int_equal(sinkhorn_shared_make(ctx, &s, m, epsilon, true), DDSC_OK);
            assert_true((s != NULL) == (points[k] > 1)); /* one point: no cost */
            for (int64_t i = 0; i < 9; i++)
                for (int64_t j = i + 1; j < 9; j++)
                    pair[n++] = (shared_pair){.i = i, .j = j};
            if (s)
                sinkhorn_shared_solve(s, pair, n, &stop, 0);
            for (int64_t p = 0; s && p < n; p++) {
                n_all++;
                n_solved += pair[p].solved;
                if (pair[p].solved)
                    check_pair(ctx, s, m, epsilon, &pair[p]);
            }
            sinkhorn_shared_free(s);
            ddsc_measures_destroy(m);
        }
    assert_true((double)n_solved > 0.8 * (double)n_all);
    ddsc_context_destroy(ctx);
}

static void test_applies(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *dense = histograms(ctx, 6, 40, 3, 100), *thin = histograms(ctx, 6, 40, 3, 40);
    sinkhorn_shared *s = NULL;
    assert_true(sinkhorn_shared_applies(dense));
    assert_false(sinkhorn_shared_applies(thin));
    static const double outside[] = {1e-300, 1e-6, 1e6, 1e300};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(sinkhorn_shared_make(ctx, &s, dense, outside[k], false), DDSC_OK);
        assert_null(s);
    }
    /* a cap of two iterations solves nothing */
    sinkhorn_stop stop = {1e-10, 2, false};
    shared_pair pair = {.i = 0, .j = 1};
    assert_int_equal(sinkhorn_shared_make(ctx, &s, dense, 1, false), DDSC_OK);
    sinkhorn_shared_solve(s, &pair, 1, &stop, 0);
    assert_false(pair.solved);
    sinkhorn_shared_free(s);
    ddsc_measures_destroy(dense);
    ddsc_measures_destroy(thin);
    ddsc_context_destroy(ctx);
}

static ddsc_metric_settings settings_of(int value, double percent)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_SINKHORN;
    set.sinkhorn_value = (ddsc_sinkhorn_value)value;
    set.epsilon = percent;
    return set;
}

/* The matrix by tiles, by any number of threads, and pair by pair: equal to the last bit. */
static void test_matrix(void **state)
{
    (void)state;
    enum { N = 21 };
    static double first[N * N], matrix[N * N];
    static const double percent[] = {0.01, 2, 30, 1e6};
    for (int value = 0; value < 3; value++)
        for (int e = 0; e < 4; e++)
            for (int threads = 1; threads <= 3; threads += 2) {
                ddsc_context *ctx = test_context(threads, 3);
                measures *m = histograms(ctx, N, 45, 3, 90);
                ddsc_metric_settings set = settings_of(value, percent[e]);
                ddsc_pair_stats stats = {.struct_size = sizeof stats};
                void *backend = NULL;
                assert_int_equal(ddsc_distance_run(ctx, threads == 1 ? first : matrix, &stats, m,
                                                   &set, DDSC_DISTANCE_SQUARED),
                                 DDSC_OK);
                assert_true(stats.n_not_converged == 0 && stats.max_gap <= set.sinkhorn_tolerance);
                metric_resolved resolved;
                assert_int_equal(metric_resolve(ctx, &resolved, m, &set), DDSC_OK);
                pair_job job = {.ctx = ctx, .m = m, .set = &resolved.set, .n_workers = threads};
                assert_int_equal(metric_sinkhorn.open(&backend, &job, &stats), DDSC_OK);
                for (int64_t k = 0; k + 1 < N; k++) {
                    pair_tile t = {.i0 = k, .i1 = k + 1, .j0 = N - 1, .j1 = N};
                    double d2 = NAN;
                    assert_int_equal(metric_sinkhorn.tile(backend, &t, &d2, 1, 0, &stats), DDSC_OK);
                    assert_true(d2 == first[k * N + N - 1]);
                }
                metric_sinkhorn.close(backend);
                ddsc_measures_destroy(m);
                ddsc_context_destroy(ctx);
                if (threads > 1)
                    assert_memory_equal(first, matrix, sizeof first);
            }
}

/* The pruned graph has the edges of the full one. */
static void test_pruned(void **state)
{
    (void)state;
    enum { N = 60 };
    for (int value = 0; value < 3; value++) {
        ddsc_context *ctx = test_context(2, 3);
        measures *m = histograms(ctx, N, 50, 3, 97);
        ddsc_metric_settings set = settings_of(value, 10);
        ddsc_graph_settings part;
        ddsc_graph *graph[2] = {NULL, NULL};
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        ddsc_graph_settings_init(&part);
        part.tau = 4;
        for (int k = 0; k < 2; k++) {
            part.exact_graph = k == 0 ? DDSC_GRAPH_FULL : DDSC_GRAPH_PRUNED;
            assert_int_equal(ddsc_neighbors_run(ctx, &graph[k], &stats, m, &set, &part), DDSC_OK);
        }
        assert_true(value == DDSC_SINKHORN_SHARP || stats.n_solved < stats.n_pairs);
        assert_memory_equal(graph[0]->index, graph[1]->index, N * 4 * sizeof *graph[0]->index);
        assert_memory_equal(graph[0]->d2, graph[1]->d2, N * 4 * sizeof *graph[0]->d2);
        ddsc_graph_destroy(graph[0]);
        ddsc_graph_destroy(graph[1]);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* Left to itself the search prunes where solves are slow: not far above the costs. */
static void test_auto(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 3);
    measures *m = histograms(ctx, 20, 60, 3, 97);
    for (int value = 0; value < 3; value++)
        for (int large = 0; large < 2; large++) {
            ddsc_metric_settings set = settings_of(value, large ? 300 : 5);
            ddsc_graph *graph = NULL;
            ddsc_pair_stats stats = {.struct_size = sizeof stats};
            assert_int_equal(ddsc_neighbors_run(ctx, &graph, &stats, m, &set, NULL), DDSC_OK);
            assert_true((stats.n_bounds > 0) == !large);
            ddsc_graph_destroy(graph);
        }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* A large table needs tiles that fill the columns as much as a small one. */
static void test_large_table(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 3);
    measures *m = histograms(ctx, 9, 1500, 2, 97);
    ddsc_metric_settings set = settings_of(DDSC_SINKHORN_REGULARISED, 50);
    metric_resolved resolved;
    assert_int_equal(metric_resolve(ctx, &resolved, m, &set), DDSC_OK);
    pair_job job = {.ctx = ctx, .m = m, .set = &resolved.set, .n_workers = 1};
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    pair_shape shape = {0};
    void *backend = NULL;
    assert_int_equal(metric_sinkhorn.open(&backend, &job, &stats), DDSC_OK);
    metric_sinkhorn.shape(backend, &shape);
    assert_true(shape.tile_side * shape.tile_side > 2 * 16);
    metric_sinkhorn.close(backend);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status matrix_once(ddsc_context *ctx, void *arg)
{
    double matrix[36];
    ddsc_metric_settings set = settings_of(DDSC_SINKHORN_SHARP, 20);
    return ddsc_distance_run(ctx, matrix, NULL, arg, &set, DDSC_DISTANCE_SQUARED);
}

static void test_memory(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = histograms(ctx, 6, 40, 3, 95);
    assert_true(test_failing_allocations(matrix_once, m) > 15);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),  cmocka_unit_test(test_applies),
        cmocka_unit_test(test_matrix), cmocka_unit_test(test_pruned),
        cmocka_unit_test(test_auto),   cmocka_unit_test(test_large_table),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
