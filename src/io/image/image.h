/* image: converts image files to items. All decoders return the same pixel layout. */
#ifndef DDSC_IO_IMAGE_IMAGE_H
#define DDSC_IO_IMAGE_IMAGE_H

#include "data/measures.h"
#include "io/stream/stream.h"

enum { IMAGE_MAX_PIXELS = 1 << 24, IMAGE_MAX_BYTES = 1 << 28 };

typedef struct image {
    int64_t width, height;
    unsigned char *pixel; /* height x width x 4: red, green, blue, opacity */
} image;

/* Allocates the pixels. If the size is not supported, fails with a message that states the size. */
ddsc_status image_allocate(ddsc_context *ctx, image *im, io_stream *s, int64_t width,
                           int64_t height);
/* Decode an image file of n bytes that has been read into memory. */
ddsc_status image_decode_png(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                             int64_t n);
ddsc_status image_decode_jpeg(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                              int64_t n);
/* Decodes plain and raw PGM and PPM files (P2, P3, P5, P6). */
ddsc_status image_decode_pnm(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                             int64_t n);
/* Reads an image as one item, using libpng and libjpeg if the build includes them. */
ddsc_status image_read(ddsc_context *ctx, measures_parts *out, io_stream *s, ddsc_image_as as);

#endif
