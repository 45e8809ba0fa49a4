/* k-means: obvious clusters, optimality conditions, degenerate rows, determinism. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "numeric/kmeans/kmeans.h"
#include "support.h"

/* Creates n rows around k distant centers; truth[i] = i % k. */
static double *blobs(int64_t n, int64_t dim, int64_t k, double spread, uint64_t seed)
{
    double *rows = malloc((size_t)(n * dim) * sizeof *rows);
    double *center = malloc((size_t)(k * dim) * sizeof *center);
    rng r = rng_make(seed, RNG_GAUSSIANS, 1);
    for (int64_t i = 0; i < k * dim; i++)
        center[i] = 10 * rng_normal(&r);
    for (int64_t i = 0; i < n * dim; i++)
        rows[i] = center[i / dim % k * dim + i % dim] + spread * rng_normal(&r);
    free(center);
    return rows;
}

static void test_finds_blobs(void **state)
{
    (void)state;
    static const int64_t shape[][3] = {{50, 2, 3}, {500, 5, 7}, {3000, 30, 10}, {2500, 1, 4}};
    ddsc_context *ctx = test_context(2, 0);
    for (int s = 0; s < 4; s++) {
        int64_t n = shape[s][0], dim = shape[s][1], k = shape[s][2];
        double *rows = blobs(n, dim, k, 1e-3, (uint64_t)s), inertia;
        int32_t *labels = malloc((size_t)n * sizeof *labels);
        assert_int_equal(ddsc_kmeans_run(ctx, labels, &inertia, n, dim, rows, k, 10), DDSC_OK);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(labels[i], i % k); /* numbered by first appearance */
        assert_close(inertia, 1e-6 * (double)((n - k) * dim), 0.5, 0);
        free(labels);
        free(rows);
    }
    ddsc_context_destroy(ctx);
}

/* Each row is nearest to the mean of its own cluster, and the inertia is correct. */
static void test_stationary(void **state)
{
    (void)state;
    enum { N = 400, DIM = 3, K = 8 };
    ddsc_context *ctx = test_context(1, 7);
    double *rows = blobs(N, DIM, 1, 1, 3), inertia, sum = 0, mean[K][DIM] = {{0}};
    int64_t count[K] = {0};
    int32_t labels[N];
    for (int64_t i = 0; i < N * DIM; i++)
        rows[i] += 1e6; /* far from the origin */
    assert_int_equal(ddsc_kmeans_run(ctx, labels, &inertia, N, DIM, rows, K, 4), DDSC_OK);
    for (int64_t i = 0; i < N; i++) {
        count[labels[i]]++;
        for (int j = 0; j < DIM; j++)
            mean[labels[i]][j] += rows[i * DIM + j];
    }
    for (int c = 0; c < K; c++)
        for (int j = 0; j < DIM; j++)
            mean[c][j] /= (double)count[c];
    for (int64_t i = 0; i < N; i++) {
        double own = 0, best = INFINITY;
        for (int c = 0; c < K; c++) {
            double d = 0;
            for (int j = 0; j < DIM; j++)
                d += pow(rows[i * DIM + j] - mean[c][j], 2);
            best = fmin(best, d);
            if (c == labels[i])
                own = d;
        }
        assert_close(own, best, 1e-7, 1e-9);
        sum += own;
    }
    assert_close(inertia, sum, 1e-7, 0);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* More clusters than distinct rows: one cluster per distinct row, and inertia zero. */
static void test_few_distinct(void **state)
{
    (void)state;
    enum { N = 90 };
    ddsc_context *ctx = test_context(2, 0);
    for (int64_t distinct = 1; distinct <= 6; distinct++)
        for (int64_t k = distinct; k <= N; k += 7) {
            double rows[2 * N], inertia;
            int32_t labels[N];
            for (int64_t i = 0; i < N; i++) {
                rows[2 * i] = 0.1 * (double)(i % distinct);
                rows[2 * i + 1] = 7;
            }
            assert_int_equal(ddsc_kmeans_run(ctx, labels, &inertia, N, 2, rows, k, 3), DDSC_OK);
            for (int64_t i = 0; i < N; i++)
                assert_int_equal(labels[i], i % distinct);
            assert_close(inertia, 0, 0, 1e-25);
        }
    ddsc_context_destroy(ctx);
}

/* The sample of many rows contains all clusters, even if they alternate. */
static void test_halves_in_turn(void **state)
{
    (void)state;
    enum { N = 20000, DIM = 4, K = 4 };
    ddsc_context *ctx = test_context(1, 0);
    double *rows = blobs(N, DIM, K, 1e-3, 6), agreement = 0;
    assert_int_equal(halves_agreement(ctx, &agreement, N, DIM, rows, K), DDSC_OK);
    assert_close(agreement, 1, 0, 1e-12);
    free(rows);
    ddsc_context_destroy(ctx);
}

static void test_edges(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double rows[] = {3, 1, 2, 5}, inertia = -1;
    int32_t labels[4] = {9, 9, 9, 9};
    assert_int_equal(ddsc_kmeans_run(ctx, labels, &inertia, 4, 1, rows, 4, 1), DDSC_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(labels[i], i);
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 4, 1, rows, 1, 1), DDSC_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(labels[i], 0);
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 1, 4, rows, 1, 1), DDSC_OK);
    labels[0] = 9;
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 4, 1, rows, 5, 1), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 4, 1, rows, 0, 1), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 4, 1, rows, 2, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 0, 1, rows, 1, 1), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_kmeans_run(ctx, NULL, NULL, 4, 1, rows, 1, 1), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_kmeans_run(NULL, labels, NULL, 4, 1, rows, 1, 1), DDSC_ERROR_ARGUMENT);
    rows[2] = NAN;
    assert_int_equal(ddsc_kmeans_run(ctx, labels, NULL, 2, 2, rows, 1, 1), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "row 1, column 0"));
    assert_int_equal(labels[0], 9);
    ddsc_context_destroy(ctx);
}

