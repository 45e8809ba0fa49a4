/* Compares the pair engine with plain loops, using a test backend: ties, short lists, invalid
 * values, canceled and failing tiles, strips, samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph_support.h"
#include "neighbors/planner/plan.h"
#include "support.h"

/* ---- a backend whose values are a function of the pair ---- */

typedef enum trouble { NO_TROUBLE, GIVE_NAN, GIVE_INFINITY, FAIL_TILE, MEET_CAP } trouble;

typedef struct fake {
    ddsc_context *ctx;
    int64_t n, side, strip;
    int64_t ready0, ready1; /* prepared columns */
    trouble kind;
    int64_t at_i, at_j; /* position of the error */
} fake;

static ddsc_status fake_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                             ddsc_pair_stats *stats)
{
    fake *f = state;
    ddsc_status status = DDSC_OK;
    assert_true(worker >= 0 && worker < parallel_width(f->ctx));
    assert_true(t->i0 <= t->j0 && t->i1 <= f->n && t->j1 <= f->n);
    assert_true(f->strip == 0 || (t->j0 >= f->ready0 && t->j1 <= f->ready1));
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            bool here = i == f->at_i && j == f->at_j;
            double *value = d2 + (i - t->i0) * ld + (j - t->j0);
            *value = tile_wants(t, i, j) ? tied_value(i, j) : NAN;
            if (here && f->kind == GIVE_NAN)
                *value = NAN;
            if (here && f->kind == GIVE_INFINITY)
                *value = INFINITY;
            if (here && f->kind == FAIL_TILE)
                return ctx_fail(f->ctx, DDSC_ERROR_INPUT, "tile of %lld refused", (long long)i);
            if (here && f->kind == MEET_CAP)
                status = DDSC_NOT_CONVERGED;
        }
    stats->n_iterations++;
    stats->max_gap = BASE_MAX(stats->max_gap, (double)t->i0);
    return status;
}

static void fake_shape(const void *state, pair_shape *shape)
{
    const fake *f = state;
    shape->tile_side = f->side;
    shape->strip = f->strip;
}

static ddsc_status fake_prepare(void *state, int64_t j0, int64_t j1)
{
    fake *f = state;
    if (f->strip > 0)
        assert_int_equal(j0, f->ready1);
    f->ready0 = j0;
    f->ready1 = j1;
    return DDSC_OK;
}

static const pair_backend fake_backend = {.name = "fake",
                                          .tile_side = 5,
                                          .tile = fake_tile,
                                          .shape = fake_shape,
                                          .prepare = fake_prepare};

static ddsc_status fill(ddsc_context *ctx, double *out, ddsc_pair_stats *stats, fake *f,
                        bool condensed, bool squared)
{
    pairs p;
    assert_int_equal(pairs_open(ctx, &p, f->n, &fake_backend, f, NULL), DDSC_OK);
    ddsc_status status = pairs_matrix(&p, out, -1,
                                      (condensed ? DDSC_DISTANCE_CONDENSED : 0u) |
                                          (squared ? DDSC_DISTANCE_SQUARED : 0u));
    assert_int_equal(pairs_finish(&p, f->n * (f->n - 1) / 2, stats), DDSC_OK);
    pairs_close(&p);
    return status;
}

static ddsc_status search(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats, fake *f,
                          const ddsc_graph_settings *set)
{
    pairs p;
    pair_choice choice = {.i_end = f->n, .sample = set->sample};
    assert_int_equal(pairs_open(ctx, &p, f->n, &fake_backend, f, NULL), DDSC_OK);
    ddsc_status status = search_full(&p, graph, plan_tau_for_count(f->n, set), &choice);
    assert_int_equal(pairs_finish(&p, f->n * (f->n - 1) / 2, stats), DDSC_OK);
    pairs_close(&p);
    return status;
}

static fake fake_make(ddsc_context *ctx, int64_t n, int64_t side)
{
    return (fake){.ctx = ctx, .n = n, .side = side, .at_i = -1};
}

/* ---- engine ---- */

