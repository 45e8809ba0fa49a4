/* Decodes zstd with libzstd if the build includes it. Frames may be concatenated, like gzip
 * members. The decoder allocates its own memory, which is limited by the maximum window size of
 * libzstd, by default 128 MiB. */
#include "io/stream/internal.h"

#ifdef DDSC_HAVE_ZSTD
#include <zstd.h>

ddsc_status stream_zstd_open(io_stream *s)
{
    s->coding = STREAM_ZSTD;
    s->zstd = ZSTD_createDStream();
    if (!s->zstd)
        return ctx_fail(s->ctx, DDSC_ERROR_MEMORY, "%s: not enough memory to decompress", s->name);
    return DDSC_OK;
}

ddsc_status stream_zstd_step(io_stream *s)
{
    ZSTD_inBuffer in = {s->z.next_in, s->z.avail_in, 0};
    ZSTD_outBuffer out = {s->z.next_out, s->z.avail_out, 0};
    size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
    if (ZSTD_isError(left))
        return stream_fail(s, "contains damaged zstd data (%s)", ZSTD_getErrorName(left));
    bool at_end = s->z.avail_in == 0 && out.pos == 0; /* end of the file with no pending output */
    s->z.next_in += in.pos;
    s->z.avail_in -= (uInt)in.pos;
    s->z.next_out += out.pos;
    s->z.avail_out -= (uInt)out.pos;
    if (at_end && !s->frame_done)
        return stream_fail(s, "ends early: the zstd data is truncated");
    s->finished = at_end;
    s->frame_done = left == 0 || at_end;
    return DDSC_OK;
}

void stream_zstd_close(io_stream *s)
{
    ZSTD_freeDStream(s->zstd);
}

#else

ddsc_status stream_zstd_open(io_stream *s)
{
    return stream_fail(s, "is zstd-compressed, and this build has no libzstd; install libzstd-dev "
                          "and rebuild, or decompress the file first (unzstd)");
}

ddsc_status stream_zstd_step(io_stream *s)
{
    return stream_zstd_open(s);
}

void stream_zstd_close(io_stream *s)
{
    (void)s;
}

#endif
