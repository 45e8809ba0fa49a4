/* Growable text buffers, with escaping for HTML, CSV and base64. */
#include "report/result/buffer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void buffer_free(buffer *b)
{
    mem_free(b->ctx, b->bytes);
    *b = (buffer){.ctx = b->ctx};
}

/* Reserves space for n more bytes and the final NUL. Returns false after a failure. */
static bool buffer_reserve(buffer *b, size_t n)
{
    int64_t need;
    if (b->status < 0)
        return false;
    if (n > INT64_MAX / 4 || !add_ok(b->length, (int64_t)n + 1, &need))
        b->status = ctx_fail(b->ctx, DDSC_ERROR_MEMORY, "out of memory for a text of %zu bytes", n);
    else if (need > b->capacity) {
        b->status = mem_resize(b->ctx, &b->bytes, 2 * need + 64, 1);
        b->capacity = b->status < 0 ? b->capacity : 2 * need + 64;
    }
    return b->status >= 0;
}

void buffer_add_bytes(buffer *b, const void *bytes, size_t n)
{
    if (!buffer_reserve(b, n))
        return;
    memcpy(b->bytes + b->length, bytes, n);
    b->length += (int64_t)n;
    b->bytes[b->length] = '\0';
}

typedef struct pieces {
    buffer *piece;
    int64_t grain;
    buffer_fn make;
    const void *arg;
} pieces;

static ddsc_status make_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const pieces *p = arg;
    buffer *b = &p->piece[begin / p->grain];
    (void)worker;
    p->make(b, p->arg, begin, end);
    return b->status;
}

void buffer_add_pieces(buffer *b, int64_t n, int64_t grain, buffer_fn make, const void *arg)
{
    pieces p = {NULL, grain, make, arg};
    int64_t count = (n + grain - 1) / grain;
    if (b->status < 0)
        return;
    b->status = MEM_NEW(b->ctx, p.piece, count);
    for (int64_t k = 0; p.piece && k < count; k++)
        p.piece[k] = (buffer){.ctx = b->ctx};
    if (b->status >= 0)
        b->status = parallel_for(b->ctx, n, grain, make_piece, &p);
    for (int64_t k = 0; p.piece && k < count; k++) {
        buffer_add_bytes(b, p.piece[k].bytes, (size_t)p.piece[k].length);
        buffer_free(&p.piece[k]);
    }
    mem_free(b->ctx, p.piece);
}

void buffer_add(buffer *b, const char *string)
{
    buffer_add_bytes(b, string, strlen(string));
}

void buffer_addf(buffer *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !buffer_reserve(b, (size_t)n))
        return;
    va_start(arguments, format);
    vsnprintf(b->bytes + b->length, (size_t)n + 1, format, arguments);
    va_end(arguments);
    b->length += n;
}

/* Appends the character at s and returns its length in bytes. Characters that change the writing
 * direction are replaced with visible escapes, as in terminal output. */
static size_t add_wide(buffer *b, const char *s)
{
    const unsigned char *at = (const unsigned char *)s;
    char shown[16];
    size_t n = text_next_char(&at) < 0 ? 1 : (size_t)(at - (const unsigned char *)s);
    text_visible(shown, sizeof shown, s, n);
    buffer_add(b, shown);
    return n;
}

void buffer_add_html(buffer *b, const char *string)
{
    for (const char *s = string; *s; s++) {
        if ((unsigned char)*s >= 0x80) {
            s += add_wide(b, s) - 1;
            continue;
        }
        switch (*s) {
        case '&': buffer_add(b, "&amp;"); break;
        case '<': buffer_add(b, "&lt;"); break;
        case '>': buffer_add(b, "&gt;"); break;
        case '"': buffer_add(b, "&quot;"); break;
        case '\'': buffer_add(b, "&#39;"); break;
        default: buffer_add_bytes(b, (unsigned char)*s < 0x20 || *s == 0x7f ? " " : s, 1);
        }
    }
}

void buffer_add_csv(buffer *b, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        buffer_add(b, field);
        return;
    }
    buffer_add(b, "\"");
    for (; *field; field++)
        buffer_add_bytes(b, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    buffer_add(b, "\"");
}

void buffer_add_count(buffer *b, int64_t count)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%" PRId64, count);
    for (int i = 0; i < n; i++) {
        buffer_add_bytes(b, &digits[i], 1);
        int left = n - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-')
            buffer_add(b, ",");
    }
}

void buffer_add_double(buffer *b, double value)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    buffer_add(b, isnan(value) ? "nan" : digits);
}

void buffer_add_base64(buffer *b, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (n > SIZE_MAX / 4 || !buffer_reserve(b, (n + 2) / 3 * 4))
        return;
    char *out = b->bytes + b->length;
    for (size_t i = 0; i < n; i += 3, out += 4) {
        size_t left = n - i;
        unsigned v = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                     (left > 2 ? bytes[i + 2] : 0);
        out[0] = digits[v >> 18];
        out[1] = digits[v >> 12 & 63];
        out[2] = left > 1 ? digits[v >> 6 & 63] : '=';
        out[3] = left > 2 ? digits[v & 63] : '=';
    }
    *out = '\0';
    b->length = out - b->bytes;
}
