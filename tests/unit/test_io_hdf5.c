/* A host program that reaps all children itself, while libhdf5 never returns. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_fixture.h"

#ifdef DDSC_HAVE_HDF5

static int n_kills;
static bool has_handles, collects;

/* These functions replace those of the system and of libhdf5. */
int kill(pid_t child, int number)
{
    n_kills++;
    return (int)syscall(SYS_kill, child, number);
}

long syscall(long number, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
    va_list rest;
    va_start(rest, number);
    long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long),
         d = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_pidfd_open && !has_handles) {
        errno = ENOSYS;
        return -1;
    }
    return next(number, a, b, c, d);
}

int64_t H5Fopen(const char *name, unsigned flags, int64_t access_list);
int64_t H5Fopen(const char *name, unsigned flags, int64_t access_list)
{
    (void)name, (void)flags, (void)access_list;
    for (;;)
        pause();
}

/* Ends the child and collects it, as a SIGCHLD handler of the host program would, and cancels. The
 * first two calls come before the request that never ends. */
static int collect(void *user)
{
    int *n_calls = user;
    long child = 0;
    FILE *list = fopen("/proc/thread-self/children", "r");
    bool waits = list && fscanf(list, "%ld", &child) == 1 && ++*n_calls > 2;
    if (list)
        fclose(list);
    if (waits && collects) {
        syscall(SYS_kill, child, SIGKILL);
        assert_int_equal(waitpid((pid_t)child, NULL, 0), child);
    }
    return waits;
}

static void test_a_collected_child_is_not_killed(void **state)
{
    (void)state;
    static const char signature[64] = "\x89HDF\r\n\x1a\n";
    const char *path = folder_put(&scratch_folder, "a.h5ad", signature, sizeof signature);
    for (int k = 0; k < 4; k++) {
        int n_calls = 0;
        ddsc_context_settings set;
        ddsc_context *ctx;
        ddsc_measures *m;
        ddsc_context_settings_init(&set);
        set.cancel = collect;
        set.cancel_user = &n_calls;
        has_handles = k % 2;
        collects = k / 2;
        n_kills = 0;
        assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
        assert_int_equal(ddsc_measures_read(ctx, &m, path, NULL), DDSC_ERROR_CANCELED);
        assert_int_equal(n_kills, !has_handles && !collects);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child remains */
        assert_int_equal(errno, ECHILD);
        ddsc_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_collected_child_is_not_killed)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

int main(void)
{
    puts("skipped: built without libhdf5");
    return 77;
}

#endif
