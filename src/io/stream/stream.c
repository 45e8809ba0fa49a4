/* Opens and decodes sources of bytes: files, pipes, memory and parts of archives. gzip, deflate and
 * zstd data are decompressed. A stream never returns more bytes than its limit, and decompressed
 * data is also limited relative to the compressed size. */
#include "io/stream/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SHOWN = 240 };

ddsc_status stream_fail(io_stream *s, const char *format, ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ctx_fail(s->ctx, DDSC_ERROR_INPUT, "%s: %s", s->name, text);
}

ddsc_status stream_fail_line(io_stream *s, const char *format, ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return stream_fail(s, "line %lld%s", (long long)s->line_number, text);
}

static void *zlib_get(void *ctx, uInt count, uInt size)
{
    void *block;
    return mem_get(ctx, &block, (int64_t)count, size) == DDSC_OK ? block : Z_NULL;
}

static void zlib_release(void *ctx, void *block)
{
    mem_free(ctx, block);
}

void stream_zlib_memory(z_stream *z, ddsc_context *ctx)
{
    z->zalloc = zlib_get;
    z->zfree = zlib_release;
    z->opaque = ctx;
}

static ddsc_status copy_text(ddsc_context *ctx, char **out, const char *text)
{
    size_t n = strlen(text) + 1;
    ddsc_status status = mem_get(ctx, out, (int64_t)n, 1);
    if (status == DDSC_OK)
        memcpy(*out, text, n);
    return status;
}

/* Sets the name shown in messages. A long path is shortened to its end, so that messages are not
 * truncated. */
static ddsc_status set_name(io_stream *s, const char *name)
{
    size_t n = strlen(name);
    if (n <= NAME_SHOWN)
        return copy_text(s->ctx, &s->name, name);
    char shown[NAME_SHOWN + 4];
    snprintf(shown, sizeof shown, "...%s", name + n - NAME_SHOWN);
    return copy_text(s->ctx, &s->name, shown);
}

static ddsc_status stream_new(ddsc_context *ctx, io_stream **out, const char *name,
                              int64_t max_bytes)
{
    CHECK(MEM_ZERO(ctx, *out, 1));
    io_stream *s = *out;
    s->ctx = ctx;
    s->fd = -1;
    s->limit = max_bytes;
    s->crc = (uint32_t)crc32(0, Z_NULL, 0);
    return set_name(s, name);
}

/* ---- raw bytes ---- */

/* Fails if the file has changed since it was opened, because a mixture of two versions could look
 * valid. */
static ddsc_status check_unchanged(io_stream *s)
{
    struct stat now;
    if (s->raw_end < 0 || fstat(s->fd, &now) != 0)
        return DDSC_OK;
    bool same = now.st_size == s->opened_size && now.st_mtim.tv_sec == s->opened_at.tv_sec &&
                now.st_mtim.tv_nsec == s->opened_at.tv_nsec;
    return same ? DDSC_OK
                : stream_fail(
                      s, "was changed by another program while it was being read; read it again");
}

