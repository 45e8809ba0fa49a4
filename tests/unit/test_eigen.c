/* The eigensolver compared with known spectra and LAPACK; multiple eigenvalues; its check for
 * missed eigenvalues. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/eigen/solver.h"
#include "numeric/linalg/linalg.h"
#include "sparse_support.h"

static const double pi = 3.14159265358979323846;

/* Compare 1 - value with `expected` (k of them, ascending). */
static void expect_spectrum(const edge_list *e, const double *expected, int64_t k, int64_t dense)
{
    ddsc_context *ctx = test_context(1, 5);
    test_graph g;
    eigen_result r;
    test_graph_make(ctx, &g, e);
    test_eigen_run(&g, &r, k, dense);
    assert_int_equal(r.dense, dense > 0 && k > g.n_components);
    for (int64_t j = 0; j < k; j++)
        assert_close(1 - r.value[j], expected[j], 0, 1e-9);
    eigen_free(ctx, &r);
    test_graph_free(&g);
    ddsc_context_destroy(ctx);
}

static void expect_both(const edge_list *e, const double *expected, int64_t k)
{
    expect_spectrum(e, expected, k, 0);
    expect_spectrum(e, expected, k, 5000);
}

static void test_path(void **state)
{
    (void)state;
    enum { N = 400, K = 12 };
    double expected[K];
    edge_list *e = edges_new(N);
    for (int64_t i = 0; i + 1 < N; i++)
        edges_add(e, i, i + 1, 2.5);
    for (int k = 0; k < K; k++)
        expected[k] = 1 - cos(pi * k / (N - 1));
    expect_both(e, expected, K);
    edges_free(e);
}

/* Every eigenvalue except the first occurs twice. */
static void test_cycle(void **state)
{
    (void)state;
    enum { N = 701, K = 15 };
    double expected[K];
    edge_list *e = edges_new(N);
    for (int64_t i = 0; i < N; i++)
        edges_add(e, i, (i + 1) % N, 1e-3);
    for (int k = 0; k < K; k++)
        expected[k] = 1 - cos(2 * pi * ((k + 1) / 2) / N);
    expect_both(e, expected, K);
    edges_free(e);
}

/* 2j/d with multiplicity C(d, j): 1, 10, 45, 120, 210, ...: the last wanted eigenvalue is inside a
 * group of equal eigenvalues, one of which is larger than any block. */
static void test_hypercube(void **state)
{
    (void)state;
    enum { D = 10, N = 1 << D };
    static const int64_t multiplicity[D + 1] = {1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1};
    static const int64_t wanted[] = {5, 11, 30, 56, 70};
    double expected[N];
    int64_t at = 0;
    for (int j = 0; j <= D; j++)
        for (int64_t c = 0; c < multiplicity[j]; c++)
            expected[at++] = 2.0 * j / D;
    edge_list *e = edges_new(N);
    for (int64_t i = 0; i < N; i++)
        for (int b = 0; b < D; b++)
            if (!(i >> b & 1))
                edges_add(e, i, i | (int64_t)1 << b, 1);
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
        expect_spectrum(e, expected, wanted[w], 0);
    edges_free(e);
}

/* All other eigenvalues are equal to n/(n-1), that is, M has the single eigenvalue -1/(n-1). */
static void test_complete(void **state)
{
    (void)state;
    for (int64_t n = 2; n <= 130; n = n < 10 ? n + 1 : 3 * n) {
        edge_list *e = edges_new(n);
        double *expected = calloc((size_t)n, sizeof *expected);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                edges_add(e, i, j, 0.5);
        for (int64_t k = 1; k < n; k++)
            expected[k] = (double)n / (double)(n - 1);
        expect_both(e, expected, n <= 10 ? n : 20);
        free(expected);
        edges_free(e);
    }
}

/* The eigenvalue -1 of M (2 of the Laplacian) must not disturb the iteration or be mistaken for a
 * large one. */
