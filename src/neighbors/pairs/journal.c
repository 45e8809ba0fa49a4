/* Implements the journal of a run over pairs.
 *
 * The manifest consists of "ddsc-resume FORMAT", the caller's lines and a checksum. A chunk
 * consists of a header (magic, hash of the manifest, size and hash of the data) and records. The
 * file name is "chunk-FIRST-LAST-HOST-PID-NUMBER". FIRST and LAST are the lowest and highest first
 * row of the tiles and are only for human readers. HOST and PID identify the writer.
 *
 * Every process reads all chunks, because the assignment of pairs to ranks depends on the round and
 * on the number of ranks. Each worker collects separate records, so workers share no data while
 * they solve pairs. Several processes may share a folder. */
#include "neighbors/pairs/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/team.h"
#include "io/stream/stream.h"
#include "neighbors/pairs/tuning.h"

enum { MANIFEST_MOST = 1 << 16, FORMAT = 2, FORMAT_LINES = 64 };

#define MANIFEST "manifest"
static const char magic[8] = "DDSCJ2\n";

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
    int64_t offset; /* file position of the values */
} place;

/* Records that a worker has collected, and the chunk from which it reads. */
typedef struct journal_worker {
    unsigned char *bytes;
    int64_t used, capacity;
    int64_t first_row, last_row;
    double next, wait; /* time of the next write; delay until the write after that */
    int fd;            /* descriptor of the chunk that was read last */
    int32_t chunk;
} journal_worker;

/* Contents of the folder when it was opened. */
typedef struct contents {
    text_rows chunk; /* file names of the chunks */
    int32_t n_chunks;
    place *place;
    int64_t n_places, place_capacity;
} contents;

struct journal {
    ddsc_context *ctx;
    char folder[PATH_MAX - 160];
    char owner[OWNER_TEXT];
    uint64_t run;
    contents kept;
    void *block; /* memory of a team's arrays, or NULL */
    int32_t n_written;
    int n_workers;
    journal_worker *worker;
};

static void chunk_path(const journal *j, char out[PATH_MAX], int32_t chunk)
{
    snprintf(out, PATH_MAX, "%s/%s", j->folder, j->kept.chunk.text + j->kept.chunk.at[chunk]);
}

static ddsc_status fail(const journal *j, const char *path, const char *what)
{
    return ctx_fail(j->ctx, DDSC_ERROR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* ---- the manifest ---- */

/* Reports the first line of the manifest that differs. */
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
                    "%s: contains %s and cannot be resumed (it has \"%.*s\", this run has "
                    "\"%.*s\"); use another folder, or remove this one",
                    j->folder, input ? "a run with another input" : "a run with other settings",
                    n_kept, kept, n_now, now);
}

static int add_checksum(char *text, size_t n)
{
    return snprintf(text + n, FORMAT_LINES, "xxh64 %016" PRIx64 "\n", hash_bytes(text, n, 0));
}

/* Checks that the manifest is complete and unchanged, and that it has the current format. */
static ddsc_status check_sound(const journal *j, const char *path, const char *kept, size_t n)
{
    char sum[FORMAT_LINES + 1];
    const char *last = n > 1 ? memrchr(kept, '\n', n - 1) : NULL;
    size_t body = last ? (size_t)(last + 1 - kept) : 0;
    int format = 0;
    if (sscanf(kept, "ddsc-resume %d", &format) == 1 && format != FORMAT)
        return ctx_fail(j->ctx, DDSC_ERROR_ARGUMENT,
                        "%s: contains a run in format %d, written by another version of ddsc; this "
                        "version reads format %d. Use another folder, or remove this one",
                        j->folder, format, FORMAT);
    snprintf(sum, sizeof sum, "xxh64 %016" PRIx64 "\n", hash_bytes(kept, body, 0));
    if (n - body == strlen(sum) && memcmp(kept + body, sum, n - body) == 0)
        return DDSC_OK;
    return ctx_fail(
        j->ctx, DDSC_ERROR_INPUT,
        "%s is damaged%s, so its run cannot be resumed; use another folder, or remove this one",
        path, n == 0 ? " (it is empty)" : "");
}

/* Writes the manifest. If two processes start at the same time, only one manifest remains, and both
 * processes compare their manifests with it. */
static ddsc_status write_manifest(journal *j, const char *path, const char *text, size_t n)
{
    io_writer *w = NULL;
    CHECK(writer_open(j->ctx, &w, path, DDSC_WRITE_OVERWRITE));
    writer_give_way(w);
    return writer_finish(w, writer_put(w, text, n));
}

