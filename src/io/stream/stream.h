/* stream: where bytes come from and go to. Files, pipes, memory and members of archives, gunzipped
 * on the way; lines, fields and numbers in them; files that appear whole or not at all. Every input
 * is hostile: sizes are checked against what the stream really holds before memory is taken, and
 * totals against limits. Numbers are read and written the same way in every locale. */
#ifndef DDSC_IO_STREAM_STREAM_H
#define DDSC_IO_STREAM_STREAM_H

#include "base/base.h"
#include "base/text.h"

/* ---- stream: bytes of a file, standard input or memory, unpacked when they are gzip or zstd ---- */

typedef struct io_stream io_stream;

enum { STREAM_PEEK_MAX = 4096 };
/* Compressed data may always reach the floor; beyond it, only this many times its packed size. */
#define STREAM_EXPANSION_FLOOR ((int64_t)128 << 20)
#define STREAM_EXPANSION_RATIO ((int64_t)200)
#define STREAM_DEFAULT_MAX_BYTES ((int64_t)64 << 30)

/* path "-" is standard input. max_bytes bounds the uncompressed size. */
ddsc_status stream_open(ddsc_context *ctx, io_stream **out, const char *path, int64_t max_bytes);
/* Borrowed bytes; name is used in messages. */
ddsc_status stream_open_memory(ddsc_context *ctx, io_stream **out, const char *name,
                               const void *bytes, size_t n_bytes, int64_t max_bytes);
/* A part of a random-access stream, inflated when `deflated`; ends after exactly `unpacked` bytes.
 * The archive must outlive it. */
ddsc_status stream_open_part(ddsc_context *ctx, io_stream **out, io_stream *archive,
                             const char *name, int64_t offset, int64_t packed, int64_t unpacked,
                             bool deflated);
void stream_close(io_stream *s);
const char *stream_name(const io_stream *s);
/* The path as given, or NULL for standard input and memory. */
const char *stream_path(const io_stream *s);
/* Up to n bytes; *got < n only at the end. */
ddsc_status stream_read(io_stream *s, void *buffer, size_t n, size_t *got);
/* Exactly n bytes or "NAME: ends early at byte ... (while reading WHAT)". */
ddsc_status stream_read_exact(io_stream *s, void *buffer, size_t n, const char *what);
/* Refuse bytes after the last expected one. */
ddsc_status stream_expect_end(io_stream *s, const char *what);
/* Look at up to n (<= STREAM_PEEK_MAX) first bytes without consuming; only before any read. */
ddsc_status stream_peek(io_stream *s, void *buffer, size_t n, size_t *got);
/* One line without its end (LF or CRLF), NUL-terminated, the caller's to change until the next
 * call; *line NULL at the end of file. A NUL byte in the text is an error. */
ddsc_status stream_line(io_stream *s, char **line, size_t *length);
/* The same, going on over line ends inside quoted fields (RFC 4180), which are kept as they are.
 * delimiter 0: whichever of fields_delimiter it turns out to be. */
ddsc_status stream_record(io_stream *s, char **line, size_t *length, char delimiter);
/* The next record that holds more than blanks, past the byte order mark of a file. */
ddsc_status stream_text_line(io_stream *s, char **line, char delimiter);
/* Text of this file is UTF-8, whatever encoding the context names: ddsc wrote it. */
void stream_set_utf8(io_stream *s);
/* Text of n bytes and a NUL, read otherwise than by lines, as UTF-8: the same, or a copy in another
 * encoding that lives until the next text. Refuses other bytes. Lines are checked and converted by this. */
ddsc_status stream_make_utf8(io_stream *s, char **text, size_t *n);
int64_t stream_line_number(const io_stream *s); /* of the line last returned, from 1 */
/* Upper bound of the bytes that can still come. */
int64_t stream_remaining_bound(const io_stream *s);
/* Refuse a declared size beyond that bound, before any memory is taken for it. */
ddsc_status stream_check_declared(io_stream *s, int64_t bytes, const char *what);
/* The most bytes this stream may give. */
int64_t stream_limit(const io_stream *s);
/* CRC-32 as in zip files; `before` is that of the bytes before, 0 at the start. */
uint32_t stream_checksum(uint32_t before, const void *bytes, size_t n);
/* Of two runs of bytes, the second n long, one after the other. */
uint32_t stream_checksum_join(uint32_t first, uint32_t second, int64_t n);
/* Running CRC-32 of what a part has given so far. */
uint32_t stream_crc(const io_stream *s);
/* Allow stream_read_at; what cannot seek (pipes, gzip) is first read into memory. Only before any
 * read. *size is the size in bytes. */
