/* Lower bounds of Sinkhorn values for adversarial point clouds: extreme points, tight clusters with
 * negligible weights, nearly equal items, and clouds far from the origin. */
#include <math.h>
#include <stdlib.h>

#include "neighbors/metric/metric.h"
#include "neighbors/pairs/prefilter.h"
#include "numeric/graph/graph.h"
#include "sinkhorn_support.h"

enum { DIM = 12, LEAST = 34, MOST = 44, CLOUDS = 5 };

/* Items of 34 to 44 points, which are solved one by one and have relaxed first bounds. */
static measures *clouds(ddsc_context *ctx, int kind, int64_t n)
{
    double *points = test_zeros(n * MOST * DIM), *weight = test_zeros(n * MOST);
    int64_t *offset = calloc((size_t)n + 1, sizeof *offset);
    rng r = rng_make(5, RNG_GAUSSIANS, (uint64_t)kind);
    for (int64_t i = 0; i < n; i++) {
        double center[DIM];
        for (int k = 0; k < DIM; k++)
            center[k] = rng_normal(&r);
        int64_t size = kind == 1 ? LEAST : LEAST + rng_below(&r, MOST - LEAST + 1);
        offset[i + 1] = offset[i] + size;
        for (int64_t p = offset[i]; p < offset[i + 1]; p++) {
            double *x = points + p * DIM;
            const double *twin = points + (p - offset[i]) * DIM; /* the point of item 0 */
            bool far = rng_below(&r, 12) == 0;
            weight[p] = kind == 2 && far ? 1e-11 : 1 + (double)rng_below(&r, 3);
            for (int k = 0; k < DIM; k++) {
                double z = rng_normal(&r);
                x[k] = kind == 0   ? (center[k] + z) * (far ? exp(3 * fabs(rng_normal(&r))) : 1)
                       : kind == 1 ? (i == 0 ? z : twin[k] + (i % 3 == 0 ? 0 : 1e-7 * z))
                       : kind == 2 ? (far ? 1e3 : 1) * center[k] + 1e-3 * z
                       : kind == 3 ? 1e6 + center[k] + z
                                   : 1e-5 * (0.3 * center[k] + z);
            }
        }
    }
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, DIM, points, weight, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(points);
    free(weight);
    free(offset);
    return m;
}

/* A metric with its bounds, opened for a set. */
typedef struct opened {
    metric_resolved metric;
    pair_job job;
    void *state, *bounds;
    bound_offer offer;
    ddsc_pair_stats stats;
} opened;

static void open_bounds(opened *o, ddsc_context *ctx, const measures *m,
                        const ddsc_metric_settings *set)
{
    *o = (opened){0};
    assert_int_equal(metric_resolve(ctx, &o->metric, m, set), DDSC_OK);
    assert_int_equal(metric_settle(ctx, &o->metric, m, NULL), DDSC_OK);
    o->job = (pair_job){.ctx = ctx,
                        .m = metric_measures(&o->metric, m),
                        .set = &o->metric.set,
                        .frame = o->metric.frame,
                        .n_workers = 1};
    const pair_backend *backend = o->metric.backend;
    assert_int_equal(backend->open(&o->state, &o->job, &o->stats), DDSC_OK);
    assert_int_equal(backend->bounds->open(&o->bounds, &o->offer, &o->job, o->state), DDSC_OK);
}

static void close_bounds(opened *o)
{
    o->metric.backend->bounds->close(o->bounds);
    o->metric.backend->close(o->state);
    metric_resolved_free(&o->metric);
}

static double value_of(opened *o, int64_t i, int64_t j)
{
    double d2 = NAN;
    pair_tile t = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
    assert_int_equal(o->metric.backend->tile(o->state, &t, &d2, 1, 0, &o->stats), DDSC_OK);
    return d2;
}

static void assert_below(double bound, double value, const char *level, int kind, double percent)
{
    if (!(bound <= value))
        fail_msg("clouds %d, epsilon %g%%: %s bound %.17g, value %.17g", kind, percent, level,
                 bound, value);
}

/* Compares every level with the value of every pair. Returns the mean share of the value that the
 * dual bound attains. */
