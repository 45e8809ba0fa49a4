/* Properties of entropic transport: limits, symmetries, certificates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/sinkhorn/sinkhorn.h"
#include "support.h"

typedef struct sample {
    int64_t n, m, d;
    double *x, *y, *a, *b, *cost;
    double median;
} sample;

static int ascending(const void *left, const void *right)
{
    double x = *(const double *)left, y = *(const double *)right;
    return (x > y) - (x < y);
}

static void sample_costs(sample *s)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->m; j++) {
            double sum = 0;
            for (int64_t k = 0; k < s->d; k++) {
                double step = s->x[i * s->d + k] - s->y[j * s->d + k];
                sum += step * step;
            }
            s->cost[i * s->m + j] = sum;
        }
}

static void normalize(double *weight, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += weight[i];
    for (int64_t i = 0; i < n; i++)
        weight[i] /= sum;
}

static sample sample_make(int64_t n, int64_t m, int64_t d, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 99);
    sample s = {n,
                m,
                d,
                test_zeros(n * d),
                test_zeros(m * d),
                test_zeros(n),
                test_zeros(m),
                test_zeros(n * m),
                0};
    for (int64_t k = 0; k < n * d; k++)
        s.x[k] = rng_normal(&r);
    for (int64_t k = 0; k < m * d; k++)
        s.y[k] = 0.5 + rng_normal(&r);
    for (int64_t i = 0; i < n; i++)
        s.a[i] = 0.02 + rng_uniform(&r);
    for (int64_t j = 0; j < m; j++)
        s.b[j] = 0.02 + rng_uniform(&r);
    normalize(s.a, n);
    normalize(s.b, m);
    sample_costs(&s);
    double *sorted = test_zeros(n * m);
    memcpy(sorted, s.cost, (size_t)(n * m) * sizeof *sorted);
    qsort(sorted, (size_t)(n * m), sizeof *sorted, ascending);
    s.median = sorted[n * m / 2];
    free(sorted);
    return s;
}

static void sample_free(sample *s)
{
    double *blocks[] = {s->x, s->y, s->a, s->b, s->cost};
    for (int k = 0; k < 5; k++)
        free(blocks[k]);
}

static const double TOLERANCE = 1e-9;
static const int64_t CAP = 100000;

static double solve(ddsc_context *ctx, const sample *s, double epsilon, ddsc_sinkhorn_value which)
{
    double value = NAN;
    ddsc_transport t;
    ddsc_status status = call_sinkhorn(ctx, &value, &t, NULL, NULL, NULL, s->n, s->m, s->a, s->b,
                                       s->cost, epsilon, which, TOLERANCE, CAP);
    if (status != DDSC_OK)
        fail_msg("%lld x %lld, epsilon %g: %s, error %g after %lld", (long long)s->n,
                 (long long)s->m, epsilon, ddsc_status_name(status), t.gap,
                 (long long)t.n_iterations);
    assert_true(t.gap <= TOLERANCE);
    return value;
}

/* ---- certificates ---- */

/* Checks marginals, the formula of the plan, and primal = dual, from the returned arrays. */
static void check_solution(ddsc_context *ctx, const sample *s, double epsilon)
{
    double *plan = test_zeros(s->n * s->m), *f = test_zeros(s->n), *g = test_zeros(s->m);
    double value, rows = 0, columns = 0, formula = 0, primal = 0, dual = 0;
    ddsc_transport t;
    assert_int_equal(call_sinkhorn(ctx, &value, &t, plan, f, g, s->n, s->m, s->a, s->b, s->cost,
                                   epsilon, DDSC_SINKHORN_REGULARIZED, TOLERANCE, CAP),
                     DDSC_OK);
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < s->m; j++) {
            double p = plan[i * s->m + j], c = s->cost[i * s->m + j];
            double product = s->a[i] * s->b[j];
            assert_true(p >= 0 && isfinite(p));
            formula += fabs(p - product * exp((f[i] + g[j] - c) / epsilon));
            primal +=
                p * c + (p > 0 ? epsilon * (p * log(p / product) - p) : 0) + epsilon * product;
            sum += p;
        }
        rows += fabs(sum - s->a[i]);
        dual += s->a[i] * f[i];
    }
    for (int64_t j = 0; j < s->m; j++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            sum += plan[i * s->m + j];
        columns += fabs(sum - s->b[j]);
        dual += s->b[j] * g[j];
    }
    double scale = fabs(value) + epsilon, rounding = 1e-15 * s->median / epsilon;
    assert_true(rows + columns <= TOLERANCE + 1e-14);
    assert_true(formula <= 1e-12 + 100 * rounding);
    assert_close(dual, value, 1e-11, 1e-13 * scale);
    assert_close(primal, value, 1e-7, 1e-7 * epsilon);
    assert_close(t.dual, value, 0, 0);
    free(plan);
    free(f);
    free(g);
}

