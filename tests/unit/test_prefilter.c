/* The prefilter: its bounds hold for every pair, its graph equals the full graph, and any device
 * that keeps the contract gives the same bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/mmd/mmd.h"
#include "neighbors/metric/metric.h"
#include "neighbors/planner/plan.h"
#include "numeric/graph/graph.h"
#include "graph_support.h"

enum { SIDE = 12 };

/* Creates n blurred blobs on a SIDE x SIDE grid. Every `repeat`-th is a copy of the first (0:
 * none). */
static measures *blobs(ddsc_context *ctx, int64_t n, int64_t repeat, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 7);
    double table[SIDE * SIDE][2], *rows = calloc((size_t)(n * SIDE * SIDE), sizeof *rows);
    for (int c = 0; c < SIDE * SIDE; c++) {
        table[c][0] = c / SIDE;
        table[c][1] = c % SIDE;
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = rows + i * SIDE * SIDE;
        double x = 3 + 6 * rng_uniform(&r), y = 3 + 6 * rng_uniform(&r), w = 1 + rng_uniform(&r);
        for (int c = 0; c < SIDE * SIDE; c++) {
            double away = pow(table[c][0] - x, 2) + pow(table[c][1] - y, 2);
            row[c] = away < 9 * w ? exp(-away / (2 * w)) * (0.5 + rng_uniform(&r)) : 0;
        }
        if (repeat > 0 && i > 0 && i % repeat == 0)
            memcpy(row, rows, SIDE * SIDE * sizeof *row);
    }
    measures *m = NULL;
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, n, SIDE * SIDE, 2, &table[0][0], rows,
                                                DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(rows);
    return m;
}

static ddsc_metric_settings metric_of(ddsc_metric metric, ddsc_mmd_estimator estimator)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    set.mmd_estimator = estimator;
    set.reference_size = 20;
    return set;
}

/* Compares the bounds of every pair with the double values. Returns their largest width relative to
 * the mean. */
static double check_bounds(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set)
{
    const pair_backend *backend = metric_find(set->metric);
    pair_job job = {.ctx = ctx, .m = m, .set = set, .n_workers = parallel_width(ctx)};
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    prefilter_rows s = {0};
    first_bounds first;
    void *state = NULL;
    int64_t n = m->n;
    float *start = malloc((size_t)n * sizeof *start);
    double *spread = malloc((size_t)n * sizeof *spread), widest = 0, mean = 0;
    double *d2 = malloc((size_t)(n * n) * sizeof *d2);
    metric_resolved resolved;
    assert_int_equal(metric_resolve(ctx, &resolved, m, set), DDSC_OK);
    job.set = &resolved.set;
    assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_int_equal(backend->open(&state, &job, &stats), DDSC_OK);
    assert_int_equal(backend->rows(state, &s), DDSC_OK);
    assert_true(s.columns > 0);
    assert_int_equal(prefilter_enclose(ctx, &first, start, spread, &s, prefilter_radius(s.columns)),
                     DDSC_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            float product = 0;
            for (int64_t k = 0; k < s.columns; k++)
                product += s.rows[i * s.columns + k] * s.rows[j * s.columns + k];
            double low = (double)(start[i] + start[j] - 2 * product);
            assert_true(low <= d2[i * n + j]);
            assert_true(d2[i * n + j] <= low + spread[i] + spread[j]);
            widest = fmax(widest, spread[i] + spread[j]);
            mean += fabs(d2[i * n + j]) / (double)(n * (n - 1) / 2);
        }
    prefilter_rows_free(ctx, &s);
    backend->close(state);
    metric_resolved_free(&resolved);
    free(d2);
    free(spread);
    free(start);
    return widest / mean;
}

