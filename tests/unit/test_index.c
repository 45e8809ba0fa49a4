/* An index gives the graph of a run over its current items, byte for byte: random inserts and removals
 * for every metric, with any number of threads. A rejected change leaves it as it was. */
#include <string.h>

#include "base/base.h"
#include "changing_set.h"
#include "data/measures.h"
#include "ddsc/ddsc.h"
#include "support.h"

enum { CHECKED = 4 /* every fourth round is compared with a run */ };

typedef struct fixture {
    ddsc_context *ctx, *other;
    changing_set p;
    ddsc_model *model;
    ddsc_index *index, *again; /* of both contexts */
    int metric;
} fixture;

/* Opens indexes for n items. */
static void start_with(fixture *f, int64_t n, int metric, bool images, int64_t hubs)
{
    bool bounded =
        metric == DDSC_METRIC_W2 || metric == DDSC_METRIC_W1 || metric == DDSC_METRIC_SINKHORN;
    ddsc_metric_settings how = test_metric((ddsc_metric)metric);
    ddsc_graph_settings graph;
    ddsc_cluster_settings set;
    ddsc_clustering *first = NULL;
    *f = (fixture){.ctx = test_context(1, 1), .other = test_context(3, 1), .metric = metric};
    f->p = (changing_set){.n = n, .images = images, .small = !bounded};
    for (; f->p.next < f->p.n; f->p.next++)
        f->p.number[f->p.next] = f->p.next;
    ddsc_graph_settings_init(&graph);
    ddsc_cluster_settings_init(&set);
    graph.hubs = hubs;
    graph.tau = 6;
    set.metric = &how;
    set.graph = &graph;
    set.k_min = set.k_max = 3;
    ddsc_measures *items = changing_items(f->ctx, &f->p, f->p.number, f->p.n);
    assert_int_equal(ddsc_cluster_run(f->ctx, &first, items, &set), 0);
    assert_int_equal(ddsc_model_create(f->ctx, &f->model, items, first, &set), 0);
    assert_int_equal(ddsc_index_open(f->ctx, &f->index, f->model), 0);
    assert_int_equal(ddsc_index_open(f->other, &f->again, f->model), 0);
    ddsc_measures_destroy(items);
    ddsc_clustering_destroy(first);
}

static void start(fixture *f, int metric, bool images, int64_t hubs)
{
    bool few = metric != DDSC_METRIC_MMD && metric != DDSC_METRIC_LOT;
    start_with(f, few ? 80 : 220, metric, images, hubs);
}

static void finish(fixture *f)
{
    ddsc_index_destroy(f->again);
    ddsc_index_destroy(f->index);
    ddsc_model_destroy(f->model);
    ddsc_context_destroy(f->other);
    ddsc_context_destroy(f->ctx);
}

static bool same_graph(const ddsc_graph *a, const ddsc_graph *b)
{
    ddsc_graph_view x, y;
    ddsc_graph_get_view(a, &x);
    ddsc_graph_get_view(b, &y);
    return x.n == y.n && x.n_edges == y.n_edges &&
           memcmp(x.offset, y.offset, (size_t)(x.n + 1) * sizeof *x.offset) == 0 &&
           memcmp(x.index, y.index, (size_t)x.n_edges * sizeof *x.index) == 0 &&
           memcmp(x.d2, y.d2, (size_t)x.n_edges * sizeof *x.d2) == 0;
}

static ddsc_graph *graph_of(ddsc_context *ctx, const ddsc_index *index)
{
    ddsc_graph *graph = NULL;
    assert_int_equal(ddsc_index_create_graph(ctx, &graph, index), 0);
    return graph;
}

/* Compares the index with a run over the same items. */
static void check_graph(fixture *f, int round)
{
    ddsc_cluster_settings like;
    ddsc_clustering *whole = NULL;
    ddsc_clustering_view view;
    ddsc_cluster_settings_init(&like);
    like.like = f->model;
    ddsc_measures *all = changing_items(f->ctx, &f->p, f->p.number, f->p.n);
    ddsc_graph *a = graph_of(f->ctx, f->index), *b = graph_of(f->other, f->again);
    assert_int_equal(ddsc_cluster_run(f->ctx, &whole, all, &like), 0);
    ddsc_clustering_get_view(whole, &view);
    if (!same_graph(a, view.graph))
        fail_msg("metric %d, round %d: the graph is not that of a run over all items", f->metric,
                 round);
    assert_true(same_graph(a, b));
    ddsc_graph_destroy(a);
    ddsc_graph_destroy(b);
    ddsc_clustering_destroy(whole);
    ddsc_measures_destroy(all);
}

