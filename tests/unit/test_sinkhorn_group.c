/* Compares eight problems at a time with one at a time: the same bits for any group. */
#include <math.h>
#include <stdlib.h>

#include "distance/sinkhorn/group.h"
#include "neighbors/metric/metric.h"
#include "numeric/graph/graph.h"
#include "support.h"

enum { G = SINKHORN_GROUP, SIDE = SINKHORN_GROUP_SIDE, CAP = 100000 };

typedef struct problem {
    int64_t n, m;
    double a[SIDE], b[SIDE], cost[SIDE * SIDE];
} problem;

static void draw_weights(rng *r, double *weight, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        weight[k] = 0.01 + rng_uniform(r);
}

/* Creates points in the plane, some of them equal. */
static void draw_problem(rng *r, problem *p, int64_t largest)
{
    double x[2 * SIDE], y[2 * SIDE];
    p->n = 1 + rng_below(r, largest);
    p->m = 1 + rng_below(r, largest);
    draw_weights(r, p->a, p->n);
    draw_weights(r, p->b, p->m);
    for (int k = 0; k < 2 * SIDE; k++) {
        x[k] = rng_normal(r);
        y[k] = rng_below(r, 4) == 0 ? x[k] : rng_normal(r) + 1;
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++) {
            double dx = x[2 * i] - y[2 * j], dy = x[2 * i + 1] - y[2 * j + 1];
            p->cost[i * p->m + j] = dx * dx + dy * dy;
        }
}

static void load_place(sinkhorn_group *group, int place, const problem *p, double *cost, int64_t n,
                       int64_t m)
{
    double a[SIDE], b[SIDE];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            cost[(i * m + j) * G + place] =
                p && i < p->n && j < p->m ? p->cost[i * p->m + j] : (double)INFINITY;
    if (!p)
        return;
    assert_true(sinkhorn_group_scale(a, p->a, p->n));
    assert_true(sinkhorn_group_scale(b, p->b, p->m));
    sinkhorn_group_put(group, place, p->n, a, p->m, b);
}

/* at[place] is NULL for an empty place. */
static void solve_together(sinkhorn_group *group, const problem *const *at,
                           const sinkhorn_rule *rule, sinkhorn_result *found, bool *solved)
{
    int64_t n = 1, m = 1;
    for (int place = 0; place < G; place++) {
        n = at[place] && at[place]->n > n ? at[place]->n : n;
        m = at[place] && at[place]->m > m ? at[place]->m : m;
    }
    double *cost = sinkhorn_group_begin(group, n, m);
    for (int place = 0; place < G; place++)
        load_place(group, place, at[place], cost, n, m);
    sinkhorn_group_solve(group, found, solved, rule);
}

static void assert_same(const sinkhorn_result *x, const sinkhorn_result *y, bool sharp)
{
    assert_true(x->regularized == y->regularized);
    assert_true(!sharp || x->sharp == y->sharp);
    assert_true(x->marginal_error == y->marginal_error);
    assert_int_equal(x->iterations, y->iterations);
}

static int check_round(ddsc_context *ctx, rng *r, int64_t largest, double epsilon, bool sharp)
{
    static problem p[G];
    const problem *at[G];
    sinkhorn_rule rule = {epsilon, 1e-9, 100000, sharp};
    sinkhorn_group *group = NULL;
    sinkhorn_solver *solver = NULL;
    sinkhorn_result found[G], again[G], single;
    bool solved[G], solved_again[G];
    int count = 0;
    assert_int_equal(sinkhorn_group_create(ctx, &group), DDSC_OK);
    assert_int_equal(sinkhorn_create(ctx, &solver), DDSC_OK);
    for (int place = 0; place < G; place++) {
        draw_problem(r, &p[place], largest);
        at[place] = rng_below(r, 10) == 0 ? NULL : &p[place];
    }
    solve_together(group, at, &rule, found, solved);
    for (int place = 0; place < G; place++) {
        assert_true(at[place] || !solved[place]);
        if (!solved[place])
            continue;
        const problem *q = &p[place], *alone[G] = {NULL};
        sinkhorn_problem one = {q->n, q->m, q->a, q->b, q->cost, q->m, rule};
        assert_int_equal(sinkhorn_solve(solver, &single, &one), DDSC_OK);
        assert_same(&found[place], &single, sharp);
        assert_true(single.marginal_error <= 1e-9);
        alone[(place + 3) % G] = q;
        solve_together(group, alone, &rule, again, solved_again);
        assert_true(solved_again[(place + 3) % G]);
        assert_same(&again[(place + 3) % G], &single, sharp);
        count++;
    }
    sinkhorn_destroy(solver);
    sinkhorn_group_destroy(ctx, group);
    return count;
}

