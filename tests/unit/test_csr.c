/* Graphs from the caller's neighbor lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/graph/graph.h"
#include "graph_support.h"
#include "support.h"

typedef struct lists {
    int64_t offset[6];
    int32_t index[9];
    double d2[9];
} lists;

/* Five items; item 3 has no neighbors, and lists are unordered. */
static const lists sample = {{0, 3, 5, 6, 6, 9},
                             {2, 1, 4, 0, 2, 1, 3, 0, 1},
                             {4.0, 1.5, 4.0, 1.5, -0.25, -0.25, 9.0, 4.0, 0.0}};

static ddsc_status make(ddsc_context *ctx, ddsc_graph **graph, const lists *l)
{
    return ddsc_graph_create_from_csr(ctx, graph, 5, l->offset, l->index, l->d2);
}

static void test_order(void **state)
{
    (void)state;
    static const int32_t index[] = {1, 2, 4, 2, 0, 1, 1, 0, 3};
    static const double d2[] = {1.5, 4, 4, -0.25, 1.5, -0.25, 0, 4, 9};
    ddsc_context *ctx = test_context(2, 0);
    ddsc_graph *g = NULL;
    ddsc_graph_view v;
    assert_int_equal(make(ctx, &g, &sample), DDSC_OK);
    ddsc_graph_get_view(g, &v);
    assert_true(v.n == 5 && v.tau == 3 && v.n_edges == 9 && v.n_columns == 0);
    assert_memory_equal(v.offset, sample.offset, sizeof sample.offset);
    assert_memory_equal(v.index, index, sizeof index);
    assert_memory_equal(v.d2, d2, sizeof d2);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

/* The shuffled lists of any graph give the same graph and the same clustering. */
static void test_round_trip(void **state)
{
    (void)state;
    enum { N = 300 };
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 4);
        double *matrix = tied_matrix(N);
        ddsc_graph_settings set = graph_settings(12, 1);
        ddsc_cluster_settings how;
        ddsc_clustering *found[2];
        ddsc_graph *g[2] = {NULL, NULL};
        ddsc_cluster_settings_init(&how);
        how.k_min = how.k_max = 4;
        assert_int_equal(
            ddsc_graph_create_from_matrix(ctx, &g[0], N, matrix, DDSC_DISTANCE_SQUARED, &set),
            DDSC_OK);
        int32_t *index = malloc((size_t)g[0]->offset[N] * sizeof *index);
        double *d2 = malloc((size_t)g[0]->offset[N] * sizeof *d2);
        for (int64_t i = 0; i < N; i++)
            for (int64_t k = g[0]->offset[i], n = g[0]->offset[i + 1] - k; n > 0; n--, k++) {
                int64_t from = g[0]->offset[i] + (g[0]->offset[i + 1] - 1 - k);
                index[k] = g[0]->index[from];
                d2[k] = g[0]->d2[from];
            }
        assert_int_equal(ddsc_graph_create_from_csr(ctx, &g[1], N, g[0]->offset, index, d2),
                         DDSC_OK);
        assert_int_equal(g[1]->tau, 12);
        assert_cut(g[1], N, 12, matrix);
        for (int k = 0; k < 2; k++)
            assert_true(ddsc_spectral_run(ctx, &found[k], g[k], &how) >= 0);
        assert_memory_equal(ddsc_clustering_get_labels(found[0]),
                            ddsc_clustering_get_labels(found[1]), N * sizeof(int32_t));
        for (int k = 0; k < 2; k++) {
            ddsc_clustering_destroy(found[k]);
            ddsc_graph_destroy(g[k]);
        }
        free(index);
        free(d2);
        free(matrix);
        ddsc_context_destroy(ctx);
    }
}

static void refused(ddsc_context *ctx, const lists *l, const char *words)
{
    ddsc_graph *g = (ddsc_graph *)1;
    assert_int_equal(make(ctx, &g, l), DDSC_ERROR_INPUT);
    assert_null(g);
    if (!strstr(ddsc_context_get_message(ctx), words))
        fail_msg("%s, not %s", ddsc_context_get_message(ctx), words);
}

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    lists l = sample;
    l.index[5] = 2;
    refused(ctx, &l, "item 2 is in its own list of neighbors");
    l = sample;
    l.index[4] = 0;
    refused(ctx, &l, "the list of item 1 contains its neighbor 0 twice");
    l.index[4] = 5;
    refused(ctx, &l, "neighbor 1 of item 1 is item 5; item numbers must be 0 to 4");
    l.index[4] = -1;
    refused(ctx, &l, "item -1");
    l = sample;
    l.d2[8] = NAN;
    refused(ctx, &l, "items 4 and 1 is nan");
    l.d2[8] = -INFINITY;
    refused(ctx, &l, "is -inf");
    l.d2[8] = 1e301;
    refused(ctx, &l, "at most 1e300");
    l = sample;
    l.offset[0] = 1;
    refused(ctx, &l, "offsets[0] is 1");
    l = sample;
    l.offset[2] = 2;
    refused(ctx, &l, "offsets[2] is 2 after 3");
    l = sample;
    l.offset[1] = l.offset[2] = 5;
    refused(ctx, &l, "a list must have 0 to 4 entries");
    ddsc_graph *g = NULL;
    const lists *s = &sample;
    assert_int_equal(ddsc_graph_create_from_csr(NULL, &g, 5, s->offset, s->index, s->d2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, NULL, 5, s->offset, s->index, s->d2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 5, NULL, s->index, s->d2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 5, s->offset, NULL, s->d2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 5, s->offset, s->index, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, -1, s->offset, s->index, s->d2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(
        ddsc_graph_create_from_csr(ctx, &g, (int64_t)1 << 40, s->offset, s->index, s->d2),
        DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

/* No items, no edges, and one list with all items are valid graphs. */
static void test_odd(void **state)
{
    (void)state;
    static const int64_t none[] = {0, 0, 0, 0}, star[] = {0, 2, 2, 2};
    static const int32_t index[] = {2, 1};
    static const double d2[] = {1, 0};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_graph *g = NULL;
    ddsc_clustering *c = NULL;
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 1;
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 0, none, NULL, NULL), DDSC_OK);
    assert_true(g->n == 0 && g->tau == 0);
    ddsc_graph_destroy(g);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 3, none, NULL, NULL), DDSC_OK);
    assert_int_equal(g->tau, 0);
    assert_true(ddsc_spectral_run(ctx, &c, g, &set) >= 0);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 3, star, index, d2), DDSC_OK);
    assert_true(g->tau == 2 && g->index[0] == 1);
    assert_true(ddsc_spectral_run(ctx, &c, g, &set) >= 0);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

static ddsc_status failing_call(ddsc_context *ctx, void *arg)
{
    ddsc_graph *g = NULL;
    ddsc_status status = make(ctx, &g, arg);
    assert_int_equal(g == NULL, status < 0);
    ddsc_graph_destroy(g);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    lists l = sample;
    assert_true(test_failing_allocations(failing_call, &l) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_odd),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
