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
        p.b[j] *= scale; /* sums that differ by less than 1e-6 are equalized */
    assert_int_equal(call_emd(x->ctx, &t, row, column, mass, f, g, 12, 17, p.a, p.b, p.cost),
                     DDSC_OK);
    for (int j = 0; j < 17; j++)
        p.b[j] /= 1 + 4e-7;
    exact_result r = {t.primal, t.dual, t.gap, t.n_iterations, t.n_plan, 0, 0};
    check_plan(&p, &r, row, column, mass);
    check_potentials(&p, &r, f, g);
    assert_true(t.gap <= 1e-12);
    assert_int_equal(call_emd(x->ctx, &t, NULL, NULL, NULL, NULL, NULL, 12, 17, p.a, p.b, p.cost),
                     DDSC_OK);
    assert_int_equal(call_emd(x->ctx, NULL, NULL, NULL, NULL, NULL, NULL, 12, 17, p.a, p.b, p.cost),
                     DDSC_OK);
    free_problem(&p);
}

static ddsc_status run_emd(fixture *x, const problem *p)
{
    ddsc_transport t;
    return call_emd(x->ctx, &t, NULL, NULL, NULL, NULL, NULL, p->n, p->m, p->a, p->b, p->cost);
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
    assert_int_equal(call_emd(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 5, 6, p.a, p.b, p.cost),
                     DDSC_ERROR_ARGUMENT);
    double kept = p.a[2];
    static const double bad[] = {-1e-9, NAN, INFINITY, 0.9};
    for (int k = 0; k < 4; k++) {
        p.a[2] = bad[k];
        assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
        assert_non_null(strstr(ddsc_context_get_message(x->ctx), "a"));
    }
    p.a[2] = kept;
    p.cost[13] = NAN;
    assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(x->ctx), "cost[2][1]"));
    p.cost[13] = 1;
    memset(p.a, 0, 5 * 8);
    assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
    free_problem(&p);
}

/* Weights of any size, down to the smallest representable numbers. */
static void test_emd_tiny_weights(void **state)
{
    fixture *x = *state;
    static const double size[] = {1e-307, 1e-300, 1e-20, 1e20, 1e300};
    for (int k = 0; k < 5; k++) {
        problem p = make_problem(9, 14, COST_PLANE, 3);
        ddsc_transport before, after;
        assert_int_equal(
            call_emd(x->ctx, &before, NULL, NULL, NULL, NULL, NULL, 9, 14, p.a, p.b, p.cost),
            DDSC_OK);
        for (int i = 0; i < 9; i++)
            p.a[i] *= size[k];
        for (int j = 0; j < 14; j++)
            p.b[j] *= size[k];
        assert_int_equal(
            call_emd(x->ctx, &after, NULL, NULL, NULL, NULL, NULL, 9, 14, p.a, p.b, p.cost),
            DDSC_OK);
        assert_close(after.primal / size[k], before.primal, 1e-11, 0);
        free_problem(&p);
    }
    double huge[] = {1e300}, cost[] = {1e300};
    assert_int_equal(call_emd(x->ctx, NULL, NULL, NULL, NULL, NULL, NULL, 1, 1, huge, huge, cost),
                     DDSC_ERROR_INPUT);
}

enum hostile { COSTS_APART, COSTS_HUGE, COSTS_TINY, WEIGHTS_APART, N_HOSTILE };

static problem make_hostile(enum hostile kind, uint64_t seed)
{
    rng r = rng_make(seed, RNG_SHAPES, (uint64_t)kind);
    problem p = make_problem(1 + rng_below(&r, 20), 1 + rng_below(&r, 20), COST_PLANE, seed);
    for (int64_t k = 0; k < p.n * p.m; k++) {
        double u = rng_uniform(&r);
        p.cost[k] = kind == COSTS_APART  ? pow(10, 600 * u - 300)
                    : kind == COSTS_HUGE ? 1.7e308 * (2 * u - 1)
                    : kind == COSTS_TINY ? 1e-310 * u
                                         : p.cost[k];
    }
    if (kind == WEIGHTS_APART) {
        for (int64_t i = 0; i < p.n; i++)
            p.a[i] *= i == p.n / 2 ? 1 : 1e-19;
        for (int64_t j = 0; j < p.m; j++)
            p.b[j] *= j == p.m / 2 ? 1 : 1e-19;
        double scale = sum_of(p.a, p.n) / sum_of(p.b, p.m);
        for (int64_t j = 0; j < p.m; j++)
            p.b[j] *= scale;
    }
    return p;
}

