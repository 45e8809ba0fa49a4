/* Resampling, eigenspaces, bounds, matching of labels and neighbor sets, compared with the
 * formulas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/decompose.h"
#include "support.h"
#include "assess/identity/identity.h"
#include "assess/quality/quality.h"

static ddsc_cluster_settings cluster_of(int64_t k)
{
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = k;
    return set;
}

static ddsc_stability_settings times(int64_t n)
{
    ddsc_stability_settings set;
    ddsc_stability_settings_init(&set);
    set.n_resamples = n;
    return set;
}

typedef struct run {
    ddsc_clustering *first;
    ddsc_stability *s;
    ddsc_stability_view v;
} run;

static run stability(ddsc_context *ctx, const measures *m, const ddsc_cluster_settings *set,
                     int64_t b)
{
    run r;
    ddsc_stability_settings how = times(b);
    if (ddsc_cluster_run(ctx, &r.first, m, set) < 0 ||
        ddsc_stability_run(ctx, &r.s, m, r.first, set, &how) < 0)
        fail_msg("%s", ddsc_context_get_message(ctx));
    ddsc_stability_get_view(r.s, &r.v);
    return r;
}

static void run_free(run *r)
{
    ddsc_stability_destroy(r->s);
    ddsc_clustering_destroy(r->first);
}

/* ---- resampling ---- */

/* n_i draws: weights are multiples of 1/n_i at points of the item, and equal the old weights on
 * average. */
static void test_resample(void **state)
{
    (void)state;
    enum { ROUNDS = 3000 };
    static const double points[] = {0, 0, 1, 0, 0, 1, 2, 2, 5, 5};
    static const double weights[] = {0.1, 0.2, 0.3, 0.4, 1};
    static const int64_t offsets[] = {0, 4, 5};
    ddsc_context *ctx = test_context(1, 3);
    measures *m, *drawn;
    double mean[4] = {0};
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 2, 2, points, weights, offsets, DDSC_EMPTY_ERROR), 0);
    for (int64_t draw = 0; draw < ROUNDS; draw++) {
        assert_int_equal(ddsc_measures_copy_resampled(ctx, &drawn, m, draw), DDSC_OK);
        assert_true(drawn->n == 2 && measures_item(drawn, 1).n == 1);
        item_view item = measures_item(drawn, 0);
        double sum = 0;
        for (int64_t p = 0; p < item.n; p++) {
            const double *x = measures_point(drawn, item.index[p]);
            int at = x[0] == 2 ? 3 : x[0] == 1 ? 1 : x[1] == 1 ? 2 : 0;
            assert_close(4 * item.weight[p], round(4 * item.weight[p]), 0, 1e-12);
            mean[at] += item.weight[p] / ROUNDS;
            sum += item.weight[p];
        }
        assert_close(sum, 1, 0, 1e-12);
        ddsc_measures_destroy(drawn);
    }
    for (int p = 0; p < 4; p++) /* five standard deviations */
        assert_close(mean[p], weights[p], 0, 5 * sqrt(0.25 / 4 / ROUNDS));
    assert_int_equal(ddsc_measures_copy_resampled(ctx, &drawn, m, -1), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_measures_copy_resampled(ctx, &drawn, NULL, 0), DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The same round gives the same bits, another round or seed does not. Names and rows do not change.
 * */
static void test_resample_rounds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0), *seeded = test_context(1, 1);
    measures *m = test_gaussians(ctx, 2, 5, 30, 3), *x[4];
    assert_int_equal(ddsc_measures_copy_resampled(ctx, &x[0], m, 1), DDSC_OK);
    assert_int_equal(ddsc_measures_copy_resampled(ctx, &x[1], m, 1), DDSC_OK);
    assert_int_equal(ddsc_measures_copy_resampled(ctx, &x[2], m, 2), DDSC_OK);
    assert_int_equal(ddsc_measures_copy_resampled(seeded, &x[3], m, 1), DDSC_OK);
    assert_int_equal(x[0]->nnz, x[1]->nnz);
    assert_memory_equal(x[0]->weight, x[1]->weight, (size_t)x[0]->nnz * sizeof(double));
    for (int other = 2; other < 4; other++)
        assert_true(x[0]->nnz != x[other]->nnz ||
                    memcmp(x[0]->support, x[other]->support, (size_t)x[0]->v * 16) != 0);
    for (int k = 0; k < 4; k++) {
        assert_memory_equal(x[k]->label, m->label, (size_t)m->n_rows * sizeof *m->label);
        ddsc_measures_destroy(x[k]);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(seeded);
    ddsc_context_destroy(ctx);
}

