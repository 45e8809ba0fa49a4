/* The public call for one exact transport problem. */
#include "transport.h"

static void test_emd_answers(void **state)
{
    fixture *x = *state;
    problem p = make_problem(12, 17, COST_SIGNED, 3);
    int32_t row[28], column[28];
    double mass[28], f[12], g[17];
    ddsc_transport t;
    p.a[4] = 0;
    double scale = sum_of(p.a, 12) / sum_of(p.b, 17) * (1 + 4e-7);
    for (int j = 0; j < 17; j++)
        p.b[j] *= scale; /* sums that differ by less than 1e-6 are made equal */
    assert_int_equal(ddsc_emd_run(x->ctx, &t, row, column, mass, f, g, 12, 17, p.a, p.b, p.cost),
                     DDSC_OK);
    for (int j = 0; j < 17; j++)
        p.b[j] /= 1 + 4e-7;
    exact_result r = {t.primal, t.dual, t.gap, t.n_iterations, t.n_plan};
    check_plan(&p, &r, row, column, mass);
    check_potentials(&p, &r, f, g);
    assert_true(t.gap <= 1e-12);
    assert_int_equal(
        ddsc_emd_run(x->ctx, &t, NULL, NULL, NULL, NULL, NULL, 12, 17, p.a, p.b, p.cost), DDSC_OK);
    assert_int_equal(
        ddsc_emd_run(x->ctx, NULL, NULL, NULL, NULL, NULL, NULL, 12, 17, p.a, p.b, p.cost),
        DDSC_OK);
    free_problem(&p);
}

static ddsc_status run_emd(fixture *x, const problem *p)
{
    ddsc_transport t;
    return ddsc_emd_run(x->ctx, &t, NULL, NULL, NULL, NULL, NULL, p->n, p->m, p->a, p->b, p->cost);
}

static void test_emd_refuses(void **state)
{
    fixture *x = *state;
    problem p = make_problem(5, 6, COST_PLANE, 3), q = p;
    q.a = NULL;
    assert_int_equal(run_emd(x, &q), DDSC_ERROR_ARGUMENT);
    q = p;
    q.n = 0;
    assert_int_equal(run_emd(x, &q), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_emd_run(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 5, 6, p.a, p.b, p.cost),
                     DDSC_ERROR_ARGUMENT);
    double kept = p.a[2];
    static const double bad[] = {-1e-9, NAN, INFINITY, 0.9};
    for (int k = 0; k < 4; k++) {
        p.a[2] = bad[k];
        assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
        assert_non_null(strstr(ddsc_context_message(x->ctx), "a"));
    }
    p.a[2] = kept;
    p.cost[13] = NAN;
    assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_message(x->ctx), "cost[2][1]"));
    p.cost[13] = 1;
    memset(p.a, 0, 5 * 8);
    assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
    free_problem(&p);
}

static ddsc_status emd_with(ddsc_context *ctx, void *arg)
{
    const problem *p = arg;
    ddsc_transport t;
    return ddsc_emd_run(ctx, &t, NULL, NULL, NULL, NULL, NULL, p->n, p->m, p->a, p->b, p->cost);
}

static void test_emd_memory(void **state)
{
    (void)state;
    problem p = make_problem(40, 50, COST_PLANE, 3);
    assert_true(test_failing_allocations(emd_with, &p) >= 3);
    p.a[0] = 0; /* by way of the reduced problem */
    double scale = sum_of(p.a, 40) / sum_of(p.b, 50);
    for (int j = 0; j < 50; j++)
        p.b[j] *= scale;
    assert_true(test_failing_allocations(emd_with, &p) >= 4);
    free_problem(&p);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, transport_set_up, transport_tear_down)
    const struct CMUnitTest tests[] = {
        T(test_emd_answers),
        T(test_emd_refuses),
        T(test_emd_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
