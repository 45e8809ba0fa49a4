/* Properties of barycenters: trivial sets, non-increasing values, seeds, threads, memory. */
#include <math.h>
#include <string.h>

#include "baseline_support.h"
#include "distance/exact/exact.h"
#include "numeric/linalg/linalg.h"

static ddsc_barycenter_settings settings(ddsc_barycenter_method method, int64_t size)
{
    ddsc_barycenter_settings set;
    ddsc_barycenter_settings_init(&set);
    set.method = method;
    set.support_size = size;
    set.max_rounds = 300;
    return set;
}

static ddsc_barycenter *run(ddsc_context *ctx, const measures *m,
                            const ddsc_barycenter_settings *set, ddsc_barycenter_view *view)
{
    ddsc_barycenter *b = NULL;
    ddsc_status status = ddsc_barycenter_run(ctx, &b, m, set);
    if (status < 0)
        fail_msg("barycenter: %s", ddsc_context_get_message(ctx));
    ddsc_barycenter_get_view(b, view);
    assert_int_equal(view->converged, status == DDSC_OK);
    return b;
}

static double last(const ddsc_barycenter_view *v)
{
    return v->objective[v->n_objective - 1];
}

/* Weights sum to 1, values never increase, and exact transport confirms the last value. */
static void check(ddsc_context *ctx, const measures *m, const ddsc_barycenter_view *v)
{
    double sum = 0, cost = 0;
    int64_t offset[] = {0, v->n};
    for (int64_t i = 0; i < v->n; i++) {
        assert_true(v->weights[i] > 0);
        sum += v->weights[i];
    }
    assert_close(sum, 1, 1e-12, 0);
    assert_never_rises(v->objective, v->n_objective);
    measures *center = NULL;
    exact_solver *solver = NULL;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &center, 1, v->dim, v->support, v->weights,
                                                 offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    assert_int_equal(exact_create(ctx, &solver), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++) {
        exact_result found;
        assert_int_equal(exact_solve_items(solver, &found, center, 0, m, i, 0), DDSC_OK);
        cost += found.primal / (double)m->n;
    }
    assert_close(last(v), cost, 1e-9, 1e-9);
    exact_destroy(solver);
    ddsc_measures_destroy(center);
}

