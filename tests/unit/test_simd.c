/* Compares the vectorized exp and log with long double, including the ends of their range. */
#include <math.h>

#include "base/simd.h"
#include "support.h"

SIMD_CLONES static void exponentials(double *out, const double *in)
{
    simd_store(out, simd_exp(simd_load(in)));
}

static void test_exp(void **state)
{
    (void)state;
    rng r = rng_make(1, RNG_GAUSSIANS, 7);
    double in[SIMD_LANES], out[SIMD_LANES], worst = 0;
    for (int round = 0; round < 40000; round++) {
        double wide = round % 2 ? 1416 : 4;
        for (int k = 0; k < SIMD_LANES; k++)
            in[k] = (rng_uniform(&r) - 0.5) * wide;
        exponentials(out, in);
        for (int k = 0; k < SIMD_LANES; k++) {
            long double exact = expl((long double)in[k]);
            double ulp = nextafter((double)exact, INFINITY) - (double)exact;
            worst = fmax(worst, fabs((double)((long double)out[k] - exact)) / ulp);
        }
    }
    assert_true(worst <= 2);
    double edge[SIMD_LANES] = {-1e300, -INFINITY, -708.5, 0, 709.7, 710, INFINITY, NAN};
    exponentials(out, edge);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 1);
    assert_true(isfinite(out[4]) && isinf(out[5]) && isinf(out[6]) && isnan(out[7]));
}

SIMD_CLONES static void logarithms(double *out, const double *in)
{
    simd_store(out, simd_log(simd_load(in)));
}

static void test_log(void **state)
{
    (void)state;
    rng r = rng_make(1, RNG_GAUSSIANS, 8);
    double in[SIMD_LANES], out[SIMD_LANES], worst = 0, near = 0;
    for (int round = 0; round < 40000; round++) {
        for (int k = 0; k < SIMD_LANES; k++)
            in[k] = round % 2 ? exp((rng_uniform(&r) - 0.5) * 1400) : 0.5 + 1.5 * rng_uniform(&r);
        logarithms(out, in);
        for (int k = 0; k < SIMD_LANES; k++) {
            long double exact = logl((long double)in[k]);
            double off = fabs((double)((long double)out[k] - exact));
            near = fmax(near, fabs((double)exact) < 0.5 ? off : 0);
            worst = fmax(worst, fabs((double)exact) < 0.5 ? 0 : off / fabs((double)exact));
        }
    }
    assert_true(worst < 4 * 0x1p-53 && near < 0x1p-53);
    double edge[SIMD_LANES] = {1, 2, 0.5, 0x1p-1022, 0x1.fffffffffffffp1023, 4, 0.25, 1024};
    logarithms(out, edge);
    assert_true(out[0] == 0);
    for (int k = 1; k < SIMD_LANES; k++)
        assert_true(fabs(out[k] - log(edge[k])) <= 4 * 0x1p-53 * fabs(log(edge[k])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exp), cmocka_unit_test(test_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
