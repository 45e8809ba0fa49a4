/* Spectral clustering of graphs and of measures: planted clusters, sweeps, unusual graphs,
 * guarantees. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "support.h"

/* sizes[g] points around center (10 g, 0), consecutive. */
static double *groups(int64_t k, const int64_t *sizes, double spread, uint64_t seed)
{
    int64_t n = 0, at = 0;
    for (int64_t g = 0; g < k; g++)
        n += sizes[g];
    double *rows = malloc((size_t)(2 * n) * sizeof *rows);
    rng r = rng_make(seed, RNG_GAUSSIANS, 2);
    for (int64_t g = 0; g < k; g++)
        for (int64_t i = 0; i < sizes[g]; i++, at++) {
            rows[2 * at] = 10 * (double)g + spread * rng_normal(&r);
            rows[2 * at + 1] = spread * rng_normal(&r);
        }
    return rows;
}

static ddsc_graph *vector_graph(ddsc_context *ctx, int64_t n, const double *rows, int64_t tau)
{
    ddsc_graph *g;
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    if (ddsc_graph_create_from_vectors(ctx, &g, n, 2, rows, &set) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return g;
}

static ddsc_cluster_settings settings(int64_t k_min, int64_t k_max, int paper)
{
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = k_min;
    set.k_max = k_max;
    set.paper = paper;
    return set;
}

static ddsc_clustering *spectral(ddsc_context *ctx, ddsc_clustering_view *view,
                                 const ddsc_graph *graph, ddsc_cluster_settings set)
{
    ddsc_clustering *c;
    if (ddsc_spectral_run(ctx, &c, graph, &set) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    ddsc_clustering_get_view(c, view);
    assert_ptr_equal(ddsc_clustering_get_labels(c), view->labels);
    return c;
}

/* Labels are 0, 1, ... for consecutive clusters. */
static void assert_groups(const int32_t *labels, int64_t k, const int64_t *sizes)
{
    int64_t at = 0;
    for (int64_t g = 0; g < k; g++)
        for (int64_t i = 0; i < sizes[g]; i++, at++)
            assert_int_equal(labels[at], g);
}

static void assert_view(const ddsc_clustering_view *v)
{
    assert_true(v->verified && v->max_residual <= 1e-8);
    for (int64_t j = 0; j < v->n_eigenvalues; j++) {
        assert_true(v->eigenvalues[j] >= 0 && v->eigenvalues[j] <= 2 + 1e-12);
        assert_true(j == 0 || v->eigenvalues[j] >= v->eigenvalues[j - 1] - 1e-12);
        assert_true(v->residuals[j] <= v->max_residual);
    }
    int32_t next = 0;
    for (int64_t i = 0; i < v->n; i++) {
        assert_true(v->labels[i] >= 0 && v->labels[i] <= next && v->labels[i] < v->k);
        next += v->labels[i] == next;
        double norm = 0;
        for (int64_t j = 0; j < v->n_vectors; j++)
            norm += v->embedding[i * v->n_vectors + j] * v->embedding[i * v->n_vectors + j];
        assert_true(norm == 0 || fabs(norm - 1) < 1e-12);
    }
    assert_non_null(v->advice);
}

static void test_settings(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_cluster_settings s;
    cluster_plan own;
    memset(&s, 0xA5, sizeof s);
    ddsc_cluster_settings_init(&s);
    assert_true(s.struct_size == sizeof s && s.k_min == 0 && s.k_max == 0);
    assert_true(s.gamma_rule == DDSC_GAMMA_AUTO && s.gamma == 0 && s.paper == 0);
    assert_true(s.min_cluster == 0.2 && s.kmeans_restarts == 30 && s.eigen_tolerance == 1e-8);
    assert_true(s.eigen_max_iterations > 0 && !s.metric && !s.graph);
    assert_int_equal(cluster_settings_take(ctx, &own, &s), DDSC_OK);
    assert_true(own.set.metric == &own.metric && own.set.graph == &own.graph);
    assert_true(own.metric.sinkhorn_tolerance == 1e-9 && own.graph.sample == 1);
    ddsc_cluster_settings_init_sized(NULL, 8);
    const ddsc_cluster_settings good = s;
#define REFUSED(change, word)                                                        \
    do {                                                                             \
        s = good;                                                                    \
        change;                                                                      \
        ctx_enter(ctx);                                                              \
        assert_int_equal(cluster_settings_take(ctx, &own, &s), DDSC_ERROR_ARGUMENT); \
        assert_non_null(strstr(ddsc_context_get_message(ctx), word));                \
    } while (0)
    REFUSED(s.struct_size = 0, "struct_size");
    REFUSED(s.struct_size = sizeof s + 1, "struct_size");
    REFUSED(s.k_min = -1, "k_min = -1");
    REFUSED(s.k_max = 3, "k_max = 3");
    REFUSED((s.k_min = 4, s.k_max = 3), "k_min = 4");
    REFUSED(s.gamma_rule = (ddsc_gamma_rule)7, "gamma_rule = 7");
    REFUSED(s.gamma_rule = DDSC_GAMMA_VALUE, "gamma = 0");
    REFUSED((s.gamma_rule = DDSC_GAMMA_VALUE, s.gamma = INFINITY), "gamma = inf");
    REFUSED(s.min_cluster = NAN, "min_cluster");
    REFUSED(s.min_cluster = 1.5, "min_cluster = 1.5");
    REFUSED(s.kmeans_restarts = 0, "kmeans_restarts = 0");
    REFUSED(s.eigen_tolerance = 0, "eigen_tolerance = 0");
    REFUSED(s.eigen_max_iterations = 0, "eigen_max_iterations = 0");
#undef REFUSED
    ddsc_context_destroy(ctx);
}

/* Linked clusters, with the default rules, the plain algorithm and every gamma. */
static void test_groups(void **state)
{
    (void)state;
    static const int64_t sizes[] = {60, 90, 75, 50};
    ddsc_context *ctx = test_context(2, 0);
    double *rows = groups(4, sizes, 1.9, 1);
    ddsc_graph *g = vector_graph(ctx, 275, rows, 10);
    for (int paper = 0; paper < 2; paper++)
        for (int rule = 0; rule < 3; rule++) {
            ddsc_cluster_settings set = settings(4, 4, paper);
            ddsc_clustering_view v;
            set.gamma_rule = (ddsc_gamma_rule)rule;
            set.gamma = 2;
            ddsc_clustering *c = spectral(ctx, &v, g, set);
            assert_view(&v);
            assert_true(v.n == 275 && v.k == 4 && v.n_sweep == 1 && v.sweep[0]->k == 4);
            assert_int_equal(v.n_vectors, paper ? 4 : 30);
            assert_int_equal(v.gamma == 0, rule == DDSC_GAMMA_AUTO && !paper);
            assert_true(v.n_eigenvalues >= 5 && v.eigen_dense && !v.graph);
            int64_t wrong = 0, at = 0;
            for (int64_t group = 0; group < 4; group++)
                for (int64_t i = 0; i < sizes[group]; i++, at++)
                    wrong += v.labels[at] != group;
            assert_true(wrong <= 5);
            assert_close(v.sweep[0]->gap, v.eigenvalues[4] - v.eigenvalues[3], 0, 0);
            assert_true(v.sweep[0]->modularity > 0.6 && v.sweep[0]->inertia >= 0);
            ddsc_clustering_destroy(c);
        }
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* Ten components: exact with K = 10, and a message for other K. */
static void test_components(void **state)
{
    (void)state;
    static const int64_t sizes[] = {40, 41, 42, 43, 44, 45, 46, 47, 48, 49};
    ddsc_context *ctx = test_context(2, 0);
    double *rows = groups(10, sizes, 0.1, 1);
    ddsc_graph *g = vector_graph(ctx, 445, rows, 10);
    for (int paper = 0; paper < 2; paper++) {
        ddsc_clustering_view v;
        ddsc_clustering *c = spectral(ctx, &v, g, settings(10, 10, paper));
        assert_view(&v);
        assert_int_equal(v.n_components, 10);
        assert_groups(v.labels, 10, sizes);
        assert_null(strstr(v.advice, "components"));
        ddsc_clustering_destroy(c);
        c = spectral(ctx, &v, g, settings(4, 4, paper));
        assert_view(&v);
        assert_non_null(strstr(v.advice, "10 components but K = 4"));
        /* A component is never divided. */
        for (int64_t i = 0, at = 0; i < 10; at += sizes[i++])
            for (int64_t j = 1; j < sizes[i]; j++)
                assert_int_equal(v.labels[at + j], v.labels[at]);
        ddsc_clustering_destroy(c);
        c = spectral(ctx, &v, g, settings(12, 12, paper));
        assert_view(&v);
        assert_int_equal(v.sweep[0]->largest <= 49, 1);
        ddsc_clustering_destroy(c);
    }
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* A sweep gives the results of single runs and chooses the planted number; -k auto does the same.
 * */
static void test_sweep(void **state)
{
    (void)state;
    static const int64_t sizes[] = {50, 60, 70, 40, 55, 45};
    ddsc_context *ctx = test_context(2, 4);
    double *rows = groups(6, sizes, 1.2, 5);
    ddsc_graph *g = vector_graph(ctx, 320, rows, 10);
    for (int paper = 0; paper < 2; paper++) {
        ddsc_clustering_view v, single, open;
        ddsc_clustering *c = spectral(ctx, &v, g, settings(3, 9, paper));
        assert_true(v.k == 6 && v.n_sweep == 7);
        for (int64_t r = 0; r < 7; r++) {
            ddsc_clustering *one = spectral(ctx, &single, g, settings(3 + r, 3 + r, paper));
            int64_t count[9] = {0};
            assert_int_equal(v.sweep[r]->k, 3 + r);
            assert_true(v.sweep[r]->stability <= 1 + 1e-12);
            if (v.sweep[r]->k == 6) /* planted: halves agree */
                assert_true(v.sweep[r]->stability > 0.99);
            if (v.sweep[r]->k == 3 && !paper) /* the merged clusters are arbitrary */
                assert_true(v.sweep[r]->stability < 0.95);
            for (int64_t i = 0; i < 320; i++)
                count[v.sweep_labels[r * 320 + i]]++;
            for (int64_t k = 0; k < 3 + r; k++)
                assert_true(count[k] >= v.sweep[r]->smallest && count[k] <= v.sweep[r]->largest);
            assert_memory_equal(v.sweep_labels + r * 320, single.labels, 320 * sizeof(int32_t));
            assert_close(v.sweep[r]->modularity, single.sweep[0]->modularity, 1e-12, 0);
            ddsc_clustering_destroy(one);
        }
        assert_memory_equal(v.labels, v.sweep_labels + 3 * 320, 320 * sizeof(int32_t));
        assert_groups(v.labels, 6, sizes);
        assert_non_null(strstr(v.advice, "suggestion"));
        ddsc_clustering *automatic = spectral(ctx, &open, g, settings(0, 0, paper));
        assert_true(open.k == 6 && open.n_sweep == 24 && open.sweep[0]->k == 2);
        assert_groups(open.labels, 6, sizes);
        ddsc_clustering_destroy(automatic);
        ddsc_clustering_destroy(c);
    }
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* A few duplicates next to a large cluster: a cluster for the plain algorithm, but not with the
 * rule for small clusters. */
static void test_small_groups(void **state)
{
    (void)state;
    static const int64_t sizes[] = {120, 120, 9};
    ddsc_context *ctx = test_context(1, 0);
    double *rows = groups(3, sizes, 1.5, 3);
    for (int64_t i = 240; i < 249; i++) {
        rows[2 * i] = 14;
        rows[2 * i + 1] = 1e-7 * (double)i;
    }
    ddsc_graph *g = vector_graph(ctx, 249, rows, 10);
    ddsc_clustering_view v;
    ddsc_clustering *c = spectral(ctx, &v, g, settings(2, 2, 0));
    assert_view(&v);
    assert_true(v.sweep[0]->smallest >= 100);
    ddsc_clustering_destroy(c);
    c = spectral(ctx, &v, g, settings(3, 3, 1));
    assert_true(v.sweep[0]->smallest < 30 && v.n_merged_small == 0);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    free(rows);
    /* 15 items without links to others are a cluster, although they are fewer than N/(5K) = 20. */
    static const int64_t apart[] = {145, 140, 15};
    rows = groups(3, apart, 0.5, 8);
    g = vector_graph(ctx, 300, rows, 10);
    c = spectral(ctx, &v, g, settings(3, 3, 0));
    assert_groups(v.labels, 3, apart);
    assert_int_equal(v.n_merged_small, 0);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* Merging follows the strongest link and leaves exactly the requested number of clusters. */
static void test_merge(void **state)
{
    (void)state;
    enum { N = 12 };
    ddsc_context *ctx = test_context(1, 0);
    static const int32_t given[N] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3};
    static const double link[4][4] = {{0, 0, .1, 0}, {0, 0, .3, 0}, {.1, .3, 0, .9}, {0, 0, .9, 0}};
    decomposition d = {.n = N, .tau = 3};
    assert_int_equal(sparse_new(ctx, &d.a, N, N * N), DDSC_OK);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            bool inside = given[i] == given[j] && i != j;
            double w = inside ? 1 : i % 2 == 0 && j % 2 == 0 ? link[given[i]][given[j]] : 0;
            if (w > 0) {
                d.a.column[d.a.offset[i + 1]] = (int32_t)j;
                d.a.value[d.a.offset[i + 1]++] = w;
            }
        }
        if (i + 1 < N)
            d.a.offset[i + 2] = d.a.offset[i + 1];
    }
    int32_t labels[N];
    int64_t k = 4, n_merged, n_standing;
    small_rule rule = {3, 2};
    memcpy(labels, given, sizeof labels);
    assert_int_equal(small_count(ctx, &n_standing, labels, k, &d, &rule), DDSC_OK);
    assert_int_equal(n_standing, 2);
    assert_int_equal(small_merge(ctx, labels, &k, &n_merged, &d, &rule), DDSC_OK);
    assert_true(k == 2 && n_merged == 2);
    for (int64_t i = 0; i < N; i++) /* 3 joins 2, both join 1 */
        assert_int_equal(labels[i], given[i] == 0 ? 0 : 1);
    sparse_free(ctx, &d.a);
    ddsc_context_destroy(ctx);
}

static void test_tiny(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    static const double rows[] = {0, 0, 1, 0, 5, 0, 6, 0, 11, 0};
    for (int64_t n = 1; n <= 5; n++)
        for (int64_t tau = 1; tau <= 8; tau += 3) {
            ddsc_graph *g = vector_graph(ctx, n, rows, tau);
            for (int paper = 0; paper < 2; paper++) {
                ddsc_clustering_view v;
                ddsc_clustering *c;
                for (int64_t k = 1; k <= n; k++) {
                    c = spectral(ctx, &v, g, settings(k, k, paper));
                    assert_view(&v);
                    for (int64_t i = 0; i < n && k == 1; i++)
                        assert_int_equal(v.labels[i], 0);
                    ddsc_clustering_destroy(c);
                }
                c = spectral(ctx, &v, g, settings(0, 0, paper));
                assert_view(&v);
                ddsc_clustering_destroy(c);
                ddsc_cluster_settings set = settings(n + 1, n + 1, paper);
                assert_int_equal(ddsc_spectral_run(ctx, &c, g, &set), DDSC_ERROR_ARGUMENT);
                assert_null(c);
                assert_non_null(strstr(ddsc_context_get_message(ctx), "the number of items is"));
            }
            ddsc_graph_destroy(g);
        }
    ddsc_context_destroy(ctx);
}

/* Items that cannot be distinguished: one cluster per component, and a message. */
static void test_identical(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    double rows[100] = {0};
    for (int copies = 1; copies <= 2; copies++) {
        for (int64_t i = 25; i < 50; i++)
            rows[2 * i] = copies - 1;
        ddsc_graph *g = vector_graph(ctx, 50, rows, 6);
        for (int paper = 0; paper < 2; paper++) {
            ddsc_clustering_view v;
            ddsc_clustering *c = spectral(ctx, &v, g, settings(3, 3, paper));
            assert_int_equal(v.n_components, copies);
            for (int64_t i = 0; i < 50; i++)
                assert_int_equal(v.labels[i], i >= 25 && copies == 2);
            assert_non_null(strstr(v.advice, copies == 1 ? "Only 1 cluster was found"
                                                         : "Only 2 clusters were found"));
            ddsc_clustering_destroy(c);
        }
        ddsc_graph_destroy(g);
    }
    ddsc_context_destroy(ctx);
}

/* Unknown distances: items without neighbors do not change the other clusters. */
static void test_isolated(void **state)
{
    (void)state;
    enum { N = 90 };
    ddsc_context *ctx = test_context(1, 0);
    double *d2 = malloc(N * N * sizeof *d2);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double d = fabs((double)(i - j));
            bool known = i < 80 && j < 80 && i / 40 == j / 40;
            d2[i * N + j] = i == j ? 0 : known ? d * d : NAN;
        }
    ddsc_graph_settings gs;
    ddsc_graph_settings_init(&gs);
    gs.tau = 5;
    ddsc_graph *g;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &g, N, d2, DDSC_DISTANCE_SQUARED, &gs),
                     DDSC_OK);
    ddsc_clustering_view v;
    ddsc_clustering *c = spectral(ctx, &v, g, settings(2, 2, 0));
    assert_int_equal(v.n_components, 12);
    for (int64_t i = 0; i < 80; i++)
        assert_int_equal(v.labels[i], i / 40);
    assert_non_null(strstr(v.advice, "known distance: 10."));
    assert_view(&v);
    ddsc_clustering_destroy(c);
    c = spectral(ctx, &v, g, settings(2, 2, 1));
    assert_view(&v);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    for (int64_t i = 0; i < N * N; i++)
        d2[i] = i % (N + 1) == 0 ? 0 : NAN;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &g, N, d2, DDSC_DISTANCE_SQUARED, &gs),
                     DDSC_ERROR_INPUT);
    static const int64_t no_edges[N + 1];
    int32_t index = 0;
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, N, no_edges, &index, d2), DDSC_OK);
    for (int paper = 0; paper < 2; paper++) {
        c = spectral(ctx, &v, g, settings(3, 3, paper));
        assert_view(&v);
        assert_int_equal(v.n_components, N);
        ddsc_clustering_destroy(c);
    }
    ddsc_graph_destroy(g);
    free(d2);
    ddsc_context_destroy(ctx);
}

