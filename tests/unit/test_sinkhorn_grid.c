/* Compares entropic transport on grids with the dense solver, its lower bounds with the values, and
 * the pruned graph with the full graph for each of the three values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distance/bound/minorant.h"
#include "distance/bound/tuning.h"
#include "distance/cost/cost.h"
#include "distance/sinkhorn/grid.h"
#include "distance/sinkhorn/tuning.h"
#include "graph_support.h"
#include "sinkhorn_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { REAL_IMAGES = 40, GRAPH_IMAGES = 280 };
#else
enum { REAL_IMAGES = 120, GRAPH_IMAGES = 600 };
#endif

/* Creates images of h x w cells with unequal steps: blobs, a single cell, a row, a column, the
 * whole grid, an item with weights of very different size, and a copy. */
static ddsc_status images_make(ddsc_context *ctx, measures **m, int64_t n, int64_t h, int64_t w,
                               uint64_t seed)
{
    double *support = test_zeros(2 * h * w), *weight = test_zeros(n * h * w);
    int64_t *offset = calloc((size_t)n + 1, sizeof *offset);
    int32_t *index = calloc((size_t)(n * h * w), sizeof *index);
    rng r = rng_make(seed, RNG_GAUSSIANS, 9);
    int64_t at = 0;
    assert_true(offset && index);
    for (int64_t k = 0; k < h * w; k++) {
        support[2 * k] = 3 + 0.5 * (double)(k / w);
        support[2 * k + 1] = -7 + 0.75 * (double)(k % w);
    }
    for (int64_t i = 0; i < n; i++) {
        double y = (double)h * rng_uniform(&r), x = (double)w * rng_uniform(&r);
        double wide = 2 + 0.3 * (double)h * rng_uniform(&r);
        for (int64_t k = 0; k < h * w; k++) {
            double dy = (double)(k / w) - y, dx = (double)(k % w) - x, draw = rng_uniform(&r);
            bool in = dy * dy + dx * dx < wide * wide;
            double mass = 0.1 + draw;
            if (i == 1)
                in = k == h * w / 2;
            else if (i == 2)
                in = k / w == 1;
            else if (i == 3)
                in = k % w == w - 2;
            else if (i == 4)
                in = true;
            else if (i == 5)
                mass = exp(-60 * draw);
            in |= k == (int64_t)(BASE_MIN(y, (double)h - 1)) * w && i > 5;
            index[at] = (int32_t)k;
            weight[at] = mass;
            at += in;
        }
        if (i == n - 1 && n > 6) { /* the copy */
            at = offset[i];
            for (int64_t k = offset[6]; k < offset[7]; k++, at++) {
                index[at] = index[k];
                weight[at] = weight[k];
            }
        }
        offset[i + 1] = at;
    }
    ddsc_status status =
        make_shared(ctx, m, n, h * w, 2, support, offset, index, weight, DDSC_EMPTY_ERROR);
    free(support);
    free(weight);
    free(offset);
    free(index);
    return status;
}

static measures *images(ddsc_context *ctx, int64_t n, int64_t h, int64_t w, uint64_t seed)
{
    measures *m = NULL;
    assert_int_equal(images_make(ctx, &m, n, h, w, seed), DDSC_OK);
    assert_true(m->grid.found);
    return m;
}

/* ---- values ---- */

static sinkhorn_rule rule_of(double epsilon)
{
    return (sinkhorn_rule){
        .epsilon = epsilon, .tolerance = 1e-11, .max_iterations = 100000, .sharp = true};
}

static sinkhorn_problem problem_of(const measures *m, int64_t i, int64_t j, double *cost,
                                   double epsilon)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    cost_items(m, i, m, j, cost);
    return (sinkhorn_problem){.n = x.n,
                              .m = y.n,
                              .a = x.weight,
                              .b = y.weight,
                              .cost = cost,
                              .cost_stride = y.n,
                              .rule = rule_of(epsilon)};
}

