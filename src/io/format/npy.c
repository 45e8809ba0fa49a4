/* Reads npy files, which contain one array. Elements of any width and byte order are converted in
 * chunks and stored directly at their final positions. */
#include "io/format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16 };

/* ---- elements ---- */

static ddsc_status npy_read_chunks(ddsc_context *ctx, io_stream *s, const npy_array *a,
                                   bool integers, npy_chunk_fn fn, void *arg)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    void *value = NULL;
    bool whole = a->kind == 'i' || a->kind == 'u';
    int64_t bad;
    if (!whole && (integers || a->kind != 'f'))
        return stream_fail(s, integers ? "contains elements that are not integers"
                                       : "contains text; expected numbers");
    int64_t chunk = CHUNK_BYTES / a->type.width;
    TRY(mem_get(ctx, &bytes, CHUNK_BYTES, 1));
    TRY(mem_get(ctx, &value, chunk, 8));
    for (int64_t at = 0; at < a->count; at += chunk) {
        int64_t n = BASE_MIN(chunk, a->count - at);
        TRY(stream_read_exact(s, bytes, (size_t)(n * a->type.width), "the elements"));
        if (!integers)
            numbers_to_double(value, bytes, n, a->type);
        else if (!numbers_to_int64(value, bytes, n, a->type, &bad))
            TRY(stream_fail(s, "element %lld is too large", (long long)(at + bad)));
        TRY(fn(arg, at, n, value));
    }
    TRY(stream_expect_end(s, "its header and elements"));
done:
    MEM_FREE(ctx, bytes, value);
    return status;
}

/* Copies doubles or integers (both have 8 bytes) in file order. */
static ddsc_status place_c(void *arg, int64_t begin, int64_t n, const void *value)
{
    memcpy((char *)arg + 8 * begin, value, 8 * (size_t)n);
    return DDSC_OK;
}

/* The state of a reader that stores an array in Fortran order (the first axis varies fastest) in C
 * order. */
typedef struct placement {
    double *out;
    const npy_array *array;
    int64_t place[NPY_MAX_DIMS];
} placement;

static ddsc_status place_fortran(void *arg, int64_t begin, int64_t n, const void *value)
{
    placement *p = arg;
    const npy_array *a = p->array;
    (void)begin;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0;
        for (int k = 0; k < a->n_dims; k++)
            at = at * a->shape[k] + p->place[k];
        p->out[at] = ((const double *)value)[i];
        for (int k = 0; k < a->n_dims && ++p->place[k] == a->shape[k]; k++)
            p->place[k] = 0;
    }
    return DDSC_OK;
}

ddsc_status npy_read_doubles(ddsc_context *ctx, double **out, io_stream *s, const npy_array *a)
{
    bool direct = a->kind == 'f' && a->type.width == 8 && !a->type.swap && !a->fortran;
    CHECK(MEM_NEW(ctx, *out, a->count));
    placement p = {.out = *out, .array = a};
    if (a->fortran)
        return npy_read_chunks(ctx, s, a, false, place_fortran, &p);
    if (!direct)
        return npy_read_chunks(ctx, s, a, false, place_c, *out);
    CHECK(stream_read_exact(s, *out, (size_t)a->count * sizeof **out, "the elements"));
    return stream_expect_end(s, "its header and elements");
}

ddsc_status npy_read_integers(ddsc_context *ctx, int64_t **out, io_stream *s, const npy_array *a)
{
    CHECK(MEM_NEW(ctx, *out, a->count));
    return npy_read_chunks(ctx, s, a, true, place_c, *out);
}

typedef struct narrowing {
    int32_t *out;
    io_stream *s;
} narrowing;

static ddsc_status place_narrow(void *arg, int64_t begin, int64_t n, const void *value)
{
    const narrowing *to = arg;
    const int64_t *from = value;
    for (int64_t i = 0; i < n; i++) {
        if (from[i] < INT32_MIN || from[i] > INT32_MAX)
            return stream_fail(to->s, "element %lld is %" PRId64 ", out of range",
                               (long long)(begin + i), from[i]);
        to->out[begin + i] = (int32_t)from[i];
    }
    return DDSC_OK;
}

ddsc_status npy_read_indices(ddsc_context *ctx, int32_t **out, io_stream *s, const npy_array *a)
{
    CHECK(MEM_NEW(ctx, *out, a->count));
    return npy_read_chunks(ctx, s, a, true, place_narrow, &(narrowing){*out, s});
}

/* ---- text ---- */

/* Converts NUL-padded UTF-32 to UTF-8. Returns false if a code point is not valid. */
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
        if (!numbers_to_int64(&value, in, 1, a->type, &bad))
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
        return stream_fail(s, "contains floating-point numbers; expected text or integers");
    TRY(mem_get(ctx, &bytes, a->item_bytes, 1));
    TRY(mem_get(ctx, &text, a->item_bytes + NUMBER_TEXT, 1));
    for (int64_t i = 0; i < a->count; i++) {
        size_t n = 0;
        TRY(stream_read_exact(s, bytes, (size_t)a->item_bytes, "the elements"));
        if (!decode_element(text, &n, bytes, a))
            TRY(stream_fail(s, "element %lld is not valid text", (long long)i));
        TRY(fn(arg, i, text, n));
    }
    TRY(stream_expect_end(s, "its header and elements"));
done:
    MEM_FREE(ctx, bytes, text);
    return status;
}

/* ---- whole files ---- */

enum { DENSE_BYTES = 1 << 20, DENSE_PIECE = 1 << 14, DENSE_STEP = 512 };

