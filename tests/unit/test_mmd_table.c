/* mmd between histograms on one table of points that is not a grid: the rows of a prefilter bound
 * every value, and the graph found with them is bit-identical to the full graph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "neighbors/metric/metric.h"
#include "neighbors/pairs/prefilter.h"
#include "numeric/graph/graph.h"
#include "graph_support.h"

typedef struct made {
    int64_t n, v, d;
    double near;    /* distance of every third point from the previous one; 0: none */
    int64_t filled; /* points of an item */
    int64_t repeat; /* period at which the first item is repeated; 0: never */
    double heavy;   /* weight of one point; the others have weights from 0 to 1 */
} made;

static measures *histograms(ddsc_context *ctx, const made *h)
{
    rng r = rng_make(11, RNG_GAUSSIANS, (uint64_t)h->v);
    double *table = malloc((size_t)(h->v * h->d) * sizeof *table);
    double *rows = calloc((size_t)(h->n * h->v), sizeof *rows);
    measures *m = NULL;
    for (int64_t p = 0; p < h->v * h->d; p++) {
        bool close = h->near > 0 && p / h->d % 3 == 2;
        table[p] = close ? table[p - h->d] + h->near * rng_normal(&r) : 10 + rng_normal(&r);
    }
    for (int64_t i = 0; i < h->n; i++) {
        double *row = rows + i * h->v;
        int64_t kind = rng_below(&r, 5) * (h->v / 5 + 1);
        for (int64_t k = 0; k < h->filled; k++)
            row[(kind + rng_below(&r, h->filled)) % h->v] += rng_uniform(&r);
        row[rng_below(&r, h->v)] += 1e-3 + h->heavy;
        if (h->repeat > 0 && i > 0 && i % h->repeat == 0)
            memcpy(row, rows, (size_t)h->v * sizeof *row);
    }
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, h->n, h->v, h->d, table, rows, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(rows);
    free(table);
    return m;
}

/* bandwidth 0: chosen by rule. */
static ddsc_metric_settings metric_of(int kernel, int estimator, double bandwidth)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_MMD;
    set.mmd_kernel = (ddsc_mmd_kernel)kernel;
    set.mmd_estimator = (ddsc_mmd_estimator)estimator;
    if (bandwidth > 0) {
        set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
        set.bandwidth = bandwidth;
    }
    return set;
}

/* Checks 0 <= D^2 - (offset_i + offset_j + |y_i - y_j|^2) <= tail_i + tail_j up to the rounding of
 * rows. Returns the largest tail. */
static double check_rows(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set)
{
    pair_job job = {.ctx = ctx, .m = m, .n_workers = parallel_width(ctx)};
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    metric_resolved resolved;
    prefilter_rows r = {0};
    void *state = NULL;
    double *d2 = malloc((size_t)(m->n * m->n) * sizeof *d2), widest = 0;
    assert_int_equal(metric_resolve(ctx, &resolved, m, set), DDSC_OK);
    job.set = &resolved.set;
    assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_int_equal(resolved.backend->open(&state, &job, &stats), DDSC_OK);
    assert_int_equal(resolved.backend->rows(state, &r), DDSC_OK);
    assert_true(r.columns > 0 && r.columns < m->v);
    for (int64_t i = 0; i < m->n; i++) {
        widest = fmax(widest, r.tail[i]);
        for (int64_t j = 0; j < i; j++) {
            double between = 0, own = 0, other = 0;
            for (int64_t k = 0; k < r.columns; k++) {
                double x = (double)r.rows[i * r.columns + k], y = (double)r.rows[j * r.columns + k];
                between += (x - y) * (x - y);
                own += x * x;
                other += y * y;
            }
            double over = d2[i * m->n + j] - (r.offset[i] + r.offset[j] + between);
            double rounding = 0x1p-21 * (own + other);
            assert_true(over >= -rounding && over <= r.tail[i] + r.tail[j] + rounding);
        }
    }
    prefilter_rows_free(ctx, &r);
    resolved.backend->close(state);
    metric_resolved_free(&resolved);
    free(d2);
    return widest;
}