/* Returns the number of pairs solved on the grid, after comparing each with the dense solver. */
static int64_t check_values(const measures *m, double epsilon)
{
    ddsc_context *ctx = m->ctx;
    int64_t largest = measures_largest_item(m), n_solved = 0;
    double *cost = test_zeros(largest * largest);
    sinkhorn_grid *grid = NULL;
    sinkhorn_rule rule = rule_of(epsilon);
    sinkhorn_solver *solver = NULL;
    assert_int_equal(sinkhorn_grid_create(ctx, &grid, m, &rule, m->grid.step), DDSC_OK);
    assert_int_equal(sinkhorn_create(ctx, &solver), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i; j < m->n; j++) {
            sinkhorn_problem problem = problem_of(m, i, j, cost, epsilon);
            sinkhorn_result found, dense;
            if (!sinkhorn_grid_solve(grid, &found, i, j, 0))
                continue;
            n_solved++;
            assert_true(sinkhorn_solve(solver, &dense, &problem) >= 0);
            assert_close(found.regularized, dense.regularized, 1e-9, 1e-10 * epsilon);
            assert_close(found.sharp, dense.sharp, 1e-7, 1e-8 * epsilon);
            assert_true(found.marginal_error <= rule.tolerance && found.iterations > 0);
        }
    sinkhorn_grid_destroy(grid);
    sinkhorn_destroy(solver);
    free(cost);
    return n_solved;
}

static void test_values(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *small = images(ctx, 9, 6, 9, 1), *large = images(ctx, 8, 21, 35, 2);
    for (double epsilon = 0.03; epsilon < 1e3; epsilon *= 5) {
        assert_true(check_values(small, epsilon) >= (epsilon > 0.1 ? 40 : 15));
        assert_true(check_values(large, 4 * epsilon) >= (epsilon > 0.5 ? 36 : 10));
    }
    ddsc_measures_destroy(small);
    ddsc_measures_destroy(large);
    ddsc_context_destroy(ctx);
}