/* ---- eigenspaces ---- */

/* Planes in four dimensions at known angles: accurate to the last digits even for tiny angles. */
static void test_subspace(void **state)
{
    (void)state;
    static const double angles[] = {0, 1e-12, 1e-6, 0.3, 1.2, M_PI / 2};
    ddsc_context *ctx = test_context(1, 0);
    double u[8] = {1, 0, 0, 1}, distance;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double x = angles[i], y = angles[j], turn = 0.7;
            double plain[8] = {cos(x), 0, 0, cos(y), sin(x), 0, 0, sin(y)}, v[8];
            for (int r = 0; r < 4; r++) { /* another basis of the same plane */
                v[2 * r] = cos(turn) * plain[2 * r] + sin(turn) * plain[2 * r + 1];
                v[2 * r + 1] = -sin(turn) * plain[2 * r] + cos(turn) * plain[2 * r + 1];
            }
            assert_int_equal(subspace_distance(ctx, &distance, 4, 2, u, 2, v, 2), DDSC_OK);
            assert_close(distance, hypot(sin(x), sin(y)), 1e-4, 1e-15);
            assert_close(distance, hypot(sin(x), sin(y)), 0, 1e-14);
        }
    ddsc_context_destroy(ctx);
}

/* ---- matching ---- */

static int64_t agreement(const int32_t *labels, const int32_t *first, int64_t n, const int *into)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += into[labels[i]] == first[i];
    return count;
}

static void exchange(int *x, int i, int j)
{
    int t = x[i];
    x[i] = x[j];
    x[j] = t;
}

/* Returns the best of all numberings of k <= 5 clusters. */
static int64_t best_agreement(const int32_t *labels, const int32_t *first, int64_t n, int *into,
                              int k, int from)
{
    int64_t best = from == k ? agreement(labels, first, n, into) : 0;
    for (int i = from; i < k; i++) {
        exchange(into, from, i);
        best = BASE_MAX(best, best_agreement(labels, first, n, into, k, from + 1));
        exchange(into, from, i);
    }
    return best;
}

static void test_match(void **state)
{
    (void)state;
    enum { N = 40 };
    ddsc_context *ctx = test_context(1, 0);
    rng r = rng_make(5, RNG_SUBSET, 0);
    for (int trial = 0; trial < 200; trial++) {
        int k = 1 + trial % 5, into[5] = {0, 1, 2, 3, 4};
        int32_t first[N], labels[N], before[N];
        int64_t n_changed, same_before = 0, same_after = 0;
        for (int i = 0; i < N; i++) {
            first[i] = (int32_t)rng_below(&r, k);
            labels[i] = rng_below(&r, 3) > 0 ? (first[i] + 1) % k : (int32_t)rng_below(&r, k);
        }
        memcpy(before, labels, sizeof labels);
        assert_int_equal(identity_match_labels(ctx, labels, &n_changed, first, N, k), DDSC_OK);
        assert_int_equal(N - n_changed, best_agreement(before, first, N, into, k, 0));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) { /* only the numbers of the clusters changed */
                same_before += before[i] == before[j];
                same_after += labels[i] == labels[j];
                assert_true((before[i] == before[j]) == (labels[i] == labels[j]));
            }
        assert_int_equal(same_before, same_after);
    }
    ddsc_context_destroy(ctx);
}