static void test_bounds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = blobs(ctx, 150, 10, 1);
    for (int estimator = DDSC_MMD_UNBIASED; estimator <= DDSC_MMD_BIASED; estimator++) {
        ddsc_metric_settings set = metric_of(DDSC_METRIC_MMD, (ddsc_mmd_estimator)estimator);
        assert_true(check_bounds(ctx, m, &set) < 0.05);
    }
    ddsc_metric_settings lot = metric_of(DDSC_METRIC_LOT, DDSC_MMD_UNBIASED);
    assert_true(check_bounds(ctx, m, &lot) < 1e-3);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void same_graph(const ddsc_graph *a, const ddsc_graph *b, double relative)
{
    assert_memory_equal(a->offset, b->offset, (size_t)(a->n + 1) * sizeof *a->offset);
    assert_memory_equal(a->index, b->index, (size_t)a->offset[a->n] * sizeof *a->index);
    for (int64_t e = 0; e < a->offset[a->n]; e++)
        assert_close(a->d2[e], b->d2[e], relative, 0);
}

/* The bits equal those of the full search. `least`: the minimum share of skipped pairs. */
static void check_graph(int64_t n, int64_t repeat, ddsc_metric metric, ddsc_mmd_estimator estimator,
                        double least)
{
    ddsc_metric_settings set = metric_of(metric, estimator);
    ddsc_context *ctx[3];
    ddsc_graph *found[3];
    for (int t = 0; t < 3; t++)
        ctx[t] = test_context(t + 1, 3);
    measures *m = blobs(ctx[0], n, repeat, 2);
    ddsc_graph *full = graph_found(ctx[0], m, &set, DDSC_GRAPH_FULL, 7, NULL);
    for (int t = 0; t < 3; t++) {
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        found[t] = graph_found(ctx[t], m, &set, DDSC_GRAPH_PRUNED, 7, &stats);
        same_graph(found[t], full, 0);
        assert_true((double)stats.n_solved <= (1 - least) * (double)stats.n_pairs);
        assert_int_equal(stats.n_solved + stats.n_pruned, stats.n_pairs);
    }
    ddsc_graph_destroy(full);
    for (int t = 2; t >= 0; t--) {
        ddsc_graph_destroy(found[t]);
        if (t == 0)
            ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx[t]);
    }
}

static void test_graphs(void **state)
{
    (void)state;
    check_graph(600, 0, DDSC_METRIC_MMD, DDSC_MMD_UNBIASED, 0.9);
    check_graph(600, 0, DDSC_METRIC_MMD, DDSC_MMD_BIASED, 0.9);
    check_graph(600, 0, DDSC_METRIC_LOT, DDSC_MMD_UNBIASED, 0.9);
    /* Seventeen copies of one item: more than the size of a list, so these items are compared with
     * all others. */
    check_graph(600, 37, DDSC_METRIC_MMD, DDSC_MMD_BIASED, 0.3);
    check_graph(600, 37, DDSC_METRIC_LOT, DDSC_MMD_UNBIASED, 0.3);
    /* Every second item is a copy: the search computes all pairs. */
    check_graph(200, 2, DDSC_METRIC_MMD, DDSC_MMD_BIASED, 0);
    /* Fewer items than the size of a list. */
    check_graph(9, 0, DDSC_METRIC_MMD, DDSC_MMD_UNBIASED, 0);
    check_graph(2, 0, DDSC_METRIC_LOT, DDSC_MMD_UNBIASED, 0);
}

/* Items that nearly coincide: values are small differences of numbers near 1.
 * Double sums of n terms keep 1e-15 of the terms; floats would miss the values by a factor. */
static void test_near_items(void **state)
{
    (void)state;
    enum { N = 300, V = SIDE * SIDE };
    ddsc_context *ctx = test_context(2, 0);
    rng r = rng_make(5, RNG_GAUSSIANS, 1);
    double table[V][2], *rows = malloc(N * V * sizeof *rows);
    for (int c = 0; c < V; c++) {
        table[c][0] = c / SIDE;
        table[c][1] = c % SIDE;
        for (int i = 0; i < N; i++)
            rows[i * V + c] = 1 + 1e-5 * rng_normal(&r);
    }
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, N, V, 2, &table[0][0], rows, DDSC_EMPTY_ERROR),
        DDSC_OK);
    ddsc_metric_settings set = metric_of(DDSC_METRIC_MMD, DDSC_MMD_BIASED);
    set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    set.bandwidth = 1.5;
    ddsc_graph *graph = graph_found(ctx, m, &set, DDSC_GRAPH_PRUNED, 5, NULL);
    for (int64_t i = 0; i < N; i += 17)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            const double *a = measures_item(m, i).weight;
            const double *b = measures_item(m, graph->index[e]).weight;
            long double exact = 0;
            for (int p = 0; p < V; p++)
                for (int q = 0; q < V; q++) {
                    double r2 = pow(table[p][0] - table[q][0], 2);
                    r2 += pow(table[p][1] - table[q][1], 2);
                    exact += ((long double)a[p] - b[p]) * ((long double)a[q] - b[q]) *
                             expl(-(long double)r2 / 4.5L);
                }
            assert_true(exact < 1e-10L);
            assert_close(graph->d2[e], (double)exact, 0, 4e-16);
        }
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    free(rows);
    ddsc_context_destroy(ctx);
}

