/* Compares every algorithm for the maximum mean discrepancy with the double loop over points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/mmd/internal.h"
#include "support.h"

static double plain_kernel(const mmd_kernel *kernel, double r2)
{
    double h = kernel->bandwidth;
    if (kernel->kind == DDSC_KERNEL_GAUSSIAN)
        return exp(-r2 / (2 * h * h));
    return kernel->kind == DDSC_KERNEL_LAPLACE ? exp(-sqrt(r2) / h) : -sqrt(r2);
}

static double plain_r2(const measures *m, int32_t a, int32_t b)
{
    double sum = 0;
    for (int64_t k = 0; k < m->d; k++) {
        double step = measures_point(m, a)[k] - measures_point(m, b)[k];
        sum += step * step;
    }
    return sum;
}

/* Returns the mean kernel between two items, or within one item over pairs of different points. */
static double plain_mean(const mmd_kernel *kernel, const measures *m, int64_t i, int64_t j,
                         bool distinct)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    long double sum = 0, mass = 0;
    for (int64_t p = 0; p < x.n; p++)
        for (int64_t q = 0; q < y.n; q++) {
            if (distinct && p == q)
                continue;
            long double both = (long double)x.weight[p] * y.weight[q];
            mass += both;
            sum += both * plain_kernel(kernel, plain_r2(m, x.index[p], y.index[q]));
        }
    if (distinct && x.n == 1)
        return plain_kernel(kernel, 0);
    return (double)(distinct ? sum / mass : sum);
}

static void plain_matrix(double *d2, const mmd_kernel *kernel, const measures *m, bool biased)
{
    int64_t n = m->n;
    double *self = malloc((size_t)n * sizeof *self);
    for (int64_t i = 0; i < n; i++)
        self[i] = plain_mean(kernel, m, i, i, !biased);
    for (int64_t i = 0; i < n; i++) {
        d2[i * n + i] = 0;
        for (int64_t j = 0; j < i; j++)
            d2[i * n + j] = d2[j * n + i] =
                self[i] + self[j] - 2 * plain_mean(kernel, m, i, j, false);
    }
    free(self);
}

/* Writes all tiles of an mmd object to a full matrix. */
static void mmd_matrix(double *d2, ddsc_context *ctx, const measures *m, const mmd_settings *set)
{
    mmd *s = NULL;
    assert_int_equal(mmd_open(ctx, &s, m, set), DDSC_OK);
    int64_t n = m->n, side = mmd_side(s), strip = mmd_strip(s) > 0 ? mmd_strip(s) : n;
    double *tile = malloc((size_t)(side * side) * sizeof *tile);
    memset(d2, 0, (size_t)(n * n) * sizeof *d2);
    for (int64_t s0 = 0; s0 < n; s0 += strip) {
        int64_t s1 = BASE_MIN(n, s0 + strip);
        assert_int_equal(mmd_prepare(s, s0, s1), DDSC_OK);
        for (int64_t j0 = s0; j0 < s1; j0 += side)
            for (int64_t i0 = 0; i0 <= j0; i0 += side) {
                int64_t range[4] = {i0, BASE_MIN(n, i0 + side), j0, BASE_MIN(s1, j0 + side)};
                assert_int_equal(mmd_tile(s, range, NULL, tile, side, 0), DDSC_OK);
                for (int64_t i = i0; i < range[1]; i++)
                    for (int64_t j = BASE_MAX(j0, i + 1); j < range[3]; j++)
                        d2[i * n + j] = d2[j * n + i] = tile[(i - i0) * side + (j - j0)];
            }
    }
    free(tile);
    mmd_close(s);
}

static double mean_size(const double *d2, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n * n; k++)
        sum += fabs(d2[k]);
    return sum / (double)(n * n);
}

