/* Neighbors chosen by a locally rescaled distance: the pruned search compared with the rule on the
 * whole matrix, scales of duplicates, in-degrees, the condition for rescaling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph_support.h"
#include "neighbors/planner/plan.h"

/* Clouds of few points around a center in many dimensions: the central ones become hubs. The last
 * few items are copies of the first. */
static measures *clouds(ddsc_context *ctx, int64_t n, int64_t dim, int64_t n_copies,
                        int64_t n_points)
{
    rng r = rng_make(5, RNG_GAUSSIANS, 0);
    double *points = malloc((size_t)(n * n_points * dim) * sizeof *points);
    int64_t *offset = malloc((size_t)(n + 1) * sizeof *offset);
    measures *m;
    for (int64_t i = 0; i <= n; i++)
        offset[i] = i * n_points;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n_points * dim; k++) {
            double *to = &points[i * n_points * dim + k];
            double x = rng_normal(&r) + (k < dim ? 0 : 0.5 * points[i * n_points * dim + k % dim]);
            *to = i >= n - n_copies ? points[k] : x;
        }
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, n, dim, points, NULL, offset, 0),
                     DDSC_OK);
    free(points);
    free(offset);
    return m;
}

/* Images on a plane grid, for which bounds are refined. */
static measures *images(ddsc_context *ctx, int64_t n)
{
    enum { SIDE = 9 };
    double support[SIDE * SIDE * 2];
    double *pixel = calloc((size_t)n * SIDE * SIDE, sizeof *pixel);
    rng r = rng_make(3, RNG_GAUSSIANS, 9);
    measures *m;
    for (int64_t v = 0; v < SIDE * SIDE; v++) {
        support[2 * v] = (double)(v / SIDE);
        support[2 * v + 1] = (double)(v % SIDE);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < 30; p++)
            pixel[i * SIDE * SIDE + rng_below(&r, SIDE * SIDE)] = 1 + rng_uniform(&r);
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, n, SIDE * SIDE, 2, support, pixel, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(pixel);
    return m;
}

/* Few dimensions and many, with duplicates and without, bounds of every kind. */
static measures *set_of(ddsc_context *ctx, int round)
{
    switch (round) {
    case 0: return clouds(ctx, 90, 2, 12, 4);
    case 1: return clouds(ctx, 90, 30, 12, 4);
    case 2: return clouds(ctx, 400, 2, 0, 4);
    case 3: return clouds(ctx, 400, 30, 0, 4);
    case 4: return clouds(ctx, 80, 3, 3, 30);
    default: return images(ctx, 90);
    }
}

static ddsc_graph_settings graph_of(int64_t tau, ddsc_hubs hubs, ddsc_exact_graph way)
{
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    set.hubs = hubs;
    set.exact_graph = way;
    return set;
}

/* Applies the rule: s from the tau nearest non-duplicates, then the tau smallest D^2 / s_j by
 * sorting. */
static void assert_rule(const ddsc_graph *g, const double *d2, int64_t n, int64_t tau)
{
    double *key = malloc((size_t)(n * n) * sizeof *key), *s = malloc((size_t)n * sizeof *s);
    bool *taken = calloc((size_t)n, sizeof *taken);
    for (int64_t i = 0; i < n; i++) {
        int64_t n_apart = 0;
        s[i] = 0;
        memset(taken, 0, (size_t)n);
        for (int64_t k = 0; k < tau; k++) {
            int64_t best = -1;
            for (int64_t j = 0; j < n; j++)
                if (j != i && !taken[j] && (best < 0 || d2[i * n + j] < d2[i * n + best]))
                    best = j;
            taken[best] = true;
            s[i] += sqrt(fmax(0, d2[i * n + best]));
            n_apart += d2[i * n + best] > 0;
        }
        s[i] /= n_apart > 0 ? (double)n_apart : 1;
        key[i] = s[i];
    }
    double median = affinity_median_positive(key, n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            key[i * n + j] = d2[i * n + j] / (s[j] > 0 ? fmax(s[j], 0.1 * median) : median);
        assert_int_equal(g->offset[i + 1] - g->offset[i], tau);
        memset(taken, 0, (size_t)n);
        double last = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            assert_true(g->index[e] != i && !taken[g->index[e]]);
            assert_true(g->d2[e] == d2[i * n + g->index[e]]);
            assert_true(e == g->offset[i] || g->d2[e] >= g->d2[e - 1]);
            taken[g->index[e]] = true;
            last = fmax(last, key[i * n + g->index[e]]);
        }
        for (int64_t j = 0; j < n; j++)
            assert_true(j == i || taken[j] || key[i * n + j] >= last * (1 - 1e-12));
    }
    free(key);
    free(s);
    free(taken);
}

static void assert_same(const ddsc_graph *a, const ddsc_graph *b)
{
    int64_t n_edges = a->offset[a->n];
    assert_memory_equal(a->offset, b->offset, (size_t)(a->n + 1) * sizeof *a->offset);
    assert_memory_equal(a->index, b->index, (size_t)n_edges * sizeof *a->index);
    assert_memory_equal(a->d2, b->d2, (size_t)n_edges * sizeof *a->d2);
    assert_true(a->scale && b->scale);
}

/* For every metric, all pairs, bounds and the precomputed matrix give the same graph, which follows
 * the rule, and the second search requests no more pairs than the first. */
