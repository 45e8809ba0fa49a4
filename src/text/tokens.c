/* Splits text into words. The text is first copied to a buffer in lower case, with a space in place
 * of every break, and then split at spaces. The default rule is in word_rule.c. The locale is not
 * used, so the same bytes produce the same words everywhere. */
#include "text/text.h"

#include <string.h>

/* ---- characters ---- */

typedef struct char_range {
    uint32_t first, last;
} char_range;

static bool in_ranges(uint32_t c, const char_range *range, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (c >= range[k].first && c <= range[k].last)
            return true;
    return false;
}
#define IN_RANGES(c, list) in_ranges(c, list, sizeof(list) / sizeof *(list))

/* Returns true for Unicode whitespace. */
static bool token_break_blank(uint32_t c)
{
    static const char_range blanks[] = {{0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
                                        {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
                                        {0x205f, 0x205f}, {0x3000, 0x3000}};
    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    return IN_RANGES(c, blanks);
}

/* Returns true for whitespace and ASCII punctuation except the apostrophe. */
static bool token_break_punctuation(uint32_t c)
{
    if (c > 0x20 && c < 0x7f)
        return strchr("!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~", (int)c) != NULL;
    return token_break_blank(c);
}

/* The result is exact for Latin, Greek and Cyrillic. In other scripts, only the characters in
 * blocks of marks and symbols are not treated as letters. */
bool token_break_nonletter(uint32_t c)
{
    static const char_range others[] = {
        {0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},       {0xbb, 0xbf},      {0xd7, 0xd7},
        {0xf7, 0xf7},     {0x2c2, 0x2c5},   {0x2d2, 0x2df},     {0x2e5, 0x2eb},    {0x2ed, 0x2ed},
        {0x2ef, 0x36f},   {0x375, 0x375},   {0x378, 0x379},     {0x37e, 0x37e},    {0x380, 0x385},
        {0x387, 0x387},   {0x38b, 0x38b},   {0x38d, 0x38d},     {0x3a2, 0x3a2},    {0x3f6, 0x3f6},
        {0x482, 0x489},   {0x530, 0x530},   {0x2000, 0x2bff},   {0x2e00, 0x2e7f},  {0x3000, 0x3004},
        {0x3007, 0x3030}, {0xd800, 0xf8ff}, {0xfe00, 0xfe6f},   {0xff00, 0xff20},  {0xff3b, 0xff40},
        {0xff5b, 0xff65}, {0xffe0, 0xffff}, {0x1d100, 0x1d3ff}, {0x1f000, 0x1faff}};
    if (c < 0x80)
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
    return IN_RANGES(c, others);
}

/* Converts capital letters in Latin, Greek, Cyrillic and Armenian to lower case. Every `step`-th
 * character of a range is a capital, and adding `shift` converts it. */
uint32_t token_lower(uint32_t c)
{
    static const struct {
        char_range range;
        uint32_t step;
        int32_t shift;
    } capitals[] = {{{0xc0, 0xd6}, 1, 32},     {{0xd8, 0xde}, 1, 32},    {{0x100, 0x12e}, 2, 1},
                    {{0x132, 0x136}, 2, 1},    {{0x139, 0x147}, 2, 1},   {{0x14a, 0x176}, 2, 1},
                    {{0x178, 0x178}, 1, -121}, {{0x179, 0x17d}, 2, 1},   {{0x1a0, 0x1a4}, 2, 1},
                    {{0x1af, 0x1af}, 1, 1},    {{0x1cd, 0x1db}, 2, 1},   {{0x1de, 0x1ee}, 2, 1},
                    {{0x1f8, 0x21e}, 2, 1},    {{0x222, 0x232}, 2, 1},   {{0x386, 0x386}, 1, 38},
                    {{0x388, 0x38a}, 1, 37},   {{0x38c, 0x38c}, 1, 64},  {{0x38e, 0x38f}, 1, 63},
                    {{0x391, 0x3a1}, 1, 32},   {{0x3a3, 0x3ab}, 1, 32},  {{0x400, 0x40f}, 1, 80},
                    {{0x410, 0x42f}, 1, 32},   {{0x460, 0x480}, 2, 1},   {{0x48a, 0x4be}, 2, 1},
                    {{0x4c0, 0x4c0}, 1, 15},   {{0x4c1, 0x4cd}, 2, 1},   {{0x4d0, 0x52e}, 2, 1},
                    {{0x531, 0x556}, 1, 48},   {{0x1e00, 0x1e94}, 2, 1}, {{0x1ea0, 0x1efe}, 2, 1}};
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    for (size_t k = 0; k < sizeof capitals / sizeof *capitals; k++) {
        uint32_t first = capitals[k].range.first;
        if (c >= first && c <= capitals[k].range.last && (c - first) % capitals[k].step == 0)
            return (uint32_t)((int32_t)c + capitals[k].shift);
    }
    return c;
}

/* ---- UTF-8 ---- */

/* Returns the next character. An invalid byte is read as Latin-1. */
uint32_t token_decode(const unsigned char **at)
{
    const unsigned char *from = *at;
    int64_t c = text_next_char(at);
    if (c >= 0)
        return (uint32_t)c;
    *at = from + 1;
    return *from;
}

char *token_encode(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *out++ = (char)((0xff00u >> (more + 1) & 0xffu) | c >> 6 * more);
    while (more-- > 0)
        *out++ = (char)(0x80u | (c >> 6 * more & 0x3fu));
    return out;
}

/* ---- tokens ---- */

token_reader token_reader_make(ddsc_tokens rule)
{
    if (rule == DDSC_TOKENS_LETTERS)
        return (token_reader){.breaks = token_break_nonletter, .shortest = 2};
    if (rule == DDSC_TOKENS_WORDS)
        return (token_reader){.shortest = 1};
    return (token_reader){.breaks = token_break_punctuation, .shortest = 1};
}

ddsc_status token_reader_begin(ddsc_context *ctx, token_reader *t, const char *text)
{
    if (!t->breaks)
        return token_reader_split_words(ctx, t, text);
    /* A Latin-1 byte may become two bytes. A lower-case letter never needs more bytes than the
     * capital letter. */
    int64_t need = 2 * (int64_t)strlen(text) + 1;
    CHECK(MEM_RESERVE(ctx, t->folded, &t->capacity, need));
    char *out = t->folded;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        uint32_t c = token_decode(&at);
        out = token_encode(out, t->breaks(c) ? ' ' : token_lower(c));
    }
    *out = '\0';
    t->at = t->folded;
    return DDSC_OK;
}

static int64_t count_characters(const char *text, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

const char *token_reader_next(token_reader *t, size_t *n)
{
    for (;;) {
        while (*t->at == ' ')
            t->at++;
        if (*t->at == '\0')
            return NULL;
        const char *token = t->at;
        while (*t->at != ' ' && *t->at != '\0')
            t->at++;
        *n = (size_t)(t->at - token);
        if (count_characters(token, *n) >= t->shortest)
            return token;
    }
}

void token_reader_free(ddsc_context *ctx, token_reader *t)
{
    MEM_FREE(ctx, t->folded, t->code);
    t->folded = NULL;
    t->code = NULL;
    t->capacity = t->code_capacity = 0;
}

ddsc_status tokens_read_list(ddsc_context *ctx, text_table *words, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    token_reader t = {.breaks = token_break_blank, .shortest = 1};
    char *line;
    size_t n;
    for (;;) {
        TRY(stream_line(s, &line, &n));
        if (!line)
            break;
        TRY(token_reader_begin(ctx, &t, line));
        int64_t number;
        bool is_new;
        for (const char *word = token_reader_next(&t, &n); word; word = token_reader_next(&t, &n))
            TRY(text_table_add(ctx, words, word, n, &number, &is_new));
    }
done:
    token_reader_free(ctx, &t);
    return status;
}
