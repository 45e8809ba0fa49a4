/* A session owns the library context of one run, listens to Ctrl-C and turns statuses into exit
 * codes. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "progress.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* The first signal asks the library to stop; the handler is then gone, so a second one kills. */
static void listen(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (signal(SIGHUP, SIG_IGN) != SIG_IGN) /* nohup stays in force */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit is an error like a full disk */
    signal(SIGPIPE, SIG_DFL); /* `ddsc ... | head` ends without a word */
}

bool session_interrupted(void)
{
    return interrupted != 0;
}

static int cancel(void *user)
{
    (void)user;
    return interrupted;
}

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool session_open(session *s)
{
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    s->progress = progress_create((cli_progress)s->opt.progress, s->opt.quiet);
    set.threads = s->opt.threads > 4096 ? 4096 : (int)s->opt.threads;
    set.seed = (uint64_t)s->opt.seed;
    set.memory_limit = s->opt.memory;
    set.progress = progress_event;
    set.progress_user = s->progress;
    set.cancel = cancel;
    listen();
    if (ddsc_context_create(&s->ctx, &set) == DDSC_OK)
        return true;
    message_error("cannot start: out of memory");
    return false;
}

void session_close(session *s)
{
    ddsc_context_destroy(s->ctx);
    progress_destroy(s->progress);
    s->ctx = NULL;
    s->progress = NULL;
}

static int status_code(ddsc_status status)
{
    switch (status) {
    case DDSC_OK: return EXIT_GOOD;
    case DDSC_NOT_CONVERGED: return EXIT_NOT_CONVERGED;
    case DDSC_ERROR_ARGUMENT:
    case DDSC_ERROR_EXISTS: return EXIT_USAGE;
    case DDSC_ERROR_INPUT:
    case DDSC_ERROR_IO: return EXIT_INPUT;
    case DDSC_ERROR_MEMORY: return EXIT_MEMORY;
    case DDSC_ERROR_CANCELLED: return EXIT_INTERRUPTED;
    case DDSC_ERROR_INTERNAL: break;
    }
    return EXIT_INTERNAL;
}

bool session_ok(session *s, ddsc_status status, int *code)
{
    return session_ok_in(s, NULL, status, code);
}

bool session_ok_in(session *s, const char *file, ddsc_status status, int *code)
{
    if (status == DDSC_NOT_CONVERGED)
        s->not_converged = true;
    if (status >= 0)
        return true;
    *code = interrupted ? EXIT_INTERRUPTED : status_code(status);
    const char *message = ddsc_context_message(s->ctx);
    if (*code == EXIT_INTERRUPTED)
        message_error("interrupted");
    else if (status == DDSC_ERROR_EXISTS)
        message_error("%s (--force overwrites)", message);
    else if (status == DDSC_ERROR_INPUT && file)
        message_error("%s: %s", strcmp(file, "-") ? file : "standard input", message);
    else
        message_error("%s", *message ? message : ddsc_status_name(status));
    return false;
}

bool session_wrote(session *s, ddsc_status status, int *code)
{
    if (session_ok(s, status, code))
        return true;
    if (status == DDSC_ERROR_IO && !interrupted)
        *code = EXIT_INTERNAL;
    return false;
}

int session_exit(const session *s)
{
    return s->not_converged ? EXIT_NOT_CONVERGED : EXIT_GOOD;
}
