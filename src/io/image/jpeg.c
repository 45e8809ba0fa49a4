/* Decodes JPEG images with libjpeg. Errors in libjpeg are handled with longjmp, which never leaves
 * this file. Warnings are treated as errors, because libjpeg replaces missing data with gray. */
#include "io/image/image.h"

#ifdef DDSC_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

/* Maximum number of scans. A malicious progressive file could otherwise cause any number of passes
 * over the image. */
enum { SCANS_MAX = 200 };

typedef struct jpeg {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr error;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX];
} jpeg;

static void give_up(j_common_ptr info)
{
    jpeg *j = info->client_data;
    info->err->format_message(info, j->message);
    longjmp(j->escape, 1);
}

static void take_message(j_common_ptr info, int level)
{
    if (level < 0)
        give_up(info);
}

static void watch_scans(j_common_ptr info)
{
    jpeg *j = info->client_data;
    if (j->info.input_scan_number > SCANS_MAX) {
        strcpy(j->message, "it has too many scans");
        longjmp(j->escape, 1);
    }
}

/* Decodes all rows. No local variable is used after a call of libjpeg, because longjmp may leave
 * this stack frame. */
static ddsc_status jpeg_rows(ddsc_context *ctx, jpeg *j, image *im, io_stream *s, const char *bytes,
                             int64_t n)
{
    jpeg_mem_src(&j->info, (const unsigned char *)bytes, (unsigned long)n);
    jpeg_read_header(&j->info, TRUE);
    if (j->info.num_components != 1 && j->info.num_components != 3)
        return stream_fail(
            s, "is a JPEG image with %d color components, which is not supported (only 1 or 3)",
            j->info.num_components);
    j->info.out_color_space = j->info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    CHECK(image_allocate(ctx, im, s, j->info.image_width, j->info.image_height));
    jpeg_start_decompress(&j->info);
    int samples = j->info.output_components;
    while (j->info.output_scanline < j->info.output_height) {
        /* Reads the row (1 or 3 bytes per pixel) into the end of its buffer, and then expands it to
         * 4 bytes per pixel from the front. */
        unsigned char *row = im->pixel + 4 * im->width * (int64_t)j->info.output_scanline;
        unsigned char *packed = row + (4 - samples) * im->width;
        jpeg_read_scanlines(&j->info, &packed, 1);
        for (int64_t k = 0; k < im->width; k++) {
            unsigned char rgb[3];
            for (int c = 0; c < 3; c++)
                rgb[c] = packed[samples * k + (samples == 3 ? c : 0)];
            memcpy(row + 4 * k, rgb, 3);
            row[4 * k + 3] = 255;
        }
    }
    jpeg_finish_decompress(&j->info);
    return DDSC_OK;
}

ddsc_status image_decode_jpeg(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                              int64_t n)
{
    jpeg *j = NULL;
    CHECK(MEM_ZERO(ctx, j, 1));
    j->info.err = jpeg_std_error(&j->error);
    j->info.client_data = j;
    j->error.error_exit = give_up;
    j->error.emit_message = take_message;
    j->progress.progress_monitor = watch_scans;
    ddsc_status status;
    if (setjmp(j->escape)) {
        status = stream_fail(s, "is a damaged JPEG image: %s", QUOTE(j->message));
    } else {
        jpeg_create_decompress(&j->info);
        j->info.client_data = j;
        j->info.progress = &j->progress;
        j->info.mem->max_memory_to_use = IMAGE_MAX_BYTES;
        status = jpeg_rows(ctx, j, im, s, bytes, n);
    }
    jpeg_destroy_decompress(&j->info);
    mem_free(ctx, j);
    return status;
}

#else

ddsc_status image_decode_jpeg(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                              int64_t n)
{
    (void)ctx, (void)im, (void)bytes, (void)n;
    return stream_fail(s, "is a JPEG image, and this build has no libjpeg; install libjpeg-dev and "
                          "rebuild, or convert the image to PGM or PPM");
}

#endif