/* Difficult rows (one cloud divided into many clusters) in many blocks: the same for any number of
 * threads. */
static void test_threads(void **state)
{
    (void)state;
    enum { N = 5000, DIM = 7, K = 40 };
    double *rows = blobs(N, DIM, 1, 1, 1), inertia[3];
    int32_t *labels[3];
    for (int t = 0; t < 3; t++) {
        ddsc_context *ctx = test_context(t + 1, 99);
        labels[t] = malloc(N * sizeof *labels[t]);
        assert_int_equal(ddsc_kmeans_run(ctx, labels[t], &inertia[t], N, DIM, rows, K, 2), DDSC_OK);
        assert_memory_equal(labels[t], labels[0], N * sizeof *labels[0]);
        assert_true(inertia[t] == inertia[0]);
        ddsc_context_destroy(ctx);
    }
    for (int t = 0; t < 3; t++)
        free(labels[t]);
    free(rows);
}

/* More restarts never give a worse result, because each has its own stream. */
static void test_restarts(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 3);
    double *rows = blobs(300, 2, 1, 1, 8), before = INFINITY, inertia;
    int32_t labels[300];
    for (int64_t restarts = 1; restarts <= 12; restarts++) {
        assert_int_equal(ddsc_kmeans_run(ctx, labels, &inertia, 300, 2, rows, 12, restarts),
                         DDSC_OK);
        assert_true(inertia <= before);
        before = inertia;
    }
    free(rows);
    ddsc_context_destroy(ctx);
}

/* Bounds skip rows but never change a label, compared with Lloyd's iteration without bounds from
 * the same starts. */