static double check_clouds(int kind, ddsc_sinkhorn_value which, double percent)
{
    enum { N = 9 };
    static const char *const name[] = {"first", "frame", "cut", "dual", "tight"};
    ddsc_context *ctx = test_context(1, 2);
    measures *m = clouds(ctx, kind, N);
    ddsc_metric_settings set = sinkhorn_settings(which, percent);
    double share = 0;
    opened o;
    open_bounds(&o, ctx, m, &set);
    const pair_bounds *bounds = o.metric.backend->bounds;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            double value = value_of(&o, i, j), dual = 0;
            pair_tile t = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
            float low = 0;
            prefilter_tile(&o.offer.first, &t, &low, 1, 0);
            assert_below(o.offer.first.unit * (double)low, value, name[0], kind, percent);
            for (int level = BOUND_FRAME; level <= BOUND_DUAL; level++)
                for (int k = 0; o.offer.level[level] && k < 4; k++) {
                    double enough = k == 0 ? INFINITY : value * (double[]){0.5, 0.99, 2}[k - 1];
                    double bound = bounds->pair(o.bounds, (bound_level)level, i, j, enough, 0);
                    assert_below(bound, value, name[level], kind, percent);
                    dual = level == BOUND_DUAL ? fmax(dual, bound) : dual;
                }
            share += dual / value / (N * (N - 1) / 2);
        }
    assert_true(o.offer.level[BOUND_DUAL]);
    close_bounds(&o);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
    return share;
}

static void test_below_the_value(void **state)
{
    (void)state;
    static const double percent[] = {0.5, 2, 5, 20, 1000};
    for (int kind = 0; kind < CLOUDS; kind++)
        for (int which = 0; which < 3; which++)
            for (size_t k = 0; k < sizeof percent / sizeof *percent; k++)
                if (which != DDSC_SINKHORN_SHARP || percent[k] > 1) /* converges too slowly */
                    check_clouds(kind, (ddsc_sinkhorn_value)which, percent[k]);
}

/* The dual bound of a pair is close to the value even if extreme points make the range of the costs
 * thousands of times as large as epsilon. */
static void test_worth_having(void **state)
{
    (void)state;
    for (int kind = 0; kind < CLOUDS; kind += 4)
        for (int k = 0; k < 2; k++) {
            double share = check_clouds(kind, DDSC_SINKHORN_REGULARIZED, k ? 20 : 5);
            if (!(share > 0.9))
                fail_msg("clouds %d: the dual bounds are %.3f of the values", kind, share);
        }
}

/* The divergence can be smaller than W2^2, so bounds of W2^2 are not bounds of the divergence. */
static void test_divergence_below_w2(void **state)
{
    (void)state;
    enum { N = 9 };
    ddsc_context *ctx = test_context(1, 2);
    measures *m = clouds(ctx, 4, N);
    double w2[N * N], divergence[N * N];
    int n_below = 0;
    ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_DEBIASED, 20);
    assert_int_equal(ddsc_distance_run(ctx, divergence, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                     DDSC_OK);
    assert_int_equal(
        ddsc_distance_run(ctx, w2, NULL, m, metric_with(DDSC_METRIC_W2), DDSC_DISTANCE_SQUARED),
        DDSC_OK);
    for (int k = 0; k < N * N; k++)
        n_below += divergence[k] < 0.9 * w2[k];
    assert_true(n_below > N);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Graphs are byte-identical with and without pruning, and pruning skips solves. */
static void test_graph(void **state)
{
    (void)state;
    enum { N = 60, TAU = 4 };
    for (int kind = 0; kind < CLOUDS; kind++)
        for (int which = 0; which < 2; which++) {
            ddsc_context *ctx = test_context(2, 2);
            measures *m = clouds(ctx, kind, N);
            ddsc_metric_settings set = sinkhorn_settings(
                which ? DDSC_SINKHORN_DEBIASED : DDSC_SINKHORN_REGULARIZED, kind == 3 ? 20 : 5);
            ddsc_graph_settings part;
            ddsc_graph *graph[2] = {NULL, NULL};
            ddsc_pair_stats stats;
            ddsc_graph_settings_init(&part);
            ddsc_pair_stats_init(&stats);
            part.tau = TAU;
            for (int k = 0; k < 2; k++) {
                part.exact_graph = k == 0 ? DDSC_GRAPH_FULL : DDSC_GRAPH_PRUNED;
                assert_int_equal(ddsc_neighbors_run(ctx, &graph[k], &stats, m, &set, &part),
                                 DDSC_OK);
            }
            assert_true(kind != 0 || stats.n_solved < stats.n_pairs / 2);
            assert_memory_equal(graph[0]->index, graph[1]->index, N * TAU * sizeof(int32_t));
            assert_memory_equal(graph[0]->d2, graph[1]->d2, N * TAU * sizeof(double));
            ddsc_graph_destroy(graph[0]);
            ddsc_graph_destroy(graph[1]);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_below_the_value),
        cmocka_unit_test(test_worth_having),
        cmocka_unit_test(test_divergence_below_w2),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
