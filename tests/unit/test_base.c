/* Context, memory, random numbers, the parallel loop. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/workspace.h"
#include "support.h"

static void settings_have_defaults(void **state)
{
    (void)state;
    ddsc_context_settings set;
    memset(&set, 0xA5, sizeof set);
    ddsc_context_settings_init(&set);
    unsigned char sentinel[sizeof(void *)];
    memset(sentinel, 0xA5, sizeof sentinel);
    for (size_t at = 0; at + sizeof sentinel <= sizeof set; at += sizeof sentinel)
        assert_memory_not_equal((unsigned char *)&set + at, sentinel, sizeof sentinel);
    assert_int_equal(set.struct_size, sizeof set);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = (ddsc_context *)1;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = -1;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_ERROR_ARGUMENT);
    assert_null(ctx);
    ddsc_context_settings_init(&set);
    set.whole_process = 2;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_ERROR_ARGUMENT);
    ddsc_context_settings_init(&set);
    set.struct_size = 0;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_create(NULL, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(NULL);
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int s = DDSC_ERROR_INTERNAL; s <= DDSC_NOT_CONVERGED; s++)
        assert_string_not_equal(ddsc_status_name((ddsc_status)s), "unknown status");
}

static void first_message_wins(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ctx_fail(ctx, DDSC_ERROR_INPUT, "first %d", 1);
    ctx_fail(ctx, DDSC_ERROR_INPUT, "second");
    assert_string_equal(ddsc_context_get_message(ctx), "first 1");
    ctx_enter(ctx);
    assert_string_equal(ddsc_context_get_message(ctx), "");
    ddsc_context_destroy(ctx);
}

static void the_header_tells_the_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", DDSC_VERSION_MAJOR, DDSC_VERSION_MINOR,
             DDSC_VERSION_PATCH);
    assert_string_equal(ddsc_version(), text);
    assert_int_equal(DDSC_VERSION_NUMBER,
                     DDSC_VERSION_MAJOR * 10000 + DDSC_VERSION_MINOR * 100 + DDSC_VERSION_PATCH);
    assert_null(strstr(ddsc_features(), "jansson"));
    assert_null(strstr(ddsc_features(), "cairo"));
}

static void count_words(void *user, const char *text)
{
    assert_string_equal(text, "7 of 9 things");
    ++*(int *)user;
}

/* A warning is delivered at once and is not stored as the message; without a callback, it is
 * dropped. */
static void warnings_are_told(void **state)
{
    (void)state;
    int n_shown = 0;
    ddsc_context *ctx = NULL, *deaf = test_context(1, 0);
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.warning = count_words;
    set.warning_user = &n_shown;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    ctx_warn(ctx, "%d of %d things", 7, 9);
    ctx_warn(deaf, "%d of %d things", 7, 9);
    assert_int_equal(n_shown, 1);
    assert_string_equal(ddsc_context_get_message(ctx), "");
    ddsc_context_destroy(ctx);
    ddsc_context_destroy(deaf);
}

/* One entry per name with its last value, cleared by the next call, up to the maximum number. */
static void details_are_kept_by_name(void **state)
{
    (void)state;
    static char name[200][8];
    ddsc_context *ctx = test_context(1, 0);
    int64_t n = -1;
    ddsc_context_get_details(ctx, &n);
    assert_int_equal(n, 0);
    ctx_detail(ctx, "pruned", 1);
    ctx_detail(ctx, "solved", 2);
    ctx_detail(ctx, "pruned", 3);
    const ddsc_detail *left = ddsc_context_get_details(ctx, &n);
    assert_int_equal(n, 2);
    assert_string_equal(left[0].name, "pruned");
    assert_true(left[0].value == 3 && left[1].value == 2);
    assert_non_null(ddsc_context_get_details(ctx, NULL));
    for (int i = 0; i < 200; i++) {
        snprintf(name[i], sizeof name[i], "%d", i);
        ctx_detail(ctx, name[i], i);
    }
    ddsc_context_get_details(ctx, &n);
    assert_true(n > 20 && n < 200);
    ctx_enter(ctx);
    ddsc_context_get_details(ctx, &n);
    assert_int_equal(n, 0);
    assert_null(ddsc_context_get_details(NULL, &n));
    ddsc_context_destroy(ctx);
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    assert_int_equal(ctx_check_flags(ctx, "call", 3, 3), DDSC_OK);
    assert_int_equal(ctx_check_flags(ctx, "call", 6, 3), DDSC_ERROR_ARGUMENT);
    assert_string_equal(ddsc_context_get_message(ctx),
                        "call: flags = 0x6 contains unknown flags 0x4");
    assert_int_equal(ddsc_file_write(ctx, "/dev/null", "x", 1, 2), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

static void memory_is_aligned_and_counted(void **state)
{
    (void)state;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.memory_limit = 1 << 20;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    double *x = NULL, *y = NULL;
    assert_int_equal(MEM_NEW(ctx, x, 1000), DDSC_OK);
    assert_int_equal((uintptr_t)x % 64, 0);
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    assert_int_equal(mem_resize(ctx, &x, 50000, sizeof *x), DDSC_OK);
    assert_int_equal((uintptr_t)x % 64, 0);
    for (int i = 0; i < 1000; i++)
        assert_true(x[i] == i);
    assert_int_equal(MEM_NEW(ctx, y, 1 << 20), DDSC_ERROR_MEMORY);
    assert_null(y);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "limit"));
    assert_int_equal(MEM_NEW(ctx, y, INT64_MAX / 4), DDSC_ERROR_MEMORY);
    assert_true(ddsc_context_get_peak_memory(ctx) >= 400000);
    mem_free(ctx, x);
    mem_free(ctx, NULL);
    ddsc_context_destroy(ctx);
}

