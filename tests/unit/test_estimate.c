/* The range predicted from a few short runs, with synthetic times. */
#include <math.h>

#include "../../cli/estimate.h"
#include "support.h"

enum { SAMPLES = 6, FIRST = 8 };

/* Simulates overhead + work n^power CPU seconds, and the wall time on `threads` threads with a
 * slowdown. */
static void make(estimate_sample *s, double overhead, double work, double power, int threads,
                 double slowdown)
{
    for (int k = 0; k < SAMPLES; k++) {
        s[k] = (estimate_sample){.n = FIRST << k};
        s[k].cpu = overhead + work * pow((double)s[k].n, power);
        s[k].wall = s[k].cpu / threads * slowdown;
    }
}

static void test_laws(void **state)
{
    (void)state;
    estimate_sample s[SAMPLES];
    estimate_range r;
    static const double powers[] = {1, 1.3, 2}, targets[] = {1000, 10000};
    for (int p = 0; p < 3; p++)
        for (int t = 0; t < 2; t++)
            for (int threads = 1; threads <= 16; threads *= 4)
                for (double slowdown = 1; slowdown <= 4; slowdown *= 2) {
                    make(s, 1e-3, 2e-4, powers[p], threads, slowdown);
                    assert_true(estimate_fit(&r, s, SAMPLES, targets[t], 2, threads));
                    double alone = (1e-3 + 2e-4 * pow(targets[t], powers[p])) / threads;
                    assert_true(r.low <= alone && r.high >= alone * slowdown);
                    assert_true(r.low >= alone / 3 && r.high <= 3 * alone * slowdown);
                }
}

/* A single outlier of the wall clock does not turn seconds into hours. */
static void test_hiccup(void **state)
{
    (void)state;
    estimate_sample s[SAMPLES];
    estimate_range r;
    make(s, 1e-3, 1e-4, 1.3, 2, 1);
    double truth = (1e-3 + 1e-4 * pow(5000, 1.3)) / 2;
    s[SAMPLES - 1].wall *= 100;
    assert_true(estimate_fit(&r, s, SAMPLES, 5000, 2, 2));
    assert_true(r.low <= truth && r.high >= truth && r.high <= 10 * truth);
}

/* No prediction is made if the samples are not informative. */
static void test_silence(void **state)
{
    (void)state;
    estimate_sample s[SAMPLES];
    estimate_range r;
    make(s, 4e-3, 1e-8, 2, 2, 1);
    assert_false(estimate_fit(&r, s, SAMPLES, 10000, 2, 2)); /* all overhead */
    make(s, 1e-3, 1e-3, 2, 2, 1);
    assert_false(estimate_fit(&r, s, 1, 10000, 2, 2));          /* one size is not enough */
    assert_false(estimate_fit(&r, s, SAMPLES, 10000000, 2, 2)); /* too far away */
    assert_false(estimate_fit(&r, s, 0, 10, 2, 2));
    assert_true(estimate_fit(&r, s, SAMPLES, FIRST << (SAMPLES - 1), 2, 2)); /* done already */
    assert_true(r.low <= r.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_hiccup),
                                       cmocka_unit_test(test_silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
