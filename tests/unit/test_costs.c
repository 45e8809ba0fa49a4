/* Ground costs: certified values, lower bounds, pruned graphs that equal full graphs, rejected
 * input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distance/bound/first.h"
#include "distance/exact/exact.h"
#include "numeric/graph/graph.h"
#include "support.h"

enum { ROWS = 9 }; /* of the cost matrix */

static const ddsc_cost all_kinds[] = {DDSC_COST_SQEUCLIDEAN, DDSC_COST_EUCLIDEAN,
                                      DDSC_COST_CITYBLOCK, DDSC_COST_MATRIX};

/* Not a metric: the triangle inequality need not hold. */
static void fill_matrix(double *cost, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 5);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j <= i; j++)
            cost[i * ROWS + j] = cost[j * ROWS + i] = i == j ? 0 : rng_uniform(&r);
}

/* Creates histograms over the rows of the matrix; some items are equal. */
static measures *histograms(ddsc_context *ctx, int64_t n, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 6);
    double support[ROWS], *weight = calloc((size_t)(n * ROWS), sizeof *weight);
    measures *m = NULL;
    for (int64_t p = 0; p < ROWS; p++)
        support[p] = (double)((p + 4) % ROWS); /* in no order */
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < ROWS; p++)
            weight[i * ROWS + p] = i % 7 == 6             ? weight[(i - 1) * ROWS + p]
                                   : rng_uniform(&r) < .6 ? rng_uniform(&r)
                                                          : (double)(p == i % ROWS);
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, n, ROWS, 1, support, weight, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(weight);
    return m;
}

static double cost_between(const ground_cost *g, const measures *m, int32_t p, int32_t q)
{
    const double *x = measures_point(m, p), *y = measures_point(m, q);
    double square = 0, sum = 0;
    for (int64_t k = 0; k < m->d; k++) {
        square += (x[k] - y[k]) * (x[k] - y[k]);
        sum += fabs(x[k] - y[k]);
    }
    switch (g->kind) {
    case DDSC_COST_EUCLIDEAN: return sqrt(square);
    case DDSC_COST_CITYBLOCK: return sum;
    case DDSC_COST_MATRIX: return g->matrix[(int64_t)*x * g->size + (int64_t)*y];
    default: return square;
    }
}

/* ---- values ---- */

/* Feasible potentials with a dual value as large as the primal value prove optimality. */
static void check_certificate(const exact_solver *s, const exact_result *found,
                              const ground_cost *g, const measures *m, int64_t i, int64_t j)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    const double *f = exact_f(s), *h = exact_g(s), *mass;
    const int32_t *row, *column;
    double dual = 0, primal = 0, largest = 0;
    for (int64_t p = 0; p < x.n; p++)
        for (int64_t q = 0; q < y.n; q++) {
            double cost = cost_between(g, m, x.index[p], y.index[q]);
            largest = fmax(largest, cost);
            assert_true(f[p] + h[q] <= cost + 1e-12 * largest);
        }
    for (int64_t p = 0; p < x.n; p++)
        dual += x.weight[p] * f[p];
    for (int64_t q = 0; q < y.n; q++)
        dual += y.weight[q] * h[q];
    exact_plan(s, &row, &column, &mass);
    for (int64_t k = 0; k < found->n_plan; k++)
        primal += mass[k] * cost_between(g, m, x.index[row[k]], y.index[column[k]]);
    assert_close(found->primal, primal, 1e-11, 1e-13 * largest);
    assert_close(dual, primal, 1e-11, 1e-12 * largest);
    assert_true(found->gap <= 1e-10);
}

static void check_values(ddsc_context *ctx, const measures *m, const ground_cost *g)
{
    exact_solver **team = NULL;
    exact_result found;
    assert_int_equal(exact_create_team(ctx, &team, g), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++) {
            assert_int_equal(exact_solve_items(team[0], &found, m, i, m, j, 0), DDSC_OK);
            if (!measures_equal_items(m, i, j))
                check_certificate(team[0], &found, g, m, i, j);
            else
                assert_true(found.primal == 0);
        }
    exact_destroy_team(ctx, team);
}

