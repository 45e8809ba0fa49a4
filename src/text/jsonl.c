/* Splits a line that contains a JSON object (RFC 8259) in place into keys and values, as text.
 * Strings are decoded. Numbers, true and false remain as they are, and null and nested values
 * become "". */
#include "text/text.h"

#include <string.h>

enum { JSON_KEYS = 4096 };

typedef struct json_line {
    ddsc_context *ctx;
    io_stream *s;
    char *start, *at;
} json_line;

static ddsc_status fail_json(json_line *j, const char *wanted)
{
    return stream_fail_line(j->s, ", column %lld: expected %s; each line must be one JSON object",
                            (long long)(j->at - j->start) + 1, wanted);
}

static void json_skip_blanks(json_line *j)
{
    j->at += strspn(j->at, " \t\r");
}

static int32_t hex4(const char *at)
{
    int32_t value = 0;
    for (int k = 0; k < 4; k++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *found = at[k] ? strchr(digits, at[k]) : NULL;
        if (!found)
            return -1;
        value = value * 16 + (int32_t)((found - digits) % 16);
    }
    return value;
}

static char *put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Decodes \uXXXX; a surrogate pair is one character above U+FFFF. An unpaired surrogate and U+0000
 * become U+FFFD. The decoded text is never longer than the escape sequence. */
static bool take_unicode(json_line *j, char **to)
{
    int32_t c = hex4(j->at + 1);
    if (c < 0)
        return false;
    j->at += 5;
    if (c >= 0xd800 && c < 0xdc00 && j->at[0] == '\\' && j->at[1] == 'u') {
        int32_t low = hex4(j->at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            j->at += 6;
        }
    }
    *to = put_utf8(*to, c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
    return true;
}

/* Decodes a string in place. `at` is on the opening quote. */
static ddsc_status json_take_string(json_line *j, char **text)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *to = ++j->at;
    *text = to;
    while (*j->at != '"') {
        if (*j->at == '\0')
            return fail_json(j, "the closing quote of a string");
        if (*j->at != '\\') {
            *to++ = *j->at++;
            continue;
        }
        j->at++;
        const char *found = *j->at ? strchr(plain, *j->at) : NULL;
        if (found) {
            *to++ = meant[found - plain];
            j->at++;
        } else if (*j->at != 'u' || !take_unicode(j, &to)) {
            return fail_json(j, "a valid escape sequence");
        }
    }
    j->at++;
    *to = '\0';
    return DDSC_OK;
}

static ddsc_status skip_nested(json_line *j)
{
    int64_t depth = 0;
    char *text;
    do {
        if (*j->at == '"') {
            CHECK(json_take_string(j, &text));
            continue;
        }
        if (*j->at == '\0')
            return fail_json(j, "a closing bracket");
        depth += (*j->at == '{' || *j->at == '[') - (*j->at == '}' || *j->at == ']');
        j->at++;
    } while (depth > 0);
    return DDSC_OK;
}

/* Reads a value. If *end is not NULL, the caller must terminate the text there, after it has
 * checked the next character. */
static ddsc_status take_json_value(json_line *j, char **text, char **end)
{
    *end = NULL;
    if (*j->at == '"')
        return json_take_string(j, text);
    if (*j->at == '{' || *j->at == '[') {
        *text = j->at + strlen(j->at); /* "" */
        return skip_nested(j);
    }
    *text = j->at;
    j->at += strcspn(j->at, ",} \t\r");
    if (j->at == *text)
        return fail_json(j, "a value");
    if (j->at - *text == 4 && memcmp(*text, "null", 4) == 0)
        *text = j->at + strlen(j->at);
    else
        *end = j->at;
    return DDSC_OK;
}

static ddsc_status add_pair(json_line *j, field_list *keys, field_list *values, char *key,
                            char *value)
{
    if (keys->n == JSON_KEYS)
        return stream_fail_line(j->s, " has more than %d keys", JSON_KEYS);
    for (int64_t k = 0; k < keys->n; k++)
        if (strcmp(keys->text[k], key) == 0)
            return stream_fail_line(j->s, ": the key \"%s\" occurs twice", QUOTE(key));
    CHECK(MEM_RESERVE(j->ctx, keys->text, &keys->capacity, keys->n + 1));
    CHECK(MEM_RESERVE(j->ctx, values->text, &values->capacity, values->n + 1));
    keys->text[keys->n++] = key;
    values->text[values->n++] = value;
    return DDSC_OK;
}

ddsc_status jsonl_split(ddsc_context *ctx, field_list *keys, field_list *values, io_stream *s,
                        char *line)
{
    json_line j = {ctx, s, line, line};
    keys->n = values->n = 0;
    json_skip_blanks(&j);
    if (*j.at++ != '{')
        return fail_json(&j, "an opening brace");
    for (char mark = ','; mark == ',';) {
        char *key, *value, *end;
        json_skip_blanks(&j);
        if (*j.at == '}' && keys->n == 0)
            break;
        if (*j.at != '"')
            return fail_json(&j, "a key in quotes");
        CHECK(json_take_string(&j, &key));
        json_skip_blanks(&j);
        if (*j.at++ != ':')
            return fail_json(&j, "a colon");
        json_skip_blanks(&j);
        CHECK(take_json_value(&j, &value, &end));
        json_skip_blanks(&j);
        mark = *j.at;
        if (mark != ',' && mark != '}')
            return fail_json(&j, "a comma or a closing brace");
        if (end)
            *end = '\0';
        CHECK(add_pair(&j, keys, values, key, value));
        j.at += mark == ',';
    }
    j.at++;
    json_skip_blanks(&j);
    return *j.at ? fail_json(&j, "the end of the line") : DDSC_OK;
}