static void test_bipartite(void **state)
{
    (void)state;
    enum { A = 60, B = 90, K = 9 };
    double expected[K] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
    edge_list *e = edges_new(A + B);
    for (int64_t i = 0; i < A; i++)
        for (int64_t j = 0; j < B; j++)
            edges_add(e, i, A + j, 1);
    expect_both(e, expected, K);
    edges_free(e);
    /* A star: 0, 1 (n - 2 times), 2. */
    double whole[7] = {0, 1, 1, 1, 1, 1, 2};
    e = edges_new(7);
    for (int64_t i = 1; i < 7; i++)
        edges_add(e, 0, i, (double)i);
    expect_both(e, whole, 7);
    edges_free(e);
}

/* Disjoint edges: half the eigenvalues of M are 1, half are -1. */
static void test_edges(void **state)
{
    (void)state;
    enum { PAIRS = 100, K = 150 };
    double expected[K];
    edge_list *e = edges_new(2 * PAIRS);
    for (int64_t p = 0; p < PAIRS; p++)
        edges_add(e, p, PAIRS + p, 1 + (double)p);
    for (int k = 0; k < K; k++)
        expected[k] = k < PAIRS ? 0 : 2;
    expect_both(e, expected, K);
    edges_free(e);
}

/* Copies of one graph, linked in a chain with weight `link` if it is positive. */
static edge_list *copies(const edge_list *one, int64_t times, double link)
{
    edge_list *e = edges_new(one->n * times);
    for (int64_t t = 0; t < times; t++) {
        for (int64_t p = 0; p < one->count; p++)
            edges_add(e, t * one->n + one->from[p], t * one->n + one->to[p], one->weight[p]);
        if (link > 0 && t > 0)
            edges_add(e, (t - 1) * one->n, t * one->n, link);
    }
    return e;
}

/* Ten components with equal spectra: single-vector methods return a few of each ten copies and
 * report success. */
static void test_equal_components(void **state)
{
    (void)state;
    enum { N = 150, TIMES = 10, K = 47 };
    ddsc_context *ctx = test_context(1, 1);
    edge_list *one = edges_random(N, 2, 4), *all = copies(one, TIMES, 0);
    test_graph g;
    eigen_result single;
    double expected[K];
    test_graph_make(ctx, &g, one);
    test_eigen_run(&g, &single, K / TIMES + 1, 5000);
    for (int k = 0; k < K; k++)
        expected[k] = 1 - single.value[k / TIMES];
    expect_both(all, expected, 10);
    expect_both(all, expected, K);
    eigen_free(ctx, &single);
    test_graph_free(&g);
    edges_free(all);
    edges_free(one);
    ddsc_context_destroy(ctx);
}

static void test_weak_links(void **state)
{
    (void)state;
    static const double links[] = {1e-3, 1e-8, 1e-13, 1e-250};
    ddsc_context *ctx = test_context(1, 1);
    edge_list *one = edges_random(80, 2, 9);
    for (size_t l = 0; l < sizeof links / sizeof *links; l++) {
        edge_list *all = copies(one, 12, links[l]);
        test_graph g;
        eigen_result block, dense;
        test_graph_make(ctx, &g, all);
        assert_int_equal(g.n_components, 1);
        for (int64_t k = 3; k <= 40; k += 37) {
            test_eigen_run(&g, &block, k, 0);
            test_eigen_run(&g, &dense, k, 5000);
            for (int64_t j = 0; j < k; j++)
                assert_close(block.value[j], dense.value[j], 0, 1e-9);
            eigen_free(ctx, &block);
            eigen_free(ctx, &dense);
        }
        test_graph_free(&g);
        edges_free(all);
    }
    /* More near-null vectors than the block has columns. */
    edge_list *tiny = edges_random(8, 2, 9), *many = copies(tiny, 200, 1e-12);
    test_graph g;
    eigen_result r;
    test_graph_make(ctx, &g, many);
    test_eigen_run(&g, &r, 20, 0);
    for (int64_t j = 0; j < 20; j++)
        assert_close(r.value[j], 1, 0, 1e-9);
    eigen_free(ctx, &r);
    test_graph_free(&g);
    edges_free(many);
    edges_free(tiny);
    edges_free(one);
    ddsc_context_destroy(ctx);
}