static void resize_grows_and_shrinks_many_sizes(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    int64_t *x = NULL;
    rng r = rng_make(3, RNG_KMEANS, 0);
    int64_t have = 0;
    for (int round = 0; round < 2000; round++) {
        int64_t want = rng_below(&r, 5000);
        assert_int_equal(mem_resize(ctx, &x, want, sizeof *x), DDSC_OK);
        for (int64_t i = 0; i < BASE_MIN(have, want); i++)
            assert_int_equal(x[i], i * 7);
        for (int64_t i = 0; i < want; i++)
            x[i] = i * 7;
        have = want;
    }
    mem_free(ctx, x);
    ddsc_context_destroy(ctx);
}

/* Philox 4x32-10 known answer (Random123 kat_vectors): zero counter, zero key. */
static void philox_matches_its_authors(void **state)
{
    (void)state;
    assert_true(rng_hash(0, 0, 0, 0) == 0xe169c58d6627e8d5u);
    rng r = {0};
    assert_true(rng_u64(&r) == 0xe169c58d6627e8d5u);
    assert_true(rng_u64(&r) == 0x9b00dbd8bc57ac4cu);
}

static void random_numbers_have_their_moments(void **state)
{
    (void)state;
    rng r = rng_make(42, RNG_EIGEN, 7);
    double mean = 0, square = 0, uniform = 0;
    enum { N = 200000 };
    int64_t counts[10] = {0};
    for (int i = 0; i < N; i++) {
        double z = rng_normal(&r), u = rng_uniform(&r);
        assert_true(u >= 0 && u < 1);
        mean += z / N;
        square += z * z / N;
        uniform += u / N;
        counts[rng_below(&r, 10)]++;
    }
    assert_close(mean, 0, 0, 0.01);
    assert_close(square, 1, 0, 0.02);
    assert_close(uniform, 0.5, 0, 0.005);
    for (int c = 0; c < 10; c++)
        assert_close((double)counts[c], N / 10.0, 0.05, 0);
}

static void streams_differ(void **state)
{
    (void)state;
    rng a = rng_make(1, RNG_EIGEN, 0), b = rng_make(1, RNG_EIGEN, 1), c = rng_make(2, RNG_EIGEN, 0),
        d = rng_make(1, RNG_KMEANS, 0), again = rng_make(1, RNG_EIGEN, 0);
    uint64_t first = rng_u64(&a);
    assert_true(first != rng_u64(&b) && first != rng_u64(&c) && first != rng_u64(&d));
    assert_true(first == rng_u64(&again));
}

typedef struct touched {
    int64_t fail_from;
    ddsc_context *ctx;
    atomic_int hits[1000];
} touched;

static ddsc_status touch(void *arg, int64_t begin, int64_t end, int worker)
{
    touched *t = arg;
    assert_true(worker >= 0);
    for (int64_t i = begin; i < end; i++) {
        if (i >= t->fail_from)
            return ctx_fail(t->ctx, i == t->fail_from ? DDSC_ERROR_INPUT : DDSC_ERROR_INTERNAL,
                            "item %lld", (long long)i);
        atomic_fetch_add(&t->hits[i], 1);
    }
    return DDSC_OK;
}

static void parallel_for_covers_each_index_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        ddsc_context *ctx = test_context(threads, 0);
        touched t = {.fail_from = INT64_MAX, .ctx = ctx};
        assert_int_equal(parallel_for(ctx, 1000, 7, touch, &t), DDSC_OK);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(atomic_load(&t.hits[i]), 1);
        ddsc_context_destroy(ctx);
    }
}

