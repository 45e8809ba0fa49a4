/* A session owns the library context of one run, handles Ctrl-C, and converts statuses to exit
 * codes. */
#include "cli.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

static volatile sig_atomic_t interrupted;
static const double SAME_S = 0.5;

/* Handles a signal. The first signal asks the library to stop, and the second one kills the
 * process. If all processes of a job receive a signal, a rank receives it twice, the second time
 * from its guard (mpi/guard.c). A repetition within a short time is therefore ignored. */
static void on_signal(int number)
{
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first = now;
        interrupted = 1;
    } else if ((double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) >
               SAME_S) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void listen(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (signal(SIGHUP, SIG_IGN) != SIG_IGN) /* respects nohup */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGXFSZ,
           SIG_IGN); /* a write beyond the file size limit is an error, as on a full disk */
    signal(SIGPIPE, SIG_DFL); /* `ddsc ... | head` must exit silently */
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

ddsc_context *session_quiet_context(const session *s)
{
    ddsc_context_settings set;
    ddsc_context *ctx = NULL;
    ddsc_context_settings_init(&set);
    set.threads = ddsc_context_get_threads(s->ctx);
    set.seed = (uint64_t)s->opt.seed;
    set.memory_limit = s->opt.memory;
    set.cancel = cancel;
    return ddsc_context_create(&ctx, &set) == DDSC_OK ? ctx : NULL;
}

static void warn(void *user, const char *words)
{
    message_warning(user, "%s", words);
}

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void take_settings(session *s)
{
    const cli_options *o = &s->opt;
    s->set = (cli_settings){o->read, o->transform, o->cluster, o->metric, o->graph};
    s->set.metric.paper = s->set.graph.paper = o->cluster.paper;
    s->set.cluster.metric = &s->set.metric;
    s->set.cluster.graph = &s->set.graph;
    s->overwrite = o->force;
}

bool session_open(session *s)
{
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    bool silent = s->team && s->team->ranks.rank > 0;
    s->progress =
        progress_create(silent ? PROGRESS_NONE : (cli_progress)s->opt.progress, s->opt.quiet);
    set.threads = s->opt.threads > 4096 ? 4096 : (int)s->opt.threads;
    if (s->team && set.threads == 0)
        set.threads = s->team->threads;
    set.seed = (uint64_t)s->opt.seed;
    set.memory_limit = s->opt.memory;
    set.progress = progress_event;
    set.progress_user = s->progress;
    set.cancel = cancel;
    set.warning = warn;
    set.warning_user = s;
    set.whole_process = 1;
    set.encoding = (ddsc_encoding)s->opt.encoding;
    set.read_timeout_s = s->opt.read_timeout;
    listen();
    take_settings(s);
    if (ddsc_context_create(&s->ctx, &set) != DDSC_OK) {
        message_error("cannot start: out of memory");
        return false;
    }
    int code;
    return !s->team || session_ok(s, ddsc_context_set_team(s->ctx, &s->team->ranks), &code);
}

void session_close(session *s)
{
    ddsc_model_destroy(s->like);
    ddsc_context_destroy(s->ctx);
    progress_destroy(s->progress);
    s->ctx = NULL;
    s->progress = NULL;
}

bool session_alone(session *s, int *code)
{
    const cli_team *team = s->team;
    if (!team)
        return true;
    *code = team->meet(team, EXIT_GOOD);
    s->team = NULL;
    message_release();
    return team->ranks.rank == 0 && session_ok(s, ddsc_context_set_team(s->ctx, NULL), code);
}

static char *manifest_path(const session *s)
{
    return output_path(s->opt.resume, "manifest");
}

