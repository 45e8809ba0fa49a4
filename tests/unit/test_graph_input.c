/* Settings, and graphs created from a precomputed matrix or from rows of numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph_support.h"
#include "neighbors/planner/plan.h"
#include "support.h"

/* ---- settings ---- */

static void test_defaults(void **state)
{
    (void)state;
    ddsc_metric_settings m;
    ddsc_graph_settings g;
    memset(&m, 0xA5, sizeof m);
    memset(&g, 0xA5, sizeof g);
    ddsc_metric_settings_init(&m);
    ddsc_graph_settings_init(&g);
    assert_int_equal(m.struct_size, sizeof m);
    assert_int_equal(m.metric, DDSC_METRIC_W2);
    assert_true(m.epsilon == 5 && m.epsilon_is_percent == 1);
    assert_int_equal(m.sinkhorn_value, DDSC_SINKHORN_REGULARIZED);
    assert_true(m.sinkhorn_tolerance == 1e-9 && m.sinkhorn_max_iterations == 100000);
    assert_int_equal(m.mmd_kernel, DDSC_KERNEL_GAUSSIAN);
    assert_true(m.bandwidth_rule == DDSC_BANDWIDTH_AUTO && m.bandwidth == 0);
    assert_int_equal(m.mmd_estimator, DDSC_MMD_AUTO);
    assert_int_equal(m.reference_rule, DDSC_REFERENCE_AUTO);
    assert_true(m.reference_size == 0 && !m.reference_measures && m.w2_max_pivots == 0);
    assert_int_equal(g.struct_size, sizeof g);
    assert_true(g.tau == 0 && g.exact_graph == DDSC_GRAPH_AUTO && g.sample == 1);
    ddsc_metric_settings_init_sized(NULL, 8);
    ddsc_graph_settings_init_sized(NULL, 8);
}

static void refuse_metric(ddsc_context *ctx, const ddsc_metric_settings *set, const char *field)
{
    ddsc_metric_settings own;
    ctx_enter(ctx);
    assert_int_equal(plan_take_metric(ctx, &own, set), DDSC_ERROR_ARGUMENT);
    if (!strstr(ddsc_context_get_message(ctx), field))
        fail_msg("'%s' does not name %s", ddsc_context_get_message(ctx), field);
}

#define REFUSE_METRIC(field, value)        \
    do {                                   \
        ddsc_metric_settings set_;         \
        ddsc_metric_settings_init(&set_);  \
        set_.field = (value);              \
        refuse_metric(ctx, &set_, #field); \
    } while (0)

static void test_bad_metric_settings(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    REFUSE_METRIC(struct_size, 0);
    REFUSE_METRIC(struct_size, sizeof(ddsc_metric_settings) + 1);
    REFUSE_METRIC(metric, (ddsc_metric)5);
    REFUSE_METRIC(epsilon, 0);
    REFUSE_METRIC(epsilon, NAN);
    REFUSE_METRIC(epsilon, INFINITY);
    REFUSE_METRIC(epsilon_is_percent, 2);
    REFUSE_METRIC(sinkhorn_value, (ddsc_sinkhorn_value)4);
    REFUSE_METRIC(sinkhorn_tolerance, 0);
    REFUSE_METRIC(sinkhorn_tolerance, NAN);
    REFUSE_METRIC(sinkhorn_max_iterations, 0);
    REFUSE_METRIC(mmd_kernel, (ddsc_mmd_kernel)3);
    REFUSE_METRIC(bandwidth_rule, (ddsc_bandwidth_rule)4);
    REFUSE_METRIC(mmd_estimator, (ddsc_mmd_estimator)3);
    REFUSE_METRIC(reference_rule, (ddsc_reference_rule)4);
    REFUSE_METRIC(reference_size, -1);
    REFUSE_METRIC(w2_max_pivots, -1);
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    refuse_metric(ctx, &set, "bandwidth = 0");
    set.bandwidth = NAN;
    refuse_metric(ctx, &set, "bandwidth");
    ddsc_metric_settings_init(&set);
    set.reference_rule = DDSC_REFERENCE_MEASURES;
    refuse_metric(ctx, &set, "reference_measures");
    ddsc_context_destroy(ctx);
}

static void test_short_settings(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_metric_settings given, own;
    memset(&given, 0xA5, sizeof given);
    ddsc_metric_settings_init_sized(&given, offsetof(ddsc_metric_settings, mmd_features));
    given.metric = DDSC_METRIC_MMD;
    assert_int_equal(plan_take_metric(ctx, &own, &given), DDSC_OK);
    assert_true(own.metric == DDSC_METRIC_MMD && own.mmd_features == 0);
    assert_int_equal(own.struct_size, sizeof own);
    assert_int_equal(plan_take_metric(ctx, &own, NULL), DDSC_OK);
    ddsc_context_destroy(ctx);
}

static void test_bad_graph_settings(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const double zeros[4] = {0};
    const double bad_samples[] = {0, -0.5, 1.5, NAN};
    ddsc_graph *graph = NULL;
    ddsc_graph_settings set = graph_settings(-1, 1);
    assert_int_equal(
        ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, DDSC_DISTANCE_SQUARED, &set),
        DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "tau = -1"));
    for (int k = 0; k < 4; k++) {
        set = graph_settings(1, bad_samples[k]);
        assert_int_equal(
            ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, DDSC_DISTANCE_SQUARED, &set),
            DDSC_ERROR_ARGUMENT);
        assert_non_null(strstr(ddsc_context_get_message(ctx), "sample"));
    }
    set = graph_settings(1, 1);
    set.exact_graph = (ddsc_exact_graph)9;
    assert_int_equal(
        ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, DDSC_DISTANCE_SQUARED, &set),
        DDSC_ERROR_ARGUMENT);
    set.exact_graph = DDSC_GRAPH_PRUNED;
    assert_int_equal(
        ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, DDSC_DISTANCE_SQUARED, &set),
        DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "pruned"));
    set.struct_size = 0;
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &graph, 2, 2, zeros, &set),
                     DDSC_ERROR_ARGUMENT);
    assert_null(graph);
    ddsc_context_destroy(ctx);
}

