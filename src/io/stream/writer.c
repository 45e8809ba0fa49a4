/* Writes files atomically. Bytes are written to a temporary file in the target's folder. At the
 * end, the temporary file is renamed to the target. Standard output and devices are written
 * directly. */
#include "io/stream/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_BYTES = 1 << 16, TEMP_TRIES = 1000 };

struct io_writer {
    ddsc_context *ctx;
    char path[PATH_MAX]; /* the target, with symbolic links resolved */
    char temp[PATH_MAX]; /* "" if the file is written directly */
    int fd;
    bool close_fd, overwrite, gives_way, terminal;
    bool packed;
    z_stream z;
    unsigned char *buffer, *out; /* plain bytes; compressed bytes */
    size_t filled;
};

static ddsc_status writer_fail(const io_writer *w, const char *what)
{
    return ctx_fail(w->ctx, DDSC_ERROR_IO, "%s: cannot %s: %s", w->path, what, strerror(errno));
}

/* ---- opening ---- */

static ddsc_status exists(io_writer *w)
{
    return ctx_fail(w->ctx, DDSC_ERROR_EXISTS, "%s: already exists; overwriting was not requested",
                    w->path);
}

/* Returns the length of the target's folder including its slash, or 0 for the working directory. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static void place_name(const io_writer *w, char out[PATH_MAX])
{
    int n = folder_length(w->path);
    snprintf(out, PATH_MAX, "%.*s", n ? n : 1, n ? w->path : ".");
}

/* Sets the group and permissions of a new file to those of the file `old`, which it replaces. */
static ddsc_status keep_access(const io_writer *w, const struct stat *old)
{
    struct stat new;
    if (fstat(w->fd, &new) != 0)
        return writer_fail(w, "set the mode of the new file");
    if (new.st_gid != old->st_gid && fchown(w->fd, (uid_t)-1, old->st_gid) == 0)
        new.st_gid = old->st_gid;
    mode_t mode = files_mode(w->path, old, new.st_gid);
    if ((new.st_mode & 07777) == mode || fchmod(w->fd, mode) == 0)
        return DDSC_OK;
    return writer_fail(w, "set the mode of the new file");
}

static ddsc_status open_temp(io_writer *w, const struct stat *old)
{
    char owner[OWNER_TEXT], folder[PATH_MAX];
    owner_name(owner);
    place_name(w, folder);
    owner_clean(folder);
    for (int k = 0; k < TEMP_TRIES; k++) {
        int n = snprintf(w->temp, sizeof w->temp, "%.*s" OWNER_PREFIX "%s-%d.tmp",
                         folder_length(w->path), w->path, owner, k);
        if (n >= (int)sizeof w->temp)
            errno = ENAMETOOLONG;
        else
            w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
        if (w->fd >= 0) {
            w->close_fd = true;
            return old ? keep_access(w, old) : DDSC_OK;
        }
        if (errno != EEXIST)
            break;
    }
    w->temp[0] = '\0';
    return writer_fail(w, "create a file in the folder");
}

static ddsc_status set_path(io_writer *w, const char *path)
{
    struct stat info;
    bool is_link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
    if (is_link && realpath(path, w->path))
        return DDSC_OK;
    if (snprintf(w->path, sizeof w->path, "%s", path) >= (int)sizeof w->path) {
        w->path[200] = '\0';
        errno = ENAMETOOLONG;
        return writer_fail(w, "write");
    }
    return DDSC_OK;
}

static ddsc_status open_target(io_writer *w, const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0) {
        strcpy(w->path, "standard output");
        w->fd = STDOUT_FILENO;
        w->terminal = isatty(w->fd);
        return DDSC_OK;
    }
    CHECK(set_path(w, path));
    bool there = stat(w->path, &info) == 0;
    if (there) {
        if (S_ISDIR(info.st_mode)) {
            errno = EISDIR;
            return writer_fail(w, "write");
        }
        if (!S_ISREG(info.st_mode)) {
            w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
            w->close_fd = true;
            return w->fd < 0 ? writer_fail(w, "open") : DDSC_OK;
        }
        if (!w->overwrite)
            return exists(w);
        if (files_is_mount_point(w->path)) {
            errno = EBUSY;
            return writer_fail(w,
                               "replace a file that is a mount point (mount its folder instead)");
        }
    } else if (!w->overwrite && lstat(w->path, &info) == 0) {
        return exists(w); /* a symbolic link whose target does not exist */
    }
    return open_temp(w, there ? &info : NULL);
}

/* Starts gzip compression. The header has no name and no time, so that the same content always
 * gives the same bytes. */