static void test_certificate(void **state)
{
    (void)state;
    static const double factor[] = {1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.3, 1, 30, 1e3, 1e6};
    static const int64_t size[][2] = {{1, 1}, {1, 9}, {9, 1}, {4, 7}, {16, 16}, {33, 20}, {40, 41}};
    ddsc_context *ctx = test_context(1, 0);
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        sample s = sample_make(size[k][0], size[k][1], 2, 10 + k);
        for (size_t e = 0; e < sizeof factor / sizeof *factor; e++)
            check_solution(ctx, &s, factor[e] * s.median);
        sample_free(&s);
    }
    ddsc_context_destroy(ctx);
}

/* With uniform weights and equal numbers of points, the limit is a permutation, which is difficult
 * for small epsilon. */
static void test_uniform_weights(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (uint64_t seed = 0; seed < 5; seed++) {
        sample s = sample_make(40, 40, 2, seed);
        for (int64_t i = 0; i < 40; i++)
            s.a[i] = s.b[i] = 1.0 / 40;
        for (double factor = 1e-6; factor < 10; factor *= 10)
            check_solution(ctx, &s, factor * s.median);
        sample_free(&s);
    }
    ddsc_context_destroy(ctx);
}

/* Integer points: many equal costs, many optimal plans in the limit. */
static void test_grid_points(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (uint64_t seed = 0; seed < 5; seed++) {
        sample s = sample_make(30, 25, 2, seed);
        for (int64_t k = 0; k < 60; k++)
            s.x[k] = floor(4 * s.x[k]);
        for (int64_t k = 0; k < 50; k++)
            s.y[k] = floor(4 * s.y[k]);
        sample_costs(&s);
        for (double factor = 1e-6; factor < 10; factor *= 10)
            check_solution(ctx, &s, factor * 16 * s.median);
        sample_free(&s);
    }
    ddsc_context_destroy(ctx);
}

/* ---- limits ---- */

static double exact_value(ddsc_context *ctx, const sample *s)
{
    ddsc_transport t;
    assert_int_equal(
        call_emd(ctx, &t, NULL, NULL, NULL, NULL, NULL, s->n, s->m, s->a, s->b, s->cost), DDSC_OK);
    return t.primal;
}

static void test_small_epsilon(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (uint64_t seed = 0; seed < 4; seed++) {
        sample s = sample_make(20, 24, 3, seed);
        double exact = exact_value(ctx, &s), last = INFINITY;
        for (double factor = 1; factor > 1e-6; factor /= 10) {
            double epsilon = factor * s.median;
            double sharp = solve(ctx, &s, epsilon, DDSC_SINKHORN_SHARP);
            double value = solve(ctx, &s, epsilon, DDSC_SINKHORN_REGULARIZED);
            /* exact <= sharp <= regularized <= exact + eps log(max size), and sharp decreases with
             * eps */
            assert_true(sharp >= exact - 1e-8 * s.median && sharp <= last + 1e-8 * s.median);
            assert_true(value >= sharp - 1e-8 * s.median);
            assert_true(value <= exact + epsilon * 2 * log(50.0 * 24) + 1e-8 * s.median);
            last = sharp;
        }
        assert_close(last, exact, 1e-4, 0);
        sample_free(&s);
    }
    ddsc_context_destroy(ctx);
}