static void test_certificates(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const int64_t dims[] = {1, 2, 3, 5, 20, 40}, sizes[] = {30, 60, 12, 30, 14, 40};
    double matrix[ROWS * ROWS];
    fill_matrix(matrix, 3);
    for (int c = 0; c < 6; c++)
        for (int k = 0; k < 3; k++) {
            measures *m = test_random_measures(ctx, 9, sizes[c], dims[c], (uint64_t)c);
            ground_cost g = {.kind = all_kinds[k]};
            check_values(ctx, m, &g);
            ddsc_measures_destroy(m);
        }
    measures *m = histograms(ctx, 21, 4);
    check_values(ctx, m, &(ground_cost){DDSC_COST_MATRIX, matrix, ROWS});
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Items too large for a stored matrix and for rows of int32. */
static void test_large_items(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int k = 1; k < 3; k++) {
        enum { N = 2, POINTS = 900, D = 2 };
        double *x = malloc(sizeof *x * N * POINTS * D);
        int64_t offset[] = {0, POINTS, 2 * POINTS};
        measures *m = NULL;
        rng r = rng_make(9, RNG_GAUSSIANS, 1);
        for (int64_t p = 0; p < (int64_t)N * POINTS * D; p++)
            x[p] = rng_normal(&r);
        assert_int_equal(
            ddsc_measures_create_clouds(ctx, &m, N, D, x, NULL, offset, DDSC_EMPTY_ERROR), DDSC_OK);
        check_values(ctx, m, &(ground_cost){.kind = all_kinds[k]});
        ddsc_measures_destroy(m);
        free(x);
    }
    ddsc_context_destroy(ctx);
}

/* On a line, W1 is the area between the distribution functions. */
static double line_distance(const measures *m, int64_t i, int64_t j)
{
    item_view item[2] = {measures_item(m, i), measures_item(m, j)};
    int64_t n = item[0].n + item[1].n;
    double area = 0, *place = malloc((size_t)n * sizeof *place),
           *step = malloc((size_t)n * sizeof *step);
    int32_t *order = malloc((size_t)n * sizeof *order);
    for (int64_t k = 0; k < n; k++) {
        int side = k >= item[0].n;
        int64_t p = side ? k - item[0].n : k;
        place[k] = *measures_point(m, item[side].index[p]);
        step[k] = side ? -item[1].weight[p] : item[0].weight[p];
    }
    sort_order(order, place, n);
    double height = 0;
    for (int64_t k = 0; k + 1 < n; k++) {
        height += step[order[k]];
        area += fabs(height) * (place[order[k + 1]] - place[order[k]]);
    }
    free(place);
    free(step);
    free(order);
    return area;
}

static ddsc_metric_settings with_cost(ddsc_metric metric, ddsc_cost cost)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    set.cost = cost;
    return set;
}

