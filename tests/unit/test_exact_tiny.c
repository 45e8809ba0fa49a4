/* Tiny exact problems: the same results on every instruction set, with or without precomputed costs
 * of their tile, and only optimal results are marked optimal. */
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

static void check_pair(exact_solver *s, exact_solver *widest, const measures *m, int64_t i,
                       int64_t j)
{
    problem p = {.n = measures_item(m, i).n, .m = measures_item(m, j).n};
    exact_result one, other;
    assert_int_equal(exact_solve_items(s, &one, m, i, m, j, 0), DDSC_OK);
    assert_int_equal(exact_solve_items(widest, &other, m, i, m, j, 0), DDSC_OK);
    answer a = copy_answer(s, &p, one), b = copy_answer(widest, &p, other);
    check_same(&a, &b);
    free(a.bits);
}

/* Tiny pairs, some pairs that are too large, equal items, points on a line. Each instruction set is
 * compared with the widest one, every second time with the costs of the tile. */
static void test_tiny(void **state)
{
    fixture *x = *state;
    enum { N = 14 };
    static const int64_t most[] = {16, 24}, dimension[] = {1, 3, 20, 100};
    const kernels *set[3];
    kernel_sets(set);
    for (int c = 0; c < 8; c++) {
        measures *m = clouds(x->ctx, N, most[c % 2], dimension[c / 2], (uint64_t)c);
        for (int z = 0; z < 4; z++) {
            exact_solver *s = NULL;
            assert_int_equal(exact_create(x->ctx, &s), DDSC_OK);
            s->k = z < 3 && set[z] ? set[z] : s->k;
            if (z % 2 == 0 && exact_tile_applies(m, &ground_sqeuclidean))
                assert_int_equal(exact_tile_costs(s, m, 0, N, 0, N), DDSC_OK);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < N; j++)
                    check_pair(s, x->s, m, i, j);
            exact_destroy(s);
        }
        ddsc_measures_destroy(m);
    }
}

static void test_tiny_capped(void **state)
{
    fixture *x = *state;
    measures *m = clouds(x->ctx, 12, 16, 20, 5);
    for (int64_t j = 2; j < 12; j++) {
        exact_result best, capped;
        assert_int_equal(exact_solve_items(x->s, &best, m, 0, m, j, 0), DDSC_OK);
        for (int64_t cap = 1; cap < 30; cap += 4) {
            ddsc_status status = exact_solve_items(x->s, &capped, m, 0, m, j, cap);
            assert_true(status == (best.pivots <= cap ? DDSC_OK : DDSC_NOT_CONVERGED));
            assert_true(capped.pivots <= cap);
            assert_true(capped.primal >= best.dual * (1 - 1e-12));
            assert_true(capped.dual <= best.primal * (1 + 1e-12));
        }
    }
    ddsc_measures_destroy(m);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, transport_set_up, transport_tear_down)
    const struct CMUnitTest tests[] = {T(test_tiny), T(test_tiny_capped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
