/* Implements ddsc_team with MPI. Counts in MPI are ints, so messages larger than MESSAGE_MOST are
 * split. Sender and receiver derive the parts from the size of the message. All calls come from the
 * thread that called the library (MPI_THREAD_FUNNELED). */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "team.h"

/* MPI functions return MPI_SUCCESS on success. */
#define GOOD(call)                 \
    do {                           \
        if ((call) != MPI_SUCCESS) \
            return 1;              \
    } while (0)

/* ---- memory shared by the ranks of a machine ---- */

/* Memory is shared through a POSIX shared memory object, whose name is removed as soon as all ranks
 * have opened it. An object remains only if a rank is killed before its name is removed.
 * MPI_Win_allocate_shared is not used for two reasons. If there is too little space (64 MB in a
 * container), the first rank fails under Open MPI and the others wait forever. In addition, its
 * blocks can only be freed by all ranks together. */
enum { NAME_SIZE = 64 };

static int all_good(const mpi_state *m, bool good)
{
    int own = good, all = 0;
    GOOD(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, m->comm));
    return all ? 0 : 1;
}

/* Creates a zeroed object of the specified size. Returns -1 if there is too little space. */
static int create_memory(char name[NAME_SIZE], int64_t bytes)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, NAME_SIZE, "/ddsc-%ld-%lld-%ld", (long)getpid(), (long long)now.tv_sec,
             now.tv_nsec);
    int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
    if (file >= 0 && posix_fallocate(file, 0, (off_t)bytes) != 0) {
        close(file);
        file = -1;
        shm_unlink(name);
    }
    return file;
}

/* Opens a block. The first rank of the machine creates the memory, and the other ranks open it by
 * name. */
