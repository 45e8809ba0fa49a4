/* The pair engine against plain loops, with a backend of its own making: ties, short lists, bad values,
 * cancelled and failing tiles, strips, samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pairs/pairs.h"
#include "support.h"

/* ---- a backend whose values are a function of the pair ---- */

typedef enum trouble { NO_TROUBLE, GIVE_NAN, GIVE_INFINITY, FAIL_TILE, MEET_CAP } trouble;

typedef struct fake {
    ddsc_context *ctx;
    int64_t n, side, strip;
    int64_t ready0, ready1; /* prepared columns */
    trouble kind;
    int64_t at_i, at_j; /* where the trouble is */
} fake;

/* Few distinct values, some negative: ties everywhere. */
static double fake_value(int64_t i, int64_t j)
{
    uint64_t h = rng_hash(7, 7, (uint64_t)BASE_MIN(i, j), (uint64_t)BASE_MAX(i, j));
    return (double)(int64_t)(h % 9) - 1.0;
}

static ddsc_status fake_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                             ddsc_pair_stats *stats)
{
    fake *f = state;
    ddsc_status status = DDSC_OK;
    assert_true(worker >= 0 && worker < parallel_width(f->ctx));
    assert_true(t->i0 <= t->j0 && t->i1 <= f->n && t->j1 <= f->n);
    assert_true(f->strip == 0 || (t->j0 >= f->ready0 && t->j1 <= f->ready1));
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            bool here = i == f->at_i && j == f->at_j;
            double *value = d2 + (i - t->i0) * ld + (j - t->j0);
            *value = tile_wants(t, i, j) ? fake_value(i, j) : NAN;
            if (here && f->kind == GIVE_NAN)
                *value = NAN;
            if (here && f->kind == GIVE_INFINITY)
                *value = INFINITY;
            if (here && f->kind == FAIL_TILE)
                return ctx_fail(f->ctx, DDSC_ERROR_INPUT, "tile of %lld refused", (long long)i);
            if (here && f->kind == MEET_CAP)
                status = DDSC_NOT_CONVERGED;
        }
    stats->n_iterations++;
    stats->max_gap = BASE_MAX(stats->max_gap, (double)t->i0);
    return status;
}

static void fake_plan(const void *state, pair_plan *plan)
{
    const fake *f = state;
    plan->tile_side = f->side;
    plan->strip = f->strip;
}

static ddsc_status fake_prepare(void *state, int64_t j0, int64_t j1)
{
    fake *f = state;
    if (f->strip > 0)
        assert_int_equal(j0, f->ready1);
    f->ready0 = j0;
    f->ready1 = j1;
    return DDSC_OK;
}

static const pair_backend fake_backend = {
    .name = "fake", .tile_side = 5, .tile = fake_tile, .plan = fake_plan, .prepare = fake_prepare};

static fake fake_make(ddsc_context *ctx, int64_t n, int64_t side)
{
    return (fake){.ctx = ctx, .n = n, .side = side, .at_i = -1};
}

/* ---- the plain way ---- */

typedef struct edge {
    double d2;
    int32_t index;
} edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->d2 != y->d2)
        return x->d2 < y->d2 ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The graph is what sorting the rows of `d2` (n x n, NaN: no edge) gives. */
static void assert_cut(const ddsc_graph *graph, int64_t n, int64_t tau, const double *d2)
{
    ddsc_graph_view view;
    ddsc_graph_get_view(graph, &view);
    assert_int_equal(view.n, n);
    assert_int_equal(view.tau, tau);
    edge *row = malloc((size_t)(n + 1) * sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < n; j++)
            if (j != i && !isnan(d2[i * n + j]))
                row[count++] = (edge){d2[i * n + j], (int32_t)j};
        qsort(row, (size_t)count, sizeof *row, compare_edges);
        count = BASE_MIN(count, tau);
        assert_int_equal(view.offset[i + 1] - view.offset[i], count);
        for (int64_t k = 0; k < count; k++) {
            assert_int_equal(view.index[view.offset[i] + k], row[k].index);
            assert_true(view.d2[view.offset[i] + k] == row[k].d2);
        }
    }
    assert_int_equal(view.n_edges, view.offset[n]);
    free(row);
}

static double *fake_matrix(int64_t n)
{
    double *d2 = calloc((size_t)(n * n + 1), sizeof *d2);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            d2[i * n + j] = i == j ? 0 : fake_value(i, j);
    return d2;
}