/* Subspaces agree: each vector is in the span of LAPACK's vectors if a gap follows the k-th
 * eigenvalue. */
static void test_against_dense(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 3);
    for (uint64_t seed = 0; seed < 6; seed++) {
        int64_t n = 300 + 100 * (int64_t)seed, k = 2 + 5 * (int64_t)seed;
        edge_list *e = edges_random(n, 1 + (int64_t)(seed % 3), seed);
        test_graph g;
        eigen_result block, dense;
        test_graph_make(ctx, &g, e);
        test_eigen_run(&g, &block, k, 0);
        test_eigen_run(&g, &dense, k + 1, 5000);
        double gap = dense.value[k - 1] - dense.value[k];
        for (int64_t j = 0; j < k; j++) {
            assert_close(block.value[j], dense.value[j], 0, 1e-10);
            double inside = 0;
            for (int64_t q = 0; q < k; q++) {
                double dot = 0;
                for (int64_t i = 0; i < n; i++)
                    dot += block.vector[i * k + j] * dense.vector[i * (k + 1) + q];
                inside += dot * dot;
            }
            assert_close(inside, 1, 0, 1e-12 + 4e-18 / (gap * gap));
        }
        eigen_free(ctx, &block);
        eigen_free(ctx, &dense);
        test_graph_free(&g);
        edges_free(e);
    }
    ddsc_context_destroy(ctx);
}

static void test_tiny(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int64_t n = 1; n <= 14; n++)
        for (int64_t k = 1; k <= n; k++)
            for (int64_t dense = 0; dense <= 100; dense += 100) {
                edge_list *e = n == 1 ? edges_new(1) : edges_random(n, 1, (uint64_t)n);
                test_graph g;
                eigen_result r;
                test_graph_make(ctx, &g, e);
                test_eigen_run(&g, &r, k, dense);
                assert_true(r.value[0] == 1);
                eigen_free(ctx, &r);
                test_graph_free(&g);
                edges_free(e);
            }
    ddsc_context_destroy(ctx);
}

/* More than k components: the largest are used, ties are broken by number; isolated items are
 * components. */