ddsc_status stream_make_random(io_stream *s, int64_t *size);
/* All bytes of a stream that may be read at random, where they lie in memory; else NULL. */
const unsigned char *stream_memory(const io_stream *s);
ddsc_status stream_read_at(io_stream *s, int64_t offset, void *buffer, size_t n, const char *what);
/* DDSC_ERROR_INPUT with "NAME: text". */
ddsc_status stream_fail(io_stream *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with "NAME: line N" in front, N that of the line last returned: text begins with ": ". */
ddsc_status stream_fail_line(io_stream *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files and folders ---- */

typedef struct file_list {
    text_rows path, folder; /* folder: the class, or "" */
    int64_t n;
} file_list;

bool files_is_folder(const char *path);
/* A file as given; of a folder its files by name, also those one folder down, whose name is a class.
 * kinds: lists of endings, of which the first that a folder has files of counts; all end with NULL. */
ddsc_status files_add(ddsc_context *ctx, file_list *list, const char *path,
                      const char *const *const *kinds);
void files_free(ddsc_context *ctx, file_list *list);
/* "name.ending" or "name.ending.gz" (or .zst), in any case? */
bool files_has_ending(const char *path, const char *ending);
/* File name without folders and without .gz or .zst and one more ending. */
void files_base_name(const char *path, const char **start, size_t *length);
/* "class/name" or "name" of a path, into *name, which grows and has room for the path. */
ddsc_status files_name(ddsc_context *ctx, char **name, int64_t *room, const char *path,
                       const char *class);
/* All of a stream into *bytes, which grows and ends with a NUL; more than `most` bytes are refused as
 * too long for `what`. */
ddsc_status files_read_whole(ddsc_context *ctx, io_stream *s, char **bytes, int64_t *room,
                             int64_t *n, int64_t most, const char *what);

/* ---- fields of a delimited line ---- */

typedef struct field_list {
    char **text; /* NUL-terminated, unquoted, trimmed, inside the line */
    int64_t n, room;
} field_list;

/* Tab when the line has one outside quotes, else whichever of , ; | it has most of; comma when none. */
char fields_delimiter(const char *line);
ddsc_status fields_split(ddsc_context *ctx, field_list *list, io_stream *s, char *line,
                         char delimiter);
/* Cut at every delimiter and nowhere else: quotes are data, nothing is trimmed. */
ddsc_status fields_split_plain(ddsc_context *ctx, field_list *list, char *line, char delimiter);
void fields_free(ddsc_context *ctx, field_list *list);

/* ---- typed binary numbers ---- */

typedef struct num_type {
    char kind; /* 'f' float, 'i' signed, 'u' unsigned */
    int width; /* bytes */
    bool swap; /* the other byte order than this machine's */
} num_type;

#define NUM_HOST_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

void numbers_to_double(double *out, const unsigned char *in, int64_t n, num_type type);
/* False when an element is no integer or out of range; *bad is then its place. */
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
    int64_t n, room;
} zip_list;

/* The .npy members of an archive; duplicate names are refused. */
ddsc_status zip_read_list(ddsc_context *ctx, zip_list *list, io_stream *archive);
void zip_list_free(ddsc_context *ctx, zip_list *list);
const zip_entry *zip_find(const zip_list *list, const char *name);
ddsc_status zip_open_entry(ddsc_context *ctx, io_stream **out, io_stream *archive,
                           const zip_entry *entry);
/* After the last byte: the checksum must match. */
ddsc_status zip_check_entry(io_stream *member, const zip_entry *entry);

/* ---- whose a temporary file is ---- */

enum { OWNER_TEXT = 64 };
#define OWNER_PREFIX ".ddsc-"

/* "HOST-PID" of this process; HOST has no '-'. */
void owner_name(char out[OWNER_TEXT]);
/* The text begins with "HOST-PID-" of a process of this machine that is no longer there. */
bool owner_is_gone(const char *text);
/* The name of a temporary file or folder that such a process left behind. */
bool owner_left(const char *name);
/* Remove the files among them in a folder. */
void owner_clean(const char *folder);

/* ---- writing: to a temporary beside the target, fsync, rename ---- */

typedef struct io_writer io_writer;

/* path "-" is standard output. gzip when the name ends in .gz. flags: ddsc_write_flags. */
ddsc_status writer_open(ddsc_context *ctx, io_writer **out, const char *path, unsigned flags);
/* Checks that a file can be written there, and leaves nothing behind. */
ddsc_status writer_check(ddsc_context *ctx, const char *path, unsigned flags);
ddsc_status writer_put(io_writer *w, const void *bytes, size_t n);
ddsc_status writer_printf(io_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "%.17g" whatever the locale. */
ddsc_status writer_number(io_writer *w, double value);
/* A csv field, quoted when it has to be (RFC 4180): any text comes back as it was. */
ddsc_status writer_field(io_writer *w, const char *text, char delimiter);
/* Of several processes that write this file the first one stays, and the others say nothing. To be
 * called on a writer that may overwrite. */
void writer_give_way(io_writer *w);
/* What writing came to goes in: on success flush, sync, rename into place, else remove the temporary.
 * The writer is freed either way. */
ddsc_status writer_finish(io_writer *w, ddsc_status status);

/* ---- a folder of files that is replaced as a whole ---- */

typedef struct io_folder io_folder;
/* Names of the files that may be in it, number 0, 1, ...; NULL after the last, which is written last
 * and whose presence says that the others are there. */
typedef const char *(*folder_name_fn)(int64_t number);

/* flags: ddsc_write_flags. Cleans up what dead processes left beside the folder. */
ddsc_status folder_open(ddsc_context *ctx, io_folder **out, const char *path, folder_name_fn name,
                        unsigned flags);
/* Checks that folder_open succeeds, and leaves nothing behind. */
ddsc_status folder_check(ddsc_context *ctx, const char *path, folder_name_fn name, unsigned flags);
/* Write the files here. */
const char *folder_stage(const io_folder *f);
/* Files written here are not waited for one by one: those of the first n_names names are on the disk after this, and
 * with more names than there are the list of files too. */
ddsc_status folder_sync(io_folder *f, int64_t n_names);
/* What writing came to goes in: on success the new files take the place of the old ones, and of those
 * that have no new one; files of other names stay. On failure the folder is as it was. Freed either
 * way. */
ddsc_status folder_finish(io_folder *f, ddsc_status status);

#endif
