/* Times both sides of the main thresholds on one thread:
 *
 *   bench_tuning [quick]
 *
 * Prints lines "question|x|path|seconds", which bench/tuning.py formats as tables. The results of
 * both paths are compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "neighbors/planner/plan.h"
#include "numeric/eigen/eigen.h"
#include "numeric/linalg/linalg.h"

static bool quick;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void good(ddsc_context *ctx, ddsc_status status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "bench_tuning: %s\n", ddsc_context_get_message(ctx));
    exit(1);
}

static void same(bool yes, const char *question)
{
    if (yes)
        return;
    fprintf(stderr, "bench_tuning: %s: the results of the two paths differ\n", question);
    exit(1);
}

static void report(const char *question, int64_t x, const char *path, double seconds)
{
    printf("%s|%lld|%s|%.3g\n", question, (long long)x, path, seconds);
    fflush(stdout);
}

/* ---- sets ---- */

static ddsc_measures *images(ddsc_context *ctx, int64_t n)
{
    enum { SIDE = 28, V = SIDE * SIDE };
    rng r = rng_make(1, RNG_GAUSSIANS, 0);
    double support[V][2], *rows = calloc((size_t)(n * V), sizeof *rows);
    ddsc_measures *m = NULL;
    for (int v = 0; v < V; v++) {
        support[v][0] = v / SIDE;
        support[v][1] = v % SIDE;
    }
    for (int64_t i = 0; i < n; i++) /* three strokes */
        for (int k = 0; k < 3; k++) {
            double at[2] = {8 + 12 * rng_uniform(&r), 8 + 12 * rng_uniform(&r)};
            double step[2] = {rng_normal(&r), rng_normal(&r)};
            for (double t = -3; t < 3; t += 0.25)
                for (int v = 0; v < V; v++) {
                    double away = pow(support[v][0] - at[0] - t * step[0], 2) +
                                  pow(support[v][1] - at[1] - t * step[1], 2);
                    rows[i * V + v] += away < 2 ? exp(-away) : 0;
                }
        }
    good(ctx, ddsc_measures_create_dense(ctx, &m, n, V, 2, &support[0][0], rows, DDSC_EMPTY_ERROR));
    free(rows);
    return m;
}

/* Returns clouds that have their own points or, if there is a vocabulary, rows of one shared table.
 * */
static ddsc_measures *clouds(ddsc_context *ctx, int64_t n, int64_t size, int64_t d,
                             int64_t vocabulary)
{
    rng r = rng_make(2, RNG_GAUSSIANS, 0);
    int64_t *offset = malloc((size_t)(n + 1) * sizeof *offset);
    double *points = malloc((size_t)(n * size * d) * sizeof *points);
    ddsc_measures *m = NULL;
    for (int64_t i = 0; i <= n; i++)
        offset[i] = i * size;
    for (int64_t p = 0; p < n * size; p++) {
        uint64_t word = vocabulary ? (uint64_t)rng_below(&r, vocabulary) : (uint64_t)p;
        rng own = rng_make(3, RNG_GAUSSIANS, word);
        for (int64_t k = 0; k < d; k++)
            points[p * d + k] = rng_normal(&own) + (double)(p / size % 7) / 7;
        if (vocabulary)
            for (int64_t k = 0; k < d; k++)
                points[p * d + k] -= (double)(p / size % 7) / 7;
    }
    good(ctx, ddsc_measures_create_clouds(ctx, &m, n, d, points, NULL, offset, DDSC_EMPTY_ERROR));
    free(points);
    free(offset);
    return m;
}

/* ---- searches ---- */

static ddsc_graph *search(ddsc_context *ctx, const ddsc_measures *m, ddsc_metric metric,
                          ddsc_exact_graph how, double *seconds)
{
    ddsc_metric_settings set;
    ddsc_graph_settings graph_set;
    ddsc_graph *g = NULL;
    ddsc_metric_settings_init(&set);
    ddsc_graph_settings_init(&graph_set);
    set.metric = metric;
    graph_set.tau = 10;
    graph_set.exact_graph = how;
    double began = cpu_seconds();
    ddsc_status status = ddsc_neighbors_run(ctx, &g, NULL, m, &set, &graph_set);
    if (status != DDSC_ERROR_ARGUMENT) /* the prefilter does not support this set */
        good(ctx, status);
    *seconds = cpu_seconds() - began;
    return g;
}