static void test_line(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    enum { N = 20 };
    measures *m = test_random_measures(ctx, N, 40, 1, 8);
    double d[N * N];
    for (int k = 0; k < 2; k++) {
        ddsc_metric_settings set =
            with_cost(DDSC_METRIC_W1, k ? DDSC_COST_CITYBLOCK : DDSC_COST_DEFAULT);
        assert_int_equal(ddsc_distance_run(ctx, d, NULL, m, &set, 0), DDSC_OK);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++)
                assert_close(d[i * N + j], line_distance(m, i, j), 1e-12, 1e-14);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* W1 <= W2 by Jensen; |x| <= |x|_1 <= sqrt(d) |x|; the triangle inequality. */
static void test_inequalities(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    enum { N = 16, D = 3 };
    measures *m = test_random_measures(ctx, N, 20, D, 2);
    double w1[N * N], w2[N * N], city[N * N];
    ddsc_metric_settings set = with_cost(DDSC_METRIC_W1, DDSC_COST_EUCLIDEAN);
    assert_int_equal(ddsc_distance_run(ctx, w1, NULL, m, &set, 0), DDSC_OK);
    set.cost = DDSC_COST_CITYBLOCK;
    assert_int_equal(ddsc_distance_run(ctx, city, NULL, m, &set, 0), DDSC_OK);
    assert_int_equal(ddsc_distance_run(ctx, w2, NULL, m, NULL, 0), DDSC_OK);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double one = w1[i * N + j];
            assert_true(one <= w2[i * N + j] * (1 + 1e-12));
            assert_true(one <= city[i * N + j] * (1 + 1e-12));
            assert_true(city[i * N + j] <= sqrt(D) * one * (1 + 1e-12));
            for (int64_t k = 0; k < N; k++)
                assert_true(one <= w1[i * N + k] + w1[k * N + j] + 1e-12);
        }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- bounds ---- */

static double value_of(exact_solver *solver, const measures *m, int64_t i, int64_t j)
{
    exact_result found;
    assert_int_equal(exact_solve_items(solver, &found, m, i, m, j, 0), DDSC_OK);
    return found.primal;
}

static double relaxed_of(const bound_relaxed *b, void *scratch, int64_t i, int64_t j)
{
    float low;
    bound_relaxed_tile(b, i, i + 1, j, j + 1, &low, 1, scratch);
    return b->unit * (double)low;
}

static void check_bounds(ddsc_context *ctx, const measures *m, const ground_cost *g)
{
    exact_solver **team = NULL;
    bound_relaxed relaxed;
    bound_marginal marginal = {0};
    bool marginals = g->kind == DDSC_COST_EUCLIDEAN || g->kind == DDSC_COST_CITYBLOCK;
    double sum[3] = {0, 0, 0};
    assert_int_equal(exact_create_team(ctx, &team, g), DDSC_OK);
    assert_int_equal(bound_relaxed_make(ctx, &relaxed, m, g, 0, 1), DDSC_OK);
    if (marginals)
        assert_int_equal(bound_marginal_make(ctx, &marginal, m, g->kind == DDSC_COST_CITYBLOCK),
                         DDSC_OK);
    void *scratch = malloc((size_t)bound_relaxed_scratch(&relaxed));
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++) {
            double value = value_of(team[0], m, i, j), low = relaxed_of(&relaxed, scratch, i, j);
            float other = 0;
            if (marginals)
                bound_marginal_tile(&marginal, i, i + 1, j, j + 1, &other, 1);
            if (low > value || marginal.unit * (double)other > value)
                fail_msg("cost %d, items %lld and %lld: bounds %.17g and %.17g of %.17g",
                         (int)g->kind, (long long)i, (long long)j, low,
                         marginal.unit * (double)other, value);
            sum[0] += value;
            sum[1] += low;
            sum[2] += marginal.unit * (double)other;
        }
    assert_true(sum[1] > 0.3 * sum[0]);
    assert_true(!marginals || sum[2] > 0.3 * sum[0]);
    free(scratch);
    bound_marginal_free(ctx, &marginal);
    bound_relaxed_free(ctx, &relaxed);
    exact_destroy_team(ctx, team);
}

static void test_bounds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const int64_t dims[] = {1, 2, 3, 9, 20, 33};
    double matrix[ROWS * ROWS];
    fill_matrix(matrix, 3);
    for (int c = 0; c < 6; c++)
        for (int k = 1; k < 3; k++) {
            measures *m = test_random_measures(ctx, 25, c % 2 ? 40 : 17, dims[c], (uint64_t)c);
            check_bounds(ctx, m, &(ground_cost){.kind = all_kinds[k]});
            ddsc_measures_destroy(m);
        }
    measures *m = histograms(ctx, 40, 4);
    check_bounds(ctx, m, &(ground_cost){DDSC_COST_MATRIX, matrix, ROWS});
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- graphs ---- */

static void check_graphs(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set)
{
    for (int hubs = DDSC_HUBS_OFF; hubs <= DDSC_HUBS_ALWAYS; hubs += 2) {
        ddsc_graph *g[2] = {NULL, NULL};
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        for (int way = 0; way < 2; way++) {
            ddsc_graph_settings graph;
            ddsc_graph_settings_init(&graph);
            graph.tau = 4;
            graph.hubs = hubs;
            graph.exact_graph = way ? DDSC_GRAPH_PRUNED : DDSC_GRAPH_FULL;
            assert_int_equal(ddsc_neighbors_run(ctx, &g[way], &stats, m, set, &graph), DDSC_OK);
        }
        size_t n = (size_t)g[0]->offset[m->n];
        assert_memory_equal(g[0]->index, g[1]->index, n * sizeof *g[0]->index);
        assert_memory_equal(g[0]->d2, g[1]->d2, n * sizeof *g[0]->d2);
        assert_true(stats.n_pruned + stats.n_solved >= stats.n_pairs);
        ddsc_graph_destroy(g[0]);
        ddsc_graph_destroy(g[1]);
    }
}