static void test_more_components(void **state)
{
    (void)state;
    static const int64_t size[] = {3, 7, 1, 7, 5};
    ddsc_context *ctx = test_context(1, 0);
    edge_list *e = edges_new(23);
    int64_t start = 0;
    for (int c = 0; c < 5; c++) {
        for (int64_t i = 0; i + 1 < size[c]; i++)
            edges_add(e, start + i, start + i + 1, 1);
        start += size[c];
    }
    test_graph g;
    eigen_result r;
    test_graph_make(ctx, &g, e);
    assert_int_equal(g.n_components, 5);
    test_eigen_run(&g, &r, 3, 0);
    for (int64_t i = 0; i < 23; i++) {
        static const int32_t column[] = {-1, 0, -1, 1, 2};
        for (int64_t j = 0; j < 3; j++)
            assert_int_equal(r.vector[i * 3 + j] != 0, column[g.component[i]] == j);
    }
    eigen_free(ctx, &r);
    test_eigen_run(&g, &r, 6, 0);
    for (int64_t j = 0; j < 6; j++)
        assert_int_equal(r.value[j] == 1, j < 5);
    eigen_free(ctx, &r);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

/* Components marked -1 have zero rows and no eigenvalue. */
static void test_left_out(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    edge_list *one = edges_random(120, 2, 1), *two = copies(one, 2, 0);
    test_graph g, single;
    eigen_result r, expected;
    test_graph_make(ctx, &g, two);
    test_graph_make(ctx, &single, one);
    for (int64_t i = 120; i < 240; i++)
        g.component[i] = -1;
    g.n_components = 1;
    test_eigen_run(&single, &expected, 10, 1000);
    for (int64_t dense = 0; dense <= 1000; dense += 1000) {
        test_eigen_run(&g, &r, 10, dense);
        for (int64_t j = 0; j < 10; j++)
            assert_close(r.value[j], expected.value[j], 0, 1e-9);
        for (int64_t i = 120 * 10; i < 240 * 10; i++)
            assert_true(r.vector[i] == 0);
        eigen_free(ctx, &r);
    }
    eigen_free(ctx, &expected);
    test_graph_free(&single);
    test_graph_free(&g);
    edges_free(two);
    edges_free(one);
    ddsc_context_destroy(ctx);
}

/* The check receives a space that lacks one of the wanted vectors, and must find it. */
static void test_planted_miss(void **state)
{
    (void)state;
    enum { N = 900, K = 20, GUARDS = 5 };
    ddsc_context *ctx = test_context(1, 0);
    edge_list *e = edges_random(N, 2, 31);
    test_graph g;
    eigen_result full;
    test_graph_make(ctx, &g, e);
    test_eigen_run(&g, &full, K + GUARDS, 5000);
    for (int64_t missed = 1; missed <= K; missed++) {
        panel all = {.n = N, .width = K + GUARDS, .stride = K + GUARDS, .x = full.vector}, fresh;
        solver s = {.ctx = ctx, .m = &g.m, .component = g.component, .dimension = N - 1};
        s.tolerance = 1e-9;
        s.wanted = K - 1;
        assert_int_equal(panel_new(ctx, &s.exact, N, 1), DDSC_OK);
        assert_int_equal(panel_new(ctx, &s.v, N, K + GUARDS - 2), DDSC_OK);
        assert_int_equal(panel_copy(ctx, &s.exact, 0, &all, 0, 1), DDSC_OK);
        double theta[K + GUARDS];
        int64_t at = 0;
        /* missed = K: no wanted vector is missing, only the last guard vector. */
        for (int64_t j = 1; j < K + GUARDS && at < K + GUARDS - 2; j++)
            if (j != missed || missed == K) {
                assert_int_equal(panel_copy(ctx, &s.v, at, &all, j, 1), DDSC_OK);
                theta[at++] = full.value[j];
            }
        s.theta = theta;
        fresh_verdict verdict;
        assert_int_equal(fresh_search(&s, 12, &verdict, &fresh), DDSC_OK);
        assert_int_equal(verdict, missed == K ? FRESH_CLEAN : FRESH_MISSED);
        panel_free(ctx, &fresh);
        panel_free(ctx, &s.v);
        panel_free(ctx, &s.exact);
    }
    eigen_free(ctx, &full);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    enum { COPIES = 5, N = 700, K = 23 };
    edge_list *one = edges_random(N, 2, 8), *e = copies(one, COPIES, 0);
    ddsc_context *ctx[3];
    eigen_result r[3];
    for (int t = 0; t < 3; t++) {
        ctx[t] = test_context(t + 1, 42);
        test_graph g;
        test_graph_make(ctx[t], &g, e);
        test_eigen_run(&g, &r[t], K, 0);
        test_graph_free(&g);
        assert_memory_equal(r[t].vector, r[0].vector, COPIES * N * K * sizeof(double));
        assert_memory_equal(r[t].value, r[0].value, K * sizeof(double));
    }
    for (int t = 0; t < 3; t++) {
        eigen_free(ctx[t], &r[t]);
        ddsc_context_destroy(ctx[t]);
    }
    edges_free(one);
    edges_free(e);
}

/* Columns that lie in a known space except for a part of size `part`, and whose remainders are
 * parallel except for `near`. The results are orthogonal to that space and to each other, although
 * most of each column cancels at first. */
static void check_made_orthonormal(ddsc_context *ctx, const panel *v, panel_noise *noise,
                                   double part, double near)
{
    enum { V = 20, B = 8 };
    panel x;
    double g[V * B], h[B * B];
    assert_int_equal(panel_new(ctx, &x, v->n, B), DDSC_OK);
    assert_int_equal(panel_random(ctx, &x, 0, B, noise), DDSC_OK);
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t j = B - 1; j >= 0; j--) {
            double *row = x.x + i * B;
            row[j] = 1e3 * v->x[i * V + j] + part * (j > 0 ? row[0] + near * row[j] : row[0]);
        }
    assert_int_equal(panel_orthonormalize(ctx, &x, 1, &v, noise), DDSC_OK);
    assert_int_equal(panel_gram(ctx, g, v, &x), DDSC_OK);
    assert_int_equal(panel_gram(ctx, h, &x, &x), DDSC_OK);
    for (int64_t k = 0; k < V * B; k++)
        assert_close(g[k], 0, 0, 1e-13);
    for (int64_t k = 0; k < B * B; k++)
        assert_close(h[k], k % (B + 1) == 0, 0, 1e-13);
    panel_free(ctx, &x);
}