static ddsc_status read_fd(io_stream *s, unsigned char *out, size_t n, size_t *got)
{
    ssize_t r;
    do {
        r = s->seekable ? pread(s->fd, out, n, (off_t)s->raw_at) : read(s->fd, out, n);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return ctx_fail(s->ctx, DDSC_ERROR_INPUT, "%s: cannot read: %s", s->name, strerror(errno));
    *got = (size_t)r;
    return check_unchanged(s);
}

static ddsc_status raw_read(io_stream *s, unsigned char *out, size_t n, size_t *got)
{
    ddsc_status status = DDSC_OK;
    *got = 0;
    if (s->raw_end >= 0)
        n = BASE_MIN(n, (size_t)(s->raw_end - s->raw_at));
    if (n == 0)
        return DDSC_OK;
    if (s->fd >= 0) {
        status = read_fd(s, out, n, got);
    } else {
        memcpy(out, s->bytes + s->raw_at, n);
        *got = n;
    }
    s->raw_at += (int64_t)*got;
    return status;
}

/* Reads the next chunk. At the end of the source, avail_in remains 0. */
static ddsc_status raw_refill(io_stream *s)
{
    size_t got;
    ddsc_status status = raw_read(s, s->raw, STREAM_CHUNK, &got);
    s->z.next_in = s->raw;
    s->z.avail_in = (uInt)got;
    return status;
}

static int64_t raw_consumed(const io_stream *s)
{
    return s->raw_at - s->base - (int64_t)s->z.avail_in;
}

/* ---- decoding ---- */

static const char *coding_name(const io_stream *s)
{
    return s->coding == STREAM_GZIP ? "gzip" : "deflate";
}

/* Called at the end of a gzip member, which another member, zero padding or the end of the file may
 * follow. */
static ddsc_status gzip_next_member(io_stream *s)
{
    bool padded = false;
    for (;;) {
        if (s->z.avail_in == 0) {
            CHECK(raw_refill(s));
        }
        if (s->z.avail_in == 0) {
            s->finished = true;
            return DDSC_OK;
        }
        if (*s->z.next_in == 0x1f && !padded) {
            inflateReset(&s->z);
            return DDSC_OK;
        }
        if (*s->z.next_in != 0)
            return stream_fail(s, "has extra bytes after the gzip data");
        padded = true;
        s->z.next_in++;
        s->z.avail_in--;
    }
}

static ddsc_status inflate_step(io_stream *s)
{
    if (s->z.avail_in == 0) {
        CHECK(raw_refill(s));
        if (s->z.avail_in == 0 && s->coding != STREAM_ZSTD)
            return stream_fail(s, "ends early: the %s data is truncated after %lld bytes",
                               coding_name(s), (long long)raw_consumed(s));
    }
    if (s->coding == STREAM_ZSTD)
        return stream_zstd_step(s);
    int r = inflate(&s->z, Z_NO_FLUSH);
    if (r == Z_STREAM_END) {
        if (s->coding == STREAM_GZIP)
            return gzip_next_member(s);
        s->finished = true;
        return DDSC_OK;
    }
    if (r == Z_MEM_ERROR)
        return ctx_fail(s->ctx, DDSC_ERROR_MEMORY, "%s: not enough memory to decompress", s->name);
    if (r != Z_OK && r != Z_BUF_ERROR)
        return stream_fail(s, "contains damaged %s data near byte %lld (%s)", coding_name(s),
                           (long long)raw_consumed(s), s->z.msg ? s->z.msg : "no detail");
    return DDSC_OK;
}

static ddsc_status decode_packed(io_stream *s, unsigned char *out, size_t capacity, size_t *got)
{
    s->z.next_out = out;
    s->z.avail_out = (uInt)capacity;
    while (s->z.avail_out > 0 && !s->finished) {
        CHECK(inflate_step(s));
    }
    *got = capacity - s->z.avail_out;
    return DDSC_OK;
}

static ddsc_status decode_plain(io_stream *s, unsigned char *out, size_t capacity, size_t *got)
{
    if (s->z.avail_in == 0)
        return raw_read(s, out, capacity, got);
    *got = BASE_MIN(capacity, s->z.avail_in);
    memcpy(out, s->z.next_in, *got);
    s->z.next_in += *got;
    s->z.avail_in -= (uInt)*got;
    return DDSC_OK;
}

static ddsc_status refuse_bomb(io_stream *s)
{
    return stream_fail(
        s, "expands more than %lld-fold (a zip bomb?); if you trust the file, decompress it first",
        (long long)STREAM_EXPANSION_RATIO);
}

static ddsc_status check_limits(io_stream *s)
{
    if (s->produced > s->limit) {
        if (s->is_part)
            return stream_fail(s, "contains more than the %lld bytes it declares",
                               (long long)s->limit);
        return stream_fail(s, "is larger than the limit of %lld bytes", (long long)s->limit);
    }
    if (s->coding != STREAM_PLAIN && s->produced > STREAM_EXPANSION_FLOOR &&
        s->produced / STREAM_EXPANSION_RATIO > raw_consumed(s))
        return refuse_bomb(s);
    return DDSC_OK;
}

ddsc_status stream_decode(io_stream *s, unsigned char *out, size_t capacity, size_t *got)
{
    *got = 0;
    capacity = BASE_MIN(capacity, (size_t)1 << 20);
    ddsc_status status = s->coding == STREAM_PLAIN ? decode_plain(s, out, capacity, got)
                                                   : decode_packed(s, out, capacity, got);
    if (status < 0)
        return status;
    s->produced += (int64_t)*got;
    if (s->is_part)
        s->crc = (uint32_t)crc32(s->crc, out, (uInt)*got);
    status = check_limits(s);
    return status < 0 ? status : progress_poll(s->ctx);
}

/* ---- opening ---- */

static ddsc_status start_inflate(io_stream *s, enum stream_coding coding)
{
    s->coding = coding;
    stream_zlib_memory(&s->z, s->ctx);
    int r = inflateInit2(&s->z, coding == STREAM_GZIP ? 15 + 16 : -15);
    if (r != Z_OK)
        return ctx_fail(s->ctx, DDSC_ERROR_MEMORY, "%s: not enough memory to decompress", s->name);
    s->z_open = true;
    return DDSC_OK;
}

/* Allocates the buffers, and starts decompression if the first bytes are those of gzip or zstd. */
static ddsc_status stream_start(io_stream *s)
{
    CHECK(mem_get(s->ctx, &s->raw, STREAM_CHUNK, 1));
    CHECK(mem_get(s->ctx, &s->buffer, STREAM_CHUNK + 1, 1));
    size_t have = 0, got = 1;
    while (have < 4 && got > 0) {
        CHECK(raw_read(s, s->raw + have, STREAM_CHUNK - have, &got));
        have += got;
    }
    s->z.next_in = s->raw;
    s->z.avail_in = (uInt)have;
    if (have >= 3 && s->raw[0] == 0x1f && s->raw[1] == 0x8b && s->raw[2] == 8)
        CHECK(start_inflate(s, STREAM_GZIP));
    if (have >= 4 && memcmp(s->raw, "\x28\xb5\x2f\xfd", 4) == 0)
        CHECK(stream_zstd_open(s));
    return DDSC_OK;
}

static ddsc_status open_file(io_stream *s, const char *path)
{
    struct stat info;
    bool is_stdin = strcmp(path, "-") == 0;
    s->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return stream_fail(s, "cannot open: %s", strerror(errno));
    s->close_fd = !is_stdin;
    if (fstat(s->fd, &info) != 0)
        return stream_fail(s, "cannot open: %s", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return stream_fail(s, "is a directory, not a file");
    s->raw_end = -1;
    s->opened_size = info.st_size;
    s->opened_at = info.st_mtim;
    if (S_ISREG(info.st_mode)) {
        off_t here = is_stdin ? lseek(s->fd, 0, SEEK_CUR) : 0;
        s->seekable = here >= 0;
        s->base = s->raw_at = s->seekable ? (int64_t)here : 0;
        s->raw_end = s->seekable ? BASE_MAX((int64_t)info.st_size, s->base) : -1;
    }
    return is_stdin ? DDSC_OK : copy_text(s->ctx, &s->path, path);
}

static ddsc_status finish_open(io_stream **out, io_stream *s, ddsc_status status)
{
    if (status < 0) {
        stream_close(s);
        s = NULL;
    }
    *out = s;
    return status;
}

ddsc_status stream_open(ddsc_context *ctx, io_stream **out, const char *path, int64_t max_bytes)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    TRY(stream_new(ctx, &s, strcmp(path, "-") == 0 ? "standard input" : path, max_bytes));
    TRY(open_file(s, path));
    TRY(stream_start(s));
done:
    return finish_open(out, s, status);
}

ddsc_status stream_open_memory(ddsc_context *ctx, io_stream **out, const char *name,
                               const void *bytes, size_t n_bytes, int64_t max_bytes)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    TRY(stream_new(ctx, &s, name, max_bytes));
    s->bytes = bytes;
    s->raw_end = (int64_t)n_bytes;
    TRY(stream_start(s));
done:
    return finish_open(out, s, status);
}

