/* Converts images (PNG, JPEG, PGM, PPM) to distributions. In a distribution of pixels, the mass of
 * a pixel is its brightness (or its darkness, for ink) times its opacity, and its coordinates are
 * (row, column), starting at 0. A distribution of colors is a histogram of the pixels with 8 x 8 x
 * 8 bins of red, green and blue. The coordinates of a bin are the CIE L*a*b* color (D65) of its
 * center. */
#include "io/image/image.h"

#include <math.h>
#include <string.h>

enum { BINS = 8, OPAQUE = 255 };

ddsc_status image_allocate(ddsc_context *ctx, image *im, io_stream *s, int64_t width,
                           int64_t height)
{
    if (width < 1 || height < 1 || width > IMAGE_MAX_PIXELS || height > IMAGE_MAX_PIXELS ||
        width * height > IMAGE_MAX_PIXELS)
        return stream_fail(
            s, "is an image of %lld x %lld pixels; only images of 1 to %d pixels are supported",
            (long long)width, (long long)height, IMAGE_MAX_PIXELS);
    im->width = width;
    im->height = height;
    return mem_get(ctx, &im->pixel, width * height, 4);
}

static ddsc_status image_decode(ddsc_context *ctx, image *im, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    char *bytes = NULL;
    int64_t capacity = 0, n;
    TRY(files_read_whole(ctx, s, &bytes, &capacity, &n, IMAGE_MAX_BYTES, "an image"));
    if (bytes[0] == 'P')
        TRY(image_decode_pnm(ctx, im, s, bytes, n));
    else if ((unsigned char)bytes[0] == 0x89)
        TRY(image_decode_png(ctx, im, s, bytes, n));
    else
        TRY(image_decode_jpeg(ctx, im, s, bytes, n));
done:
    mem_free(ctx, bytes);
    return status;
}

/* Returns the ITU-R BT.601 luma. For a gray pixel, the result is exactly its value. */
static double brightness(const unsigned char *p)
{
    if (p[0] == p[1] && p[1] == p[2])
        return p[0];
    return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
}

static ddsc_status name_axes(ddsc_context *ctx, measures_parts *out, const char *const *name)
{
    return texts_pack(ctx, &out->coordinates, out->d, name);
}

/* ---- pixels ---- */

static ddsc_status take_pixels(ddsc_context *ctx, measures_parts *out, const image *im, bool ink)
{
    static const char *const axes[] = {"row", "column"};
    int64_t n = im->width * im->height;
    out->v = n;
    out->d = 2;
    CHECK(MEM_NEW(ctx, out->support, 2 * n));
    CHECK(MEM_NEW(ctx, out->index, n));
    CHECK(MEM_NEW(ctx, out->weight, n));
    for (int64_t k = 0; k < n; k++) {
        const unsigned char *p = im->pixel + 4 * k;
        double light = brightness(p), mass = (ink ? OPAQUE - light : light) * p[3];
        out->support[2 * k] = (double)(k / im->width);
        out->support[2 * k + 1] = (double)(k % im->width);
        out->index[out->nnz] = (int32_t)k;
        out->weight[out->nnz] = mass;
        out->nnz += mass > 0;
    }
    out->points_distinct = true;
    return name_axes(ctx, out, axes);
}

/* ---- colors ---- */

/* Converts sRGB, with components in [0, 1], to L*a*b* (CIE 15; IEC 61966-2-1). */
static void to_lab(const double rgb[3], double lab[3])
{
    static const double white[3] = {0.95047, 1, 1.08883};
    static const double matrix[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                        {0.2126729, 0.7151522, 0.0721750},
                                        {0.0193339, 0.1191920, 0.9503041}};
    double f[3];
    for (int i = 0; i < 3; i++) {
        double x = 0;
        for (int k = 0; k < 3; k++) {
            double c = rgb[k] <= 0.04045 ? rgb[k] / 12.92 : pow((rgb[k] + 0.055) / 1.055, 2.4);
            x += matrix[i][k] * c;
        }
        x /= white[i];
        f[i] = x > 216.0 / 24389 ? cbrt(x) : (24389.0 / 27 * x + 16) / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static ddsc_status take_colors(ddsc_context *ctx, measures_parts *out, const image *im)
{
    static const char *const axes[] = {"L", "a", "b"};
    int64_t n = BINS * BINS * BINS;
    out->v = out->nnz = n;
    out->d = 3;
    CHECK(MEM_NEW(ctx, out->support, 3 * n));
    CHECK(MEM_NEW(ctx, out->index, n));
    CHECK(MEM_ZERO(ctx, out->weight, n));
    for (int64_t k = 0; k < n; k++) {
        double rgb[3] = {(double)(k / BINS / BINS) + 0.5, (double)(k / BINS % BINS) + 0.5,
                         (double)(k % BINS) + 0.5};
        for (int c = 0; c < 3; c++)
            rgb[c] /= BINS;
        to_lab(rgb, out->support + 3 * k);
        out->index[k] = (int32_t)k;
    }
    for (int64_t k = 0; k < im->width * im->height; k++) {
        const unsigned char *p = im->pixel + 4 * k;
        int64_t bin = 0;
        for (int c = 0; c < 3; c++)
            bin = bin * BINS + p[c] * BINS / 256;
        out->weight[bin] += p[3];
    }
    out->points_distinct = true;
    return name_axes(ctx, out, axes);
}

ddsc_status image_read(ddsc_context *ctx, measures_parts *out, io_stream *s, ddsc_image_as as)
{
    ddsc_status status = DDSC_OK;
    image im = {0};
    TRY(image_decode(ctx, &im, s));
    out->n = 1;
    TRY(as == DDSC_IMAGE_COLORS ? take_colors(ctx, out, &im)
                                : take_pixels(ctx, out, &im, as == DDSC_IMAGE_INK));
    TRY(MEM_NEW(ctx, out->offset, 2));
    out->offset[0] = 0;
    out->offset[1] = out->nnz;
done:
    mem_free(ctx, im.pixel);
    return status;
}
