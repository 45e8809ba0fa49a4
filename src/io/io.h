/* io: one file a format. Every reader treats its input as hostile: sizes are checked against what
 * the stream really holds before memory is taken, totals against limits; messages name file and
 * place. */
#ifndef DDSC_IO_H
#define DDSC_IO_H

#include "base/base.h"
#include "data/measures.h"

/* ---- stream: bytes of a file, standard input or memory, gunzipped when they are gzip ---- */

typedef struct io_stream io_stream;

/* name is used in messages. max_bytes bounds the uncompressed size. */
ddsc_status stream_open(ddsc_context *ctx, io_stream **out, const char *path, int64_t max_bytes);
ddsc_status stream_open_memory(ddsc_context *ctx, io_stream **out, const char *name,
                               const void *bytes, size_t n_bytes, int64_t max_bytes);
void stream_close(io_stream *s);
const char *stream_name(const io_stream *s);
/* Up to n bytes; *got < n only at the end. */
ddsc_status stream_read(io_stream *s, void *buffer, size_t n, size_t *got);
/* Exactly n bytes or "NAME: ends early at byte ... (while reading WHAT)". */
ddsc_status stream_read_exact(io_stream *s, void *buffer, size_t n, const char *what);
/* Look at up to n (<= 4096) first bytes without consuming; only before any read. */
ddsc_status stream_peek(io_stream *s, void *buffer, size_t n, size_t *got);
/* One line without its end (LF or CRLF) into a growing buffer; *line NULL at the end of file. */
ddsc_status stream_line(io_stream *s, char **line, size_t *length);
int64_t stream_line_number(const io_stream *s); /* of the line last returned, from 1 */
/* Upper bound of the bytes that can still come (file size for plain files, max_bytes otherwise). */
int64_t stream_remaining_bound(const io_stream *s);

/* ---- readers: each takes an open stream and gives raw parts ---- */

ddsc_format io_sniff(const unsigned char *head, size_t n);
ddsc_status npz_read(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status npy_read_clouds(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status csv_read(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status idx_read_images(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status d2_read(ddsc_context *ctx, measures_parts *out, io_stream *s, int phase);
ddsc_status fcs_read(ddsc_context *ctx, measures_parts *out, io_stream *s, const char *channels,
                     double arcsinh_scale);
/* Whole pipeline on an open stream: sniff, read, build. */
ddsc_status io_read_measures(ddsc_context *ctx, measures **out, io_stream *s,
                             const ddsc_read_settings *settings);

/* ---- writing: to a temporary beside the target, fsync, rename ---- */

typedef struct io_writer io_writer;

/* path "-" is standard output. gzip when the name ends in .gz. EXISTS unless overwrite. */
ddsc_status writer_open(ddsc_context *ctx, io_writer **out, const char *path, int overwrite);
ddsc_status writer_put(io_writer *w, const void *bytes, size_t n);
ddsc_status writer_printf(io_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Flush, sync, rename into place, free. */
ddsc_status writer_commit(io_writer *w);
/* Remove the temporary, free. NULL is fine. */
void writer_abort(io_writer *w);

#endif