static void parallel_for_reports_the_lowest_failure(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        ddsc_context *ctx = test_context(3, 0);
        touched t = {.fail_from = 500, .ctx = ctx};
        assert_int_equal(parallel_for(ctx, 1000, 1, touch, &t), DDSC_ERROR_INPUT);
        ddsc_context_destroy(ctx);
    }
}

static int cancel_soon(void *user)
{
    int *calls = user;
    return ++*calls > 3;
}

static ddsc_status doze(void *arg, int64_t begin, int64_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    atomic_fetch_add((atomic_int *)arg, 1);
    usleep(1000);
    return DDSC_OK;
}

static void cancel_stops_the_loop(void **state)
{
    (void)state;
    int calls = 0;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 2;
    set.cancel = cancel_soon;
    set.cancel_user = &calls;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    atomic_int pieces = 0;
    assert_int_equal(parallel_for(ctx, 5000, 1, doze, &pieces), DDSC_ERROR_CANCELED);
    assert_true(atomic_load(&pieces) < 5000);
    assert_string_equal(ddsc_context_get_message(ctx), "stopped on request");
    ddsc_context_destroy(ctx);
}

typedef struct long_item {
    ddsc_context *ctx;
    atomic_int begun;
} long_item;

/* A helper that works on one item until the call is canceled; the caller has nothing more to do. */
static ddsc_status work_until_canceled(void *arg, int64_t begin, int64_t end, int worker)
{
    long_item *item = arg;
    (void)begin, (void)end;
    double limit = clock_seconds() + 20;
    if (worker > 0)
        atomic_store(&item->begun, 1);
    while (clock_seconds() < limit) {
        if (worker == 0 && atomic_load(&item->begun))
            return DDSC_OK;
        if (worker > 0 && ctx_canceled(item->ctx))
            return DDSC_ERROR_CANCELED;
        usleep(1000);
    }
    return worker > 0 ? DDSC_ERROR_INTERNAL : DDSC_OK;
}

static void cancel_reaches_a_helper_at_work(void **state)
{
    (void)state;
    int calls = 0;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 2;
    set.cancel = cancel_soon;
    set.cancel_user = &calls;
    long_item item = {0};
    assert_int_equal(ddsc_context_create(&item.ctx, &set), DDSC_OK);
    assert_int_equal(ctx_enter(item.ctx), DDSC_OK);
    assert_int_equal(parallel_for(item.ctx, 2, 1, work_until_canceled, &item), DDSC_ERROR_CANCELED);
    ddsc_context_destroy(item.ctx);
}

static void sizes_are_checked(void **state)
{
    (void)state;
    int64_t out;
    assert_true(mul_ok(3, 4, &out) && out == 12);
    assert_false(mul_ok(INT64_MAX, 2, &out));
    assert_false(mul_ok(-1, 2, &out));
    assert_false(add_ok(INT64_MAX, 1, &out));
}

/* Few and many values, some of them equal: ascending, complete, equal keys by position. */
static void sorts_put_in_order(void **state)
{
    (void)state;
    enum { MOST = 300 };
    for (int64_t n = 0; n <= MOST; n += n < 20 ? 1 : 40)
        for (int64_t kinds = 1; kinds <= 1000; kinds *= 10) {
            rng r = rng_make((uint64_t)n, RNG_SUBSET, (uint64_t)kinds);
            double x[MOST + 1], key[MOST + 1], sum = 0;
            int32_t i32[MOST + 1], order[MOST + 1];
            int64_t i64[MOST + 1], seen = 0, total = 0;
            uint64_t u64[MOST + 1];
            for (int64_t i = 0; i < n; i++) {
                i64[i] = rng_below(&r, kinds) - kinds / 2;
                key[i] = x[i] = (double)i64[i];
                i32[i] = (int32_t)i64[i];
                u64[i] = (uint64_t)(i64[i] + kinds);
                sum += x[i];
                total += i64[i];
            }
            sort_doubles(x, n);
            sort_i32(i32, n);
            sort_i64(i64, n);
            sort_u64(u64, n);
            sort_order(order, key, n);
            for (int64_t i = 0; i < n; i++) {
                sum -= x[i];
                total -= i64[i];
                seen += order[i];
                assert_true(x[i] == (double)i64[i] && i32[i] == i64[i]);
                assert_true(u64[i] == (uint64_t)(i64[i] + kinds) && key[order[i]] == x[i]);
                if (i > 0) {
                    assert_true(i64[i - 1] <= i64[i]);
                    assert_true(x[i - 1] < x[i] || order[i - 1] < order[i]);
                }
            }
            assert_true(sum == 0 && total == 0 && seen == n * (n - 1) / 2);
        }
    const int32_t sorted[] = {-3, 0, 7, 9};
    for (int32_t value = -5; value < 12; value++) {
        int64_t at = sort_find_i32(sorted, 4, value);
        assert_true(at < 0 ? value != -3 && value != 0 && value != 7 && value != 9
                           : sorted[at] == value);
    }
    assert_int_equal(sort_find_i32(sorted, 0, 1), -1);
}

