/* Ensures that input text is UTF-8: checks it, or converts it from the encoding set in the
 * context. */
#include <string.h>

#include "io/stream/internal.h"

static bool is_ascii(const char *text, size_t n)
{
    uint64_t eight, high = 0;
    size_t k = 0;
    for (; k + sizeof eight <= n; k += sizeof eight) {
        memcpy(&eight, text + k, sizeof eight);
        high |= eight;
    }
    for (; k < n; k++)
        high |= (uint64_t)(unsigned char)text[k];
    return (high & 0x8080808080808080ULL) == 0;
}

void stream_set_utf8(io_stream *s)
{
    s->is_utf8 = true;
}

/* Checks for a byte order mark at the start of the text. A UTF-16 mark is an error. */
static ddsc_status look_at_mark(io_stream *s, const char *text)
{
    s->mark_seen = true;
    if (strncmp(text, "\xff\xfe", 2) == 0 || strncmp(text, "\xfe\xff", 2) == 0)
        return stream_fail(s, "is UTF-16 text; convert it to UTF-8 first");
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        s->is_utf8 = true;
    return DDSC_OK;
}

/* Returns the number of delimiters outside quotes before `place`, or -1 if the line has no
 * fields. */
static int64_t place_field(const char *line, const char *place)
{
    char delimiter = fields_delimiter(line);
    bool quoted = false;
    int64_t n = 0;
    if (*line == '{' || !strchr(line, delimiter))
        return -1;
    for (; line < place; line++) {
        quoted ^= *line == '"';
        n += *line == delimiter && !quoted;
    }
    return n;
}

static ddsc_status fail_not_utf8(io_stream *s, const char *text, const char *place)
{
    static const char advice[] = "not UTF-8 text; specify the encoding of the file (--encoding "
                                 "latin1), or convert the file first";
    int64_t line = s->line_number, field = -1;
    if (line > 0)
        field = place_field(text, place);
    else /* the text was not read line by line */
        for (line = 1; text < place; text++)
            line += *text == '\n';
    if (field < 0)
        return stream_fail(s, "line %lld: %s", (long long)line, advice);
    return stream_fail(s, "line %lld, column %lld: %s", (long long)line, (long long)field + 1,
                       advice);
}

ddsc_status stream_make_utf8(io_stream *s, char **text, size_t *n)
{
    if (!s->mark_seen)
        CHECK(look_at_mark(s, *text));
    if (is_ascii(*text, *n))
        return DDSC_OK;
    ddsc_encoding encoding = s->is_utf8 ? DDSC_ENCODING_UTF8 : ctx_encoding(s->ctx);
    if (encoding != DDSC_ENCODING_UTF8) {
        CHECK(MEM_RESERVE(s->ctx, s->converted, &s->converted_capacity, 3 * (int64_t)*n + 1));
        *n = text_convert(s->converted, *text, *n, encoding);
        *text = s->converted;
        return DDSC_OK;
    }
    for (const unsigned char *at = (const unsigned char *)*text, *from = at; *at; from = at)
        if (text_next_char(&at) < 0)
            return fail_not_utf8(s, *text, (const char *)from);
    return DDSC_OK;
}