static void test_tau_default(void **state)
{
    (void)state;
    const int64_t n[] = {0, 1, 2, 10, 40, 72, 73, 1000, 1025, 70000};
    const int64_t tau[] = {0, 0, 1, 3, 5, 9, 10, 10, 11, 17};
    ddsc_graph_settings set = {0};
    for (int k = 0; k < 10; k++)
        assert_int_equal(plan_tau_for_count(n[k], &set), tau[k]);
}

/* Documents have more neighbors, unless the paper's algorithm or a value is requested. */
static void test_tau_of_documents(void **state)
{
    (void)state;
    const struct {
        int64_t n, points, n_words, asked, paper, tau;
    } cases[] = {{1200, 5, 1, 0, 0, 20},   {1200, 11, 1, 0, 0, 20}, {1200, 12, 1, 0, 0, 28},
                 {1200, 16, 1, 0, 0, 28},  {1000, 16, 0, 0, 0, 10}, {1000, 16, 1, 0, 1, 10},
                 {1000, 16, 1, 12, 0, 12}, {80, 16, 1, 0, 0, 10},   {737, 16, 1, 0, 0, 18},
                 {200, 16, 1, 0, 0, 10},   {1, 16, 1, 0, 0, 0},     {1 << 29, 5, 1, 0, 0, 29}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ddsc_graph_settings set = {.struct_size = sizeof set,
                                   .tau = cases[k].asked,
                                   .paper = cases[k].paper,
                                   .sample = 1,
                                   .sample_columns = 1};
        measures m = {
            .n = cases[k].n, .nnz = cases[k].n * cases[k].points, .words = {.n = cases[k].n_words}};
        assert_int_equal(plan_tau_for_items(&m, &set), cases[k].tau);
        assert_int_equal(ddsc_measures_get_tau(&m, &set), cases[k].tau);
    }
    assert_int_equal(ddsc_measures_get_tau(NULL, &(ddsc_graph_settings){0}), 0);
}

/* ---- matrices ---- */

static void test_from_matrix(void **state)
{
    (void)state;
    enum { N = 33 };
    double *d = tied_matrix(N), *d2 = malloc(N * N * sizeof *d2);
    for (int64_t k = 0; k < N * N; k++)
        d[k] = d[k] < 0 ? NAN : d[k];
    for (int64_t k = 0; k < N * N; k++)
        d2[k] = d[k] * d[k];
    for (int squared = 0; squared < 2; squared++)
        for (int64_t tau = 1; tau < 40; tau += 6) {
            ddsc_context *ctx = test_context(2, 0);
            ddsc_graph_settings set = graph_settings(tau, 1);
            ddsc_graph *graph = NULL;
            assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, N, squared ? d2 : d,
                                                           (squared ? DDSC_DISTANCE_SQUARED : 0u),
                                                           &set),
                             0);
            assert_cut(graph, N, BASE_MIN(tau, N - 1), d2);
            ddsc_graph_destroy(graph);
            ddsc_context_destroy(ctx);
        }
    free(d);
    free(d2);
}

