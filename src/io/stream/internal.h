/* Shared inside this module: the inside of a stream, by stream.c (where bytes come from) and read.c (how
 * they are handed out); folders and finished files, by folder.c, replace.c and writer.c. */
#ifndef DDSC_IO_STREAM_INTERNAL_H
#define DDSC_IO_STREAM_INTERNAL_H

#include <limits.h>
#include <sys/stat.h>
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
    bool mark_seen, is_utf8; /* text: its first bytes were looked at; it is UTF-8 for sure */
    char *converted;         /* the last text in another encoding, as UTF-8 */
    int64_t converted_room;
};

/* zlib takes its memory from the context. */
void stream_zlib_memory(z_stream *z, ddsc_context *ctx);
/* zstd: begin, one step with the buffers of z (no bytes: there are no more), end. */
ddsc_status stream_zstd_open(io_stream *s);
ddsc_status stream_zstd_step(io_stream *s);
void stream_zstd_close(io_stream *s);
/* Decode up to `room` bytes; *got 0 only at the end. */
ddsc_status stream_decode(io_stream *s, unsigned char *out, size_t room, size_t *got);

/* ---- finished files ---- */

/* Renames a file unless the new name exists (EEXIST); returns 0 or -1, like rename. */
int files_rename_new(const char *from, const char *to);
/* True if an access control list adds to the permissions of a file or folder. */
bool files_has_acl(const char *path);
/* Returns the permissions of the file `old` for a file that belongs to `group`. */
mode_t files_mode(const char *old, const struct stat *info, gid_t group);
bool files_is_mount_point(const char *path);

/* "folder/name", or "" if it is too long. */
void folder_path(char out[PATH_MAX], const char *folder, const char *name);
/* Moves the files of these names from one folder into another of the same file system. Old files come
 * back after a failure, and those that have no new one are removed at the end. */
ddsc_status folder_replace(ddsc_context *ctx, const char *from, const char *to, folder_name_fn name,
                           bool overwrite);
/* Puts back what a process that was killed during folder_replace had moved away. */
void folder_recover(const char *folder, folder_name_fn name);

#endif
