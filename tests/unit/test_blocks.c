/* Fixed blocks of rows, sums over a fixed tree, and the notes of a call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "support.h"

static void blocks_depend_on_the_rows_alone(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 63, 64, 65, 1000, 65536, 65537, 1000000, 100000000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int64_t n = sizes[k], rows = block_rows(n);
        assert_true(rows >= 64 && rows <= 4096 && (rows & (rows - 1)) == 0);
        assert_true(rows == 4096 || block_count(n) <= 1024);
        assert_true(block_count(n) * rows >= n && (block_count(n) - 1) * rows < BASE_MAX(n, 1));
    }
}

/* The order of additions follows the tree, so whole subtrees can be summed separately. */
static void whole_subtrees_are_sums_of_their_own(void **state)
{
    (void)state;
    enum { MOST = 70, STRIDE = 3 };
    rng r = rng_make(1, RNG_GAUSSIANS, 0);
    double part[MOST * STRIDE], exact = 0, size = 0;
    for (int k = 0; k < MOST * STRIDE; k++)
        part[k] = rng_normal(&r) * pow(10, (double)(k % 17) - 8);
    for (int64_t n = 1; n <= MOST; n++) {
        const double *at = part + 1;
        exact += at[(n - 1) * STRIDE];
        size += fabs(at[(n - 1) * STRIDE]);
        assert_close(tree_sum(at, n, STRIDE), exact, 0, 1e-14 * size);
        for (int64_t left = 1; left < n; left *= 2)
            if (2 * left >= n)
                assert_true(tree_sum(at, n, STRIDE) ==
                            tree_sum(at, left, STRIDE) +
                                tree_sum(at + left * STRIDE, n - left, STRIDE));
    }
    assert_true(tree_sum(part, 0, 1) == 0);
    assert_true(tree_sum(part, 3, 1) == part[0] + part[1] + part[2]);
}

static void notes_say_each_path_once(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const char *stage, *path, *why;
    assert_int_equal(ddsc_context_get_note(ctx, 0, &stage, &path, &why), 0);
    assert_true(*stage == '\0' && *path == '\0' && *why == '\0');
    ctx_note(ctx, "search", "full", "%d items", 7);
    ctx_note(ctx, "search", "full", "%d items", 8);
    ctx_note(ctx, "search", "pruned", "because");
    assert_int_equal(ddsc_context_get_note(ctx, 0, &stage, &path, &why), 1);
    assert_string_equal(stage, "search");
    assert_string_equal(path, "full");
    assert_string_equal(why, "7 items");
    assert_int_equal(ddsc_context_get_note(ctx, 1, NULL, &path, NULL), 1);
    assert_string_equal(path, "pruned");
    assert_int_equal(ddsc_context_get_note(ctx, 2, NULL, NULL, NULL), 0);
    assert_int_equal(ddsc_context_get_note(ctx, -1, NULL, NULL, NULL), 0);
    assert_int_equal(ddsc_context_get_note(NULL, 0, NULL, NULL, &why), 0);
    static const char *const stages[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const char *const paths[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    for (int k = 0; k < 64; k++) /* more than are stored */
        ctx_note(ctx, stages[k / 8], paths[k % 8], "%0300d", k);
    int64_t n = 0;
    while (ddsc_context_get_note(ctx, n, NULL, NULL, &why)) {
        assert_true(strlen(why) < 200);
        n++;
    }
    assert_true(n >= 10 && n < 64);
    ctx_enter(ctx);
    assert_int_equal(ddsc_context_get_note(ctx, 0, NULL, NULL, NULL), 0);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_depend_on_the_rows_alone),
        cmocka_unit_test(whole_subtrees_are_sums_of_their_own),
        cmocka_unit_test(notes_say_each_path_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