static void test_matrix(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const int64_t sizes[] = {0, 1, 2, 3, 17, 64, 65}, sides[] = {1, 4, 64, 100};
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 4; b++) {
            int64_t n = sizes[a];
            fake f = fake_make(ctx, n, sides[b]);
            double *expected = tied_matrix(n);
            double *full = malloc((size_t)(n * n + 1) * sizeof *full);
            double *half = malloc((size_t)(n * n + 1) * sizeof *half);
            ddsc_pair_stats stats = {.struct_size = sizeof stats};
            assert_int_equal(fill(ctx, full, &stats, &f, false, true), 0);
            assert_int_equal(stats.n_pairs, n * (n - 1) / 2);
            assert_int_equal(stats.n_solved, n * (n - 1) / 2);
            assert_memory_equal(full, expected, (size_t)(n * n) * sizeof *full);
            assert_int_equal(fill(ctx, half, &stats, &f, true, false), 0);
            int64_t at = 0, negative = 0;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = i + 1; j < n; j++, at++) {
                    assert_true(half[at] == sqrt(BASE_MAX(0.0, expected[i * n + j])));
                    negative += expected[i * n + j] < 0;
                }
            assert_int_equal(stats.n_clamped, 2 * negative);
            free(expected);
            free(full);
            free(half);
        }
    ddsc_context_destroy(ctx);
}

static void test_neighbors(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const int64_t sizes[] = {0, 1, 2, 3, 17, 65}, taus[] = {0, 1, 4, 16, 1000};
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 5; b++) {
            int64_t n = sizes[a];
            ddsc_graph_settings set = graph_settings(taus[b], 1);
            int64_t tau = plan_tau_for_count(n, &set);
            fake f = fake_make(ctx, n, 6);
            ddsc_graph *graph = NULL;
            ddsc_pair_stats stats = {.struct_size = sizeof stats};
            double *d2 = tied_matrix(n);
            assert_int_equal(search(ctx, &graph, &stats, &f, &set), 0);
            assert_cut(graph, n, tau, d2);
            free(d2);
            ddsc_graph_destroy(graph);
        }
    ddsc_context_destroy(ctx);
}

static void test_strips(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    fake f = fake_make(ctx, 50, 4);
    f.strip = 12;
    double *expected = tied_matrix(50), *full = calloc(2500, sizeof *full);
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(fill(ctx, full, &stats, &f, false, true), 0);
    assert_memory_equal(full, expected, 2500 * sizeof *full);
    assert_int_equal(f.ready1, 50);
    assert_int_equal(stats.n_iterations, 13 * 14 / 2);
    assert_true(stats.max_gap == 48);
    free(expected);
    free(full);
    ddsc_context_destroy(ctx);
}

static void test_threads_agree(void **state)
{
    (void)state;
    enum { N = 90 };
    ddsc_graph *graph[3] = {0};
    ddsc_context *ctx[3];
    for (int k = 0; k < 3; k++) {
        ctx[k] = test_context(k + 1, 5);
        fake f = fake_make(ctx[k], N, 7);
        ddsc_graph_settings set = graph_settings(6, 0.7);
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        assert_int_equal(search(ctx[k], &graph[k], &stats, &f, &set), 0);
        assert_same_graph(graph[k], graph[0]);
    }
    for (int k = 0; k < 3; k++) {
        ddsc_graph_destroy(graph[k]);
        ddsc_context_destroy(ctx[k]);
    }
}

static void test_trouble(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    const struct {
        trouble kind;
        ddsc_status status;
        const char *text;
    } cases[] = {{GIVE_NAN, DDSC_ERROR_INTERNAL, "nan for items 3 and 31"},
                 {GIVE_INFINITY, DDSC_ERROR_INTERNAL, "inf for items 3 and 31"},
                 {FAIL_TILE, DDSC_ERROR_INPUT, "tile of 3 refused"},
                 {MEET_CAP, DDSC_NOT_CONVERGED, ""}};
    for (int k = 0; k < 4; k++) {
        fake f = fake_make(ctx, 40, 4);
        f.kind = cases[k].kind;
        f.at_i = 3;
        f.at_j = 31;
        ddsc_graph_settings set = graph_settings(5, 1);
        ddsc_graph *graph = NULL;
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        ctx_enter(ctx);
        assert_int_equal(search(ctx, &graph, &stats, &f, &set), cases[k].status);
        assert_true((graph != NULL) == (cases[k].status > 0));
        assert_non_null(strstr(ddsc_context_get_message(ctx), cases[k].text));
        ddsc_graph_destroy(graph);
    }
    ddsc_context_destroy(ctx);
}

typedef struct watch {
    int n_calls, stop_after;
    int64_t last_done, last_total;
} watch;

static int stop(void *user)
{
    watch *w = user;
    return ++w->n_calls > w->stop_after;
}

static void see(void *user, const char *stage, int64_t done, int64_t total)
{
    watch *w = user;
    assert_string_equal(stage, "distances");
    assert_true(done >= 0 && done <= total);
    w->last_done = done;
    w->last_total = total;
}