/* A gamma that is far too large: affinities underflow, but the structure of the graph still gives
 * the clusters. */
static void test_underflow(void **state)
{
    (void)state;
    static const int64_t sizes[] = {70, 60};
    ddsc_context *ctx = test_context(1, 0);
    double *rows = groups(2, sizes, 1.6, 3);
    ddsc_graph *g = vector_graph(ctx, 130, rows, 8);
    for (double gamma = 1e2; gamma < 1e14; gamma *= 1e3) {
        ddsc_cluster_settings set = settings(2, 2, 0);
        ddsc_clustering_view v;
        set.gamma_rule = DDSC_GAMMA_VALUE;
        set.gamma = gamma;
        ddsc_clustering *c = spectral(ctx, &v, g, set);
        assert_view(&v);
        assert_true(v.gamma == gamma);
        if (gamma > 1e10)
            assert_non_null(strstr(v.advice, "smaller gamma"));
        ddsc_clustering_destroy(c);
    }
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* The limit on products causes a marked result, not an error. */
static void test_cap(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1500};
    ddsc_context *ctx = test_context(1, 0);
    double *rows = groups(1, sizes, 1, 3);
    ddsc_graph *g = vector_graph(ctx, 1500, rows, 10);
    ddsc_cluster_settings set = settings(4, 4, 0);
    ddsc_clustering *c;
    ddsc_clustering_view v;
    set.eigen_max_iterations = 1;
    assert_int_equal(ddsc_spectral_run(ctx, &c, g, &set), DDSC_NOT_CONVERGED);
    ddsc_clustering_get_view(c, &v);
    assert_true(!v.verified && v.max_residual > set.eigen_tolerance);
    assert_non_null(strstr(v.advice, "Not all eigenvectors reached the tolerance"));
    ddsc_clustering_destroy(c);
    set.eigen_max_iterations = 20000;
    c = spectral(ctx, &v, g, set);
    assert_view(&v);
    assert_false(v.eigen_dense);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    static const int64_t sizes[] = {4000, 3000, 5000};
    enum { N = 12000 };
    double *rows = groups(3, sizes, 2.2, 3);
    ddsc_context *ctx[3];
    ddsc_clustering *c[3];
    ddsc_clustering_view v[3];
    for (int t = 0; t < 3; t++) {
        ctx[t] = test_context(t + 1, 11);
        ddsc_graph *g = vector_graph(ctx[t], N, rows, 10);
        c[t] = spectral(ctx[t], &v[t], g, settings(3, 4, 0));
        ddsc_graph_destroy(g);
        assert_memory_equal(v[t].labels, v[0].labels, N * sizeof(int32_t));
        assert_memory_equal(v[t].embedding, v[0].embedding,
                            (size_t)(N * v[0].n_vectors) * sizeof(double));
        assert_memory_equal(v[t].sweep[0], v[0].sweep[0], 2 * sizeof **v[0].sweep);
        assert_string_equal(v[t].advice, v[0].advice);
    }
    for (int t = 0; t < 3; t++) {
        ddsc_clustering_destroy(c[t]);
        ddsc_context_destroy(ctx[t]);
    }
    free(rows);
}