static void check_changes(int metric, bool images, int64_t hubs)
{
    fixture f;
    rng r = rng_make(11, RNG_SUBSET, (uint64_t)metric);
    start(&f, metric, images, hubs);
    check_graph(&f, -1);
    for (int round = 0, n_rounds = (int)test_size(12); round < n_rounds; round++) {
        int64_t removed[CHANGES], n_removed, n_added;
        ddsc_measures *more = NULL;
        changing_step(&f.p, &r, removed, &n_removed, &n_added);
        if (n_added > 0)
            more = changing_items(f.ctx, &f.p, f.p.number + f.p.n - n_added, n_added);
        assert_int_equal(ddsc_index_update(f.ctx, f.index, more, n_removed, removed), 0);
        assert_int_equal(ddsc_index_update(f.other, f.again, more, n_removed, removed), 0);
        assert_int_equal(ddsc_index_get_count(f.index), f.p.n);
        assert_int_equal(ddsc_index_get_searched(f.index), ddsc_index_get_searched(f.again));
        assert_true(ddsc_index_get_searched(f.index) >= n_added);
        if (round % CHECKED == CHECKED - 1)
            check_graph(&f, round);
        ddsc_measures_destroy(more);
    }
    finish(&f);
}

static void test_clouds(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++)
        check_changes(metric, false, DDSC_HUBS_OFF);
}

static void test_images(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++)
        check_changes(metric, true, DDSC_HUBS_OFF);
}

static void test_hub_rule(void **state)
{
    (void)state;
    check_changes(DDSC_METRIC_W2, false, DDSC_HUBS_ALWAYS);
    check_changes(DDSC_METRIC_W2, true, DDSC_HUBS_ALWAYS);
    check_changes(DDSC_METRIC_SINKHORN, true, DDSC_HUBS_ALWAYS);
    check_changes(DDSC_METRIC_MMD, false, DDSC_HUBS_ALWAYS);
    check_changes(DDSC_METRIC_LOT, true, DDSC_HUBS_ALWAYS);
}

/* Items that do not fit into the open set: more points than any other, points between those of the
 * grid, and points that only some items have. */
static void test_odd_items(void **state)
{
    double many[2 * 200], weights[200];
    const double odd[] = {3, 4, 7.5, 8.25, 11, 2}, far[] = {40, 40, 41, 40, 300, 2};
    (void)state;
    for (int k = 0; k < 200; k++) {
        many[2 * k] = k % 20;
        many[2 * k + 1] = (double)(k / 20);
        weights[k] = 1 + k % 3;
    }
    const ddsc_cloud cloud[] = {{.points = many, .weights = weights, .n = 200},
                                {.points = odd, .weights = weights, .n = 3},
                                {.points = far, .weights = weights, .n = 3}};
    for (int images = 0; images < 2; images++) {
        fixture f;
        ddsc_measures *more = NULL, *base, *all = NULL;
        ddsc_clustering *whole = NULL;
        ddsc_clustering_view view;
        ddsc_cluster_settings like;
        start(&f, DDSC_METRIC_W2, images, DDSC_HUBS_OFF);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(
                ddsc_measures_create_items(f.ctx, &more, 1, 2, &cloud[k], DDSC_EMPTY_ERROR), 0);
            assert_int_equal(ddsc_index_update(f.ctx, f.index, more, 0, NULL), 0);
            ddsc_measures_destroy(more);
        }
        assert_int_equal(ddsc_index_get_count(f.index), f.p.n + 3);
        base = changing_items(f.ctx, &f.p, f.p.number, f.p.n);
        assert_int_equal(ddsc_measures_create_items(f.ctx, &more, 3, 2, cloud, DDSC_EMPTY_ERROR),
                         0);
        assert_int_equal(measures_join(f.ctx, &all, base, more), 0);
        ddsc_cluster_settings_init(&like);
        like.like = f.model;
        assert_int_equal(ddsc_cluster_run(f.ctx, &whole, all, &like), 0);
        ddsc_clustering_get_view(whole, &view);
        ddsc_graph *graph = graph_of(f.ctx, f.index);
        assert_true(same_graph(graph, view.graph));
        ddsc_graph_destroy(graph);
        ddsc_clustering_destroy(whole);
        ddsc_measures_destroy(all);
        ddsc_measures_destroy(more);
        ddsc_measures_destroy(base);
        finish(&f);
    }
}

