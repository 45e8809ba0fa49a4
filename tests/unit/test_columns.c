/* Parts of the distance matrix: a random sample of the pairs, or whole columns and the Nystrom
 * method. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "graph_support.h"
#include "neighbors/planner/plan.h"

/* ---- the Nystrom method ---- */

/* n points in the cube of `dim` dimensions, and an individual term of each point in all its
 * distances. */
static double *cube(int64_t n, int64_t dim, double *share, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 0);
    double *x = malloc((size_t)(n * dim) * sizeof *x);
    for (int64_t p = 0; p < n * dim; p++)
        x[p] = rng_uniform(&r);
    for (int64_t i = 0; i < n; i++)
        share[i] = rng_uniform(&r) - 0.3;
    return x;
}

static double apart2(const double *x, int64_t dim, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < dim; k++)
        sum += (x[i * dim + k] - x[j * dim + k]) * (x[i * dim + k] - x[j * dim + k]);
    return sum;
}

/* Euclidean landmarks that span the space reproduce every distance, and the individual terms of
 * other items. */
static void test_fit_exact(void **state)
{
    (void)state;
    enum { N = 60, M = 12, D = 4 };
    ddsc_context *ctx = test_context(2, 0);
    double share[N], *x = cube(N, D, share, 3), d2[N * M], between[M * M];
    memset(share, 0, M * sizeof *share); /* landmarks come first */
    for (int64_t i = 0; i < N; i++)
        for (int64_t a = 0; a < M; a++)
            d2[i * M + a] = i == a ? 0 : apart2(x, D, i, a) + share[i] + share[a];
    memcpy(between, d2, sizeof between);
    landmark_map l;
    assert_int_equal(search_landmarks_fit(ctx, &l, N, M, d2, between), DDSC_OK);
    assert_int_equal(l.dim, D);
    for (int64_t i = 0; i < N; i++) {
        assert_close(l.rest[i], share[i], 0, 1e-12);
        for (int64_t j = 0; j < N; j++)
            assert_close(apart2(l.x, l.dim, i, j), apart2(x, D, i, j), 0, 1e-12);
    }
    search_landmarks_free(ctx, &l);
    free(x);
    ddsc_context_destroy(ctx);
}

/* Coinciding landmarks span nothing, so the individual terms contain all information. */
static void test_fit_flat(void **state)
{
    (void)state;
    static const double between[9] = {0}, d2[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5};
    ddsc_context *ctx = test_context(1, 0);
    landmark_map l;
    assert_int_equal(search_landmarks_fit(ctx, &l, 4, 3, d2, between), DDSC_OK);
    assert_true(l.dim == 1 && l.x[0] == 0 && l.x[3] == 0);
    assert_close(l.rest[3], 5, 1e-12, 0);
    search_landmarks_free(ctx, &l);
    ddsc_context_destroy(ctx);
}

/* ---- columns ---- */

static void test_draw(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0), *other = test_context(1, 1);
    column_set a, b, c;
    assert_int_equal(search_columns_draw(ctx, &a, 50, 0.3), DDSC_OK);
    assert_int_equal(search_columns_draw(ctx, &b, 50, 0.3), DDSC_OK);
    assert_int_equal(search_columns_draw(other, &c, 50, 0.3), DDSC_OK);
    assert_int_equal(a.m, 15);
    assert_memory_equal(a.order, b.order, 50 * sizeof *a.order);
    assert_memory_not_equal(a.order, c.order, 50 * sizeof *a.order);
    bool seen[50] = {false};
    for (int64_t i = 0; i < 50; i++) {
        assert_true(!seen[a.order[i]] && (i == 0 || i == 15 || a.order[i] > a.order[i - 1]));
        seen[a.order[i]] = true;
        assert_int_equal(a.rank[a.order[i]], i < 15 ? i : -1);
    }
    search_columns_free(ctx, &a);
    search_columns_free(ctx, &b);
    search_columns_free(other, &c);
    assert_int_equal(search_columns_draw(ctx, &a, 50, 0.02), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "selects 1 columns; at least 2 are"));
    ddsc_context_destroy(other);
    ddsc_context_destroy(ctx);
}