/* Compares every kernel and estimator, for one algorithm, with the double loop. */
static void check_way(ddsc_context *ctx, const measures *m, double h, mmd_way way, int64_t budget)
{
    int64_t n = m->n;
    double *found = malloc((size_t)(n * n) * sizeof *found);
    double *expected = malloc((size_t)(n * n) * sizeof *expected);
    for (int kind = DDSC_KERNEL_GAUSSIAN; kind <= DDSC_KERNEL_ENERGY; kind++)
        for (int biased = 0; biased < 2; biased++) {
            if (way == MMD_GRID && kind != DDSC_KERNEL_GAUSSIAN)
                continue;
            mmd_settings set = {.kernel = {(ddsc_mmd_kernel)kind, h},
                                .biased = biased,
                                .budget = budget,
                                .way = (int)way};
            mmd_matrix(found, ctx, m, &set);
            plain_matrix(expected, &set.kernel, m, biased);
            double size = mean_size(expected, n);
            for (int64_t k = 0; k < n * n; k++)
                assert_close(found[k], expected[k], 1e-9, 1e-12 * size);
        }
    free(found);
    free(expected);
}

/* Creates n items on a table of v rows, with `entries` rows each. */
static measures *shared_measures(ddsc_context *ctx, int64_t n, int64_t v, int64_t d,
                                 const double *table, int64_t entries, uint64_t seed)
{
    rng r = rng_make(seed, RNG_SUBSET, 1);
    double *rows = calloc((size_t)(n * v), sizeof *rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < entries; k++)
            rows[i * v + rng_below(&r, v)] += 0.1 + rng_uniform(&r);
    measures *m = NULL;
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, n, v, d, table, rows, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(rows);
    return m;
}

static double *random_table(int64_t v, int64_t d, double offset)
{
    rng r = rng_make(3, RNG_GAUSSIANS, (uint64_t)d);
    double *table = malloc((size_t)(v * d) * sizeof *table);
    for (int64_t p = 0; p < v * d; p++)
        table[p] = offset + rng_normal(&r);
    return table;
}

static void test_kernels(void **state)
{
    (void)state;
    for (int kind = DDSC_KERNEL_GAUSSIAN; kind <= DDSC_KERNEL_ENERGY; kind++)
        for (double h = 0.01; h < 200; h *= 7) {
            mmd_kernel kernel = {(ddsc_mmd_kernel)kind, h};
            double own = kind == DDSC_KERNEL_ENERGY ? 0 : 1, r2[37];
            assert_true(mmd_kernel_value(&kernel, 0) == own);
            assert_true(!signbit(mmd_kernel_value(&kernel, 0)));
            for (int k = 0; k < 37; k++)
                r2[k] = pow(1.7, k - 18);
            mmd_kernel_apply(&kernel, 37, r2);
            for (int k = 0; k < 37; k++) {
                double expected = plain_kernel(&kernel, pow(1.7, k - 18));
                assert_close(r2[k], expected, 1e-12, 1e-300);
                assert_true(r2[k] == mmd_kernel_value(&kernel, pow(1.7, k - 18)));
            }
        }
}

static void test_clouds(void **state)
{
    (void)state;
    const int64_t dims[] = {1, 2, 3, 10, 17, 100};
    ddsc_context *ctx = test_context(2, 0);
    for (int a = 0; a < 6; a++) {
        measures *m = test_random_measures(ctx, 21, 12, dims[a], (uint64_t)a);
        check_way(ctx, m, sqrt((double)dims[a]), MMD_CLOUDS, 0);
        check_way(ctx, m, sqrt((double)dims[a]), MMD_FIELD, 0);
        ddsc_measures_destroy(m);
    }
    measures *large = test_random_measures(ctx, 4, 500, 3, 8);
    check_way(ctx, large, 1, MMD_CLOUDS, 0);
    ddsc_measures_destroy(large);
    ddsc_context_destroy(ctx);
}

