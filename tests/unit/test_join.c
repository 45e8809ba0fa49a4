/* Joined metrics: the affinity is the mean of the normalized affinities of the metrics, for any
 * number of threads. Functions that need one metric reject several. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph_support.h"

enum { N = 60 };

static measures *groups(ddsc_context *ctx)
{
    measures *m;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 3, N / 3, 6, 4, 2), DDSC_OK);
    return m;
}

static ddsc_clustering *cluster(ddsc_context *ctx, const measures *m, ddsc_metric metric,
                                int64_t joined, int64_t k)
{
    ddsc_metric_settings by;
    ddsc_cluster_settings set;
    ddsc_clustering *c = NULL;
    ddsc_metric_settings_init(&by);
    ddsc_cluster_settings_init(&set);
    by.metric = metric;
    set.metric = &by;
    set.joined = joined;
    set.k_min = set.k_max = k;
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_OK);
    return c;
}

/* Adds S^-1/2 A S^-1/2 times `share` to a dense matrix. */
static void add_normalized(double *dense, const ddsc_clustering *c, double share)
{
    double degree[N] = {0};
    ddsc_affinity_view a;
    ddsc_clustering_get_affinity(c, &a);
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++)
            degree[i] += a.value[p];
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++)
            dense[i * N + a.column[p]] +=
                share * a.value[p] / sqrt(degree[i] * degree[a.column[p]]);
}

static void test_mean(void **state)
{
    (void)state;
    static const ddsc_metric metrics[] = {DDSC_METRIC_W2, DDSC_METRIC_MMD, DDSC_METRIC_LOT};
    static double wanted[N * N];
    ddsc_context *ctx = test_context(0, 1);
    measures *m = groups(ctx);
    for (int k = 0; k < 3; k++) {
        ddsc_clustering *one = cluster(ctx, m, metrics[k], 0, 3);
        add_normalized(wanted, one, 1.0 / 3);
        ddsc_clustering_destroy(one);
    }
    ddsc_clustering *all =
        cluster(ctx, m, DDSC_METRIC_MMD, 1 << DDSC_METRIC_W2 | 1 << DDSC_METRIC_LOT, 3);
    ddsc_affinity_view a;
    ddsc_clustering_view v;
    ddsc_clustering_get_affinity(all, &a);
    ddsc_clustering_get_view(all, &v);
    int64_t n_wanted = 0;
    for (int64_t i = 0; i < N * N; i++)
        n_wanted += wanted[i] != 0;
    assert_int_equal(a.n_entries, n_wanted);
    for (int64_t i = 0; i < N; i++)
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++)
            assert_true(fabs(a.value[p] - wanted[i * N + a.column[p]]) < 1e-14);
    assert_int_equal(v.n_joined, 3);
    assert_int_equal(v.joined[0]->metric, DDSC_METRIC_MMD);
    assert_int_equal(v.joined[1]->metric, DDSC_METRIC_W2);
    assert_int_equal(v.joined[2]->metric, DDSC_METRIC_LOT);
    assert_true(v.pairs->n_pairs == 3 * N * (N - 1) / 2);
    ddsc_clustering_destroy(all);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* A metric joined with itself gives the same result. */
static void test_alone(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(0, 1);
    measures *m = groups(ctx);
    ddsc_clustering *one = cluster(ctx, m, DDSC_METRIC_W2, 0, 0),
                    *same = cluster(ctx, m, DDSC_METRIC_W2, 1 << DDSC_METRIC_W2, 0);
    ddsc_clustering_view v, w;
    ddsc_clustering_get_view(one, &v);
    ddsc_clustering_get_view(same, &w);
    assert_int_equal(w.n_joined, 0);
    assert_int_equal(v.k, w.k);
    assert_memory_equal(v.labels, w.labels, N * sizeof *v.labels);
    ddsc_clustering_destroy(one);
    ddsc_clustering_destroy(same);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    enum { ALL = 15 };
    double *kept = NULL;
    int64_t k = 0;
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 1);
        measures *m = groups(ctx);
        ddsc_clustering *c = cluster(ctx, m, DDSC_METRIC_LOT, ALL, 0);
        ddsc_clustering_view v;
        ddsc_clustering_get_view(c, &v);
        size_t size = (size_t)(v.n * v.n_vectors) * sizeof *kept;
        if (!kept) {
            kept = malloc(size);
            memcpy(kept, v.embedding, size);
            k = v.k;
        }
        assert_int_equal(v.k, k);
        assert_memory_equal(kept, v.embedding, size);
        ddsc_clustering_destroy(c);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
    free(kept);
}