/* ---- stability ---- */

static void test_separated(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *clear = test_gaussians(ctx, 3, 12, 40, 20),
             *mixed = test_gaussians(ctx, 3, 12, 5, 0.8);
    ddsc_cluster_settings set = cluster_of(3);
    run good = stability(ctx, clear, &set, 8), bad = stability(ctx, mixed, &set, 8);
    assert_true(good.v.n_ever == 0 && good.v.n_often == 0 && good.v.worst->n_changed == 0);
    assert_true(good.v.worst->ari == 1 && good.v.worst->ami == 1);
    assert_true(good.v.worst->sin_theta < 0.5 && good.v.gap > 0.1);
    for (int64_t i = 0; i < good.v.n; i++)
        assert_true(good.v.n_changed[i] == 0 && good.v.other[i] == -1);
    assert_true(bad.v.mean->sin_theta > 2 * good.v.worst->sin_theta);
    assert_true(bad.v.mean->ari < 0.9 && bad.v.n_ever > 5);
    assert_true(bad.v.mean->edges_kept < good.v.mean->edges_kept);
    int64_t by_item = 0, by_row = 0;
    for (int64_t i = 0; i < bad.v.n; i++) {
        by_item += bad.v.n_changed[i];
        assert_true((bad.v.n_changed[i] > 0) == (bad.v.other[i] >= 0));
        assert_true(bad.v.other[i] != bad.first->labels[i]);
    }
    for (int64_t b = 0; b < 8; b++)
        by_row += bad.v.rows[b]->n_changed;
    assert_int_equal(by_item, by_row);
    assert_non_null(strstr(good.v.words, "8 resamples"));
    assert_non_null(strstr(bad.v.words, "Theorem 1 does not apply here"));
    run_free(&good);
    run_free(&bad);
    ddsc_measures_destroy(clear);
    ddsc_measures_destroy(mixed);
    ddsc_context_destroy(ctx);
}

/* Items with one point cannot change by resampling, so nothing changes. */
static void test_single_points(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_gaussians(ctx, 2, 15, 1, 6);
    ddsc_cluster_settings set = cluster_of(2);
    run r = stability(ctx, m, &set, 3);
    assert_true(r.v.worst->zeta == 0 && r.v.worst->laplacian == 0 && r.v.worst->edges_kept == 1);
    assert_true(r.v.worst->sin_theta < 1e-12 && r.v.n_ever == 0);
    assert_true(r.v.worst->theorem_bound == 0 && r.v.worst->direct_bound == 0);
    run_free(&r);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Returns the affinity of a graph as a dense matrix. */
static double *dense_affinity(ddsc_context *ctx, const ddsc_graph *g,
                              const ddsc_cluster_settings *set)
{
    sparse a;
    affinity_report report;
    affinity_settings how = decompose_affinity_rule(set);
    assert_int_equal(affinity_build(ctx, &a, &report, g, &how), DDSC_OK);
    double *dense = calloc((size_t)(g->n * g->n), sizeof *dense);
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++)
            dense[i * g->n + a.column[p]] = a.value[p];
    sparse_free(ctx, &a);
    return dense;
}

static double entry_of_operator(const double *a, int64_t n, int64_t i, int64_t j)
{
    double s = 0, t = 0;
    for (int64_t k = 0; k < n; k++) {
        s += a[i * n + k];
        t += a[j * n + k];
    }
    return a[i * n + j] / sqrt(s * t);
}

