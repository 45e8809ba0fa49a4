/* Parses npy headers, and writes headers of version 1.0. */
#include "io/format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_LIMIT = 1 << 16 };

/* ---- header: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), } ---- */

typedef struct cursor {
    const char *at;
} cursor;

static void skip_blanks(cursor *c)
{
    while (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')
        c->at++;
}

static bool take_char(cursor *c, char wanted)
{
    skip_blanks(c);
    if (*c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(c);
    if (strncmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_string(cursor *c, char *out, size_t capacity)
{
    skip_blanks(c);
    char quote = *c->at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *end = strchr(c->at + 1, quote);
    if (!end || (size_t)(end - c->at) > capacity)
        return false;
    size_t n = (size_t)(end - c->at - 1);
    memcpy(out, c->at + 1, n);
    out[n] = '\0';
    c->at = end + 1;
    return true;
}

static bool take_shape(cursor *c, npy_array *a)
{
    if (!take_char(c, '('))
        return false;
    a->n_dims = 0;
    while (!take_char(c, ')')) {
        char *end;
        if (a->n_dims == NPY_MAX_DIMS || *c->at < '0' || *c->at > '9')
            return false;
        unsigned long long size = strtoull(c->at, &end, 10);
        if (size > INT64_MAX)
            return false;
        a->shape[a->n_dims++] = (int64_t)size;
        c->at = end;
        take_word(c, "L");
        if (!take_char(c, ',') && *c->at != ')')
            return false;
    }
    return true;
}

/* Parses an element type such as "<f8". */
static ddsc_status npy_set_type(io_stream *s, npy_array *a, const char *descr)
{
    const char *at = descr;
    char order = strchr("<>|=", *at) && *at ? *at++ : '=';
    char kind = *at ? *at++ : '?';
    int64_t width;
    char quoted[QUOTE_TEXT];
    text_quote(quoted, descr, strlen(descr));
    if (kind == 'O')
        return stream_fail(s, "contains Python objects; save it as numbers or fixed-width text");
    if (!number_parse_integer(at, &width) || width < 1 || width > 1 << 28)
        return stream_fail(s, "has the unknown element type '%s'", quoted);
    a->kind = kind == 'b' ? 'u' : kind;
    bool is_int = (a->kind == 'i' || a->kind == 'u') &&
                  (width == 1 || width == 2 || width == 4 || width == 8);
    bool is_float = kind == 'f' && (width == 4 || width == 8);
    if (!is_int && !is_float && kind != 'U' && kind != 'S')
        return stream_fail(
            s, "has the element type '%s', which is not supported (use float64 or int64)", quoted);
    a->type.kind = a->kind;
    a->type.width = (int)width;
    a->type.swap = order == (NUM_HOST_LITTLE ? '>' : '<');
    a->item_bytes = kind == 'U' ? 4 * width : width;
    return DDSC_OK;
}

static ddsc_status parse_header(io_stream *s, npy_array *a, const char *text)
{
    cursor c = {text};
    char key[32], descr[64] = "";
    int seen = 0;
    bool good = take_char(&c, '{');
    while (good && !take_char(&c, '}')) {
        good = take_string(&c, key, sizeof key) && take_char(&c, ':');
        if (good && strcmp(key, "descr") == 0) {
            seen |= 1;
            if (take_char(&c, '['))
                return stream_fail(s,
                                   "contains records with several fields; expected plain numbers");
            good = take_string(&c, descr, sizeof descr);
        } else if (good && strcmp(key, "fortran_order") == 0) {
            seen |= 2;
            a->fortran = take_word(&c, "True");
            good = a->fortran || take_word(&c, "False");
        } else if (good && strcmp(key, "shape") == 0) {
            seen |= 4;
            good = take_shape(&c, a);
        } else {
            good = false;
        }
        if (good && !take_char(&c, ','))
            good = *c.at == '}';
    }
    if (!good || seen != 7) {
        return stream_fail(s, "has a damaged npy header near \"%s\"", QUOTE(c.at));
    }
    return npy_set_type(s, a, descr);
}

static ddsc_status npy_check_size(io_stream *s, npy_array *a)
{
    int64_t bytes;
    a->count = 1;
    for (int k = 0; k < a->n_dims; k++)
        if (!mul_ok(a->count, a->shape[k], &a->count))
            return stream_fail(s, "declares a shape that is too large");
    if (!mul_ok(a->count, a->item_bytes, &bytes))
        return stream_fail(s, "declares a shape that is too large");
    return stream_check_declared(s, bytes, "elements");
}

ddsc_status npy_read_header(io_stream *s, npy_array *a)
{
    unsigned char head[12];
    char text[HEADER_LIMIT + 1];
    *a = (npy_array){0};
    CHECK(stream_read_exact(s, head, 10, "the npy header"));
    if (memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3)
        return stream_fail(s, "is not an npy array");
    size_t length = head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        CHECK(stream_read_exact(s, head + 10, 2, "the npy header"));
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (length > HEADER_LIMIT)
        return stream_fail(s, "has an npy header of %zu bytes, which is too long", length);
    CHECK(stream_read_exact(s, text, length, "the npy header"));
    text[length] = '\0';
    CHECK(parse_header(s, a, text));
    return npy_check_size(s, a);
}

const char *npy_shape_text(char out[QUOTE_TEXT], const npy_array *a)
{
    int n = snprintf(out, QUOTE_TEXT, "(");
    for (int k = 0; k < a->n_dims && n < QUOTE_TEXT; k++)
        n += snprintf(out + n, (size_t)(QUOTE_TEXT - n), "%s%" PRId64, k ? ", " : "", a->shape[k]);
    if (n < QUOTE_TEXT)
        snprintf(out + n, (size_t)(QUOTE_TEXT - n), "%s)", a->n_dims == 1 ? "," : "");
    return out;
}

size_t npy_format_header(char out[NPY_HEADER_MAX], const char *descr, int n_dims,
                         const int64_t *shape)
{
    int n = snprintf(out + 10, NPY_HEADER_MAX - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int k = 0; k < n_dims; k++)
        n += snprintf(out + 10 + n, (size_t)(NPY_HEADER_MAX - 10 - n), "%s%" PRId64, k ? ", " : "",
                      shape[k]);
    n +=
        snprintf(out + 10 + n, (size_t)(NPY_HEADER_MAX - 10 - n), "%s), }", n_dims == 1 ? "," : "");
    size_t whole = ((size_t)n + 11 + 63) / 64 * 64;
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((whole - 10) & 0xff);
    out[9] = (char)((whole - 10) >> 8);
    memset(out + 10 + n, ' ', whole - 11 - (size_t)n);
    out[whole - 1] = '\n';
    return whole;
}
