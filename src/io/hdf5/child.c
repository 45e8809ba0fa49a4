/* Runs libhdf5 in a child process, because a damaged file can crash libhdf5 or make it loop
 * forever. If the child crashes or must be killed, the caller gets an error. The child is a fork
 * without exec. The only writable memory that it shares with the caller is f->exchange. The child
 * calls none of the caller's code (no callbacks, no Python) and exits with _exit. The memory
 * allocations of libhdf5 are safe, because glibc permits them in the child of a multithreaded
 * process. */
#include "io/hdf5/hdf5.h"

#ifdef DDSC_HAVE_HDF5
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/hdf5/internal.h"

enum { POLL_MS = 20, FIRST_DESCRIPTOR = 3, MOST_DESCRIPTORS = 1 << 16 };
enum { PIDFD = 3 }; /* P_PIDFD, which is missing from glibc before 2.36 */
/* Maximum time that one wait adds to the elapsed time. This prevents a timeout after the process
 * was stopped (Ctrl-Z) or the machine was suspended. */
static const double LONGEST_STEP_S = 0.5;
/* Maximum times to wait until an idle child has exited, and until a killed child has exited. The
 * time is limited because a process that is blocked in device I/O cannot exit. */
static const double LEAVE_S = 2, DIE_S = 5;

#ifdef DDSC_COVERAGE
void __gcov_dump(void);
#endif

/* ---- in the child ---- */

static _Noreturn void child_leave(void)
{
#ifdef DDSC_COVERAGE
    __gcov_dump();
#endif
    _exit(0);
}

/* Ignores terminal signals, because the caller decides when the child exits. Disables core
 * dumps. */
static void child_signals(void)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    static const struct rlimit no_core = {0, 0};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
        signal(ours[k], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
}

/* Closes the descriptors from `first` to `last`. close_range fails on Linux before 5.9 and in some
 * sandboxes. */
static void close_all(unsigned first, unsigned last)
{
    if (close_range(first, last, 0) == 0)
        return;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        unsigned long fd = strtoul(e->d_name, NULL, 10);
        if (fd >= first && fd <= last && fd != (unsigned long)dirfd(dir))
            close((int)fd);
    }
    for (unsigned fd = first; !dir && fd <= last && fd < MOST_DESCRIPTORS; fd++)
        close((int)fd);
    if (dir)
        closedir(dir);
}

/* Redirects output to /dev/null and closes all of the caller's descriptors except the socket.
 * Returns the socket's new number. */
static int child_descriptors(int socket)
{
    int null = open("/dev/null", O_RDWR);
    socket = fcntl(socket, F_DUPFD, FIRST_DESCRIPTOR);
    null = null >= 0 ? fcntl(null, F_DUPFD, FIRST_DESCRIPTOR) : -1;
    if (socket < 0)
        child_leave();
    for (int k = 0; k < FIRST_DESCRIPTOR; k++)
        if (null < 0 || dup2(null, k) < 0)
            close(k);
    if (socket > FIRST_DESCRIPTOR)
        close_all(FIRST_DESCRIPTOR, (unsigned)socket - 1);
    close_all((unsigned)socket + 1, ~0U);
    return socket;
}

static _Noreturn void child_run(h5_file *f, int socket, pid_t caller)
{
    char byte = 0;
    child_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != caller) /* the caller has already exited */
        child_leave();
    socket = child_descriptors(socket);
    h5_hold(false);
    ctx_detach(f->ctx);
    for (;;) {
        ssize_t n = recv(socket, &byte, 1, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1)
            child_leave();
        f->exchange->status = h5_serve(f);
        snprintf(f->exchange->message, H5_MESSAGE, "%s", ctx_take_message(f->ctx));
        if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1)
            child_leave();
    }
}

/* ---- in the caller ---- */

ddsc_status h5_child_start(h5_file *f)
{
    int ends[2];
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return ctx_fail(f->ctx, DDSC_ERROR_MEMORY, "%s: cannot start a process to read it: %s",
                        stream_name(f->s), strerror(errno));
    pid_t caller = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); /* the caller's signal handlers must not run in the child */
    h5_hold(true);            /* while this lock is held, no thread of this process is in libhdf5 */
    pid_t child = fork();
    if (child == 0)
        child_run(f, ends[1], caller);
    int reason = errno;
    h5_hold(false);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return ctx_fail(f->ctx, DDSC_ERROR_MEMORY, "%s: cannot start a process to read it: %s",
                        stream_name(f->s), strerror(reason));
    }
    f->child = child;
    f->socket = ends[0];
    f->handle = (int)syscall(SYS_pidfd_open, child, 0);
    return DDSC_OK;
}

static void drop_handle(h5_file *f)
{
    if (f->handle >= 0)
        close(f->handle);
    f->handle = -1;
}