static ddsc_status manifest_check(journal *j, const char *manifest)
{
    ddsc_status status = DDSC_OK;
    char path[PATH_MAX];
    char *now = NULL, *kept = NULL;
    size_t n = 0, size = strlen(manifest) + 2 * FORMAT_LINES;
    io_stream *s = NULL;
    snprintf(path, sizeof path, "%s/" MANIFEST, j->folder);
    TRY(MEM_ZERO(j->ctx, now, (int64_t)size));
    TRY(MEM_ZERO(j->ctx, kept, MANIFEST_MOST + 1));
    size = (size_t)snprintf(now, size, "ddsc-resume %d\n%s", FORMAT, manifest);
    size += (size_t)add_checksum(now, size);
    j->run = hash_bytes(now, size, 0);
    if (access(path, F_OK) != 0)
        TRY(write_manifest(j, path, now, size));
    TRY(stream_open(j->ctx, &s, path, MANIFEST_MOST));
    TRY(stream_read(s, kept, MANIFEST_MOST, &n));
    TRY(check_sound(j, path, kept, n));
    if (n != size || memcmp(kept, now, n) != 0)
        status = refuse(j, kept, now);
done:
    stream_close(s);
    MEM_FREE(j->ctx, now, kept);
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

/* Adds the records of a valid chunk to the list. */
static ddsc_status take_records(journal *j, int32_t chunk, const unsigned char *bytes, int64_t n)
{
    contents *k = &j->kept;
    for (int64_t at = 0; n - at >= (int64_t)sizeof(record);) {
        place p = {.chunk = chunk};
        memcpy(&p.head, bytes + at, sizeof p.head);
        at += (int64_t)sizeof p.head;
        p.offset = at + (int64_t)sizeof(chunk_head);
        if (p.head.n_values < 0 || p.head.n_values > (n - at) / (int64_t)sizeof(double))
            break;
        at += p.head.n_values * (int64_t)sizeof(double);
        DDSC_ASSERT(at <= n);
        CHECK(MEM_RESERVE(j->ctx, k->place, &k->place_capacity, k->n_places + 1));
        k->place[k->n_places++] = p;
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
    if (fd < 0) /* another process may just have removed an empty chunk */
        return errno == ENOENT ? DDSC_OK : fail(j, path, "open");
    bool known = fstat(fd, &info) == 0;
    bool sound = known && read_all(fd, 0, &head, sizeof head) &&
                 memcmp(head.magic, magic, sizeof magic) == 0 && head.run == j->run &&
                 (int64_t)head.n_bytes == info.st_size - (int64_t)sizeof head;
    if (sound) {
        int64_t n = (int64_t)head.n_bytes;
        TRY(MEM_NEW(j->ctx, bytes, n));
        sound = read_all(fd, sizeof head, bytes, n) && hash_bytes(bytes, (size_t)n, 0) == head.hash;
        if (sound)
            TRY(take_records(j, chunk, bytes, n));
    }
    if (!sound && !(known && info.st_size == 0)) /* an empty file is a name claimed by another
                                                  * process */
        ctx_warn(j->ctx, "%.240s is damaged: its pairs are solved again", path);
done:
    mem_free(j->ctx, bytes);
    close(fd);
    return status;
}

/* Removes a file whose name was claimed by a process that ended before writing to it. Returns true
 * if the file was removed. */
static bool is_abandoned(int dir, const char *name, const char *owner)
{
    struct stat info;
    return owner_is_gone(owner) && fstatat(dir, name, &info, 0) == 0 && info.st_size == 0 &&
           unlinkat(dir, name, 0) == 0;
}

/* Compares records by the four numbers of their tiles, which are the first members of a record. */
static int by_tile(const void *a, const void *b)
{
    return memcmp(a, b, 4 * sizeof(int32_t));
}

static ddsc_status read_folder(void *arg)
{
    ddsc_status status = DDSC_OK;
    journal *j = arg;
    DIR *dir = opendir(j->folder);
    if (!dir)
        return fail(j, j->folder, "read");
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        int64_t first, last;
        int owner = 0;
        if (sscanf(e->d_name, "chunk-%" SCNd64 "-%" SCNd64 "-%n", &first, &last, &owner) != 2 ||
            !owner || is_abandoned(dirfd(dir), e->d_name, e->d_name + owner))
            continue;
        TRY(text_rows_add(&j->kept.chunk, j->kept.n_chunks, e->d_name, strlen(e->d_name)));
        TRY(read_chunk(j, j->kept.n_chunks++));
    }
    if (j->kept.n_places > 0)
        qsort(j->kept.place, (size_t)j->kept.n_places, sizeof *j->kept.place, by_tile);
done:
    closedir(dir);
    return status;
}

static void list_kept(team_arrays *a, void *object)
{
    contents *k = object;
    team_array(a, &k->place, k->n_places * (int64_t)sizeof *k->place);
    team_array(a, &k->chunk.at, (k->n_chunks + 1) * (int64_t)sizeof *k->chunk.at);
    team_array(a, &k->chunk.text, k->n_chunks ? k->chunk.at[k->n_chunks] : 0);
}

/* Reads the journal on the first rank, so that all ranks have the same contents, which are stored
 * once per machine. */
static ddsc_status read_kept(journal *j)
{
    CHECK(team_by_first(j->ctx, read_folder, j));
    if (team_size(j->ctx) == 1)
        return DDSC_OK;
    contents all = j->kept;
    CHECK(team_first(j->ctx, &all, sizeof all));
    all.chunk.ctx = j->ctx;
    ddsc_status status = team_move(j->ctx, &j->block, &all, list_kept);
    if (j->block)
        j->kept = all;
    return status;
}

/* ---- open and close ---- */

static ddsc_status make_folder(journal *j, const char *folder)
{
    if (snprintf(j->folder, sizeof j->folder, "%s", folder) >= (int)sizeof j->folder) {
        errno = ENAMETOOLONG;
        return fail(j, "the folder to resume from", "use its name");
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail(j, folder, "create the folder");
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
    if (j->block)
        team_unshare(j->ctx, j->block);
    else
        MEM_FREE(j->ctx, j->kept.place, j->kept.chunk.text, j->kept.chunk.at);
    mem_free(j->ctx, j->worker);
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
    j->kept.chunk.ctx = ctx;
    owner_name(j->owner);
    TRY(make_folder(j, folder));
    TRY(manifest_check(j, manifest));
    TRY(read_kept(j));
    TRY(workers_open(j));
    *out = j;
    j = NULL;
done:
    journal_free(j);
    return status;
}

/* ---- records ---- */

/* Claims a unique name by creating an empty file, which the chunk will replace. Processes with the
 * same host and PID (an earlier process, or one in another container) use different numbers. */
static ddsc_status claim_name(journal *j, const journal_worker *own, char path[PATH_MAX])
{
    int fd = -1;
    do {
        int number = __atomic_fetch_add(&j->n_written, 1, __ATOMIC_RELAXED);
        snprintf(path, PATH_MAX, "%s/chunk-%" PRId64 "-%" PRId64 "-%s-%d", j->folder,
                 own->first_row, own->last_row, j->owner, number);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    if (fd < 0)
        return fail(j, path, "create the file");
    close(fd);
    return DDSC_OK;
}

static ddsc_status write_chunk(journal *j, const char *path, const void *bytes, size_t n)
{
    io_writer *w = NULL;
    chunk_head head = {.run = j->run, .n_bytes = n, .hash = hash_bytes(bytes, n, 0)};
    memcpy(head.magic, magic, sizeof magic);
    CHECK(writer_open(j->ctx, &w, path, DDSC_WRITE_OVERWRITE));
    ddsc_status status = writer_put(w, &head, sizeof head);
    return writer_finish(w, status < 0 ? status : writer_put(w, bytes, n));
}

static ddsc_status flush(journal *j, journal_worker *own)
{
    char path[PATH_MAX];
    if (own->used == 0)
        return DDSC_OK;
    CHECK(claim_name(j, own, path));
    ddsc_status status = write_chunk(j, path, own->bytes, (size_t)own->used);
    if (status < 0)
        unlink(path);
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
    int64_t n_bytes = n * (int64_t)sizeof *values, row = BASE_MIN(t->i0, t->j0);
    DDSC_ASSERT(n > 0 && r.i0 == t->i0 && r.i1 == t->i1 && r.j0 == t->j0 && r.j1 == t->j1);
    DDSC_ASSERT(took->n_iterations >= 0 && took->n_not_converged >= 0 && !(took->max_gap < 0));
    own->first_row = own->used ? BASE_MIN(own->first_row, row) : row;
    own->last_row = own->used ? BASE_MAX(own->last_row, row) : row;
    CHECK(MEM_RESERVE(j->ctx, own->bytes, &own->capacity, own->used + (int64_t)sizeof r + n_bytes));
    memcpy(own->bytes + own->used, &r, sizeof r);
    memcpy(own->bytes + own->used + sizeof r, values, (size_t)n_bytes);
    own->used += (int64_t)sizeof r + n_bytes;
    DDSC_ASSERT(own->used <= own->capacity && own->first_row <= own->last_row);
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
    if (j->kept.n_places > 0)
        p = bsearch(key, j->kept.place, (size_t)j->kept.n_places, sizeof *p, by_tile);
    DDSC_ASSERT(!p || (p->chunk >= 0 && p->chunk < j->kept.n_chunks));
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