static void compare_searches(ddsc_context *ctx, const char *question, ddsc_measures *m,
                             ddsc_metric metric, const char *other)
{
    double all_s, other_s;
    ddsc_graph_view a, b;
    ddsc_graph *all = search(ctx, m, metric, DDSC_GRAPH_FULL, &all_s);
    ddsc_graph *found = search(ctx, m, metric, DDSC_GRAPH_PRUNED, &other_s);
    ddsc_graph_get_view(all, &a);
    ddsc_graph_get_view(found, &b);
    if (found) {
        same(a.n_edges == b.n_edges &&
                 memcmp(a.index, b.index, (size_t)a.n_edges * sizeof *a.index) == 0,
             question);
        report(question, a.n, "all pairs", all_s);
        report(question, a.n, other, other_s);
    }
    ddsc_graph_destroy(found);
    ddsc_graph_destroy(all);
    ddsc_measures_destroy(m);
}

static void searches(ddsc_context *ctx)
{
    for (int64_t n = 25; n <= (quick ? 100 : 400); n *= 2) {
        compare_searches(ctx, "w2, images", images(ctx, n), DDSC_METRIC_W2, "pruned");
        compare_searches(ctx, "w2, clouds of 60 points in space", clouds(ctx, n, 60, 3, 0),
                         DDSC_METRIC_W2, "pruned");
        compare_searches(ctx, "w2, documents of 16 words", clouds(ctx, n, 16, 100, 2000),
                         DDSC_METRIC_W2, "pruned");
        compare_searches(ctx, "sinkhorn, images", images(ctx, n), DDSC_METRIC_SINKHORN, "pruned");
    }
    for (int64_t n = 250; n <= (quick ? 1000 : 4000); n *= 2) {
        compare_searches(ctx, "mmd, images", images(ctx, n), DDSC_METRIC_MMD, "prefilter");
        compare_searches(ctx, "lot, images", images(ctx, n), DDSC_METRIC_LOT, "prefilter");
    }
}

/* ---- tiles compared with single pairs ---- */

static void tiles(ddsc_context *ctx, const char *question, int64_t x, ddsc_measures *m,
                  ddsc_metric metric)
{
    ddsc_metric_settings set;
    metric_resolved resolved;
    plan_metric r;
    ddsc_pair_stats stats = {0};
    int64_t n = m->n, n_pairs = n * (n - 1) / 2;
    double *tiled = malloc((size_t)(n * n) * sizeof *tiled), worst = 0;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    good(ctx, metric_resolve(ctx, &resolved, m, &set));
    good(ctx, plan_metric_open(ctx, &r, m, &resolved, false, NULL));
    double began = cpu_seconds();
    good(ctx, pairs_matrix(&r.p, tiled, -1, DDSC_DISTANCE_SQUARED));
    report(question, x, "tiles", (cpu_seconds() - began) / (double)n_pairs);
    began = cpu_seconds();
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            pair_tile t = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
            double d2;
            good(ctx, r.metric->backend->tile(r.state, &t, &d2, 1, 0, &stats));
            worst = fmax(worst, fabs(d2 - tiled[i * n + j]));
        }
    report(question, x, "pair by pair", (cpu_seconds() - began) / (double)n_pairs);
    same(worst == 0, question);
    good(ctx, plan_metric_close(&r, DDSC_OK, n_pairs, &stats));
    metric_resolved_free(&resolved);
    ddsc_measures_destroy(m);
    free(tiled);
}

