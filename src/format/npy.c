/* npy: one array; elements of any width and byte order, converted chunk by chunk straight into
 * their final place. */
#include "format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16 };

/* ---- elements ---- */

static bool is_number(const npy_array *a)
{
    return a->kind == 'f' || a->kind == 'i' || a->kind == 'u';
}

ddsc_status npy_read_chunks(ddsc_context *ctx, io_stream *s, const npy_array *a, npy_chunk_fn fn,
                            void *arg)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    double *value = NULL;
    if (!is_number(a))
        return stream_fail(s, "holds text where numbers are wanted");
    int64_t chunk = CHUNK_BYTES / a->type.width;
    TRY(mem_get(ctx, &bytes, CHUNK_BYTES, 1));
    TRY(MEM_NEW(ctx, value, chunk));
    for (int64_t at = 0; at < a->count; at += chunk) {
        int64_t n = BASE_MIN(chunk, a->count - at);
        TRY(stream_read_exact(s, bytes, (size_t)(n * a->type.width), "the elements"));
        number_to_double(value, bytes, n, a->type);
        TRY(fn(arg, at, n, value));
    }
    TRY(stream_expect_end(s, "its header and elements"));
done:
    mem_free(ctx, bytes);
    mem_free(ctx, value);
    return status;
}

/* Where elements land: file order is C order, or Fortran order with the first axis fastest. */
typedef struct placement {
    double *out;
    const npy_array *array;
    int64_t place[NPY_MAX_DIMS];
} placement;

static ddsc_status place_c(void *arg, int64_t begin, int64_t n, const double *value)
{
    placement *p = arg;
    memcpy(p->out + begin, value, (size_t)n * sizeof *value);
    return DDSC_OK;
}

static ddsc_status place_fortran(void *arg, int64_t begin, int64_t n, const double *value)
{
    placement *p = arg;
    const npy_array *a = p->array;
    (void)begin;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0;
        for (int k = 0; k < a->n_dims; k++)
            at = at * a->shape[k] + p->place[k];
        p->out[at] = value[i];
        for (int k = 0; k < a->n_dims && ++p->place[k] == a->shape[k]; k++)
            p->place[k] = 0;
    }
    return DDSC_OK;
}

ddsc_status npy_read_doubles(ddsc_context *ctx, double **out, io_stream *s, const npy_array *a)
{
    bool direct = a->kind == 'f' && a->type.width == 8 && !a->type.swap && !a->fortran;
    CHECK(MEM_NEW(ctx, *out, a->count));
    if (direct) {
        CHECK(stream_read_exact(s, *out, (size_t)a->count * sizeof **out, "the elements"));
        CHECK(stream_expect_end(s, "its header and elements"));
    } else {
        placement p = {.out = *out, .array = a};
        CHECK(npy_read_chunks(ctx, s, a, a->fortran ? place_fortran : place_c, &p));
    }
    return DDSC_OK;
}

/* Integers of a one-dimensional array, a chunk at a time. */
typedef ddsc_status (*integer_fn)(void *arg, int64_t begin, int64_t n, const int64_t *value);

static ddsc_status read_integer_chunks(ddsc_context *ctx, io_stream *s, const npy_array *a,
                                       integer_fn fn, void *arg)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    int64_t *value = NULL, bad;
    if (a->kind != 'i' && a->kind != 'u')
        return stream_fail(s, "should hold integers");
    int64_t chunk = CHUNK_BYTES / a->type.width;
    TRY(mem_get(ctx, &bytes, CHUNK_BYTES, 1));
    TRY(MEM_NEW(ctx, value, chunk));
    for (int64_t at = 0; at < a->count; at += chunk) {
        int64_t n = BASE_MIN(chunk, a->count - at);
        TRY(stream_read_exact(s, bytes, (size_t)(n * a->type.width), "the elements"));
        if (!number_to_int64(value, bytes, n, a->type, &bad)) {
            status = stream_fail(s, "element %lld is too large", (long long)(at + bad));
            goto done;
        }
        TRY(fn(arg, at, n, value));
    }
    TRY(stream_expect_end(s, "its header and elements"));
done:
    mem_free(ctx, bytes);
    mem_free(ctx, value);
    return status;
}

static ddsc_status copy_integers(void *arg, int64_t begin, int64_t n, const int64_t *value)
{
    memcpy((int64_t *)arg + begin, value, (size_t)n * sizeof *value);
    return DDSC_OK;
}

ddsc_status npy_read_integers(ddsc_context *ctx, int64_t **out, io_stream *s, const npy_array *a)
{
    ddsc_status status = MEM_NEW(ctx, *out, a->count);
    return status < 0 ? status : read_integer_chunks(ctx, s, a, copy_integers, *out);
}

typedef struct narrowing {
    int32_t *out;
    io_stream *s;
} narrowing;