static void test_same_bits(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    rng r = rng_make(11, RNG_GAUSSIANS, 1);
    static const int64_t largest[] = {1, 2, 5, 8, 9, 16, 17, 32};
    for (double epsilon = 1e-12; epsilon < 1e13; epsilon *= 10) {
        int count = 0;
        for (int round = 0; round < 16; round++)
            count += check_round(ctx, &r, largest[round % 8], epsilon, round % 2 == 1);
        /* if plain iterations converge, group solves most pairs; otherwise, none */
        if (epsilon > 0.5 && epsilon < 20)
            assert_true(count > 60);
        if (epsilon < 1e-6 || epsilon > 1e6)
            assert_int_equal(count, 0);
    }
    ddsc_context_destroy(ctx);
}

/* group does not handle zero or extreme costs, or zero weights. */
static void test_given_back(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sinkhorn_group *group = NULL;
    static problem p[G];
    const problem *at[G];
    sinkhorn_result found[G];
    bool solved[G];
    double out[2], tiny[2] = {1, 1e-31};
    rng r = rng_make(12, RNG_GAUSSIANS, 1);
    static const double factor[G] = {0, 1e-150, 1e150, 1, 1e-300, 1, 1e300, 1};
    assert_int_equal(sinkhorn_group_create(ctx, &group), DDSC_OK);
    for (int place = 0; place < G; place++) {
        do
            draw_problem(&r, &p[place], 9);
        while (p[place].n < 3 || p[place].m < 3);
        for (int64_t k = 0; k < p[place].n * p[place].m; k++)
            p[place].cost[k] *= factor[place];
        at[place] = &p[place];
    }
    solve_together(group, at, &(sinkhorn_rule){2, 1e-9, 100000, true}, found, solved);
    for (int place = 0; place < G; place++)
        assert_true(solved[place] == (factor[place] == 1));
    solve_together(group, at, &(sinkhorn_rule){2, 1e-9, 2, true}, found, solved);
    for (int place = 0; place < G; place++) { /* the iteration limit */
        assert_true(solved[place] == (factor[place] == 1));
        assert_true(!solved[place] || found[place].marginal_error > 1e-9);
    }
    assert_false(sinkhorn_group_scale(out, tiny, 2));
    sinkhorn_group_destroy(ctx, group);
    ddsc_context_destroy(ctx);
}

/* ---- over pairs ---- */

/* Compares every entry of the matrix, computed by tiles, with a tile of one pair, which has no
 * group. */