/* Checks both sides of Lemma 2 over the entries that the lists of both runs contain. */
static void check_lemma_2(const ddsc_stability_row *row, const ddsc_clustering *first,
                          const ddsc_clustering *again)
{
    ddsc_graph_view a, b;
    double change = 0, bound = 0;
    ddsc_graph_get_view(first->view.graph, &a);
    ddsc_graph_get_view(again->view.graph, &b);
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t p = a.offset[i]; p < a.offset[i + 1]; p++)
            for (int64_t q = b.offset[i]; q < b.offset[i + 1]; q++) {
                double x = first->view.gamma * a.d2[p], y = again->view.gamma * b.d2[q];
                if (a.index[p] != b.index[q])
                    continue;
                change = fmax(change, fabs(exp(-x) - exp(-y)));
                bound = fmax(bound, fabs(sqrt(x) - sqrt(y)));
            }
    assert_true(change > 0 && change <= bound);
    assert_close(row->similarity_change, change, 1e-12, 0);
    assert_close(row->lemma_2_bound, bound, 1e-9, 0);
}

/* Compares zeta, alpha and |L - L'|_F with those from dense matrices of the same runs. */
static void test_ingredients(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_gaussians(ctx, 2, 10, 12, 2.5);
    ddsc_cluster_settings set = cluster_of(2);
    set.paper = 1;
    set.gamma_rule = DDSC_GAMMA_MEDIAN; /* dense_affinity uses the settings unchanged */
    ddsc_graph_settings graph;
    ddsc_graph_settings_init(&graph);
    graph.tau = 4;
    set.graph = &graph;
    run r = stability(ctx, m, &set, 3);
    int64_t n = m->n;
    double *a = dense_affinity(ctx, r.first->view.graph, &set), alpha = INFINITY;
    for (int64_t p = 0; p < n * n; p++)
        alpha = a[p] > 0 ? fmin(alpha, a[p]) : alpha;
    assert_close(r.v.alpha, alpha, 1e-15, 0);
    assert_close(r.v.gap, r.first->view.eigenvalues[2] - r.first->view.eigenvalues[1], 1e-9, 1e-14);
    for (int64_t round = 0; round < 3; round++) {
        measures *drawn;
        ddsc_clustering *again;
        assert_int_equal(ddsc_measures_copy_resampled(ctx, &drawn, m, round), DDSC_OK);
        assert_int_equal(ddsc_cluster_run(ctx, &again, drawn, &set), DDSC_OK);
        double *b = dense_affinity(ctx, again->view.graph, &set), zeta = 0, sum = 0, largest = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double h = entry_of_operator(a, n, i, j) - entry_of_operator(b, n, i, j);
                zeta = fmax(zeta, fabs(a[i * n + j] - b[i * n + j]));
                sum += h * h;
                largest = fmax(largest, fabs(h));
            }
        const ddsc_stability_row *row = r.v.rows[round];
        assert_close(row->laplacian_largest, largest, 1e-12, 0);
        assert_true(alpha <= zeta && isinf(row->lemma_3_bound)); /* test_theorem_bound: finite */
        check_lemma_2(row, r.first, again);
        assert_true(row->n_components == again->view.n_components);
        assert_close(row->zeta, zeta, 1e-15, 0);
        assert_close(r.v.rows[round]->laplacian, sqrt(sum), 1e-12, 0);
        free(b);
        ddsc_clustering_destroy(again);
        ddsc_measures_destroy(drawn);
    }
    free(a);
    run_free(&r);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Lemma 1 on the unit square: |Omega| = sqrt 2, c <= 2, L = 2 sqrt 2, kappa = 8 + 2. */