static ddsc_status copy_narrow(void *arg, int64_t begin, int64_t n, const int64_t *value)
{
    narrowing *to = arg;
    for (int64_t i = 0; i < n; i++) {
        if (value[i] < INT32_MIN || value[i] > INT32_MAX)
            return stream_fail(to->s, "element %lld is %" PRId64 ", out of range",
                               (long long)(begin + i), value[i]);
        to->out[begin + i] = (int32_t)value[i];
    }
    return DDSC_OK;
}

ddsc_status npy_read_indices(ddsc_context *ctx, int32_t **out, io_stream *s, const npy_array *a)
{
    ddsc_status status = MEM_NEW(ctx, *out, a->count);
    narrowing to = {*out, s};
    return status < 0 ? status : read_integer_chunks(ctx, s, a, copy_narrow, &to);
}

/* ---- text ---- */

/* UTF-32 with NUL padding to UTF-8; false for what is no character. */
static bool decode_utf32(char *out, size_t *length, const unsigned char *in, int64_t n_chars,
                         bool swap)
{
    size_t n = 0;
    for (int64_t i = 0; i < n_chars; i++) {
        uint32_t c;
        memcpy(&c, in + 4 * i, 4);
        c = swap ? __builtin_bswap32(c) : c;
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            return false;
        if (c < 0x80) {
            out[n++] = (char)c;
        } else if (c < 0x800) {
            out[n++] = (char)(0xc0 | c >> 6);
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            out[n++] = (char)(0xe0 | c >> 12);
            out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else {
            out[n++] = (char)(0xf0 | c >> 18);
            out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
            out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            out[n++] = (char)(0x80 | (c & 0x3f));
        }
    }
    *length = n;
    return true;
}

static bool decode_element(char *out, size_t *length, const unsigned char *in, const npy_array *a)
{
    int64_t value, bad;
    if (a->kind == 'U') {
        if (!decode_utf32(out, length, in, a->item_bytes / 4, a->type.swap))
            return false;
    } else if (a->kind == 'S') {
        memcpy(out, in, (size_t)a->item_bytes);
        *length = (size_t)a->item_bytes;
    } else {
        if (!number_to_int64(&value, in, 1, a->type, &bad))
            return false;
        *length = (size_t)snprintf(out, NUMBER_TEXT, "%" PRId64, value);
    }
    while (*length > 0 && out[*length - 1] == '\0')
        (*length)--;
    out[*length] = '\0';
    return strlen(out) == *length && text_count_chars(out) >= 0;
}

ddsc_status npy_read_text(ddsc_context *ctx, io_stream *s, const npy_array *a, npy_text_fn fn,
                          void *arg)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    char *text = NULL;
    if (a->kind == 'f')
        return stream_fail(s, "should hold text or integers");
    TRY(mem_get(ctx, &bytes, a->item_bytes, 1));
    TRY(mem_get(ctx, &text, a->item_bytes + NUMBER_TEXT, 1));
    for (int64_t i = 0; i < a->count; i++) {
        size_t n;
        TRY(stream_read_exact(s, bytes, (size_t)a->item_bytes, "the elements"));
        if (!decode_element(text, &n, bytes, a)) {
            status = stream_fail(s, "element %lld is not valid text", (long long)i);
            goto done;
        }
        TRY(fn(arg, i, text, n));
    }
    TRY(stream_expect_end(s, "its header and elements"));
done:
    mem_free(ctx, bytes);
    mem_free(ctx, text);
    return status;
}

/* ---- whole files ---- */

ddsc_status npy_read_clouds(ddsc_context *ctx, measures_parts *out, io_stream *s)
{
    npy_array a;
    char shape[QUOTE_TEXT];
    CHECK(npy_read_header(s, &a));
    if (a.n_dims != 3)
        return stream_fail(s, "has shape %s; clouds need three axes (items, points, coordinates)%s",
                           npy_shape_text(shape, &a),
                           a.n_dims == 2 ? "; a distance matrix is read with --precomputed" : "");
    if (a.count == 0)
        return stream_fail(s, "has shape %s: it holds no points", npy_shape_text(shape, &a));
    out->n = a.shape[0];
    out->d = a.shape[2];
    out->v = out->nnz = a.shape[0] * a.shape[1];
    CHECK(MEM_NEW(ctx, out->offset, out->n + 1));
    for (int64_t i = 0; i <= out->n; i++)
        out->offset[i] = i * a.shape[1];
    CHECK(npy_read_doubles(ctx, &out->support, s, &a));
    return DDSC_OK;
}

ddsc_status npy_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    npy_array a;
    char shape[QUOTE_TEXT];
    ddsc_status status = npy_read_header(s, &a);
    if (status < 0)
        return status;
    if (a.n_dims != 2 || a.shape[0] != a.shape[1] || a.count == 0)
        return stream_fail(s, "has shape %s, not that of a square matrix",
                           npy_shape_text(shape, &a));
    *n = a.shape[0];
    return npy_read_doubles(ctx, matrix, s, &a);
}