static void test_random(void **state)
{
    (void)state;
    for (int method = 0; method < N_METHODS; method++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            ddsc_context *ctx = test_context(2, seed);
            measures *m =
                test_random_measures(ctx, 3 + (int64_t)(5 * seed), 12, 1 + (int64_t)seed % 4, seed);
            ddsc_barycenter_settings set = settings(all_methods[method], 1 + (int64_t)(3 * seed));
            ddsc_barycenter_view view;
            ddsc_barycenter *b = run(ctx, m, &set, &view);
            assert_int_equal(view.n, set.support_size);
            check(ctx, m, &view);
            ddsc_barycenter_destroy(b);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
}

/* One item, or the same item many times: the barycenter is the item. */
static void test_identical(void **state)
{
    (void)state;
    for (int method = 0; method < N_METHODS; method++)
        for (int64_t copies = 1; copies <= 5; copies += 4) {
            ddsc_context *ctx = test_context(1, 3);
            measures *one = test_random_measures(ctx, 1, 9, 3, 7), *m = NULL;
            int64_t items[5] = {0};
            assert_int_equal(ddsc_measures_copy_subset(ctx, &m, one, copies, items), DDSC_OK);
            ddsc_barycenter_settings set = settings(all_methods[method], one->nnz);
            ddsc_barycenter_view view;
            ddsc_barycenter *b = run(ctx, m, &set, &view);
            assert_close(last(&view), 0, 0, 1e-9);
            ddsc_barycenter_destroy(b);
            ddsc_measures_destroy(m);
            ddsc_measures_destroy(one);
            ddsc_context_destroy(ctx);
        }
}

/* Single points: all mass is at their (weighted) mean, and the value is their variance. */
static void test_diracs(void **state)
{
    (void)state;
    enum { N = 7, D = 2 };
    static const double share[N] = {1, 2, 1, 0.5, 3, 1, 1};
    double points[N * D], mean[D] = {0}, variance = 0, total = 0;
    int64_t offset[N + 1];
    rng r = rng_make(5, RNG_GAUSSIANS, 0);
    for (int i = 0; i <= N; i++)
        offset[i] = i;
    for (int k = 0; k < N * D; k++)
        points[k] = rng_normal(&r);
    for (int i = 0; i < N; i++)
        total += share[i];
    for (int k = 0; k < N * D; k++)
        mean[k % D] += share[k / D] / total * points[k];
    for (int i = 0; i < N; i++)
        variance += share[i] / total * la_distance2(D, mean, points + i * D);
    for (int method = 0; method < N_METHODS; method++)
        for (int64_t size = 1; size <= 4; size += 3) {
            ddsc_context *ctx = test_context(1, 0);
            measures *m = NULL;
            assert_int_equal(
                ddsc_measures_create_clouds(ctx, &m, N, D, points, NULL, offset, DDSC_EMPTY_ERROR),
                DDSC_OK);
            ddsc_barycenter_settings set = settings(all_methods[method], size);
            set.item_weights = share;
            ddsc_barycenter_view view;
            ddsc_barycenter *b = run(ctx, m, &set, &view);
            assert_close(last(&view), variance, 1e-9, 0);
            for (int64_t k = 0; k < size * D; k++)
                assert_close(view.support[k], mean[k % D], 0, 1e-9);
            ddsc_barycenter_destroy(b);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
}

/* Translations of one cloud: the barycenter is the cloud translated by the mean shift. */
static void test_translations(void **state)
{
    (void)state;
    enum { N = 6, EACH = 8, D = 2 };
    double points[N * EACH * D], variance = 0, mean[D] = {0}, step[N * D];
    int64_t offset[N + 1];
    rng r = rng_make(8, RNG_GAUSSIANS, 0);
    for (int k = 0; k < N * D; k++) {
        step[k] = rng_normal(&r);
        mean[k % D] += step[k] / N;
    }
    for (int i = 0; i < N; i++)
        variance += la_distance2(D, mean, step + i * D) / N;
    for (int k = 0; k < EACH * D; k++)
        points[k] = 3 * rng_normal(&r);
    for (int i = N - 1; i >= 0; i--)
        for (int k = 0; k < EACH * D; k++)
            points[i * EACH * D + k] = points[k] + step[i * D + k % D];
    for (int i = 0; i <= N; i++)
        offset[i] = i * EACH;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, N, D, points, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    ddsc_barycenter_settings set = settings(DDSC_BARYCENTER_ADMM, EACH);
    ddsc_barycenter_view view;
    ddsc_barycenter *b = run(ctx, m, &set, &view);
    assert_true(last(&view) >= variance * (1 - 1e-9));
    assert_close(last(&view), variance, 1e-3, 0);
    ddsc_barycenter_destroy(b);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    for (int method = 0; method < N_METHODS; method++) {
        ddsc_barycenter *b[2];
        ddsc_barycenter_view v[2];
        ddsc_context *ctx[2];
        measures *m[2];
        for (int t = 0; t < 2; t++) {
            ctx[t] = test_context(t == 0 ? 1 : 3, 9);
            m[t] = test_random_measures(ctx[t], 60, 10, 3, 2);
            ddsc_barycenter_settings set = settings(all_methods[method], 6);
            b[t] = run(ctx[t], m[t], &set, &v[t]);
        }
        assert_int_equal(v[0].n_objective, v[1].n_objective);
        assert_memory_equal(v[0].objective, v[1].objective,
                            (size_t)v[0].n_objective * sizeof(double));
        assert_memory_equal(v[0].support, v[1].support, 6 * 3 * sizeof(double));
        assert_memory_equal(v[0].weights, v[1].weights, 6 * sizeof(double));
        for (int t = 0; t < 2; t++) {
            ddsc_barycenter_destroy(b[t]);
            ddsc_measures_destroy(m[t]);
            ddsc_context_destroy(ctx[t]);
        }
    }
}

/* Values far from 1 scale correctly, and nothing overflows. */
static void test_scales(void **state)
{
    (void)state;
    static const double scale[] = {1e-120, 1, 1e140};
    double plain[3];
    for (int s = 0; s < 3; s++) {
        ddsc_context *ctx = test_context(1, 1);
        measures *m = test_random_measures(ctx, 10, 6, 2, 4);
        for (int64_t k = 0; k < m->v * m->d; k++)
            m->support[k] *= scale[s];
        ddsc_barycenter_settings set = settings(DDSC_BARYCENTER_ADMM, 4);
        ddsc_barycenter_view view;
        ddsc_barycenter *b = run(ctx, m, &set, &view);
        plain[s] = last(&view) / scale[s] / scale[s];
        ddsc_barycenter_destroy(b);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
    assert_close(plain[0], plain[1], 0.02, 0);
    assert_close(plain[2], plain[1], 0.02, 0);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 4, 5, 2, 1);
    ddsc_barycenter *b = (ddsc_barycenter *)m;
    assert_int_equal(ddsc_barycenter_run(NULL, &b, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_barycenter_run(ctx, NULL, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_barycenter_run(ctx, &b, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_null(b);
    static const double bad_weights[] = {1, 1, 0, 1};
    for (int which = 0; which < 8; which++) {
        ddsc_barycenter_settings set = settings(DDSC_BARYCENTER_ADMM, 3);
        switch (which) {
        case 0: set.struct_size = 0; break;
        case 1: set.method = (ddsc_barycenter_method)9; break;
        case 2: set.support_size = -1; break;
        case 3: set.rho = NAN; break;
        case 4: set.epsilon = -1; break;
        case 5: set.tolerance = 0; break;
        case 6: set.projection_dim = 9; break;
        default: set.item_weights = bad_weights;
        }
        assert_int_equal(ddsc_barycenter_run(ctx, &b, m, &set), DDSC_ERROR_ARGUMENT);
        assert_null(b);
        assert_true(*ddsc_context_get_message(ctx));
    }
    ddsc_barycenter_view view;
    ddsc_barycenter_get_view(NULL, &view);
    assert_int_equal(view.n, 0);
    ddsc_barycenter_destroy(NULL);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status barycenter_call(ddsc_context *ctx, void *arg)
{
    const memory_case *c = arg;
    ddsc_barycenter_settings set = settings(c->method, 3);
    ddsc_barycenter *b;
    set.max_rounds = 30;
    set.tolerance = 1e-3;
    ddsc_status status = ddsc_barycenter_run(ctx, &b, c->m, &set);
    assert_true(status >= 0 || !b);
    ddsc_barycenter_destroy(b);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    check_memory(barycenter_call, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_identical),
        cmocka_unit_test(test_diracs),      cmocka_unit_test(test_translations),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_scales),
        cmocka_unit_test(test_wrong_calls), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
