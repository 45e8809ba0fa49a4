/* stream: input and output of bytes. Sources are files, pipes, memory and members of archives,
 * decompressed if needed. The module also splits text into lines and fields, converts binary
 * numbers, and writes files atomically. All input is untrusted: before memory is allocated,
 * declared sizes are checked against the actual size of the stream and against limits. Numbers are
 * written independently of the locale. */
#ifndef DDSC_IO_STREAM_STREAM_H
#define DDSC_IO_STREAM_STREAM_H

#include "base/base.h"
#include "base/text.h"

/* ---- stream: bytes of a file, standard input or memory; gzip and zstd are decompressed ---- */

typedef struct io_stream io_stream;

enum { STREAM_PEEK_MAX = 4096 };
/* Limits of decompression. Data may always expand to STREAM_EXPANSION_FLOOR bytes; beyond that, to
 * at most STREAM_EXPANSION_RATIO times the compressed size. */
#define STREAM_EXPANSION_FLOOR ((int64_t)128 << 20)
#define STREAM_EXPANSION_RATIO ((int64_t)200)
#define STREAM_DEFAULT_MAX_BYTES ((int64_t)64 << 30)

/* Opens a file, or standard input if path is "-". max_bytes limits the uncompressed size. */
ddsc_status stream_open(ddsc_context *ctx, io_stream **out, const char *path, int64_t max_bytes);
/* Opens borrowed bytes. `name` is used in messages. */
ddsc_status stream_open_memory(ddsc_context *ctx, io_stream **out, const char *name,
                               const void *bytes, size_t n_bytes, int64_t max_bytes);
/* Opens a part of a random-access stream, and inflates it if `deflated` is true. The part ends
 * after exactly `unpacked` bytes. The archive must outlive the part. */
ddsc_status stream_open_part(ddsc_context *ctx, io_stream **out, io_stream *archive,
                             const char *name, int64_t offset, int64_t packed, int64_t unpacked,
                             bool deflated);
void stream_close(io_stream *s);
const char *stream_name(const io_stream *s);
/* Returns the path that the caller passed, or NULL for standard input and memory. */
const char *stream_path(const io_stream *s);
/* Reads up to n bytes. *got < n only at the end. */
ddsc_status stream_read(io_stream *s, void *buffer, size_t n, size_t *got);
/* Reads exactly n bytes, or fails with "NAME: ends early at byte ... (while reading WHAT)". */
ddsc_status stream_read_exact(io_stream *s, void *buffer, size_t n, const char *what);
/* Fails if any bytes follow the expected ones. */
ddsc_status stream_expect_end(io_stream *s, const char *what);
/* Copies up to n (<= STREAM_PEEK_MAX) leading bytes without consuming them. Must be called
 * before any read. */
ddsc_status stream_peek(io_stream *s, void *buffer, size_t n, size_t *got);
/* Returns one NUL-terminated line without its line ending (LF or CRLF). The line is valid until the
 * next call and may be modified. *line is NULL at the end of the file. A NUL byte in the text is an
 * error. */
ddsc_status stream_line(io_stream *s, char **line, size_t *length);
/* Does the same as stream_line, but quoted fields (RFC 4180) may contain line endings, which are
 * preserved. If `delimiter` is 0, fields_delimiter determines it. */
ddsc_status stream_record(io_stream *s, char **line, size_t *length, char delimiter);
/* Returns the next record that is not blank. A byte order mark at the start of the file is
 * skipped. */
ddsc_status stream_text_line(io_stream *s, char **line, char delimiter);
/* Declares that the text of this stream is UTF-8, regardless of the context's encoding. Used for
 * files that ddsc wrote. */
void stream_set_utf8(io_stream *s);
/* Converts a NUL-terminated text of n bytes to UTF-8. *text is either unchanged or points to a
 * converted copy that is valid until the next call. Invalid bytes are an error. Lines are converted
 * when they are read, so this function is needed only for other text. */
ddsc_status stream_make_utf8(io_stream *s, char **text, size_t *n);
int64_t
stream_line_number(const io_stream *s); /* number of the last line returned, counted from 1 */
/* Returns an upper bound on the number of remaining bytes. */
int64_t stream_remaining_bound(const io_stream *s);
/* Fails if a declared size exceeds the bound of stream_remaining_bound. Must be called before
 * memory of that size is allocated. */
