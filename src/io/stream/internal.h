/* Internals of the module stream: the fields of a stream, which several files use, and helpers for
 * folders and finished files, which folder.c, replace.c, stage.c and writer.c use. */
#ifndef DDSC_IO_STREAM_INTERNAL_H
#define DDSC_IO_STREAM_INTERNAL_H

#include <dirent.h>
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
    int fd; /* -1 for a memory stream */
    bool close_fd, seekable;
    const unsigned char *bytes;
    unsigned char *owned;      /* copy made for random access */
    off_t opened_size;         /* size of the file when it was opened */
    struct timespec opened_at; /* modification time of the file when it was opened */
    int64_t base, raw_at,
        raw_end; /* first, next and end byte of the source; raw_end is -1 if unknown */
    enum stream_coding coding;
    z_stream z;      /* for all codings, next_in and avail_in describe prefetched raw bytes */
    void *zstd;      /* zstd decoder */
    bool frame_done; /* the current zstd frame is complete */
    bool z_open, finished, is_part;
    unsigned char *raw;
    unsigned char *buffer; /* decoded bytes not yet returned: [at, filled) */
    size_t at, filled;
    int64_t produced, limit; /* number of decoded bytes so far, and its maximum */
    uint32_t crc;
    char *line;
    int64_t line_capacity, line_number;
    bool line_had_return; /* the line returned last ended in CR LF */
    char *record;
    int64_t record_capacity;
    bool mark_seen,
        is_utf8;     /* mark_seen: the first bytes of the text were checked; is_utf8: the text is
                      * known to be UTF-8 */
    char *converted; /* last converted text, as UTF-8 */
    int64_t converted_capacity;
};

/* Configures zlib to allocate its memory from the context. */
void stream_zlib_memory(z_stream *z, ddsc_context *ctx);
/* Begin, continue and end zstd decoding. stream_zstd_step uses the buffers of z. If z has no input,
 * the source has ended. */
ddsc_status stream_zstd_open(io_stream *s);
ddsc_status stream_zstd_step(io_stream *s);
void stream_zstd_close(io_stream *s);
/* Decodes up to `capacity` bytes. *got is 0 only at the end. */
ddsc_status stream_decode(io_stream *s, unsigned char *out, size_t capacity, size_t *got);

/* ---- finished files ---- */

/* Renames a file unless the new name exists (EEXIST). Returns 0 or -1, like rename. */
int files_rename_new(const char *from, const char *to);
/* Returns true if a rename failed with an error after which another method may succeed. */
bool files_is_refusal(int error);
/* Returns true if an access control list adds to the permissions of a file or folder. */
bool files_has_acl(const char *path);
/* Returns the permissions for a file that replaces the file `old` and belongs to `group`. */
mode_t files_mode(const char *old, const struct stat *info, gid_t group);
bool files_is_mount_point(const char *path);

/* Writes "folder/name" to `out`, or "" if it is too long. */
void folder_path(char out[PATH_MAX], const char *folder, const char *name);
/* Waits until no other process is replacing files of the folder, and locks it. *lock is -1 if the
 * file system has no locks. folder_try_lock does not wait; it returns false if the folder is
 * locked. */
ddsc_status folder_lock(ddsc_context *ctx, const char *folder, int *lock);
bool folder_try_lock(const char *folder, int *lock);
void folder_unlock(int lock);
/* Moves the files listed by `name` from one folder into another on the same file system. On
 * failure, the old files are restored. On success, old files without a replacement are removed.
 * `locked` is true if the caller holds the lock of the target. */
ddsc_status folder_replace(ddsc_context *ctx, const char *from, const char *to, folder_name_fn name,
                           bool overwrite, bool locked);
/* Restores the old files if a process was killed during folder_replace. */
void folder_recover(const char *folder, folder_name_fn name);

/* Name of the file in the stage that is renamed into the target as a test. */
#define STAGE_PROBE OWNER_PREFIX "try"

bool folder_is_dots(const char *entry);
/* Returns true for the names of result files, and of temporary files whose process no longer
 * exists. */
bool folder_is_own(folder_name_fn name, const char *entry);
/* Deletes a stage and the files in it for which folder_is_own is true or which also exist
 * elsewhere. Other files are moved to `home`; if `home` is NULL, they remain. Returns false if
 * files remain, in which case the stage remains too. */
bool folder_remove_stage(const char *stage, folder_name_fn name, const char *home);
/* Removes stages and files in a folder that were left by processes that no longer exist. */
void folder_clean(const char *place, folder_name_fn name);

/* Temporary folders have predictable names, so another user could create a link with the name of a
 * temporary folder. owner_is_own_folder therefore returns true only for a real folder (not a link)
 * that this user owns. */
bool owner_is_own_folder(int at, const char *name);
/* Opens a real folder that this user owns. Returns NULL for anything else. */
DIR *owner_open_folder(const char *path);

#endif
