/* Reads blocks and lines from a stream, and peeks at its first bytes. Large blocks are decoded
 * directly into the caller's memory. */
#include "io/stream/internal.h"

#include <string.h>

enum { LINE_MAX_BYTES = 1 << 28 };

static size_t take_buffered(io_stream *s, unsigned char *out, size_t n)
{
    size_t k = BASE_MIN(n, s->filled - s->at);
    memcpy(out, s->buffer + s->at, k);
    s->at += k;
    return k;
}

static ddsc_status refill(io_stream *s)
{
    s->at = s->filled = 0;
    return stream_decode(s, s->buffer, STREAM_CHUNK, &s->filled);
}

ddsc_status stream_read(io_stream *s, void *buffer, size_t n, size_t *got)
{
    unsigned char *out = buffer;
    size_t have = take_buffered(s, out, n);
    *got = have;
    while (have < n) {
        ddsc_status status;
        size_t k = 0;
        if (n - have >= STREAM_CHUNK) {
            status = stream_decode(s, out + have, n - have, &k);
        } else {
            status = refill(s);
            if (status >= 0)
                k = take_buffered(s, out + have, n - have);
        }
        if (status < 0)
            return status;
        if (k == 0)
            break;
        have += k;
        *got = have;
    }
    return DDSC_OK;
}

static int64_t handed_out(const io_stream *s)
{
    return s->produced - (int64_t)(s->filled - s->at);
}

ddsc_status stream_read_exact(io_stream *s, void *buffer, size_t n, const char *what)
{
    size_t got;
    ddsc_status status = stream_read(s, buffer, n, &got);
    if (status >= 0 && got < n)
        return stream_fail(s, "ends early at byte %lld (while reading %s)",
                           (long long)handed_out(s), what);
    return status;
}

ddsc_status stream_expect_end(io_stream *s, const char *what)
{
    unsigned char byte;
    size_t got;
    ddsc_status status = stream_read(s, &byte, 1, &got);
    if (status >= 0 && got > 0)
        return stream_fail(s, "has unexpected bytes after %s (starting at byte %lld)", what,
                           (long long)handed_out(s) - 1);
    return status;
}

ddsc_status stream_peek(io_stream *s, void *buffer, size_t n, size_t *got)
{
    size_t k = 1;
    n = BASE_MIN(n, (size_t)STREAM_PEEK_MAX);
    while (s->filled < n && k > 0) {
        CHECK(stream_decode(s, s->buffer + s->filled, STREAM_CHUNK - s->filled, &k));
        s->filled += k;
    }
    *got = BASE_MIN(n, s->filled);
    memcpy(buffer, s->buffer, *got);
    return DDSC_OK;
}

/* Copies the buffered part of an unfinished line to s->line. */
static ddsc_status keep_piece(io_stream *s, int64_t *have)
{
    int64_t n = (int64_t)(s->filled - s->at);
    if (*have + n > LINE_MAX_BYTES)
        return stream_fail(s, "line %lld is longer than %d bytes", (long long)s->line_number,
                           LINE_MAX_BYTES);
    CHECK(MEM_RESERVE(s->ctx, s->line, &s->line_capacity, *have + n + 1));
    memcpy(s->line + *have, s->buffer + s->at, (size_t)n);
    s->at = s->filled;
    *have += n;
    return DDSC_OK;
}

static ddsc_status finish_line(io_stream *s, char **line, size_t *length, char *text, size_t n)
{
    s->line_had_return = n > 0 && text[n - 1] == '\r';
    n -= s->line_had_return;
    text[n] = '\0';
    /* reports UTF-16 text with a separate message */
    if (!s->mark_seen && n >= 2 && memchr(text, 0, n))
        CHECK(stream_make_utf8(s, &text, &(size_t){2}));
    if (memchr(text, 0, n))
        return stream_fail(s, "line %lld contains a zero byte, so this is not a UTF-8 text file",
                           (long long)s->line_number);
    *line = text;
    *length = n;
    return stream_make_utf8(s, line, length);
}

/* Returns the next line. A line that is completely in the buffer is returned in place; other lines
 * are assembled in s->line. */
