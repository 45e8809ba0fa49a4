/* The journal of solved pairs: its hash, stored values, rejected files. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neighbors/pairs/journal.h"
#include "numeric/graph/graph.h"
#include "support.h"

/* Published values of XXH64. */
static void test_hash(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {{"", 0xef46db3751d8e999u},
                 {"a", 0xd24ec4f1a98c6e5bu},
                 {"abc", 0x44bc2cf5ad770999u},
                 {"The quick brown fox jumps over the lazy dog", 0x0b242d361fda71bcu}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_true(hash_bytes(known[k].text, strlen(known[k].text), 0) == known[k].hash);
    /* For every length and position, one bit changes the hash. */
    unsigned char bytes[100] = {0};
    for (size_t n = 1; n <= sizeof bytes; n++) {
        uint64_t before = hash_bytes(bytes, n, 1);
        bytes[n / 2] ^= 4;
        assert_true(hash_bytes(bytes, n, 1) != before && hash_bytes(bytes, n, 2) != before);
        bytes[n / 2] ^= 4;
    }
}

static void make_folder(char path[64])
{
    strcpy(path, "/tmp/ddsc-resume-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void remove_folder(const char *path)
{
    char name[512];
    DIR *dir = opendir(path);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        unlink(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

/* Stored values are returned bit for bit, tile by tile, also with two workers. */
static void test_records(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    ddsc_context *ctx = test_context(2, 0);
    for (int run = 0; run < 3; run++) {
        journal *j;
        ctx_enter(ctx);
        assert_int_equal(journal_open(ctx, &j, folder, "one\ntwo\n", 2), DDSC_OK);
        for (int64_t k = 0; k < 40; k++) {
            pair_tile t = {.i0 = k, .i1 = k + 3, .j0 = 50 + k, .j1 = 55 + k};
            double values[15], found[15];
            ddsc_pair_stats took = {.n_iterations = k, .max_gap = 0.1 * (double)k}, back;
            for (int v = 0; v < 15; v++)
                values[v] = (double)k / 3 + v;
            assert_int_equal(journal_find(j, &t, 15, found, &back, (int)(k % 2)), k < 20 * run);
            if (k < 20 * run) {
                assert_memory_equal(found, values, sizeof values);
                assert_true(back.n_iterations == k && back.max_gap == took.max_gap);
                assert_false(journal_find(j, &t, 14, found, &back, 0));
            } else if (k < 20 * (run + 1)) {
                assert_int_equal(journal_keep(j, &t, 15, values, &took, (int)(k % 2)), DDSC_OK);
            }
        }
        assert_int_equal(journal_close(j), DDSC_OK);
    }
    journal *none;
    ctx_enter(ctx);
    assert_int_equal(journal_open(ctx, &none, folder, "one\nthree\n", 1), DDSC_ERROR_ARGUMENT);
    assert_non_null(
        strstr(ddsc_context_get_message(ctx), "it has \"two\", this run has \"three\""));
    ctx_enter(ctx);
    assert_int_equal(journal_open(ctx, &none, folder, "one\ntwo\nmore\n", 1), DDSC_ERROR_ARGUMENT);
    ctx_enter(ctx);
    assert_int_equal(journal_open(ctx, &none, "/no/such/place", "one\n", 1), DDSC_ERROR_IO);
    assert_int_equal(journal_close(NULL), DDSC_OK);
    remove_folder(folder);
    ddsc_context_destroy(ctx);
}

/* Two journals in one folder, in the same process and thus with the same owner: neither uses the
 * other's names, and a third journal finds the values of both. */
static void test_shared(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    ddsc_context *ctx = test_context(1, 0);
    journal *pair[2], *all;
    ctx_enter(ctx);
    for (int p = 0; p < 2; p++)
        assert_int_equal(journal_open(ctx, &pair[p], folder, "one\n", 1), DDSC_OK);
    for (int p = 0; p < 2; p++) {
        pair_tile t = {.i0 = p, .i1 = p + 1, .j0 = 5, .j1 = 6};
        double value = 0.5 + p;
        assert_int_equal(journal_keep(pair[p], &t, 1, &value, &(ddsc_pair_stats){0}, 0), DDSC_OK);
    }
    for (int p = 0; p < 2; p++)
        assert_int_equal(journal_close(pair[p]), DDSC_OK);
    assert_int_equal(journal_open(ctx, &all, folder, "one\n", 1), DDSC_OK);
    for (int p = 0; p < 2; p++) {
        pair_tile t = {.i0 = p, .i1 = p + 1, .j0 = 5, .j1 = 6};
        ddsc_pair_stats took;
        double value = 0;
        assert_true(journal_find(all, &t, 1, &value, &took, 0) && value == 0.5 + p);
    }
    assert_int_equal(journal_close(all), DDSC_OK);
    remove_folder(folder);
    ddsc_context_destroy(ctx);
}

static ddsc_graph *graph_of(ddsc_context *ctx, const measures *m, ddsc_metric metric,
                            ddsc_pair_stats *stats)
{
    ddsc_graph *g;
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    if (ddsc_neighbors_run(ctx, &g, stats, m, &set, NULL) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return g;
}

static void test_same_graph(void **state)
{
    (void)state;
    ddsc_context *plain = test_context(1, 0), *keeps = test_context(2, 0);
    measures *m = test_random_measures(plain, 60, 20, 3, 1);
    for (int metric = 0; metric <= DDSC_METRIC_W1; metric++) {
        char folder[64];
        ddsc_pair_stats stats = {.struct_size = sizeof stats}, again = stats;
        ddsc_graph *g = graph_of(plain, m, (ddsc_metric)metric, &stats);
        make_folder(folder);
        assert_int_equal(ddsc_context_set_resume(keeps, folder, "a test"), DDSC_OK);
        for (int run = 0; run < 2; run++) {
            ddsc_graph *h = graph_of(keeps, m, (ddsc_metric)metric, &again);
            assert_memory_equal(g->d2, h->d2, (size_t)g->offset[60] * sizeof *g->d2);
            assert_memory_equal(g->index, h->index, (size_t)g->offset[60] * sizeof *g->index);
            assert_true(again.max_gap == stats.max_gap && again.n_solved == stats.n_solved);
            assert_int_equal(again.n_iterations, stats.n_iterations);
            ddsc_graph_destroy(h);
        }
        if (metric == DDSC_METRIC_SINKHORN)
            assert_true(ddsc_context_get_resumed(keeps) > 0);
        ddsc_graph_destroy(g);
        remove_folder(folder);
    }
    assert_int_equal(ddsc_context_set_resume(keeps, "x", "two\nlines"), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_set_resume(NULL, "x", ""), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_set_resume(keeps, "", NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_set_resume(keeps, NULL, NULL), DDSC_OK);
    assert_true(ddsc_context_get_resumed(keeps) >= 0);
    assert_int_equal(ddsc_context_get_resumed(NULL), 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(plain);
    ddsc_context_destroy(keeps);
}

/* Dense histograms on one irregular support, with the pruned search: this run used to pass its
 * pairs to the wrong state if a folder was set. */
static void test_dense_histograms(void **state)
{
    (void)state;
    enum { N = 30, V = 70 };
    ddsc_context *plain = test_context(1, 0), *keeps = test_context(2, 0);
    rng r = rng_make(4, RNG_GAUSSIANS, 0);
    double support[V * 3], *rows = malloc(N * V * sizeof *rows);
    for (int p = 0; p < V * 3; p++)
        support[p] = rng_normal(&r);
    for (int p = 0; p < N * V; p++)
        rows[p] = p % 13 == 0 ? 0 : rng_uniform(&r) * rng_uniform(&r);
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(plain, &m, N, V, 3, support, rows, DDSC_EMPTY_ERROR), DDSC_OK);
    ddsc_metric_settings set;
    ddsc_graph_settings graph_set;
    ddsc_metric_settings_init(&set);
    ddsc_graph_settings_init(&graph_set);
    set.metric = DDSC_METRIC_SINKHORN;
    graph_set.exact_graph = DDSC_GRAPH_PRUNED;
    ddsc_graph *g = NULL;
    char folder[64];
    make_folder(folder);
    assert_int_equal(ddsc_neighbors_run(plain, &g, NULL, m, &set, &graph_set), DDSC_OK);
    assert_int_equal(ddsc_context_set_resume(keeps, folder, NULL), DDSC_OK);
    for (int run = 0; run < 2; run++) {
        ddsc_graph *h = NULL;
        assert_int_equal(ddsc_neighbors_run(keeps, &h, NULL, m, &set, &graph_set), DDSC_OK);
        assert_memory_equal(g->d2, h->d2, (size_t)g->offset[N] * sizeof *g->d2);
        assert_memory_equal(g->index, h->index, (size_t)g->offset[N] * sizeof *g->index);
        ddsc_graph_destroy(h);
    }
    assert_true(ddsc_context_get_resumed(keeps) > 0);
    ddsc_graph_destroy(g);
    remove_folder(folder);
    free(rows);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(plain);
    ddsc_context_destroy(keeps);
}

static ddsc_status failing_call(ddsc_context *ctx, void *arg)
{
    char folder[64];
    double d[100];
    make_folder(folder);
    ddsc_status status = ddsc_context_set_resume(ctx, folder, NULL);
    for (int run = 0; run < 2 && status >= 0; run++)
        status = ddsc_distance_run(ctx, d, NULL, arg, NULL, 0);
    if (status >= 0)
        status = ddsc_context_set_resume(ctx, NULL, NULL);
    else
        ddsc_context_set_resume(ctx, NULL, NULL);
    remove_folder(folder);
    return status;
}

/* The search, with refined bounds. */
static ddsc_status failing_graph(ddsc_context *ctx, void *arg)
{
    char folder[64];
    ddsc_graph *g = NULL;
    (void)arg;
    make_folder(folder);
    ddsc_measures *clouds = NULL;
    ddsc_status status = ddsc_measures_generate_shapes(ctx, &clouds, 5, 30);
    if (status >= 0)
        status = ddsc_context_set_resume(ctx, folder, NULL);
    if (status >= 0)
        status = ddsc_neighbors_run(ctx, &g, NULL, clouds, NULL, NULL);
    assert_int_equal(g == NULL, status < 0);
    ddsc_graph_destroy(g);
    ddsc_measures_destroy(clouds);
    if (status >= 0)
        status = ddsc_context_set_resume(ctx, NULL, NULL);
    else
        ddsc_context_set_resume(ctx, NULL, NULL);
    remove_folder(folder);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 10, 8, 2, 1);
    assert_true(test_failing_allocations(failing_call, m) > 20);
    assert_true(test_failing_allocations(failing_graph, m) > 20);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hash),
                                       cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_shared),
                                       cmocka_unit_test(test_same_graph),
                                       cmocka_unit_test(test_dense_histograms),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
