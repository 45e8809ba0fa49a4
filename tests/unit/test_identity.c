/* Identity of clusters: the categories, numbers that are never reused, permutations, invalid
 * arguments. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

static ddsc_identity *run(ddsc_context *ctx, ddsc_identity_view *v, int64_t n,
                          const int32_t *before, int64_t k_old, const int32_t *after, int64_t k_new,
                          const ddsc_identity_settings *set)
{
    ddsc_identity *t = NULL;
    assert_int_equal(ddsc_identity_run(ctx, &t, n, before, k_old, after, k_new, set), DDSC_OK);
    ddsc_identity_get_view(t, v);
    return t;
}

static int count(const ddsc_identity_view *v, ddsc_identity_kind kind)
{
    int n = 0;
    for (int64_t e = 0; e < v->n_events; e++)
        n += v->events[e]->kind == kind;
    return n;
}

static const ddsc_identity_event *first(const ddsc_identity_view *v, ddsc_identity_kind kind)
{
    for (int64_t e = 0; e < v->n_events; e++)
        if (v->events[e]->kind == kind)
            return v->events[e];
    return NULL;
}

/* Ten clusters of 20 items; any permutation of the labels is undone. */
static void test_permutation(void **state)
{
    (void)state;
    enum { K = 10, N = 200 };
    ddsc_context *ctx = test_context(1, 0);
    int32_t before[N], after[N];
    rng r = rng_make(3, RNG_GAUSSIANS, 1);
    for (int i = 0; i < N; i++) {
        before[i] = i % K;
        after[i] = (i % K * 7 + 3) % K;
        if (rng_below(&r, 10) == 0)
            after[i] = (int32_t)rng_below(&r, K);
    }
    ddsc_identity_view v;
    ddsc_identity *t = run(ctx, &v, N, before, K, after, K, NULL);
    for (int c = 0; c < K; c++)
        assert_int_equal(v.numbers[(c * 7 + 3) % K], c);
    assert_int_equal(count(&v, DDSC_IDENTITY_SAME), K);
    assert_int_equal(v.n_events, K);
    assert_int_equal(v.n_numbers, K);
    assert_int_equal(v.n_unused, 0);
    ddsc_identity_destroy(t);
    ddsc_context_destroy(ctx);
}

/* Cluster 0 stays, 1 splits into halves, 2 and 3 merge, 4 vanishes, and new items form a cluster.
 * */
static void test_categories(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    enum { N = 48 };
    int32_t before[N], after[N];
    for (int i = 0; i < N; i++) {
        before[i] = i / 10;
        after[i] = i / 10;
    }
    for (int i = 10; i < 20; i++)
        after[i] = i < 14 ? 1 : i < 18 ? 3 : 0;
    for (int i = 20; i < 40; i++)
        after[i] = 2;
    for (int i = 40; i < N; i++)
        after[i] = i % 2 ? 0 : 2;
    int64_t old_sizes[5] = {10, 10, 10, 10, 30}, new_sizes[6] = {20, 6, 30, 4, 25, 0};
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    set.old_sizes = old_sizes;
    set.new_sizes = new_sizes;
    set.n_numbers = 9;
    ddsc_identity_view v;
    ddsc_identity *t = run(ctx, &v, N, before, 5, after, 6, &set);
    const ddsc_identity_event *e = first(&v, DDSC_IDENTITY_SPLIT);
    assert_non_null(e);
    assert_int_equal(e->cluster, 1);
    assert_int_equal(e->n_parts, 2);
    assert_int_equal(e->common[0], 4);
    assert_int_equal(e->parts[0], v.numbers[1]);
    assert_int_equal(e->parts[1], v.numbers[3]);
    e = first(&v, DDSC_IDENTITY_MERGED);
    assert_int_equal(e->cluster, v.numbers[2]);
    assert_int_equal(e->n_parts, 2);
    assert_true(e->parts[0] == 2 && e->parts[1] == 3 && e->common[1] == 10 && e->of[1] == 10);
    e = first(&v, DDSC_IDENTITY_VANISHED);
    assert_true(e->cluster == 4 && e->size == 30 && e->n_shared == 8 && e->n_parts == 2);
    e = first(&v, DDSC_IDENTITY_NEW);
    assert_true(e->size == 25 && e->n_shared == 0 && e->n_parts == 0);
    assert_string_equal(e->words, "cluster 12 is new: 25 items, none of them in the first result");
    assert_int_equal(count(&v, DDSC_IDENTITY_NEW), 1);
    assert_int_equal(v.numbers[0], 0);
    assert_int_equal(v.numbers[1], 9); /* 4 of 10 items are fewer than half */
    assert_int_equal(v.numbers[5], -1);
    assert_int_equal(v.n_numbers, 13);
    assert_int_equal(v.n_numbers - v.n_unused, 5);
    for (int64_t u = 0; u < v.n_unused; u++)
        for (int b = 0; b < 6; b++)
            assert_int_not_equal(v.unused[u], v.numbers[b]);
    ddsc_identity_destroy(t);
    ddsc_context_destroy(ctx);
}