static void test_large_epsilon(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(13, 18, 2, 5);
    double product = 0;
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t j = 0; j < s.m; j++)
            product += s.a[i] * s.b[j] * s.cost[i * s.m + j];
    for (double factor = 1e3; factor < 1e300; factor *= 1e9) {
        double near = 20 / factor;
        assert_close(solve(ctx, &s, factor * s.median, DDSC_SINKHORN_SHARP), product, near + 1e-14,
                     0);
        assert_close(solve(ctx, &s, factor * s.median, DDSC_SINKHORN_REGULARIZED), product,
                     near + 1e-14, 0);
    }
    ddsc_context_destroy(ctx);
    sample_free(&s);
}

/* The two formulas of the value agree at the epsilon where the solver switches between them. */
static void test_formulas_meet(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(9, 12, 2, 8);
    double high = 0;
    for (int64_t k = 0; k < s.n * s.m; k++)
        high = fmax(high, s.cost[k]);
    for (double factor = 1; factor < 1e10; factor *= 1.7) {
        double here = solve(ctx, &s, factor * high, DDSC_SINKHORN_REGULARIZED);
        double next = solve(ctx, &s, factor * high * (1 + 1e-12), DDSC_SINKHORN_REGULARIZED);
        assert_close(next, here, 2e-12 + 1e-15 * factor * (factor < 1e3), 0);
    }
    ddsc_context_destroy(ctx);
    sample_free(&s);
}

/* ---- symmetries ---- */

static void test_swap(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(17, 29, 2, 3), t = sample_make(29, 17, 2, 3);
    memcpy(t.x, s.y, 58 * sizeof *t.x);
    memcpy(t.y, s.x, 34 * sizeof *t.y);
    memcpy(t.a, s.b, 29 * sizeof *t.a);
    memcpy(t.b, s.a, 17 * sizeof *t.b);
    sample_costs(&t);
    for (double factor = 1e-4; factor < 1e4; factor *= 30)
        for (int which = 0; which < 2; which++) {
            double value = solve(ctx, &s, factor * s.median, (ddsc_sinkhorn_value)which);
            assert_close(solve(ctx, &t, factor * s.median, (ddsc_sinkhorn_value)which), value, 1e-8,
                         0);
        }
    sample_free(&s);
    sample_free(&t);
    ddsc_context_destroy(ctx);
}

/* <P, C + f + g> = <P, C> + const: potentials added to the cost shift only the value. */
static void test_cost_offset(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(15, 12, 2, 4);
    double epsilon = 0.02 * s.median, shift = 0;
    double before = solve(ctx, &s, epsilon, DDSC_SINKHORN_REGULARIZED);
    for (int64_t i = 0; i < s.n; i++) {
        double f = 100 * sin((double)i) - 300;
        shift += s.a[i] * f;
        for (int64_t j = 0; j < s.m; j++)
            s.cost[i * s.m + j] += f;
    }
    assert_close(solve(ctx, &s, epsilon, DDSC_SINKHORN_REGULARIZED), before + shift, 0, 1e-9);
    ddsc_context_destroy(ctx);
    sample_free(&s);
}

/* Scaling the cost and epsilon scales the value, from the smallest to the largest numbers. */
static void test_scaling(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(14, 16, 2, 6);
    double epsilon = 0.03 * s.median, before = solve(ctx, &s, epsilon, DDSC_SINKHORN_REGULARIZED);
    static const double scale[] = {0x1p-980, 0x1p-300, 0x1p-60, 0x1p60, 0x1p400, 0x1p990};
    for (int k = 0; k < 6; k++) {
        sample t = sample_make(14, 16, 2, 6);
        for (int64_t p = 0; p < t.n * t.m; p++)
            t.cost[p] *= scale[k];
        assert_close(solve(ctx, &t, epsilon * scale[k], DDSC_SINKHORN_REGULARIZED) / scale[k],
                     before, 1e-12, 0);
        sample_free(&t);
    }
    ddsc_context_destroy(ctx);
    sample_free(&s);
}