static bool open_memory(const mpi_state *m, shared_block *b, int rank)
{
    char name[NAME_SIZE] = "";
    int file = rank == 0 ? create_memory(name, b->bytes) : -1;
    bool named = MPI_Bcast(name, NAME_SIZE, MPI_CHAR, 0, m->machine) == MPI_SUCCESS;
    if (rank > 0 && named)
        file = shm_open(name, O_RDWR, 0);
    void *memory = MAP_FAILED;
    if (file >= 0) {
        memory = mmap(NULL, (size_t)b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    named = MPI_Barrier(m->machine) == MPI_SUCCESS && named; /* all ranks have opened it */
    if (rank == 0 && file >= 0)
        shm_unlink(name);
    b->memory = memory == MAP_FAILED ? NULL : memory;
    return b->memory && named;
}

static void free_block(shared_block *b)
{
    if (b && b->memory)
        munmap(b->memory, (size_t)b->bytes);
    free(b);
}

static int mpi_share(void *state, void **block, int64_t bytes, int *first)
{
    mpi_state *m = state;
    int rank = 0;
    shared_block *b = calloc(1, sizeof *b);
    if (all_good(m, b && MPI_Comm_rank(m->machine, &rank) == MPI_SUCCESS)) {
        free(b);
        return 1;
    }
    b->bytes = bytes > 0 ? bytes : 1;
    if (all_good(m, open_memory(m, b, rank))) {
        free_block(b);
        return 1;
    }
    b->next = m->blocks;
    m->blocks = b;
    *block = b->memory;
    *first = rank == 0;
    return 0;
}

static int mpi_ready(void *state)
{
    const mpi_state *m = state;
    atomic_thread_fence(memory_order_seq_cst);
    GOOD(MPI_Barrier(m->machine));
    atomic_thread_fence(memory_order_seq_cst);
    return 0;
}

static void mpi_unshare(void *state, void *block)
{
    mpi_state *m = state;
    shared_block **at = &m->blocks;
    while (*at && (*at)->memory != block)
        at = &(*at)->next;
    shared_block *b = *at;
    if (b)
        *at = b->next;
    free_block(b);
}

/* ---- messages ---- */

typedef struct messages {
    MPI_Request *request;
    int n, capacity;
} messages;

static MPI_Request *next_request(messages *all)
{
    if (all->n == all->capacity) {
        int capacity = 2 * all->capacity + 64;
        MPI_Request *more = realloc(all->request, (size_t)capacity * sizeof *more);
        if (!more)
            return NULL;
        all->request = more;
        all->capacity = capacity;
    }
    return &all->request[all->n++];
}

/* Starts to send `out` to a rank or, if `out` is NULL, to receive `in` from it. Large messages
 * are split. */
static int begin(const mpi_state *m, messages *all, const char *out, char *in, int64_t bytes,
                 int rank)
{
    for (int64_t at = 0; at < bytes; at += MESSAGE_MOST) {
        int n = (int)(bytes - at < MESSAGE_MOST ? bytes - at : MESSAGE_MOST);
        MPI_Request *r = next_request(all);
        if (!r)
            return 1;
        if (out)
            GOOD(MPI_Isend(out + at, n, MPI_BYTE, rank, 0, m->comm, r));
        else
            GOOD(MPI_Irecv(in + at, n, MPI_BYTE, rank, 0, m->comm, r));
    }
    return 0;
}

static int finish(messages *all, int failed)
{
    if (!failed)
        failed = MPI_Waitall(all->n, all->request, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    free(all->request);
    return failed;
}

/* Returns the offsets of the parts of all ranks, size + 1 values. The caller frees them. */
static int64_t *places(const int64_t *bytes, int size)
{
    int64_t *out = malloc((size_t)(size + 1) * sizeof *out);
    if (!out)
        return NULL;
    out[0] = 0;
    for (int r = 0; r < size; r++)
        out[r + 1] = out[r] + bytes[r];
    return out;
}

static int exchange_at(const mpi_state *m, const char *send, const int64_t *send_at, char *receive,
                       const int64_t *receive_at)
{
    messages all = {0};
    int failed = 0;
    memcpy(receive + receive_at[m->rank], send + send_at[m->rank],
           (size_t)(send_at[m->rank + 1] - send_at[m->rank]));
    for (int step = 1; step < m->size && !failed; step++) {
        int from = (m->rank + m->size - step) % m->size;
        failed = begin(m, &all, NULL, receive + receive_at[from],
                       receive_at[from + 1] - receive_at[from], from);
    }
    for (int step = 1; step < m->size && !failed;
         step++) { /* starts at a different rank on each sender */
        int to = (m->rank + step) % m->size;
        failed = begin(m, &all, send + send_at[to], NULL, send_at[to + 1] - send_at[to], to);
    }
    return finish(&all, failed);
}

static int mpi_exchange(void *state, const void *send, const int64_t *send_bytes, void *receive,
                        const int64_t *receive_bytes)
{
    mpi_state *m = state;
    int64_t *send_at = places(send_bytes, m->size), *receive_at = places(receive_bytes, m->size);
    int failed = !send_at || !receive_at || exchange_at(m, send, send_at, receive, receive_at);
    free(send_at);
    free(receive_at);
    return failed;
}

/* Gathers the parts in a ring: in step s, each rank forwards the part that it received in step s
 * - 1. */
static int gather_round(const mpi_state *m, char *data, const int64_t *at)
{
    int next = (m->rank + 1) % m->size, last = (m->rank + m->size - 1) % m->size, failed = 0;
    for (int step = 0; step < m->size - 1 && !failed; step++) {
        messages both = {0};
        int out = (m->rank + m->size - step) % m->size, in = (last + m->size - step) % m->size;
        failed = begin(m, &both, NULL, data + at[in], at[in + 1] - at[in], last) ||
                 begin(m, &both, data + at[out], NULL, at[out + 1] - at[out], next);
        failed = finish(&both, failed);
    }
    return failed;
}

static int gather_at_once(const mpi_state *m, void *data, const int64_t *at)
{
    int *count = malloc(2 * (size_t)m->size * sizeof *count), *begins = count + m->size;
    if (!count)
        return 1;
    for (int r = 0; r < m->size; r++) {
        count[r] = (int)(at[r + 1] - at[r]);
        begins[r] = (int)at[r];
    }
    int answer =
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count, begins, MPI_BYTE, m->comm);
    free(count);
    return answer != MPI_SUCCESS;
}

static int mpi_gather(void *state, void *data, const int64_t *bytes)
{
    mpi_state *m = state;
    int64_t *at = places(bytes, m->size);
    int failed = !at || (at[m->size] <= MESSAGE_MOST ? gather_at_once(m, data, at)
                                                     : gather_round(m, data, at));
    free(at);
    return failed;
}

static int mpi_scan(void *state, int64_t *value)
{
    mpi_state *m = state;
    int64_t own = *value;
    *value = 0; /* MPI_Exscan leaves the value of the first rank undefined */
    GOOD(MPI_Exscan(&own, value, 1, MPI_INT64_T, MPI_SUM, m->comm));
    return 0;
}

static int mpi_agree(void *state, double *value, int64_t n)
{
    mpi_state *m = state;
    const int64_t most = MESSAGE_MOST / (int64_t)sizeof *value;
    for (int64_t at = 0; at < n; at += most)
        GOOD(MPI_Allreduce(MPI_IN_PLACE, value + at, (int)(n - at < most ? n - at : most),
                           MPI_DOUBLE, MPI_MAX, m->comm));
    return 0;
}

/* ---- create, destroy ---- */

static int open_comms(mpi_state *m, MPI_Comm comm)
{
    GOOD(MPI_Comm_dup(comm, &m->comm));
    GOOD(MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN));
    GOOD(MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &m->machine));
    GOOD(MPI_Comm_set_errhandler(m->machine, MPI_ERRORS_RETURN));
    GOOD(MPI_Comm_rank(m->comm, &m->rank));
    GOOD(MPI_Comm_size(m->comm, &m->size));
    return 0;
}

int ddsc_team_create_mpi(ddsc_team *team, MPI_Comm comm)
{
    mpi_state *m = calloc(1, sizeof *m);
    ddsc_team_init(team);
    if (!m)
        return 1;
    m->comm = m->machine = MPI_COMM_NULL;
    team->state = m;
    if (open_comms(m, comm)) {
        ddsc_team_destroy_mpi(team);
        return 1;
    }
    team->rank = m->rank;
    team->size = m->size;
    team->exchange = mpi_exchange;
    team->gather = mpi_gather;
    team->scan = mpi_scan;
    team->agree = mpi_agree;
    team->share = mpi_share;
    team->ready = mpi_ready;
    team->unshare = mpi_unshare;
    team->eigen = eigen_slepc;
    return 0;
}

void ddsc_team_destroy_mpi(ddsc_team *team)
{
    mpi_state *m = team->state;
    if (!m)
        return;
    while (m->blocks)
        mpi_unshare(m, m->blocks->memory);
    eigen_slepc_end(m);
    if (m->machine != MPI_COMM_NULL)
        MPI_Comm_free(&m->machine);
    if (m->comm != MPI_COMM_NULL)
        MPI_Comm_free(&m->comm);
    free(m);
    ddsc_team_init(team);
}
