/* The map of the graph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/graph/graph.h"
#include "support.h"

enum { N = 60, GROUPS = 3 };

/* Three distant clusters of rows on a line. */
static ddsc_graph *grouped(ddsc_context *ctx, int64_t n)
{
    double rows[2 * N];
    ddsc_graph *g;
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = n > 6 ? 6 : 1;
    rng r = rng_make(7, RNG_GAUSSIANS, 1);
    for (int64_t i = 0; i < n; i++) {
        rows[2 * i] = 100 * (double)(i % GROUPS) + rng_normal(&r);
        rows[2 * i + 1] = rng_normal(&r);
    }
    if (ddsc_graph_create_from_vectors(ctx, &g, n, 2, rows, &set) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return g;
}

static double between(const double *xy, int64_t i, int64_t j)
{
    return hypot(xy[2 * i] - xy[2 * j], xy[2 * i + 1] - xy[2 * j + 1]);
}

/* Without an initial layout, the edges alone bring each cluster together. */
static void test_groups_stay_together(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3);
    ddsc_graph *g = grouped(ctx, N);
    double xy[2 * N];
    assert_int_equal(ddsc_layout_run(ctx, xy, g, NULL), DDSC_OK);
    for (int64_t i = 0; i < N; i++) {
        int64_t nearest = i ? 0 : 1;
        assert_true(isfinite(xy[2 * i]) && isfinite(xy[2 * i + 1]));
        for (int64_t j = 0; j < N; j++)
            if (j != i && between(xy, i, j) < between(xy, i, nearest))
                nearest = j;
        assert_int_equal(nearest % GROUPS, i % GROUPS);
    }
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    double xy[2][2 * N], start[2 * N];
    for (int i = 0; i < 2 * N; i++)
        start[i] = i % 7;
    for (int t = 0; t < 2; t++) {
        ddsc_context *ctx = test_context(t + 1, 11);
        ddsc_graph *g = grouped(ctx, N);
        assert_int_equal(ddsc_layout_run(ctx, xy[t], g, start), DDSC_OK);
        ddsc_graph_destroy(g);
        ddsc_context_destroy(ctx);
    }
    assert_memory_equal(xy[0], xy[1], sizeof xy[0]);
}

/* Equal positions separate, and extreme positions do not spoil the map. */
static void test_odd_starts(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_graph *g = grouped(ctx, N);
    double xy[2 * N], start[2 * N] = {0};
    assert_int_equal(ddsc_layout_run(ctx, xy, g, start), DDSC_OK);
    assert_true(between(xy, 0, 1) > 0);
    start[3] = 1e308;
    start[4] = -1e308;
    assert_int_equal(ddsc_layout_run(ctx, xy, g, start), DDSC_OK);
    for (int i = 0; i < 2 * N; i++)
        assert_true(isfinite(xy[i]));
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_graph *g = grouped(ctx, 2);
    double xy[4];
    assert_int_equal(ddsc_layout_run(NULL, xy, g, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_layout_run(ctx, NULL, g, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_layout_run(ctx, xy, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_layout_run(ctx, xy, g, NULL), DDSC_OK);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

static int stop(void *user)
{
    (void)user;
    return 1;
}

static void test_cancel(void **state)
{
    (void)state;
    ddsc_context_settings set;
    ddsc_context *ctx, *maker = test_context(1, 0);
    ddsc_graph *g = grouped(maker, N);
    double xy[2 * N];
    ddsc_context_settings_init(&set);
    set.cancel = stop;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    assert_int_equal(ddsc_layout_run(ctx, xy, g, NULL), DDSC_ERROR_CANCELED);
    ddsc_context_destroy(ctx);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_stay_together),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_odd_starts),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
