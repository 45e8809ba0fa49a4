/* Text that is read becomes UTF-8 here, whatever reader asked for it: checked, or converted from the encoding
 * that the context names. Windows-1252 as the WHATWG Encoding Standard has it: the five bytes that it leaves
 * free are control characters. */
#include <string.h>

#include "stream/inside.h"

/* U+0080 to U+009F of Latin-1 in Windows-1252. */
static const uint16_t cp1252[32] = {0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008d, 0x017d, 0x008f,
                                    0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

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

size_t text_convert(char *out, const char *text, size_t n, ddsc_encoding encoding)
{
    char *to = out;
    for (size_t k = 0; k < n; k++) {
        unsigned c = (unsigned char)text[k];
        if (encoding == DDSC_ENCODING_CP1252 && c >= 0x80 && c < 0xa0)
            c = cp1252[c - 0x80];
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3f));
        } else {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
            *to++ = (char)(0x80 | (c & 0x3f));
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

/* ---- of a stream ---- */

void stream_set_utf8(io_stream *s)
{
    s->is_utf8 = true;
}

/* The bytes in front of the first text: marks of UTF-8 and UTF-16. */
static ddsc_status look_at_mark(io_stream *s, const char *text)
{
    s->mark_seen = true;
    if (strncmp(text, "\xff\xfe", 2) == 0 || strncmp(text, "\xfe\xff", 2) == 0)
        return stream_fail(s, "is UTF-16 text; convert it to UTF-8 first");
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        s->is_utf8 = true;
    return DDSC_OK;
}

/* Delimiters outside quotes before a place of a line, or -1 where it does not look like fields. */
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
    static const char advice[] =
        "not UTF-8 text; give the file's encoding (--encoding latin1), or convert the file first";
    int64_t line = s->line_number, field = -1;
    if (line > 0)
        field = place_field(text, place);
    else /* all of a file */
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
        CHECK(MEM_RESERVE(s->ctx, s->converted, &s->converted_room, 3 * (int64_t)*n + 1));
        *n = text_convert(s->converted, *text, *n, encoding);
        *text = s->converted;
        return DDSC_OK;
    }
    for (const unsigned char *at = (const unsigned char *)*text, *from = at; *at; from = at)
        if (text_next_char(&at) < 0)
            return fail_not_utf8(s, *text, (const char *)from);
    return DDSC_OK;
}