/* Splitting a point in two, or adding points without weight, gives the same distribution. */
static void test_split_and_zero_weights(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(12, 9, 2, 11), t = sample_make(15, 9, 2, 11);
    memcpy(t.x, s.x, 24 * sizeof *t.x);
    memcpy(t.y, s.y, 18 * sizeof *t.y);
    memcpy(t.b, s.b, 9 * sizeof *t.b);
    memcpy(t.a, s.a, 12 * sizeof *t.a);
    memcpy(t.x + 24, s.x + 6, 2 * sizeof *t.x); /* a copy of point 3 with a third of its weight */
    t.a[12] = s.a[3] / 3;
    t.a[3] = 2 * s.a[3] / 3;
    t.a[13] = t.a[14] = 0;
    sample_costs(&t);
    for (double factor = 1e-3; factor < 1e3; factor *= 10)
        for (int which = 0; which < 2; which++)
            assert_close(solve(ctx, &t, factor * s.median, (ddsc_sinkhorn_value)which),
                         solve(ctx, &s, factor * s.median, (ddsc_sinkhorn_value)which), 1e-8, 0);
    double *plan = test_zeros(t.n * t.m), *f = test_zeros(t.n), *g = test_zeros(t.m);
    assert_int_equal(call_sinkhorn(ctx, NULL, NULL, plan, f, g, t.n, t.m, t.a, t.b, t.cost,
                                   0.1 * s.median, DDSC_SINKHORN_SHARP, TOLERANCE, CAP),
                     DDSC_OK);
    for (int64_t j = 0; j < t.m; j++)
        assert_true(plan[13 * t.m + j] == 0 && plan[14 * t.m + j] == 0);
    for (int64_t i = 0; i < t.n; i++)
        assert_true(isfinite(f[i]));
    free(plan);
    free(f);
    free(g);
    sample_free(&s);
    sample_free(&t);
    ddsc_context_destroy(ctx);
}

/* Weights of mass 7: plan and value scale with it. */
static void test_mass(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(8, 11, 2, 12);
    double value = solve(ctx, &s, 0.1 * s.median, DDSC_SINKHORN_REGULARIZED), total = 0;
    for (int64_t i = 0; i < s.n; i++)
        s.a[i] *= 7;
    for (int64_t j = 0; j < s.m; j++)
        s.b[j] *= 7;
    double *plan = test_zeros(s.n * s.m), heavy;
    assert_int_equal(call_sinkhorn(ctx, &heavy, NULL, plan, NULL, NULL, s.n, s.m, s.a, s.b, s.cost,
                                   0.1 * s.median, DDSC_SINKHORN_REGULARIZED, TOLERANCE, CAP),
                     DDSC_OK);
    for (int64_t k = 0; k < s.n * s.m; k++)
        total += plan[k];
    assert_close(heavy, 7 * value, 1e-12, 0);
    assert_close(total, 7, 1e-9, 0);
    free(plan);
    sample_free(&s);
    ddsc_context_destroy(ctx);
}

/* ---- an item with itself ---- */

static void test_self(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sinkhorn_solver *solver = NULL;
    assert_int_equal(sinkhorn_create(ctx, &solver), DDSC_OK);
    sample s = sample_make(25, 25, 3, 21);
    memcpy(s.y, s.x, 75 * sizeof *s.y);
    memcpy(s.b, s.a, 25 * sizeof *s.b);
    sample_costs(&s);
    for (double factor = 1e-6; factor <= 1e9; factor *= 10) {
        sinkhorn_problem p = {25, 25, s.a, s.b, s.cost, 25, {factor * s.median, 1e-12, CAP, true}};
        sinkhorn_result self, pair;
        assert_int_equal(sinkhorn_self(solver, &self, &p), DDSC_OK);
        assert_true(self.iterations < 60);
        assert_int_equal(sinkhorn_solve(solver, &pair, &p), DDSC_OK);
        assert_close(self.regularized, pair.regularized, 1e-9,
                     1e-12 * p.rule.epsilon * (factor < 1));
        assert_close(self.sharp, pair.sharp, 1e-8, 1e-9 * s.median * (factor < 1));
    }
    sample_free(&s);
    sinkhorn_destroy(solver);
    ddsc_context_destroy(ctx);
}