/* A backend that counts the requested pairs. */
typedef struct counted {
    int64_t n;
    int *times; /* n x n */
} counted;

static ddsc_status counted_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                                ddsc_pair_stats *stats)
{
    counted *c = state;
    (void)worker;
    (void)stats;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            d2[(i - t->i0) * ld + (j - t->j0)] = NAN;
            if (tile_wants(t, i, j)) {
                __atomic_add_fetch(&c->times[i * c->n + j], 1, __ATOMIC_RELAXED);
                d2[(i - t->i0) * ld + (j - t->j0)] = (double)(i + j);
            }
        }
    return DDSC_OK;
}

static void no_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    (void)arg;
    (void)t;
    (void)d2;
    (void)ld;
}

/* Each pair with a first item once, no other; for tiles that fit and tiles that do not. */
static void test_first_pairs(void **state)
{
    (void)state;
    enum { N = 37 };
    ddsc_context *ctx = test_context(2, 0);
    for (int64_t side = 1; side <= 40; side += 3)
        for (int64_t first = 1; first <= N; first += 4) {
            counted c = {N, calloc(N * N, sizeof *c.times)};
            ddsc_pair_stats stats = {.struct_size = sizeof stats};
            pair_backend backend = {.name = "counted", .tile_side = side, .tile = counted_tile};
            pair_choice choice = {.i_end = first, .sample = 1};
            pairs p;
            assert_int_equal(pairs_open(ctx, &p, N, &backend, &c, NULL), DDSC_OK);
            assert_int_equal(pairs_walk(&p, &choice, no_sink, NULL), DDSC_OK);
            assert_int_equal(pairs_finish(&p, pairs_chosen(&choice, N), &stats), DDSC_OK);
            pairs_close(&p);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < N; j++)
                    assert_int_equal(c.times[i * N + j], i < j && i < first);
            assert_int_equal(stats.n_solved, first * (N - first) + first * (first - 1) / 2);
            assert_int_equal(stats.n_pairs, stats.n_solved);
            free(c.times);
        }
    ddsc_context_destroy(ctx);
}

