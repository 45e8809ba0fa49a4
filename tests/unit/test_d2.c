/* D2 and PD2 clustering: clusters are found, costs are correct and decrease, threads, memory,
 * extreme numbers of clusters. */
#include <math.h>
#include <string.h>

#include "baseline_support.h"
#include "distance/exact/exact.h"

static ddsc_d2_settings settings(ddsc_barycenter_method method, int64_t k)
{
    ddsc_d2_settings set;
    ddsc_d2_settings_init(&set);
    set.method = method;
    set.k = k;
    set.restarts = 2;
    return set;
}

static ddsc_d2 *run(ddsc_context *ctx, const measures *m, const ddsc_d2_settings *set,
                    ddsc_d2_view *view)
{
    ddsc_d2 *d = NULL;
    ddsc_status status = ddsc_d2_run(ctx, &d, m, set);
    if (status < 0)
        fail_msg("d2: %s", ddsc_context_get_message(ctx));
    ddsc_d2_get_view(d, view);
    assert_int_equal(view->converged, status == DDSC_OK);
    return d;
}

/* Costs are those of exact transport to the item's center, and no other center is closer. Their sum
 * is the last objective, and objectives never increase. */
static void check(ddsc_context *ctx, const measures *m, const ddsc_d2_view *v)
{
    measures *centers = NULL;
    exact_solver *solver = NULL;
    int64_t offset[16];
    double sum = 0;
    assert_true(v->k < 16);
    for (int64_t c = 0; c <= v->k; c++)
        offset[c] = c * v->center_size;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &centers, v->k, v->dim, v->support,
                                                 v->weights, offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    assert_int_equal(exact_create(ctx, &solver), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++) {
        assert_in_range(v->labels[i], 0, v->k - 1);
        for (int64_t c = 0; c < v->k; c++) {
            exact_result found;
            assert_int_equal(exact_solve_items(solver, &found, centers, c, m, i, 0), DDSC_OK);
            if (c == v->labels[i])
                assert_close(v->cost[i], found.primal, 1e-9, 1e-9);
            assert_true(found.primal >= v->cost[i] * (1 - 1e-9) - 1e-9);
        }
        sum += v->cost[i];
    }
    assert_close(v->objective[v->n_objective - 1], sum, 1e-12, 0);
    assert_never_rises(v->objective, v->n_objective);
    assert_true(v->n_solved <= v->n_pairs);
    exact_destroy(solver);
    ddsc_measures_destroy(centers);
}