static void check_set(ddsc_context *ctx, const measures *m, ddsc_sinkhorn_value value,
                      double percent, int64_t cap)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_SINKHORN;
    set.sinkhorn_value = value;
    set.epsilon = percent;
    set.sinkhorn_max_iterations = cap;
    double *matrix = calloc((size_t)(m->n * m->n), sizeof *matrix);
    assert_non_null(matrix);
    ddsc_pair_stats all = {.struct_size = sizeof all}, open = {0};
    ddsc_status status = ddsc_distance_run(ctx, matrix, &all, m, &set, DDSC_DISTANCE_SQUARED);
    assert_int_equal(status, cap < CAP ? DDSC_NOT_CONVERGED : DDSC_OK);
    metric_resolved resolved;
    assert_int_equal(metric_resolve(ctx, &resolved, m, &set), DDSC_OK);
    assert_int_equal(metric_settle(ctx, &resolved, m, NULL), DDSC_OK);
    pair_job job = {.ctx = ctx,
                    .m = metric_measures(&resolved, m),
                    .set = &resolved.set,
                    .frame = resolved.frame,
                    .n_workers = parallel_width(ctx)};
    void *state = NULL;
    assert_int_equal(metric_sinkhorn.open(&state, &job, &open), DDSC_OK);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++) {
            pair_tile t = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
            double d2 = NAN;
            assert_true(metric_sinkhorn.tile(state, &t, &d2, 1, 0, &open) >= 0);
            assert_true(d2 == matrix[i * m->n + j]);
        }
    assert_int_equal(open.n_iterations, all.n_iterations);
    assert_int_equal(open.n_not_converged, all.n_not_converged);
    assert_true(open.max_gap == all.max_gap);
    metric_sinkhorn.close(state);
    metric_resolved_free(&resolved);
    free(matrix);
}

/* Creates items of both kinds, some equal, some with shared points, in few and in many dimensions.
 * */
static measures *mixed_measures(ddsc_context *ctx, int64_t n, int64_t d, int64_t v, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 7);
    double *support = calloc((size_t)(v * d), sizeof *support);
    double *weight = calloc((size_t)(n * v), sizeof *weight);
    int64_t *offset = calloc((size_t)n + 1, sizeof *offset);
    int32_t *index = calloc((size_t)(n * v), sizeof *index);
    measures *m = NULL;
    for (int64_t k = 0; k < v * d; k++)
        support[k] = 3 + rng_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        int64_t size = i % 13 == 5 ? 40 : 1 + rng_below(&r, 17), at = offset[i];
        for (int64_t k = 0; k < v && at - offset[i] < size; k++)
            if (rng_below(&r, v - k) < size - (at - offset[i])) {
                index[at] = (int32_t)k;
                weight[at++] = rng_below(&r, 50) == 0 ? 1e-33 : 0.1 + rng_uniform(&r);
            }
        if (i > 0 && i % 11 == 0) {
            int64_t from = offset[i - 1], count = offset[i] - from;
            for (int64_t k = 0; k < count; k++) {
                index[offset[i] + k] = index[from + k];
                weight[offset[i] + k] = weight[from + k];
            }
            at = offset[i] + count;
        }
        offset[i + 1] = at;
    }
    assert_int_equal(
        make_shared(ctx, &m, n, v, d, support, offset, index, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    free(support);
    free(weight);
    free(offset);
    free(index);
    return m;
}

static void test_tiles(void **state)
{
    (void)state;
    static const int64_t dim[] = {1, 3, 16, 40}, words[] = {60, 3000};
    for (int threads = 1; threads <= 3; threads += 2)
        for (int k = 0; k < 4; k++)
            for (int w = 0; w < 2; w++) {
                ddsc_context *ctx = test_context(threads, 3);
                measures *m = mixed_measures(ctx, 37, dim[k], words[w], (uint64_t)(20 + k));
                for (int value = 0; value < 3; value++)
                    check_set(ctx, m, (ddsc_sinkhorn_value)value, 20, CAP);
                check_set(ctx, m, DDSC_SINKHORN_REGULARIZED, 0.2, CAP);
                check_set(ctx, m, DDSC_SINKHORN_SHARP, 1e5, CAP);
                check_set(ctx, m, DDSC_SINKHORN_SHARP, 20, 3);
                ddsc_measures_destroy(m);
                ddsc_context_destroy(ctx);
            }
}

/* A sample leaves groups incomplete; its values are those of the whole matrix. */
static void test_sample(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3);
    measures *m = mixed_measures(ctx, 50, 30, 3000, 9);
    ddsc_metric_settings set;
    ddsc_graph_settings part;
    ddsc_metric_settings_init(&set);
    ddsc_graph_settings_init(&part);
    set.metric = DDSC_METRIC_SINKHORN;
    part.tau = 5;
    part.sample = 0.3;
    static double matrix[50 * 50];
    ddsc_graph *graph = NULL;
    assert_int_equal(ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, NULL, m, &set, &part), DDSC_OK);
    assert_true(graph->offset[50] > 200);
    for (int64_t i = 0; i < 50; i++)
        for (int64_t k = graph->offset[i]; k < graph->offset[i + 1]; k++)
            assert_true(graph->d2[k] == matrix[i * 50 + graph->index[k]]);
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* With one large item, the tiles of the other items still have complete groups, and its values are
 * the same. */