static void test_shared(void **state)
{
    (void)state;
    const int64_t dims[] = {1, 2, 3, 10, 100};
    ddsc_context *ctx = test_context(2, 0);
    for (int a = 0; a < 5; a++)
        for (int far = 0; far < 2; far++) {
            double *table = random_table(90, dims[a], far ? 1000 : 0);
            measures *m = shared_measures(ctx, 70, 90, dims[a], table, 9, 1);
            check_way(ctx, m, sqrt((double)dims[a]), MMD_FIELD, 0);
            /* memory for one strip of 64 columns: two strips */
            check_way(ctx, m, sqrt((double)dims[a]), MMD_FIELD, 1);
            ddsc_measures_destroy(m);
            free(table);
        }
    ddsc_context_destroy(ctx);
}

static void test_grid(void **state)
{
    (void)state;
    const int64_t shapes[3][3] = {{40, 1, 1}, {9, 7, 1}, {4, 5, 3}};
    ddsc_context *ctx = test_context(2, 0);
    for (int64_t d = 1; d <= 3; d++) {
        const int64_t *shape = shapes[d - 1];
        int64_t v = shape[0] * shape[1] * shape[2];
        double *table = malloc((size_t)(v * d) * sizeof *table);
        for (int64_t r = 0; r < v; r++)
            for (int64_t k = 0, rest = r; k < d; rest /= shape[k++])
                table[r * d + k] = 0.3 * (double)(rest % shape[k]) - 1;
        /* Few items: not every cell of the grid is used. */
        for (int64_t n = 3; n <= 75; n += 72) {
            measures *m = shared_measures(ctx, n, v, d, table, 12, 5);
            assert_true(m->grid.found);
            check_way(ctx, m, 0.5, MMD_GRID, 0);
            check_way(ctx, m, 0.5, MMD_GRID, 1);
            ddsc_measures_destroy(m);
        }
        free(table);
    }
    ddsc_context_destroy(ctx);
}