/* A value is accurate to the tolerance times the range of the costs, even if epsilon is far above
 * them. */
static void test_self_loose(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sinkhorn_solver *solver = NULL;
    assert_int_equal(sinkhorn_create(ctx, &solver), DDSC_OK);
    sample s = sample_make(12, 12, 2, 22);
    memcpy(s.y, s.x, 24 * sizeof *s.y);
    memcpy(s.b, s.a, 12 * sizeof *s.b);
    sample_costs(&s);
    double range = 0;
    for (int k = 0; k < 144; k++)
        range = fmax(range, s.cost[k]);
    for (double factor = 1e-3; factor <= 1e9; factor *= 10) {
        sinkhorn_problem p = {12, 12, s.a, s.b, s.cost, 12, {factor * s.median, 1e-13, CAP, true}};
        sinkhorn_result found, loose;
        assert_int_equal(sinkhorn_self(solver, &found, &p), DDSC_OK);
        p.rule.tolerance = 1e-3;
        assert_int_equal(sinkhorn_self(solver, &loose, &p), DDSC_OK);
        assert_true(loose.marginal_error <= 1e-3);
        assert_close(loose.regularized, found.regularized, 0, 1e-3 * range);
        assert_close(loose.sharp, found.sharp, 0, 2e-3 * range);
    }
    sample_free(&s);
    sinkhorn_destroy(solver);
    ddsc_context_destroy(ctx);
}

/* ---- iteration limits ---- */

static void test_cap(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    sample s = sample_make(30, 30, 2, 31);
    for (double factor = 1e-6; factor < 1; factor *= 10)
        for (int64_t cap = 1; cap < 30; cap += 7) {
            double *plan = test_zeros(900), value = NAN, error = 0;
            ddsc_transport t;
            ddsc_status status =
                call_sinkhorn(ctx, &value, &t, plan, NULL, NULL, 30, 30, s.a, s.b, s.cost,
                              factor * s.median, DDSC_SINKHORN_SHARP, TOLERANCE, cap);
            for (int64_t i = 0; i < 30; i++) {
                double row = 0, column = 0;
                for (int64_t j = 0; j < 30; j++) {
                    row += plan[i * 30 + j];
                    column += plan[j * 30 + i];
                }
                error += fabs(row - s.a[i]) + fabs(column - s.b[i]);
            }
            assert_int_equal(status, t.gap <= TOLERANCE ? DDSC_OK : DDSC_NOT_CONVERGED);
            assert_int_equal(status != DDSC_OK, ddsc_context_get_message(ctx)[0] != '\0');
            assert_true(t.n_iterations <= cap && isfinite(value));
            assert_close(t.gap, error, 1e-9, 1e-13);
            free(plan);
        }
    sample_free(&s);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certificate),   cmocka_unit_test(test_uniform_weights),
        cmocka_unit_test(test_grid_points),   cmocka_unit_test(test_small_epsilon),
        cmocka_unit_test(test_large_epsilon), cmocka_unit_test(test_formulas_meet),
        cmocka_unit_test(test_swap),          cmocka_unit_test(test_cost_offset),
        cmocka_unit_test(test_scaling),       cmocka_unit_test(test_split_and_zero_weights),
        cmocka_unit_test(test_mass),          cmocka_unit_test(test_self),
        cmocka_unit_test(test_self_loose),    cmocka_unit_test(test_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