bool session_resumes(const session *s)
{
    if (!s->opt.resume)
        return false;
    char *path = manifest_path(s);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Configures --resume. The text contains all settings except the input and the metric, which the
 * library checks itself. */
bool session_resume(session *s, int *code)
{
    const ddsc_cluster_settings *c = &s->set.cluster;
    text t = {0};
    if (!s->opt.resume)
        return true;
    text_addf(&t, "%s", s->verb->name);
    if (strcmp(s->verb->name, "cluster") == 0)
        text_addf(&t,
                  " k %" PRId64 ":%" PRId64 ", gamma rule %d %.17g, min-cluster %.17g, paper %d",
                  c->k_min, c->k_max, (int)c->gamma_rule, c->gamma, c->min_cluster, c->paper);
    if (strcmp(s->verb->name, "distance") == 0)
        text_addf(&t, " condensed %d, squared %d", s->opt.condensed, s->opt.squared);
    static const char *const none[] = {NULL};
    bool good = output_check_dir(s, s->opt.resume, none, true, code) &&
                output_make_dir(s->opt.resume, code) &&
                session_ok(s, ddsc_context_set_resume(s->ctx, s->opt.resume, text_get(&t)), code);
    text_free(&t);
    return good;
}

device_words device_look(void)
{
    device_words device;
    device.there = ddsc_device_find("cuda", device.about, sizeof device.about);
    return device;
}

bool session_device(session *s, int *code)
{
    const char *device = s->opt.device ? s->opt.device : "auto";
    return session_ok(s, ddsc_context_set_device(s->ctx, device), code);
}

static int status_code(ddsc_status status)
{
    switch (status) {
    case DDSC_OK: return EXIT_GOOD;
    case DDSC_NOT_CONVERGED: return EXIT_NOT_CONVERGED;
    case DDSC_ERROR_ARGUMENT:
    case DDSC_ERROR_EXISTS: return EXIT_USAGE;
    case DDSC_ERROR_INPUT: return EXIT_INPUT;
    case DDSC_ERROR_IO: return EXIT_OUTPUT;
    case DDSC_ERROR_MEMORY: return EXIT_MEMORY;
    case DDSC_ERROR_CANCELED: return EXIT_INTERRUPTED;
    case DDSC_ERROR_INTERNAL: break;
    }
    return EXIT_INTERNAL;
}

void session_say_interrupted(const session *s)
{
    if (s->opt.resume)
        message_error("interrupted; run the same command again to continue from %s", s->opt.resume);
    else if (verb_has_option(s->verb, "resume"))
        message_error("interrupted; with --resume DIR, the run could be resumed");
    else
        message_error("interrupted");
}

bool session_ok(session *s, ddsc_status status, int *code)
{
    return session_ok_in(s, NULL, status, code);
}

/* Records the algorithms that the last call used, and reports each of them once. */
static void note_paths(session *s)
{
    const char *stage, *path, *why;
    const int most = (int)(sizeof s->plan / sizeof *s->plan);
    for (int64_t n = 0; ddsc_context_get_note(s->ctx, n, &stage, &path, &why); n++) {
        plan_line line;
        int k = 0;
        snprintf(line.stage, sizeof line.stage, "%s", stage);
        snprintf(line.path, sizeof line.path, "%s", path);
        snprintf(line.why, sizeof line.why, "%s", why);
        while (k < s->n_plan && (strcmp(s->plan[k].stage, line.stage) != 0 ||
                                 strcmp(s->plan[k].path, line.path) != 0))
            k++;
        if (k < s->n_plan || k == most)
            continue;
        s->plan[k] = line;
        s->n_plan++;
        if (s->opt.verbose && !s->opt.quiet)
            message_path(&line);
    }
}

bool session_ok_in(session *s, const char *file, ddsc_status status, int *code)
{
    note_paths(s);
    if (status == DDSC_NOT_CONVERGED)
        s->not_converged = true;
    if (status >= 0)
        return true;
    *code = interrupted ? EXIT_INTERRUPTED : status_code(status);
    const char *message = ddsc_context_get_message(s->ctx);
    if (s->opt.cost_file && strncmp(message, "cost matrix", 11) == 0)
        file = s->opt.cost_file;
    if (*code == EXIT_INTERRUPTED)
        session_say_interrupted(s);
    else if (status == DDSC_ERROR_EXISTS)
        message_error("%s (use --force to overwrite)", message);
    else if (status == DDSC_ERROR_INPUT && file)
        message_error("%s: %s", strcmp(file, "-") ? file : "standard input", message);
    else
        message_error("%s", *message ? message : ddsc_status_name(status));
    return false;
}

int session_exit(const session *s)
{
    return s->not_converged ? EXIT_NOT_CONVERGED : EXIT_GOOD;
}
