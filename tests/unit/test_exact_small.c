/* Small exact problems: two side by side are as good as alone, and products are the same on every
 * instruction set. */
#include <math.h>

#include "transport.h"

/* Clouds of 1 to `most` points in d dimensions; item 1 is item 0 again. */
static measures *clouds(ddsc_context *ctx, int64_t n, int64_t most, int64_t d, uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 0);
    int64_t *offset = malloc((size_t)(n + 1) * sizeof *offset);
    offset[0] = 0;
    for (int64_t i = 0; i < n; i++)
        offset[i + 1] = offset[i] + (i == 1 ? offset[1] : 1 + rng_below(&r, most));
    int64_t size = offset[n], first = offset[1];
    double *x = malloc((size_t)(size * d) * sizeof *x), *w = malloc((size_t)size * sizeof *w);
    for (int64_t k = 0; k < size * d; k++)
        x[k] = k < 2 * first * d && k >= first * d ? x[k - first * d] : rng_normal(&r);
    for (int64_t k = 0; k < size; k++)
        w[k] = k < 2 * first && k >= first ? w[k - first] : 0.1 + rng_uniform(&r);
    measures *m = NULL;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, n, d, x, w, offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(offset);
    free(x);
    free(w);
    return m;
}

static void check_two(exact_solver *two, exact_solver *alone, const measures *m, int64_t i,
                      const int64_t *j)
{
    exact_result both[2], one;
    assert_int_equal(exact_solve_two(two, both, m, i, j, 0), DDSC_OK);
    assert_int_equal(exact_solve_items(alone, &one, m, i, m, j[0], 0), DDSC_OK);
    assert_memory_equal(&one, &both[0], sizeof one);
    assert_int_equal(exact_solve_items(alone, &one, m, i, m, j[1], 0), DDSC_OK);
    problem p = {.n = measures_item(m, i).n, .m = measures_item(m, j[1]).n};
    answer a = copy_answer(two, &p, both[1]), b = copy_answer(alone, &p, one);
    check_same(&a, &b);
    free(a.bits);
}

/* Both small; one too large; the same item; with and without costs ahead; each instruction set
 * against the widest. */
static void test_two(void **state)
{
    fixture *x = *state;
    enum { N = 14 };
    static const int64_t most[] = {16, 24}, dimension[] = {1, 3, 20, 100};
    const kernels *set[3];
    kernel_sets(set);
    for (int c = 0; c < 8; c++) {
        measures *m = clouds(x->ctx, N, most[c % 2], dimension[c / 2], (uint64_t)c);
        for (int z = 0; z < 4; z++) {
            exact_solver *two = NULL;
            assert_int_equal(exact_create(x->ctx, &two), DDSC_OK);
            two->k = z < 3 && set[z] ? set[z] : two->k;
            if (z < 3)
                assert_int_equal(exact_create(x->ctx, &two->twin), DDSC_OK);
            if (two->twin)
                two->twin->k = two->k;
            if (z % 2 == 0 && exact_ahead_applies(m))
                assert_int_equal(exact_ahead(two, m, 0, N, 0, N), DDSC_OK);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < N; j += 3)
                    check_two(two, x->s, m, i, (int64_t[2]){j, (5 * j + i) % N});
            exact_destroy(two);
        }
        ddsc_measures_destroy(m);
    }
}

/* Each of the two may meet the cap: nothing is called optimal that is not. */
static void test_two_capped(void **state)
{
    fixture *x = *state;
    measures *m = clouds(x->ctx, 12, 16, 20, 5);
    for (int64_t j = 2; j + 1 < 12; j++)
        for (int64_t cap = 1; cap < 30; cap += 4) {
            exact_result both[2], one[2];
            int64_t pair[2] = {j, j + 1};
            ddsc_status status = DDSC_OK;
            for (int k = 0; k < 2; k++) {
                ddsc_status own = exact_solve_items(x->s, &one[k], m, 0, m, pair[k], cap);
                status = own == DDSC_OK ? status : own;
            }
            assert_int_equal(exact_solve_two(x->s, both, m, 0, pair, cap), status);
            for (int k = 0; k < 2; k++) {
                assert_true(both[k].primal == one[k].primal && both[k].dual == one[k].dual);
                assert_true(both[k].dual <= both[k].primal * (1 + 1e-12));
            }
        }
    ddsc_measures_destroy(m);
}

/* The same bits from every table, close to the exact product, and nothing read beyond the end. */
static void test_dots(void **state)
{
    (void)state;
    const kernels *set[3];
    kernel_sets(set);
    for (int64_t d = 1; d <= 67; d++) {
        rng r = rng_make((uint64_t)d, RNG_GAUSSIANS, 0);
        double *x[8], out[3][16];
        for (int k = 0; k < 8; k++) {
            x[k] = malloc((size_t)d * sizeof *x[k]);
            for (int64_t c = 0; c < d; c++)
                x[k][c] = rng_normal(&r);
        }
        for (int z = 0; z < 3; z++)
            if (set[z]) {
                set[z]->dots(out[z], 4, (const double *const *)x, (const double *const *)x + 4, d);
                assert_memory_equal(out[z], out[0], sizeof out[z]);
            }
        for (int k = 0; k < 16; k++) {
            long double exact = 0, size = 0;
            for (int64_t c = 0; c < d; c++) {
                long double term = (long double)x[k / 4][c] * x[4 + k % 4][c];
                exact += term;
                size += fabsl(term);
            }
            assert_true(fabsl(out[0][k] - exact) <= ((long double)d / 8 + 4) * 0x1p-53L * size);
        }
        for (int k = 0; k < 8; k++)
            free(x[k]);
    }
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, transport_set_up, transport_tear_down)
    const struct CMUnitTest tests[] = {T(test_two), T(test_two_capped), T(test_dots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