static void test_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(0, 1);
    measures *m = groups(ctx);
    ddsc_cluster_settings set;
    ddsc_clustering *c = NULL;
    ddsc_model *model = NULL;
    ddsc_stability *trust = NULL;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 3;
    set.joined = 1 << 10;
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "joined"));
    set.joined = 1 << DDSC_METRIC_MMD;
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_OK);
    assert_int_equal(ddsc_model_create(ctx, &model, m, c, &set), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "joined metrics"));
    assert_int_equal(ddsc_stability_run(ctx, &trust, m, c, &set, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_clustering_destroy(c);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Each metric has the labels of a separate run; agreement is symmetric; the given K is used. */
static void test_compare(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(0, 1);
    measures *m = groups(ctx);
    ddsc_cluster_settings set;
    ddsc_compare *t = NULL;
    ddsc_compare_view v;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 3;
    assert_int_equal(ddsc_compare_run(ctx, &t, m, &set), DDSC_OK);
    ddsc_compare_get_view(t, &v);
    assert_int_equal(v.n_metrics, 1); /* only the named one */
    assert_int_equal(v.sure, DDSC_SURE_NOT);
    ddsc_compare_destroy(t);
    set.joined = 1 << DDSC_METRIC_SINKHORN | 1 << DDSC_METRIC_MMD | 1 << DDSC_METRIC_LOT;
    assert_int_equal(ddsc_compare_run(ctx, &t, m, &set), DDSC_OK);
    ddsc_compare_get_view(t, &v);
    assert_int_equal(v.n_metrics, 4);
    assert_int_equal(v.k, 3);
    for (int64_t i = 0; i < 4; i++) {
        ddsc_clustering *one = cluster(ctx, m, v.rows[i]->metric, 0, 3);
        assert_memory_equal(ddsc_clustering_get_labels(one), v.labels + i * N,
                            N * sizeof *v.labels);
        ddsc_clustering_destroy(one);
        assert_true(v.rows[i]->stability <= 1 && v.rows[i]->modularity < 1);
        assert_true(v.ari[i * 4 + i] == 1);
        for (int64_t j = 0; j < 4; j++)
            assert_true(fabs(v.ari[i * 4 + j] - v.ari[j * 4 + i]) < 1e-12);
        assert_true(v.rows[i]->stability <= v.rows[v.recommended]->stability);
    }
    ddsc_compare_destroy(t);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Two items are not informative, so no value is reported. */
static void test_compare_few(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(0, 1);
    measures *m;
    ddsc_cluster_settings set;
    ddsc_compare *t = NULL;
    ddsc_compare_view v;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 1, 3, 4, 2, 2), DDSC_OK);
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 2;
    assert_int_equal(ddsc_compare_run(ctx, &t, m, &set), DDSC_OK);
    ddsc_compare_get_view(t, &v);
    assert_true(isnan(v.rows[0]->stability));
    assert_int_equal(v.sure, DDSC_SURE_NOT);
    ddsc_compare_destroy(t);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status joined_call(ddsc_context *ctx, void *arg)
{
    ddsc_status status;
    measures *m = NULL;
    ddsc_clustering *c = NULL;
    ddsc_cluster_settings set;
    (void)arg;
    ddsc_cluster_settings_init(&set);
    set.joined = 15;
    status = ddsc_measures_generate_gaussians(ctx, &m, 2, 8, 4, 2, 3);
    if (status == DDSC_OK)
        status = ddsc_cluster_run(ctx, &c, m, &set);
    ddsc_clustering_destroy(c);
    ddsc_measures_destroy(m);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    assert_true(test_failing_allocations(joined_call, NULL) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean),        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_compare),     cmocka_unit_test(test_compare_few),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