/* The whole metric at epsilons from far below to far above the costs, with any engine. */
static void test_matrix(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = images(ctx, 10, 12, 11, 3);
    int64_t n = m->n, largest = measures_largest_item(m);
    double *matrix = test_zeros(n * n), *cost = test_zeros(largest * largest);
    sinkhorn_solver *solver = NULL;
    assert_int_equal(sinkhorn_create(ctx, &solver), DDSC_OK);
    for (double percent = 0.01; percent < 1e10; percent *= 100) {
        ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_REGULARIZED, percent);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        assert_int_equal(ddsc_distance_run(ctx, matrix, &stats, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                sinkhorn_problem problem = problem_of(m, i, j, cost, stats.epsilon);
                sinkhorn_result dense;
                assert_true(sinkhorn_solve(solver, &dense, &problem) >= 0);
                assert_close(matrix[i * n + j], dense.regularized, 1e-8, 1e-8 * stats.epsilon);
            }
    }
    sinkhorn_destroy(solver);
    free(matrix);
    free(cost);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The dense solver handles points that deviate from the grid by more than rounding, and sparse
 * items. */
static void test_applies(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = images(ctx, 8, 15, 15, 4);
    assert_true(sinkhorn_grid_applies(m, 1));
    assert_false(sinkhorn_grid_applies(m, 1e-9));
    assert_false(sinkhorn_grid_applies(m, 1e9));
    m->support[2 * 17] += 1e-11;
    assert_false(sinkhorn_grid_applies(m, 1));
    ddsc_measures_destroy(m);
    double corner[] = {0, 0, 40, 40, 0, 40, 40, 0, 1, 1, 39, 39, 1, 39, 39, 1};
    int64_t offset[] = {0, 4, 8};
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, 2, 2, corner, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_false(sinkhorn_grid_applies(m, 100));
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- bounds ---- */

static void check_bounds(const measures *m, double epsilon, double least, double dense_least)
{
    ddsc_context *ctx = m->ctx;
    int64_t largest = measures_largest_item(m);
    double *cost = test_zeros(largest * largest), share = 0, dense_share = 0;
    sinkhorn_grid *grid = NULL;
    sinkhorn_rule rule = rule_of(epsilon);
    sinkhorn_solver *solver = NULL;
    assert_int_equal(sinkhorn_grid_create(ctx, &grid, m, &rule, m->grid.step), DDSC_OK);
    assert_int_equal(sinkhorn_create(ctx, &solver), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j < m->n; j++) {
            sinkhorn_problem problem = problem_of(m, i, j, cost, epsilon);
            sinkhorn_result exact;
            assert_true(sinkhorn_solve(solver, &exact, &problem) >= 0);
            double top = exact.regularized * (1 + 1e-10), bound = 0;
            for (int evaluations = 1; evaluations <= SINKHORN_GRID_EVALUATIONS; evaluations += 4) {
                bound = sinkhorn_grid_bound(grid, i, j, INFINITY, evaluations, 0);
                assert_true(bound <= top);
                assert_true(sinkhorn_grid_bound(grid, i, j, 0.5 * top, evaluations, 0) <= top);
            }
            if (exact.regularized == 0)
                continue;
            share += bound / exact.regularized / (double)(m->n * m->n);
            bound = sinkhorn_bound(solver, &problem, INFINITY);
            assert_true(bound <= top);
            dense_share += fmax(bound, 0) / exact.regularized / (double)(m->n * m->n);
        }
    assert_true(share > least && dense_share >= dense_least);
    sinkhorn_grid_destroy(grid);
    sinkhorn_destroy(solver);
    free(cost);
}

static void test_bounds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = images(ctx, 12, 14, 18, 5);
    check_bounds(m, 0.02, 0.2, 0); /* far from converged, and still below */
    check_bounds(m, 0.5, 0.95, 0.5);
    check_bounds(m, 5, 0.95, 0.7);
    check_bounds(m, 500, 0.95, 0.7);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- minorants ---- */

/* Compares some entries of a tile with the values. Returns the mean share of the values. In a
 * diagonal tile, entries below the diagonal are not used. */
static double check_minorant_tile(const bound_minorant *b, double epsilon, const int64_t at[4])
{
    const measures *m = b->m;
    int64_t ld = at[3] - at[2] + 3, largest = measures_largest_item(m), n = 0;
    float *low = calloc((size_t)((at[1] - at[0]) * ld), sizeof *low);
    double *cost = test_zeros(largest * largest), share = 0;
    sinkhorn_solver *solver = NULL;
    assert_non_null(low);
    assert_int_equal(sinkhorn_create(m->ctx, &solver), DDSC_OK);
    bound_minorant_tile(b, at[0], at[1], at[2], at[3], low, ld, 0);
    for (int64_t i = at[0]; i < at[1]; i++)
        for (int64_t j = at[2] == at[0] ? i + 1 : at[2]; j < at[3]; j++) {
            if ((i * 131 + j * 17) % 23 != 0)
                continue;
            sinkhorn_problem problem = problem_of(m, b->order[i], b->order[j], cost, epsilon);
            sinkhorn_result exact;
            assert_true(sinkhorn_solve(solver, &exact, &problem) >= 0);
            double bound = b->unit * (double)low[(i - at[0]) * ld + j - at[2]];
            assert_true(bound <= exact.regularized * (1 + 1e-10));
            if (exact.regularized > 0)
                share += fmax(bound, 0) / exact.regularized;
            n++;
        }
    sinkhorn_destroy(solver);
    free(low);
    free(cost);
    return share / (double)BASE_MAX(1, n);
}

/* A tile of a block with itself, a tile of two blocks, and, with separate old items, a tile with
 * few rows. */
static void check_minorants(const measures *m, double epsilon, double least)
{
    enum { SIDE = BOUND_MINORANT_SIDE };
    sinkhorn_grid *grid = NULL;
    sinkhorn_rule rule = rule_of(epsilon);
    assert_true(m->n > SIDE + 8);
    assert_int_equal(sinkhorn_grid_create(m->ctx, &grid, m, &rule, m->grid.step), DDSC_OK);
    for (int64_t n_old = 0; n_old < m->n; n_old += m->n - 20) {
        bound_minorant b;
        int64_t tile[3][4] = {
            {0, SIDE, 0, SIDE}, {0, SIDE, SIDE, m->n}, {m->n - 8, m->n, 0, BASE_MIN(SIDE, n_old)}};
        uint8_t *seen = calloc((size_t)m->n, 1);
        assert_int_equal(
            bound_minorant_make(m->ctx, &b, m, sinkhorn_grid_get_items(grid), epsilon, 64, n_old),
            DDSC_OK);
        for (int64_t k = 0; k < m->n; k++)
            seen[b.order[k]]++;
        for (int64_t k = 0; k < m->n; k++) {
            assert_int_equal(seen[k], 1);
            assert_int_equal(b.order[k] < n_old, k < n_old);
        }
        for (int k = n_old == 0 ? 0 : 2; k < (n_old == 0 ? 2 : 3); k++)
            assert_true(check_minorant_tile(&b, epsilon, tile[k]) > least);
        free(seen);
        bound_minorant_free(m->ctx, &b);
    }
    sinkhorn_grid_destroy(grid);
}

static void test_minorants(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = images(ctx, BOUND_MINORANT_SIDE + 44, 9, 7, 15);
    check_minorants(m, 1e-3, 0.02); /* exponents reach their limit */
    check_minorants(m, 0.05, 0.3);
    check_minorants(m, 0.5, 0.6);
    check_minorants(m, 5, 0.8);
    check_minorants(m, 1e3, 0.8);
    check_minorants(m, 1e6, 0.8);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- the pruned graph ---- */

/* The same edges and bits for each value, and the same number of solves with one and two threads.
 * */
static int64_t check_graph(ddsc_context *ctx, const measures *m, ddsc_metric_settings set,
                           int64_t tau)
{
    ddsc_pair_stats stats = {.struct_size = sizeof stats}, second = stats;
    ddsc_context *other = test_context(1, 0);
    ddsc_graph *full = graph_found(ctx, m, &set, DDSC_GRAPH_FULL, tau, &stats);
    ddsc_graph *pruned = graph_found(ctx, m, &set, DDSC_GRAPH_PRUNED, tau, &stats);
    ddsc_graph *single = graph_found(other, m, &set, DDSC_GRAPH_PRUNED, tau, &second);
    assert_same_graph(full, pruned);
    assert_same_graph(full, single);
    assert_int_equal(stats.n_solved, second.n_solved);
    assert_int_equal(stats.n_pairs, m->n * (m->n - 1) / 2);
    assert_int_equal(stats.n_pruned, stats.n_pairs - stats.n_solved);
    ddsc_graph_destroy(full);
    ddsc_graph_destroy(pruned);
    ddsc_graph_destroy(single);
    ddsc_context_destroy(other);
    return stats.n_solved;
}

static void check_graphs(ddsc_context *ctx, const measures *m, double percent)
{
    for (int value = 0; value < 3; value++) {
        ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)value, percent);
        check_graph(ctx, m, set, 4);
        set.sinkhorn_tolerance = 1e-4; /* values have larger errors, so bounds are lowered by more
                                        * */
        check_graph(ctx, m, set, 4);
    }
}

static void test_graph_images(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = images(ctx, 40, 10, 12, 6);
    check_graphs(ctx, m, 0.2);
    check_graphs(ctx, m, 5);
    check_graphs(ctx, m, 100);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* More items than one block of minorants. */
static void test_graph_blocks(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = images(ctx, GRAPH_IMAGES, 6, 5, 16);
    for (int value = 0; value < 3; value++) {
        int64_t solved = check_graph(ctx, m, sinkhorn_settings((ddsc_sinkhorn_value)value, 10), 4);
        if (value != DDSC_SINKHORN_SHARP)
            assert_true(solved < m->n * (m->n - 1) / 4);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_graph_clouds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    static const int64_t dim[] = {1, 2, 5, 30}, size[] = {5, 60, 20, 16};
    for (int k = 0; k < 4; k++) {
        measures *m = test_random_measures(ctx, 50, size[k], dim[k], (uint64_t)k);
        check_graphs(ctx, m, 5);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

static void test_graph_real(void **state)
{
    (void)state;
    char path[1024];
    if (!test_data_dir())
        skip();
    snprintf(path, sizeof path, "%s/mnist/t10k-images-idx3-ubyte.gz", test_data_dir());
    ddsc_context *ctx = test_context(2, 0);
    measures *all = NULL, *m = NULL;
    int64_t rows[REAL_IMAGES];
    for (int64_t i = 0; i < REAL_IMAGES; i++)
        rows[i] = 3 * i;
    assert_int_equal(ddsc_measures_read(ctx, &all, path, NULL), DDSC_OK);
    assert_int_equal(ddsc_measures_copy_subset(ctx, &m, all, REAL_IMAGES, rows), DDSC_OK);
    for (int value = 0; value < 3; value++) {
        ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)value, 5);
        set.epsilon_is_percent = 0;
        set.sinkhorn_tolerance = 1e-6;
        int64_t solved = check_graph(ctx, m, set, 5);
        if (value != DDSC_SINKHORN_SHARP)
            assert_true(solved < m->n * (m->n - 1) / 4);
    }
    ddsc_measures_destroy(all);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- iteration limits, memory, threads ---- */

static void test_cap(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = images(ctx, 8, 9, 9, 7);
    ddsc_metric_settings set = sinkhorn_settings(DDSC_SINKHORN_SHARP, 1);
    set.sinkhorn_max_iterations = 1;
    check_cap(ctx, m, &set);
}

static ddsc_status images_once(ddsc_context *ctx, void *arg)
{
    ddsc_metric_settings set = sinkhorn_settings(*(const ddsc_sinkhorn_value *)arg, 5);
    ddsc_graph_settings search;
    ddsc_graph *graph = NULL;
    measures *m = NULL;
    ddsc_graph_settings_init(&search);
    search.tau = 2;
    search.exact_graph = DDSC_GRAPH_PRUNED;
    ddsc_status status = images_make(ctx, &m, 12, 7, 8, 8);
    if (status >= 0)
        status = ddsc_neighbors_run(ctx, &graph, NULL, m, &set, &search);
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    for (int value = 0; value < 3; value++) {
        ddsc_sinkhorn_value which = (ddsc_sinkhorn_value)value;
        assert_true(test_failing_allocations(images_once, &which) > 20);
    }
}

static void test_threads(void **state)
{
    (void)state;
    double matrix[2][40 * 40];
    for (int value = 0; value < 3; value++) {
        for (int threads = 1; threads <= 2; threads++) {
            ddsc_context *ctx = test_context(threads, 0);
            measures *m = images(ctx, 40, 11, 9, 10);
            ddsc_metric_settings set = sinkhorn_settings((ddsc_sinkhorn_value)value, 3);
            assert_int_equal(ddsc_distance_run(ctx, matrix[threads - 1], NULL, m, &set, 0),
                             DDSC_OK);
            ddsc_measures_destroy(m);
            ddsc_context_destroy(ctx);
        }
        assert_memory_equal(matrix[0], matrix[1], sizeof matrix[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_applies),      cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_graph_images), cmocka_unit_test(test_graph_clouds),
        cmocka_unit_test(test_graph_real),   cmocka_unit_test(test_cap),
        cmocka_unit_test(test_minorants),    cmocka_unit_test(test_graph_blocks),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