static void test_random(void **state)
{
    (void)state;
    for (int method = 0; method < N_METHODS; method++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            ddsc_context *ctx = test_context(2, seed);
            measures *m = test_random_measures(ctx, 40, 9, 1 + (int64_t)seed, seed);
            ddsc_d2_settings set = settings(all_methods[method], 2 + (int64_t)seed);
            ddsc_d2_view view;
            ddsc_d2 *d = run(ctx, m, &set, &view);
            check(ctx, m, &view);
            ddsc_d2_destroy(d);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
}

static void test_groups(void **state)
{
    (void)state;
    for (int method = 0; method < N_METHODS; method++) {
        ddsc_context *ctx = test_context(2, 4);
        ddsc_measures *m = NULL;
        ddsc_scores scores = {.struct_size = sizeof scores};
        assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 4, 12, 10, 3, 8.0), DDSC_OK);
        ddsc_d2_settings set = settings(all_methods[method], 4);
        ddsc_d2_view view;
        ddsc_d2 *d = run(ctx, m, &set, &view);
        check(ctx, m, &view);
        assert_int_equal(ddsc_scores_run(ctx, &scores, m->n, view.labels, m->label), DDSC_OK);
        assert_close(scores.ami, 1, 1e-9, 0);
        assert_int_equal(view.labels[0], 0);
        assert_true(view.n_solved < view.n_pairs);
        ddsc_d2_destroy(d);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* One cluster; as many clusters as items; more clusters than distinct items. */
static void test_few_and_many(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 6, 5, 2, 3), *doubled = NULL;
    static const int64_t twice[] = {0, 1, 2, 0, 1, 2};
    ddsc_d2_view view;
    ddsc_d2_settings set = settings(DDSC_BARYCENTER_ADMM, 1);
    ddsc_d2 *d = run(ctx, m, &set, &view);
    assert_int_equal(view.k, 1);
    check(ctx, m, &view);
    ddsc_d2_destroy(d);
    set.k = 6;
    set.support_size = 5;
    d = run(ctx, m, &set, &view);
    assert_int_equal(view.k, 6);
    assert_close(view.objective[view.n_objective - 1], 0, 0, 1e-9);
    ddsc_d2_destroy(d);
    assert_int_equal(ddsc_measures_copy_subset(ctx, &doubled, m, 6, twice), DDSC_OK);
    set.k = 5;
    d = run(ctx, doubled, &set, &view);
    assert_in_range(view.k, 3, 5);
    assert_close(view.objective[view.n_objective - 1], 0, 0, 1e-9);
    ddsc_d2_destroy(d);
    ddsc_measures_destroy(doubled);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    for (int method = 0; method < N_METHODS; method++) {
        ddsc_d2 *d[2];
        ddsc_d2_view v[2];
        ddsc_context *ctx[2];
        measures *m[2];
        for (int t = 0; t < 2; t++) {
            ctx[t] = test_context(t == 0 ? 1 : 3, 9);
            m[t] = test_random_measures(ctx[t], 120, 8, 3, 2);
            ddsc_d2_settings set = settings(all_methods[method], 3);
            d[t] = run(ctx[t], m[t], &set, &v[t]);
        }
        assert_int_equal(v[0].n_objective, v[1].n_objective);
        assert_int_equal(v[0].n_solved, v[1].n_solved);
        assert_memory_equal(v[0].objective, v[1].objective,
                            (size_t)v[0].n_objective * sizeof(double));
        assert_memory_equal(v[0].labels, v[1].labels, 120 * sizeof(int32_t));
        assert_memory_equal(v[0].support, v[1].support,
                            (size_t)(v[0].k * v[0].center_size * 3) * sizeof(double));
        for (int t = 0; t < 2; t++) {
            ddsc_d2_destroy(d[t]);
            ddsc_measures_destroy(m[t]);
            ddsc_context_destroy(ctx[t]);
        }
    }
}

static void test_settings(void **state)
{
    (void)state;
    ddsc_d2_settings set, other;
    memset(&set, 0xAB, sizeof set);
    memset(&other, 0x54, sizeof other);
    ddsc_d2_settings_init(&set);
    ddsc_d2_settings_init(&other);
    assert_int_equal(set.struct_size, sizeof set);
    assert_true(set.rho == 2 && set.max_rounds == 100 && other.rho == 2 && other.epsilon == 0.02);
    assert_true(set.k == other.k && set.restarts == other.restarts &&
                set.max_iterations == other.max_iterations && set.tolerance == other.tolerance);
    ddsc_d2_settings_init_sized(NULL, 8);
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 4, 5, 2, 1);
    ddsc_d2 *d = NULL;
    assert_int_equal(ddsc_d2_run(NULL, &d, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_d2_run(ctx, NULL, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_d2_run(ctx, &d, NULL, NULL), DDSC_ERROR_ARGUMENT);
    for (int which = 0; which < 6; which++) {
        set = settings(DDSC_BARYCENTER_ADMM, which == 0 ? 5 : which == 1 ? 0 : 2);
        set.restarts = which == 2 ? 0 : 1;
        set.max_iterations = which == 3 ? 0 : 9;
        set.tolerance = which == 4 ? NAN : 1e-4;
        set.rho = which == 5 ? 0 : 2;
        assert_int_equal(ddsc_d2_run(ctx, &d, m, &set), DDSC_ERROR_ARGUMENT);
        assert_null(d);
        assert_true(*ddsc_context_get_message(ctx));
    }
    ddsc_d2_view view;
    ddsc_d2_get_view(NULL, &view);
    assert_int_equal(view.n, 0);
    ddsc_d2_destroy(NULL);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status d2_call(ddsc_context *ctx, void *arg)
{
    const memory_case *c = arg;
    ddsc_d2_settings set = settings(c->method, 3);
    ddsc_d2 *d;
    set.max_rounds = 10;
    ddsc_status status = ddsc_d2_run(ctx, &d, c->m, &set);
    assert_true(status >= 0 || !d);
    ddsc_d2_destroy(d);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    check_memory(d2_call, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),       cmocka_unit_test(test_groups),
        cmocka_unit_test(test_few_and_many), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_settings),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