/* ---- devices ---- */

typedef struct tie_rows {
    int64_t n, columns;
    float *rows, *start;
} tie_rows;

/* Small integers: products are exact in floats, and many bounds are equal. */
static tie_rows rows_of(int64_t n, int64_t columns, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 3);
    tie_rows t = {n, columns, malloc((size_t)(n * columns) * sizeof(float)),
                  malloc((size_t)n * sizeof(float))};
    for (int64_t p = 0; p < n * columns; p++)
        t.rows[p] = (float)rng_below(&r, 5) - 2;
    for (int64_t i = 0; i < n; i++) {
        t.start[i] = (float)rng_below(&r, 3) - 4;
        for (int64_t k = 0; k < columns; k++)
            t.start[i] += t.rows[i * columns + k] * t.rows[i * columns + k];
    }
    return t;
}

static double low_of(const tie_rows *t, int64_t i, int64_t j)
{
    double dot = 0;
    for (int64_t k = 0; k < t->columns; k++)
        dot += (double)t->rows[i * t->columns + k] * (double)t->rows[j * t->columns + k];
    return (double)t->start[i] + (double)t->start[j] - 2 * dot;
}

/* Computes the bounds by tiles instead of a product. */
static void low_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    (void)worker;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            low[(i - t->i0) * ld + (j - t->j0)] = (float)low_of(state, i, j);
}

typedef struct hits {
    const tie_rows *t;
    const double *reach;
    double unit;
    int *times; /* n x n */
} hits;

static ddsc_status count_hit(void *arg, int64_t i, int64_t j, double bound, bool framed, int worker)
{
    const hits *h = arg;
    (void)worker;
    assert_true(!framed && i < j && bound == h->unit * low_of(h->t, i, j));
    __atomic_fetch_add(&h->times[i * h->t->n + j], 1, __ATOMIC_RELAXED);
    return DDSC_OK;
}

static void check_device(ddsc_context *ctx, const tie_rows *t, bool product, double unit,
                         int64_t tau)
{
    int64_t n = t->n;
    first_bounds b = {.n = n, .side = product ? 256 : 37, .unit = unit};
    if (product) {
        b.columns = t->columns;
        b.rows = t->rows;
        b.start = t->start;
    } else {
        b.tile = low_tile;
        b.state = (void *)(uintptr_t)t;
    }
    void *device = NULL;
    nearest kept;
    assert_int_equal(prefilter_cpu.open(ctx, &device, &b, NULL), DDSC_OK);
    assert_int_equal(nearest_create(ctx, &kept, 0, n, tau), DDSC_OK);
    assert_int_equal(prefilter_cpu.nearest(device, &kept), DDSC_OK);
    assert_int_equal(nearest_sort(ctx, &kept, (team_part){0, n}, false), DDSC_OK);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(kept.count[i], tau);
        for (int64_t e = 0; e < tau; e++) {
            int64_t before = 0, j = kept.index[i * tau + e];
            double own = unit * low_of(t, i, j);
            assert_true(kept.value[i * tau + e] == own);
            for (int64_t k = 0; k < n; k++) {
                double other = unit * low_of(t, i, k);
                before += k != i && (other < own || (other == own && k < j));
            }
            assert_int_equal(before, e);
        }
    }
    nearest_free(ctx, &kept);
    double *reach = malloc((size_t)n * sizeof *reach);
    hits h = {t, reach, unit, calloc((size_t)(n * n), sizeof(int))};
    for (int64_t i = 0; i < n; i++)
        reach[i] = i % 3 == 0 ? -INFINITY : unit * ((double)(i % 11) + (i % 2 ? 0 : 0.5));
    int64_t n_tiles = tile_count(n, b.side);
    for (int64_t begin = 0; begin < n_tiles; begin += 2)
        assert_int_equal(
            prefilter_cpu.within(device, begin, BASE_MIN(begin + 2, n_tiles), reach, count_hit, &h),
            DDSC_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double furthest = fmax(reach[i], reach[j]);
            bool in = i < j && unit * low_of(t, i, j) <= furthest;
            assert_int_equal(h.times[i * n + j], in);
        }
    free(h.times);
    free(reach);
    prefilter_cpu.close(device);
}

