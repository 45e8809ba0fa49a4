/* ddsc-mpi: starts the rank program ddsc-mpi-rank, which is installed next to it, and monitors it.
 * A rank that is killed, by a user or because memory runs out, cannot report its end or choose an
 * exit code, so the guard does both. It uses neither MPI nor the library, so it starts before
 * anything large is loaded and needs few resources. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* If several ranks are lost at once, each guard waits TURN_MS for each lower rank. The first guard
 * that reports a loss ends the job, and the others then report nothing. */
enum { TURN_MS = 100, TURNS_MOST = 10, ENDING_S = 5 };

typedef struct watch {
    sigset_t handed; /* signals that were forwarded */
    time_t ends;     /* time of the last signal that ends the job, or 0 if there was none */
} watch;

static const char *first_set(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names))
            return getenv(*names);
    return NULL;
}

/* Returns the rank as set by Open MPI, PMIx or PMI (MPICH, Slurm), or NULL without a launcher. */
static const char *own_rank(void)
{
    return first_set((const char *const[]){"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL});
}

static const char *n_ranks(void)
{
    return first_set(
        (const char *const[]){"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL});
}

/* Replaces this process with the rank program. Does not return. */
static void become_rank(char **argv)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof "-rank");
    if (n > 0) {
        memcpy(path + n, "-rank", sizeof "-rank");
        argv[0] = path; /* choose_kernels compares this with the running file */
        execv(path, argv);
    }
    dprintf(STDERR_FILENO, "ddsc: cannot start %s: %s\n", n > 0 ? path : "ddsc-mpi-rank",
            strerror(errno));
    _exit(EXIT_INTERNAL);
}

/* Starts the rank in its own process group. Some launchers signal a process and others its
 * group, and each signal must arrive only once. The rank is killed if its guard dies. */
static void begin_rank(char **argv, pid_t guard, const sigset_t *mask)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard) /* the guard died before PR_SET_PDEATHSIG took effect */
        _exit(EXIT_RANK);
    sigprocmask(SIG_SETMASK, mask, NULL);
    become_rank(argv);
}

static bool resumes(char **argv)
{
    while (*argv && strncmp(*argv, "--resume", 8) != 0)
        argv++;
    return *argv;
}

static void say_lost(char **argv, const char *rank, int number)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *size = n_ranks();
    gethostname(host, sizeof host - 1);
    dprintf(STDERR_FILENO, "ddsc: rank %s%s%s on %s was lost: killed by signal %d (%s)%s; %s\n",
            rank, size ? " of " : "", size ? size : "", host, number, strsignal(number),
            number == SIGKILL ? ", as the system does when memory runs out" : "",
            resumes(argv)
                ? "the same command on any number of ranks resumes from its --resume folder"
                : "with --resume DIR, an interrupted run can be resumed");
}

/* Adds the signals with which a launcher ends the job. Open MPI first wakes all ranks with
 * SIGCONT and terminates them a second later. */
static void add_ends(sigset_t *set)
{
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGCONT);
}

/* Returns true if the launcher ends the job before it is this guard's turn to report. */
static bool ends_anyway(const char *rank)
{
    sigset_t end;
    long turns = strtol(rank, NULL, 10), wait = TURN_MS * (turns < TURNS_MOST ? turns : TURNS_MOST);
    sigemptyset(&end);
    add_ends(&end);
    return sigtimedwait(&end, NULL, &(struct timespec){wait / 1000, wait % 1000 * 1000000}) > 0;
}

/* Returns the exit code for a rank that ended. A rank that was ended by a forwarded signal is not
 * reported as lost. */
static int code_of(int status, const watch *w, char **argv, const char *rank)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    if (sigismember(&w->handed, number))
        return 128 + number;
    bool ends = w->ends && time(NULL) - w->ends <= ENDING_S;
    if (!ends && !ends_anyway(rank))
        say_lost(argv, rank, number);
    return EXIT_RANK;
}

/* Waits until the rank ends, and forwards all signals to it. The signals are blocked in this
 * process. */
static int stand_guard(pid_t rank, const sigset_t *all, char **argv, const char *name)
{
    sigset_t end;
    watch w = {0};
    int status = 0, number = 0;
    sigemptyset(&w.handed);
    sigemptyset(&end);
    add_ends(&end);
    for (;;) {
        if (sigwait(all, &number) != 0)
            continue;
        if (number != SIGCHLD) {
            sigaddset(&w.handed, number);
            w.ends = sigismember(&end, number) ? time(NULL) : w.ends;
            kill(rank, number);
        } else if (waitpid(rank, &status, WNOHANG) == rank) {
            return code_of(status, &w, argv, name);
        }
    }
}

int main(int argc, char **argv)
{
    const char *name = own_rank();
    sigset_t all, before;
    (void)argc;
    if (!name) /* not started by a launcher: the shell reports how the process ended */
        become_rank(argv);
    signal(SIGCHLD, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t guard = getpid(), rank = fork();
    if (rank == 0)
        begin_rank(argv, guard, &before);
    if (rank < 0) { /* no guard can be started, so the rank is run directly */
        sigprocmask(SIG_SETMASK, &before, NULL);
        become_rank(argv);
    }
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    prctl(PR_SET_NAME, "ddsc-guard");
    return stand_guard(rank, &all, argv, name);
}
