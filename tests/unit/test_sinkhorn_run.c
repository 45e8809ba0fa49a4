/* The single entropic call: rejected input and failed allocations. */
#include <math.h>

#include "support.h"

enum { MOST = 24 };

typedef struct sample {
    int64_t n, m;
    double a[MOST], b[MOST], cost[MOST * MOST];
} sample;

static sample sample_make(int64_t n, int64_t m)
{
    sample s = {.n = n, .m = m};
    rng r = rng_make(3, RNG_GAUSSIANS, 17);
    for (int64_t i = 0; i < n; i++)
        s.a[i] = 1 / (double)n;
    for (int64_t j = 0; j < m; j++)
        s.b[j] = 1 / (double)m;
    for (int64_t k = 0; k < n * m; k++)
        s.cost[k] = rng_uniform(&r);
    return s;
}

static ddsc_status run_bad(ddsc_context *ctx, const sample *s, double epsilon, double tolerance,
                           int64_t cap, int which)
{
    double value = 42;
    ddsc_status status =
        call_sinkhorn(ctx, &value, NULL, NULL, NULL, NULL, s->n, s->m, s->a, s->b, s->cost, epsilon,
                      (ddsc_sinkhorn_value)which, tolerance, cap);
    assert_true(value == 42);
    assert_true(ddsc_context_get_message(ctx)[0] != '\0');
    return status;
}

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(3, 4);
    assert_int_equal(run_bad(ctx, &s, 0, 1e-9, 10, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, -1, 1e-9, 10, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, NAN, 1e-9, 10, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, INFINITY, 1e-9, 10, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, 1, 0, 10, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 0, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, DDSC_SINKHORN_DEBIASED), DDSC_ERROR_ARGUMENT);
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, 17), DDSC_ERROR_ARGUMENT);
    double kept = s.a[1];
    s.a[1] = -0.1;
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, 0), DDSC_ERROR_INPUT);
    s.a[1] = NAN;
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, 0), DDSC_ERROR_INPUT);
    s.a[1] = kept + 0.01;
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, 0), DDSC_ERROR_INPUT);
    s.a[1] = kept;
    s.cost[5] = NAN;
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, 0), DDSC_ERROR_INPUT);
    s.cost[5] = INFINITY;
    assert_int_equal(run_bad(ctx, &s, 1, 1e-9, 10, 0), DDSC_ERROR_INPUT);
    assert_int_equal(
        call_sinkhorn(NULL, NULL, NULL, NULL, NULL, NULL, 3, 4, s.a, s.b, s.cost, 1, 0, 1e-9, 10),
        DDSC_ERROR_ARGUMENT);
    assert_int_equal(
        call_sinkhorn(ctx, NULL, NULL, NULL, NULL, NULL, 3, 4, NULL, s.b, s.cost, 1, 0, 1e-9, 10),
        DDSC_ERROR_ARGUMENT);
    assert_int_equal(
        call_sinkhorn(ctx, NULL, NULL, NULL, NULL, NULL, 0, 4, s.a, s.b, s.cost, 1, 0, 1e-9, 10),
        DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

static ddsc_status run_once(ddsc_context *ctx, void *arg)
{
    const sample *s = arg;
    double f[MOST];
    ddsc_status status = call_sinkhorn(ctx, NULL, NULL, NULL, f, NULL, s->n, s->m, s->a, s->b,
                                       s->cost, 1e-4, DDSC_SINKHORN_SHARP, 1e-9, 100000);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    sample s = sample_make(20, 23);
    assert_true(test_failing_allocations(run_once, &s) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