static void test_orthonormal(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    panel_noise noise = {.stream = RNG_EIGEN};
    panel v;
    assert_int_equal(panel_new(ctx, &v, 3000, 20), DDSC_OK);
    assert_int_equal(panel_random(ctx, &v, 0, 20, &noise), DDSC_OK);
    assert_int_equal(panel_orthonormalize(ctx, &v, 0, NULL, &noise), DDSC_OK);
    for (double part = 1e3; part > 1e-13; part /= 10)
        for (double near = 1; near > 1e-4; near /= 3)
            check_made_orthonormal(ctx, &v, &noise, part, near);
    panel_free(ctx, &v);
    ddsc_context_destroy(ctx);
}

/* Fifteen Ritz values that are 1 up to rounding, and a block that was just added. LAPACK's divide
 * and conquer fails for the first or for the other case, depending on whether its kernels are
 * AVX-512 or AVX2. */
static void test_equal_values(void **state)
{
    (void)state;
    enum { N = 40, ONES = 15, OLD = 24 };
    static const uint64_t seeds[] = {4266, 15911, 53266, 56002};
    static double h[N * N], a[N * N], q[N * N], value[N];
    ddsc_context *ctx = test_context(1, 0);
    for (size_t s = 0; s < 4; s++) {
        uint64_t x = seeds[s] * 7919;
        for (int k = 0; k < 10; k++)
            x = x * 6364136223846793005U + 1442695040888963407U;
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                double size = j < ONES ? 1e-15 : j < OLD ? 1e-4 : 0.06, mean = 0;
                if (i == j) {
                    size = i < ONES ? 2e-14 : 0.06;
                    mean = i < ONES ? 1 : i < OLD ? 0.63 : 0;
                } else if (i < OLD)
                    size = 0;
                if (size > 0)
                    x = x * 6364136223846793005U + 1442695040888963407U;
                h[i * N + j] = h[j * N + i] =
                    mean + size * ((double)(x >> 11) / 9007199254740992.0 - 0.5);
            }
        memcpy(a, h, sizeof a);
        assert_int_equal(la_eigen_symmetric(ctx, N, a, value, q), DDSC_OK);
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++) {
                double left = -value[k] * q[k * N + i], dot = 0;
                for (int j = 0; j < N; j++) {
                    left += h[i * N + j] * q[k * N + j];
                    dot += q[k * N + j] * q[i * N + j];
                }
                assert_close(left, 0, 0, 1e-14);
                assert_close(dot, i == k, 0, 1e-14);
            }
    }
    ddsc_context_destroy(ctx);
}