static void assert_same_graphs(const ddsc_graph *a, const ddsc_graph *b)
{
    ddsc_graph_view x, y;
    ddsc_graph_get_view(a, &x);
    ddsc_graph_get_view(b, &y);
    assert_int_equal(x.n, y.n);
    assert_int_equal(x.tau, y.tau);
    assert_int_equal(x.n_edges, y.n_edges);
    assert_memory_equal(x.offset, y.offset, (size_t)(x.n + 1) * sizeof *x.offset);
    if (x.n_edges > 0) {
        assert_memory_equal(x.index, y.index, (size_t)x.n_edges * sizeof *x.index);
        assert_memory_equal(x.d2, y.d2, (size_t)x.n_edges * sizeof *x.d2);
    }
}

static ddsc_graph_settings graph_settings(int64_t tau, double sample)
{
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    set.sample = sample;
    return set;
}

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
    assert_int_equal(m.sinkhorn_value, DDSC_SINKHORN_REGULARISED);
    assert_true(m.sinkhorn_tolerance == 1e-9 && m.sinkhorn_max_iterations == 100000);
    assert_int_equal(m.mmd_kernel, DDSC_KERNEL_GAUSSIAN);
    assert_true(m.bandwidth_rule == DDSC_BANDWIDTH_AUTO && m.bandwidth == 0);
    assert_int_equal(m.mmd_estimator, DDSC_MMD_UNBIASED);
    assert_int_equal(m.reference_rule, DDSC_REFERENCE_NORMAL);
    assert_true(m.reference_size == 0 && !m.reference_measures && m.w2_max_pivots == 0);
    assert_int_equal(g.struct_size, sizeof g);
    assert_true(g.tau == 0 && g.exact_graph == DDSC_GRAPH_AUTO && g.sample == 1);
    ddsc_metric_settings_init(NULL);
    ddsc_graph_settings_init(NULL);
}

static void refuse_metric(ddsc_context *ctx, const ddsc_metric_settings *set, const char *field)
{
    ddsc_metric_settings own;
    ctx_enter(ctx);
    assert_int_equal(metric_settings_take(ctx, &own, set), DDSC_ERROR_ARGUMENT);
    if (!strstr(ddsc_context_message(ctx), field))
        fail_msg("'%s' does not name %s", ddsc_context_message(ctx), field);
}

#define REFUSE_METRIC(field, value)           \
    do {                                      \
        ddsc_metric_settings set_;            \
        ddsc_metric_settings_init(&set_);     \
        set_.field = (value);                 \
        refuse_metric(ctx, &set_, #field);    \
    } while (0)

static void test_bad_metric_settings(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    REFUSE_METRIC(struct_size, 0);
    REFUSE_METRIC(struct_size, sizeof(ddsc_metric_settings) + 1);
    REFUSE_METRIC(metric, (ddsc_metric)4);
    REFUSE_METRIC(epsilon, 0);
    REFUSE_METRIC(epsilon, NAN);
    REFUSE_METRIC(epsilon, INFINITY);
    REFUSE_METRIC(epsilon_is_percent, 2);
    REFUSE_METRIC(sinkhorn_value, (ddsc_sinkhorn_value)3);
    REFUSE_METRIC(sinkhorn_tolerance, 0);
    REFUSE_METRIC(sinkhorn_tolerance, NAN);
    REFUSE_METRIC(sinkhorn_max_iterations, 0);
    REFUSE_METRIC(mmd_kernel, (ddsc_mmd_kernel)3);
    REFUSE_METRIC(bandwidth_rule, (ddsc_bandwidth_rule)3);
    REFUSE_METRIC(mmd_estimator, (ddsc_mmd_estimator)2);
    REFUSE_METRIC(reference_rule, (ddsc_reference_rule)3);
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
    given.struct_size = offsetof(ddsc_metric_settings, epsilon);
    given.metric = DDSC_METRIC_MMD;
    assert_int_equal(metric_settings_take(ctx, &own, &given), DDSC_OK);
    assert_true(own.metric == DDSC_METRIC_MMD && own.epsilon == 5);
    assert_int_equal(own.struct_size, sizeof own);
    assert_int_equal(metric_settings_take(ctx, &own, NULL), DDSC_OK);
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
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, 1, &set),
                     DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_message(ctx), "tau = -1"));
    for (int k = 0; k < 4; k++) {
        set = graph_settings(1, bad_samples[k]);
        assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, 1, &set),
                         DDSC_ERROR_ARGUMENT);
        assert_non_null(strstr(ddsc_context_message(ctx), "sample"));
    }
    set = graph_settings(1, 1);
    set.exact_graph = (ddsc_exact_graph)9;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, 1, &set),
                     DDSC_ERROR_ARGUMENT);
    set.exact_graph = DDSC_GRAPH_PRUNED;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, 2, zeros, 1, &set),
                     DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_message(ctx), "pruned"));
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
    for (int k = 0; k < 10; k++)
        assert_int_equal(tau_default(n[k]), tau[k]);
}

