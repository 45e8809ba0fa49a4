/* Barycenters and D2 under ground costs that are not squared distances: non-increasing values from
 * exact transport, known medians and rows, order of the items, threads, memory, rejected input. */
#include <math.h>
#include <string.h>

#include "distance/exact/exact.h"
#include "numeric/linalg/linalg.h"
#include "support.h"

enum { ROWS = 9, N_COSTS = 3 };
static const ddsc_cost costs[N_COSTS] = {DDSC_COST_EUCLIDEAN, DDSC_COST_CITYBLOCK,
                                         DDSC_COST_MATRIX};
static double matrix[ROWS * ROWS];

/* Costs between rows that do not satisfy the triangle inequality. */
static int fill_matrix(void **state)
{
    (void)state;
    rng r = rng_make(3, RNG_GAUSSIANS, 0);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < i; j++)
            matrix[i * ROWS + j] = matrix[j * ROWS + i] = 0.01 + pow(rng_uniform(&r), 3);
    return 0;
}

/* With a cost matrix, points are rows. */
static measures *make_items(ddsc_context *ctx, ddsc_cost cost, int64_t n, int64_t d, uint64_t seed)
{
    measures *m = test_random_measures(ctx, n, 7, cost == DDSC_COST_MATRIX ? 1 : d, seed);
    for (int64_t p = 0; cost == DDSC_COST_MATRIX && p < m->v; p++)
        m->support[p] = (double)((p * 5 + (int64_t)seed) % ROWS);
    return m;
}

static ddsc_barycenter_settings settings(ddsc_cost cost, int64_t size)
{
    ddsc_barycenter_settings set;
    ddsc_barycenter_settings_init(&set);
    set.cost = cost;
    set.cost_matrix = cost == DDSC_COST_MATRIX ? matrix : NULL;
    set.cost_size = cost == DDSC_COST_MATRIX ? ROWS : 0;
    set.support_size = size;
    set.max_rounds = 200;
    return set;
}

static ddsc_d2_settings d2_settings(ddsc_cost cost, int64_t k)
{
    ddsc_d2_settings set;
    ddsc_d2_settings_init(&set);
    set.k = k;
    set.cost = cost;
    set.cost_matrix = matrix;
    set.cost_size = ROWS;
    set.restarts = 2;
    return set;
}

static double last(const double *objective, int64_t n)
{
    for (int64_t t = 1; t < n; t++)
        assert_true(objective[t] <= objective[t - 1]);
    return objective[n - 1];
}

/* Computes the costs of exact transport from center c to each item. */
static void costs_to(ddsc_context *ctx, double *out, const measures *m, ddsc_cost cost, int64_t n,
                     const double *x, const double *w)
{
    ground_cost ground = {cost, matrix, ROWS};
    int64_t offset[] = {0, n};
    measures *center = NULL;
    exact_solver **solver = NULL;
    if (cost != DDSC_COST_MATRIX)
        ground = (ground_cost){.kind = cost};
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &center, 1, m->d, x, w, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(exact_create_team(ctx, &solver, &ground), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++) {
        exact_result found;
        assert_int_equal(exact_solve_items(solver[0], &found, center, 0, m, i, 0), DDSC_OK);
        out[i] = found.primal;
    }
    exact_destroy_team(ctx, solver);
    ddsc_measures_destroy(center);
}