static void test_lonely_and_heavy_items(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const double place[] = {0, 1, 0.5, 2, 2.5, 0, 1};
    const double weights[] = {1, 1, 1e-9, 1e12, 1, 0.5, 0.5};
    const int64_t offsets[] = {0, 1, 3, 5, 7};
    measures *m = NULL;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 4, 1, place, weights, offsets, DDSC_EMPTY_ERROR),
        DDSC_OK);
    check_way(ctx, m, 0.7, MMD_CLOUDS, 0);
    check_way(ctx, m, 0.7, MMD_FIELD, 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Equal items have a biased distance of exactly 0, in any block. */
static void test_duplicates(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const int64_t dims[] = {2, 30};
    for (int a = 0; a < 2; a++) {
        enum { N = 80, POINTS = 5 };
        int64_t d = dims[a], offsets[N + 1];
        double *place = malloc((size_t)(N * POINTS * d) * sizeof *place);
        rng r = rng_make(1, RNG_GAUSSIANS, 3);
        for (int64_t i = 0; i <= N; i++)
            offsets[i] = i * POINTS;
        for (int64_t p = 0; p < N * POINTS * d; p++)
            place[p] = p >= 7 * POINTS * d ? place[p - 7 * POINTS * d] : rng_normal(&r);
        measures *m = NULL;
        assert_int_equal(
            ddsc_measures_create_clouds(ctx, &m, N, d, place, NULL, offsets, DDSC_EMPTY_ERROR),
            DDSC_OK);
        double *d2 = malloc(N * N * sizeof *d2);
        for (int way = MMD_CLOUDS; way <= MMD_FIELD; way++) {
            mmd_settings set = {.kernel = {DDSC_KERNEL_LAPLACE, 1}, .biased = true};
            set.way = way;
            mmd_matrix(d2, ctx, m, &set);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < N; j++)
                    assert_true((d2[i * N + j] == 0) == (i % 7 == j % 7));
        }
        free(d2);
        free(place);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double plain_bandwidth(const measures *m, double level)
{
    double *r = malloc((size_t)(m->nnz * m->nnz) * sizeof *r);
    int64_t n = 0;
    for (int64_t p = 0; p < m->nnz; p++)
        for (int64_t q = 0; q < p; q++) {
            double r2 = plain_r2(m, m->index[p], m->index[q]);
            if (r2 > 0)
                r[n++] = sqrt(r2);
        }
    qsort(r, (size_t)n, sizeof *r, compare_doubles);
    double at = level * (double)(n - 1), below = r[(int64_t)at];
    double above = (int64_t)at + 1 < n ? r[(int64_t)at + 1] : below;
    free(r);
    return below + (at - floor(at)) * (above - below);
}

/* The automatic bandwidth is the 5% quantile. If all distances are alike, as in 40 dimensions, it is
 * 1.5 times the median, but the median for the laplace kernel and for fitted documents. */
static void check_auto_bandwidth(ddsc_context *ctx, measures *m, bool alike)
{
    ddsc_metric_settings set;
    double h, near = plain_bandwidth(m, 0.05), median = plain_bandwidth(m, 0.5);
    ddsc_metric_settings_init(&set);
    assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
    assert_close(h, alike ? 1.5 * median : near, 1e-10, 0);
    set.mmd_kernel = DDSC_KERNEL_LAPLACE;
    assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
    assert_close(h, alike ? median : near, 1e-10, 0);
    set.mmd_kernel = DDSC_KERNEL_GAUSSIAN;
    m->words.n = 1;
    assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
    assert_close(h, alike ? median : near, 1e-10, 0);
    m->words.n = 0;
}

static void test_bandwidth(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    const int64_t dims[] = {1, 3, 5, 40};
    for (int a = 0; a < 4; a++) {
        measures *m = test_random_measures(ctx, 30, 20, dims[a], 4);
        double h;
        set.bandwidth_rule = DDSC_BANDWIDTH_NEAR;
        assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
        assert_close(h, plain_bandwidth(m, 0.05), 1e-10, 0);
        check_auto_bandwidth(ctx, m, dims[a] == 40);
        set.bandwidth_rule = DDSC_BANDWIDTH_MEDIAN;
        assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
        assert_close(h, plain_bandwidth(m, 0.5), 1e-10, 0);
        set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
        set.bandwidth = 0.125;
        assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
        assert_true(h == 0.125);
        ddsc_measures_destroy(m);
    }
    /* The value for a sample of a large set is close to that for the whole set, and depends only on
     * the seed. */
    measures *m = test_random_measures(ctx, 250, 20, 2, 4);
    ddsc_context *other = test_context(3, 0);
    double h, again;
    set.bandwidth_rule = DDSC_BANDWIDTH_AUTO;
    assert_int_equal(mmd_bandwidth(ctx, &h, m, &set), DDSC_OK);
    assert_int_equal(mmd_bandwidth(other, &again, m, &set), DDSC_OK);
    assert_true(h == again);
    assert_close(h, plain_bandwidth(m, 0.05), 0.05, 0);
    ddsc_context_destroy(other);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_all_points_equal(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const double place[6] = {4, 4, 4, 4, 4, 4};
    const int64_t offsets[4] = {0, 1, 2, 3};
    double out[9];
    measures *m = NULL;
    ddsc_metric_settings set;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_MMD;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 3, 2, place, NULL, offsets, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(ddsc_distance_run(ctx, out, &stats, m, &set, 0), DDSC_OK);
    assert_true(stats.bandwidth == 1);
    for (int k = 0; k < 9; k++)
        assert_true(out[k] == 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static mmd_way way_of(ddsc_context *ctx, const measures *m, ddsc_mmd_kernel kind)
{
    mmd_settings set = {.kernel = {kind, 1}, .way = -1};
    mmd *s = NULL;
    assert_int_equal(mmd_open(ctx, &s, m, &set), DDSC_OK);
    mmd_way way = s->way;
    mmd_close(s);
    return way;
}

static void test_choice_of_way(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *own = test_random_measures(ctx, 30, 20, 2, 1);
    assert_int_equal(way_of(ctx, own, DDSC_KERNEL_GAUSSIAN), MMD_CLOUDS);
    double table[400 * 2];
    for (int r = 0; r < 400; r++) {
        table[2 * r] = r / 20;
        table[2 * r + 1] = r % 20;
    }
    measures *images = shared_measures(ctx, 200, 400, 2, table, 150, 1);
    assert_int_equal(way_of(ctx, images, DDSC_KERNEL_GAUSSIAN), MMD_GRID);
    assert_int_equal(way_of(ctx, images, DDSC_KERNEL_ENERGY), MMD_FIELD);
    ddsc_measures_destroy(own);
    ddsc_measures_destroy(images);
    ddsc_context_destroy(ctx);
}

/* The public call on shared supports gives the same bits for 1, 2 and 3 threads. */
static void test_threads_agree(void **state)
{
    (void)state;
    double *table = random_table(300, 12, 0), *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 9);
        measures *m = shared_measures(ctx, 150, 300, 12, table, 20, 2);
        double *d2 = malloc(150 * 150 * sizeof *d2);
        ddsc_metric_settings set;
        ddsc_metric_settings_init(&set);
        set.metric = DDSC_METRIC_MMD;
        assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, &set, DDSC_DISTANCE_SQUARED), DDSC_OK);
        if (first)
            assert_memory_equal(first, d2, 150 * 150 * sizeof *d2);
        else
            first = memcpy(malloc(150 * 150 * sizeof *d2), d2, 150 * 150 * sizeof *d2);
        free(d2);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
    free(first);
    free(table);
}

/* With a memory limit, the field is divided into strips, and the result does not change. */
static void test_memory_limit(void **state)
{
    (void)state;
    enum { N = 700, V = 600 };
    double *table = random_table(V, 5, 0), *d2[2];
    for (int k = 0; k < 2; k++) {
        ddsc_context_settings context_set;
        ddsc_context_settings_init(&context_set);
        context_set.threads = 2;
        context_set.memory_limit = k == 0 ? 0 : 2500000;
        ddsc_context *ctx = NULL, *builder = test_context(1, 0);
        assert_int_equal(ddsc_context_create(&ctx, &context_set), DDSC_OK);
        measures *m = shared_measures(builder, N, V, 5, table, 30, 2);
        ddsc_metric_settings set;
        ddsc_metric_settings_init(&set);
        set.metric = DDSC_METRIC_MMD;
        set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
        set.bandwidth = 1;
        d2[k] = malloc(N * N * sizeof *d2[k]);
        assert_int_equal(ddsc_distance_run(ctx, d2[k], NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(builder);
        ddsc_context_destroy(ctx);
    }
    for (int64_t k = 0; k < N * N; k++)
        assert_close(d2[1][k], d2[0][k], 1e-12, 1e-15);
    free(d2[0]);
    free(d2[1]);
    free(table);
}

typedef struct allocation_case {
    const measures *m;
    ddsc_mmd_kernel kernel;
} allocation_case;

static ddsc_status call_mmd(ddsc_context *ctx, void *arg)
{
    const allocation_case *c = arg;
    double *out = malloc((size_t)(c->m->n * c->m->n) * sizeof *out);
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_MMD;
    set.mmd_kernel = c->kernel;
    ddsc_status status = ddsc_distance_run(ctx, out, NULL, c->m, &set, 0);
    free(out);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double table[36 * 2];
    for (int r = 0; r < 36; r++) {
        table[2 * r] = r / 6;
        table[2 * r + 1] = r % 6;
    }
    measures *m = shared_measures(ctx, 40, 36, 2, table, 30, 1);
    assert_int_equal(way_of(ctx, m, DDSC_KERNEL_GAUSSIAN), MMD_GRID);
    assert_int_equal(way_of(ctx, m, DDSC_KERNEL_LAPLACE), MMD_FIELD);
    for (int kind = DDSC_KERNEL_GAUSSIAN; kind <= DDSC_KERNEL_LAPLACE; kind++) {
        allocation_case c = {m, (ddsc_mmd_kernel)kind};
        assert_true(test_failing_allocations(call_mmd, &c) > 10);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_clouds),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_lonely_and_heavy_items),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_all_points_equal),
        cmocka_unit_test(test_choice_of_way),
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
