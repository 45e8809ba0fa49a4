/* io: one file a format. Every reader treats its input as hostile: sizes are checked against what
 * the stream really holds before memory is taken, totals against limits; messages name file and
 * place. Numbers are read and written the same way in every locale. */
#ifndef DDSC_IO_H
#define DDSC_IO_H

#include "base/base.h"
#include "data/measures.h"
#include "data/model.h"

/* ---- stream: bytes of a file, standard input or memory, gunzipped when they are gzip ---- */

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
int64_t stream_line_number(const io_stream *s); /* of the line last returned, from 1 */
/* Upper bound of the bytes that can still come. */
int64_t stream_remaining_bound(const io_stream *s);
/* Refuse a declared size beyond that bound, before any memory is taken for it. */
ddsc_status stream_check_declared(io_stream *s, int64_t bytes, const char *what);
/* The most bytes this stream may give. */
int64_t stream_limit(const io_stream *s);
/* Running CRC-32 of what a part has given so far. */
uint32_t stream_crc(const io_stream *s);
/* Allow stream_read_at; what cannot seek (pipes, gzip) is first read into memory. Only before any
 * read. *size is the size in bytes. */
ddsc_status stream_make_random(io_stream *s, int64_t *size);
ddsc_status stream_read_at(io_stream *s, int64_t offset, void *buffer, size_t n, const char *what);
/* DDSC_ERROR_INPUT with "NAME: text". */
ddsc_status stream_fail(io_stream *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- numbers and text, whatever the locale ---- */

enum { NUMBER_TEXT = 32, QUOTE_TEXT = 48 };

/* The whole text is one decimal number, or nan or inf in C's spelling (callers refuse those by
 * value). No hexadecimal, no blanks. */
bool number_parse(const char *text, double *value);
bool number_parse_integer(const char *text, int64_t *value);
/* 17 significant digits: reads back to the same bits. Returns the length. */
int number_format(char out[NUMBER_TEXT], double value);
/* The character at *at (NUL-terminated text), which moves on; -1 for what is no UTF-8. */
int64_t text_next_char(const unsigned char **at);
/* Characters of a text, or -1 when it is no UTF-8. */
int64_t text_count_chars(const char *text);
/* Text from a file made safe for a message: control bytes replaced, long text cut. */
const char *text_quote(char out[QUOTE_TEXT], const char *text, size_t n);
/* The first line of a file, past its byte order mark. */
char *text_skip_mark(char *line);

/* Packed distinct strings, numbered in order of appearance; text and at have the layout that
 * measures_parts wants for ids and names. */
typedef struct text_table {
    char *text;
    int64_t *at; /* n + 1 starts; string i ends with a NUL at at[i+1] - 1 */
    int64_t n;
    int64_t text_room, at_room;
    int64_t *slot; /* open addressing, number + 1, 0 free */
    int64_t n_slots;
} text_table;

ddsc_status text_table_add(ddsc_context *ctx, text_table *t, const char *text, size_t n,
                           int64_t *number, bool *is_new);
int64_t text_table_find(const text_table *t, const char *text, size_t n); /* -1: not there */
const char *text_table_get(const text_table *t, int64_t number);
void text_table_free(ddsc_context *ctx, text_table *t);

/* Room for `need` elements in a growing block. */
ddsc_status room_reserve(ddsc_context *ctx, void *block, int64_t *room, int64_t need, size_t size);

/* ---- fields of a delimited line ---- */

typedef struct field_list {
    char **text; /* NUL-terminated, unquoted, trimmed, inside the line */
    int64_t n, room;
} field_list;

/* Tab when the line has one outside quotes, else comma. */
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

void num_to_double(double *out, const unsigned char *in, int64_t n, num_type type);
/* False when an element is no integer or out of range; *bad is then its place. */
bool num_to_int64(int64_t *out, const unsigned char *in, int64_t n, num_type type, int64_t *bad);

/* ---- npy and zip, the parts of npz ---- */

enum { NPY_MAX_DIMS = 4 };

typedef struct npy_array {
    char kind; /* 'f', 'i', 'u', or 'U' and 'S' for text */
    num_type type;
    int64_t item_bytes;
    bool fortran;
    int n_dims;
    int64_t shape[NPY_MAX_DIMS], count;
} npy_array;

ddsc_status npy_read_header(io_stream *s, npy_array *array);
/* Numbers in file order, a chunk at a time; then the stream must end. */
typedef ddsc_status (*npy_chunk_fn)(void *arg, int64_t begin, int64_t n, const double *value);
ddsc_status npy_read_chunks(ddsc_context *ctx, io_stream *s, const npy_array *array,
                            npy_chunk_fn fn, void *arg);
/* The elements in C order into new memory; then the stream must end. */
ddsc_status npy_read_doubles(ddsc_context *ctx, double **out, io_stream *s, const npy_array *array);
ddsc_status npy_read_integers(ddsc_context *ctx, int64_t **out, io_stream *s,
                              const npy_array *array);
ddsc_status npy_read_indices(ddsc_context *ctx, int32_t **out, io_stream *s,
                             const npy_array *array);
/* One string an element, UTF-8; integers become decimal text. */
typedef ddsc_status (*npy_text_fn)(void *arg, int64_t element, const char *text, size_t n);
ddsc_status npy_read_text(ddsc_context *ctx, io_stream *s, const npy_array *array, npy_text_fn fn,
                          void *arg);
/* "(3, 2)" for messages. */
const char *npy_shape_text(char out[QUOTE_TEXT], const npy_array *array);

enum { NPY_HEADER_MAX = 192 };
/* Version 1.0 header, padded to 64 bytes; n_dims 1 .. 3. Returns its length. */
size_t npy_format_header(char out[NPY_HEADER_MAX], const char *descr, int n_dims,
                         const int64_t *shape);

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

/* ---- labels ---- */

/* Class names or numbers gathered one by one. */
typedef struct label_list {
    text_table names;
    int32_t *code; /* number of the name, -1 for an empty one */
    int64_t n, room;
} label_list;

ddsc_status label_list_add(ddsc_context *ctx, label_list *list, const char *text, size_t n);
/* All integers: plain numbers; else class numbers with names. Fills label, name_text, name_at and
 * n_names of parts, which it takes to hold none yet. */
ddsc_status label_list_finish(ddsc_context *ctx, label_list *list, measures_parts *parts);
void label_list_free(ddsc_context *ctx, label_list *list);
/* Any labels file of docs/formats.md into label, names and n of parts. */
ddsc_status labels_read_stream(ddsc_context *ctx, measures_parts *parts, io_stream *s);
ddsc_status labels_from_npy(ddsc_context *ctx, measures_parts *parts, int64_t *n, io_stream *s,
                            const npy_array *array);

/* ---- readers: each takes an open stream and gives raw parts ---- */

/* By the first bytes; AUTO when unknown. */
ddsc_format io_sniff(const unsigned char *head, size_t n);
/* What the bytes are when they are a known format that is not read ("bzip2-compressed"), or NULL.
 */
const char *io_sniff_foreign(const unsigned char *head, size_t n);

/* axes: names of the coordinates, a tab after each, or NULL; owned by the caller. */
ddsc_status npz_read(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status npy_read_clouds(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status csv_read(ddsc_context *ctx, measures_parts *out, char **axes, io_stream *s);
ddsc_status idx_read_images(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status idx_read_labels(ddsc_context *ctx, int32_t **label, int64_t *n, io_stream *s);
/* phases: how many phases an object has, 0: find out; phase: which one, 0: all joined. */
ddsc_status d2_read(ddsc_context *ctx, measures_parts *out, io_stream *s, int phases, int phase);
ddsc_status fcs_read(ddsc_context *ctx, measures_parts *out, char **axes, io_stream *s,
                     const char *channels, double arcsinh_scale);
ddsc_status mtx_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s);
ddsc_status npy_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s);

/* Tables beside a .d2 file: vocabulary (dim, size, rows) and histogram costs (size, matrix), the
 * latter as coordinates whose squared distances are the costs. */
typedef struct d2_table {
    int64_t n, dim;
    double *point; /* n x dim */
    bool dense;    /* a histogram over all n points, not ids */
} d2_table;

ddsc_status d2_read_vocabulary(ddsc_context *ctx, d2_table *table, io_stream *s);
ddsc_status d2_read_costs(ddsc_context *ctx, d2_table *table, io_stream *s);

/* Whole pipeline on an open stream: sniff, read, build. */
ddsc_status io_read_measures(ddsc_context *ctx, measures **out, io_stream *s,
                             const ddsc_read_settings *settings);
/* Sniff and read one file. */
ddsc_status io_read_parts(ddsc_context *ctx, measures_parts *out, char **axes, ddsc_format *format,
                          io_stream *s, const ddsc_read_settings *settings);
/* Make parts fit to be joined: indices checked, items without ids called "file:number". */
ddsc_status parts_prepare(ddsc_context *ctx, measures_parts *parts, const char *where);
/* Append b to a (both prepared; b is empty afterwards). */
ddsc_status parts_join(ddsc_context *ctx, measures_parts *a, measures_parts *b, const char *where);
/* File name without folders and without .gz and one more ending. */
void io_base_name(const char *path, const char **start, size_t *length);

/* ---- writing: to a temporary beside the target, fsync, rename ---- */

typedef struct io_writer io_writer;

/* path "-" is standard output. gzip when the name ends in .gz. EXISTS unless overwrite. */
ddsc_status writer_open(ddsc_context *ctx, io_writer **out, const char *path, int overwrite);
ddsc_status writer_put(io_writer *w, const void *bytes, size_t n);
ddsc_status writer_printf(io_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "%.17g" whatever the locale. */
ddsc_status writer_number(io_writer *w, double value);
/* A csv field, quoted when it has to be; line breaks are refused. */
ddsc_status writer_field(io_writer *w, const char *text, char delimiter);
/* Flush, sync, rename into place, free; also on error. */
ddsc_status writer_commit(io_writer *w);
/* Remove the temporary, free. NULL is fine. */
void writer_abort(io_writer *w);

/* An npz archive, stored, with fixed time stamps: the same arrays give the same bytes. */
typedef struct npz_writer npz_writer;
ddsc_status npz_writer_open(ddsc_context *ctx, npz_writer **out, io_writer *w);
/* One array; `fill` writes rows [begin, end) along the first axis into out. It is called twice over
 * the whole range: once for the checksum, once for the bytes. */
typedef void (*npz_fill_fn)(const void *arg, int64_t begin, int64_t end, unsigned char *out);
ddsc_status npz_writer_add(npz_writer *z, const char *name, const char *descr, int n_dims,
                           const int64_t *shape, int64_t item_bytes, npz_fill_fn fill,
                           const void *arg);
ddsc_status npz_writer_finish(npz_writer *z);
void npz_writer_close(npz_writer *z);
/* Tests set this low to see the 64-bit records without 4 GiB of data. */
void npz_writer_set_limit32(npz_writer *z, int64_t limit);

/* ---- the model of a clustering ---- */

ddsc_status model_read_npz(ddsc_context *ctx, ddsc_model **out, io_stream *s);
ddsc_status model_write_npz(ddsc_context *ctx, const ddsc_model *m, io_writer *w);

ddsc_status npz_write_measures(ddsc_context *ctx, const measures *m, io_writer *w);
ddsc_status csv_write_measures(ddsc_context *ctx, const measures *m, io_writer *w, char delimiter);
ddsc_status d2_write_measures(const measures *m, io_writer *w);

#endif