static void refuse_matrix(double *matrix, int64_t at, double value, const char *text)
{
    ddsc_context *ctx = test_context(2, 0);
    ddsc_graph *graph = NULL;
    double saved = matrix[at];
    matrix[at] = value;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 4, matrix, 0, NULL),
                     DDSC_ERROR_INPUT);
    if (!strstr(ddsc_context_get_message(ctx), text))
        fail_msg("'%s' lacks '%s'", ddsc_context_get_message(ctx), text);
    assert_null(graph);
    matrix[at] = saved;
    ddsc_context_destroy(ctx);
}

static void test_bad_matrix(void **state)
{
    (void)state;
    double matrix[16];
    for (int k = 0; k < 16; k++)
        matrix[k] = k % 5 == 0 ? 0 : 1 + (k / 4) * (k % 4);
    refuse_matrix(matrix, 5, 0.5, "(1, 1) is 0.5");
    refuse_matrix(matrix, 6, -3, "(1, 2) is -3");
    refuse_matrix(matrix, 2, INFINITY, "(0, 2) is inf");
    refuse_matrix(matrix, 7, 1e200, "(1, 3) is 1e+200");
    refuse_matrix(matrix, 7, 4.0001, "(1, 3) is 4.0");
    refuse_matrix(matrix, 11, NAN, "(3, 2) is 7");
    matrix[7] *= 1 + 1e-10;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_graph *graph = NULL;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 4, matrix, 0, NULL), DDSC_OK);
    ddsc_graph_destroy(graph);
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 0, NULL, 0, NULL), DDSC_OK);
    ddsc_graph_destroy(graph);
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, -1, matrix, 0, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 4, NULL, 0, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, NULL, 4, matrix, 0, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_matrix(NULL, &graph, 4, matrix, 0, NULL),
                     DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

/* ---- vectors ---- */

static double *random_rows(int64_t n, int64_t dim, double offset)
{
    rng r = rng_make(9, RNG_GAUSSIANS, (uint64_t)dim);
    double *rows = malloc((size_t)(n * dim) * sizeof *rows);
    for (int64_t p = 0; p < n * dim; p++)
        rows[p] = offset + rng_normal(&r);
    for (int64_t k = 0; k < dim; k++) /* a duplicate and a near one */
        rows[(n - 1) * dim + k] = rows[k];
    for (int64_t k = 0; k < dim; k++)
        rows[(n - 2) * dim + k] = rows[k] + 1e-4 * (k == 0);
    return rows;
}

static void test_from_vectors(void **state)
{
    (void)state;
    const int64_t dims[] = {1, 2, 3, 7, 17, 100};
    const double offsets[] = {0, 1e6};
    ddsc_context *ctx = test_context(2, 0);
    for (int a = 0; a < 12; a++) {
        int64_t n = 130, dim = dims[a % 6];
        double *rows = random_rows(n, dim, offsets[a / 6]);
        ddsc_graph_settings set = graph_settings(8, 1);
        ddsc_graph *graph = NULL;
        ddsc_graph_view view;
        assert_int_equal(ddsc_graph_create_from_vectors(ctx, &graph, n, dim, rows, &set), DDSC_OK);
        ddsc_graph_get_view(graph, &view);
        assert_int_equal(view.n_edges, 8 * n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = view.offset[i]; e < view.offset[i + 1]; e++) {
                double sum = 0;
                for (int64_t k = 0; k < dim; k++) {
                    double step = rows[i * dim + k] - rows[view.index[e] * dim + k];
                    sum += step * step;
                }
                assert_close(view.d2[e], sum, 1e-11, 0);
            }
        assert_true(view.index[0] == n - 1 && view.d2[0] == 0 && view.index[1] == n - 2);
        ddsc_graph_destroy(graph);
        free(rows);
    }
    ddsc_context_destroy(ctx);
}

static void test_bad_vectors(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_graph *graph = NULL;
    double rows[6] = {1, 2, 3, 4, NAN, 6};
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &graph, 3, 2, rows, NULL),
                     DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "vectors: row 2, column 0 is nan"));
    rows[4] = 1e200;
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &graph, 3, 2, rows, NULL),
                     DDSC_ERROR_INPUT);
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &graph, 3, 0, rows, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &graph, 3, 2, NULL, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, NULL, 3, 2, rows, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_null(graph);
    ddsc_graph_view view;
    ddsc_graph_get_view(NULL, &view);
    assert_int_equal(view.n, 0);
    ddsc_graph_destroy(NULL);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_bad_metric_settings),
        cmocka_unit_test(test_short_settings), cmocka_unit_test(test_bad_graph_settings),
        cmocka_unit_test(test_tau_default),    cmocka_unit_test(test_tau_of_documents),
        cmocka_unit_test(test_from_matrix),    cmocka_unit_test(test_bad_matrix),
        cmocka_unit_test(test_from_vectors),   cmocka_unit_test(test_bad_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