ddsc_status stream_open_part(ddsc_context *ctx, io_stream **out, io_stream *archive,
                             const char *name, int64_t offset, int64_t packed, int64_t unpacked,
                             bool deflated)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    char full[2 * NAME_SHOWN];
    snprintf(full, sizeof full, "%s: %s", archive->name, name);
    TRY(stream_new(ctx, &s, full, unpacked));
    if (deflated && unpacked > STREAM_EXPANSION_FLOOR && unpacked / STREAM_EXPANSION_RATIO > packed)
        TRY(refuse_bomb(s));
    s->is_part = true;
    s->fd = archive->fd;
    s->opened_size = archive->opened_size;
    s->opened_at = archive->opened_at;
    s->seekable = archive->seekable;
    s->bytes = archive->bytes;
    s->base = s->raw_at = archive->base + offset;
    s->raw_end = s->base + packed;
    TRY(mem_get(ctx, &s->raw, STREAM_CHUNK, 1));
    TRY(mem_get(ctx, &s->buffer, STREAM_CHUNK + 1, 1));
    if (deflated)
        TRY(start_inflate(s, STREAM_DEFLATE));
done:
    return finish_open(out, s, status);
}

void stream_close(io_stream *s)
{
    if (!s)
        return;
    if (s->z_open)
        inflateEnd(&s->z);
    if (s->zstd)
        stream_zstd_close(s);
    if (s->close_fd && s->fd >= 0)
        close(s->fd);
    MEM_FREE(s->ctx, s->name, s->path, s->owned, s->raw, s->buffer, s->line, s->record,
             s->converted);
    mem_free(s->ctx, s);
}

