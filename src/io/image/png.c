/* Decodes PNG images with the simplified API of libpng, which handles longjmp internally. */
#include "io/image/image.h"

#ifdef DDSC_HAVE_PNG
#include <string.h>

#include <png.h>

ddsc_status image_decode_png(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                             int64_t n)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&png, bytes, (size_t)n))
        return stream_fail(s, "is a damaged PNG image: %s", QUOTE(png.message));
    png.format = PNG_FORMAT_RGBA;
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16-bit values are also sRGB, not linear light */
    ddsc_status status = image_allocate(ctx, im, s, png.width, png.height);
    if (status >= 0 && !png_image_finish_read(&png, NULL, im->pixel, 0, NULL))
        status = stream_fail(s, "is a damaged PNG image: %s", QUOTE(png.message));
    png_image_free(&png);
    return status;
}

#else

ddsc_status image_decode_png(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                             int64_t n)
{
    (void)ctx, (void)im, (void)bytes, (void)n;
    return stream_fail(s, "is a PNG image, and this build has no libpng; install libpng-dev and "
                          "rebuild, or convert the image to PGM or PPM");
}

#endif
