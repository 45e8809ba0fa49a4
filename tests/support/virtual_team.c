/* Ranks as threads. Each call has a barrier at which all ranks publish their data, and one after
 * all ranks have copied it. */
#include "virtual_team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int slots, machine; /* ranks of a machine, 0: all */

typedef struct virtual_team virtual_team;

/* Shared memory of a machine, with a reference count. */
typedef struct virtual_block {
    struct virtual_block *next;
    int users;
    double memory[];
} virtual_block;

typedef struct virtual_rank {
    virtual_team *team;
    ddsc_team table;
    const void *send; /* its data for the current call */
    const int64_t *bytes;
    double since, cpu; /* thread time when the last call ended; between the two last calls */
    double sent;
    virtual_block *made; /* set by the first rank of a machine in the current call */
    virtual_fn fn;
    void *arg;
} virtual_rank;

struct virtual_team {
    int size;
    pthread_mutex_t lock;
    pthread_cond_t all_here, slot_free;
    int here, left, busy; /* ranks that wait for the others; that have ended; that compute */
    int64_t meeting;
    virtual_rank *rank;
    virtual_block *blocks;
    virtual_cost cost;
};

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_step(virtual_team *t)
{
    double slowest = 0, most = 0;
    for (int r = 0; r < t->size; r++) {
        const virtual_rank *k = &t->rank[r];
        slowest = k->cpu > slowest ? k->cpu : slowest;
        most = k->sent > most ? k->sent : most;
        t->cost.work += k->cpu;
        t->cost.bytes += k->sent;
    }
    t->cost.path += slowest;
    t->cost.bytes_path += most;
    t->cost.n_calls++;
}

/* Call both functions with the lock held. */
static void slot_take(virtual_team *t)
{
    while (slots > 0 && t->busy >= slots)
        pthread_cond_wait(&t->slot_free, &t->lock);
    t->busy++;
}

static void slot_give(virtual_team *t)
{
    t->busy--;
    pthread_cond_signal(&t->slot_free);
}

/* Barrier of all ranks. Returns non-zero if a rank has left. */
static int meet(virtual_team *t, int counts)
{
    int failed;
    pthread_mutex_lock(&t->lock);
    slot_give(t);
    int64_t mine = t->meeting;
    if (++t->here == t->size) {
        if (counts)
            add_step(t);
        t->here = 0;
        t->meeting++;
        pthread_cond_broadcast(&t->all_here);
    }
    while (t->meeting == mine && t->left == 0)
        pthread_cond_wait(&t->all_here, &t->lock);
    failed = t->meeting == mine;
    slot_take(t);
    pthread_mutex_unlock(&t->lock);
    return failed;
}

static int begin(virtual_rank *k, const void *send, const int64_t *bytes, double sent)
{
    k->send = send;
    k->bytes = bytes;
    k->sent = sent;
    k->cpu = thread_seconds() - k->since;
    return meet(k->team, 1);
}

static int end(virtual_rank *k)
{
    int failed = meet(k->team, 0);
    k->since = thread_seconds();
    return failed;
}

static double sum_but(const virtual_rank *k, const int64_t *bytes)
{
    double sum = 0;
    for (int r = 0; r < k->team->size; r++)
        sum += r == k->table.rank ? 0 : (double)bytes[r];
    return sum;
}

static int exchange(void *state, const void *send, const int64_t *send_bytes, void *receive,
                    const int64_t *receive_bytes)
{
    virtual_rank *k = state;
    char *to = receive;
    int wrong = 0;
    if (begin(k, send, send_bytes, sum_but(k, send_bytes)))
        return 1;
    for (int r = 0; r < k->team->size; r++) {
        const virtual_rank *from = &k->team->rank[r];
        size_t at = 0;
        for (int q = 0; q < k->table.rank; q++)
            at += (size_t)from->bytes[q];
        wrong |= from->bytes[k->table.rank] != receive_bytes[r];
        if (!wrong && receive_bytes[r] > 0)
            memcpy(to, (const char *)from->send + at, (size_t)receive_bytes[r]);
        to += receive_bytes[r];
    }
    return end(k) || wrong;
}

static int gather(void *state, void *data, const int64_t *bytes)
{
    virtual_rank *k = state;
    size_t at = 0;
    int others = k->team->size - 1;
    if (begin(k, data, bytes, (double)bytes[k->table.rank] * others))
        return 1;
    for (int r = 0; r < k->team->size; r++) {
        if (r != k->table.rank && bytes[r] > 0 && data != k->team->rank[r].send)
            memcpy((char *)data + at, (const char *)k->team->rank[r].send + at, (size_t)bytes[r]);
        at += (size_t)bytes[r];
    }
    return end(k);
}

