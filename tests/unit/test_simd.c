/* The vector exp against long double, and at its edges. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