static void check_bounds(int64_t n, int64_t dim, double *rows, int64_t k, double least)
{
    ddsc_context *ctx = test_context(2, 4);
    kmeans_problem problem = {.n = n, .dim = dim, .rows = rows, .k = k, .restarts = 1};
    lloyd *with = NULL, *plain = NULL;
    const int32_t *a, *b;
    assert_int_equal(lloyd_create(ctx, &with, &problem, false), DDSC_OK);
    assert_int_equal(lloyd_create(ctx, &plain, &problem, true), DDSC_OK);
    for (uint64_t restart = 0; restart < 3; restart++) {
        rng r = rng_make(4, RNG_KMEANS, restart);
        int64_t found;
        assert_int_equal(kmeans_start(ctx, lloyd_centers(with), &found, &problem, &r), DDSC_OK);
        memcpy(lloyd_centers(plain), lloyd_centers(with), (size_t)(k * dim) * sizeof *rows);
        assert_int_equal(lloyd_run(with, found, &a), DDSC_OK);
        assert_int_equal(lloyd_run(plain, found, &b), DDSC_OK);
        assert_memory_equal(a, b, (size_t)n * sizeof *a);
    }
    assert_true((double)lloyd_work(with) <= (1 - least) * (double)lloyd_work(plain));
    lloyd_destroy(with);
    lloyd_destroy(plain);
    ddsc_context_destroy(ctx);
}

static void test_bounds(void **state)
{
    (void)state;
    double *apart = blobs(4000, 5, 8, 4, 1), *one = blobs(3000, 3, 1, 1, 2);
    check_bounds(4000, 5, apart, 8, 0.3);
    check_bounds(4000, 5, apart, 40, 0.1);
    check_bounds(3000, 3, one, 10, 0.1);
    for (int i = 0; i < 3000 * 3; i++) /* few distinct values: ties, and clusters that become empty
                                        * */
        one[i] = floor(one[i]);
    check_bounds(3000, 3, one, 30, 0);
    check_bounds(3000, 3, one, 2, 0);
    free(apart);
    free(one);
}

/* A row of weight w is equivalent to w rows: the same centers give the same partition and means. */
static void test_weights(void **state)
{
    (void)state;
    enum { N = 600, DIM = 3, K = 7, MOST = 4 };
    ddsc_context *ctx = test_context(2, 4);
    double *rows = blobs(N, DIM, 5, 2, 9), *many = malloc(N * MOST * DIM * sizeof *many), weight[N];
    int64_t n = 0, first[N];
    for (int i = 0; i < N; i++) {
        weight[i] = 1 + i % MOST;
        first[i] = n;
        for (int w = 0; w < 1 + i % MOST; w++, n++)
            memcpy(many + n * DIM, rows + i * DIM, DIM * sizeof *rows);
    }
    kmeans_problem once = {.n = N, .dim = DIM, .rows = rows, .k = K, .weight = weight};
    kmeans_problem often = {.n = n, .dim = DIM, .rows = many, .k = K};
    lloyd *a = NULL, *b = NULL;
    const int32_t *label, *other;
    int64_t found;
    rng r = rng_make(4, RNG_KMEANS, 0);
    assert_int_equal(lloyd_create(ctx, &a, &once, false), DDSC_OK);
    assert_int_equal(lloyd_create(ctx, &b, &often, false), DDSC_OK);
    assert_int_equal(kmeans_start(ctx, lloyd_centers(a), &found, &once, &r), DDSC_OK);
    assert_int_equal(found, K);
    memcpy(lloyd_centers(b), lloyd_centers(a), K * DIM * sizeof *rows);
    assert_int_equal(lloyd_run(a, K, &label), DDSC_OK);
    assert_int_equal(lloyd_run(b, K, &other), DDSC_OK);
    for (int i = 0; i < N; i++)
        assert_int_equal(label[i], other[first[i]]);
    for (int c = 0; c < K * DIM; c++)
        assert_close(lloyd_centers(a)[c], lloyd_centers(b)[c], 1e-12, 1e-12);
    lloyd_destroy(a);
    lloyd_destroy(b);
    free(rows);
    free(many);
    ddsc_context_destroy(ctx);
}

