/* Properties of every public call that can fail: failed allocations, any number of threads,
 * cancellation. The calls are in the tables of support/public_*.c. The last test reads the public
 * header and fails if one of its functions is missing from the tables. */
#include <ctype.h>

#include "public_calls.h"
#include "io_support.h"

typedef struct known {
    const call_entry *entry;
    uint64_t answer; /* 0: not yet known */
} known;

/* ---- failed allocations ---- */

static ddsc_status call_again(ddsc_context *ctx, void *arg)
{
    known *k = arg;
    uint64_t answer;
    ddsc_status status = calls_run(ctx, k->entry, &answer);
    if (status == DDSC_ERROR_MEMORY)
        assert_non_null(strstr(ddsc_context_get_message(ctx), "out of memory"));
    if (status >= 0 && k->answer != 0 && answer != k->answer)
        fail_msg("another answer after a failure");
    if (status >= 0)
        k->answer = answer;
    return status;
}

static void test_allocations(void **state)
{
    known k = {.entry = *state};
    test_failing_allocations(call_again, &k);
}

/* ---- threads ---- */

static void test_threads(void **state)
{
    uint64_t answer[3];
    for (int threads = 1; threads <= 3; threads++) {
        ddsc_context *ctx = test_context(threads, 5);
        if (calls_run(ctx, *state, &answer[threads - 1]) < 0)
            fail_msg("%d threads: %s", threads, ddsc_context_get_message(ctx));
        ddsc_context_destroy(ctx);
    }
    assert_int_equal(answer[0], answer[1]);
    assert_int_equal(answer[0], answer[2]);
}

/* ---- cancellation ---- */

typedef struct patience {
    int asked, until; /* cancels at this poll */
} patience;

static int out_of_patience(void *user)
{
    patience *p = user;
    return ++p->asked >= p->until;
}

/* Cancels at the first poll, then at the second, and so on, and then not at all. The context
 * remains usable. */
static void test_cancel(void **state)
{
    enum { QUESTIONS = 30 };
    uint64_t answer, expected;
    ddsc_context *plain = test_context(2, 0);
    assert_true(calls_run(plain, *state, &expected) >= 0);
    ddsc_context_destroy(plain);
    patience p = {0, 0};
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 2;
    set.cancel = out_of_patience;
    set.cancel_user = &p;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    for (int until = 1; until <= test_size(QUESTIONS); until++) {
        p = (patience){0, until};
        ddsc_status status = calls_run(ctx, *state, &answer);
        if (p.asked < until)
            break;
        if (status != DDSC_ERROR_CANCELED)
            fail_msg("stopped at question %d, and the status is %s: %s", until,
                     ddsc_status_name(status), ddsc_context_get_message(ctx));
    }
    p = (patience){0, INT32_MAX};
    assert_true(calls_run(ctx, *state, &answer) >= 0);
    assert_int_equal(answer, expected);
    ddsc_context_destroy(ctx);
}

/* ---- the header ---- */

static bool is_called(const char *name, size_t n)
{
    const call_entry *c;
    for (size_t k = 0; (c = calls_get(k)); k++)
        if (strlen(c->function) == n && strncmp(c->function, name, n) == 0)
            return true;
    return false;
}

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

/* Each "ddsc_status ddsc_name(" of the public header is a call that can fail. */
static void test_header(void **state)
{
    (void)state;
    static const char type[] = "ddsc_status";
    size_t size;
    char *text = file_bytes(DDSC_SOURCE_DIR "/include/ddsc/ddsc.h", &size);
    int n_functions = 0, n_missing = 0;
    for (const char *at = strstr(text, type); at; at = strstr(at, type)) {
        at += strlen(type);
        const char *name = at + strspn(at, " \n");
        size_t n = word_length(name);
        if (name == at || strncmp(name, "ddsc_", 5) != 0 || name[n] != '(')
            continue;
        n_functions++;
        if (!is_called(name, n)) {
            print_error("%.*s is in no table of tests/support/public_*.c\n", (int)n, name);
            n_missing++;
        }
    }
    const call_entry *c;
    for (size_t k = 0; (c = calls_get(k)); k++)
        if (!strstr(text, c->function))
            fail_msg("%s is not in the header", c->function);
    free(text);
    assert_int_equal(n_missing, 0);
    assert_true(n_functions >= 40); /* otherwise the header is not parsed correctly */
}

/* Runs every test for every call, with the name "test function variant". An argument is a pattern
 * of names. */
int main(int argc, char **argv)
{
    static const struct CMUnitTest each[] = {
        {"allocations", test_allocations, NULL, NULL, NULL},
        {"threads", test_threads, NULL, NULL, NULL},
        {"cancel", test_cancel, NULL, NULL, NULL},
    };
    enum { N_EACH = sizeof each / sizeof each[0], ROOM = 1024, NAME = 96 };
    static struct CMUnitTest tests[ROOM];
    static char names[ROOM][NAME];
    const call_entry *c;
    size_t n = 0;
    for (size_t t = 0; t < N_EACH; t++)
        for (size_t k = 0; (c = calls_get(k)); k++, n++) {
            if (n == ROOM - 1)
                return 1;
            snprintf(names[n], NAME, "%s %s %s", each[t].name, c->function, c->way);
            tests[n] =
                (struct CMUnitTest){names[n], each[t].test_func, NULL, NULL, (void *)(uintptr_t)c};
        }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_header);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("calls", tests, n, calls_set_up, calls_tear_down);
}
