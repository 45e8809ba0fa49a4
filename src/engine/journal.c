/* Chunks: a header (magic, hash of the manifest, size and hash of what follows) and records. A
 * worker gathers its own records, so nothing is shared while pairs are solved. */
#include "engine/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/tuning.h"
#include "stream/stream.h"

enum { MANIFEST_MOST = 1 << 16 };

#define MANIFEST "manifest"
static const char magic[8] = "DDSCJ1\n";

typedef struct chunk_head {
    char magic[8];
    uint64_t run; /* hash of the manifest */
    uint64_t n_bytes, hash;
} chunk_head;

typedef struct record {
    int32_t i0, i1, j0, j1;
    int64_t n_values, n_iterations, n_not_converged;
    double max_gap;
} record;

typedef struct place {
    record head;
    int32_t chunk;
    int64_t offset; /* of the values */
} place;

/* What a worker has gathered, and the chunk it reads. */
typedef struct journal_worker {
    unsigned char *bytes;
    int64_t used, capacity;
    double next, wait; /* when to write, and how long to wait after that */
    int fd;            /* of the chunk last read */
    int32_t chunk;
} journal_worker;

struct journal {
    ddsc_context *ctx;
    char folder[PATH_MAX - 64];
    uint64_t run;
    place *place;
    int64_t n_places, place_capacity;
    int32_t next_chunk;
    int n_workers;
    journal_worker *worker;
};

static void chunk_path(const journal *j, char out[PATH_MAX], int32_t chunk)
{
    snprintf(out, PATH_MAX, "%s/chunk-%08d", j->folder, chunk);
}