ddsc_status stream_check_declared(io_stream *s, int64_t bytes, const char *what);
/* Returns the maximum number of bytes that this stream may return. */
int64_t stream_limit(const io_stream *s);
/* Computes the CRC-32 used in zip files. `before` is the CRC of the preceding bytes, or 0 at the
 * start. */
uint32_t stream_checksum(uint32_t before, const void *bytes, size_t n);
/* Returns the CRC-32 of two concatenated byte sequences, the second n bytes long. */
uint32_t stream_checksum_join(uint32_t first, uint32_t second, int64_t n);
/* Returns the CRC-32 of the bytes that a part has returned so far. */
uint32_t stream_crc(const io_stream *s);
/* Prepares the stream for stream_read_at. Streams that cannot seek (pipes, gzip) are first read
 * into memory. Must be called before any read. *size receives the size in bytes. */
ddsc_status stream_make_random(io_stream *s, int64_t *size);
/* Returns all bytes of a random-access stream if they are in memory, else NULL. */
const unsigned char *stream_memory(const io_stream *s);
ddsc_status stream_read_at(io_stream *s, int64_t offset, void *buffer, size_t n, const char *what);
/* Fails with DDSC_ERROR_INPUT and the message "NAME: text". */
ddsc_status stream_fail(io_stream *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Does the same as stream_fail with the prefix "NAME: line N", where N is the number of the last
 * line returned. The text begins with ": " or ", ". */
ddsc_status stream_fail_line(io_stream *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files and folders ---- */

typedef struct file_list {
    text_rows path, folder; /* class of each file, or "" */
    int64_t n;
} file_list;

bool files_is_folder(const char *path);
/* Adds a file, or the files of a folder sorted by name. Files in immediate subfolders are included,
 * and the name of the subfolder is their class. `kinds` is a NULL-terminated list of
 * NULL-terminated lists of extensions. The first list with an extension that occurs in the folder
 * is used. */
ddsc_status files_add(ddsc_context *ctx, file_list *list, const char *path,
                      const char *const *const *kinds);
void files_free(ddsc_context *ctx, file_list *list);
/* Returns true for "NAME.ENDING" and "NAME.ENDING.gz" (or .zst), ignoring case. */
bool files_has_ending(const char *path, const char *ending);
/* Finds the file name without folders, without .gz or .zst, and without one more extension. */
void files_base_name(const char *path, const char **start, size_t *length);
/* Writes "class/name" or "name" of a path to *name, which grows as needed. */
ddsc_status files_name(ddsc_context *ctx, char **name, int64_t *capacity, const char *path,
                       const char *class);
/* Reads a whole stream into *bytes, which grows as needed, and appends a NUL. If there are more
 * than `most` bytes, fails with a message that the stream is too long for `what`. */
ddsc_status files_read_whole(ddsc_context *ctx, io_stream *s, char **bytes, int64_t *capacity,
                             int64_t *n, int64_t most, const char *what);

/* ---- fields of a delimited line ---- */

typedef struct field_list {
    char **text; /* NUL-terminated, unquoted, trimmed, pointing into the line */
    int64_t n, capacity;
} field_list;

/* Returns the tab character if the line has a tab outside quotes. Otherwise returns the most
 * frequent of comma, semicolon and vertical bar, or the comma if none of them occurs. */
char fields_delimiter(const char *line);
ddsc_status fields_split(ddsc_context *ctx, field_list *list, io_stream *s, char *line,
                         char delimiter);
/* Splits the line only at delimiters. Quotes are part of the data, and spaces are not trimmed. */
ddsc_status fields_split_plain(ddsc_context *ctx, field_list *list, char *line, char delimiter);
void fields_free(ddsc_context *ctx, field_list *list);

/* ---- typed binary numbers ---- */

typedef struct num_type {
    char kind; /* 'f' float, 'i' signed, 'u' unsigned */
    int width; /* bytes */
    bool swap; /* byte order differs from this machine's */
} num_type;

#define NUM_HOST_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

void numbers_to_double(double *out, const unsigned char *in, int64_t n, num_type type);
/* Returns false if an element is not an integer or is out of range. *bad is then its index. */
bool numbers_to_int64(int64_t *out, const unsigned char *in, int64_t n, num_type type,
                      int64_t *bad);

/* ---- zip: the members of an npz ---- */

enum { ZIP_NAME_MAX = 64 };

typedef struct zip_entry {
    char name[ZIP_NAME_MAX]; /* without ".npy" */
    int64_t offset, packed, unpacked;
    uint32_t crc;
    int method, flags;
} zip_entry;

typedef struct zip_list {
    zip_entry *entry;
    int64_t n, capacity;
} zip_list;

/* Lists the .npy members of an archive. Duplicate names are an error. */
ddsc_status zip_read_list(ddsc_context *ctx, zip_list *list, io_stream *archive);
void zip_list_free(ddsc_context *ctx, zip_list *list);
const zip_entry *zip_find(const zip_list *list, const char *name);
ddsc_status zip_open_entry(ddsc_context *ctx, io_stream **out, io_stream *archive,
                           const zip_entry *entry);
/* Fails if the checksum does not match. Must be called after the last byte has been read. */
ddsc_status zip_check_entry(io_stream *member, const zip_entry *entry);

/* ---- owners of temporary files ---- */

enum { OWNER_TEXT = 64 };
#define OWNER_PREFIX ".ddsc-"

/* Writes the "HOST.ID-PID" of this process to `out`. It contains only one '-'. */
void owner_name(char out[OWNER_TEXT]);
/* Returns true if the text begins with the "HOST.ID-PID-" of a process that ran on this machine and
 * in this container but no longer exists. */
bool owner_is_gone(const char *text);
/* Returns true for the name of a temporary file or folder whose process no longer exists
 * (owner_is_gone). */
bool owner_left(const char *name);
/* Removes from a folder the temporary files of processes that no longer exist. */
void owner_clean(const char *folder);

/* ---- writing: a temporary file in the same folder, fsync, rename ---- */

typedef struct io_writer io_writer;

/* Opens a file for writing, or standard output if path is "-". The output is compressed if the name
 * ends in .gz. `flags` are ddsc_write_flags. */
ddsc_status writer_open(ddsc_context *ctx, io_writer **out, const char *path, unsigned flags);
ddsc_status writer_put(io_writer *w, const void *bytes, size_t n);
ddsc_status writer_printf(io_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a number in the format "%.17g", independent of the locale. */
ddsc_status writer_number(io_writer *w, double value);
/* Writes a CSV field, quoted if necessary (RFC 4180), so that reading it returns the same text. */
ddsc_status writer_field(io_writer *w, const char *text, char delimiter);
/* Allows several processes to write the same file: the first process to finish creates it, and the
 * others succeed without replacing it. The writer must have been opened with overwriting
 * allowed. */
void writer_give_way(io_writer *w);
/* Finishes writing; `status` is the result of the writes. On success, the file is flushed, synced
 * and renamed into place. On failure, the temporary file is removed. The writer is freed in both
 * cases. */
ddsc_status writer_finish(io_writer *w, ddsc_status status);

/* ---- a folder of files that is replaced as a whole ---- */

typedef struct io_folder io_folder;
/* Returns the name of a file, numbered from 0, or NULL after the last one. The file with the last
 * name is put in place last, so if it exists, all other files exist. */
typedef const char *(*folder_name_fn)(int64_t number);

/* Prepares the replacement of a folder. Also removes temporary files of processes that no longer
 * exist from its parent folder. `flags` are ddsc_write_flags. */
ddsc_status folder_open(ddsc_context *ctx, io_folder **out, const char *path, folder_name_fn name,
                        unsigned flags);
/* Checks that folder_open would succeed. Leaves no files behind. */
ddsc_status folder_check(ddsc_context *ctx, const char *path, folder_name_fn name, unsigned flags);
/* Returns the folder that the files must be written into. */
const char *folder_stage(const io_folder *f);
/* Syncs the first n_names files, which are not synced when they are written. If n_names exceeds the
 * number of names, the folder itself is also synced. */
ddsc_status folder_sync(io_folder *f, int64_t n_names);
/* Finishes the folder; `status` is the result of the writes. On success, the new files replace
 * the old ones, old files without a replacement are removed, and files with other names remain.
 * On failure, the folder is unchanged. The folder object is freed in both cases. */
ddsc_status folder_finish(io_folder *f, ddsc_status status);

#endif