static void test_rows(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const made sets[] = {{260, 40, 3, 0, 20, 0, 0},    {260, 40, 30, 0, 40, 10, 0},
                         {260, 45, 3, 1e-7, 20, 7, 0}, {260, 33, 20, 1e-12, 12, 0, 0},
                         {260, 20, 5, 0, 8, 0, 1e9},   {260, 3, 5, 0, 2, 0, 0}};
    for (size_t c = 0; c < sizeof sets / sizeof *sets; c++)
        for (int kernel = DDSC_KERNEL_GAUSSIAN; kernel <= DDSC_KERNEL_ENERGY; kernel++)
            for (int estimator = DDSC_MMD_UNBIASED; estimator <= DDSC_MMD_BIASED; estimator++) {
                measures *m = histograms(ctx, &sets[c]);
                ddsc_metric_settings set = metric_of(kernel, estimator, 0);
                assert_true(check_rows(ctx, m, &set) < 0.02);
                ddsc_measures_destroy(m);
            }
    /* Kernel matrices that are nearly the identity matrix or nearly constant. */
    for (double h = 1e-3; h < 1e7; h *= 1e3) {
        measures *m = histograms(ctx, &sets[0]);
        ddsc_metric_settings set = metric_of(DDSC_KERNEL_GAUSSIAN, DDSC_MMD_BIASED, h);
        check_rows(ctx, m, &set);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

static ddsc_graph *graph_of(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                            ddsc_exact_graph how, ddsc_pair_stats *stats)
{
    ddsc_graph_settings graph_set;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings_init(&graph_set);
    graph_set.exact_graph = how;
    graph_set.tau = 7;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, stats, m, set, &graph_set), DDSC_OK);
    return graph;
}

/* least: the minimum share of skipped pairs; 0: the search may compute all pairs. */
static void check_graph(const made *h, const ddsc_metric_settings *set, double least)
{
    ddsc_context *first = test_context(1, 0);
    measures *m = histograms(first, h);
    ddsc_graph *full = graph_of(first, m, set, DDSC_GRAPH_FULL, NULL);
    size_t edges = (size_t)full->offset[full->n];
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 0);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        ddsc_graph *found = graph_of(ctx, m, set, DDSC_GRAPH_AUTO, &stats);
        assert_memory_equal(found->offset, full->offset,
                            (size_t)(full->n + 1) * sizeof *full->offset);
        assert_memory_equal(found->index, full->index, edges * sizeof *full->index);
        assert_memory_equal(found->d2, full->d2, edges * sizeof *full->d2);
        assert_true((double)stats.n_solved <= (1 - least) * (double)stats.n_pairs);
        ddsc_graph_destroy(found);
        ddsc_context_destroy(ctx);
    }
    ddsc_graph_destroy(full);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(first);
}

static void test_graphs(void **state)
{
    (void)state;
    const made plain = {2100, 60, 12, 0, 30, 0, 0}, twins = {2100, 60, 20, 1e-9, 30, 131, 0},
               lonely = {2100, 1, 3, 0, 1, 0, 0}, few = {2100, 900, 3, 0, 3, 0, 0},
               far = {2100, 60, 12, 1e40, 30, 0, 0};
    for (int kernel = DDSC_KERNEL_GAUSSIAN; kernel <= DDSC_KERNEL_ENERGY; kernel++) {
        ddsc_metric_settings set = metric_of(kernel, DDSC_MMD_UNBIASED, 0);
        check_graph(&plain, &set, 0.9);
        set.mmd_estimator = DDSC_MMD_BIASED;
        check_graph(&twins, &set, 0.9);
    }
    ddsc_metric_settings set = metric_of(DDSC_KERNEL_GAUSSIAN, DDSC_MMD_UNBIASED, 1e6);
    check_graph(&plain, &set, 0); /* values consist of rounding errors */
    set.bandwidth = 1;
    check_graph(&lonely, &set, 0);
    check_graph(&few, &set, 0); /* all pairs cost less than eigenvectors */
    set.mmd_kernel = DDSC_KERNEL_ENERGY;
    check_graph(&far, &set, 0); /* no float holds the squares of rows */
}

static ddsc_status call_filtered(ddsc_context *ctx, void *arg)
{
    const made h = {80, 20, 3, 0, 15, 0, 0};
    ddsc_context *other = test_context(1, 0);
    measures *m = histograms(other, &h);
    ddsc_graph_settings graph_set;
    ddsc_graph_settings_init(&graph_set);
    graph_set.exact_graph = DDSC_GRAPH_PRUNED;
    return graph_once(ctx, other, m, arg, &graph_set);
}

static void test_allocations(void **state)
{
    (void)state;
    ddsc_metric_settings set = metric_of(DDSC_KERNEL_LAPLACE, DDSC_MMD_UNBIASED, 0);
    assert_true(test_failing_allocations(call_filtered, &set) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_graphs),
                                       cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