/* Clustering of measures with every metric; the clustering owns the graph. */
static void test_measures(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 1);
    ddsc_measures *m;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 3, 20, 10, 2, 12), DDSC_OK);
    ddsc_measures_view mv;
    ddsc_measures_get_view(m, &mv);
    for (int metric = 0; metric < 4; metric++)
        for (int64_t k = 0; k <= 3; k += 3) {
            ddsc_cluster_settings set = settings(k, k, 0);
            ddsc_clustering *c;
            ddsc_clustering_view v;
            ddsc_graph_view gv;
            ddsc_scores scores = {.struct_size = sizeof scores};
            ddsc_graph_settings graph;
            ddsc_graph_settings_init(&graph);
            graph.tau = 6;
            set.metric = metric_with((ddsc_metric)metric);
            set.graph = &graph;
            assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_OK);
            ddsc_clustering_get_view(c, &v);
            assert_view(&v);
            ddsc_graph_get_view(v.graph, &gv);
            assert_true(gv.n == 60 && gv.tau == 6 && v.pairs->n_pairs > 0);
            assert_true(v.seconds_distances >= 0 && v.seconds_eigen >= 0 && v.seconds_kmeans >= 0);
            assert_int_equal(ddsc_scores_run(ctx, &scores, 60, v.labels, mv.label), DDSC_OK);
            assert_true(scores.ami == 1);
            ddsc_clustering_destroy(c);
        }
    ddsc_clustering *c;
    ddsc_cluster_settings set = settings(61, 61, 0);
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_ERROR_ARGUMENT);
    set = settings(2, 2, 0);
    ddsc_graph_settings graph;
    ddsc_graph_settings_init(&graph);
    graph.sample = -1;
    set.graph = &graph;
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_ERROR_ARGUMENT);
    set = settings(2, 2, 0);
    set.metric = metric_with((ddsc_metric)9);
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_ERROR_ARGUMENT);
    assert_null(c);
    assert_int_equal(ddsc_cluster_run(ctx, &c, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cluster_run(ctx, NULL, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cluster_run(NULL, &c, m, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_spectral_run(ctx, &c, NULL, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_clustering_destroy(NULL);
    assert_null(ddsc_clustering_get_labels(NULL));
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* One item, and NULL settings. */
static void test_one_item(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 1, 4, 2, 0);
    ddsc_clustering *c;
    ddsc_clustering_view v;
    if (ddsc_cluster_run(ctx, &c, m, NULL) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    ddsc_clustering_get_view(c, &v);
    assert_true(v.n == 1 && v.k == 1 && v.labels[0] == 0 && v.n_components == 1);
    ddsc_clustering_destroy(c);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static int stop(void *user)
{
    int *calls = user;
    return --*calls < 0;
}

static void test_cancel(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1500, 1500};
    ddsc_context *plain = test_context(1, 0);
    double *rows = groups(2, sizes, 2, 3);
    ddsc_graph *g = vector_graph(plain, 3000, rows, 10);
    for (int calls = 0; calls < 400; calls = 3 * calls + 1) {
        ddsc_context_settings cs;
        ddsc_context *ctx;
        int left = calls;
        ddsc_context_settings_init(&cs);
        cs.threads = 2;
        cs.cancel = stop;
        cs.cancel_user = &left;
        assert_int_equal(ddsc_context_create(&ctx, &cs), DDSC_OK);
        ddsc_clustering *c;
        ddsc_cluster_settings set = settings(2, 2, 0);
        assert_int_equal(ddsc_spectral_run(ctx, &c, g, &set), DDSC_ERROR_CANCELED);
        assert_null(c);
        ddsc_context_destroy(ctx);
    }
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(plain);
}

static ddsc_status spectral_call(ddsc_context *ctx, void *arg)
{
    ddsc_clustering *c;
    ddsc_cluster_settings set = settings(2, 3, 0);
    set.kmeans_restarts = 2;
    ddsc_status status = ddsc_spectral_run(ctx, &c, arg, &set);
    assert_int_equal(c == NULL, status < 0);
    ddsc_clustering_destroy(c);
    return status;
}

static ddsc_status cluster_call(ddsc_context *ctx, void *arg)
{
    ddsc_clustering *c;
    ddsc_cluster_settings set = settings(0, 0, 1);
    set.kmeans_restarts = 1;
    set.metric = metric_with(DDSC_METRIC_MMD);
    ddsc_status status = ddsc_cluster_run(ctx, &c, arg, &set);
    assert_int_equal(c == NULL, status < 0);
    ddsc_clustering_destroy(c);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    static const int64_t sizes[] = {20, 15, 3};
    ddsc_context *ctx = test_context(1, 0);
    double *rows = groups(3, sizes, 1, 3);
    ddsc_graph *g = vector_graph(ctx, 38, rows, 4);
    assert_true(test_failing_allocations(spectral_call, g) > 50);
    measures *m = test_random_measures(ctx, 9, 4, 2, 0);
    assert_true(test_failing_allocations(cluster_call, m) > 50);
    ddsc_measures_destroy(m);
    ddsc_graph_destroy(g);
    free(rows);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),     cmocka_unit_test(test_groups),
        cmocka_unit_test(test_components),   cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_small_groups), cmocka_unit_test(test_merge),
        cmocka_unit_test(test_tiny),         cmocka_unit_test(test_identical),
        cmocka_unit_test(test_isolated),     cmocka_unit_test(test_underflow),
        cmocka_unit_test(test_cap),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_measures),     cmocka_unit_test(test_one_item),
        cmocka_unit_test(test_cancel),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