/* ---- engine ---- */

static void test_matrix(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const int64_t sizes[] = {0, 1, 2, 3, 17, 64, 65}, sides[] = {1, 4, 64, 100};
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 4; b++) {
            int64_t n = sizes[a];
            fake f = fake_make(ctx, n, sides[b]);
            double *expected = fake_matrix(n);
            double *full = malloc((size_t)(n * n + 1) * sizeof *full);
            double *half = malloc((size_t)(n * n + 1) * sizeof *half);
            ddsc_pair_stats stats = {0};
            assert_int_equal(matrix_fill(ctx, full, &stats, n, &fake_backend, &f, false, true), 0);
            assert_int_equal(stats.n_pairs, n * (n - 1) / 2);
            assert_int_equal(stats.n_solved, n * (n - 1) / 2);
            assert_memory_equal(full, expected, (size_t)(n * n) * sizeof *full);
            assert_int_equal(matrix_fill(ctx, half, &stats, n, &fake_backend, &f, true, false), 0);
            int64_t at = 0, negative = 0;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = i + 1; j < n; j++, at++) {
                    assert_true(half[at] == sqrt(BASE_MAX(0.0, expected[i * n + j])));
                    negative += expected[i * n + j] < 0;
                }
            assert_int_equal(stats.n_clamped, 2 * negative);
            free(expected);
            free(full);
            free(half);
        }
    ddsc_context_destroy(ctx);
}

static void test_neighbors(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const int64_t sizes[] = {0, 1, 2, 3, 17, 65}, taus[] = {0, 1, 4, 16, 1000};
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 5; b++) {
            int64_t n = sizes[a];
            int64_t tau = taus[b] == 0 ? tau_default(n) : BASE_MAX(0, BASE_MIN(taus[b], n - 1));
            fake f = fake_make(ctx, n, 6);
            ddsc_graph_settings set = graph_settings(taus[b], 1);
            ddsc_graph *graph = NULL;
            ddsc_pair_stats stats = {0};
            double *d2 = fake_matrix(n);
            assert_int_equal(neighbors_search(ctx, &graph, &stats, n, &fake_backend, &f, &set), 0);
            assert_cut(graph, n, tau, d2);
            free(d2);
            ddsc_graph_destroy(graph);
        }
    ddsc_context_destroy(ctx);
}

static void test_strips(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    fake f = fake_make(ctx, 50, 4);
    f.strip = 12;
    double *expected = fake_matrix(50), *full = calloc(2500, sizeof *full);
    ddsc_pair_stats stats = {0};
    assert_int_equal(matrix_fill(ctx, full, &stats, 50, &fake_backend, &f, false, true), 0);
    assert_memory_equal(full, expected, 2500 * sizeof *full);
    assert_int_equal(f.ready1, 50);
    assert_int_equal(stats.n_iterations, 13 * 14 / 2);
    assert_true(stats.max_gap == 48);
    free(expected);
    free(full);
    ddsc_context_destroy(ctx);
}

static void test_threads_agree(void **state)
{
    (void)state;
    enum { N = 90 };
    ddsc_graph *graph[3] = {0};
    ddsc_context *ctx[3];
    for (int k = 0; k < 3; k++) {
        ctx[k] = test_context(k + 1, 5);
        fake f = fake_make(ctx[k], N, 7);
        ddsc_graph_settings set = graph_settings(6, 0.7);
        ddsc_pair_stats stats = {0};
        assert_int_equal(neighbors_search(ctx[k], &graph[k], &stats, N, &fake_backend, &f, &set), 0);
        assert_same_graphs(graph[k], graph[0]);
    }
    for (int k = 0; k < 3; k++) {
        ddsc_graph_destroy(graph[k]);
        ddsc_context_destroy(ctx[k]);
    }
}

