/* Affinity, components and the operator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/graph/graph.h"
#include "support.h"

/* Creates a graph from a full matrix of D^2 (n x n): the tau smallest entries of each row. */
static ddsc_graph *cut_graph(ddsc_context *ctx, int64_t n, int64_t tau, const double *d2)
{
    ddsc_graph *g;
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    if (ddsc_graph_create_from_matrix(ctx, &g, n, d2, DDSC_DISTANCE_SQUARED, &set) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return g;
}

static double *random_d2(int64_t n, uint64_t seed)
{
    double *d2 = calloc((size_t)(n * n), sizeof *d2);
    rng r = rng_make(seed, RNG_GAUSSIANS, 3);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            d2[i * n + j] = d2[j * n + i] = 0.1 + rng_uniform(&r);
    return d2;
}

static double entry(const sparse *a, int64_t i, int64_t j)
{
    for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
        if (a->column[p] == j)
            return a->value[p];
    return 0;
}

static bool has_edge(const ddsc_graph *g, int64_t i, int64_t j)
{
    for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++)
        if (g->index[p] == j)
            return true;
    return false;
}

static void assert_sorted_symmetric(const sparse *a)
{
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++) {
            assert_true(p == a->offset[i] || a->column[p - 1] < a->column[p]);
            assert_true(a->column[p] != i);
            assert_true(entry(a, a->column[p], i) == a->value[p]);
        }
}

/* Checks every entry against the formula, for each rule. */
static void test_affinity(void **state)
{
    (void)state;
    enum { N = 60, TAU = 9 };
    ddsc_context *ctx = test_context(2, 0);
    double *d2 = random_d2(N, 1);
    ddsc_graph *g = cut_graph(ctx, N, TAU, d2);
    for (int rule = 0; rule < 3; rule++) {
        sparse a;
        affinity_report report;
        affinity_settings set = {.rule = (ddsc_gamma_rule)rule, .gamma = 1.7};
        assert_int_equal(affinity_build(ctx, &a, &report, g, &set), DDSC_OK);
        assert_sorted_symmetric(&a);
        assert_true(report.n_clamped == 0 && report.n_faint == 0 && !report.flat);
        assert_int_equal(report.gamma == 0, rule == DDSC_GAMMA_AUTO);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                double si = sqrt(g->d2[g->offset[i] + 6]), sj = sqrt(g->d2[g->offset[j] + 6]);
                double rate = rule == DDSC_GAMMA_AUTO ? 2 / (si * sj) : report.gamma;
                double half = exp(-rate * d2[i * N + j]) / 2;
                double expected = half * (has_edge(g, i, j) + has_edge(g, j, i));
                assert_close(entry(&a, i, j), expected, 1e-13, 0);
            }
        sparse_free(ctx, &a);
    }
    ddsc_graph_destroy(g);
    free(d2);
    ddsc_context_destroy(ctx);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_median(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int64_t n = 3; n < 40; n++) {
        double *d2 = random_d2(n, (uint64_t)n);
        ddsc_graph *g = cut_graph(ctx, n, 1 + n % 4, d2);
        int64_t m = g->offset[n];
        double *sorted = malloc((size_t)m * sizeof *sorted);
        memcpy(sorted, g->d2, (size_t)m * sizeof *sorted);
        qsort(sorted, (size_t)m, sizeof *sorted, compare);
        sparse a;
        affinity_report report;
        affinity_settings set = {.rule = DDSC_GAMMA_MEDIAN};
        assert_int_equal(affinity_build(ctx, &a, &report, g, &set), DDSC_OK);
        assert_close(1 / report.gamma, (sorted[(m - 1) / 2] + sorted[m / 2]) / 2, 1e-14, 0);
        sparse_free(ctx, &a);
        free(sorted);
        ddsc_graph_destroy(g);
        free(d2);
    }
    ddsc_context_destroy(ctx);
}