/* The columns of every metric are those of its full matrix. */
static void test_fill(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_gaussians(ctx, 2, 20, 9, 2);
    int64_t n = m->n;
    double *full = malloc((size_t)(n * n) * sizeof *full);
    for (int which = 0; which < 4; which++) {
        ddsc_metric_settings set = test_metric((ddsc_metric)which);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        metric_resolved metric;
        plan_metric r;
        measures *ordered = NULL;
        column_set c;
        assert_int_equal(ddsc_distance_run(ctx, full, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_int_equal(search_columns_draw(ctx, &c, n, 0.25), DDSC_OK);
        assert_int_equal(metric_resolve(ctx, &metric, m, &set), DDSC_OK);
        assert_int_equal(measures_subset(ctx, &ordered, m, n, c.order), DDSC_OK);
        assert_int_equal(plan_metric_open(ctx, &r, ordered, &metric, false, NULL), DDSC_OK);
        assert_int_equal(search_columns_fill(&c, &r.p), DDSC_OK);
        assert_int_equal(plan_metric_close(&r, DDSC_OK, 780, &stats), DDSC_OK);
        assert_true(stats.n_solved == 10 * 30 + 45 && stats.n_pairs == 780);
        ddsc_measures_destroy(ordered);
        metric_resolved_free(&metric);
        for (int64_t i = 0; i < n; i++)
            for (int64_t a = 0; a < c.m; a++)
                assert_close(c.d2[i * c.m + a], full[i * n + c.order[a]], 1e-9, 1e-12);
        search_columns_free(ctx, &c);
    }
    free(full);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_graph *neighbors(ddsc_context *ctx, const measures *m, int which, double columns,
                             ddsc_pair_stats *stats)
{
    ddsc_graph *g;
    ddsc_metric_settings metric = test_metric((ddsc_metric)which);
    ddsc_graph_settings set = graph_settings(6, 1);
    set.sample_columns = columns;
    ddsc_pair_stats_init(stats);
    if (ddsc_neighbors_run(ctx, &g, stats, m, &metric, &set) < 0)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return g;
}

/* Complete lists; known pairs have their own distance; all columns give the full graph. */
static void test_graph(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_gaussians(ctx, 3, 20, 12, 3);
    int64_t n = m->n;
    double *full = malloc((size_t)(n * n) * sizeof *full);
    for (int which = 0; which < 4; which++) {
        ddsc_metric_settings set = test_metric((ddsc_metric)which);
        ddsc_pair_stats stats = {.struct_size = sizeof stats}, plain_stats = stats;
        column_set c;
        int64_t n_known = 0;
        ddsc_graph *part = neighbors(ctx, m, which, 0.5, &stats);
        ddsc_graph *plain = neighbors(ctx, m, which, 1, &plain_stats);
        assert_true(part->n_columns == 30 && stats.n_solved == 30 * 30 + 435);
        ddsc_graph_view view;
        ddsc_graph_get_view(part, &view);
        assert_true(view.n_columns == 30 && view.columns_error >= 0 && view.columns_error < 1);
        ddsc_graph_get_view(NULL, &view);
        assert_true(view.n_columns == 0 && view.columns_error == 0);
        assert_true(plain->n_columns == 0 && plain->offset[n] == part->offset[n]);
        assert_int_equal(ddsc_distance_run(ctx, full, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_int_equal(search_columns_draw(ctx, &c, n, 0.5), DDSC_OK);
        for (int64_t i = 0; i < n; i++)
            for (int64_t p = part->offset[i]; p < part->offset[i + 1]; p++) {
                int64_t j = part->index[p];
                if (c.rank[i] < 0 && c.rank[j] < 0)
                    continue;
                assert_close(part->d2[p], full[i * n + j], 1e-9, 1e-12);
                n_known++;
            }
        assert_true(n_known > n);
        search_columns_free(ctx, &c);
        ddsc_graph_destroy(plain);
        ddsc_graph_destroy(part);
    }
    free(full);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Every metric finds separate clusters from a sixth of the columns. */
static void test_clusters(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_gaussians(ctx, 3, 60, 12, 8);
    for (int which = 0; which < 4; which++) {
        ddsc_cluster_settings set;
        ddsc_clustering *c;
        ddsc_scores scores = {.struct_size = sizeof scores};
        ddsc_cluster_settings_init(&set);
        set.k_min = set.k_max = 3;
        ddsc_graph_settings graph;
        ddsc_graph_settings_init(&graph);
        graph.sample_columns = 1.0 / 6;
        set.metric = metric_with((ddsc_metric)which);
        set.graph = &graph;
        assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_OK);
        assert_int_equal(ddsc_scores_run(ctx, &scores, m->n, c->labels, m->label), DDSC_OK);
        assert_true(scores.ari == 1 && c->view.graph->n_columns == 30);
        ddsc_clustering_destroy(c);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_matrix(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_gaussians(ctx, 2, 25, 7, 3);
    int64_t n = m->n;
    double *full = malloc((size_t)(n * n) * sizeof *full);
    ddsc_metric_settings set = test_metric(DDSC_METRIC_W2);
    ddsc_graph_settings how = graph_settings(6, 1);
    ddsc_graph *made, *given;
    how.sample_columns = 0.4;
    assert_int_equal(ddsc_distance_run(ctx, full, NULL, m, &set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_int_equal(ddsc_neighbors_run(ctx, &made, NULL, m, &set, &how), DDSC_OK);
    assert_int_equal(
        ddsc_graph_create_from_matrix(ctx, &given, n, full, DDSC_DISTANCE_SQUARED, &how), DDSC_OK);
    assert_int_equal(made->offset[n], given->offset[n]);
    for (int64_t p = 0; p < made->offset[n]; p++)
        assert_close(made->d2[p], given->d2[p], 1e-7, 1e-9);
    ddsc_graph_destroy(given);
    column_set c;
    assert_int_equal(search_columns_draw(ctx, &c, n, 0.4), DDSC_OK);
    full[c.order[0] * n + c.order[n - 1]] = full[c.order[n - 1] * n + c.order[0]] = NAN;
    assert_int_equal(
        ddsc_graph_create_from_matrix(ctx, &given, n, full, DDSC_DISTANCE_SQUARED, &how),
        DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "must not contain unknown values"));
    search_columns_free(ctx, &c);
    double vectors[4] = {0, 1, 2, 3};
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &given, 4, 1, vectors, &how),
                     DDSC_ERROR_ARGUMENT);
    how.sample = 0.5;
    assert_int_equal(ddsc_neighbors_run(ctx, &given, NULL, m, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "only one of them"));
    how.sample = 1;
    how.sample_columns = 0;
    assert_int_equal(ddsc_neighbors_run(ctx, &given, NULL, m, &set, &how), DDSC_ERROR_ARGUMENT);
    how.sample_columns = 0.01;
    assert_int_equal(ddsc_neighbors_run(ctx, &given, NULL, m, &set, &how), DDSC_ERROR_ARGUMENT);
    ddsc_graph_destroy(made);
    free(full);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        ddsc_graph *g[2];
        ddsc_context *ctx[2];
        ddsc_pair_stats stats[2];
        for (int k = 0; k < 2; k++) {
            ctx[k] = test_context(k + 1, 5);
            measures *m = test_gaussians(ctx[k], 3, 50, 6, 2);
            g[k] = neighbors(ctx[k], m, which, 0.3, &stats[k]);
            ddsc_measures_destroy(m);
        }
        assert_memory_equal(g[0]->d2, g[1]->d2, (size_t)g[0]->offset[150] * sizeof *g[0]->d2);
        assert_memory_equal(g[0]->index, g[1]->index,
                            (size_t)g[0]->offset[150] * sizeof *g[0]->index);
        assert_true(g[0]->columns_error == g[1]->columns_error);
        for (int k = 0; k < 2; k++) {
            ddsc_graph_destroy(g[k]);
            ddsc_context_destroy(ctx[k]);
        }
    }
}

static ddsc_status columns_call(ddsc_context *ctx, void *arg)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures *m = NULL;
    ddsc_graph *g = NULL;
    ddsc_metric_settings metric = test_metric((ddsc_metric) * (const int *)arg);
    ddsc_graph_settings set = graph_settings(3, 1);
    set.sample_columns = 0.8;
    TRY(ddsc_measures_generate_gaussians(ctx, &m, 2, 20, 3, 2, 3));
    TRY(ddsc_neighbors_run(ctx, &g, NULL, m, &metric, &set));
done:
    ddsc_graph_destroy(g);
    ddsc_measures_destroy(m);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++)
        assert_true(test_failing_allocations(columns_call, &which) > 30);
}

/* ---- the random sample ---- */

/* For every metric, the graph equals that of the full matrix restricted to the sample, the sample
 * is determined by the seed, and its pairs are counted. */
static void test_sample(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 9);
    measures *m = test_gaussians(ctx, 2, 20, 8, 2);
    int64_t n = m->n;
    double *full = malloc((size_t)(n * n) * sizeof *full);
    for (int which = 0; which < 4; which++)
        for (double p = 0.1; p < 1; p += 0.4) {
            ddsc_metric_settings metric = test_metric((ddsc_metric)which);
            ddsc_graph_settings set = graph_settings(5, p);
            ddsc_pair_stats stats = {.struct_size = sizeof stats};
            ddsc_graph *g, *cut;
            int64_t n_sampled = 0;
            assert_int_equal(ddsc_distance_run(ctx, full, NULL, m, &metric, DDSC_DISTANCE_SQUARED),
                             DDSC_OK);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = i + 1; j < n; j++) {
                    bool known = pairs_sampled(9, p, i, j);
                    assert_true(known == pairs_sampled(9, p, j, i));
                    n_sampled += known;
                    if (!known)
                        full[i * n + j] = full[j * n + i] = NAN;
                }
            assert_int_equal(ddsc_neighbors_run(ctx, &g, &stats, m, &metric, &set), DDSC_OK);
            assert_true(stats.n_solved == n_sampled && stats.n_pairs == n * (n - 1) / 2);
            set.sample = 1;
            assert_int_equal(
                ddsc_graph_create_from_matrix(ctx, &cut, n, full, DDSC_DISTANCE_SQUARED, &set),
                DDSC_OK);
            assert_memory_equal(g->offset, cut->offset, (size_t)(n + 1) * sizeof *g->offset);
            assert_memory_equal(g->index, cut->index, (size_t)g->offset[n] * sizeof *g->index);
            for (int64_t e = 0; e < g->offset[n]; e++)
                assert_close(g->d2[e], cut->d2[e], 1e-12, 1e-12);
            ddsc_graph_destroy(cut);
            ddsc_graph_destroy(g);
        }
    free(full);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The sample of a seed grows with the fraction and has about that many pairs. */
static void test_mask(void **state)
{
    (void)state;
    int64_t count[3] = {0};
    for (int64_t i = 0; i < 300; i++)
        for (int64_t j = i + 1; j < 300; j++) {
            bool a = pairs_sampled(1, 0.1, i, j), b = pairs_sampled(1, 0.5, i, j);
            assert_true(!a || b);
            count[0] += a;
            count[1] += b;
            count[2] += pairs_sampled(1, 1, i, j);
        }
    double all = 300 * 299 / 2;
    assert_close((double)count[0] / all, 0.1, 0, 5 * sqrt(0.09 / all));
    assert_close((double)count[1] / all, 0.5, 0, 5 * sqrt(0.25 / all));
    assert_int_equal(count[2], (int64_t)all);
}

/* Too few pairs: a sample without pairs is an error with a suggestion, and a small sample is
 * mentioned in the advice. */
static void test_sparse_sample(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_gaussians(ctx, 2, 20, 5, 5);
    ddsc_cluster_settings set;
    ddsc_clustering *c;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 2;
    ddsc_graph_settings graph;
    ddsc_graph_settings_init(&graph);
    graph.sample = 1e-9;
    set.graph = &graph;
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "selects none of the 780 pairs"));
    double unknown[4] = {0, 1, 1, 0};
    ddsc_graph *g;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &g, 2, unknown, 0, &graph),
                     DDSC_ERROR_ARGUMENT);
    graph.sample = 0.03;
    assert_true(ddsc_cluster_run(ctx, &c, m, &set) >= 0);
    assert_non_null(
        strstr(c->view.advice, "Number of items without a neighbor at a known distance"));
    assert_non_null(strstr(c->view.advice, "Raise the sample"));
    ddsc_clustering_destroy(c);
    graph.sample = 1;
    graph.sample_columns = 0.1;
    assert_true(ddsc_cluster_run(ctx, &c, m, &set) >= 0);
    assert_non_null(strstr(c->view.advice, "4 columns are too few"));
    ddsc_clustering_destroy(c);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_exact),     cmocka_unit_test(test_fit_flat),
        cmocka_unit_test(test_draw),          cmocka_unit_test(test_first_pairs),
        cmocka_unit_test(test_fill),          cmocka_unit_test(test_graph),
        cmocka_unit_test(test_clusters),      cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_sample),        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_sparse_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