static void test_trouble(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const struct {
        trouble kind;
        ddsc_status status;
        const char *text;
    } cases[] = {{GIVE_NAN, DDSC_ERROR_INTERNAL, "nan for items 3 and 31"},
                 {GIVE_INFINITY, DDSC_ERROR_INTERNAL, "inf for items 3 and 31"},
                 {FAIL_TILE, DDSC_ERROR_INPUT, "tile of 3 refused"},
                 {MEET_CAP, DDSC_NOT_CONVERGED, ""}};
    for (int k = 0; k < 4; k++) {
        fake f = fake_make(ctx, 40, 4);
        f.kind = cases[k].kind;
        f.at_i = 3;
        f.at_j = 31;
        ddsc_graph_settings set = graph_settings(5, 1);
        ddsc_graph *graph = NULL;
        ddsc_pair_stats stats = {0};
        ctx_enter(ctx);
        assert_int_equal(neighbors_search(ctx, &graph, &stats, 40, &fake_backend, &f, &set),
                         cases[k].status);
        assert_true((graph != NULL) == (cases[k].status > 0));
        assert_non_null(strstr(ddsc_context_message(ctx), cases[k].text));
        ddsc_graph_destroy(graph);
    }
    ddsc_context_destroy(ctx);
}

typedef struct watch {
    int n_calls, stop_after;
    int64_t last_done, last_total;
} watch;

static int stop(void *user)
{
    watch *w = user;
    return ++w->n_calls > w->stop_after;
}

static void see(void *user, const char *stage, int64_t done, int64_t total)
{
    watch *w = user;
    assert_string_equal(stage, "distances");
    assert_true(done >= 0 && done <= total);
    w->last_done = done;
    w->last_total = total;
}

static void test_cancel_and_progress(void **state)
{
    (void)state;
    watch w = {.stop_after = 3};
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 2;
    set.cancel = stop;
    set.cancel_user = &w;
    set.progress = see;
    set.progress_user = &w;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    fake f = fake_make(ctx, 60, 1);
    ddsc_graph_settings graph_set = graph_settings(5, 1);
    ddsc_graph *graph = NULL;
    ddsc_pair_stats stats = {0};
    ctx_enter(ctx);
    assert_int_equal(neighbors_search(ctx, &graph, &stats, 60, &fake_backend, &f, &graph_set),
                     DDSC_ERROR_CANCELLED);
    assert_null(graph);
    w.stop_after = 1 << 30;
    ctx_enter(ctx);
    assert_int_equal(neighbors_search(ctx, &graph, &stats, 60, &fake_backend, &f, &graph_set), 0);
    assert_true(w.last_done == 60 * 59 / 2 && w.last_total == 60 * 59 / 2);
    ddsc_graph_destroy(graph);
    ddsc_context_destroy(ctx);
}

/* ---- sample ---- */

static void test_sampled_fraction(void **state)
{
    (void)state;
    const double p[] = {0.01, 0.1, 0.5, 0.9};
    for (int k = 0; k < 4; k++) {
        int64_t n = 600, count = 0, total = n * (n - 1) / 2;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                bool yes = pair_sampled(3, p[k], i, j);
                assert_int_equal(yes, pair_sampled(3, p[k], j, i));
                count += yes;
            }
        double deviation = sqrt((double)total * p[k] * (1 - p[k]));
        assert_true(fabs((double)count - p[k] * (double)total) < 5 * deviation);
    }
    assert_true(pair_sampled(3, 1.0, 4, 5));
    int64_t both = 0;
    for (int64_t j = 1; j < 2000; j++)
        both += pair_sampled(1, 0.5, 0, j) && pair_sampled(2, 0.5, 0, j);
    assert_true(both > 400 && both < 600);
}

static void test_sampled_neighbors(void **state)
{
    (void)state;
    enum { N = 70 };
    ddsc_context *ctx = test_context(2, 11);
    fake f = fake_make(ctx, N, 8);
    ddsc_graph_settings set = graph_settings(9, 0.1);
    ddsc_graph *graph = NULL;
    ddsc_pair_stats stats = {0};
    double *d2 = fake_matrix(N);
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            if (!pair_sampled(11, 0.1, i, j))
                d2[i * N + j] = NAN;
            else
                count += i < j;
        }
    assert_int_equal(neighbors_search(ctx, &graph, &stats, N, &fake_backend, &f, &set), 0);
    assert_cut(graph, N, 9, d2);
    assert_int_equal(stats.n_pairs, N * (N - 1) / 2);
    assert_int_equal(stats.n_solved, count);
    ddsc_graph_destroy(graph);
    graph = NULL;
    for (int64_t k = 0; k < N * N; k++)
        d2[k] = isnan(d2[k]) ? NAN : fabs(d2[k]);
    for (int64_t i = 0; i < N; i++)
        d2[i * N + i] = 0;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, N, d2, 1, &set), DDSC_OK);
    assert_cut(graph, N, 9, d2);
    ddsc_graph_destroy(graph);
    free(d2);
    ddsc_context_destroy(ctx);
}