static void test_cancel_and_progress(void **state)
{
    (void)state;
    watch w = {.stop_after = 3};
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 1; /* with two threads, the other one may finish first */
    set.cancel = stop;
    set.cancel_user = &w;
    set.progress = see;
    set.progress_user = &w;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    fake f = fake_make(ctx, 60, 1);
    ddsc_graph_settings graph_set = graph_settings(5, 1);
    ddsc_graph *graph = NULL;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    ctx_enter(ctx);
    assert_int_equal(search(ctx, &graph, &stats, &f, &graph_set), DDSC_ERROR_CANCELED);
    assert_null(graph);
    w.stop_after = 1 << 30;
    ctx_enter(ctx);
    assert_int_equal(search(ctx, &graph, &stats, &f, &graph_set), 0);
    assert_true(w.last_done == 60 * 59 / 2 && w.last_total == 60 * 59 / 2);
    ddsc_graph_destroy(graph);
    ddsc_context_destroy(ctx);
}

/* ---- which pairs ---- */

static void test_choice(void **state)
{
    (void)state;
    enum { N = 23 };
    uint8_t mask[N * N];
    for (int64_t side = 1; side <= 24; side += 5)
        for (int64_t i_end = 0; i_end <= N; i_end += 3)
            for (int64_t j_begin = 0; j_begin <= N; j_begin += 4)
                for (int drawn = 0; drawn < 2; drawn++) {
                    pair_choice c = {.i_end = i_end, .j_begin = j_begin, .sample = drawn ? 0.4 : 1};
                    int64_t asked = 0, in = 0, all = 0;
                    for (int64_t k = 0; k < tile_count(N, side); k++) {
                        pair_tile t = tile_number(N, side, k);
                        int64_t in_tile, n = tile_choose(&c, &t, mask, 3, &in_tile), wanted = 0;
                        for (int64_t i = t.i0; n > 0 && i < t.i1; i++)
                            for (int64_t j = t.j0; j < t.j1; j++) {
                                bool yes = i < j && i < i_end && j >= j_begin;
                                yes = yes && (!drawn || pairs_sampled(3, 0.4, i, j));
                                assert_int_equal(tile_wants(&t, i, j), yes);
                                wanted += yes;
                            }
                        assert_int_equal(wanted, n);
                        asked += n;
                        in += in_tile;
                        all += tile_pairs(&t);
                    }
                    assert_int_equal(in, pairs_chosen(&c, N));
                    assert_int_equal(all, N * (N - 1) / 2);
                    assert_true(drawn ? asked <= in : asked == in);
                }
}

/* ---- sample ---- */

static void test_sampled_fraction(void **state)
{
    (void)state;
    const double p[] = {0.01, 0.1, 0.5, 0.9};
    for (int k = 0; k < 4; k++) {
        int64_t n = 600, count = 0, total = n * (n - 1) / 2;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                bool yes = pairs_sampled(3, p[k], i, j);
                assert_int_equal(yes, pairs_sampled(3, p[k], j, i));
                count += yes;
            }
        double deviation = sqrt((double)total * p[k] * (1 - p[k]));
        assert_true(fabs((double)count - p[k] * (double)total) < 5 * deviation);
    }
    assert_true(pairs_sampled(3, 1.0, 4, 5));
    int64_t both = 0;
    for (int64_t j = 1; j < 2000; j++)
        both += pairs_sampled(1, 0.5, 0, j) && pairs_sampled(2, 0.5, 0, j);
    assert_true(both > 400 && both < 600);
}

static void test_sampled_neighbors(void **state)
{
    (void)state;
    enum { N = 70 };
    ddsc_context *ctx = test_context(2, 11);
    fake f = fake_make(ctx, N, 8);
    ddsc_graph_settings set = graph_settings(9, 0.1);
    ddsc_graph *graph = NULL;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    double *d2 = tied_matrix(N);
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            if (!pairs_sampled(11, 0.1, i, j))
                d2[i * N + j] = NAN;
            else
                count += i < j;
        }
    assert_int_equal(search(ctx, &graph, &stats, &f, &set), 0);
    assert_cut(graph, N, 9, d2);
    assert_int_equal(stats.n_pairs, N * (N - 1) / 2);
    assert_int_equal(stats.n_solved, count);
    ddsc_graph_destroy(graph);
    graph = NULL;
    for (int64_t k = 0; k < N * N; k++)
        d2[k] = isnan(d2[k]) ? NAN : fabs(d2[k]);
    for (int64_t i = 0; i < N; i++)
        d2[i * N + i] = 0;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &graph, N, d2, DDSC_DISTANCE_SQUARED, &set),
                     DDSC_OK);
    assert_cut(graph, N, 9, d2);
    ddsc_graph_destroy(graph);
    free(d2);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_neighbors),
        cmocka_unit_test(test_strips),
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_cancel_and_progress),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_sampled_fraction),
        cmocka_unit_test(test_sampled_neighbors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