/* Potentials are feasible on all arcs, and the plan and the potentials alone prove every result
 * that is marked optimal. */
static void test_emd_hostile(void **state)
{
    fixture *x = *state;
    int n_optimal[N_HOSTILE] = {0};
    for (int c = 0; c < 200 * N_HOSTILE; c++) {
        problem p = make_hostile((enum hostile)(c % N_HOSTILE), (uint64_t)c);
        int32_t row[40], column[40];
        double mass[40], f[20], g[20];
        ddsc_transport t;
        ddsc_status status =
            call_emd(x->ctx, &t, row, column, mass, f, g, p.n, p.m, p.a, p.b, p.cost);
        assert_true(status >= 0 || (status == DDSC_ERROR_INPUT && c % N_HOSTILE == COSTS_HUGE));
        long double primal = 0, dual = 0, size = 0;
        for (int64_t k = 0; k < p.n * p.m && status >= 0; k++)
            assert_true(f[k / p.m] + g[k % p.m] <= p.cost[k]);
        for (int64_t k = 0; status >= 0 && k < t.n_plan; k++)
            primal += (long double)mass[k] * p.cost[row[k] * p.m + column[k]];
        for (int64_t k = 0; status >= 0 && k < p.n + p.m; k++) {
            long double term =
                k < p.n ? (long double)p.a[k] * f[k] : (long double)p.b[k - p.n] * g[k - p.n];
            dual += term;
            size += fabsl(term);
        }
        if (status == DDSC_OK && size > 1e-300L) {
            assert_true(fabsl(primal - dual) <= 2e-10L * fmaxl(fabsl(primal), size / 1000));
            n_optimal[c % N_HOSTILE]++;
        }
        free_problem(&p);
    }
    assert_true(n_optimal[COSTS_APART] >= 100 && n_optimal[COSTS_HUGE] >= 20);
    assert_true(n_optimal[WEIGHTS_APART] >= 150);
}

static ddsc_status emd_with(ddsc_context *ctx, void *arg)
{
    const problem *p = arg;
    ddsc_transport t;
    return call_emd(ctx, &t, NULL, NULL, NULL, NULL, NULL, p->n, p->m, p->a, p->b, p->cost);
}

static void test_emd_memory(void **state)
{
    (void)state;
    problem p = make_problem(40, 50, COST_PLANE, 3);
    assert_true(test_failing_allocations(emd_with, &p) >= 3);
    p.a[0] = 0; /* from the reduced problem */
    double scale = sum_of(p.a, 40) / sum_of(p.b, 50);
    for (int j = 0; j < 50; j++)
        p.b[j] *= scale;
    assert_true(test_failing_allocations(emd_with, &p) >= 4);
    free_problem(&p);
}

/* ---- two items ---- */

typedef struct two_items {
    const measures *x, *y;
    int64_t i, j;
} two_items;

static ddsc_status w2_with(ddsc_context *ctx, void *arg)
{
    const two_items *t = arg;
    return call_w2(ctx, NULL, NULL, NULL, NULL, NULL, NULL, t->x, t->i, t->y, t->j);
}