/* A single gamma is used only if items of a sparse cluster have neighbors in a dense cluster inside
 * it. */
static void test_auto_gamma(void **state)
{
    (void)state;
    enum { ROWS = 240, DIM = 10 };
    static const struct {
        double wide, apart;
        bool one;
    } cases[] = {{12, 0, true}, {1, 0, false}, {12, 400, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            ddsc_context *ctx = test_context(1, seed);
            rng random = rng_make(seed, RNG_GAUSSIANS, 0);
            double rows[ROWS * DIM];
            ddsc_graph_settings how;
            ddsc_graph *g;
            sparse a = {0};
            affinity_report report;
            affinity_settings set = {.rule = DDSC_GAMMA_AUTO};
            for (int i = 0; i < ROWS; i++)
                for (int c = 0; c < DIM; c++)
                    rows[i * DIM + c] = (i % 2 ? cases[k].wide : 1) * rng_normal(&random) +
                                        (i % 2 && c == 0 ? cases[k].apart : 0);
            ddsc_graph_settings_init(&how);
            assert_int_equal(ddsc_graph_create_from_vectors(ctx, &g, ROWS, DIM, rows, &how),
                             DDSC_OK);
            assert_int_equal(affinity_build(ctx, &a, &report, g, &set), DDSC_OK);
            assert_int_equal(report.gamma > 0, cases[k].one);
            sparse_free(ctx, &a);
            ddsc_graph_destroy(g);
            ddsc_context_destroy(ctx);
        }
}

/* Duplicates have scale 0, negative estimates are clamped, and a huge gamma underflows: all
 * affinities stay finite and positive, and the components are those of the graph. */
static void test_extremes(void **state)
{
    (void)state;
    enum { N = 40, TAU = 10 };
    ddsc_context *ctx = test_context(2, 0);
    double *d2 = random_d2(N, 2);
    for (int64_t i = 0; i < 15; i++)
        for (int64_t j = 0; j < 15; j++)
            d2[i * N + j] = 0;
    ddsc_graph *g = cut_graph(ctx, N, TAU, d2);
    g->d2[g->offset[30]] = -0.5;
    static const affinity_settings sets[] = {{.rule = DDSC_GAMMA_AUTO},
                                             {.rule = DDSC_GAMMA_MEDIAN},
                                             {.rule = DDSC_GAMMA_VALUE, .gamma = 1e12},
                                             {.rule = DDSC_GAMMA_VALUE, .gamma = 1e-300}};
    for (int s = 0; s < 4; s++) {
        sparse a, m;
        affinity_report report;
        double degree[N];
        assert_int_equal(affinity_build(ctx, &a, &report, g, &sets[s]), DDSC_OK);
        assert_sorted_symmetric(&a);
        assert_int_equal(report.n_clamped, 1);
        assert_int_equal(report.n_faint > 0, s == 2);
        for (int64_t p = 0; p < a.nnz; p++)
            assert_true(a.value[p] > 0 && a.value[p] <= 1);
        assert_true(entry(&a, 0, 1) > 0.49); /* equal items keep weight 1, or 1/2 for one-sided
                                              * edges */
        assert_int_equal(operator_build(ctx, &m, degree, &a), DDSC_OK);
        for (int64_t p = 0; p < m.nnz; p++)
            assert_true(m.value[p] > 0 && m.value[p] <= 1);
        sparse_free(ctx, &m);
        sparse_free(ctx, &a);
    }
    for (int64_t p = 0; p < g->offset[N]; p++)
        g->d2[p] = 0;
    sparse a;
    affinity_report report;
    assert_int_equal(affinity_build(ctx, &a, &report, g, &sets[0]), DDSC_OK);
    assert_true(report.flat);
    sparse_free(ctx, &a);
    ddsc_graph_destroy(g);
    free(d2);
    ddsc_context_destroy(ctx);
}

/* Components against repeated spreading of the lowest index. */
static void test_components(void **state)
{
    (void)state;
    enum { N = 300 };
    ddsc_context *ctx = test_context(1, 0);
    for (uint64_t seed = 1; seed < 6; seed++) {
        double *d2 = malloc(N * N * sizeof *d2);
        rng r = rng_make(seed, RNG_GAUSSIANS, 5);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j <= i; j++) {
                bool known = i != j && rng_uniform(&r) < 0.004 * (double)seed;
                d2[i * N + j] = d2[j * N + i] = known ? rng_uniform(&r) : NAN;
            }
        for (int64_t i = 0; i < N; i++)
            d2[i * N + i] = 0;
        ddsc_graph *g = cut_graph(ctx, N, 4, d2);
        sparse a;
        affinity_report report;
        affinity_settings set = {.rule = DDSC_GAMMA_AUTO};
        int32_t component[N], lowest[N];
        int64_t count, expected = 0;
        assert_int_equal(affinity_build(ctx, &a, &report, g, &set), DDSC_OK);
        assert_int_equal(components_find(ctx, component, &count, a.n, a.offset, a.column), DDSC_OK);
        for (int32_t i = 0; i < N; i++)
            lowest[i] = i;
        for (bool changed = true; changed;) {
            changed = false;
            for (int64_t i = 0; i < N; i++)
                for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++)
                    if (lowest[a.column[p]] < lowest[i]) {
                        lowest[i] = lowest[a.column[p]];
                        changed = true;
                    }
        }
        for (int64_t i = 0; i < N; i++) {
            if (lowest[i] == i)
                assert_int_equal(component[i], expected++);
            assert_int_equal(component[i], component[lowest[i]]);
        }
        assert_int_equal(count, expected);
        sparse_free(ctx, &a);
        ddsc_graph_destroy(g);
        free(d2);
    }
    ddsc_context_destroy(ctx);
}