static ddsc_status start_gzip(io_writer *w)
{
    CHECK(mem_get(w->ctx, &w->out, BUFFER_BYTES, 1));
    stream_zlib_memory(&w->z, w->ctx);
    if (deflateInit2(&w->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return ctx_fail(w->ctx, DDSC_ERROR_MEMORY, "%s: not enough memory to compress", w->path);
    w->packed = true;
    return DDSC_OK;
}

static ddsc_status writer_start(io_writer *w, const char *path)
{
    size_t n = strlen(path);
    CHECK(mem_get(w->ctx, &w->buffer, BUFFER_BYTES, 1));
    CHECK(open_target(w, path));
    return n > 3 && strcmp(path + n - 3, ".gz") == 0 ? start_gzip(w) : DDSC_OK;
}

ddsc_status writer_open(ddsc_context *ctx, io_writer **out, const char *path, unsigned flags)
{
    io_writer *w = NULL;
    *out = NULL;
    CHECK(ctx_check_flags(ctx, path, flags, DDSC_WRITE_OVERWRITE));
    CHECK(MEM_ZERO(ctx, w, 1));
    w->ctx = ctx;
    w->fd = -1;
    w->overwrite = (flags & DDSC_WRITE_OVERWRITE) != 0;
    ddsc_status status = writer_start(w, path);
    if (status < 0)
        return writer_finish(w, status);
    *out = w;
    return DDSC_OK;
}

/* Checks that a file can be written at `path`. Leaves nothing behind. */
static ddsc_status writer_check(ddsc_context *ctx, const char *path, unsigned flags)
{
    struct stat info;
    io_writer *w = NULL;
    if (strcmp(path, "-") == 0 ||
        (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return DDSC_OK; /* opening a pipe would block until it has a reader */
    CHECK(writer_open(ctx, &w, path, flags));
    writer_finish(w, DDSC_ERROR_CANCELED);
    return DDSC_OK;
}

void writer_give_way(io_writer *w)
{
    w->overwrite = false;
    w->gives_way = true;
}

/* ---- bytes ---- */

static ddsc_status write_all(io_writer *w, const unsigned char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = write(w->fd, bytes, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return writer_fail(w, "write");
        bytes += k;
        n -= (size_t)k;
    }
    return DDSC_OK;
}

/* Writes text to a terminal, with control characters replaced by escape sequences. Each byte
 * becomes at most four bytes. */
static ddsc_status show_all(io_writer *w, const unsigned char *bytes, size_t n)
{
    char *shown = NULL;
    CHECK(MEM_NEW(w->ctx, shown, 4 * (int64_t)n + 1));
    size_t length = text_visible(shown, 4 * n + 1, (const char *)bytes, n);
    ddsc_status status = write_all(w, (const unsigned char *)shown, length);
    mem_free(w->ctx, shown);
    return status;
}

static ddsc_status writer_pack(io_writer *w, const unsigned char *bytes, size_t n, int flush)
{
    w->z.next_in = (unsigned char *)(uintptr_t)bytes;
    w->z.avail_in = (uInt)n;
    do {
        w->z.next_out = w->out;
        w->z.avail_out = BUFFER_BYTES;
        deflate(&w->z, flush);
        CHECK(write_all(w, w->out, BUFFER_BYTES - w->z.avail_out));
    } while (w->z.avail_out == 0);
    return DDSC_OK;
}

static ddsc_status send(io_writer *w, const unsigned char *bytes, size_t n)
{
    for (size_t at = 0; w->packed && at < n; at += BUFFER_BYTES) {
        CHECK(writer_pack(w, bytes + at, BASE_MIN(n - at, (size_t)BUFFER_BYTES), Z_NO_FLUSH));
    }
    if (w->packed)
        return DDSC_OK;
    return w->terminal ? show_all(w, bytes, n) : write_all(w, bytes, n);
}

static ddsc_status writer_flush(io_writer *w)
{
    ddsc_status status = send(w, w->buffer, w->filled);
    w->filled = 0;
    return status;
}

ddsc_status writer_put(io_writer *w, const void *bytes, size_t n)
{
    if (n > BUFFER_BYTES - w->filled) {
        ddsc_status status = writer_flush(w);
        if (status < 0)
            return status;
        status = progress_poll(w->ctx);
        if (status < 0)
            return status;
    }
    if (n > BUFFER_BYTES)
        return send(w, bytes, n);
    memcpy(w->buffer + w->filled, bytes, n);
    w->filled += n;
    return DDSC_OK;
}

ddsc_status writer_printf(io_writer *w, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= (int)sizeof text)
        return ctx_fail(w->ctx, DDSC_ERROR_INTERNAL, "%s: a formatted line is too long", w->path);
    return writer_put(w, text, (size_t)n);
}

ddsc_status writer_number(io_writer *w, double value)
{
    char text[NUMBER_TEXT];
    int n = number_format(text, value);
    return writer_put(w, text, (size_t)n);
}

ddsc_status writer_field(io_writer *w, const char *text, char delimiter)
{
    char special[] = {delimiter, '"', ' ', '\r', '\n', '\0'};
    if (text[strcspn(text, special)] == '\0')
        return writer_put(w, text, strlen(text));
    CHECK(writer_put(w, "\"", 1));
    for (; *text; text++) {
        if (*text == '"')
            CHECK(writer_put(w, "\"", 1));
        CHECK(writer_put(w, text, 1));
    }
    return writer_put(w, "\"", 1);
}

/* ---- finishing ---- */

static ddsc_status sync_folder(io_writer *w)
{
    char folder[PATH_MAX];
    place_name(w, folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    int kept = errno;
    if (fd >= 0)
        close(fd);
    errno = kept;
    /* A folder that is writable but not readable cannot be synced, which is not an error because
     * the file itself has been synced. */
    return good || fd < 0 ? DDSC_OK : writer_fail(w, "sync the folder");
}

/* Renames the temporary file to the target. Unless overwriting is allowed, the rename fails
 * atomically if the target exists. */
static ddsc_status take_name(io_writer *w)
{
    if (w->overwrite)
        return rename(w->temp, w->path) == 0 ? DDSC_OK : writer_fail(w, "rename the finished file");
    if (files_rename_new(w->temp, w->path) == 0)
        return DDSC_OK;
    if (errno == EEXIST && w->gives_way)
        return unlink(w->temp) == 0 ? DDSC_OK
                                    : writer_fail(w, "remove the temporary file next to it");
    return errno == EEXIST ? exists(w) : writer_fail(w, "name the finished file");
}

/* Exchanges the temporary file and the target. Sets *done to false if the target does not exist or
 * the file system does not support exchanges. */
static ddsc_status swap_files(io_writer *w, bool *done)
{
    struct stat info;
    *done = false;
    if (lstat(w->path, &info) != 0 || !S_ISREG(info.st_mode))
        return DDSC_OK;
    *done = renameat2(AT_FDCWD, w->temp, AT_FDCWD, w->path, RENAME_EXCHANGE) == 0;
    return *done || files_is_refusal(errno) ? DDSC_OK : writer_fail(w, "put the file in place");
}

/* Returns true if the file is in a stage. folder_sync syncs the files of a stage together. */
static bool in_stage(const io_writer *w)
{
    const char *end = w->path + BASE_MAX(folder_length(w->path) - 1, 0), *name = end;
    while (name > w->path && name[-1] != '/')
        name--;
    return strncmp(name, OWNER_PREFIX, strlen(OWNER_PREFIX)) == 0 && name < end;
}

static ddsc_status writer_commit(io_writer *w)
{
    CHECK(writer_flush(w));
    if (w->packed)
        CHECK(writer_pack(w, NULL, 0, Z_FINISH));
    if (!w->temp[0])
        return DDSC_OK;
    bool staged = in_stage(w);
    if (staged)
        sync_file_range(w->fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* starts writing without waiting */
    else if (fsync(w->fd) != 0)
        return writer_fail(w, "sync");
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0)
        return writer_fail(w, "close");
    bool exchanged = false;
    if (w->overwrite && !staged)
        CHECK(swap_files(w, &exchanged));
    if (!exchanged) {
        CHECK(take_name(w));
        w->temp[0] = '\0';
    }
    if (staged)
        return DDSC_OK;
    ddsc_status status = sync_folder(w);
    if (status < 0 && exchanged)
        swap_files(w, &exchanged); /* restores the old file; writer_finish removes the new one */
    return status;
}

ddsc_status writer_finish(io_writer *w, ddsc_status status)
{
    if (status >= 0)
        status = writer_commit(w);
    if (w->close_fd && w->fd >= 0)
        close(w->fd);
    if (w->temp[0])
        unlink(w->temp);
    if (w->packed)
        deflateEnd(&w->z);
    MEM_FREE(w->ctx, w->buffer, w->out);
    mem_free(w->ctx, w);
    return status;
}

ddsc_status ddsc_file_write(ddsc_context *ctx, const char *path, const void *bytes, size_t n_bytes,
                            unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    if (!path || (!bytes && n_bytes > 0))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "path or bytes is NULL");
    CHECK(writer_open(ctx, &w, path, flags));
    return writer_finish(w, n_bytes > 0 ? writer_put(w, bytes, n_bytes) : DDSC_OK);
}

ddsc_status ddsc_file_check(ddsc_context *ctx, const char *path, unsigned flags)
{
    CHECK(ctx_enter(ctx));
    if (!path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "path is NULL");
    CHECK(ctx_check_flags(ctx, path, flags, DDSC_WRITE_OVERWRITE));
    return writer_check(ctx, path, flags);
}