/* Tolerances down to the minimum: a basis that is orthogonal only to 1e-13 never reaches it. */
static void test_tolerance(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        edge_list *e = edges_random(601, 4, seed);
        test_graph g;
        test_graph_make(ctx, &g, e);
        for (int64_t k = 20; k <= 40; k += 10) {
            eigen_settings set = {1e-13, 2000, 0};
            eigen_result r;
            assert_int_equal(
                eigen_run(ctx, &r, &g.m, g.degree, g.component, g.n_components, k, &set), DDSC_OK);
            assert_true(r.verified);
            eigen_free(ctx, &r);
        }
        test_graph_free(&g);
        edges_free(e);
    }
    ddsc_context_destroy(ctx);
}

/* A filter started by the product is bit-identical to one that is not, and it multiplies an
 * eigenvector by filter_value. */
static void test_filter(void **state)
{
    (void)state;
    enum { N = 400, K = 12, DEGREE = 9 };
    ddsc_context *ctx = test_context(1, 0);
    edge_list *e = edges_random(N, 2, 12);
    test_graph g;
    eigen_result r;
    test_graph_make(ctx, &g, e);
    test_eigen_run(&g, &r, K, 5000);
    solver s = {.ctx = ctx, .m = &g.m};
    double cut = (r.value[5] + r.value[6]) / 2;
    panel x[2], y[2];
    for (int begun = 0; begun < 2; begun++) {
        assert_int_equal(panel_new(ctx, &x[begun], N, K), DDSC_OK);
        assert_int_equal(panel_new(ctx, &y[begun], N, K), DDSC_OK);
        memcpy(x[begun].x, r.vector, N * K * sizeof *r.vector);
        if (begun)
            assert_int_equal(filter_product(&s, K, x[begun].x, y[begun].x), DDSC_OK);
        s.n_products = begun;
        assert_int_equal(filter_apply(&s, &x[begun], &y[begun], cut, DEGREE, begun), DDSC_OK);
        assert_int_equal(s.n_products, DEGREE);
    }
    assert_memory_equal(x[0].x, x[1].x, N * K * sizeof(double));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < K; j++)
            assert_close(x[0].x[i * K + j],
                         filter_value(cut, r.value[j], DEGREE) * r.vector[i * K + j], 0, 1e-9);
    for (int k = 0; k < 2; k++) {
        panel_free(ctx, &x[k]);
        panel_free(ctx, &y[k]);
    }
    eigen_free(ctx, &r);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

/* Memory contains one basis of 91 columns, the vectors of a step, the result and the reordered
 * operator. The products of the basis, another 91 columns, are not stored. */