static void test_rejected(void **state)
{
    fixture f;
    const double line[] = {1, 2, 3};
    const ddsc_cloud cloud = {.points = line, .weights = line, .n = 3};
    const int64_t twice[] = {3, 3}, beyond[] = {80};
    int64_t most[CHANGING_MOST];
    ddsc_measures *flat = NULL;
    ddsc_index *none = NULL;
    (void)state;
    start(&f, DDSC_METRIC_W2, false, DDSC_HUBS_OFF);
    for (int64_t i = 0; i < f.p.n; i++)
        most[i] = i;
    ddsc_graph *before = graph_of(f.ctx, f.index);
    assert_int_equal(ddsc_measures_create_items(f.ctx, &flat, 1, 1, &cloud, DDSC_EMPTY_ERROR), 0);
    assert_int_equal(ddsc_index_update(f.ctx, f.index, flat, 0, NULL), DDSC_ERROR_INPUT);
    assert_int_equal(ddsc_index_update(f.ctx, f.index, NULL, 2, twice), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_index_update(f.ctx, f.index, NULL, 1, beyond), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_index_update(f.ctx, f.index, NULL, 1, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_index_update(f.ctx, f.index, NULL, -1, twice), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_index_update(f.ctx, f.index, NULL, f.p.n - 3, most), DDSC_ERROR_INPUT);
    assert_int_equal(ddsc_index_update(f.other, f.index, NULL, 0, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_index_open(f.ctx, &none, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_graph *after = graph_of(f.ctx, f.index);
    assert_int_equal(ddsc_index_get_count(f.index), f.p.n);
    assert_true(same_graph(before, after));
    ddsc_index_destroy(NULL);
    assert_int_equal(ddsc_index_get_count(NULL), 0);
    ddsc_graph_destroy(after);
    ddsc_graph_destroy(before);
    ddsc_measures_destroy(flat);
    finish(&f);
}

typedef struct failing_change {
    const ddsc_model *model;
    const ddsc_measures *more;
    const ddsc_graph *expected;
} failing_change;

/* Opens an index and changes it. If the change fails, the index still has its items, and the change
 * succeeds when it is repeated; or it failed halfway, and all later calls say so. */
static ddsc_status change_new_index(ddsc_context *ctx, void *arg)
{
    const failing_change *c = arg;
    static const int64_t removed[] = {2, 5};
    ddsc_index *index = NULL;
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_index_open(ctx, &index, c->model), again;
    if (status < 0)
        return status;
    int64_t n = ddsc_index_get_count(index);
    status = again = ddsc_index_update(ctx, index, c->more, 2, removed);
    if (status < 0) {
        assert_int_equal(ddsc_index_get_count(index), n);
        again = ddsc_index_update(ctx, index, c->more, 2, removed);
        if (again == DDSC_ERROR_ARGUMENT)
            assert_non_null(strstr(ddsc_context_get_message(ctx), "halfway"));
    }
    if (again >= 0) {
        again = ddsc_index_create_graph(ctx, &graph, index);
        status = status < 0 ? status : again;
    }
    if (graph)
        assert_true(same_graph(graph, c->expected));
    ddsc_graph_destroy(graph);
    ddsc_index_destroy(index);
    return status;
}

/* Changes that open the metric again (mmd, and an item off the grid), and one that does not. */
static void test_failing_allocations_of_changes(void **state)
{
    static const int metrics[] = {DDSC_METRIC_MMD, DDSC_METRIC_W2, DDSC_METRIC_W2};
    const double points[] = {3, 4, 7.5, 8.25, 11, 2}, weights[] = {1, 2, 3};
    const ddsc_cloud odd = {.points = points, .weights = weights, .n = 3};
    static const int64_t removed[] = {2, 5};
    (void)state;
    for (int k = 0; k < 3; k++) {
        fixture f;
        ddsc_measures *more = NULL;
        start_with(&f, 24, metrics[k], k == 1, DDSC_HUBS_ALWAYS);
        if (k == 1)
            assert_int_equal(ddsc_measures_create_items(f.ctx, &more, 1, 2, &odd, DDSC_EMPTY_ERROR),
                             0);
        else
            more = changing_items(f.ctx, &f.p, &f.p.next, 1);
        assert_int_equal(ddsc_index_update(f.ctx, f.index, more, 2, removed), 0);
        ddsc_graph *expected = graph_of(f.ctx, f.index);
        failing_change c = {f.model, more, expected};
        test_failing_allocations(change_new_index, &c);
        ddsc_graph_destroy(expected);
        ddsc_measures_destroy(more);
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clouds),   cmocka_unit_test(test_images),
        cmocka_unit_test(test_hub_rule), cmocka_unit_test(test_odd_items),
        cmocka_unit_test(test_rejected), cmocka_unit_test(test_failing_allocations_of_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
