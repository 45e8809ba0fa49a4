/* ddsc-mpi: runs the program ddsc on the ranks of an MPI job. All ranks run the same command,
 * and ddsc.h describes how a team divides the work. Only the first rank prints and writes files. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "ddsc_mpi.h"
#include "give_back.h"

/* Ranks that fail with the same error do so at about the same time. If only one rank has failed
 * after this many seconds, it ends the other ranks, which would otherwise wait forever. */
static const double ALONE_S = 10;

typedef struct program {
    cli_team team; /* must be first, because meet() casts to program */
    MPI_Comm comm; /* used only by meet() */
} program;

static bool at_work; /* between MPI_Init and MPI_Finalize */

/* Aborts the job if a rank exits early, as cli_allocate does when memory runs out. */
static void left_early(void)
{
    if (at_work)
        MPI_Abort(MPI_COMM_WORLD, EXIT_RANK);
}

/* Returns true if the request completes in time. Polls with sleeps, so that waiting ranks leave
 * the CPU to working ranks. */
static bool done_within(MPI_Request *request, double seconds)
{
    double end = cli_now() + seconds;
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
        if (cli_now() > end)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return done;
}

/* Aborts the job because of an error on this rank only. */
static void end_all(const program *p, int code)
{
    const ddsc_team *ranks = &p->team.ranks;
    if (ranks->rank > 0 || *message_held()) /* the first rank may have printed the error already */
        fprintf(stderr, "ddsc: rank %d of %d: %s\n", ranks->rank, ranks->size,
                *message_held() ? message_held() : "failed");
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, code == EXIT_INTERRUPTED ? code : EXIT_RANK);
}

static int meet(const cli_team *team, int code)
{
    const program *p = (const program *)team;
    int rank = team->ranks.rank, size = team->ranks.size;
    /* values whose maxima over the ranks are the highest code, the lowest code (negated), and the
     * first rank that failed (as size - rank) */
    int own[3] = {code, -code, code == EXIT_GOOD ? 0 : size - rank}, all[3] = {0};
    MPI_Request request;
    MPI_Iallreduce(own, all, 3, MPI_INT, MPI_MAX, p->comm, &request);
    if (!done_within(&request, code == EXIT_GOOD ? 1e300 : ALONE_S))
        end_all(p, code);
    if (all[0] == -all[1])
        return code;
    if (rank == size - all[2])
        end_all(p, code);
    for (double end = cli_now() + ALONE_S;
         cli_now() < end;) /* the first rank that failed reports the error and aborts this one */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_RANK);
    return EXIT_RANK;
}

/* Waits until the first rank has finished printing and writing. The other ranks sleep until
 * then. */
static void await_first(const program *p)
{
    MPI_Request request;
    MPI_Ibarrier(p->comm, &request);
    done_within(&request, 1e300);
}

/* Returns the number of threads of this rank: its available CPUs, divided by the number of ranks
 * on this machine with the same CPUs. */
static int own_threads(void)
{
    cpu_set_t own, *all = NULL;
    MPI_Comm machine;
    int n = 0, alike = 0;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        CPU_SET(0, &own);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &n);
    all = cli_allocate((size_t)n, sizeof *all);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, machine);
    for (int r = 0; r < n; r++)
        alike += CPU_EQUAL(&own, &all[r]);
    free(all);
    MPI_Comm_free(&machine);
    int threads = CPU_COUNT(&own) / alike;
    return threads > 1 ? threads : 1;
}

static int run(int argc, char **argv)
{
    program p = {.team = {.meet = meet}};
    if (ddsc_team_create_mpi(&p.team.ranks, MPI_COMM_WORLD) != 0) {
        message_error("MPI cannot create the communicators of the ranks");
        MPI_Abort(MPI_COMM_WORLD, EXIT_RANK);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &p.comm);
    p.team.threads = own_threads();
    int code = cli_main(argc, argv, &p.team);
    await_first(&p);
    MPI_Comm_free(&p.comm);
    if (p.team.ranks.rank > 0)
        code = EXIT_GOOD; /* only the exit code of the first rank counts */
    ddsc_team_destroy_mpi(&p.team.ranks);
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) /* started by MPI_Comm_spawn, for example from mpi4py */
        MPI_Comm_disconnect(&parent);
    return code;
}

int main(int argc, char **argv)
{
    int provided = MPI_THREAD_SINGLE;
    give_memory_back();
    setenv("NO_COLOR", "1", 0); /* mpirun can present a pseudo-terminal to the first rank */
    if (argc > 1 && verb_find(argv[1]))
        choose_kernels(argv);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    at_work = true;
    atexit(left_early);
    if (provided < MPI_THREAD_FUNNELED) {
        message_error("this MPI library does not support threads (MPI_THREAD_FUNNELED)");
        return EXIT_RANK;
    }
    int code = run(argc, argv);
    at_work = false;
    MPI_Finalize();
    return code;
}