static void test_device(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2, 3, 40, 257, 300};
    static const double units[] = {1, 0x1p-40, 0x1p30};
    for (int threads = 1; threads <= 3; threads += 2)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            ddsc_context *ctx = test_context(threads, 0);
            tie_rows t = rows_of(sizes[k], 5, k);
            for (int u = 0; u < 3; u++)
                for (int product = 0; product < 2; product++)
                    check_device(ctx, &t, product, units[u], BASE_MIN(sizes[k] - 1, 6));
            free(t.rows);
            free(t.start);
            ddsc_context_destroy(ctx);
        }
}

/* Another device: sums in double, rows of pairs in reverse order, more pairs within reach than
 * requested. */
typedef struct naive {
    const first_bounds *b;
} naive;

static ddsc_status naive_open(ddsc_context *ctx, void **state, const first_bounds *bounds,
                              const struct device_grid *grid)
{
    (void)ctx;
    (void)grid;
    naive *d = malloc(sizeof *d);
    d->b = bounds;
    *state = d;
    return DDSC_OK;
}

static void naive_close(void *state)
{
    free(state);
}

static double naive_bound(const first_bounds *b, int64_t i, int64_t j)
{
    pair_tile t = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
    float low;
    if (b->columns == 0) {
        prefilter_tile(b, &t, &low, 1, 0);
        return b->unit * (double)low;
    }
    double dot = 0;
    for (int64_t k = b->columns - 1; k >= 0; k--)
        dot += (double)b->rows[i * b->columns + k] * (double)b->rows[j * b->columns + k];
    return b->unit * ((double)b->start[i] + (double)b->start[j] - 2 * dot);
}

static ddsc_status naive_nearest(void *state, nearest *kept)
{
    const first_bounds *b = ((naive *)state)->b;
    for (int64_t i = b->n - 1; i >= 0; i--)
        for (int64_t j = b->n - 1; j > i; j--)
            nearest_offer(kept, first_item(b->order, i), first_item(b->order, j),
                          naive_bound(b, i, j));
    return DDSC_OK;
}

static ddsc_status naive_within(void *state, int64_t begin, int64_t end, const double *reach,
                                prefilter_hit hit, void *arg)
{
    const first_bounds *b = ((naive *)state)->b;
    for (int64_t k = end - 1; k >= begin; k--) {
        pair_tile t = tile_number(b->n, b->side, k);
        for (int64_t i = t.i0; i < t.i1; i++)
            for (int64_t j = BASE_MAX(t.j0, i + 1); j < t.j1; j++) {
                int64_t x = first_item(b->order, i), y = first_item(b->order, j);
                double bound = naive_bound(b, i, j);
                if (bound <= fmax(reach[x], reach[y]) || (i + j) % 5 == 0)
                    CHECK(hit(arg, BASE_MIN(x, y), BASE_MAX(x, y), bound, false, 0));
            }
    }
    return DDSC_OK;
}

static const prefilter_device naive_device = {.name = "naive",
                                              .open = naive_open,
                                              .close = naive_close,
                                              .nearest = naive_nearest,
                                              .within = naive_within};

