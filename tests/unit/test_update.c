/* An update gives the graph of a run over the changed set, byte for byte: random inserts and
 * removals, one after another, for every metric, with any number of threads. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "changing_set.h"
#include "ddsc/ddsc.h"
#include "support.h"

enum { ROUNDS = 6 };

static void assert_graph_of(const ddsc_clustering *a, const ddsc_clustering *b, int metric,
                            int round)
{
    ddsc_clustering_view x, y;
    ddsc_graph_view g, h;
    ddsc_clustering_get_view(a, &x);
    ddsc_clustering_get_view(b, &y);
    ddsc_graph_get_view(x.graph, &g);
    ddsc_graph_get_view(y.graph, &h);
    assert_int_equal(g.n_edges, h.n_edges);
    if (memcmp(g.index, h.index, (size_t)g.n_edges * sizeof *g.index) != 0 ||
        memcmp(g.d2, h.d2, (size_t)g.n_edges * sizeof *g.d2) != 0)
        fail_msg("metric %d, round %d: the graph is not that of a run over all items", metric,
                 round);
    assert_int_equal(x.n_eigenvalues, y.n_eigenvalues);
    for (int64_t k = 0; k < x.n_eigenvalues; k++)
        assert_true(fabs(x.eigenvalues[k] - y.eigenvalues[k]) < 1e-8);
}

static void check_metric(int metric, bool images, int64_t hubs)
{
    ddsc_context *ctx = test_context(1, 1), *other = test_context(3, 1);
    bool bounded =
        metric == DDSC_METRIC_W2 || metric == DDSC_METRIC_W1 || metric == DDSC_METRIC_SINKHORN;
    changing_set p = {.n = bounded ? 80 : 220, .images = images, .small = !bounded};
    ddsc_metric_settings how = test_metric((ddsc_metric)metric);
    ddsc_graph_settings graph;
    ddsc_cluster_settings set, like;
    ddsc_clustering *first = NULL;
    ddsc_model *model = NULL, *now = NULL;
    int64_t kept_lists = 0;
    rng r = rng_make(9, RNG_SUBSET, (uint64_t)metric);
    for (; p.next < p.n; p.next++)
        p.number[p.next] = p.next;
    ddsc_graph_settings_init(&graph);
    graph.hubs = hubs;
    graph.tau = 6;
    ddsc_cluster_settings_init(&set);
    ddsc_cluster_settings_init(&like);
    set.metric = &how;
    set.graph = &graph;
    set.k_min = set.k_max = 3;
    ddsc_measures *items = changing_items(ctx, &p, p.number, p.n);
    assert_int_equal(ddsc_cluster_run(ctx, &first, items, &set), 0);
    assert_int_equal(ddsc_model_create(ctx, &model, items, first, &set), 0);
    ddsc_measures_destroy(items);
    ddsc_clustering_destroy(first);
    like.like = model;
    for (int round = 0, n_rounds = (int)test_size(ROUNDS); round < n_rounds; round++) {
        int64_t removed[CHANGES], n_removed, n_added;
        ddsc_update *update = NULL, *again = NULL;
        ddsc_update_view v, w;
        ddsc_clustering *whole = NULL;
        ddsc_model *next = NULL;
        ddsc_measures *more = NULL, *all;
        changing_step(&p, &r, removed, &n_removed, &n_added);
        if (n_added > 0)
            more = changing_items(ctx, &p, p.number + p.n - n_added, n_added);
        const ddsc_model *old = now ? now : model;
        assert_int_equal(ddsc_update_run(ctx, &update, old, more, n_removed, removed, NULL), 0);
        assert_int_equal(ddsc_update_run(other, &again, old, more, n_removed, removed, NULL), 0);
        all = changing_items(ctx, &p, p.number, p.n);
        assert_int_equal(ddsc_cluster_run(ctx, &whole, all, &like), 0);
        ddsc_update_get_view(update, &v);
        ddsc_update_get_view(again, &w);
        assert_graph_of(v.clustering, whole, metric, round);
        assert_graph_of(v.clustering, w.clustering, metric, round);
        assert_int_equal(v.n_searched, w.n_searched);
        assert_memory_equal(ddsc_clustering_get_labels(v.clustering),
                            ddsc_clustering_get_labels(w.clustering),
                            (size_t)p.n * sizeof(int32_t));
        assert_true(hubs != DDSC_HUBS_OFF || v.n_searched < p.n);
        kept_lists += p.n - v.n_searched;
        assert_int_equal(v.n_added, n_added);
        assert_int_equal(v.n_removed, n_removed);
        ddsc_cluster_settings own = like;
        own.like = old;
        assert_int_equal(ddsc_model_create(ctx, &next, v.measures, v.clustering, &own), 0);
        ddsc_model_destroy(now);
        now = next;
        ddsc_measures_destroy(all);
        ddsc_measures_destroy(more);
        ddsc_clustering_destroy(whole);
        ddsc_update_destroy(again);
        ddsc_update_destroy(update);
    }
    assert_true(kept_lists > 0 || metric != DDSC_METRIC_W2);
    ddsc_model_destroy(now);
    ddsc_model_destroy(model);
    ddsc_context_destroy(other);
    ddsc_context_destroy(ctx);
}

static void test_clouds(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++)
        check_metric(metric, false, DDSC_HUBS_OFF);
}

static void test_images(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++)
        check_metric(metric, true, DDSC_HUBS_OFF);
}

static void test_hub_rule(void **state)
{
    (void)state;
    check_metric(DDSC_METRIC_W2, false, DDSC_HUBS_ALWAYS);
    check_metric(DDSC_METRIC_MMD, false, DDSC_HUBS_ALWAYS);
    check_metric(DDSC_METRIC_LOT, true, DDSC_HUBS_ALWAYS);
    check_metric(DDSC_METRIC_SINKHORN, true, DDSC_HUBS_ALWAYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clouds),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_hub_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