/* The table of pairs and the coordinates give the same partition from equal starts. */
static void check_table(int64_t n, int64_t dim, const double *rows, int64_t k)
{
    ddsc_context *ctx = test_context(2, 4);
    kmeans_problem problem = {.n = n, .dim = dim, .rows = rows, .k = k, .restarts = 100}, shared;
    double *pairs = NULL;
    lloyd *plain = NULL;
    lloyd_table *table = NULL;
    const int32_t *a, *b;
    int64_t *row = malloc((size_t)k * sizeof *row), *other = malloc((size_t)k * sizeof *other);
    assert_int_equal(kmeans_pairs(ctx, &pairs, &problem), DDSC_OK);
    assert_non_null(pairs);
    shared = problem;
    shared.pairs = pairs;
    assert_int_equal(lloyd_create(ctx, &plain, &problem, true), DDSC_OK);
    assert_int_equal(lloyd_table_create(ctx, &table, &shared), DDSC_OK);
    for (uint64_t restart = 0; restart < 5; restart++) {
        rng r = rng_make(4, RNG_KMEANS, restart), again = r;
        int64_t found, found_too;
        assert_int_equal(kmeans_start_rows(ctx, row, &found, &problem, &r), DDSC_OK);
        assert_int_equal(kmeans_start_rows(ctx, other, &found_too, &shared, &again), DDSC_OK);
        assert_int_equal(found, found_too);
        assert_memory_equal(row, other, (size_t)found * sizeof *row);
        for (int64_t c = 0; c < found; c++)
            memcpy(lloyd_centers(plain) + c * dim, rows + row[c] * dim, (size_t)dim * sizeof *rows);
        assert_int_equal(lloyd_run(plain, found, &a), DDSC_OK);
        assert_int_equal(lloyd_table_run(table, row, found, &b), DDSC_OK);
        assert_memory_equal(a, b, (size_t)n * sizeof *a);
    }
    lloyd_destroy(plain);
    lloyd_table_destroy(table);
    mem_free(ctx, pairs);
    ddsc_context_destroy(ctx);
    free(row);
    free(other);
}

static void test_table(void **state)
{
    (void)state;
    double *apart = blobs(700, 5, 8, 4, 1), *one = blobs(900, 40, 1, 1, 2);
    check_table(700, 5, apart, 8);
    check_table(700, 5, apart, 60);
    check_table(900, 40, one, 30);
    check_table(200, 40, one, 200);
    check_table(65, 1, one, 1);
    free(apart);
    free(one);
}

/* If the first restarts agree, stopping early is no worse than running all of them. The loop of
 * restarts gives the same result for any number of threads, even with more threads than restarts.
 * */
static void test_agreeing(void **state)
{
    (void)state;
    double *easy = blobs(600, 4, 5, 0.5, 3), *hard = blobs(600, 9, 1, 1, 4), all, some;
    int32_t labels[600], other[600];
    for (int threads = 1; threads <= 5; threads += 2) {
        ddsc_context *ctx = test_context(threads, 1);
        assert_int_equal(ddsc_kmeans_run(ctx, labels, &all, 600, 4, easy, 5, 30), DDSC_OK);
        assert_int_equal(ddsc_kmeans_run(ctx, other, &some, 600, 4, easy, 5, 8), DDSC_OK);
        assert_true(all == some);
        assert_memory_equal(labels, other, sizeof labels);
        assert_int_equal(ddsc_kmeans_run(ctx, labels, &all, 600, 9, hard, 40, 30), DDSC_OK);
        assert_int_equal(ddsc_kmeans_run(ctx, other, &some, 600, 9, hard, 40, 8), DDSC_OK);
        assert_true(all < some);
        ddsc_context_destroy(ctx);
    }
    free(easy);
    free(hard);
}

/* With many clusters, restarts start from a common sample and stop when the best two agree. Every
 * blob is found, and neither the number of threads nor the allowed number of restarts matters. */