/* Elements of a dense table that are converted to entries of items. The first pass counts the
 * entries of each chunk, so that in the second pass each chunk knows the position of its first
 * entry. */
typedef struct dense_block {
    const dense_rows *t;
    const unsigned char *bytes;
    num_type type;
    int64_t *at; /* number of entries in each chunk; later the position of its first entry */
} dense_block;

static ddsc_status count_entries(void *arg, int64_t begin, int64_t end, int worker)
{
    const dense_block *b = arg;
    double x[DENSE_STEP];
    int64_t count = 0;
    (void)worker;
    for (int64_t from = begin; from < end; from += DENSE_STEP) {
        int64_t n = BASE_MIN(DENSE_STEP, end - from);
        numbers_to_double(x, b->bytes + from * b->type.width, n, b->type);
        for (int64_t i = 0; i < n; i++)
            count += !(x[i] == 0);
    }
    b->at[begin / DENSE_PIECE] = count;
    return DDSC_OK;
}

static ddsc_status place_entries(void *arg, int64_t begin, int64_t end, int worker)
{
    const dense_block *b = arg;
    measures_parts *p = b->t->out;
    double x[DENSE_STEP];
    int64_t at = b->at[begin / DENSE_PIECE], stop = b->at[begin / DENSE_PIECE + 1];
    int64_t row = (b->t->taken + begin) / b->t->width, column = (b->t->taken + begin) % b->t->width;
    (void)worker;
    for (int64_t from = begin; from < end; from += DENSE_STEP) {
        int64_t n = BASE_MIN(DENSE_STEP, end - from);
        numbers_to_double(x, b->bytes + from * b->type.width, n, b->type);
        for (int64_t i = 0; i < n; i++) {
            if (at < stop) { /* memory after the last entry must not be written */
                p->index[at] = (int32_t)column;
                p->weight[at] = x[i];
            }
            at += !(x[i] == 0);
            if (++column == b->t->width) {
                column = 0;
                p->offset[++row] = at;
            }
        }
    }
    return DDSC_OK;
}

ddsc_status npy_take_dense(dense_rows *t, const unsigned char *bytes, int64_t n, num_type type)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = t->out;
    dense_block b = {.t = t, .bytes = bytes, .type = type};
    int64_t n_pieces = (n + DENSE_PIECE - 1) / DENSE_PIECE, nnz = p->nnz;
    TRY(MEM_NEW(t->ctx, b.at, n_pieces + 1));
    TRY(parallel_for(t->ctx, n, DENSE_PIECE, count_entries, &b));
    for (int64_t k = 0; k < n_pieces; k++) {
        int64_t count = b.at[k];
        b.at[k] = nnz;
        nnz += count;
    }
    b.at[n_pieces] = nnz;
    p->n = (t->taken + n) / t->width;
    TRY(MEM_RESERVE(t->ctx, p->index, &t->index_capacity, nnz));
    TRY(MEM_RESERVE(t->ctx, p->weight, &t->weight_capacity, nnz));
    TRY(MEM_RESERVE(t->ctx, p->offset, &t->offset_capacity, p->n + 1));
    p->offset[0] = 0;
    TRY(parallel_for(t->ctx, n, DENSE_PIECE, place_entries, &b));
    p->nnz = nnz;
    t->taken += n;
done:
    mem_free(t->ctx, b.at);
    return status;
}

ddsc_status npy_read_dense(io_stream *s, const npy_array *a, dense_rows *t)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    int64_t chunk = DENSE_BYTES / a->type.width;
    if (a->kind != 'f' && a->kind != 'i' && a->kind != 'u')
        return stream_fail(s, "contains text; expected numbers");
    TRY(mem_get(t->ctx, &bytes, BASE_MIN(chunk, a->count), (size_t)a->type.width));
    for (int64_t at = 0; at < a->count; at += chunk) {
        int64_t n = BASE_MIN(chunk, a->count - at);
        TRY(stream_read_exact(s, bytes, (size_t)(n * a->type.width), "the elements"));
        TRY(npy_take_dense(t, bytes, n, a->type));
    }
    TRY(stream_expect_end(s, "its header and elements"));
done:
    mem_free(t->ctx, bytes);
    return status;
}

ddsc_status npy_read_clouds(ddsc_context *ctx, measures_parts *out, io_stream *s, bool one)
{
    npy_array a;
    CHECK(npy_read_header(s, &a));
    one = one && a.n_dims == 2;
    if (a.n_dims != 3 && !one)
        return stream_fail(
            s, "has shape %s; point clouds require three axes (items, points, coordinates)%s",
            NPY_SHAPE(&a),
            a.n_dims == 2 ? ", or several files with one item each; to read a distance matrix, use "
                            "--precomputed"
                          : "");
    if (a.count == 0)
        return stream_fail(s, "has shape %s, so it contains no points", NPY_SHAPE(&a));
    int64_t points = a.shape[a.n_dims - 2];
    out->n = one ? 1 : a.shape[0];
    out->d = a.shape[a.n_dims - 1];
    out->v = out->nnz = out->n * points;
    CHECK(MEM_NEW(ctx, out->offset, out->n + 1));
    for (int64_t i = 0; i <= out->n; i++)
        out->offset[i] = i * points;
    return npy_read_doubles(ctx, &out->support, s, &a);
}

ddsc_status npy_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    npy_array a;
    CHECK(npy_read_header(s, &a));
    if (a.n_dims != 2 || a.shape[0] != a.shape[1] || a.count == 0)
        return stream_fail(s, "has shape %s, but a square matrix is required", NPY_SHAPE(&a));
    *n = a.shape[0];
    return npy_read_doubles(ctx, matrix, s, &a);
}