static void test_one_large(void **state)
{
    (void)state;
    enum { N = 300, SIZE = 9, LARGE = 5000, D = 20 };
    int64_t offset[N + 1] = {0};
    double *points = calloc(D * (LARGE + N * SIZE), sizeof *points);
    rng r = rng_make(6, RNG_GAUSSIANS, 7);
    for (int64_t i = 0; i < N; i++)
        offset[i + 1] = offset[i] + (i == 3 ? LARGE : SIZE);
    for (int64_t k = 0; k < D * offset[N]; k++)
        points[k] = rng_normal(&r);
    ddsc_context *ctx = test_context(1, 3);
    measures *m = NULL;
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_SINKHORN;
    set.epsilon = 50;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, N, D, points, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    metric_resolved resolved;
    assert_int_equal(metric_resolve(ctx, &resolved, m, &set), DDSC_OK);
    assert_int_equal(metric_settle(ctx, &resolved, m, NULL), DDSC_OK);
    pair_job job = {.ctx = ctx,
                    .m = metric_measures(&resolved, m),
                    .set = &resolved.set,
                    .frame = resolved.frame,
                    .n_workers = parallel_width(ctx)};
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    pair_shape shape = {0};
    void *backend = NULL;
    assert_int_equal(metric_sinkhorn.open(&backend, &job, &stats), DDSC_OK);
    metric_sinkhorn.shape(backend, &shape);
    assert_true(shape.tile_side >= G);
    double tile[6 * 6];
    pair_tile whole = {.i0 = 0, .i1 = 6, .j0 = 0, .j1 = 6};
    assert_int_equal(metric_sinkhorn.tile(backend, &whole, tile, 6, 0, &stats), DDSC_OK);
    for (int64_t i = 0; i < 6; i++)
        for (int64_t j = i + 1; j < 6; j++) {
            pair_tile one = {.i0 = i, .i1 = i + 1, .j0 = j, .j1 = j + 1};
            double alone = NAN;
            assert_int_equal(metric_sinkhorn.tile(backend, &one, &alone, 1, 0, &stats), DDSC_OK);
            assert_true(alone == tile[i * 6 + j]);
        }
    metric_sinkhorn.close(backend);
    metric_resolved_free(&resolved);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
    free(points);
}

static ddsc_status make_group(ddsc_context *ctx, void *arg)
{
    (void)arg;
    sinkhorn_group *group = NULL;
    ddsc_status status = sinkhorn_group_create(ctx, &group);
    assert_true((status == DDSC_OK) == (group != NULL));
    sinkhorn_group_destroy(ctx, group);
    return status;
}

static ddsc_status matrix_once(ddsc_context *ctx, void *arg)
{
    double matrix[18 * 18];
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_SINKHORN;
    return ddsc_distance_run(ctx, matrix, NULL, arg, &set, DDSC_DISTANCE_SQUARED);
}

static void test_memory(void **state)
{
    (void)state;
    assert_int_equal(test_failing_allocations(make_group, NULL), 1);
    static const int64_t words[] = {60, 3000};
    for (int w = 0; w < 2; w++) {
        ddsc_context *ctx = test_context(1, 3);
        measures *m = mixed_measures(ctx, 18, 30, words[w], 4);
        assert_true(test_failing_allocations(matrix_once, m) > 10);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_tiles),     cmocka_unit_test(test_sample),
        cmocka_unit_test(test_one_large), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