static int scan(void *state, int64_t *value)
{
    virtual_rank *k = state;
    int64_t sum = 0;
    if (begin(k, value, NULL, 8))
        return 1;
    for (int r = 0; r < k->table.rank; r++)
        sum += *(const int64_t *)k->team->rank[r].send;
    int failed = end(k);
    *value = sum;
    return failed;
}

static int agree(void *state, double *value, int64_t n)
{
    virtual_rank *k = state;
    double *largest = malloc((size_t)(n + 1) * sizeof *largest);
    if (begin(k, value, NULL, 8 * (double)n)) {
        free(largest);
        return 1;
    }
    for (int64_t p = 0; p < n; p++) {
        largest[p] = value[p];
        for (int r = 0; r < k->team->size; r++) {
            double other = ((const double *)k->team->rank[r].send)[p];
            largest[p] = other > largest[p] ? other : largest[p];
        }
    }
    int failed = end(k);
    memcpy(value, largest, (size_t)n * sizeof *value);
    free(largest);
    return failed;
}

static virtual_block *make_block(virtual_team *t, int64_t bytes, int n_users)
{
    virtual_block *b = calloc(1, sizeof *b + (size_t)bytes);
    b->users = n_users;
    pthread_mutex_lock(&t->lock);
    b->next = t->blocks;
    t->blocks = b;
    pthread_mutex_unlock(&t->lock);
    return b;
}

static int share(void *state, void **block, int64_t bytes, int *first)
{
    virtual_rank *k = state;
    virtual_team *t = k->team;
    int each = machine > 0 ? machine : t->size, own = k->table.rank / each * each;
    if (begin(k, NULL, NULL, 0))
        return 1;
    *first = k->table.rank == own;
    if (*first)
        k->made = make_block(t, bytes, t->size - own < each ? t->size - own : each);
    if (meet(t, 0))
        return 1;
    *block = t->rank[own].made->memory;
    return end(k);
}

static int ready(void *state)
{
    return begin(state, NULL, NULL, 0) || end(state);
}

static void drop_share(void *state, void *block)
{
    virtual_team *t = ((virtual_rank *)state)->team;
    pthread_mutex_lock(&t->lock);
    virtual_block **at = &t->blocks;
    while ((*at)->memory != block)
        at = &(*at)->next;
    virtual_block *b = *at;
    if (--b->users == 0) {
        *at = b->next;
        free(b);
    }
    pthread_mutex_unlock(&t->lock);
}

static void *run_rank(void *arg)
{
    virtual_rank *k = arg;
    virtual_team *t = k->team;
    pthread_mutex_lock(&t->lock);
    slot_take(t);
    pthread_mutex_unlock(&t->lock);
    k->since = thread_seconds();
    k->fn(k->arg, &k->table);
    pthread_mutex_lock(&t->lock);
    slot_give(t);
    t->left++;
    pthread_cond_broadcast(&t->all_here);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void virtual_team_slots(int n)
{
    slots = n;
}

void virtual_team_machines(int each)
{
    machine = each;
}

/* Frees the memory that a lost rank did not release. */
static void free_blocks(virtual_team *t)
{
    while (t->blocks) {
        virtual_block *b = t->blocks;
        t->blocks = b->next;
        free(b);
    }
}

void virtual_team_run(int size, virtual_fn fn, void *arg, virtual_cost *cost)
{
    virtual_team t = {.size = size, .rank = calloc((size_t)size, sizeof(virtual_rank))};
    pthread_t *thread = calloc((size_t)size, sizeof *thread);
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.all_here, NULL);
    pthread_cond_init(&t.slot_free, NULL);
    for (int r = 0; r < size; r++) {
        virtual_rank *k = &t.rank[r];
        *k = (virtual_rank){.team = &t, .fn = fn, .arg = arg};
        ddsc_team_init(&k->table);
        k->table.rank = r;
        k->table.size = size;
        k->table.state = k;
        k->table.exchange = exchange;
        k->table.gather = gather;
        k->table.scan = scan;
        k->table.agree = agree;
        k->table.share = share;
        k->table.ready = ready;
        k->table.unshare = drop_share;
    }
    for (int r = 0; r < size; r++)
        if (pthread_create(&thread[r], NULL, run_rank, &t.rank[r]))
            abort();
    for (int r = 0; r < size; r++)
        pthread_join(thread[r], NULL);
    if (cost)
        *cost = t.cost;
    free_blocks(&t);
    pthread_cond_destroy(&t.all_here);
    pthread_cond_destroy(&t.slot_free);
    pthread_mutex_destroy(&t.lock);
    free(thread);
    free(t.rank);
}

void virtual_team_cost(const ddsc_team *team, virtual_cost *cost)
{
    *cost = ((const virtual_rank *)team->state)->team->cost;
}