/* sqrt(degree) is an eigenvector of eigenvalue 1, also for isolated items; any block width. */
static void test_operator(void **state)
{
    (void)state;
    enum { N = 50 };
    ddsc_context *ctx = test_context(2, 0);
    double *d2 = random_d2(N, 7);
    for (int64_t i = 0; i < N; i++)
        d2[i * N + 17] = d2[17 * N + i] = i == 17 ? 0 : NAN;
    ddsc_graph *g = cut_graph(ctx, N, 5, d2);
    sparse a, m;
    affinity_report report;
    affinity_settings set = {.rule = DDSC_GAMMA_AUTO};
    double degree[N];
    assert_int_equal(affinity_build(ctx, &a, &report, g, &set), DDSC_OK);
    assert_int_equal(operator_build(ctx, &m, degree, &a), DDSC_OK);
    for (int64_t b = 1; b <= 20; b++) {
        double *x = malloc((size_t)(N * b) * sizeof *x), *y = malloc((size_t)(N * b) * sizeof *y);
        for (int64_t i = 0; i < N * b; i++)
            x[i] = sqrt(degree[i / b]) * (double)(1 + i % b);
        assert_int_equal(operator_apply(ctx, &m, b, x, y), DDSC_OK);
        for (int64_t i = 0; i < N * b; i++)
            assert_close(y[i], x[i], 1e-13, 0);
        /* 3 (M x - 2 x) - y with M x = x, y = x: -4 x. */
        assert_int_equal(operator_step(ctx, &m, b, 3, 2, 1, x, y), DDSC_OK);
        for (int64_t i = 0; i < N * b; i++)
            assert_close(y[i], -4 * x[i], 1e-13, 0);
        free(x);
        free(y);
    }
    sparse_free(ctx, &m);
    sparse_free(ctx, &a);
    ddsc_graph_destroy(g);
    free(d2);
    ddsc_context_destroy(ctx);
}

/* Every sum follows the order of the row's entries, for any width and any location of x. The last
 * size exceeds the first-level cache. */