/* Items that move to an existing neighbor are not a split, and items without a cluster are counted.
 * */
static void test_moves_are_no_split(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    enum { N = 40 };
    int32_t before[N], after[N];
    for (int i = 0; i < N; i++) {
        before[i] = i / 20;
        after[i] = i < 14 || i >= 38 ? 0 : 1;
    }
    after[0] = -1;
    before[39] = -1;
    ddsc_identity_view v;
    ddsc_identity *t = run(ctx, &v, N, before, 2, after, 2, NULL);
    assert_int_equal(count(&v, DDSC_IDENTITY_SAME), 2);
    assert_int_equal(v.n_events, 2);
    assert_int_equal(v.common[0], 13);
    assert_close(v.events[0]->overlap, 13.0 / (20 + 15 - 13), 1e-15, 0);
    ddsc_identity_destroy(t);
    ddsc_context_destroy(ctx);
}

/* Numbers that are kept name the clusters of both results as they are. */
static void test_keep_numbers(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    int32_t before[] = {0, 0, 0, 3, 3, 3}, after[] = {5, 5, 5, 1, 1, 1};
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    set.keep_numbers = 1;
    ddsc_identity_view v;
    ddsc_identity *t = run(ctx, &v, 6, before, 4, after, 6, &set);
    assert_true(v.numbers[5] == 5 && v.numbers[1] == 1 && v.numbers[0] == -1);
    assert_true(v.same[5] == 0 && v.same[1] == 3 && v.same[0] == -1);
    assert_int_equal(v.n_events, 2);
    assert_string_equal(v.events[0]->words, "cluster 1 is the former cluster 3: 3 common items, "
                                            "out of 3 before and 3 now, overlap 1.00");
    ddsc_identity_destroy(t);
    ddsc_context_destroy(ctx);
}

/* Without shared items, all clusters are new or vanished. */
static void test_nothing_shared(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    int64_t old_sizes[] = {3, 4}, new_sizes[] = {5};
    int32_t none[1] = {0};
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    set.old_sizes = old_sizes;
    set.new_sizes = new_sizes;
    ddsc_identity_view v;
    ddsc_identity *t = run(ctx, &v, 0, none, 2, none, 1, &set);
    assert_int_equal(v.numbers[0], 2);
    assert_int_equal(count(&v, DDSC_IDENTITY_VANISHED), 2);
    assert_int_equal(count(&v, DDSC_IDENTITY_NEW), 1);
    assert_int_equal(v.n_unused, 2);
    ddsc_identity_destroy(t);
    ddsc_context_destroy(ctx);
}

static void test_arguments(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    int32_t before[] = {0, 1}, after[] = {0, 2};
    int64_t sizes[] = {1, 0};
    ddsc_identity *t = NULL;
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    assert_int_equal(ddsc_identity_run(ctx, &t, 2, before, 2, after, 2, NULL), DDSC_ERROR_ARGUMENT);
    assert_non_null(
        strstr(ddsc_context_get_message(ctx), "new label 1 is 2; labels must be less than k = 2"));
    set.old_sizes = sizes;
    assert_int_equal(ddsc_identity_run(ctx, &t, 2, before, 2, after, 3, &set), DDSC_ERROR_ARGUMENT);
    set.old_sizes = NULL;
    set.overlap = 0;
    assert_int_equal(ddsc_identity_run(ctx, &t, 2, before, 2, after, 3, &set), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_identity_run(ctx, &t, 2, before, 0, after, 3, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_identity_run(ctx, &t, 2, NULL, 2, after, 3, NULL), DDSC_ERROR_ARGUMENT);
    assert_null(t);
    assert_null(ddsc_identity_get_kind_name((ddsc_identity_kind)9));
    assert_string_equal(ddsc_identity_get_kind_name(DDSC_IDENTITY_SPLIT), "split");
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutation),        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_moves_are_no_split), cmocka_unit_test(test_keep_numbers),
        cmocka_unit_test(test_nothing_shared),     cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
