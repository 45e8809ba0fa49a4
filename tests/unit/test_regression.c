/* One test for each defect that was found and fixed. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

typedef struct seats {
    int width;
    _Atomic int64_t sum;
} seats;

static ddsc_status add_up(void *arg, int64_t begin, int64_t end, int worker)
{
    seats *s = arg;
    assert_true(worker >= 0 && worker < s->width);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&s->sum, i);
    return DDSC_OK;
}

/* Threads that spun at the end of a loop made each small loop take a time slice on busy machines.
 */
static void many_small_loops_with_more_threads_than_processors(void **state)
{
    (void)state;
    enum { LOOPS = 5000, N = 64 };
    ddsc_context *ctx = test_context(32, 0);
    seats s = {.width = 32};
    for (int i = 0; i < LOOPS; i++)
        assert_int_equal(parallel_for(ctx, N, 1, add_up, &s), DDSC_OK);
    assert_int_equal(atomic_load(&s.sum), (int64_t)LOOPS * N * (N - 1) / 2);
    ddsc_context_destroy(ctx);
}

/* A forked child has no helper threads: it must not wait for them, join them, or wait for a lock
 * that one of them held. */
static void a_forked_child_can_use_and_destroy_the_context(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its runtime does not support threads in a child of a multithreaded parent */
#endif
    ddsc_context *ctx = test_context(4, 0);
    for (int round = 0; round < 50; round++) {
        seats s = {.width = 4};
        assert_int_equal(parallel_for(ctx, 100, 1, add_up, &s), DDSC_OK);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60); /* a waiting child never ends */
            ddsc_status status = parallel_for(ctx, 100, 1, add_up, &s);
            ddsc_context_destroy(ctx);
            _exit(status == DDSC_OK && atomic_load(&s.sum) == 2 * 4950 ? 0 : 1);
        }
        int how = 0;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    ddsc_context_destroy(ctx);
}

static void absurd_thread_counts_are_capped(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2000000000, 0);
    assert_true(ddsc_context_get_threads(ctx) >= 1 && ddsc_context_get_threads(ctx) <= 4096);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_small_loops_with_more_threads_than_processors),
        cmocka_unit_test(a_forked_child_can_use_and_destroy_the_context),
        cmocka_unit_test(absurd_thread_counts_are_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
