/* The screen: its bounds hold on every pair, and the graph found through it is the full one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "metric/metric.h"
#include "mmd/mmd.h"
#include "search/prefilter.h"
#include "support.h"

enum { SIDE = 12 };

/* n blurred blobs on a SIDE x SIDE grid; every `repeat`-th is the first again (0: none). */
static measures *blobs(ddsc_context *ctx, int64_t n, int64_t repeat, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 7);
    double table[SIDE * SIDE][2], *rows = calloc((size_t)(n * SIDE * SIDE), sizeof *rows);
    for (int c = 0; c < SIDE * SIDE; c++) {
        table[c][0] = c / SIDE;
        table[c][1] = c % SIDE;
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = rows + i * SIDE * SIDE;
        double x = 3 + 6 * rng_uniform(&r), y = 3 + 6 * rng_uniform(&r), w = 1 + rng_uniform(&r);
        for (int c = 0; c < SIDE * SIDE; c++) {
            double away = pow(table[c][0] - x, 2) + pow(table[c][1] - y, 2);
            row[c] = away < 9 * w ? exp(-away / (2 * w)) * (0.5 + rng_uniform(&r)) : 0;
        }
        if (repeat > 0 && i > 0 && i % repeat == 0)
            memcpy(row, rows, SIDE * SIDE * sizeof *row);
    }
    measures *m = NULL;
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, n, SIDE * SIDE, 2, &table[0][0], rows,
                                                DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(rows);
    return m;
}

static ddsc_metric_settings metric_of(ddsc_metric metric, ddsc_mmd_estimator estimator)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    set.mmd_estimator = estimator;
    set.reference_size = 20;
    return set;
}

/* Bounds of every pair against the double values; how wide are they at most, relative to the mean?
 */
static double check_bounds(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set)
{
    const pair_backend *backend = backend_find(set->metric);
    pair_job job = {.ctx = ctx, .m = m, .set = set, .n_workers = parallel_width(ctx)};
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    pair_screen s = {0};
    void *state = NULL;
    int64_t n = m->n;
    float *start = malloc((size_t)n * sizeof *start);
    double *spread = malloc((size_t)n * sizeof *spread), widest = 0, mean = 0;
    double *d2 = malloc((size_t)(n * n) * sizeof *d2);
    assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_int_equal(backend->open(&state, &job, &stats), DDSC_OK);
    assert_int_equal(backend->screen(state, &s), DDSC_OK);
    assert_true(s.columns > 0);
    assert_int_equal(screen_bounds(ctx, &s, start, spread), DDSC_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            float product = 0;
            for (int64_t k = 0; k < s.columns; k++)
                product += s.rows[i * s.columns + k] * s.rows[j * s.columns + k];
            double low = (double)(start[i] + start[j] - 2 * product);
            assert_true(low <= d2[i * n + j]);
            assert_true(d2[i * n + j] <= low + spread[i] + spread[j]);
            widest = fmax(widest, spread[i] + spread[j]);
            mean += fabs(d2[i * n + j]) / (double)(n * (n - 1) / 2);
        }
    screen_free(ctx, &s);
    backend->close(state);
    free(d2);
    free(spread);
    free(start);
    return widest / mean;
}

static void test_bounds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = blobs(ctx, 150, 10, 1);
    for (int estimator = DDSC_MMD_UNBIASED; estimator <= DDSC_MMD_BIASED; estimator++) {
        ddsc_metric_settings set = metric_of(DDSC_METRIC_MMD, (ddsc_mmd_estimator)estimator);
        assert_true(check_bounds(ctx, m, &set) < 0.05);
    }
    ddsc_metric_settings lot = metric_of(DDSC_METRIC_LOT, DDSC_MMD_UNBIASED);
    assert_true(check_bounds(ctx, m, &lot) < 1e-3);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_graph *graph_of(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                            ddsc_exact_graph how, int64_t tau, ddsc_pair_stats *stats)
{
    ddsc_graph_settings graph_set;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings_init(&graph_set);
    graph_set.exact_graph = how;
    graph_set.tau = tau;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, stats, m, set, &graph_set), DDSC_OK);
    return graph;
}

static void same_graph(const ddsc_graph *a, const ddsc_graph *b, double relative)
{
    assert_memory_equal(a->offset, b->offset, (size_t)(a->n + 1) * sizeof *a->offset);
    assert_memory_equal(a->index, b->index, (size_t)a->offset[a->n] * sizeof *a->index);
    for (int64_t e = 0; e < a->offset[a->n]; e++)
        assert_close(a->d2[e], b->d2[e], relative, 0);
}

/* Even the bits are those of the full search. `least`: the share of pairs spared. */
static void check_graph(int64_t n, int64_t repeat, ddsc_metric metric, ddsc_mmd_estimator estimator,
                        double least)
{
    ddsc_metric_settings set = metric_of(metric, estimator);
    ddsc_context *ctx[3];
    ddsc_graph *found[3];
    for (int t = 0; t < 3; t++)
        ctx[t] = test_context(t + 1, 3);
    measures *m = blobs(ctx[0], n, repeat, 2);
    ddsc_graph *full = graph_of(ctx[0], m, &set, DDSC_GRAPH_FULL, 7, NULL);
    for (int t = 0; t < 3; t++) {
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        found[t] = graph_of(ctx[t], m, &set, DDSC_GRAPH_PRUNED, 7, &stats);
        same_graph(found[t], full, 0);
        assert_true((double)stats.n_solved <= (1 - least) * (double)stats.n_pairs);
        assert_int_equal(stats.n_solved + stats.n_pruned, stats.n_pairs);
    }
    ddsc_graph_destroy(full);
    for (int t = 2; t >= 0; t--) {
        ddsc_graph_destroy(found[t]);
        if (t == 0)
            ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx[t]);
    }
}

