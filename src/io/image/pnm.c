/* Decodes PGM and PPM images (Netpbm): grayscale or color, as text (P2, P3) or bytes (P5, P6), with
 * up to 65,536 levels. */
#include "io/image/image.h"

#include <string.h>

typedef struct pnm {
    io_stream *s;
    const unsigned char *at, *end;
} pnm;

/* Reads a number, skipping whitespace and comments (from # to the end of the line). */
static ddsc_status next_number(pnm *p, int64_t *value, int64_t most)
{
    while (p->at < p->end && (*p->at == '#' || strchr(" \t\r\n\v\f", *p->at))) {
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n')
                p->at++;
        else
            p->at++;
    }
    const unsigned char *from = p->at;
    for (*value = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        *value = BASE_MIN(10 * *value + (*p->at - '0'), most + 1);
    if (p->at == from || *value > most)
        return stream_fail(p->s, "%s",
                           *value > most     ? "contains a number that is too large"
                           : p->at == p->end ? "ends early: pixels are missing"
                                             : "contains text where a number is expected");
    return DDSC_OK;
}

static ddsc_status next_sample(pnm *p, bool raw, int64_t levels, unsigned char *out)
{
    int64_t value = 0;
    if (!raw) {
        CHECK(next_number(p, &value, levels));
    } else {
        for (int k = 0; k < 1 + (levels > 255); k++)
            value = value << 8 | *p->at++;
        value = BASE_MIN(value, levels);
    }
    *out = (unsigned char)((value * 255 + levels / 2) / levels);
    return DDSC_OK;
}

ddsc_status image_decode_pnm(ddsc_context *ctx, image *im, io_stream *s, const char *bytes,
                             int64_t n)
{
    const unsigned char *start = (const unsigned char *)bytes;
    pnm p = {s, start + 2, start + n};
    bool raw = bytes[1] >= '5';
    int samples = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
    int64_t width, height, levels;
    CHECK(next_number(&p, &width, IMAGE_MAX_PIXELS));
    CHECK(next_number(&p, &height, IMAGE_MAX_PIXELS));
    CHECK(next_number(&p, &levels, 65535));
    if (levels == 0)
        return stream_fail(s, "has a maximum value of 0");
    CHECK(image_allocate(ctx, im, s, width, height));
    p.at += raw && p.at < p.end; /* skips the single whitespace character before the pixels */
    if (raw && p.end - p.at < width * height * samples * (1 + (levels > 255)))
        return stream_fail(s, "ends early: pixels are missing");
    for (int64_t k = 0; k < width * height; k++) {
        unsigned char *out = im->pixel + 4 * k;
        for (int c = 0; c < samples; c++)
            CHECK(next_sample(&p, raw, levels, out + c));
        if (samples == 1)
            out[1] = out[2] = out[0];
        out[3] = 255;
    }
    return DDSC_OK;
}