static void test_values(void **state)
{
    (void)state;
    for (int c = 0; c < N_COSTS; c++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            enum { N = 17 };
            ddsc_context *ctx = test_context(2, seed);
            measures *m = make_items(ctx, costs[c], N, 1 + (int64_t)seed, seed);
            ddsc_barycenter_settings set = settings(costs[c], 1 + (int64_t)seed);
            ddsc_barycenter *b = NULL;
            ddsc_barycenter_view v;
            double cost[N], mean = 0;
            assert_true(ddsc_barycenter_run(ctx, &b, m, &set) >= 0);
            ddsc_barycenter_get_view(b, &v);
            costs_to(ctx, cost, m, costs[c], v.n, v.support, v.weights);
            for (int i = 0; i < N; i++)
                mean += cost[i] / N;
            assert_close(last(v.objective, v.n_objective), mean, 1e-9, 1e-12);
            for (int64_t i = 0; costs[c] == DDSC_COST_MATRIX && i < v.n; i++)
                for (int64_t j = 0; j < i; j++)
                    assert_true(v.support[i] != v.support[j]);
            ddsc_barycenter_destroy(b);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
}

/* One center point for single points: at the geometric median, the forces of the points cancel or
 * do not exceed its own weight; medians of coordinates; the best row. */
static void check_median(ddsc_cost cost, const double *x, const double *points, int64_t n,
                         int64_t d)
{
    double pull[2] = {0}, here = 0, own = 0;
    for (int64_t i = 0; i < n; i++) {
        double away = sqrt(la_distance2(d, x, points + i * d));
        here += away > 1e-9 ? 0 : 1;
        own += cost == DDSC_COST_MATRIX ? matrix[(int)*x * ROWS + (int)points[i]] : 0;
        for (int64_t k = 0; away > 1e-9 && k < d; k++)
            pull[k] += (points[i * d + k] - x[k]) / away;
    }
    if (cost == DDSC_COST_EUCLIDEAN)
        assert_true(sqrt(pull[0] * pull[0] + pull[1] * pull[1]) <= here + 1e-3 * (double)n);
    for (int64_t k = 0; cost == DDSC_COST_CITYBLOCK && k < d; k++) {
        int64_t below = 0, above = 0;
        for (int64_t i = 0; i < n; i++) {
            below += points[i * d + k] < x[k];
            above += points[i * d + k] > x[k];
        }
        assert_true(2 * below <= n && 2 * above <= n);
    }
    for (int r = 0; cost == DDSC_COST_MATRIX && r < ROWS; r++) {
        double other = 0;
        for (int64_t i = 0; i < n; i++)
            other += matrix[r * ROWS + (int)points[i]];
        assert_true(own <= other * (1 + 1e-12));
    }
}

static void test_single_points(void **state)
{
    (void)state;
    enum { N = 14 };
    for (int c = 0; c < N_COSTS; c++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            ddsc_context *ctx = test_context(1, seed);
            rng r = rng_make(seed, RNG_GAUSSIANS, 1);
            double points[2 * N];
            int64_t offset[N + 1], d = costs[c] == DDSC_COST_MATRIX ? 1 : 2;
            for (int i = 0; i <= N; i++)
                offset[i] = i;
            for (int k = 0; k < 2 * N; k++) /* half of the sets have most items in one place */
                points[k] = d == 1                               ? (double)rng_below(&r, ROWS)
                            : seed % 2 == 0 && k < (int)seed * 3 ? 0.5
                                                                 : rng_normal(&r);
            measures *m = NULL;
            ddsc_barycenter *b = NULL;
            ddsc_barycenter_view v;
            ddsc_barycenter_settings set = settings(costs[c], 1);
            set.restarts = 8; /* a row is left for a better one only */
            assert_int_equal(
                ddsc_measures_create_clouds(ctx, &m, N, d, points, NULL, offset, DDSC_EMPTY_ERROR),
                DDSC_OK);
            assert_int_equal(ddsc_barycenter_run(ctx, &b, m, &set), DDSC_OK);
            ddsc_barycenter_get_view(b, &v);
            check_median(costs[c], v.support, points, N, d);
            ddsc_barycenter_destroy(b);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
}

/* Two neighboring targets, at one of which the search starts, do not trap a point that the other
 * targets attract. */
static void test_twins(void **state)
{
    (void)state;
    static const double points[] = {0, 0, 1e-9, 0, 1, 0.5, 1, -0.5, 1.2, 0}, beside[] = {1, 0};
    static const int64_t offset[] = {0, 1, 2, 3, 4, 5};
    ddsc_context *ctx = test_context(1, 0);
    measures *m = NULL;
    ddsc_barycenter *b = NULL;
    ddsc_barycenter_view v;
    ddsc_barycenter_settings set = settings(DDSC_COST_EUCLIDEAN, 1);
    double bound = 0;
    for (int i = 0; i < 5; i++)
        bound += sqrt(la_distance2(2, points + 2 * i, beside)) / 5;
    set.restarts = 1;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 5, 2, points, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(ddsc_barycenter_run(ctx, &b, m, &set), DDSC_OK);
    ddsc_barycenter_get_view(b, &v);
    assert_true(v.objective[0] > 1.05 * bound);
    assert_true(last(v.objective, v.n_objective) <= bound);
    ddsc_barycenter_destroy(b);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Items in another order: the same minimum except for the starts, which are drawn by position. With
 * few items, all of them are starts. */
static void test_order_of_items(void **state)
{
    (void)state;
    enum { N = 6 };
    static const int64_t order[N] = {4, 2, 5, 0, 3, 1};
    for (int c = 0; c < N_COSTS; c++) {
        ddsc_context *ctx = test_context(1, 2);
        measures *m = make_items(ctx, costs[c], N, 2, 5), *turned = NULL;
        double found[2];
        assert_int_equal(ddsc_measures_copy_subset(ctx, &turned, m, N, order), DDSC_OK);
        for (int which = 0; which < 2; which++) {
            ddsc_barycenter_settings set = settings(costs[c], 1);
            ddsc_barycenter *b = NULL;
            ddsc_barycenter_view v;
            set.restarts = N;
            assert_true(ddsc_barycenter_run(ctx, &b, which ? turned : m, &set) >= 0);
            ddsc_barycenter_get_view(b, &v);
            found[which] = last(v.objective, v.n_objective);
            ddsc_barycenter_destroy(b);
        }
        assert_close(found[0], found[1], 1e-4, 0);
        ddsc_measures_destroy(turned);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* Only the ratios of item weights matter, and equal weights are the same as no weights. */
static void test_item_weights(void **state)
{
    (void)state;
    enum { N = 9, SIZE = 4 };
    static const double unit[] = {1, 0x1p-1000, 0x1p1000};
    for (int c = 0; c <= N_COSTS; c++)
        for (int equal = 0; equal < 2; equal++) {
            ddsc_cost cost = c < N_COSTS ? costs[c] : DDSC_COST_SQEUCLIDEAN;
            double first[2 * SIZE], weight[N];
            for (int k = 0; k < 3; k++) {
                ddsc_context *ctx = test_context(1, 1);
                measures *m = make_items(ctx, cost, N, 2, 3);
                ddsc_barycenter_settings set = settings(cost, SIZE);
                ddsc_barycenter *b = NULL;
                ddsc_barycenter_view v;
                for (int i = 0; i < N; i++)
                    weight[i] = unit[k] * (equal ? 3 : 1 + i);
                set.item_weights = equal && k == 0 ? NULL : weight;
                assert_true(ddsc_barycenter_run(ctx, &b, m, &set) >= 0);
                ddsc_barycenter_get_view(b, &v);
                assert_true(v.n_objective > 1);
                if (k == 0)
                    memcpy(first, v.support, (size_t)(SIZE * v.dim) * sizeof *first);
                assert_memory_equal(first, v.support, (size_t)(SIZE * v.dim) * sizeof *first);
                ddsc_barycenter_destroy(b);
                ddsc_measures_destroy(m);
                ddsc_context_destroy(ctx);
            }
        }
}

static void test_d2(void **state)
{
    (void)state;
    enum { N = 24, K = 3 };
    for (int c = 0; c < N_COSTS; c++) {
        ddsc_context *ctx = test_context(2, 4);
        measures *m = make_items(ctx, costs[c], N, 2, 8);
        ddsc_d2_settings set = d2_settings(costs[c], K);
        ddsc_d2 *d = NULL;
        ddsc_d2_view v;
        double to[K * N], sum = 0;
        assert_true(ddsc_d2_run(ctx, &d, m, &set) >= 0);
        ddsc_d2_get_view(d, &v);
        for (int64_t k = 0; k < v.k; k++)
            costs_to(ctx, to + k * N, m, costs[c], v.center_size,
                     v.support + k * v.center_size * v.dim, v.weights + k * v.center_size);
        for (int i = 0; i < N; i++) {
            assert_close(v.cost[i], to[v.labels[i] * N + i], 1e-9, 1e-12);
            for (int64_t k = 0; k < v.k; k++)
                assert_true(to[k * N + i] >= v.cost[i] * (1 - 1e-9) - 1e-12);
            sum += v.cost[i];
        }
        assert_close(last(v.objective, v.n_objective), sum, 1e-9, 1e-12);
        ddsc_d2_destroy(d);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

static void test_threads(void **state)
{
    (void)state;
    enum { T = 3, N = 50 };
    for (int c = 0; c < N_COSTS; c++) {
        ddsc_context *ctx[T];
        measures *m[T];
        ddsc_barycenter *b[T];
        ddsc_d2 *d[T];
        ddsc_barycenter_view v[T];
        ddsc_d2_view w[T];
        for (int t = 0; t < T; t++) {
            ddsc_barycenter_settings set = settings(costs[c], 5);
            ddsc_d2_settings d2 = d2_settings(costs[c], 4);
            ctx[t] = test_context(t + 1, 9);
            m[t] = make_items(ctx[t], costs[c], N, 3, 2);
            assert_true(ddsc_barycenter_run(ctx[t], &b[t], m[t], &set) >= 0);
            assert_true(ddsc_d2_run(ctx[t], &d[t], m[t], &d2) >= 0);
            ddsc_barycenter_get_view(b[t], &v[t]);
            ddsc_d2_get_view(d[t], &w[t]);
            size_t size = (size_t)(v[0].n * v[0].dim) * sizeof(double);
            assert_memory_equal(v[0].support, v[t].support, size);
            assert_memory_equal(v[0].weights, v[t].weights, 5 * sizeof(double));
            assert_memory_equal(w[0].cost, w[t].cost, N * sizeof(double));
            assert_memory_equal(w[0].labels, w[t].labels, N * sizeof(int32_t));
        }
        for (int t = 0; t < T; t++) {
            ddsc_barycenter_destroy(b[t]);
            ddsc_d2_destroy(d[t]);
            ddsc_measures_destroy(m[t]);
            ddsc_context_destroy(ctx[t]);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 4, 5, 2, 1);
    for (int which = 0; which < 6; which++) {
        ddsc_barycenter_settings set = settings(DDSC_COST_EUCLIDEAN, 3);
        ddsc_barycenter *b = NULL;
        const char *says = "means";
        ddsc_status wanted = DDSC_ERROR_ARGUMENT;
        switch (which) {
        case 0: set.method = DDSC_BARYCENTER_IBP; break;
        case 1: set.method = DDSC_BARYCENTER_PROJECTED; break;
        case 2: set.cost = DDSC_COST_MATRIX, says = "cost_matrix"; break;
        case 3: set.cost = 9, says = "cost"; break;
        case 4: set.cost = -1, says = "cost"; break;
        default:
            set = settings(DDSC_COST_MATRIX, 3); /* points with two coordinates are not rows */
            says = "single coordinate";
            wanted = DDSC_ERROR_INPUT;
        }
        assert_int_equal(ddsc_barycenter_run(ctx, &b, m, &set), wanted);
        assert_null(b);
        assert_non_null(strstr(ddsc_context_get_message(ctx), says));
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

typedef struct memory_case {
    const measures *m;
    ddsc_cost cost;
} memory_case;

static ddsc_status both_calls(ddsc_context *ctx, void *arg)
{
    const memory_case *c = arg;
    ddsc_barycenter_settings set = settings(c->cost, 3);
    ddsc_d2_settings d2 = d2_settings(c->cost, 2);
    ddsc_barycenter *b = NULL;
    ddsc_d2 *d = NULL;
    set.max_rounds = 30;
    set.tolerance = 1e-3;
    d2.max_iterations = 2;
    ddsc_status status = ddsc_barycenter_run(ctx, &b, c->m, &set);
    assert_true(status >= 0 || !b);
    ddsc_barycenter_destroy(b);
    if (status < 0)
        return status;
    status = ddsc_d2_run(ctx, &d, c->m, &d2);
    assert_true(status >= 0 || !d);
    ddsc_d2_destroy(d);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    for (int c = 0; c < N_COSTS; c++) {
        ddsc_context *ctx = test_context(1, 0);
        measures *m = make_items(ctx, costs[c], 5, 2, 1);
        memory_case arg = {m, costs[c]};
        assert_true(test_failing_allocations(both_calls, &arg) > 20);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_single_points),
        cmocka_unit_test(test_twins),        cmocka_unit_test(test_order_of_items),
        cmocka_unit_test(test_item_weights), cmocka_unit_test(test_d2),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, fill_matrix, NULL);
}
