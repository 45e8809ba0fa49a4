/* idx (the format of MNIST): a big-endian array of one type. Each image is a distribution on its
 * non-zero pixels; the support is the pixel grid, coordinates (row, column) counted from 0. */
#include "format/format.h"

#include <string.h>

enum { IDX_MAX_DIMS = 4, CHUNK_BYTES = 1 << 20 };

typedef struct idx_header {
    num_type type;
    int n_dims;
    int64_t shape[IDX_MAX_DIMS];
} idx_header;

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

static ddsc_status idx_read_header(io_stream *s, idx_header *h)
{
    unsigned char head[4 + 4 * IDX_MAX_DIMS];
    CHECK(stream_read_exact(s, head, 4, "the idx header"));
    h->n_dims = head[3];
    if (head[0] != 0 || head[1] != 0 || !set_type(&h->type, head[2]))
        return stream_fail(s, "is not an idx file (its first bytes are %02x %02x %02x %02x)",
                           head[0], head[1], head[2], head[3]);
    if (h->n_dims < 1 || h->n_dims > IDX_MAX_DIMS)
        return stream_fail(s, "has %d axes; idx files with 1 to %d are read", h->n_dims,
                           IDX_MAX_DIMS);
    CHECK(stream_read_exact(s, head + 4, 4 * (size_t)h->n_dims, "the idx header"));
    for (int k = 0; k < h->n_dims; k++) {
        const unsigned char *p = head + 4 + 4 * k;
        h->shape[k] = (int64_t)p[0] << 24 | (int64_t)p[1] << 16 | (int64_t)p[2] << 8 | p[3];
        if (h->shape[k] == 0)
            return stream_fail(s, "axis %d of its header is 0: it holds nothing", k + 1);
    }
    return DDSC_OK;
}

/* Pixels of one image; both it and the whole must fit into what can still come. */
static ddsc_status idx_check_size(io_stream *s, const idx_header *h, int64_t *pixels)
{
    int64_t bytes = h->type.width;
    *pixels = 1;
    bool fits = mul_ok(bytes, h->shape[0], &bytes);
    for (int k = 1; k < h->n_dims; k++)
        fits = fits && mul_ok(bytes, h->shape[k], &bytes) && mul_ok(*pixels, h->shape[k], pixels);
    ddsc_status status = stream_check_declared(s, fits ? bytes : INT64_MAX, "data");
    if (status < 0)
        return status;
    if (*pixels > INT32_MAX)
        return stream_fail(s, "has images of %lld pixels, too many", (long long)*pixels);
    return DDSC_OK;
}

static ddsc_status make_grid(ddsc_context *ctx, measures_parts *out, const idx_header *h,
                             int64_t pixels)
{
    out->v = pixels;
    out->d = h->n_dims - 1;
    CHECK(MEM_NEW(ctx, out->support, out->v * out->d));
    for (int64_t p = 0; p < pixels; p++) {
        int64_t rest = p;
        for (int64_t k = out->d - 1; k >= 0; k--) {
            out->support[p * out->d + k] = (double)(rest % h->shape[k + 1]);
            rest /= h->shape[k + 1];
        }
    }
    out->points_distinct = true;
    return DDSC_OK;
}

typedef struct pixel_reader {
    ddsc_context *ctx;
    measures_parts *out;
    int64_t index_room, weight_room, offset_room;
    int64_t pixel; /* of the current image */
} pixel_reader;

static ddsc_status take_pixels(pixel_reader *r, const double *value, int64_t n, int64_t pixels)
{
    measures_parts *p = r->out;
    CHECK(room_reserve(r->ctx, &p->index, &r->index_room, p->nnz + n, sizeof *p->index));
    CHECK(room_reserve(r->ctx, &p->weight, &r->weight_room, p->nnz + n, sizeof *p->weight));
    int64_t most = p->n + (r->pixel + n) / pixels;
    CHECK(room_reserve(r->ctx, &p->offset, &r->offset_room, most + 1, sizeof *p->offset));
    p->offset[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        p->index[p->nnz] = (int32_t)r->pixel;
        p->weight[p->nnz] = value[i];
        p->nnz += !(value[i] == 0);
        if (++r->pixel == pixels) {
            r->pixel = 0;
            p->offset[++p->n] = p->nnz;
        }
    }
    return DDSC_OK;
}

static ddsc_status read_pixels(ddsc_context *ctx, measures_parts *out, io_stream *s,
                               const idx_header *h, int64_t pixels)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    double *value = NULL;
    pixel_reader r = {.ctx = ctx, .out = out};
    int64_t chunk = CHUNK_BYTES / 8, total = pixels * h->shape[0];
    TRY(mem_get(ctx, &bytes, chunk, (size_t)h->type.width));
    TRY(MEM_NEW(ctx, value, chunk));
    for (int64_t at = 0; at < total; at += chunk) {
        int64_t n = BASE_MIN(chunk, total - at);
        TRY(stream_read_exact(s, bytes, (size_t)(n * h->type.width), "the images"));
        number_to_double(value, bytes, n, h->type);
        TRY(take_pixels(&r, value, n, pixels));
    }
    TRY(stream_expect_end(s, "its header and images"));
done:
    mem_free(ctx, bytes);
    mem_free(ctx, value);
    return status;
}

ddsc_status idx_read_images(ddsc_context *ctx, measures_parts *out, io_stream *s)
{
    idx_header h;
    int64_t pixels;
    CHECK(idx_read_header(s, &h));
    if (h.n_dims < 2)
        return stream_fail(s, "is an idx file of labels (one axis), not of images");
    CHECK(idx_check_size(s, &h, &pixels));
    CHECK(read_pixels(ctx, out, s, &h, pixels));
    CHECK(make_grid(ctx, out, &h, pixels));
    return DDSC_OK;
}

ddsc_status idx_read_labels(ddsc_context *ctx, int32_t **label, int64_t *n, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    idx_header h;
    int64_t pixels, bad;
    unsigned char *bytes = NULL;
    int64_t *value = NULL;
    TRY(idx_read_header(s, &h));
    if (h.n_dims != 1 || h.type.kind == 'f')
        return stream_fail(s, "is an idx file, but not of labels (one axis of integers)");
    TRY(idx_check_size(s, &h, &pixels));
    *n = h.shape[0];
    TRY(mem_get(ctx, &bytes, *n, (size_t)h.type.width));
    TRY(MEM_NEW(ctx, value, *n));
    TRY(MEM_NEW(ctx, *label, *n));
    TRY(stream_read_exact(s, bytes, (size_t)(*n * h.type.width), "the labels"));
    TRY(stream_expect_end(s, "its header and labels"));
    number_to_int64(value, bytes, *n, h.type, &bad);
    for (int64_t i = 0; i < *n; i++)
        (*label)[i] = (int32_t)value[i];
done:
    mem_free(ctx, bytes);
    mem_free(ctx, value);
    return status;
}