/* Returns true if the child has exited, or if the host program has already waited for it. Sets
 * *number to the signal that ended the child, or 0. The handle (pidfd) identifies the child even if
 * its process id has been reused. On old kernels, f->handle is -1. */
static bool child_ended(h5_file *f, int *number)
{
    siginfo_t info = {0};
    *number = 0;
    while (!f->ended) {
        bool by_handle = f->handle >= 0;
        int code = waitid(by_handle ? (idtype_t)PIDFD : P_PID,
                          (id_t)(by_handle ? f->handle : f->child), &info, WEXITED | WNOHANG);
        if (code == 0 && info.si_pid == 0)
            return false;
        if (code == 0 && info.si_code != CLD_EXITED)
            *number = info.si_status;
        if (code == 0 || errno == ECHILD)
            f->ended = true;
        else if (errno != EINTR && by_handle) /* waitid does not accept a pidfd before Linux 5.4 */
            drop_handle(f);
        else if (errno != EINTR)
            f->ended = true;
    }
    return true;
}

/* Waits for the child to exit. Returns false after `seconds`. */
static bool child_wait(h5_file *f, double seconds, int *number)
{
    double end = clock_seconds() + seconds;
    while (!child_ended(f, number)) {
        /* without a handle, poll is only a delay */
        struct pollfd look = {.fd = f->handle, .events = POLLIN};
        if (clock_seconds() > end)
            return false;
        poll(&look, 1, f->handle >= 0 ? POLL_MS : 1);
    }
    return true;
}

static void child_kill(h5_file *f)
{
    int number;
    if (child_ended(f, &number))
        return;
    if (f->handle >= 0)
        syscall(SYS_pidfd_send_signal, f->handle, SIGKILL, NULL, 0);
    else
        kill(f->child, SIGKILL);
    child_wait(f, DIE_S, &number);
}

void h5_child_stop(h5_file *f)
{
    int number;
    if (f->socket < 0)
        return;
    /* Another process may have a copy of the socket after a fork. shutdown closes the connection
     * for all copies. */
    shutdown(f->socket, SHUT_RDWR);
    close(f->socket);
    f->socket = -1;
    if (f->busy || !child_wait(f, LEAVE_S, &number))
        child_kill(f);
    drop_handle(f);
}

/* Fails because the child exited unexpectedly. */
static ddsc_status fail_crashed(h5_file *f, int number)
{
    if (number == SIGKILL)
        return ctx_fail(f->ctx, DDSC_ERROR_MEMORY,
                        "%s: the process that reads it was killed, perhaps because memory ran out",
                        stream_name(f->s));
    return stream_fail(f->s, "is a damaged HDF5 file: libhdf5 crashed (signal %d) at \"%s\"",
                       number, QUOTE(f->exchange->path));
}

static ddsc_status fail_stuck(h5_file *f, double limit)
{
    return stream_fail(f->s,
                       "no progress for %g seconds at \"%s\"; the HDF5 file is probably damaged "
                       "(if the storage is slow, raise the limit with --read-timeout)",
                       limit, QUOTE(f->exchange->path));
}

/* Waits for the child's reply. */
static ddsc_status child_answer(h5_file *f)
{
    double limit = ctx_read_timeout(f->ctx), waited = 0, last = clock_seconds();
    for (;;) {
        char byte;
        int number;
        struct pollfd look = {.fd = f->socket, .events = POLLIN};
        if (poll(&look, 1, POLL_MS) > 0) {
            if (recv(f->socket, &byte, 1, MSG_DONTWAIT) == 1)
                return DDSC_OK;
            child_wait(
                f, LEAVE_S,
                &number); /* returns false if the child closed the socket but is still running */
            return fail_crashed(f, number);
        }
        if (child_ended(f, &number)) /* another child of the caller may keep the socket open */
            return fail_crashed(f, number);
        CHECK(progress_poll(f->ctx));
        double now = clock_seconds();
        waited += BASE_MIN(now - last, LONGEST_STEP_S);
        last = now;
        if (limit > 0 && waited > limit)
            return fail_stuck(f, limit);
    }
}

ddsc_status h5_child_ask(h5_file *f)
{
    const h5_exchange *x = f->exchange;
    char byte = 0;
    if (f->busy) /* an earlier request failed */
        return fail_crashed(f, 0);
    f->busy = true;
    send(f->socket, &byte, 1, MSG_NOSIGNAL); /* if the child has exited, child_answer reports it */
    CHECK(child_answer(f));
    f->busy = false;
    if (x->status == DDSC_OK)
        return DDSC_OK;
    char message[H5_MESSAGE];
    memcpy(message, x->message, sizeof message);
    message[sizeof message - 1] = '\0';
    bool known = x->status == DDSC_ERROR_MEMORY || x->status == DDSC_ERROR_INPUT;
    return ctx_fail(f->ctx, known ? x->status : DDSC_ERROR_INTERNAL, "%s", message);
}

#endif
