/* Reads idx files (the format of MNIST), which contain a big-endian array of one type. Each image
 * is a distribution over its nonzero pixels. The support is the pixel grid, whose coordinates (row,
 * column) start at 0. */
#include "io/format/format.h"

enum { IDX_MAX_DIMS = NPY_MAX_DIMS };

static bool set_type(num_type *t, int code)
{
    switch (code) {
    case 0x08: *t = (num_type){'u', 1, false}; break;
    case 0x09: *t = (num_type){'i', 1, false}; break;
    case 0x0b: *t = (num_type){'i', 2, NUM_HOST_LITTLE}; break;
    case 0x0c: *t = (num_type){'i', 4, NUM_HOST_LITTLE}; break;
    case 0x0d: *t = (num_type){'f', 4, NUM_HOST_LITTLE}; break;
    case 0x0e: *t = (num_type){'f', 8, NUM_HOST_LITTLE}; break;
    default: return false;
    }
    return true;
}

/* Reads the header into an npy_array. The declared size must not exceed the remaining bytes. */
static ddsc_status idx_read_header(io_stream *s, npy_array *a, int64_t *pixels)
{
    unsigned char head[4 + 4 * IDX_MAX_DIMS];
    int64_t bytes;
    *a = (npy_array){0};
    CHECK(stream_read_exact(s, head, 4, "the idx header"));
    a->n_dims = head[3];
    if (head[0] != 0 || head[1] != 0 || !set_type(&a->type, head[2]))
        return stream_fail(s, "is not an idx file (its first bytes are %02x %02x %02x %02x)",
                           head[0], head[1], head[2], head[3]);
    if (a->n_dims < 1 || a->n_dims > IDX_MAX_DIMS)
        return stream_fail(s, "has %d axes; only idx files with 1 to %d axes are supported",
                           a->n_dims, IDX_MAX_DIMS);
    CHECK(stream_read_exact(s, head + 4, 4 * (size_t)a->n_dims, "the idx header"));
    bool fits = true;
    a->kind = a->type.kind;
    a->count = *pixels = 1;
    for (int k = 0; k < a->n_dims; k++) {
        const unsigned char *p = head + 4 + 4 * k;
        a->shape[k] = (int64_t)p[0] << 24 | (int64_t)p[1] << 16 | (int64_t)p[2] << 8 | p[3];
        if (a->shape[k] == 0)
            return stream_fail(s, "axis %d has length 0, so the file contains no data", k + 1);
        fits = fits && mul_ok(a->count, a->shape[k], &a->count);
    }
    fits = fits && mul_ok(a->count, a->type.width, &bytes);
    CHECK(stream_check_declared(s, fits ? bytes : INT64_MAX, "data"));
    *pixels = a->count / a->shape[0];
    if (*pixels > INT32_MAX)
        return stream_fail(s, "has images of %lld pixels, which is too many", (long long)*pixels);
    return DDSC_OK;
}

static ddsc_status make_grid(ddsc_context *ctx, measures_parts *out, const npy_array *a,
                             int64_t pixels)
{
    out->v = pixels;
    out->d = a->n_dims - 1;
    CHECK(MEM_NEW(ctx, out->support, out->v * out->d));
    for (int64_t p = 0; p < pixels; p++) {
        int64_t rest = p;
        for (int64_t k = out->d - 1; k >= 0; k--) {
            out->support[p * out->d + k] = (double)(rest % a->shape[k + 1]);
            rest /= a->shape[k + 1];
        }
    }
    out->points_distinct = true;
    return DDSC_OK;
}

ddsc_status idx_read_images(ddsc_context *ctx, measures_parts *out, io_stream *s)
{
    npy_array a;
    dense_rows rows = {.ctx = ctx, .out = out};
    CHECK(idx_read_header(s, &a, &rows.width));
    if (a.n_dims < 2)
        return stream_fail(s, "is an idx file of labels (one axis), not of images");
    CHECK(npy_read_dense(s, &a, &rows));
    return make_grid(ctx, out, &a, rows.width);
}

ddsc_status idx_read_labels(ddsc_context *ctx, int32_t **label, int64_t *n, io_stream *s)
{
    npy_array a;
    int64_t pixels;
    CHECK(idx_read_header(s, &a, &pixels));
    if (a.n_dims != 1 || a.kind == 'f')
        return stream_fail(s,
                           "is an idx file, but it does not contain labels (one axis of integers)");
    *n = a.count;
    return npy_read_indices(ctx, label, s, &a);
}
