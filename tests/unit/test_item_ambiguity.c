/* Typical and ambiguous rows: the definitions, empty and single clusters, invalid arguments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "support.h"

enum { N = 3000, DIM = 37, K = 11 };

typedef struct sample {
    double *rows;
    int32_t *labels;
} sample;

static sample make_sample(int64_t n, int64_t dim, int64_t k, uint64_t seed)
{
    sample s = {malloc((size_t)(n * dim) * sizeof(double)), malloc((size_t)n * sizeof(int32_t))};
    rng r = rng_make(seed, RNG_GAUSSIANS, 1);
    for (int64_t i = 0; i < n; i++) {
        s.labels[i] = (int32_t)(i < k ? i : rng_below(&r, k));
        for (int64_t a = 0; a < dim; a++)
            s.rows[i * dim + a] = rng_normal(&r) + (a == s.labels[i]);
    }
    return s;
}

static void free_sample(sample *s)
{
    free(s->rows);
    free(s->labels);
}

static double distance(const double *x, const double *y, int64_t dim)
{
    double sum = 0;
    for (int64_t a = 0; a < dim; a++)
        sum += pow(x[a] - y[a], 2);
    return sqrt(sum);
}

static void test_definitions(void **state)
{
    (void)state;
    enum { FEW = 200, WIDE = 5, CLUSTERS = 4 };
    ddsc_context *ctx = test_context(2, 0);
    sample s = make_sample(FEW, WIDE, CLUSTERS, 3);
    double own[FEW], ambiguity[FEW], mean[CLUSTERS][WIDE] = {{0}}, size[CLUSTERS] = {0};
    int32_t next[FEW];
    for (int i = 0; i < FEW; i++) {
        size[s.labels[i]]++;
        for (int a = 0; a < WIDE; a++)
            mean[s.labels[i]][a] += s.rows[i * WIDE + a];
    }
    for (int c = 0; c < CLUSTERS; c++)
        for (int a = 0; a < WIDE; a++)
            mean[c][a] /= size[c];
    assert_int_equal(
        call_standing(ctx, own, ambiguity, next, FEW, WIDE, s.rows, s.labels, CLUSTERS), DDSC_OK);
    for (int i = 0; i < FEW; i++) {
        const double *row = s.rows + i * WIDE;
        assert_close(own[i], distance(row, mean[s.labels[i]], WIDE), 1e-12, 0);
        assert_in_range(next[i], 0, CLUSTERS - 1);
        assert_int_not_equal(next[i], s.labels[i]);
        double other = distance(row, mean[next[i]], WIDE);
        for (int c = 0; c < CLUSTERS; c++)
            assert_true(c == s.labels[i] || distance(row, mean[c], WIDE) >= other * (1 - 1e-12));
        assert_close(ambiguity[i], own[i] / (own[i] + other), 1e-12, 0);
    }
    free_sample(&s);
    ddsc_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    sample s = make_sample(N, DIM, K, 1);
    static double own[3][N], ambiguity[3][N];
    static int32_t next[3][N];
    for (int t = 0; t < 3; t++) {
        ddsc_context *ctx = test_context(t + 1, 0);
        assert_int_equal(
            call_standing(ctx, own[t], ambiguity[t], next[t], N, DIM, s.rows, s.labels, K),
            DDSC_OK);
        assert_memory_equal(own[t], own[0], sizeof own[0]);
        assert_memory_equal(ambiguity[t], ambiguity[0], sizeof ambiguity[0]);
        assert_memory_equal(next[t], next[0], sizeof next[0]);
        ddsc_context_destroy(ctx);
    }
    free_sample(&s);
}

/* Without another cluster, no item is ambiguous. An empty cluster is never the nearest other
 * cluster. */
