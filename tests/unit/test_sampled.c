/* The graph of a sample of the pairs, with estimates for the other pairs, and the K that a sweep
 * chooses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "graph_support.h"
#include "neighbors/planner/plan.h"

/* n items of one point in `dim` dimensions: D^2 has rank dim + 2. */
static measures *lone_points(ddsc_context *ctx, int64_t n, int64_t dim)
{
    measures *m;
    rng r = rng_make(11, RNG_GAUSSIANS, 0);
    double *x = malloc((size_t)(n * dim) * sizeof *x);
    int64_t *offset = malloc((size_t)(n + 1) * sizeof *offset);
    for (int64_t i = 0; i <= n; i++)
        offset[i] = i;
    for (int64_t p = 0; p < n * dim; p++)
        x[p] = rng_uniform(&r);
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, dim, x, NULL, offset, DDSC_EMPTY_ERROR), DDSC_OK);
    free(offset);
    free(x);
    return m;
}

static ddsc_graph *sampled(ddsc_context *ctx, const measures *m, double sample, bool fills)
{
    graph_request p = {0};
    ddsc_graph *g;
    ddsc_metric_settings metric;
    ddsc_metric_settings_init(&metric);
    ddsc_graph_settings set = graph_settings(8, sample);
    set.hubs = DDSC_HUBS_OFF;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(plan_resolve(ctx, &p, m, &metric, &set, NULL), DDSC_OK);
    p.fills = fills;
    assert_int_equal(plan_neighbors(ctx, &g, &stats, &p, 8), DDSC_OK);
    if (sample < 1)
        assert_true(stats.n_solved < (int64_t)(1.1 * sample * (double)stats.n_pairs));
    metric_resolved_free(&p.metric);
    return g;
}

/* Returns the share of g's edges that are also in the full graph. */
static double shared_edges(const ddsc_graph *g, const ddsc_graph *full)
{
    int64_t both = 0;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++)
            for (int64_t q = full->offset[i]; q < full->offset[i + 1]; q++)
                both += g->index[p] == full->index[q];
    return (double)both / (double)full->offset[full->n];
}

/* In few dimensions, nearly all neighbors are found, and known pairs have their own distance. In
 * many dimensions, the fit predicts nothing, and the graph contains only known pairs. */