static void test_graphs(void **state)
{
    (void)state;
    check_graph(600, 0, DDSC_METRIC_MMD, DDSC_MMD_UNBIASED, 0.9);
    check_graph(600, 0, DDSC_METRIC_MMD, DDSC_MMD_BIASED, 0.9);
    check_graph(600, 0, DDSC_METRIC_LOT, DDSC_MMD_UNBIASED, 0.9);
    /* Seventeen copies of one item: more than a list holds, so these look at everybody. */
    check_graph(600, 37, DDSC_METRIC_MMD, DDSC_MMD_BIASED, 0.3);
    check_graph(600, 37, DDSC_METRIC_LOT, DDSC_MMD_UNBIASED, 0.3);
    /* Every second item a copy: the search takes the full way. */
    check_graph(200, 2, DDSC_METRIC_MMD, DDSC_MMD_BIASED, 0);
    /* Fewer items than a list holds. */
    check_graph(9, 0, DDSC_METRIC_MMD, DDSC_MMD_UNBIASED, 0);
    check_graph(2, 0, DDSC_METRIC_LOT, DDSC_MMD_UNBIASED, 0);
}

/* Items that all but coincide: values are differences of numbers near 1 and small against them.
 * Double sums of n terms keep 1e-15 of the terms; floats would miss the values by a factor. */
static void test_near_items(void **state)
{
    (void)state;
    enum { N = 300, V = SIDE * SIDE };
    ddsc_context *ctx = test_context(2, 0);
    rng r = rng_make(5, RNG_GAUSSIANS, 1);
    double table[V][2], *rows = malloc(N * V * sizeof *rows);
    for (int c = 0; c < V; c++) {
        table[c][0] = c / SIDE;
        table[c][1] = c % SIDE;
        for (int i = 0; i < N; i++)
            rows[i * V + c] = 1 + 1e-5 * rng_normal(&r);
    }
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, N, V, 2, &table[0][0], rows, DDSC_EMPTY_ERROR),
        DDSC_OK);
    ddsc_metric_settings set = metric_of(DDSC_METRIC_MMD, DDSC_MMD_BIASED);
    set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    set.bandwidth = 1.5;
    ddsc_graph *graph = graph_of(ctx, m, &set, DDSC_GRAPH_PRUNED, 5, NULL);
    for (int64_t i = 0; i < N; i += 17)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            const double *a = measures_item(m, i).weight;
            const double *b = measures_item(m, graph->index[e]).weight;
            long double exact = 0;
            for (int p = 0; p < V; p++)
                for (int q = 0; q < V; q++) {
                    double r2 = pow(table[p][0] - table[q][0], 2);
                    r2 += pow(table[p][1] - table[q][1], 2);
                    exact += ((long double)a[p] - b[p]) * ((long double)a[q] - b[q]) *
                             expl(-(long double)r2 / 4.5L);
                }
            assert_true(exact < 1e-10L);
            assert_close(graph->d2[e], (double)exact, 0, 4e-16);
        }
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* Rows far from the origin, on scales floats do not hold, or in few dimensions. */
static void test_vectors(void **state)
{
    (void)state;
    enum { N = 260, D = 40 };
    const double scales[] = {1, 1e-9, 1e9, 1e100, 0};
    ddsc_context *ctx = test_context(2, 0);
    double *rows = malloc(N * D * sizeof *rows);
    for (int k = 0; k < 5; k++) {
        rng r = rng_make(9, RNG_GAUSSIANS, 2);
        for (int p = 0; p < N * D; p++)
            rows[p] = scales[k] * (100 + rng_normal(&r));
        void *vectors = NULL;
        pair_screen s = {0};
        assert_int_equal(vectors_open(ctx, &vectors, N, D, rows), DDSC_OK);
        assert_int_equal(vectors_screen(vectors, &s), DDSC_OK);
        assert_true((s.columns > 0) == (k < 3));
        screen_free(ctx, &s);
        backend_vectors.close(vectors);
        ddsc_graph_settings set;
        ddsc_graph *full = NULL, *found = NULL;
        ddsc_graph_settings_init(&set);
        set.exact_graph = DDSC_GRAPH_FULL;
        assert_int_equal(ddsc_graph_create_from_vectors(ctx, &full, N, D, rows, &set), DDSC_OK);
        set.exact_graph = k < 3 ? DDSC_GRAPH_PRUNED : DDSC_GRAPH_AUTO;
        assert_int_equal(ddsc_graph_create_from_vectors(ctx, &found, N, D, rows, &set), DDSC_OK);
        same_graph(found, full, 0);
        ddsc_graph_destroy(full);
        ddsc_graph_destroy(found);
    }
    free(rows);
    ddsc_context_destroy(ctx);
}

static ddsc_status call_screened(ddsc_context *ctx, void *arg)
{
    const ddsc_metric_settings set = metric_of(*(const ddsc_metric *)arg, DDSC_MMD_UNBIASED);
    ddsc_graph_settings graph_set;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings_init(&graph_set);
    graph_set.exact_graph = DDSC_GRAPH_PRUNED;
    ddsc_context *other = test_context(1, 0);
    measures *m = blobs(other, 60, 0, 4);
    ddsc_status status = ddsc_neighbors_run(ctx, &graph, NULL, m, &set, &graph_set);
    assert_true((graph != NULL) == (status >= 0));
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    for (int k = DDSC_METRIC_MMD; k <= DDSC_METRIC_LOT; k++) {
        ddsc_metric metric = (ddsc_metric)k;
        assert_true(test_failing_allocations(call_screened, &metric) > 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),      cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_near_items),  cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
