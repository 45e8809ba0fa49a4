/* New items against known ones: the same values, neighbours and embedding as in one set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { KNOWN = 37, ALL = 60 };

static ddsc_metric_settings metric_settings(ddsc_metric metric)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    return set;
}

static double *full_matrix(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set)
{
    double *d2 = malloc((size_t)(m->n * m->n) * sizeof *d2);
    assert_true(ddsc_distance_run(ctx, d2, NULL, m, set, 0, 1) >= 0);
    return d2;
}

/* The block of the full matrix, for every metric, own supports and a shared grid. */
static void check_block(const measures *m, ddsc_metric metric)
{
    ddsc_context *ctx = test_context(2, 3);
    ddsc_metric_settings set = metric_settings(metric);
    double *full = full_matrix(ctx, m, &set), *block = malloc(sizeof(double[ALL * ALL]));
    ddsc_pair_stats stats;
    assert_true(ddsc_cross_run(ctx, block, &stats, m, KNOWN, &set, 1) >= 0);
    assert_int_equal(stats.n_pairs, KNOWN * (m->n - KNOWN));
    assert_int_equal(stats.n_solved, stats.n_pairs);
    for (int64_t j = KNOWN; j < m->n; j++)
        for (int64_t i = 0; i < KNOWN; i++)
            assert_close(block[(j - KNOWN) * KNOWN + i], full[i * m->n + j], 1e-9, 1e-9);
    free(block);
    free(full);
    ddsc_context_destroy(ctx);
}

/* Histograms on a 6 x 6 grid: the shared ways of MMD and Sinkhorn. */
static measures *grid_measures(ddsc_context *ctx)
{
    double support[72], histogram[ALL * 36];
    measures *m = NULL;
    rng r = rng_make(5, RNG_SHAPES, 1);
    for (int p = 0; p < 36; p++) {
        support[2 * p] = p / 6;
        support[2 * p + 1] = p % 6;
    }
    for (int k = 0; k < ALL * 36; k++)
        histogram[k] = rng_uniform(&r) < 0.5 ? rng_uniform(&r) : 0;
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, ALL, 36, 2, support, histogram, 0),
                     DDSC_OK);
    return m;
}

static void test_blocks(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 1);
    measures *own = test_random_measures(ctx, ALL, 9, 3, 4), *grid = grid_measures(ctx);
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_LOT; metric++) {
        check_block(own, (ddsc_metric)metric);
        check_block(grid, (ddsc_metric)metric);
    }
    ddsc_measures_destroy(own);
    ddsc_measures_destroy(grid);
    ddsc_context_destroy(ctx);
}

/* List of new item c against the sorted column of the full matrix. */
static void check_list(const ddsc_graph_view *g, int64_t c, const double *full)
{
    for (int64_t p = g->offset[c]; p < g->offset[c + 1]; p++) {
        int64_t rank = p - g->offset[c], before = 0;
        double value = g->d2[p];
        assert_true(g->index[p] >= 0 && g->index[p] < KNOWN);
        assert_close(value, full[g->index[p] * ALL + KNOWN + c], 1e-9, 1e-9);
        for (int64_t i = 0; i < KNOWN; i++)
            before += full[i * ALL + KNOWN + c] < value - 1e-9 * (1 + fabs(value));
        assert_true(before <= rank);
    }
}

static void check_neighbors(const measures *m, ddsc_metric metric, ddsc_exact_graph how)
{
    ddsc_context *ctx = test_context(2, 3), *one = test_context(1, 3);
    ddsc_metric_settings set = metric_settings(metric);
    ddsc_graph_settings graph_set;
    ddsc_graph_settings_init(&graph_set);
    graph_set.tau = 5;
    graph_set.exact_graph = how;
    ddsc_graph *graph, *again;
    ddsc_graph_view g, h;
    ddsc_pair_stats stats;
    double *full = full_matrix(ctx, m, &set);
    assert_true(ddsc_cross_neighbors_run(ctx, &graph, &stats, m, KNOWN, &set, &graph_set) >= 0);
    assert_true(ddsc_cross_neighbors_run(one, &again, NULL, m, KNOWN, &set, &graph_set) >= 0);
    ddsc_graph_get_view(graph, &g);
    ddsc_graph_get_view(again, &h);
    assert_int_equal(g.n, ALL - KNOWN);
    assert_int_equal(g.n_edges, 5 * (ALL - KNOWN));
    assert_memory_equal(g.index, h.index, (size_t)g.n_edges * sizeof *g.index);
    assert_memory_equal(g.d2, h.d2, (size_t)g.n_edges * sizeof *g.d2);
    for (int64_t c = 0; c < g.n; c++)
        check_list(&g, c, full);
    assert_true(how == DDSC_GRAPH_FULL || metric != DDSC_METRIC_W2 || stats.n_pruned > 0);
    ddsc_graph_destroy(graph);
    ddsc_graph_destroy(again);
    free(full);
    ddsc_context_destroy(one);
    ddsc_context_destroy(ctx);
}