static void test_many_clusters(void **state)
{
    enum { N = 4300, DIM = 7, K = 80 };
    (void)state;
    double *rows = blobs(N, DIM, K, 0.1, 5), inertia = 0, other_inertia;
    int32_t *labels = malloc(N * sizeof *labels), *other = malloc(N * sizeof *other);
    kmeans_problem p = {.n = N, .dim = DIM, .rows = rows, .k = K, .restarts = 8, .bounded = true};
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 2);
        int64_t n_found;
        p.restarts = 8 * threads;
        assert_int_equal(kmeans_fit(ctx, other, &other_inertia, &n_found, &p), DDSC_OK);
        assert_int_equal(n_found, K);
        if (threads == 1) {
            inertia = other_inertia;
            memcpy(labels, other, N * sizeof *labels);
        }
        assert_true(inertia == other_inertia);
        assert_memory_equal(labels, other, N * sizeof *labels);
        ddsc_context_destroy(ctx);
    }
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(labels[i], i % K);
    /* copies of few rows: the sample has fewer than K distinct rows, and so has the set */
    for (int64_t i = 0; i < N; i++)
        memcpy(rows + i * DIM, rows + i % 50 * DIM, DIM * sizeof *rows);
    ddsc_context *ctx = test_context(2, 2);
    int64_t n_found;
    assert_int_equal(kmeans_fit(ctx, labels, &inertia, &n_found, &p), DDSC_OK);
    assert_int_equal(n_found, 50);
    assert_true(inertia < 1e-20);
    ddsc_context_destroy(ctx);
    free(other);
    free(labels);
    free(rows);
}

static ddsc_status kmeans_call(ddsc_context *ctx, void *arg)
{
    int32_t labels[40];
    for (int i = 0; i < 40; i++)
        labels[i] = -5;
    ddsc_status status = ddsc_kmeans_run(ctx, labels, NULL, 40, 2, arg, 3, 2);
    assert_int_equal(labels[7] == -5, status < 0);
    return status;
}

/* Beyond the requested restarts, more follow until the best partition is found twice, at most `most`. The few next best
 * starts come from the requested ones, best first, whatever the number of threads. */
static void test_found_twice(void **state)
{
    (void)state;
    enum { N = 300, DIM = 6, K = 9, STARTS = 10, MOST = 200 };
    double *rows = blobs(N, DIM, 1, 1, 5);
    int32_t labels[2][N], few_labels[2][KMEANS_FEW * N];
    double plain, more[2], last = 0, other;
    int64_t found;
    for (int threads = 1; threads <= 2; threads++) {
        ddsc_context *ctx = test_context(threads == 1 ? 1 : 3, 4);
        kmeans_few few = {.labels = few_labels[threads - 1]};
        kmeans_problem p = {.n = N, .dim = DIM, .rows = rows, .k = K, .restarts = STARTS};
        assert_int_equal(kmeans_fit(ctx, labels[0], &plain, &found, &p), DDSC_OK);
        p.most = MOST;
        p.few = &few;
        assert_int_equal(kmeans_fit(ctx, labels[threads - 1], &more[threads - 1], &found, &p),
                         DDSC_OK);
        assert_true(more[threads - 1] < plain && few.n == KMEANS_FEW);
        for (int64_t i = 0; i < few.n; i++) {
            kmeans_problem all = {.n = N, .dim = DIM, .rows = rows, .k = K};
            assert_int_equal(kmeans_inertia(ctx, &other, few.labels + i * N, &all), DDSC_OK);
            assert_true(other >= more[threads - 1] && (i == 0 ? other >= plain : other >= last));
            last = other;
        }
        ddsc_context_destroy(ctx);
    }
    assert_true(more[0] == more[1]);
    assert_memory_equal(few_labels[0], few_labels[1], sizeof few_labels[0]);
    free(rows);
}

static void test_memory(void **state)
{
    (void)state;
    double *rows = blobs(40, 2, 3, 1, 0);
    assert_true(test_failing_allocations(kmeans_call, rows) > 8);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_blobs),   cmocka_unit_test(test_stationary),
        cmocka_unit_test(test_few_distinct),  cmocka_unit_test(test_edges),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_found_twice),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_table),         cmocka_unit_test(test_agreeing),
        cmocka_unit_test(test_many_clusters), cmocka_unit_test(test_halves_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
