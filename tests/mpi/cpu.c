/* Preloaded into a program (LD_PRELOAD) to measure CPU time inside MPI, which is mostly waiting,
 * separately from the program's own work. Each rank writes a line to the file $DDSC_MPI_CPU.RANK:
 * seconds outside, seconds inside, bytes sent in messages and in gather operations, and peak
 * resident megabytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double inside;
static double n_sent;
static int depth;

static double clock_now(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double enter(void)
{
    return depth++ ? 0 : clock_now(CLOCK_THREAD_CPUTIME_ID);
}

static int leave(double began, int answer)
{
    if (--depth == 0)
        inside += clock_now(CLOCK_THREAD_CPUTIME_ID) - began;
    return answer;
}

static void count(int n, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    n_sent += (double)n * size;
}

/* Only this rank's part is sent. */
static void count_own(const int *n, MPI_Datatype type, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    count(n[rank], type);
}

#define WRAP(name, sent, parameters, ...)              \
    int MPI_##name parameters                          \
    {                                                  \
        double began = enter();                        \
        sent;                                          \
        return leave(began, PMPI_##name(__VA_ARGS__)); \
    }
#define NONE ((void)0)

WRAP(Barrier, NONE, (MPI_Comm c), c)
WRAP(Bcast, NONE, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), b, n, t, r, c)
WRAP(Allreduce, count(n, t), (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     s, r, n, t, o, c)
WRAP(Reduce, count(n, t),
     (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c), s, r, n, t, o,
     root, c)
WRAP(Exscan, count(n, t), (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), s,
     r, n, t, o, c)
WRAP(Scan, count(n, t), (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), s, r,
     n, t, o, c)
WRAP(Allgather, NONE,
     (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c), s, n, t, r,
     m, u, c)
WRAP(Allgatherv, count_own(m, u, c),
     (const void *s, int n, MPI_Datatype t, void *r, const int *m, const int *d, MPI_Datatype u,
      MPI_Comm c),
     s, n, t, r, m, d, u, c)
WRAP(Isend, count(n, t),
     (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q), b, n, t,
     to, tag, c, q)
WRAP(Irecv, NONE, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *q),
     b, n, t, from, tag, c, q)
WRAP(Send, count(n, t), (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), b, n,
     t, to, tag, c)
WRAP(Recv, NONE, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), b,
     n, t, from, tag, c, s)
WRAP(Wait, NONE, (MPI_Request * q, MPI_Status *s), q, s)
WRAP(Waitall, NONE, (int n, MPI_Request q[], MPI_Status *s), n, q, s)
WRAP(Waitany, NONE, (int n, MPI_Request q[], int *k, MPI_Status *s), n, q, k, s)
WRAP(Waitsome, NONE, (int n, MPI_Request q[], int *m, int k[], MPI_Status *s), n, q, m, k, s)
WRAP(Test, NONE, (MPI_Request * q, int *f, MPI_Status *s), q, f, s)
WRAP(Start, NONE, (MPI_Request * q), q)
WRAP(Startall, NONE, (int n, MPI_Request q[]), n, q)
WRAP(Win_fence, NONE, (int a, MPI_Win w), a, w)
WRAP(Win_free, NONE, (MPI_Win * w), w)
WRAP(Comm_dup, NONE, (MPI_Comm c, MPI_Comm *d), c, d)
WRAP(Comm_free, NONE, (MPI_Comm * c), c)
WRAP(Init_thread, NONE, (int *n, char ***w, int asked, int *given), n, w, asked, given)

int MPI_Finalize(void)
{
    const char *place = getenv("DDSC_MPI_CPU");
    char path[4096];
    int rank = 0;
    struct rusage used;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    getrusage(RUSAGE_SELF, &used);
    snprintf(path, sizeof path, "%s.%d", place ? place : "mpi_cpu", rank);
    FILE *out = fopen(path, "w");
    if (out) {
        fprintf(out, "%.3f %.3f %.0f %.1f\n", clock_now(CLOCK_PROCESS_CPUTIME_ID) - inside, inside,
                n_sent, (double)used.ru_maxrss / 1024);
        fclose(out);
    }
    return PMPI_Finalize();
}