static void test_neighbors(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 1);
    measures *own = test_random_measures(ctx, ALL, 9, 3, 4), *grid = grid_measures(ctx);
    measures *words = test_random_measures(ctx, ALL, 6, 12, 8);
    check_neighbors(own, DDSC_METRIC_W2, DDSC_GRAPH_AUTO);
    check_neighbors(own, DDSC_METRIC_W2, DDSC_GRAPH_FULL);
    check_neighbors(words, DDSC_METRIC_W2, DDSC_GRAPH_PRUNED);
    check_neighbors(grid, DDSC_METRIC_W2, DDSC_GRAPH_PRUNED);
    check_neighbors(own, DDSC_METRIC_SINKHORN, DDSC_GRAPH_AUTO);
    check_neighbors(grid, DDSC_METRIC_MMD, DDSC_GRAPH_AUTO);
    ddsc_measures_destroy(own);
    ddsc_measures_destroy(grid);
    ddsc_measures_destroy(words);
    ddsc_context_destroy(ctx);
}

/* The reference made apart gives the embedding of the whole run, bit for bit. */
static void test_reference(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 7);
    measures *m = test_random_measures(ctx, 12, 9, 2, 4), *reference = NULL;
    ddsc_metric_settings set = metric_settings(DDSC_METRIC_LOT);
    double *z = NULL, *again = NULL;
    int64_t columns, n;
    assert_int_equal(ddsc_embed_run(ctx, &z, &columns, NULL, m, &set), DDSC_OK);
    assert_int_equal(ddsc_reference_create(ctx, &reference, m, &set), DDSC_OK);
    assert_int_equal(reference->n, 1);
    set.reference_rule = DDSC_REFERENCE_MEASURES;
    set.reference_measures = reference;
    assert_int_equal(ddsc_embed_run(ctx, &again, &n, NULL, m, &set), DDSC_OK);
    assert_int_equal(n, columns);
    assert_memory_equal(z, again, (size_t)(12 * columns) * sizeof *z);
    ddsc_release(ctx, z);
    ddsc_release(ctx, again);
    ddsc_measures_destroy(reference);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Items apart, of float or double, are the set of the flat arrays. */
static void test_items(void **state)
{
    (void)state;
    enum { N = 4 };
    static const int64_t offset[N + 1] = {0, 2, 3, 6, 7};
    static const double points[14] = {0, 1, 2, 3, 0, 1, 4, 5, 6.5, 7, 8, 9, 2, 3};
    static const double weights[7] = {1, 3, 1, 1, 1, 1, 1};
    float single[14];
    ddsc_cloud item[N];
    ddsc_context *ctx = test_context(1, 1);
    measures *flat, *apart;
    ddsc_measures_view a, b;
    for (int k = 0; k < 14; k++)
        single[k] = (float)points[k];
    for (int i = 0; i < N; i++) {
        int64_t at = offset[i];
        item[i] = (ddsc_cloud){.n = offset[i + 1] - at, .is_float = i % 2};
        item[i].points = i % 2 ? (const void *)(single + 2 * at) : (const void *)(points + 2 * at);
        item[i].weights = i == 0 ? weights : NULL;
    }
    assert_int_equal(ddsc_measures_create_clouds(ctx, &flat, N, 2, points, weights, offset, 0), 0);
    assert_int_equal(ddsc_measures_create_items(ctx, &apart, N, 2, item, 0), DDSC_OK);
    ddsc_measures_get_view(flat, &a);
    ddsc_measures_get_view(apart, &b);
    assert_int_equal(a.n_support, b.n_support);
    assert_int_equal(a.n_entries, b.n_entries);
    assert_memory_equal(a.support, b.support, (size_t)(a.n_support * 2) * sizeof(double));
    assert_memory_equal(a.weight, b.weight, (size_t)a.n_entries * sizeof(double));
    item[2].n = -1;
    ddsc_measures_destroy(apart);
    assert_int_equal(ddsc_measures_create_items(ctx, &apart, N, 2, item, 0), DDSC_ERROR_ARGUMENT);
    assert_null(apart);
    assert_non_null(strstr(ddsc_context_message(ctx), "items[2]"));
    ddsc_measures_destroy(flat);
    ddsc_context_destroy(ctx);
}

