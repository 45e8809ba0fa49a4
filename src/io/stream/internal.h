/* The inside of a stream, shared by stream.c (where bytes come from) and read.c (how they
 * are handed out). */
#ifndef DDSC_IO_STREAM_INTERNAL_H
#define DDSC_IO_STREAM_INTERNAL_H

#include <sys/types.h>
#include <time.h>
#include <zlib.h>

#include "io/stream/stream.h"

enum { STREAM_CHUNK = 1 << 16 };

enum stream_coding { STREAM_PLAIN, STREAM_GZIP, STREAM_DEFLATE, STREAM_ZSTD };

struct io_stream {
    ddsc_context *ctx;
    char *name, *path;
    int fd; /* -1: memory */
    bool close_fd, seekable;
    const unsigned char *bytes;
    unsigned char *owned;          /* a copy made for random access */
    off_t opened_size;             /* of a file, when it was opened ... */
    struct timespec opened_at;     /* ... and when it was written last */
    int64_t base, raw_at, raw_end; /* first, next and end byte of the source; end -1: unknown */
    enum stream_coding coding;
    z_stream z;      /* next_in, avail_in: raw bytes fetched ahead, in every coding */
    void *zstd;      /* its decoder */
    bool frame_done; /* the zstd frame at work is whole */
    bool z_open, finished, is_part;
    unsigned char *raw;
    unsigned char *buffer; /* decoded, not yet handed out: [at, filled) */
    size_t at, filled;
    int64_t produced, limit; /* decoded bytes so far, and the most there may be */
    uint32_t crc;
    char *line;
    int64_t line_room, line_number;
    bool line_had_return; /* the line last returned ended in CR LF */
    char *record;
    int64_t record_room;
};

/* zlib takes its memory from the context. */
void stream_zlib_memory(z_stream *z, ddsc_context *ctx);
/* zstd: begin, one step with the buffers of z (no bytes: there are no more), end. */
ddsc_status stream_zstd_open(io_stream *s);
ddsc_status stream_zstd_step(io_stream *s);
void stream_zstd_close(io_stream *s);
/* Decode up to `room` bytes; *got 0 only at the end. */
ddsc_status stream_decode(io_stream *s, unsigned char *out, size_t room, size_t *got);

#endif