static void test_operator_bits(void **state)
{
    (void)state;
    static const int64_t sizes[] = {300, 40000}, widths[] = {3, 8, 13, 16, 24, 43};
    ddsc_context *ctx = test_context(2, 0);
    for (size_t s = 0; s < 2; s++) {
        sparse m;
        int64_t n = sizes[s], at = 0;
        assert_int_equal(sparse_new(ctx, &m, n, 20 * n), DDSC_OK);
        rng r = rng_make(3, RNG_GAUSSIANS, s);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t q = 0; q < i % 20; q++, at++) {
                m.column[at] = (int32_t)rng_below(&r, n);
                m.value[at] = rng_normal(&r);
            }
            m.offset[i + 1] = at;
        }
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            int64_t b = widths[w];
            size_t bytes = (size_t)(n * b) * sizeof(double);
            double *x = malloc(bytes), *y = malloc(bytes), *z = malloc(bytes);
            for (int64_t k = 0; k < n * b; k++) {
                x[k] = rng_normal(&r);
                y[k] = z[k] = rng_normal(&r);
            }
            for (int64_t k = 0; k < n * b; k++) {
                double sum = 0;
                for (int64_t p = m.offset[k / b]; p < m.offset[k / b + 1]; p++)
                    sum += m.value[p] * x[m.column[p] * b + k % b];
                z[k] = 1.7 * (sum - 0.3 * x[k]) - 0.9 * z[k];
            }
            assert_int_equal(operator_step(ctx, &m, b, 1.7, 0.3, 0.9, x, y), DDSC_OK);
            assert_memory_equal(y, z, bytes);
            free(x);
            free(y);
            free(z);
        }
        sparse_free(ctx, &m);
    }
    ddsc_context_destroy(ctx);
}

static void test_narrow(void **state)
{
    (void)state;
    enum { N = 30 };
    ddsc_context *ctx = test_context(1, 0);
    double *d2 = random_d2(N, 11);
    ddsc_graph *wide = cut_graph(ctx, N, 12, d2), *cut = cut_graph(ctx, N, 5, d2), *narrow;
    assert_int_equal(graph_narrow(ctx, &narrow, wide, 5), DDSC_OK);
    assert_int_equal(narrow->tau, 5);
    assert_memory_equal(narrow->offset, cut->offset, (N + 1) * sizeof *cut->offset);
    assert_memory_equal(narrow->index, cut->index, 5 * N * sizeof *cut->index);
    assert_memory_equal(narrow->d2, cut->d2, 5 * N * sizeof *cut->d2);
    ddsc_graph_destroy(narrow);
    ddsc_graph_destroy(cut);
    ddsc_graph_destroy(wide);
    free(d2);
    ddsc_context_destroy(ctx);
}

static ddsc_status build_call(ddsc_context *ctx, void *arg)
{
    sparse a, m = {0};
    affinity_report report;
    affinity_settings set = {.rule = DDSC_GAMMA_AUTO};
    double degree[20];
    int32_t component[20];
    int64_t count;
    ddsc_status status = affinity_build(ctx, &a, &report, arg, &set);
    if (status >= 0)
        status = components_find(ctx, component, &count, a.n, a.offset, a.column);
    if (status >= 0)
        status = operator_build(ctx, &m, degree, &a);
    sparse_free(ctx, &m);
    sparse_free(ctx, &a);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double *d2 = random_d2(20, 1);
    ddsc_graph *g = cut_graph(ctx, 20, 4, d2);
    assert_true(test_failing_allocations(build_call, g) > 10);
    ddsc_graph_destroy(g);
    free(d2);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affinity), cmocka_unit_test(test_median),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_components),
        cmocka_unit_test(test_operator), cmocka_unit_test(test_operator_bits),
        cmocka_unit_test(test_narrow),   cmocka_unit_test(test_auto_gamma),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