/* The lent affinity is symmetric, and its walk continues the embedding: one step of the random walk
 * over the eigenvalues leaves each row where it is. */
static void test_affinity(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 1);
    measures *m = test_random_measures(ctx, 50, 8, 2, 3);
    ddsc_cluster_settings set;
    ddsc_clustering *found;
    ddsc_clustering_view v;
    ddsc_affinity_view a;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 3;
    assert_true(ddsc_cluster_run(ctx, &found, m, &set) >= 0);
    ddsc_clustering_get_view(found, &v);
    ddsc_clustering_get_affinity(found, &a);
    assert_int_equal(a.n, 50);
    assert_int_equal(a.n_vectors, v.n_vectors);
    assert_true(a.gamma == 0 && a.scale && a.scale_floor > 0);
    for (int64_t i = 0; i < a.n; i++) {
        double row[64] = {0}, degree = 0, norm = 0;
        assert_true(a.scale[i] >= a.scale_floor);
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++) {
            int64_t j = a.column[p], q = a.offset[j];
            while (a.column[q] != i)
                q++;
            assert_true(a.value[q] == a.value[p]);
            degree += a.value[p];
            for (int64_t k = 0; k < a.n_vectors; k++)
                row[k] += a.value[p] * a.walk[j * a.n_vectors + k];
        }
        for (int64_t k = 0; k < a.n_vectors; k++) {
            double expected = a.walk[i * a.n_vectors + k] * (1 - v.eigenvalues[k]);
            assert_close(row[k] / degree, expected, 1e-5, 1e-6);
            norm += a.walk[i * a.n_vectors + k] * a.walk[i * a.n_vectors + k];
        }
        for (int64_t k = 0; k < a.n_vectors; k++)
            assert_close(a.walk[i * a.n_vectors + k] / sqrt(norm), v.embedding[i * a.n_vectors + k],
                         1e-9, 1e-9);
    }
    ddsc_clustering_get_affinity(NULL, &a);
    assert_int_equal(a.n, 0);
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- calls that go wrong ---- */

static void test_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 1);
    measures *m = test_random_measures(ctx, 6, 4, 2, 1), *reference = m;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings set;
    ddsc_metric_settings mmd = metric_settings(DDSC_METRIC_MMD);
    double out[36];
    ddsc_graph_settings_init(&set);
    assert_int_equal(ddsc_cross_run(NULL, out, NULL, m, 3, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, NULL, NULL, m, 3, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, out, NULL, NULL, 3, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, out, NULL, m, 0, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, out, NULL, m, 6, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_message(ctx), "n_known = 6 of 6"));
    assert_int_equal(ddsc_cross_neighbors_run(ctx, NULL, NULL, m, 3, NULL, NULL),
                     DDSC_ERROR_ARGUMENT);
    set.exact_graph = DDSC_GRAPH_PRUNED;
    assert_int_equal(ddsc_cross_neighbors_run(ctx, &graph, NULL, m, 3, &mmd, &set),
                     DDSC_ERROR_ARGUMENT);
    assert_null(graph);
    assert_int_equal(ddsc_reference_create(ctx, &reference, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_null(reference);
    assert_int_equal(ddsc_measures_create_items(ctx, &reference, 1, 2, NULL, 0),
                     DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status all_calls(ddsc_context *ctx, void *arg)
{
    ddsc_status status = DDSC_OK;
    ddsc_metric_settings set = metric_settings(*(ddsc_metric *)arg);
    static const double points[24] = {0, 1, 2, 3, 0, 1, 4, 5, 6, 7, 8,
                                      9, 2, 3, 1, 1, 2, 4, 6, 1, 3};
    ddsc_cloud item[6];
    measures *m = NULL, *reference = NULL;
    ddsc_graph *graph = NULL;
    double out[36];
    for (int i = 0; i < 6; i++)
        item[i] = (ddsc_cloud){.n = 2, .points = points + 4 * i};
    TRY(ddsc_measures_create_items(ctx, &m, 6, 2, item, 0));
    TRY(ddsc_cross_run(ctx, out, NULL, m, 4, &set, 0));
    TRY(ddsc_cross_neighbors_run(ctx, &graph, NULL, m, 4, &set, NULL));
    TRY(ddsc_reference_create(ctx, &reference, m, &set));
done:
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(reference);
    ddsc_measures_destroy(m);
    return status;
}

static void test_failed_allocations(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_LOT; metric++) {
        ddsc_metric which = (ddsc_metric)metric;
        assert_true(test_failing_allocations(all_calls, &which) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_neighbors),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