/* ---- matrices ---- */

static void test_from_matrix(void **state)
{
    (void)state;
    enum { N = 33 };
    double *d = fake_matrix(N), *d2 = malloc(N * N * sizeof *d2);
    for (int64_t k = 0; k < N * N; k++)
        d[k] = d[k] < 0 ? NAN : d[k];
    for (int64_t k = 0; k < N * N; k++)
        d2[k] = d[k] * d[k];
    for (int squared = 0; squared < 2; squared++)
        for (int64_t tau = 1; tau < 40; tau += 6) {
            ddsc_context *ctx = test_context(2, 0);
            ddsc_graph_settings set = graph_settings(tau, 1);
            ddsc_graph *graph = NULL;
            assert_int_equal(
                ddsc_graph_create_from_matrix(ctx, &graph, N, squared ? d2 : d, squared, &set), 0);
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
    if (!strstr(ddsc_context_message(ctx), text))
        fail_msg("'%s' lacks '%s'", ddsc_context_message(ctx), text);
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
    assert_non_null(strstr(ddsc_context_message(ctx), "vector 2, coordinate 0 is nan"));
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

/* ---- the public calls, every metric ---- */

static ddsc_metric_settings metric_settings(ddsc_metric metric)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    set.sinkhorn_tolerance = 1e-6;
    return set;
}

/* The graph is the one cut from the matrix, bit for bit, for 1, 2 and 3 threads. */
static void check_metric(ddsc_metric metric, int64_t n, int64_t points, int64_t dim)
{
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 4);
        measures *m = test_random_measures(ctx, n, points, dim, 77);
        ddsc_metric_settings set = metric_settings(metric);
        ddsc_graph_settings graph_set = graph_settings(7, 1);
        double *d2 = malloc((size_t)(n * n) * sizeof *d2);
        double *half = malloc((size_t)(n * n) * sizeof *half);
        ddsc_pair_stats stats, again;
        ddsc_graph *graph = NULL;
        assert_true(ddsc_distance_run(ctx, d2, &stats, m, &set, 0, 1) >= 0);
        assert_true(ddsc_distance_run(ctx, half, &again, m, &set, 1, 1) >= 0);
        assert_true(ddsc_neighbors_run(ctx, &graph, &again, m, &set, &graph_set) >= 0);
        assert_cut(graph, n, 7, d2);
        assert_int_equal(stats.n_pairs, n * (n - 1) / 2);
        assert_int_equal(stats.n_solved, n * (n - 1) / 2);
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++) {
            assert_true(d2[i * n + i] == 0);
            for (int64_t j = i + 1; j < n; j++) {
                assert_true(d2[i * n + j] == d2[j * n + i]);
                assert_true(d2[i * n + j] == half[at++]);
            }
        }
        if (first)
            assert_memory_equal(first, d2, (size_t)(n * n) * sizeof *d2);
        else
            first = memcpy(malloc((size_t)(n * n) * sizeof *d2), d2, (size_t)(n * n) * sizeof *d2);
        ddsc_graph_destroy(graph);
        free(d2);
        free(half);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
    free(first);
}

static void test_metrics(void **state)
{
    (void)state;
    for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_LOT; metric++) {
        check_metric((ddsc_metric)metric, 23, 6, 2);
        check_metric((ddsc_metric)metric, 37, 9, 20);
    }
}