static void test_constants(void **state)
{
    (void)state;
    static const double points[] = {0, 0, 1, 1, 0, 1, 1, 0, 0.5, 0.5};
    static const double weights[] = {1, 1, 1, 1, 1};
    static const int64_t offsets[] = {0, 2, 5};
    ddsc_context *ctx = test_context(1, 0);
    measures *m;
    ddsc_sampling_constants c;
    ddsc_metric_settings set = *metric_with(DDSC_METRIC_SINKHORN);
    set.epsilon = 4;
    set.epsilon_is_percent = 0;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 2, 2, points, weights, offsets, DDSC_EMPTY_ERROR), 0);
    ddsc_sampling_constants_init(&c);
    assert_int_equal(ddsc_sampling_constants_run(ctx, &c, m, &set), DDSC_OK);
    assert_close(c.diameter, sqrt(2), 1e-15, 0);
    assert_close(c.kappa, 10, 1e-15, 0);
    assert_true(c.n_points == 2 && c.epsilon == 4);
    assert_close(c.log10_e, log10(10 + 4 * exp(2.5)), 1e-14, 0);
    c.lipschitz = 1;
    set.epsilon = 1e-3; /* exp(kappa / epsilon) overflows */
    assert_int_equal(ddsc_sampling_constants_run(ctx, &c, m, &set), DDSC_OK);
    assert_close(c.kappa, 2 * sqrt(2) + 2, 1e-15, 0);
    assert_close(c.log10_e, -3 + c.kappa * 1e3 / log(10), 1e-12, 0);
    set.cost = DDSC_COST_COSINE;
    assert_int_equal(ddsc_sampling_constants_run(ctx, &c, m, &set), DDSC_ERROR_ARGUMENT);
    c.lipschitz = -1;
    assert_int_equal(ddsc_sampling_constants_run(ctx, &c, m, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* No eigenspace changes more than the Laplacians allow, for any metric, rule and noise. */
static void test_direct_bound(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    int64_t n_finite = 0, n_useful = 0;
    for (int metric = 0; metric < 4; metric++)
        for (int paper = 0; paper < 2; paper++)
            for (int noise = 0; noise < 3; noise++) {
                measures *m = test_gaussians(ctx, 3, 10, noise == 2 ? 100 : 15, noise == 0 ? 1 : 8);
                ddsc_cluster_settings set = cluster_of(3);
                set.metric = metric_with((ddsc_metric)metric);
                set.paper = paper;
                run r = stability(ctx, m, &set, 4);
                for (int64_t b = 0; b < 4; b++) {
                    const ddsc_stability_row *row = r.v.rows[b];
                    assert_true(row->sin_theta <= row->direct_bound + 1e-9);
                    assert_true(row->sin_theta <= r.v.sin_limit + 1e-9);
                    assert_true(row->zeta_common <= row->zeta);
                    n_finite += isfinite(row->direct_bound);
                    n_useful += row->direct_bound < r.v.sin_limit;
                }
                run_free(&r);
                ddsc_measures_destroy(m);
            }
    if (n_finite < 30 || n_useful < 5)
        fail_msg("%d finite bounds, %d useful", (int)n_finite, (int)n_useful);
    ddsc_context_destroy(ctx);
}

/* Two complete clusters as two components with affinities near 1, for which Theorem 1 is not
 * vacuous. */
static void test_theorem_bound(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_gaussians(ctx, 2, 8, 200, 50);
    ddsc_cluster_settings set = cluster_of(2);
    ddsc_graph_settings graph;
    ddsc_graph_settings_init(&graph);
    graph.tau = 7;
    set.graph = &graph;
    set.gamma_rule = DDSC_GAMMA_VALUE;
    set.gamma = 0.05;
    run r = stability(ctx, m, &set, 4);
    assert_false(r.v.theorem_vacuous);
    assert_non_null(strstr(r.v.words, "Theorem 1 bounds"));
    for (int64_t b = 0; b < 4; b++) {
        const ddsc_stability_row *row = r.v.rows[b];
        double margin = r.v.alpha - row->zeta;
        assert_true(row->zeta > 0 && row->zeta < r.v.alpha && row->edges_kept == 1);
        assert_close(row->theorem_bound,
                     2 * row->zeta * sqrt(16) / (r.v.gap * margin * margin * sqrt(7)), 1e-12, 0);
        assert_close(row->lemma_3_bound, 2 * row->zeta / (7 * margin * margin), 1e-12, 0);
        assert_true(row->laplacian_largest > 0 && row->laplacian_largest <= row->lemma_3_bound);
        assert_true(row->sin_theta <= row->theorem_bound);
        assert_true(row->direct_bound <= row->theorem_bound);
    }
    run_free(&r);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Values chosen by the first run are reused; a run with these values specified gives the same
 * numbers. */
static void test_frozen(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_gaussians(ctx, 3, 10, 15, 3);
    ddsc_cluster_settings set = cluster_of(3);
    ddsc_metric_settings metric = *metric_with(DDSC_METRIC_MMD);
    set.metric = &metric;
    run chosen = stability(ctx, m, &set, 3);
    metric.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    metric.bandwidth = chosen.first->view.pairs->bandwidth;
    run given = stability(ctx, m, &set, 3);
    assert_memory_equal(chosen.v.rows[0], given.v.rows[0], 3 * sizeof **given.v.rows);
    run_free(&given);
    metric.metric = DDSC_METRIC_SINKHORN;
    run_free(&chosen);
    chosen = stability(ctx, m, &set, 2);
    metric.epsilon = chosen.first->view.pairs->epsilon;
    metric.epsilon_is_percent = 0;
    given = stability(ctx, m, &set, 2);
    assert_memory_equal(chosen.v.rows[0], given.v.rows[0], 2 * sizeof **given.v.rows);
    run_free(&given);
    run_free(&chosen);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    run r[2];
    ddsc_context *ctx[2];
    for (int k = 0; k < 2; k++) {
        ctx[k] = test_context(k + 1, 4);
        measures *m = test_gaussians(ctx[k], 3, 30, 8, 2);
        ddsc_cluster_settings set = cluster_of(3);
        r[k] = stability(ctx[k], m, &set, 3);
        ddsc_measures_destroy(m);
    }
    assert_memory_equal(r[0].v.rows[0], r[1].v.rows[0], 3 * sizeof **r[0].v.rows);
    assert_memory_equal(r[0].v.labels, r[1].v.labels, 3 * 90 * sizeof *r[0].v.labels);
    assert_memory_equal(r[0].v.n_changed, r[1].v.n_changed, 90 * sizeof *r[0].v.n_changed);
    assert_string_equal(r[0].v.words, r[1].v.words);
    for (int k = 0; k < 2; k++) {
        run_free(&r[k]);
        ddsc_context_destroy(ctx[k]);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_gaussians(ctx, 2, 6, 5, 4), *other = test_gaussians(ctx, 2, 4, 5, 4);
    ddsc_cluster_settings set = cluster_of(2);
    ddsc_stability_settings how;
    ddsc_stability *s = NULL;
    ddsc_clustering *first, *bare;
    ddsc_stability_view view;
    memset(&how, 0xA5, sizeof how);
    ddsc_stability_settings_init(&how);
    assert_true(how.struct_size == sizeof how && how.n_resamples == 20);
    ddsc_stability_settings_init_sized(NULL, 8);
    assert_int_equal(ddsc_cluster_run(ctx, &first, m, &set), DDSC_OK);
    assert_int_equal(ddsc_spectral_run(ctx, &bare, first->view.graph, &set), DDSC_OK);
    assert_int_equal(ddsc_stability_run(NULL, &s, m, first, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_stability_run(ctx, &s, NULL, first, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_stability_run(ctx, &s, m, NULL, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_stability_run(ctx, &s, m, bare, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "instead of a graph"));
    assert_int_equal(ddsc_stability_run(ctx, &s, other, first, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "12 items, but measures has 8"));
    how.n_resamples = 0;
    assert_int_equal(ddsc_stability_run(ctx, &s, m, first, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "n_resamples = 0"));
    how.struct_size = 0;
    assert_int_equal(ddsc_stability_run(ctx, &s, m, first, &set, &how), DDSC_ERROR_ARGUMENT);
    assert_null(s);
    ddsc_stability_get_view(NULL, &view);
    assert_true(view.n == 0 && view.words[0] == '\0');
    ddsc_stability_get_view_sized(NULL, NULL, 8);
    ddsc_stability_destroy(NULL);
    ddsc_clustering_destroy(bare);
    ddsc_clustering_destroy(first);
    ddsc_measures_destroy(other);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status all_calls(ddsc_context *ctx, void *arg)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures *m = NULL, *drawn = NULL;
    ddsc_clustering *first = NULL;
    ddsc_stability *s = NULL;
    ddsc_cluster_settings set = cluster_of(2);
    ddsc_stability_settings how = times(2);
    ddsc_theory theory;
    static const int32_t truth[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    set.metric = metric_with(*(const ddsc_metric *)arg);
    TRY(ddsc_measures_generate_gaussians(ctx, &m, 2, 6, 4, 2, 3));
    TRY(ddsc_measures_copy_resampled(ctx, &drawn, m, 7));
    TRY(ddsc_cluster_run(ctx, &first, m, &set));
    TRY(call_theory(ctx, &theory, NULL, NULL, NULL, first->view.graph, truth, &set));
    TRY(ddsc_stability_run(ctx, &s, m, first, &set, &how));
done:
    ddsc_stability_destroy(s);
    ddsc_clustering_destroy(first);
    ddsc_measures_destroy(drawn);
    ddsc_measures_destroy(m);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    ddsc_metric metrics[] = {DDSC_METRIC_MMD, DDSC_METRIC_LOT};
    for (int k = 0; k < 2; k++)
        assert_true(test_failing_allocations(all_calls, &metrics[k]) > 100);
}

static int stop_later(void *user)
{
    return --*(int *)user < 0;
}

/* A cancellation is returned as such from any resample. */
static void test_cancel(void **state)
{
    (void)state;
    int left = INT32_MAX, n_stopped = 0;
    ddsc_context_settings how;
    ddsc_context_settings_init(&how);
    how.threads = 1;
    how.cancel = stop_later;
    how.cancel_user = &left;
    ddsc_context *ctx;
    assert_int_equal(ddsc_context_create(&ctx, &how), DDSC_OK);
    measures *m = test_gaussians(ctx, 2, 20, 10, 3);
    ddsc_cluster_settings set = cluster_of(2);
    ddsc_stability_settings many = times(50);
    ddsc_clustering *first;
    ddsc_stability *s;
    assert_int_equal(ddsc_cluster_run(ctx, &first, m, &set), DDSC_OK);
    for (int after = 0; after < 40; after += 13) {
        left = after;
        ddsc_status status = ddsc_stability_run(ctx, &s, m, first, &set, &many);
        n_stopped += status == DDSC_ERROR_CANCELED && s == NULL;
        ddsc_stability_destroy(s);
    }
    assert_int_equal(n_stopped, 4);
    ddsc_clustering_destroy(first);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- neighbor sets and tolerance ---- */

static ddsc_graph *line_graph(ddsc_context *ctx, int64_t n, const double *x, int64_t tau)
{
    double *d = malloc((size_t)(n * n) * sizeof *d);
    ddsc_graph *g;
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    for (int64_t i = 0; i < n * n; i++)
        d[i] = fabs(x[i / n] - x[i % n]);
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &g, n, d, 0, &set), DDSC_OK);
    free(d);
    return g;
}

/* Points on a line, gamma 1, computed by hand. */
static void test_correctness(void **state)
{
    (void)state;
    static const double x[] = {0, 0.1, 0.3, 1.0, 1.1, 1.3, 9};
    static const int32_t truth[] = {4, 4, 4, 7, 7, 7, -1};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_cluster_settings set = cluster_of(2);
    ddsc_theory t;
    int64_t intra[7], inter[7];
    double xi[7];
    set.gamma_rule = DDSC_GAMMA_VALUE;
    set.gamma = 1;
    ddsc_graph *near = line_graph(ctx, 7, x, 2), *far = line_graph(ctx, 7, x, 3);
    assert_int_equal(call_theory(ctx, &t, intra, inter, xi, near, truth, &set), DDSC_OK);
    /* The outlier without a class is linked to the second group. */
    assert_true(t.n == 6 && t.n_classes == 2 && t.n_components == 2 && t.n_inter == 0);
    assert_true(t.n_intra == 12 && t.n_clean == 6 && t.n_stranded == 0 && t.connected == 1);
    assert_true(t.n_pure_components == 2 && t.n_whole_classes == 2 && t.n_correct == 6);
    assert_close(t.xi, exp(-0.09), 1e-12, 0); /* the ends of a group have a distance of 0.3 */
    assert_true(intra[6] == 0 && inter[6] == 0 && isnan(xi[6]));
    assert_close(xi[1], exp(-0.04), 1e-12, 0);
    assert_int_equal(call_theory(ctx, &t, intra, inter, xi, far, truth, &set), DDSC_OK);
    assert_true(t.n_components == 1 && t.n_pure_components == 0 && t.n_whole_classes == 2);
    assert_true(t.connected == 0 && t.n_inter == 6 && t.n_clean == 0);
    for (int i = 0; i < 6; i++)
        assert_true(intra[i] == 2 && inter[i] == 1);
    assert_close(xi[0], exp(-0.09) - exp(-1) / 2, 1e-12, 0); /* item 3 does not list item 0 */
    assert_close(xi[2], exp(-0.09) - exp(-0.49), 1e-12, 0);
    assert_close(t.xi, exp(-0.09) - exp(-0.49), 1e-9, 0);
    ddsc_graph_destroy(far);
    ddsc_graph_destroy(near);
    ddsc_context_destroy(ctx);
}

/* Items surrounded by another class have a negative tolerance; items without links have none. */
static void test_stranded(void **state)
{
    (void)state;
    static const double x[] = {0, 0.05, 0.2, 0.3, 5, 5.1};
    static const int32_t truth[] = {0, 0, 1, 0, 1, 1};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_cluster_settings set = cluster_of(2);
    ddsc_theory t;
    double xi[6];
    set.gamma_rule = DDSC_GAMMA_VALUE;
    set.gamma = 1;
    ddsc_graph *g = line_graph(ctx, 6, x, 2);
    assert_int_equal(call_theory(ctx, &t, NULL, NULL, xi, g, truth, &set), DDSC_OK);
    assert_true(t.n_stranded == 1 && t.xi < 0 && t.n_correct == 3);
    assert_close(xi[2], -exp(-0.01), 1e-12, 0);
    assert_close(xi[1], exp(-0.0625) / 2 - exp(-0.0225), 1e-12, 0); /* only item 3 lists item 1 */
    assert_true(t.n_whole_classes == 2 && !t.connected);
    ddsc_graph_destroy(g);
    static const int64_t no_edges[3];
    assert_int_equal(ddsc_graph_create_from_csr(ctx, &g, 2, no_edges, &(int32_t){0}, xi), DDSC_OK);
    assert_int_equal(call_theory(ctx, &t, NULL, NULL, NULL, g, truth, &set), DDSC_OK);
    assert_true(isnan(t.xi) && isnan(t.xi_median) && t.n == 2 && t.n_components == 2);
    assert_int_equal(call_theory(NULL, &t, NULL, NULL, NULL, g, truth, &set), DDSC_ERROR_ARGUMENT);
    assert_int_equal(call_theory(ctx, &t, NULL, NULL, NULL, NULL, truth, &set),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(call_theory(ctx, &t, NULL, NULL, NULL, g, NULL, &set), DDSC_ERROR_ARGUMENT);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resample),     cmocka_unit_test(test_resample_rounds),
        cmocka_unit_test(test_subspace),     cmocka_unit_test(test_match),
        cmocka_unit_test(test_separated),    cmocka_unit_test(test_single_points),
        cmocka_unit_test(test_constants),    cmocka_unit_test(test_ingredients),
        cmocka_unit_test(test_direct_bound), cmocka_unit_test(test_theorem_bound),
        cmocka_unit_test(test_frozen),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cancel),       cmocka_unit_test(test_correctness),
        cmocka_unit_test(test_stranded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