const char *stream_name(const io_stream *s)
{
    return s->name;
}

const char *stream_path(const io_stream *s)
{
    return s->path;
}

int64_t stream_limit(const io_stream *s)
{
    return s->limit;
}

uint32_t stream_crc(const io_stream *s)
{
    return s->crc;
}

/* ---- random access ---- */

/* Reads everything into memory and turns the stream into a memory stream. */
static ddsc_status load_all(io_stream *s)
{
    int64_t capacity = 0, n = 0;
    size_t got = 1;
    while (got > 0) {
        CHECK(MEM_RESERVE(s->ctx, s->owned, &capacity, n + STREAM_CHUNK));
        CHECK(stream_read(s, s->owned + n, STREAM_CHUNK, &got));
        n += (int64_t)got;
    }
    if (s->close_fd)
        close(s->fd);
    s->fd = -1;
    s->close_fd = false;
    s->bytes = s->owned;
    s->base = s->raw_at = 0;
    s->raw_end = n;
    s->coding = STREAM_PLAIN;
    return DDSC_OK;
}

ddsc_status stream_make_random(io_stream *s, int64_t *size)
{
    bool direct = s->coding == STREAM_PLAIN && (s->fd < 0 || s->seekable);
    if (!direct) {
        CHECK(load_all(s));
    }
    *size = s->raw_end - s->base;
    if (*size > s->limit)
        return stream_fail(s, "is larger than the limit of %lld bytes", (long long)s->limit);
    return DDSC_OK;
}

const unsigned char *stream_memory(const io_stream *s)
{
    return s->fd < 0 ? s->bytes + s->base : NULL;
}

ddsc_status stream_read_at(io_stream *s, int64_t offset, void *buffer, size_t n, const char *what)
{
    int64_t size = s->raw_end - s->base;
    if (offset < 0 || offset > size || (int64_t)n > size - offset)
        return stream_fail(s, "ends early: %s should be at bytes %lld to %lld of %lld", what,
                           (long long)offset, (long long)offset + (long long)n, (long long)size);
    s->raw_at = s->base + offset;
    for (size_t done = 0, got; done < n; done += got) {
        CHECK(raw_read(s, (unsigned char *)buffer + done, n - done, &got));
        if (got == 0)
            return stream_fail(s, "was truncated while %s was being read", what);
    }
    return DDSC_OK;
}