static void test_w2_stats(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_random_measures(ctx, 12, 30, 3, 5);
    double *d = malloc(144 * sizeof *d);
    ddsc_metric_settings set = metric_settings(DDSC_METRIC_W2);
    ddsc_pair_stats stats;
    assert_int_equal(ddsc_distance_run(ctx, d, &stats, m, &set, 0, 0), DDSC_OK);
    assert_true(stats.max_gap <= 1e-10 && stats.n_iterations > 0 && stats.n_not_converged == 0);
    for (int64_t i = 0; i < 12; i++) /* a metric: the triangle holds */
        for (int64_t j = 0; j < 12; j++)
            for (int64_t k = 0; k < 12; k++)
                assert_true(d[i * 12 + j] <= d[i * 12 + k] + d[k * 12 + j] + 1e-9);
    set.w2_max_pivots = 1;
    assert_int_equal(ddsc_distance_run(ctx, d, &stats, m, &set, 0, 0), DDSC_NOT_CONVERGED);
    assert_true(stats.n_not_converged > 0);
    assert_non_null(strstr(ddsc_context_message(ctx), "cap"));
    free(d);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_bad_calls(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 3, 4, 2, 1);
    double out[9] = {0};
    ddsc_graph *graph = NULL;
    assert_int_equal(ddsc_distance_run(NULL, out, NULL, m, NULL, 0, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_distance_run(ctx, NULL, NULL, m, NULL, 0, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, NULL, NULL, 0, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, NULL, 0, 0), DDSC_OK);
    assert_int_equal(ddsc_neighbors_run(NULL, &graph, NULL, m, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_neighbors_run(ctx, NULL, NULL, m, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, NULL, NULL, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_metric_settings mmd = metric_settings(DDSC_METRIC_MMD);
    ddsc_graph_settings pruned = graph_settings(1, 1);
    pruned.exact_graph = DDSC_GRAPH_PRUNED;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, m, &mmd, &pruned), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_message(ctx), "mmd has no lower bounds"));
    assert_null(graph);
    ddsc_measures_destroy(m);
    const double far[2] = {0, 1e180};
    const int64_t offsets[3] = {0, 1, 2};
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 2, 1, far, NULL, offsets, DDSC_EMPTY_ERROR), DDSC_OK);
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, NULL, 0, 0), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_message(ctx), "1e+180"));
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_memory_without_matrix(void **state)
{
    (void)state;
    enum { N = 3000 };
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_random_measures(ctx, N, 3, 1, 2);
    ddsc_metric_settings set = metric_settings(DDSC_METRIC_MMD);
    ddsc_graph *graph = NULL;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, m, &set, NULL), DDSC_OK);
    assert_true(ddsc_context_get_peak_memory(ctx) < (int64_t)N * N * 8 / 2);
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- failed allocations ---- */

static ddsc_status call_distance(ddsc_context *ctx, void *arg)
{
    double out[64];
    const ddsc_metric_settings set = metric_settings(*(const ddsc_metric *)arg);
    ddsc_context *other = test_context(1, 0);
    measures *m = test_random_measures(other, 8, 5, 2, 3);
    ddsc_status status = ddsc_distance_run(ctx, out, NULL, m, &set, 0, 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}

static ddsc_status call_neighbors(ddsc_context *ctx, void *arg)
{
    const ddsc_metric_settings set = metric_settings(*(const ddsc_metric *)arg);
    const ddsc_graph_settings graph_set = graph_settings(2, 0.5);
    ddsc_context *other = test_context(1, 0);
    measures *m = test_random_measures(other, 8, 5, 2, 3);
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_neighbors_run(ctx, &graph, NULL, m, &set, &graph_set);
    assert_true((graph != NULL) == (status >= 0));
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}

static ddsc_status call_matrix(ddsc_context *ctx, void *arg)
{
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_graph_create_from_matrix(ctx, &graph, 3, arg, 1, NULL);
    ddsc_graph_destroy(graph);
    return status;
}

static ddsc_status call_vectors(ddsc_context *ctx, void *arg)
{
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_graph_create_from_vectors(ctx, &graph, 3, 3, arg, NULL);
    ddsc_graph_destroy(graph);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    double zeros[9] = {0};
    for (int k = DDSC_METRIC_W2; k <= DDSC_METRIC_LOT; k++) {
        ddsc_metric metric = (ddsc_metric)k;
        assert_true(test_failing_allocations(call_distance, &metric) > 3);
        assert_true(test_failing_allocations(call_neighbors, &metric) > 3);
    }
    assert_true(test_failing_allocations(call_matrix, zeros) > 3);
    assert_true(test_failing_allocations(call_vectors, zeros) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bad_metric_settings),
        cmocka_unit_test(test_short_settings),
        cmocka_unit_test(test_bad_graph_settings),
        cmocka_unit_test(test_tau_default),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_neighbors),
        cmocka_unit_test(test_strips),
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_cancel_and_progress),
        cmocka_unit_test(test_sampled_fraction),
        cmocka_unit_test(test_sampled_neighbors),
        cmocka_unit_test(test_from_matrix),
        cmocka_unit_test(test_bad_matrix),
        cmocka_unit_test(test_from_vectors),
        cmocka_unit_test(test_bad_vectors),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_w2_stats),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_memory_without_matrix),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
