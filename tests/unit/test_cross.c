/* Functions for callers in other languages: two sets, items without a copy, the reference, the
 * affinity, rows for new items. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { KNOWN = 37, ALL = 60 };

static double *full_matrix(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set)
{
    double *d2 = malloc((size_t)(m->n * m->n) * sizeof *d2);
    assert_true(ddsc_distance_run(ctx, d2, NULL, m, set, DDSC_DISTANCE_SQUARED) >= 0);
    return d2;
}

static measures *part(ddsc_context *ctx, const measures *m, int64_t begin, int64_t end)
{
    int64_t item[ALL];
    measures *copy = NULL;
    for (int64_t i = begin; i < end; i++)
        item[i - begin] = i;
    assert_int_equal(ddsc_measures_copy_subset(ctx, &copy, m, end - begin, item), DDSC_OK);
    return copy;
}

/* The result equals the block of the full matrix bit for bit, for every metric, with separate
 * supports and a shared grid. */
static void check_block(const measures *m, ddsc_metric metric)
{
    ddsc_context *ctx = test_context(2, 3);
    ddsc_metric_settings set = test_metric(metric);
    double *full = full_matrix(ctx, m, &set), *block = malloc(sizeof(double[ALL * ALL]));
    measures *rows = part(ctx, m, 0, KNOWN), *columns = part(ctx, m, KNOWN, ALL);
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    assert_true(ddsc_cross_run(ctx, block, &stats, rows, columns, &set, DDSC_DISTANCE_SQUARED) >=
                0);
    assert_int_equal(stats.n_pairs, KNOWN * (ALL - KNOWN));
    for (int64_t i = 0; i < KNOWN; i++)
        assert_memory_equal(block + i * (ALL - KNOWN), full + i * ALL + KNOWN,
                            sizeof(double[ALL - KNOWN]));
    ddsc_measures_destroy(rows);
    ddsc_measures_destroy(columns);
    free(block);
    free(full);
    ddsc_context_destroy(ctx);
}

/* Histograms on a 6 x 6 grid, for the algorithms of MMD and Sinkhorn on shared supports. */
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
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++) {
        check_block(own, (ddsc_metric)metric);
        check_block(grid, (ddsc_metric)metric);
    }
    ddsc_measures_destroy(own);
    ddsc_measures_destroy(grid);
    ddsc_context_destroy(ctx);
}

/* Items of the clustering receive their own rows and labels. Other items have unit rows and the
 * labels of ddsc_assign_run. */
static void test_extend(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3), *one = test_context(1, 3);
    measures *m = grid_measures(ctx), *old = part(ctx, m, 0, KNOWN), *fresh = part(ctx, m, 30, ALL);
    ddsc_cluster_settings set;
    ddsc_clustering *found;
    ddsc_clustering_view v;
    ddsc_model *model;
    ddsc_model_view w;
    int32_t label[ALL], again[ALL], same[ALL];
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 3;
    assert_true(ddsc_cluster_run(ctx, &found, old, &set) >= 0);
    assert_int_equal(ddsc_model_create(ctx, &model, old, found, &set), DDSC_OK);
    ddsc_clustering_get_view(found, &v);
    ddsc_model_get_view(model, &w);
    assert_int_equal(w.n_vectors, v.n_vectors);
    size_t size = (size_t)(ALL * w.n_vectors) * sizeof(double);
    double *rows = calloc(1, size), *rows_one = calloc(1, size);
    assert_int_equal(call_extend(ctx, rows, label, NULL, model, fresh, NULL), DDSC_OK);
    assert_int_equal(call_extend(one, rows_one, again, NULL, model, fresh, NULL), DDSC_OK);
    assert_memory_equal(rows, rows_one, size);
    assert_int_equal(call_assign(ctx, same, NULL, NULL, NULL, NULL, model, fresh, NULL), 0);
    assert_memory_equal(label, same, (ALL - 30) * sizeof *label);
    assert_memory_equal(label, again, (ALL - 30) * sizeof *label);
    assert_memory_equal(label, v.labels + 30, (KNOWN - 30) * sizeof *label);
    assert_memory_equal(rows, v.embedding + 30 * w.n_vectors,
                        (size_t)((KNOWN - 30) * w.n_vectors) * sizeof(double));
    for (int64_t i = 0; i < ALL - 30; i++) {
        double norm = 0;
        for (int64_t k = 0; k < w.n_vectors; k++)
            norm += rows[i * w.n_vectors + k] * rows[i * w.n_vectors + k];
        assert_close(norm, 1, 1e-9, 0);
    }
    free(rows);
    free(rows_one);
    ddsc_model_destroy(model);
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(fresh);
    ddsc_measures_destroy(old);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(one);
    ddsc_context_destroy(ctx);
}

