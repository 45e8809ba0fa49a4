/* Gaps around clusters: no affinity crosses between separate clusters, and there is no gap in one
 * cloud or along a line. */
#include <math.h>
#include <stdlib.h>

#include "assess/quality/quality.h"
#include "support.h"

enum { N = 240, K = 3 };

/* kind 0: three clusters; 1: one cloud; 2: a line. Two coordinates each. */
static void make_rows(double *rows, int kind, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 0);
    for (int i = 0; i < N; i++) {
        rows[2 * i] = kind == 0   ? 12 * (double)(i % K) + rng_normal(&r)
                      : kind == 1 ? rng_normal(&r)
                                  : 8 * rng_uniform(&r);
        rows[2 * i + 1] = kind == 2 ? 0.5 * rng_normal(&r) : rng_normal(&r);
    }
}

/* Computes the gaps of n rows divided into K clusters, and the verdict. */
static ddsc_level find(cluster_gap *out, int64_t n, int64_t dim, const double *rows, uint64_t seed,
                       int threads)
{
    ddsc_context *ctx = test_context(threads, seed);
    ddsc_graph *g;
    ddsc_clustering *c;
    ddsc_graph_settings graph;
    ddsc_cluster_settings set;
    ddsc_graph_settings_init(&graph);
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = K;
    int64_t *place = malloc((size_t)n * sizeof *place);
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &g, n, dim, rows, &graph), DDSC_OK);
    assert_int_equal(ddsc_spectral_run(ctx, &c, g, &set), DDSC_OK);
    assert_int_equal(cluster_direction(ctx, place, c), DDSC_OK);
    assert_int_equal(gaps_find(ctx, out, &c->affinity, ddsc_clustering_get_labels(c), K, place),
                     DDSC_OK);
    verdict_evidence e;
    verdict_input in = {.gap = out,
                        .k = K,
                        .n_components = c->view.n_components,
                        .labels = c->labels,
                        .affinity = &c->affinity,
                        .graph = g,
                        .halves = verdict_halves(&c->view, out, K)};
    assert_int_equal(verdict_judge(ctx, &e, &in), DDSC_OK);
    ddsc_level said = e.level;
    free(place);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
    return said;
}

static ddsc_level find_kind(cluster_gap *out, int kind, uint64_t seed, int threads)
{
    double rows[2 * N];
    make_rows(rows, kind, seed);
    return find(out, N, 2, rows, seed, threads);
}

static void test_groups_and_none(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (int kind = 0; kind < 3; kind++) {
            cluster_gap gap[K];
            ddsc_level said = find_kind(gap, kind, seed, 1);
            assert_true((said == DDSC_LEVEL_SEPARATE) == (kind == 0));
            for (int c = 0; c < K; c++) {
                assert_true(gap[c].examined && gap[c].size > 0 && gap[c].valley >= 0);
                assert_true(kind == 0 ? gap[c].valley < 0.05
                                      : gap[c].score < verdict_clear_from(N, N));
            }
        }
}

/* Along a thin line that is longer than the reach of the walk, deep valleys and disconnections
 * occur by chance and are not evidence. */
static void test_long_lines(void **state)
{
    (void)state;
    enum { LONG = 1500 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        double x[LONG];
        cluster_gap gap[K];
        rng random = rng_make(seed, RNG_GAUSSIANS, 0);
        for (int64_t i = 0; i < LONG; i++)
            x[i] = rng_uniform(&random);
        assert_int_equal(find(gap, LONG, 1, x, seed, 1), DDSC_LEVEL_CONTINUUM);
        for (int c = 0; c < K; c++)
            assert_true(gap[c].items < 10);
    }
}

/* A continuum whose density decreases in all directions: the deepest cut scores like a gap, but not
 * on held-out items. */
static void test_uneven_densities(void **state)
{
    (void)state;
    enum { WIDE = 500, SEEDS = 24 };
    int n_deep = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double x[2 * WIDE], score = 0;
        cluster_gap gap[K];
        rng random = rng_make(seed, RNG_GAUSSIANS, 0);
        for (int i = 0; i < 2 * WIDE; i++)
            x[i] = -log(1 - rng_uniform(&random));
        assert_true(find(gap, WIDE, 2, x, seed, 1) == DDSC_LEVEL_CONTINUUM);
        for (int c = 0; c < K; c++)
            score = fmax(score, gap[c].score);
        n_deep += score >= verdict_clear_from(N, N);
        for (int c = 0; c < K; c++)
            assert_true(score >= verdict_asked_from(0) ? gap[c].held < verdict_held_from(0)
                                                       : isnan(gap[c].held));
    }
    assert_true(n_deep > 0); /* otherwise the test is not informative */
}

/* Three clusters in more dimensions, with many items at similar distances. */
static ddsc_level find_wide(cluster_gap *out, uint64_t seed, int threads)
{
    enum { DIM = 8 };
    double rows[DIM * N];
    rng r = rng_make(seed, RNG_GAUSSIANS, 0);
    for (int i = 0; i < N; i++)
        for (int d = 0; d < DIM; d++)
            rows[DIM * i + d] = (d == i % K ? 5 : 0) + rng_normal(&r);
    return find(out, N, DIM, rows, seed, threads);
}

static void test_gaps_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        cluster_gap gap[K];
        assert_int_equal(find_wide(gap, seed, 1), DDSC_LEVEL_SEPARATE);
        for (int c = 0; c < K; c++)
            assert_true(gap[c].held > verdict_held_from(0));
    }
}

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    cluster_gap one[2 * K], three[2 * K];
    find_kind(one, 2, 5, 1);
    find_kind(three, 2, 5, 3);
    find_wide(one + K, 5, 1);
    find_wide(three + K, 5, 3);
    for (int c = 0; c < 2 * K; c++) {
        assert_memory_equal(&one[c].held, &three[c].held, sizeof(double));
        assert_memory_equal(&one[c].valley, &three[c].valley, sizeof(double));
        assert_memory_equal(&one[c].score, &three[c].score, sizeof(double));
    }
}

/* More clusters than are examined: the largest ones are used. */
static void test_many_clusters(void **state)
{
    (void)state;
    enum { MANY = GAP_CLUSTERS + 6, EACH = 4, ALL = MANY * EACH };
    ddsc_context *ctx = test_context(2, 0);
    int64_t offset[ALL + 1];
    int32_t column[2 * ALL], labels[ALL];
    double value[2 * ALL];
    cluster_gap gap[MANY];
    sparse ring = {.n = ALL, .nnz = 2 * ALL, .offset = offset, .column = column, .value = value};
    for (int i = 0; i <= ALL; i++)
        offset[i] = 2 * i;
    for (int i = 0; i < ALL; i++) {
        int before = (i + ALL - 1) % ALL, after = (i + 1) % ALL;
        column[2 * i] = before < after ? before : after;
        column[2 * i + 1] = before < after ? after : before;
        value[2 * i] = value[2 * i + 1] = 1;
        labels[i] = i < 3 ? 0 : i / EACH; /* the first cluster is the smallest */
    }
    labels[3] = 1;
    assert_int_equal(gaps_find(ctx, gap, &ring, labels, MANY, NULL), DDSC_OK);
    int n_examined = 0;
    for (int c = 0; c < MANY; c++)
        n_examined += gap[c].examined;
    assert_int_equal(n_examined, GAP_CLUSTERS);
    assert_true(gap[1].examined && !gap[0].examined);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_and_none),           cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_uneven_densities),          cmocka_unit_test(test_gaps_hold),
        cmocka_unit_test(test_same_bits_for_any_threads), cmocka_unit_test(test_many_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