static void test_other_device(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3);
    for (int k = DDSC_METRIC_W2; k <= DDSC_METRIC_W1; k++) {
        ddsc_metric_settings set = metric_of((ddsc_metric)k, DDSC_MMD_UNBIASED);
        measures *m = blobs(ctx, 190, 21, 5);
        ddsc_graph *full = graph_found(ctx, m, &set, DDSC_GRAPH_FULL, 4, NULL), *found = NULL;
        metric_resolved metric;
        plan_metric r;
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        prefilter_rows rows = {0};
        bool done = true;
        assert_int_equal(metric_resolve(ctx, &metric, m, &set), DDSC_OK);
        assert_int_equal(metric_settle(ctx, &metric, m, NULL), DDSC_OK);
        assert_int_equal(
            plan_metric_open(ctx, &r, metric_measures(&metric, m), &metric, false, NULL), DDSC_OK);
        r.p.device = &naive_device;
        if (metric.backend->bounds) {
            assert_int_equal(pairs_open_bounds(&r.p, &r.job), DDSC_OK);
            assert_int_equal(search_pruned(&r.p, &found, 4), DDSC_OK);
        } else {
            assert_int_equal(metric.backend->rows(r.state, &rows), DDSC_OK);
            assert_int_equal(search_prefilter(&r.p, &found, 4, &rows, &done), DDSC_OK);
        }
        assert_true(done);
        same_graph(found, full, 0);
        prefilter_rows_free(ctx, &rows);
        assert_int_equal(plan_metric_close(&r, DDSC_OK, 190 * 189 / 2, &stats), DDSC_OK);
        assert_true(stats.n_solved < stats.n_pairs);
        metric_resolved_free(&metric);
        ddsc_graph_destroy(found);
        ddsc_graph_destroy(full);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* Rows far from the origin, on scales outside the range of floats, or in few dimensions. */
static void test_vectors(void **state)
{
    (void)state;
    enum { N = 260, D = 40 };
    const double scales[] = {1, 1e-9, 1e9, 1e-90, 1e100, 1e-130, 0};
    ddsc_context *ctx = test_context(2, 0);
    double *rows = malloc(N * D * sizeof *rows);
    for (int k = 0; k < 7; k++) {
        rng r = rng_make(9, RNG_GAUSSIANS, 2);
        for (int p = 0; p < N * D; p++)
            rows[p] = scales[k] * (100 + rng_normal(&r));
        void *vectors = NULL;
        prefilter_rows s = {0};
        assert_int_equal(metric_vectors_open(ctx, &vectors, N, D, rows), DDSC_OK);
        assert_int_equal(metric_vectors.rows(vectors, &s), DDSC_OK);
        assert_true((s.columns > 0) == (k < 5));
        prefilter_rows_free(ctx, &s);
        metric_vectors.close(vectors);
        ddsc_graph_settings set;
        ddsc_graph *full = NULL, *found = NULL;
        ddsc_graph_settings_init(&set);
        set.exact_graph = DDSC_GRAPH_FULL;
        assert_int_equal(ddsc_graph_create_from_vectors(ctx, &full, N, D, rows, &set), DDSC_OK);
        set.exact_graph = k < 5 ? DDSC_GRAPH_PRUNED : DDSC_GRAPH_AUTO;
        assert_int_equal(ddsc_graph_create_from_vectors(ctx, &found, N, D, rows, &set), DDSC_OK);
        same_graph(found, full, 0);
        ddsc_graph_destroy(full);
        ddsc_graph_destroy(found);
    }
    free(rows);
    ddsc_context_destroy(ctx);
}

static ddsc_status call_filtered(ddsc_context *ctx, void *arg)
{
    const ddsc_metric_settings set = metric_of(*(const ddsc_metric *)arg, DDSC_MMD_UNBIASED);
    ddsc_graph_settings graph_set;
    ddsc_graph_settings_init(&graph_set);
    graph_set.exact_graph = DDSC_GRAPH_PRUNED;
    ddsc_context *other = test_context(1, 0);
    measures *m = blobs(other, 60, 0, 4);
    return graph_once(ctx, other, m, &set, &graph_set);
}

static void test_allocations(void **state)
{
    (void)state;
    for (int k = DDSC_METRIC_MMD; k <= DDSC_METRIC_LOT; k++) {
        ddsc_metric metric = (ddsc_metric)k;
        assert_true(test_failing_allocations(call_filtered, &metric) > 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_near_items),   cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_allocations),  cmocka_unit_test(test_device),
        cmocka_unit_test(test_other_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