static void test_filled(void **state)
{
    (void)state;
    enum { N = 300 };
    for (int64_t dim = 3; dim <= 90; dim += 87) {
        ddsc_context *ctx = test_context(2, 4);
        measures *m = lone_points(ctx, N, dim);
        ddsc_graph *full = sampled(ctx, m, 1, false), *known = sampled(ctx, m, 0.2, false);
        ddsc_graph *g = sampled(ctx, m, 0.2, true);
        assert_true(shared_edges(known, full) < 0.3);
        if (dim == 3)
            assert_true(shared_edges(g, full) > 0.9);
        else
            assert_memory_equal(g->index, known->index, N * 8 * sizeof *g->index);
        for (int64_t i = 0; i < N; i++)
            for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
                double truth = 0;
                const double *a = m->support + m->index[i] * dim,
                             *b = m->support + m->index[g->index[p]] * dim;
                for (int64_t k = 0; k < dim; k++)
                    truth += (a[k] - b[k]) * (a[k] - b[k]);
                assert_close(g->d2[p], truth, pairs_sampled(4, 0.2, i, g->index[p]) ? 1e-9 : 0.5,
                             0.05);
            }
        ddsc_graph_destroy(g);
        ddsc_graph_destroy(known);
        ddsc_graph_destroy(full);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* Any number of threads; the plain algorithm omits the other pairs. */
static void test_filled_clusters(void **state)
{
    (void)state;
    int64_t n_edges[3];
    ddsc_graph *first = NULL;
    ddsc_clustering *c[3];
    ddsc_context *ctx[3];
    for (int k = 0; k < 3; k++) {
        ctx[k] = test_context(k + 1, 2);
        measures *m;
        assert_int_equal(ddsc_measures_generate_gaussians(ctx[k], &m, 3, 60, 5, 2, 2), DDSC_OK);
        ddsc_cluster_settings set;
        ddsc_graph_settings graph;
        ddsc_cluster_settings_init(&set);
        ddsc_graph_settings_init(&graph);
        set.k_min = set.k_max = 3;
        set.paper = k == 2;
        graph.sample = 0.2;
        set.graph = &graph;
        assert_true(ddsc_cluster_run(ctx[k], &c[k], m, &set) >= 0);
        first = c[0]->graph;
        n_edges[k] = c[k]->graph->offset[m->n];
        bool told = false;
        for (int64_t i = 0; i < c[k]->view.n_details; i++)
            told |= strcmp(c[k]->view.details[i].name, "filled_error") == 0;
        assert_true(told == (k < 2));
        ddsc_measures_destroy(m);
    }
    assert_memory_equal(first->d2, c[1]->graph->d2, (size_t)n_edges[0] * sizeof *first->d2);
    assert_memory_equal(first->index, c[1]->graph->index,
                        (size_t)n_edges[0] * sizeof *first->index);
    for (int k = 0; k < 3; k++) {
        ddsc_clustering_destroy(c[k]);
        ddsc_context_destroy(ctx[k]);
    }
}

static ddsc_status filled_call(ddsc_context *ctx, void *arg)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures *m = NULL;
    ddsc_clustering *c = NULL;
    ddsc_cluster_settings set;
    ddsc_graph_settings graph;
    (void)arg;
    ddsc_cluster_settings_init(&set);
    ddsc_graph_settings_init(&graph);
    set.k_min = set.k_max = 2;
    graph.sample = 0.7;
    set.graph = &graph;
    TRY(ddsc_measures_generate_gaussians(ctx, &m, 2, 20, 2, 2, 3));
    TRY(ddsc_cluster_run(ctx, &c, m, &set));
done:
    ddsc_clustering_destroy(c);
    ddsc_measures_destroy(m);
    return status;
}

static void test_filled_allocations(void **state)
{
    (void)state;
    assert_true(test_failing_allocations(filled_call, NULL) > 30);
}

/* A gap decides if its ratio is 3 or more; otherwise, the product of modularity and stability
 * decides. */
static void test_choice(void **state)
{
    (void)state;
    bool by_gap;
    ddsc_k_row rows[3] = {{.k = 2,
                           .relative_gap = 2.3,
                           .modularity = 0.3,
                           .stability = 1,
                           .smallest = 20,
                           .largest = 80},
                          {.k = 3,
                           .relative_gap = 1.2,
                           .modularity = 0.4,
                           .stability = 0.9,
                           .smallest = 20,
                           .largest = 45},
                          {.k = 5,
                           .relative_gap = 1.1,
                           .modularity = 0.6,
                           .stability = 0.8,
                           .smallest = 15,
                           .largest = 25}};
    assert_true(choose_row(rows, 3, &by_gap) == 2 && !by_gap); /* 0.6 x 0.8 */
    rows[2].stability = 0.5;                                   /* 0.3, and 0.36 for K = 3 */
    assert_true(choose_row(rows, 3, &by_gap) == 1 && !by_gap);
    rows[2].stability = NAN; /* too few items */
    assert_true(choose_row(rows, 3, &by_gap) == 1 && !by_gap);
    rows[0].stability = rows[1].stability = NAN; /* for any K: the modularity decides */
    assert_true(choose_row(rows, 3, &by_gap) == 2 && !by_gap);
    rows[0].relative_gap = 3;
    assert_true(choose_row(rows, 3, &by_gap) == 0 && by_gap);
    rows[0].relative_gap = 2.9;
    assert_true(choose_row(rows, 3, &by_gap) == 2 && !by_gap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filled),
        cmocka_unit_test(test_filled_clusters),
        cmocka_unit_test(test_filled_allocations),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