static void all_tiles(ddsc_context *ctx)
{
    static const int64_t sizes[] = {4, 8, 16, 17, 24, 32, 48};
    int64_t n = quick ? 64 : 160;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        tiles(ctx, "sinkhorn pair, by points per item", sizes[k], clouds(ctx, n, sizes[k], 5, 0),
              DDSC_METRIC_SINKHORN);
        tiles(ctx, "w2 pair, by points per item", sizes[k], clouds(ctx, n, sizes[k], 5, 0),
              DDSC_METRIC_W2);
    }
    for (int64_t d = 2; d <= 128; d *= 2)
        tiles(ctx, "w2 pair of 16 words, by dimension", d, clouds(ctx, n, 16, d, 300),
              DDSC_METRIC_W2);
}

/* ---- squared distances of a block ---- */

static void blocks(void)
{
    enum { N = 256, REPEATS = 20 };
    double *out = malloc(N * N * sizeof *out);
    for (int64_t d = 2; d <= 128; d *= 2) {
        double *x = malloc((size_t)(N * d) * sizeof *x);
        for (int64_t p = 0; p < N * d; p++)
            x[p] = (double)(p * 7919 % 1000);
        double began = cpu_seconds();
        for (int k = 0; k < REPEATS; k++)
            la_differences(N, N, d, x, x, out, N);
        report("distances of points, by dimension", d, "differences",
               (cpu_seconds() - began) / (REPEATS * N * N));
        began = cpu_seconds();
        for (int k = 0; k < REPEATS; k++)
            la_gemm(false, true, N, N, d, -2, x, d, x, d, 0, out, N);
        report("distances of points, by dimension", d, "products",
               (cpu_seconds() - began) / (REPEATS * N * N));
        free(x);
    }
    free(out);
}

/* ---- eigenvectors ---- */

static void eigenvectors(ddsc_context *ctx, int64_t n)
{
    rng r = rng_make(5, RNG_GAUSSIANS, 0);
    double *x = malloc((size_t)(n * 8) * sizeof *x), *degree = malloc((size_t)n * sizeof *degree);
    int32_t *component = malloc((size_t)n * sizeof *component);
    int64_t n_components;
    ddsc_graph *g = NULL;
    sparse a = {0}, m = {0};
    affinity_report about;
    double values[2][10];
    for (int64_t p = 0; p < n * 8; p++)
        x[p] = rng_normal(&r) + 2 * (double)(p / 8 % 10 == p % 8);
    good(ctx, ddsc_graph_create_from_vectors(ctx, &g, n, 8, x, NULL));
    good(ctx, affinity_build(ctx, &a, &about, g, &(affinity_settings){.rule = DDSC_GAMMA_AUTO}));
    good(ctx, components_find(ctx, component, &n_components, a.n, a.offset, a.column));
    good(ctx, operator_build(ctx, &m, degree, &a));
    for (int dense = 0; dense < 2; dense++) {
        eigen_settings set = {
            .tolerance = 1e-8, .max_iterations = 20000, .dense_below = dense ? n : 0};
        eigen_result found = {0};
        double began = cpu_seconds();
        good(ctx, eigen_run(ctx, &found, &m, degree, component, n_components, 10, &set));
        report("eigenvectors, K = 10", n, dense ? "dense" : "block iteration",
               cpu_seconds() - began);
        memcpy(values[dense], found.value, sizeof values[dense]);
        eigen_free(ctx, &found);
    }
    for (int k = 0; k < 10; k++)
        same(fabs(values[0][k] - values[1][k]) < 1e-7, "eigenvectors");
    sparse_free(ctx, &m);
    sparse_free(ctx, &a);
    ddsc_graph_destroy(g);
    free(component);
    free(degree);
    free(x);
}

int main(int argc, char **argv)
{
    ddsc_context_settings set;
    ddsc_context *ctx = NULL;
    quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    ddsc_context_settings_init(&set);
    set.threads = 1;
    if (ddsc_context_create(&ctx, &set) < 0)
        return 1;
    blocks();
    all_tiles(ctx);
    for (int64_t n = 100; n <= (quick ? 400 : 1600); n *= 2)
        eigenvectors(ctx, n);
    searches(ctx);
    ddsc_context_destroy(ctx);
    return 0;
}
