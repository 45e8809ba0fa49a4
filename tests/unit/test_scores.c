/* Properties of scores. cli/test_scores_oracle.py compares values with scikit-learn. */
#include <math.h>
#include <stdlib.h>

#include "support.h"

static ddsc_scores score(ddsc_context *ctx, int64_t n, const int32_t *a, const int32_t *b)
{
    ddsc_scores s = {.struct_size = sizeof s};
    if (ddsc_scores_run(ctx, &s, n, a, b) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return s;
}

static void test_perfect(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    static const int32_t a[] = {0, 0, 1, 1, 2, 2, 2},
                         b[] = {9, 9, 0, 0, 2000000000, 2000000000, 2000000000};
    ddsc_scores s = score(ctx, 7, a, b);
    assert_true(s.ami == 1 && s.ari == 1 && s.nmi == 1 && s.purity == 1);
    assert_true(s.n == 7 && s.n_labels == 3 && s.n_truth == 3);
    /* One cluster in both labelings, one item, all items separate in both labelings. */
    static const int32_t zero[5] = {0}, apart[] = {0, 1, 2, 3, 4};
    for (int64_t n = 1; n <= 5; n++) {
        s = score(ctx, n, zero, zero);
        assert_true(s.ami == 1 && s.ari == 1 && s.nmi == 1 && s.purity == 1);
        s = score(ctx, n, apart, apart);
        assert_true(s.ami == 1 && s.ari == 1 && s.nmi == 1);
    }
    s = score(ctx, 5, zero, apart);
    assert_true(s.ami <= 1e-12 && s.ari == 0 && s.nmi == 0 && s.purity == 0.2);
    ddsc_context_destroy(ctx);
}

/* Scores are symmetric (except purity), independent of names and order, and near 0 for unrelated
 * labels. */
static void test_properties(void **state)
{
    (void)state;
    enum { N = 3000 };
    ddsc_context *ctx = test_context(2, 0);
    int32_t a[N], b[N], renamed[N];
    rng r = rng_make(4, RNG_GAUSSIANS, 0);
    for (int i = 0; i < N; i++) {
        a[i] = (int32_t)rng_below(&r, 9);
        b[i] = rng_uniform(&r) < 0.5 ? a[i] : (int32_t)rng_below(&r, 5);
        renamed[i] = 100 - 7 * a[i];
    }
    ddsc_scores ab = score(ctx, N, a, b), ba = score(ctx, N, b, a),
                other = score(ctx, N, renamed, b);
    assert_close(ab.ami, ba.ami, 1e-12, 0);
    assert_close(ab.ari, ba.ari, 1e-12, 0);
    assert_close(ab.ami, other.ami, 1e-12, 0);
    assert_close(ab.purity, other.purity, 0, 0);
    assert_true(ab.ami > 0.1 && ab.ami < ab.nmi && ab.nmi < 1);
    for (int i = 0; i < N; i++)
        b[i] = (int32_t)rng_below(&r, 7);
    ab = score(ctx, N, a, b);
    assert_true(fabs(ab.ami) < 0.01 && fabs(ab.ari) < 0.01 && ab.nmi > 0);
    ddsc_context_destroy(ctx);
}

static void test_left_out(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    static const int32_t a[] = {0, -1, 0, 1, 1, 5}, b[] = {3, 3, 3, 4, 4, -2};
    ddsc_scores s = score(ctx, 6, a, b), same = s;
    assert_true(s.ami == 1 && s.n == 4 && s.n_labels == 2);
    assert_int_equal(ddsc_scores_run(ctx, &same, 1, a + 5, b + 5), DDSC_ERROR_INPUT);
    assert_int_equal(ddsc_scores_run(ctx, &same, 0, a, b), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_scores_run(ctx, &same, 2, NULL, b), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_scores_run(ctx, NULL, 2, a, b), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_scores_run(NULL, &same, 2, a, b), DDSC_ERROR_ARGUMENT);
    assert_true(same.ami == 1 && same.n == 4); /* unchanged after errors */
    ddsc_context_destroy(ctx);
}

/* Many values in both labelings remain fast, because the expectation is computed over distinct
 * sizes. */
static void test_many_labels(void **state)
{
    (void)state;
    enum { N = 100000 };
    ddsc_scores s[2];
    int32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    rng r = rng_make(1, RNG_GAUSSIANS, 0);
    for (int i = 0; i < N; i++) {
        a[i] = (int32_t)rng_below(&r, N / 2);
        b[i] = (int32_t)rng_below(&r, N / 3);
    }
    for (int t = 0; t < 2; t++) {
        ddsc_context *ctx = test_context(1 + 2 * t, 0);
        s[t] = score(ctx, N, a, b);
        ddsc_context_destroy(ctx);
    }
    assert_true(fabs(s[0].ami) < 0.01 && s[0].nmi > 0.8);
    assert_true(s[0].ami == s[1].ami);
    free(a);
    free(b);
}

static ddsc_status score_call(ddsc_context *ctx, void *arg)
{
    static const int32_t a[] = {0, 0, 1, 1, 2, 2}, b[] = {0, 1, 1, 1, 2, 0};
    ddsc_scores s = {.struct_size = sizeof s};
    (void)arg;
    return ddsc_scores_run(ctx, &s, 6, a, b);
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_failing_allocations(score_call, NULL) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perfect),  cmocka_unit_test(test_properties),
        cmocka_unit_test(test_left_out), cmocka_unit_test(test_many_labels),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
