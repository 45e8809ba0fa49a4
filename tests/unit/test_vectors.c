/* Items as plain vectors: histograms over a shared support, or otherwise weighted means. */
#include "support.h"

static void test_histograms(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    static const double support[] = {0, 1, 2}, histograms[] = {1, 1, 2, 0, 3, 1, 5, 0, 5, 1, 2, 1};
    ddsc_measures *m;
    double *out;
    int64_t width;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, 4, 3, 1, support, histograms, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(ddsc_vectors_run(ctx, &out, &width, m, DDSC_VECTORS_AUTO), DDSC_OK);
    assert_int_equal(width, 3);
    for (int i = 0; i < 4; i++) {
        double sum = histograms[3 * i] + histograms[3 * i + 1] + histograms[3 * i + 2];
        for (int j = 0; j < 3; j++)
            assert_close(out[3 * i + j], histograms[3 * i + j] / sum, 1e-15, 0);
    }
    ddsc_release(ctx, out);
    assert_int_equal(ddsc_vectors_run(ctx, &out, &width, NULL, DDSC_VECTORS_AUTO),
                     DDSC_ERROR_ARGUMENT);
    assert_null(out);
    assert_int_equal(ddsc_vectors_run(NULL, &out, &width, m, DDSC_VECTORS_AUTO),
                     DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_means(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 30, 6, 3, 5);
    double *out;
    int64_t width;
    assert_int_equal(ddsc_vectors_run(ctx, &out, &width, m, DDSC_VECTORS_AUTO), DDSC_OK);
    assert_int_equal(width, 3);
    for (int64_t i = 0; i < 30; i++)
        for (int64_t j = 0; j < 3; j++) {
            item_view item = measures_item(m, i);
            double mean = 0;
            for (int64_t p = 0; p < item.n; p++)
                mean += item.weight[p] * measures_point(m, item.index[p])[j];
            assert_close(out[3 * i + j], mean, 1e-13, 1e-14);
        }
    ddsc_release(ctx, out);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status vectors_call(ddsc_context *ctx, void *arg)
{
    double *out;
    int64_t width;
    ddsc_status status = ddsc_vectors_run(ctx, &out, &width, arg, DDSC_VECTORS_AUTO);
    ddsc_release(ctx, out);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 5, 3, 2, 1);
    assert_int_equal(test_failing_allocations(vectors_call, m), 1);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