/* Checks the certificate against the costs, and the value against that for the cost matrix. */
static double check_w2(ddsc_context *ctx, const two_items *t)
{
    item_view a = measures_item(t->x, t->i), b = measures_item(t->y, t->j);
    problem p = make_problem(a.n, b.n, COST_CONSTANT, 0);
    int32_t *row = malloc((size_t)(a.n + b.n) * 8), *column = row + a.n + b.n;
    double *mass = malloc((size_t)(a.n + b.n) * 16), *f = mass + a.n + b.n, *g = f + a.n;
    ddsc_transport w2, emd;
    memcpy(p.a, a.weight, (size_t)a.n * 8);
    memcpy(p.b, b.weight, (size_t)b.n * 8);
    cost_items(t->x, t->i, t->y, t->j, p.cost);
    assert_int_equal(call_w2(ctx, &w2, row, column, mass, f, g, t->x, t->i, t->y, t->j), DDSC_OK);
    assert_int_equal(call_emd(ctx, &emd, NULL, NULL, NULL, NULL, NULL, p.n, p.m, p.a, p.b, p.cost),
                     DDSC_OK);
    assert_close(w2.primal, emd.primal, 1e-12, 1e-14);
    assert_true(w2.gap <= 1e-12);
    for (int64_t c = 0; c < p.n * p.m; c++)
        p.cost[c] += 1e-12 * p.cost[c]; /* maximum error of products */
    exact_result found = {w2.primal, w2.dual, w2.gap, w2.n_iterations, w2.n_plan, 0, 0};
    check_potentials(&p, &found, f, g);
    for (int64_t c = 0; c < p.n * p.m; c++)
        p.cost[c] -= 1e-12 * p.cost[c];
    check_plan(&p, &found, row, column, mass);
    free(mass);
    free(row);
    free_problem(&p);
    return w2.primal;
}

static void test_w2_answers(void **state)
{
    fixture *x = *state;
    static const int64_t dims[] = {1, 2, 5, 30};
    for (int k = 0; k < 4; k++) {
        measures *m = test_random_measures(x->ctx, 5, 40, dims[k], (uint64_t)k);
        measures *other = test_random_measures(x->ctx, 3, 20, dims[k], 50 + (uint64_t)k);
        for (int64_t i = 0; i < 5; i++) {
            for (int64_t j = 0; j < 3; j++)
                check_w2(x->ctx, &(two_items){m, other, i, j});
            assert_true(check_w2(x->ctx, &(two_items){m, m, i, i}) == 0);
            check_w2(x->ctx, &(two_items){m, m, i, (i + 1) % 5});
        }
        ddsc_measures_destroy(other);
        ddsc_measures_destroy(m);
    }
}

static void test_w2_refuses(void **state)
{
    fixture *x = *state;
    measures *m = test_random_measures(x->ctx, 3, 10, 2, 1);
    measures *other = test_random_measures(x->ctx, 3, 10, 3, 1);
    const two_items bad[] = {{NULL, m, 0, 0}, {m, NULL, 0, 0}, {m, m, -1, 0},
                             {m, m, 0, 3},    {m, m, 3, 0},    {m, other, 0, 0}};
    assert_int_equal(w2_with(NULL, (void *)(uintptr_t)&bad[2]), DDSC_ERROR_ARGUMENT);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(w2_with(x->ctx, (void *)(uintptr_t)&bad[k]), DDSC_ERROR_ARGUMENT);
        assert_true(strlen(ddsc_context_get_message(x->ctx)) > 0);
    }
    ddsc_measures_destroy(other);
    ddsc_measures_destroy(m);
}

static void test_w2_memory(void **state)
{
    fixture *x = *state;
    static const int64_t dims[] = {1, 2, 30};
    for (int k = 0; k < 3; k++) {
        measures *m = test_random_measures(x->ctx, 2, 60, dims[k], 9);
        two_items t = {m, m, 0, 1}, same = {m, m, 0, 0};
        assert_true(test_failing_allocations(w2_with, &t) >= 2);
        assert_true(test_failing_allocations(w2_with, &same) >= 2);
        ddsc_measures_destroy(m);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, transport_set_up, transport_tear_down)
    const struct CMUnitTest tests[] = {
        T(test_emd_answers), T(test_emd_refuses), T(test_emd_tiny_weights), T(test_emd_hostile),
        T(test_emd_memory),  T(test_w2_answers),  T(test_w2_refuses),       T(test_w2_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