static ddsc_status fail(const journal *j, const char *path, const char *what)
{
    return ctx_fail(j->ctx, DDSC_ERROR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* ---- the manifest ---- */

static ddsc_status write_file(ddsc_context *ctx, const char *path, const void *head, size_t n_head,
                              const void *bytes, size_t n)
{
    io_writer *w = NULL;
    CHECK(writer_open(ctx, &w, path, 0));
    ddsc_status status = writer_put(w, head, n_head);
    return writer_finish(w, status < 0 ? status : writer_put(w, bytes, n));
}

/* The first line that differs, put in words. */
static ddsc_status refuse(const journal *j, const char *kept, const char *now)
{
    while (*kept && strcspn(kept, "\n") == strcspn(now, "\n") &&
           strncmp(kept, now, strcspn(kept, "\n")) == 0) {
        kept += strcspn(kept, "\n") + 1;
        now += strcspn(now, "\n") + (now[strcspn(now, "\n")] == '\n');
    }
    int n_kept = (int)strcspn(kept, "\n"), n_now = (int)strcspn(now, "\n");
    bool input = strncmp(kept, "input ", 6) == 0;
    return ctx_fail(j->ctx, input ? DDSC_ERROR_INPUT : DDSC_ERROR_ARGUMENT,
                    "%s: holds %s, so it cannot be taken up (\"%.*s\" then, \"%.*s\" now); give "
                    "another folder, or remove this one",
                    j->folder, input ? "a run of another input" : "a run with other settings",
                    n_kept, kept, n_now, now);
}

static ddsc_status manifest_check(journal *j, const char *manifest)
{
    ddsc_status status = DDSC_OK;
    char path[PATH_MAX];
    char *kept = NULL;
    size_t n = 0;
    io_stream *s = NULL;
    snprintf(path, sizeof path, "%s/" MANIFEST, j->folder);
    j->run = hash_bytes(manifest, strlen(manifest), 0);
    if (access(path, F_OK) != 0)
        return write_file(j->ctx, path, manifest, strlen(manifest), "", 0);
    TRY(MEM_ZERO(j->ctx, kept, MANIFEST_MOST + 1));
    TRY(stream_open(j->ctx, &s, path, MANIFEST_MOST));
    TRY(stream_read(s, kept, MANIFEST_MOST, &n));
    if (n != strlen(manifest) || memcmp(kept, manifest, n) != 0)
        status = refuse(j, kept, manifest);
done:
    stream_close(s);
    mem_free(j->ctx, kept);
    return status;
}

/* ---- reading ---- */

static bool read_all(int fd, int64_t at, void *out, int64_t n)
{
    unsigned char *to = out;
    while (n > 0) {
        ssize_t got = pread(fd, to, (size_t)n, at);
        if (got <= 0)
            return false;
        to += got;
        at += got;
        n -= got;
    }
    return true;
}

/* The records of a sound chunk join the list of places. */
static ddsc_status take_records(journal *j, int32_t chunk, const unsigned char *bytes, int64_t n)
{
    for (int64_t at = 0; n - at >= (int64_t)sizeof(record);) {
        place p = {.chunk = chunk};
        memcpy(&p.head, bytes + at, sizeof p.head);
        at += (int64_t)sizeof p.head;
        p.offset = at + (int64_t)sizeof(chunk_head);
        if (p.head.n_values < 0 || p.head.n_values > (n - at) / (int64_t)sizeof(double))
            break;
        at += p.head.n_values * (int64_t)sizeof(double);
        CHECK(MEM_RESERVE(j->ctx, j->place, &j->place_capacity, j->n_places + 1));
        j->place[j->n_places++] = p;
    }
    return DDSC_OK;
}

static ddsc_status read_chunk(journal *j, int32_t chunk)
{
    ddsc_status status = DDSC_OK;
    char path[PATH_MAX];
    chunk_head head;
    struct stat info;
    unsigned char *bytes = NULL;
    chunk_path(j, path, chunk);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(j, path, "open");
    bool sound = fstat(fd, &info) == 0 && read_all(fd, 0, &head, sizeof head) &&
                 memcmp(head.magic, magic, sizeof magic) == 0 && head.run == j->run &&
                 (int64_t)head.n_bytes == info.st_size - (int64_t)sizeof head;
    if (sound) {
        int64_t n = (int64_t)head.n_bytes;
        TRY(MEM_NEW(j->ctx, bytes, n));
        sound = read_all(fd, sizeof head, bytes, n) && hash_bytes(bytes, (size_t)n, 0) == head.hash;
        if (sound)
            TRY(take_records(j, chunk, bytes, n));
    }
    if (!sound)
        ctx_warn(j->ctx, "%.240s is damaged: the pairs it held are solved again", path);
done:
    mem_free(j->ctx, bytes);
    close(fd);
    return status;
}

/* What a process that is no longer there left half written. */
static void remove_stale(const journal *j, const char *name)
{
    char path[PATH_MAX];
    long owner;
    if (sscanf(name, ".ddsc-%ld-", &owner) != 1 || kill((pid_t)owner, 0) == 0 || errno != ESRCH)
        return;
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    unlink(path);
}

static ddsc_status read_folder(journal *j)
{
    ddsc_status status = DDSC_OK;
    DIR *dir = opendir(j->folder);
    if (!dir)
        return fail(j, j->folder, "read");
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        int chunk, length = 0;
        remove_stale(j, e->d_name);
        if (sscanf(e->d_name, "chunk-%8d%n", &chunk, &length) != 1 || e->d_name[length] ||
            chunk < 0)
            continue;
        j->next_chunk = BASE_MAX(j->next_chunk, chunk + 1);
        TRY(read_chunk(j, chunk));
    }
done:
    closedir(dir);
    return status;
}

/* Places in the order of the four numbers of their tiles, which a record begins with. */
static int by_tile(const void *a, const void *b)
{
    return memcmp(a, b, 4 * sizeof(int32_t));
}

/* ---- open and close ---- */

static ddsc_status make_folder(journal *j, const char *folder)
{
    if (snprintf(j->folder, sizeof j->folder, "%s", folder) >= (int)sizeof j->folder) {
        errno = ENAMETOOLONG;
        return fail(j, "the folder to resume from", "use its name");
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail(j, folder, "make the folder");
    return DDSC_OK;
}

static ddsc_status workers_open(journal *j)
{
    CHECK(MEM_ZERO(j->ctx, j->worker, j->n_workers));
    for (int w = 0; w < j->n_workers; w++)
        j->worker[w] = (journal_worker){
            .fd = -1, .wait = JOURNAL_FIRST_WAIT_S, .next = clock_seconds() + JOURNAL_FIRST_WAIT_S};
    return DDSC_OK;
}

static void journal_free(journal *j)
{
    if (!j)
        return;
    for (int w = 0; j->worker && w < j->n_workers; w++) {
        if (j->worker[w].fd >= 0)
            close(j->worker[w].fd);
        mem_free(j->ctx, j->worker[w].bytes);
    }
    MEM_FREE(j->ctx, j->worker, j->place);
    mem_free(j->ctx, j);
}

ddsc_status journal_open(ddsc_context *ctx, journal **out, const char *folder, const char *manifest,
                         int n_workers)
{
    ddsc_status status = DDSC_OK;
    journal *j = NULL;
    TRY(MEM_ZERO(ctx, j, 1));
    j->ctx = ctx;
    j->n_workers = n_workers;
    TRY(make_folder(j, folder));
    TRY(manifest_check(j, manifest));
    TRY(read_folder(j));
    if (j->n_places > 0)
        qsort(j->place, (size_t)j->n_places, sizeof *j->place, by_tile);
    TRY(workers_open(j));
    *out = j;
    j = NULL;
done:
    journal_free(j);
    return status;
}

/* ---- records ---- */

/* Numbers are taken in turn; one that another process took meanwhile is passed over. */
static ddsc_status flush(journal *j, journal_worker *own)
{
    char path[PATH_MAX];
    chunk_head head = {.run = j->run, .n_bytes = (uint64_t)own->used};
    ddsc_status status = DDSC_OK;
    if (own->used == 0)
        return DDSC_OK;
    memcpy(head.magic, magic, sizeof magic);
    head.hash = hash_bytes(own->bytes, (size_t)own->used, 0);
    do {
        chunk_path(j, path, __atomic_fetch_add(&j->next_chunk, 1, __ATOMIC_RELAXED));
    } while (access(path, F_OK) == 0);
    status = write_file(j->ctx, path, &head, sizeof head, own->bytes, (size_t)own->used);
    own->used = 0;
    own->wait = BASE_MIN(2 * own->wait, JOURNAL_LONGEST_WAIT_S);
    own->next = clock_seconds() + own->wait;
    return status;
}

ddsc_status journal_keep(journal *j, const pair_tile *t, int64_t n, const double *values,
                         const ddsc_pair_stats *took, int worker)
{
    journal_worker *own = &j->worker[worker];
    record r = {.i0 = (int32_t)t->i0,
                .i1 = (int32_t)t->i1,
                .j0 = (int32_t)t->j0,
                .j1 = (int32_t)t->j1,
                .n_values = n,
                .n_iterations = took->n_iterations,
                .n_not_converged = took->n_not_converged,
                .max_gap = took->max_gap};
    int64_t n_bytes = n * (int64_t)sizeof *values;
    CHECK(MEM_RESERVE(j->ctx, own->bytes, &own->capacity, own->used + (int64_t)sizeof r + n_bytes));
    memcpy(own->bytes + own->used, &r, sizeof r);
    memcpy(own->bytes + own->used + sizeof r, values, (size_t)n_bytes);
    own->used += (int64_t)sizeof r + n_bytes;
    if (own->used >= JOURNAL_CHUNK_BYTES || clock_seconds() >= own->next)
        return flush(j, own);
    return DDSC_OK;
}

static bool look_into(journal *j, journal_worker *own, int32_t chunk)
{
    char path[PATH_MAX];
    if (own->fd >= 0 && own->chunk == chunk)
        return true;
    if (own->fd >= 0)
        close(own->fd);
    chunk_path(j, path, chunk);
    own->fd = open(path, O_RDONLY | O_CLOEXEC);
    own->chunk = chunk;
    return own->fd >= 0;
}

bool journal_find(journal *j, const pair_tile *t, int64_t n, double *values, ddsc_pair_stats *took,
                  int worker)
{
    const int32_t key[] = {(int32_t)t->i0, (int32_t)t->i1, (int32_t)t->j0, (int32_t)t->j1};
    const place *p = NULL;
    if (j->n_places > 0)
        p = bsearch(key, j->place, (size_t)j->n_places, sizeof *j->place, by_tile);
    if (!p || p->head.n_values != n || !look_into(j, &j->worker[worker], p->chunk) ||
        !read_all(j->worker[worker].fd, p->offset, values, n * (int64_t)sizeof *values))
        return false;
    *took = (ddsc_pair_stats){.n_iterations = p->head.n_iterations,
                              .n_not_converged = p->head.n_not_converged,
                              .max_gap = p->head.max_gap};
    return true;
}

ddsc_status journal_close(journal *j)
{
    ddsc_status status = DDSC_OK;
    if (!j)
        return DDSC_OK;
    for (int w = 0; w < j->n_workers; w++)
        TRY(flush(j, &j->worker[w]));
done:
    journal_free(j);
    return status;
}