static void test_pruned(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const int64_t dims[] = {1, 2, 4, 20}, sizes[] = {12, 25, 80, 12};
    double matrix[ROWS * ROWS];
    fill_matrix(matrix, 11);
    for (int c = 0; c < 4; c++) {
        measures *m = test_random_measures(ctx, c == 2 ? 25 : 70, sizes[c], dims[c], (uint64_t)c);
        ddsc_metric_settings set = with_cost(DDSC_METRIC_W1, DDSC_COST_EUCLIDEAN);
        check_graphs(ctx, m, &set);
        set.cost = DDSC_COST_CITYBLOCK;
        check_graphs(ctx, m, &set);
        set = with_cost(DDSC_METRIC_W2, DDSC_COST_COSINE);
        check_graphs(ctx, m, &set);
        for (int value = 0; value < 3; value++) {
            set = with_cost(DDSC_METRIC_SINKHORN,
                            value == 1 ? DDSC_COST_CITYBLOCK : DDSC_COST_EUCLIDEAN);
            set.sinkhorn_value = (ddsc_sinkhorn_value)value;
            check_graphs(ctx, m, &set);
        }
        ddsc_measures_destroy(m);
    }
    measures *m = histograms(ctx, 90, 4);
    for (int k = 0; k < 3; k++) {
        ddsc_metric metric = k == 0   ? DDSC_METRIC_W1
                             : k == 1 ? DDSC_METRIC_W2
                                      : DDSC_METRIC_SINKHORN;
        ddsc_metric_settings set = with_cost(metric, DDSC_COST_MATRIX);
        set.cost_matrix = matrix;
        set.cost_size = ROWS;
        check_graphs(ctx, m, &set);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Candidates by mean costs: most neighbors are found and have their true distance. */
static void test_approximate(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    enum { N = 200, TAU = 5 };
    double matrix[ROWS * ROWS];
    measures *m = histograms(ctx, N, 4);
    ddsc_metric_settings set = with_cost(DDSC_METRIC_W1, DDSC_COST_MATRIX);
    ddsc_graph *g[2] = {NULL, NULL};
    int64_t same = 0;
    fill_matrix(matrix, 11);
    set.cost_matrix = matrix;
    set.cost_size = ROWS;
    for (int way = 0; way < 2; way++) {
        ddsc_graph_settings graph;
        ddsc_graph_settings_init(&graph);
        graph.tau = TAU;
        graph.neighbors = way ? DDSC_NEIGHBORS_APPROXIMATE : DDSC_NEIGHBORS_EXACT;
        assert_int_equal(ddsc_neighbors_run(ctx, &g[way], NULL, m, &set, &graph), DDSC_OK);
    }
    for (int64_t p = 0; p < N * TAU; p++)
        for (int64_t q = p / TAU * TAU; q < (p / TAU + 1) * TAU; q++)
            if (g[0]->index[p] == g[1]->index[q]) {
                assert_true(g[0]->d2[p] == g[1]->d2[q]);
                same++;
            }
    assert_true(same > N * TAU * 2 / 3);
    ddsc_graph_destroy(g[0]);
    ddsc_graph_destroy(g[1]);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- cosine, sinkhorn ---- */

/* Only directions matter, and the cost is 2 - 2 cos. */
static void test_cosine(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const double x[] = {3, 0, 0, 1e-200, -1e140, 0}, zero[] = {0, 0, 1, 1};
    const int64_t offset[] = {0, 1, 2, 3};
    measures *m = NULL, *bad = NULL;
    double d2[9];
    ddsc_metric_settings set = with_cost(DDSC_METRIC_W2, DDSC_COST_COSINE);
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, 3, 2, x, NULL, offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, &set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_close(d2[1], 2, 1e-14, 0);
    assert_close(d2[2], 4, 1e-14, 0);
    assert_close(d2[5], 2, 1e-14, 0);
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &bad, 2, 2, zero, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(ddsc_distance_run(ctx, d2, NULL, bad, &set, 0), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "no direction"));
    ddsc_measures_destroy(bad);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* As epsilon decreases, the sharp value decreases to that of exact transport. */
static void test_small_epsilon(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    enum { N = 8 };
    const ddsc_cost costs[] = {DDSC_COST_EUCLIDEAN, DDSC_COST_CITYBLOCK};
    measures *m = test_random_measures(ctx, N, 12, 3, 2);
    for (int k = 0; k < 2; k++) {
        double exact[N * N], last[N * N];
        ddsc_metric_settings set = with_cost(DDSC_METRIC_W1, costs[k]);
        assert_int_equal(ddsc_distance_run(ctx, exact, NULL, m, &set, 0), DDSC_OK);
        set.metric = DDSC_METRIC_SINKHORN;
        set.sinkhorn_value = DDSC_SINKHORN_SHARP;
        for (int64_t p = 0; p < N * N; p++)
            last[p] = INFINITY;
        for (double percent = 10; percent > 0.2; percent /= 3) {
            double now[N * N];
            set.epsilon = percent;
            assert_int_equal(ddsc_distance_run(ctx, now, NULL, m, &set, 0), DDSC_OK);
            for (int64_t p = 0; p < N * N; p++) {
                assert_true(now[p] >= exact[p] * (1 - 1e-8) && now[p] <= last[p] * (1 + 1e-8));
                last[p] = now[p];
            }
        }
        for (int64_t p = 0; p < N * N; p++)
            assert_close(last[p], exact[p], 0.01, 1e-9);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- rejected input ---- */

static void assert_refused(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                           const char *words)
{
    double *d = malloc((size_t)(m->n * m->n) * sizeof *d);
    assert_true(ddsc_distance_run(ctx, d, NULL, m, set, 0) < 0);
    if (!strstr(ddsc_context_get_message(ctx), words))
        fail_msg("\"%s\" says nothing of \"%s\"", ddsc_context_get_message(ctx), words);
    free(d);
}

static void test_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 5, 5, 2, 2), *rows = histograms(ctx, 5, 1);
    static const struct {
        ddsc_metric metric;
        ddsc_cost cost;
        const char *words;
    } pairs[] = {{DDSC_METRIC_W2, DDSC_COST_EUCLIDEAN, "metric w1"},
                 {DDSC_METRIC_W2, DDSC_COST_CITYBLOCK, "metric w1"},
                 {DDSC_METRIC_W1, DDSC_COST_SQEUCLIDEAN, "metric w2"},
                 {DDSC_METRIC_W1, DDSC_COST_COSINE, "metric w2"},
                 {DDSC_METRIC_MMD, DDSC_COST_EUCLIDEAN, "kernel"},
                 {DDSC_METRIC_LOT, DDSC_COST_CITYBLOCK, "requires squared Euclidean costs"},
                 {DDSC_METRIC_W1, (ddsc_cost)6, "cost = 6"},
                 {DDSC_METRIC_W1, DDSC_COST_MATRIX, "set both"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        ddsc_metric_settings set = with_cost(pairs[k].metric, pairs[k].cost);
        assert_refused(ctx, m, &set, pairs[k].words);
    }
    double matrix[ROWS * ROWS];
    ddsc_metric_settings set = with_cost(DDSC_METRIC_W1, DDSC_COST_MATRIX);
    set.cost_matrix = matrix;
    set.cost_size = ROWS;
    fill_matrix(matrix, 1);
    assert_refused(ctx, m, &set, "2 coordinates");
    set.cost_size = ROWS - 1;
    matrix[ROWS - 1] = matrix[(ROWS - 1) * ROWS] = 0;
    memset(matrix, 0, sizeof matrix);
    assert_refused(ctx, rows, &set, "a point has the coordinate 8");
    set.cost_size = ROWS;
    static const struct {
        int64_t at;
        double cost;
        const char *words;
    } wrong[] = {{1, 1, "must be symmetric"},
                 {ROWS + 1, 1e-9, "diagonal"},
                 {2, -1, "from 0 to 1e150"},
                 {2, NAN, "from 0 to 1e150"},
                 {2, INFINITY, "from 0 to 1e150"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        fill_matrix(matrix, 1);
        matrix[wrong[k].at] = wrong[k].cost;
        assert_refused(ctx, rows, &set, wrong[k].words);
    }
    ddsc_measures_destroy(rows);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- models, memory ---- */

static void assign_by(ddsc_context *ctx, const ddsc_model *model, const measures *data,
                      int32_t *labels, double *distance)
{
    ddsc_assignment out = {.struct_size = sizeof out, .labels = labels, .distance = distance};
    assert_int_equal(ddsc_assign_run(ctx, &out, NULL, model, data, NULL), DDSC_OK);
}

/* A model stores its costs, in memory after the caller's matrix is freed, and in a file. */
static void test_model(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    static const ddsc_metric metrics[] = {DDSC_METRIC_W1, DDSC_METRIC_W2, DDSC_METRIC_SINKHORN,
                                          DDSC_METRIC_W1};
    static const ddsc_cost costs[] = {DDSC_COST_CITYBLOCK, DDSC_COST_COSINE, DDSC_COST_EUCLIDEAN,
                                      DDSC_COST_MATRIX};
    for (int k = 0; k < 4; k++) {
        measures *m = k == 3 ? histograms(ctx, 40, 2) : test_random_measures(ctx, 40, 8, 3, 2);
        double matrix[ROWS * ROWS], near[2][40];
        int32_t label[2][40];
        char path[] = "/tmp/ddsc_costs_XXXXXX";
        ddsc_metric_settings metric = with_cost(metrics[k], costs[k]);
        ddsc_cluster_settings set;
        ddsc_clustering *c = NULL;
        ddsc_model *model = NULL, *read = NULL;
        fill_matrix(matrix, 1);
        metric.cost_matrix = costs[k] == DDSC_COST_MATRIX ? matrix : NULL;
        metric.cost_size = costs[k] == DDSC_COST_MATRIX ? ROWS : 0;
        ddsc_cluster_settings_init(&set);
        set.metric = &metric;
        set.k_min = set.k_max = 3;
        assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_OK);
        assert_int_equal(ddsc_model_create(ctx, &model, m, c, &set), DDSC_OK);
        memset(matrix, 0, sizeof matrix);
        close(mkstemp(path));
        assert_int_equal(ddsc_model_write(ctx, model, path, DDSC_WRITE_OVERWRITE), DDSC_OK);
        assert_int_equal(ddsc_model_read(ctx, &read, path), DDSC_OK);
        assign_by(ctx, model, m, label[0], near[0]);
        assign_by(ctx, read, m, label[1], near[1]);
        assert_memory_equal(label[0], label[1], sizeof label[0]);
        assert_memory_equal(near[0], near[1], sizeof near[0]);
        remove(path);
        ddsc_model_destroy(read);
        ddsc_model_destroy(model);
        ddsc_clustering_destroy(c);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

typedef struct graph_call {
    ddsc_metric metric;
    ddsc_cost cost;
} graph_call;

static ddsc_status call_graph(ddsc_context *ctx, void *arg)
{
    const graph_call *call = arg;
    ddsc_context *other = test_context(1, 0);
    measures *m = call->cost == DDSC_COST_MATRIX ? histograms(other, 12, 2)
                                                 : test_random_measures(other, 12, 8, 3, 2);
    double matrix[ROWS * ROWS];
    ddsc_metric_settings set = with_cost(call->metric, call->cost);
    ddsc_graph_settings graph;
    ddsc_graph *g = NULL;
    fill_matrix(matrix, 1);
    set.cost_matrix = matrix;
    set.cost_size = ROWS;
    ddsc_graph_settings_init(&graph);
    graph.exact_graph = DDSC_GRAPH_PRUNED;
    graph.hubs = DDSC_HUBS_ALWAYS;
    ddsc_status status = ddsc_neighbors_run(ctx, &g, NULL, m, &set, &graph);
    ddsc_graph_destroy(g);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    graph_call calls[] = {{DDSC_METRIC_W1, DDSC_COST_EUCLIDEAN},
                          {DDSC_METRIC_W2, DDSC_COST_COSINE},
                          {DDSC_METRIC_W1, DDSC_COST_MATRIX},
                          {DDSC_METRIC_SINKHORN, DDSC_COST_CITYBLOCK}};
    for (int k = 0; k < 4; k++)
        assert_true(test_failing_allocations(call_graph, &calls[k]) > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certificates),  cmocka_unit_test(test_large_items),
        cmocka_unit_test(test_line),          cmocka_unit_test(test_inequalities),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_pruned),
        cmocka_unit_test(test_approximate),   cmocka_unit_test(test_cosine),
        cmocka_unit_test(test_small_epsilon), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_model),         cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