/* A separately computed reference gives the embedding of the whole run, bit for bit. */
static void test_reference(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 7);
    measures *m = test_random_measures(ctx, 12, 9, 2, 4), *reference = NULL;
    ddsc_metric_settings set = test_metric(DDSC_METRIC_LOT);
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

/* Separate items of float or double give the same set as flat arrays. */
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
    assert_non_null(strstr(ddsc_context_get_message(ctx), "items[2]"));
    ddsc_measures_destroy(flat);
    ddsc_context_destroy(ctx);
}

/* Caller's names, with unchanged labels. */
static void test_names(void **state)
{
    (void)state;
    static const char *const ids[3] = {"a", "", "third"}, *const bad[3] = {"a", NULL, "c"};
    ddsc_context *ctx = test_context(1, 1);
    measures *m = test_random_measures(ctx, 3, 4, 2, 1), *labeled, *named = NULL;
    ddsc_measures_view v;
    assert_int_equal(ddsc_measures_copy_labeled(ctx, &labeled, m, (int32_t[]){2, 0, 1}), 0);
    assert_int_equal(ddsc_measures_copy_named(ctx, &named, labeled, ids), DDSC_OK);
    for (int i = 0; i < 3; i++)
        assert_string_equal(ddsc_measures_get_id(named, i), ids[i]);
    ddsc_measures_get_view(named, &v);
    assert_int_equal(v.label[0], 2);
    ddsc_measures_destroy(named);
    assert_int_equal(ddsc_measures_copy_named(ctx, &named, m, bad), DDSC_ERROR_ARGUMENT);
    assert_null(named);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "ids[1]"));
    assert_int_equal(ddsc_measures_copy_named(ctx, &named, m, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(labeled);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The returned affinity is symmetric, and radius times row is an eigenfunction of its random walk.
 * */
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
    assert_true(a.gamma == 0 && a.scale && a.scale_floor > 0 && a.scale_rank == 7);
    for (int64_t i = 0; i < a.n; i++) {
        double row[64] = {0}, degree = 0;
        assert_true(a.scale[i] >= a.scale_floor);
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++) {
            int64_t j = a.column[p], q = a.offset[j];
            while (a.column[q] != i)
                q++;
            assert_true(a.value[q] == a.value[p]);
            degree += a.value[p];
            for (int64_t k = 0; k < v.n_vectors; k++)
                row[k] += a.value[p] * a.radius[j] * v.embedding[j * v.n_vectors + k];
        }
        for (int64_t k = 0; k < v.n_vectors; k++)
            assert_close(row[k] / degree,
                         a.radius[i] * v.embedding[i * v.n_vectors + k] * (1 - v.eigenvalues[k]),
                         1e-5, 1e-6);
    }
    ddsc_clustering_get_affinity(NULL, &a);
    assert_int_equal(a.n, 0);
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- stopping ---- */

static int after_some(void *user)
{
    return ++*(int *)user > 3;
}

/* One long solve has no tiles between which the cancel callback could be polled, so it polls it
 * itself. */
static void test_long_solves_stop(void **state)
{
    (void)state;
    enum { N = 700 };
    ddsc_context_settings set;
    ddsc_context *ctx;
    int asked = 0;
    double *cost = malloc(sizeof(double[N * N])), weight[N], value;
    rng r = rng_make(1, RNG_SHAPES, 0);
    ddsc_context_settings_init(&set);
    set.cancel = after_some;
    set.cancel_user = &asked;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    for (int i = 0; i < N; i++)
        weight[i] = 1.0 / N;
    for (int k = 0; k < N * N; k++)
        cost[k] = rng_uniform(&r);
    ddsc_status status = DDSC_OK;
    for (int k = 0; k < 100 && status == DDSC_OK; k++)
        status = call_emd(ctx, NULL, NULL, NULL, NULL, NULL, NULL, N, N, weight, weight, cost);
    assert_int_equal(status, DDSC_ERROR_CANCELED);
    assert_string_equal(ddsc_context_get_message(ctx), "stopped on request");
    assert_int_equal(asked, 4);
    asked = 0;
    assert_int_equal(call_sinkhorn(ctx, &value, NULL, NULL, NULL, NULL, N, N, weight, weight, cost,
                                   1e-7, DDSC_SINKHORN_SHARP, 1e-12, 1000000),
                     DDSC_ERROR_CANCELED);
    free(cost);
    ddsc_context_destroy(ctx);
}

/* ---- calls that fail ---- */

static void test_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 1);
    measures *m = test_random_measures(ctx, 6, 4, 2, 1), *reference = m;
    measures *other = test_random_measures(ctx, 6, 4, 3, 1);
    double out[36];
    assert_int_equal(ddsc_cross_run(NULL, out, NULL, m, m, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, NULL, NULL, m, m, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, out, NULL, NULL, m, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cross_run(ctx, out, NULL, m, NULL, NULL, 0), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "columns is NULL"));
    assert_int_equal(ddsc_cross_run(ctx, out, NULL, m, other, NULL, 0), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "2 coordinates"));
    assert_int_equal(ddsc_reference_create(ctx, &reference, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_null(reference);
    assert_int_equal(ddsc_measures_create_items(ctx, &reference, 1, 2, NULL, 0),
                     DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(other);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status all_calls(ddsc_context *ctx, void *arg)
{
    ddsc_status status = DDSC_OK;
    ddsc_metric_settings set = test_metric(*(ddsc_metric *)arg);
    static const double points[24] = {0, 1, 2, 3, 0, 1, 4, 5, 6, 7, 8,
                                      9, 2, 3, 1, 1, 2, 4, 6, 1, 3};
    ddsc_cloud item[6];
    static const char *const ids[6] = {"a", "b", "c", "d", "e", "f"};
    measures *m = NULL, *reference = NULL, *named = NULL;
    double out[36];
    for (int i = 0; i < 6; i++)
        item[i] = (ddsc_cloud){.n = 2, .points = points + 4 * i};
    TRY(ddsc_measures_create_items(ctx, &m, 6, 2, item, 0));
    TRY(ddsc_cross_run(ctx, out, NULL, m, m, &set, 0));
    TRY(ddsc_reference_create(ctx, &reference, m, &set));
    TRY(ddsc_measures_copy_named(ctx, &named, m, ids));
done:
    ddsc_measures_destroy(named);
    ddsc_measures_destroy(reference);
    ddsc_measures_destroy(m);
    return status;
}

static void test_failed_allocations(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++) {
        ddsc_metric which = (ddsc_metric)metric;
        assert_true(test_failing_allocations(all_calls, &which) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),           cmocka_unit_test(test_extend),
        cmocka_unit_test(test_reference),        cmocka_unit_test(test_items),
        cmocka_unit_test(test_affinity),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_failed_allocations),
        cmocka_unit_test(test_long_solves_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