static void test_empty_and_single(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double rows[] = {10, 11, 13, 20}, own[4], ambiguity[4];
    int32_t one[4] = {0}, two[] = {1, 1, 1, 3}, next[4];
    assert_int_equal(call_standing(ctx, own, ambiguity, next, 4, 1, rows, one, 1), DDSC_OK);
    assert_close(own[3], 6.5, 1e-15, 0);
    for (int i = 0; i < 4; i++)
        assert_true(next[i] == -1 && ambiguity[i] == 0);
    assert_int_equal(call_standing(ctx, own, ambiguity, next, 4, 1, rows, two, 6), DDSC_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(next[i], i < 3 ? 3 : 1);
    assert_true(ambiguity[3] == 0 && ambiguity[2] > ambiguity[1]);
    ddsc_context_destroy(ctx);
}

static void test_any_output_may_be_missing(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double rows[] = {0, 1, 5, 6}, own[4], ambiguity[4], alone[4];
    int32_t labels[] = {0, 0, 1, 1}, next[4], next_alone[4];
    assert_int_equal(call_standing(ctx, own, ambiguity, next, 4, 1, rows, labels, 2), DDSC_OK);
    assert_int_equal(call_standing(ctx, alone, NULL, NULL, 4, 1, rows, labels, 2), DDSC_OK);
    assert_memory_equal(alone, own, sizeof own);
    assert_int_equal(call_standing(ctx, NULL, alone, NULL, 4, 1, rows, labels, 2), DDSC_OK);
    assert_memory_equal(alone, ambiguity, sizeof ambiguity);
    assert_int_equal(call_standing(ctx, NULL, NULL, next_alone, 4, 1, rows, labels, 2), DDSC_OK);
    assert_memory_equal(next_alone, next, sizeof next);
    assert_int_equal(call_standing(ctx, NULL, NULL, NULL, 4, 1, rows, labels, 2), DDSC_OK);
    ddsc_context_destroy(ctx);
}

/* The largest allowed values still have finite distances. */
static void test_large_values(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double rows[] = {1e150, -1e150, -1e150, 1e150, 0, 0}, own[3], ambiguity[3];
    int32_t labels[] = {0, 1, 1};
    assert_int_equal(call_standing(ctx, own, ambiguity, NULL, 3, 2, rows, labels, 2), DDSC_OK);
    assert_true(own[0] == 0);
    assert_close(own[1], sqrt(0.5) * 1e150, 1e-14, 0);
    assert_close(ambiguity[2], 1 / 3., 1e-14, 0);
    ddsc_context_destroy(ctx);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double rows[] = {0, 1, 5, 6}, own[4] = {-7, -7, -7, -7};
    int32_t labels[] = {0, 0, 1, 1};
    static const struct {
        int64_t n, dim, k;
        int32_t label;
        double value;
        ddsc_status status;
        const char *words;
    } wrong[] = {{0, 1, 2, 1, 5, DDSC_ERROR_ARGUMENT, "0 rows of 1 columns"},
                 {4, 0, 2, 1, 5, DDSC_ERROR_ARGUMENT, "4 rows of 0 columns"},
                 {-4, -1, 2, 1, 5, DDSC_ERROR_ARGUMENT, "-4 rows"},
                 {INT32_MAX, INT64_MAX / 2, 2, 1, 5, DDSC_ERROR_ARGUMENT, "rows of"},
                 {4, 1, 0, 1, 5, DDSC_ERROR_ARGUMENT, "k = 0"},
                 {4, 1, INT64_MAX, 1, 5, DDSC_ERROR_ARGUMENT, "k = 9223372036854775807"},
                 {4, 1, 2, -1, 5, DDSC_ERROR_ARGUMENT, "label 2 is -1, but must be from 0 to 1"},
                 {4, 1, 2, 2, 5, DDSC_ERROR_ARGUMENT, "label 2 is 2, but must be from 0 to 1"},
                 {4, 1, 2, 1, NAN, DDSC_ERROR_INPUT, "row 2, column 0 is nan"},
                 {4, 1, 2, 1, -INFINITY, DDSC_ERROR_INPUT, "row 2, column 0 is -inf"},
                 {4, 1, 2, 1, 1e151, DDSC_ERROR_INPUT, "at most 1e150"}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        labels[2] = wrong[w].label;
        rows[2] = wrong[w].value;
        assert_int_equal(
            call_standing(ctx, own, NULL, NULL, wrong[w].n, wrong[w].dim, rows, labels, wrong[w].k),
            wrong[w].status);
        if (!strstr(ddsc_context_get_message(ctx), wrong[w].words))
            fail_msg("%s", ddsc_context_get_message(ctx));
        assert_true(own[0] == -7 && own[3] == -7);
    }
    assert_int_equal(call_standing(NULL, own, NULL, NULL, 4, 1, rows, labels, 2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(call_standing(ctx, own, NULL, NULL, 4, 1, NULL, labels, 2),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(call_standing(ctx, own, NULL, NULL, 4, 1, rows, NULL, 2), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

static ddsc_status stand(ddsc_context *ctx, void *arg)
{
    const sample *s = arg;
    double own[50];
    return call_standing(ctx, own, NULL, NULL, 50, 3, s->rows, s->labels, 4);
}

static void test_no_memory(void **state)
{
    (void)state;
    sample s = make_sample(50, 3, 4, 5);
    assert_true(test_failing_allocations(stand, &s) >= 2);
    free_sample(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_empty_and_single), cmocka_unit_test(test_any_output_may_be_missing),
        cmocka_unit_test(test_large_values),     cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