static void test_same_graph(void **state)
{
    (void)state;
    enum { TAU = 6 };
    for (int round = 0; round < 6; round += (int)(6 / test_size(6))) {
        ddsc_context *ctx = test_context(1 + round % 3, 1);
        measures *m = set_of(ctx, round);
        int64_t n = m->n;
        double *d2 = malloc((size_t)(n * n) * sizeof *d2);
        for (int which = 0; which <= DDSC_METRIC_W1; which++) {
            ddsc_metric_settings metric = test_metric((ddsc_metric)which);
            ddsc_pair_stats stats = {.struct_size = sizeof stats}, plain = stats;
            ddsc_graph *full, *cut, *other;
            ddsc_graph_settings set = graph_of(TAU, DDSC_HUBS_ALWAYS, DDSC_GRAPH_FULL);
            assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, &metric, DDSC_DISTANCE_SQUARED),
                             DDSC_OK);
            assert_int_equal(ddsc_neighbors_run(ctx, &full, NULL, m, &metric, &set), DDSC_OK);
            assert_rule(full, d2, n, TAU);
            set.exact_graph = DDSC_GRAPH_AUTO;
            assert_int_equal(
                ddsc_graph_create_from_matrix(ctx, &cut, n, d2, DDSC_DISTANCE_SQUARED, &set),
                DDSC_OK);
            assert_same(full, cut);
            if (which == DDSC_METRIC_W2 || which == DDSC_METRIC_SINKHORN || which == DDSC_METRIC_W1)
                set.exact_graph = DDSC_GRAPH_PRUNED;
            assert_int_equal(ddsc_neighbors_run(ctx, &other, &stats, m, &metric, &set), DDSC_OK);
            assert_same(full, other);
            ddsc_graph_destroy(other);
            set.hubs = DDSC_HUBS_OFF;
            assert_int_equal(ddsc_neighbors_run(ctx, &other, &plain, m, &metric, &set), DDSC_OK);
            assert_true(stats.n_solved <= 2 * plain.n_solved && stats.n_solved >= plain.n_solved);
            assert_false(other->scale);
            ddsc_graph_destroy(other);
            ddsc_graph_destroy(cut);
            ddsc_graph_destroy(full);
        }
        free(d2);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* Only duplicates: no scale is 0, and the graph is that of the indices. */
static void test_duplicates(void **state)
{
    (void)state;
    enum { N = 12 };
    ddsc_context *ctx = test_context(1, 1);
    double d2[N * N] = {0};
    ddsc_graph *rescaled, *plain;
    ddsc_graph_settings set = graph_of(3, DDSC_HUBS_ALWAYS, DDSC_GRAPH_AUTO);
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &rescaled, N, d2, 0, &set), DDSC_OK);
    set.hubs = DDSC_HUBS_OFF;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &plain, N, d2, 0, &set), DDSC_OK);
    assert_memory_equal(plain->index, rescaled->index, 3 * N * sizeof *plain->index);
    ddsc_graph_destroy(plain);
    ddsc_graph_destroy(rescaled);
    ddsc_context_destroy(ctx);
}

/* Vectors of many dimensions around one center: those near the center are neighbors of all others.
 * In-degrees show it. Rescaling reduces these in-degrees, and items that were neighbors of no other
 * item become neighbors. */
static void test_in_degrees(void **state)
{
    (void)state;
    enum { N = 400, DIM = 200 };
    ddsc_context *ctx = test_context(1, 1);
    double *x = malloc((size_t)(N * DIM) * sizeof *x);
    rng r = rng_make(3, RNG_GAUSSIANS, 0);
    ddsc_graph *g;
    in_degrees found, after;
    for (int64_t k = 0; k < N * DIM; k++)
        x[k] = rng_normal(&r);
    ddsc_graph_settings set = graph_of(5, DDSC_HUBS_DEFAULT, DDSC_GRAPH_AUTO);
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &g, N, DIM, x, &set), DDSC_OK);
    assert_int_equal(graph_in_degrees(ctx, &found, g, g->tau), DDSC_OK);
    assert_true(found.skewness > 3.5 && found.largest > N / 8 && !g->scale);
    ddsc_graph_destroy(g);
    set.hubs = DDSC_HUBS_AUTO;
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &g, N, DIM, x, &set), DDSC_OK);
    assert_int_equal(graph_in_degrees(ctx, &after, g, g->tau), DDSC_OK);
    assert_true(g->scale && g->plain.largest == found.largest);
    assert_true(2 * after.largest < found.largest && 2 * after.n_none < found.n_none);
    ddsc_graph_destroy(g);
    free(x);
    ddsc_context_destroy(ctx);
}

static ddsc_status hubs_call(ddsc_context *ctx, void *arg)
{
    ddsc_status status;
    measures *m = NULL;
    ddsc_graph *g = NULL;
    ddsc_metric_settings metric = test_metric((ddsc_metric) * (int *)arg);
    ddsc_graph_settings set = graph_of(3, DDSC_HUBS_ALWAYS, DDSC_GRAPH_AUTO);
    status = ddsc_measures_generate_gaussians(ctx, &m, 2, 8, 4, 2, 3);
    if (status == DDSC_OK)
        status = ddsc_neighbors_run(ctx, &g, NULL, m, &metric, &set);
    ddsc_graph_destroy(g);
    ddsc_measures_destroy(m);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    for (int which = 0; which <= DDSC_METRIC_W1; which++)
        assert_true(test_failing_allocations(hubs_call, &which) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_graph),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_in_degrees),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