static void test_peak(void **state)
{
    (void)state;
    enum { N = 6000, K = 30, BASIS = 91 };
    ddsc_context *ctx = test_context(1, 0);
    edge_list *e = edges_random(N, 3, 2);
    test_graph g;
    eigen_result r;
    test_graph_make(ctx, &g, e);
    int64_t before = ddsc_context_get_peak_memory(ctx);
    test_eigen_run(&g, &r, K, 0);
    int64_t taken = ddsc_context_get_peak_memory(ctx) - before;
    assert_true(taken < (int64_t)sizeof(double) * N * 2 * BASIS);
    eigen_free(ctx, &r);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

/* The iteration limit causes a marked result with correct residuals, not an error. */
static void test_cap(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    edge_list *e = edges_new(5000);
    for (int64_t i = 0; i + 1 < 5000; i++)
        edges_add(e, i, i + 1, 1);
    test_graph g;
    eigen_result r;
    test_graph_make(ctx, &g, e);
    eigen_settings set = {1e-10, 30, 0};
    assert_int_equal(eigen_run(ctx, &r, &g.m, g.degree, g.component, 1, 8, &set),
                     DDSC_NOT_CONVERGED);
    assert_false(r.verified);
    double worst = 0;
    for (int64_t j = 0; j < 8; j++)
        worst = fmax(worst, r.residual[j]);
    assert_true(worst > 1e-10 && worst < 1);
    assert_true(r.n_products < 200);
    eigen_free(ctx, &r);
    set.max_iterations = 1;
    assert_int_equal(eigen_run(ctx, &r, &g.m, g.degree, g.component, 1, 5001, &set),
                     DDSC_ERROR_ARGUMENT);
    assert_null(r.vector);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

static ddsc_status solve_call(ddsc_context *ctx, void *arg)
{
    const edge_list *e = arg;
    ddsc_context *other = test_context(1, 0);
    test_graph g;
    eigen_result r;
    eigen_settings set = {1e-8, 20000, e->n > 100 ? 0 : 1000};
    test_graph_make(other, &g, e);
    ddsc_status status = eigen_run(ctx, &r, &g.m, g.degree, g.component, g.n_components, 6, &set);
    if (status >= 0)
        eigen_free(ctx, &r);
    test_graph_free(&g);
    ddsc_context_destroy(other);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    edge_list *e = edges_random(120, 2, 0), *small = edges_random(40, 2, 0);
    assert_true(test_failing_allocations(solve_call, e) > 20);
    assert_true(test_failing_allocations(solve_call, small) > 5);
    edges_free(small);
    edges_free(e);
}

/* ---- leading pairs of any symmetric matrix ---- */

static int compare_sizes(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* Returns all eigenvalues from LAPACK, in order of decreasing absolute value. */
static void all_values(ddsc_context *ctx, double *value, const sparse *m)
{
    double *a = calloc((size_t)(m->n * m->n), sizeof *a),
           *rows = malloc(sizeof *a * (size_t)(m->n * m->n));
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t p = m->offset[i]; p < m->offset[i + 1]; p++)
            a[i * m->n + m->column[p]] += m->value[p];
    assert_int_equal(la_eigen_symmetric(ctx, m->n, a, value, rows), DDSC_OK);
    qsort(value, (size_t)m->n, sizeof *value, compare_sizes);
    free(a);
    free(rows);
}

/* Both ends of a spectrum: a bipartite ring with chords, half of whose eigenvalues are negative.
 * With the whole space, the result is exact; after some rounds, the first eigenvalues are correct
 * and none is too large. */
static void test_leading(void **state)
{
    (void)state;
    enum { N = 240 };
    double value[N];
    edge_list *e = edges_random(N, 0, 3);
    for (int64_t i = 0; i < 30; i++)
        edges_add(e, 0, 2 * i + 1, 1);
    for (int k = 0; k < 2; k++) {
        eigen_result r, few;
        test_graph g;
        ddsc_context *ctx = test_context(1 + 2 * k, 5);
        test_graph_make(ctx, &g, e);
        all_values(ctx, value, &g.m);
        assert_int_equal(eigen_leading(ctx, &r, &g.m, N, 0), DDSC_OK);
        for (int64_t j = 0; j < N; j++) {
            assert_close(fabs(r.value[j]), fabs(value[j]), 0, 1e-10);
            assert_true(r.residual[j] < 1e-10);
        }
        assert_int_equal(eigen_leading(ctx, &few, &g.m, 6, 200), DDSC_OK);
        for (int64_t j = 0; j < 6; j++) {
            assert_true(fabs(few.value[j]) <= fabs(value[j]) + 1e-12);
            assert_close(fabs(few.value[j]), fabs(value[j]), 0, 1e-2);
            assert_true(few.residual[j] < 0.2);
        }
        eigen_free(ctx, &r);
        eigen_free(ctx, &few);
        test_graph_free(&g);
        ddsc_context_destroy(ctx);
    }
    edges_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_hypercube),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_bipartite),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_equal_components),
        cmocka_unit_test(test_weak_links),
        cmocka_unit_test(test_against_dense),
        cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_more_components),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_planted_miss),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_orthonormal),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_equal_values),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_leading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