ddsc_status stream_line(io_stream *s, char **line, size_t *length)
{
    int64_t have = 0;
    *line = NULL;
    *length = 0;
    s->line_number++;
    for (;;) {
        if (s->at == s->filled)
            CHECK(refill(s));
        if (s->at == s->filled)
            break;
        char *from = (char *)s->buffer + s->at;
        char *end = memchr(from, '\n', s->filled - s->at);
        if (end && have == 0) {
            s->at += (size_t)(end - from) + 1;
            return finish_line(s, line, length, from, (size_t)(end - from));
        }
        size_t filled = s->filled;
        if (end)
            s->filled = s->at + (size_t)(end - from);
        CHECK(keep_piece(s, &have));
        s->filled = filled;
        if (end) {
            s->at++;
            return finish_line(s, line, length, s->line, (size_t)have);
        }
        s->at = s->filled;
    }
    if (have > 0)
        return finish_line(s, line, length, s->line, (size_t)have);
    return DDSC_OK;
}

/* Returns true if a quoted field is still open at the end of the text. Quotes inside an unquoted
 * field are data. */
static bool scan_quotes(const char *text, bool inside, char delimiter)
{
    bool begins = true;
    for (; *text; text++) {
        if (inside && *text == '"' && text[1] == '"')
            text++;
        else if (*text == '"' && (inside || begins))
            inside = !inside;
        else if (!inside)
            begins = *text == delimiter || (begins && *text == ' ') ||
                     (!delimiter && strchr(",\t;|", *text));
        if (inside)
            begins = false;
    }
    return inside;
}

static ddsc_status keep_line(io_stream *s, int64_t *have, const char *line, size_t n)
{
    if (*have + (int64_t)n + 2 > LINE_MAX_BYTES)
        return stream_fail_line(s, ": a quoted field is longer than %d bytes", LINE_MAX_BYTES);
    CHECK(MEM_RESERVE(s->ctx, s->record, &s->record_capacity, *have + (int64_t)n + 3));
    memcpy(s->record + *have, line, n);
    *have += (int64_t)n;
    s->record[*have] = '\0';
    return DDSC_OK;
}

ddsc_status stream_record(io_stream *s, char **line, size_t *length, char delimiter)
{
    CHECK(stream_line(s, line, length));
    bool inside = *line && scan_quotes(*line, false, delimiter);
    int64_t have = 0, first = s->line_number;
    if (!inside)
        return DDSC_OK;
    while (inside) {
        CHECK(keep_line(s, &have, *line, *length));
        if (s->line_had_return)
            s->record[have++] = '\r';
        s->record[have++] = '\n';
        CHECK(stream_line(s, line, length));
        if (!*line)
            return stream_fail(s, "line %lld: the quote is not closed", (long long)first);
        inside = scan_quotes(*line, true, delimiter);
    }
    CHECK(keep_line(s, &have, *line, *length));
    *line = s->record;
    *length = (size_t)have;
    return DDSC_OK;
}

ddsc_status stream_text_line(io_stream *s, char **line, char delimiter)
{
    size_t n;
    do {
        CHECK(stream_record(s, line, &n, delimiter));
        if (*line && s->line_number == 1)
            *line = text_skip_mark(*line);
    } while (*line && (*line)[strspn(*line, " \t")] == '\0');
    return DDSC_OK;
}

int64_t stream_line_number(const io_stream *s)
{
    return s->line_number;
}

int64_t stream_remaining_bound(const io_stream *s)
{
    int64_t buffered = (int64_t)(s->filled - s->at);
    int64_t bound = s->limit - s->produced;
    if (!s->is_part && s->raw_end >= 0) {
        int64_t raw = s->raw_end - s->raw_at + (int64_t)s->z.avail_in;
        if (s->coding == STREAM_PLAIN) {
            bound = BASE_MIN(bound, raw);
        } else {
            int64_t whole = s->raw_end - s->base, most;
            if (!mul_ok(whole, STREAM_EXPANSION_RATIO, &most))
                most = INT64_MAX;
            bound = BASE_MIN(bound, BASE_MAX(most, STREAM_EXPANSION_FLOOR) - s->produced);
        }
    }
    return BASE_MAX(bound, 0) + buffered;
}

ddsc_status stream_check_declared(io_stream *s, int64_t bytes, const char *what)
{
    int64_t there = stream_remaining_bound(s);
    if (bytes <= there)
        return DDSC_OK;
    if (s->coding == STREAM_GZIP)
        return stream_fail(s,
                           "declares %lld bytes of %s, far more than its compressed size can "
                           "contain (a zip bomb?); if you trust the file, decompress it first",
                           (long long)bytes, what);
    return stream_fail(s, "declares %lld bytes of %s, but at most %lld bytes follow",
                       (long long)bytes, what, (long long)there);
}

uint32_t stream_checksum(uint32_t before, const void *bytes, size_t n)
{
    return (uint32_t)crc32_z(before, bytes, n);
}

uint32_t stream_checksum_join(uint32_t first, uint32_t second, int64_t n)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)n);
}