/* Blocks of workers are disjoint and on separate cache lines; arrays of an arena do not overlap. */
static void take_two(void *owner, arena *a)
{
    double **array = owner;
    ARENA_TAKE(a, array[0], 3);
    ARENA_TAKE(a, array[1], 5);
}

static void memory_is_laid_out(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(3, 0);
    scratch s = {0};
    workspace w = {0};
    double *array[2];
    assert_int_equal(scratch_create(ctx, &s, 5, sizeof(double)), DDSC_OK);
    for (int k = 0; k < parallel_width(ctx); k++) {
        assert_int_equal((uintptr_t)scratch_of(&s, k) % 64, 0);
        memset(scratch_of(&s, k), k, 5 * sizeof(double));
    }
    for (int k = 0; k < parallel_width(ctx); k++)
        assert_int_equal(((char *)scratch_of(&s, k))[39], k);
    assert_int_equal(workspace_lay_out(ctx, &w, take_two, array), DDSC_OK);
    assert_true(array[1] >= array[0] + 3 && (uintptr_t)array[1] % 64 == 0);
    assert_true((char *)(array[1] + 5) <= w.block + w.size);
    char *before = w.block;
    assert_int_equal(workspace_lay_out(ctx, &w, take_two, array), DDSC_OK);
    assert_ptr_equal(w.block, before);
    assert_int_equal(scratch_create(ctx, &(scratch){0}, INT64_MAX, 8), DDSC_ERROR_MEMORY);
    mem_free(ctx, w.block);
    scratch_free(ctx, &s);
    ddsc_context_destroy(ctx);
}

/* The predicates of assertions, on arrays that satisfy or violate them. */
static void invariants_are_recognized(void **state)
{
    (void)state;
    const int64_t offset[] = {0, 2, 2, 5}, falling[] = {0, 3, 2, 5};
    const int32_t order[] = {2, 0, 3, 1}, twice[] = {2, 0, 2, 1}, ascending[] = {-1, 0, 7};
    const double weight[] = {0.25, 0.5, 0.25}, zero[] = {0.5, 0, 0.5}, bad[] = {1, NAN, 0};
    assert_true(invariant_offsets(offset, 3) && !invariant_offsets(falling, 3));
    assert_true(!invariant_offsets(offset + 1, 2)); /* must begin with 0 */
    assert_true(invariant_permutation(order, 4) && !invariant_permutation(twice, 4));
    assert_true(!invariant_permutation(order, 3));
    assert_true(invariant_ascending(ascending, 3) && !invariant_ascending(order, 4));
    assert_true(invariant_range(order, 4, 0, 4) && !invariant_range(order, 4, 0, 3));
    assert_true(invariant_range(ascending, 3, -1, 8) && !invariant_range(ascending, 3, 0, 8));
    assert_true(invariant_distribution(weight, 3) && !invariant_distribution(zero, 3));
    assert_true(!invariant_distribution(weight, 2));
    assert_true(invariant_between(weight, 3, 0, 1) && !invariant_between(bad, 3, 0, 1));
    assert_true(invariant_descending(zero, 2) && !invariant_descending(weight, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_are_recognized),
        cmocka_unit_test(settings_have_defaults),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(first_message_wins),
        cmocka_unit_test(the_header_tells_the_version),
        cmocka_unit_test(warnings_are_told),
        cmocka_unit_test(details_are_kept_by_name),
        cmocka_unit_test(unknown_flags_are_refused),
        cmocka_unit_test(memory_is_aligned_and_counted),
        cmocka_unit_test(resize_grows_and_shrinks_many_sizes),
        cmocka_unit_test(philox_matches_its_authors),
        cmocka_unit_test(random_numbers_have_their_moments),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(parallel_for_covers_each_index_once),
        cmocka_unit_test(parallel_for_reports_the_lowest_failure),
        cmocka_unit_test(cancel_stops_the_loop),
        cmocka_unit_test(cancel_reaches_a_helper_at_work),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(sorts_put_in_order),
        cmocka_unit_test(memory_is_laid_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
