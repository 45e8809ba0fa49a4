/* format: one file per format. Readers take an open stream and give the parts of a set; writers
 * take a set and an open writer. Messages name file and place. */
#ifndef DDSC_IO_FORMAT_FORMAT_H
#define DDSC_IO_FORMAT_FORMAT_H

#include "data/measures.h"
#include "data/model.h"
#include "io/stream/stream.h"

/* ---- npy ---- */

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
/* Numbers in file order, a chunk at a time, as double or int64_t; then the stream must end. */
typedef ddsc_status (*npy_chunk_fn)(void *arg, int64_t begin, int64_t n, const void *value);
ddsc_status npy_read_chunks(ddsc_context *ctx, io_stream *s, const npy_array *array, bool integers,
                            npy_chunk_fn fn, void *arg);
/* The elements in C order into new memory; then the stream must end. */
ddsc_status npy_read_doubles(ddsc_context *ctx, double **out, io_stream *s, const npy_array *array);
ddsc_status npy_read_integers(ddsc_context *ctx, int64_t **out, io_stream *s,
                              const npy_array *array);
ddsc_status npy_read_indices(ddsc_context *ctx, int32_t **out, io_stream *s,
                             const npy_array *array);
/* One string per element, UTF-8; integers become decimal text. */
typedef ddsc_status (*npy_text_fn)(void *arg, int64_t element, const char *text, size_t n);
ddsc_status npy_read_text(ddsc_context *ctx, io_stream *s, const npy_array *array, npy_text_fn fn,
                          void *arg);
/* "(3, 2)" for messages. */
const char *npy_shape_text(char out[QUOTE_TEXT], const npy_array *array);
#define NPY_SHAPE(array) npy_shape_text((char[QUOTE_TEXT]){0}, array)

enum { NPY_HEADER_MAX = 192 };
/* Element types of the arrays written. */
#define NPY_FLOAT8 (NUM_HOST_LITTLE ? "<f8" : ">f8")
#define NPY_FLOAT4 (NUM_HOST_LITTLE ? "<f4" : ">f4")
#define NPY_INT8 (NUM_HOST_LITTLE ? "<i8" : ">i8")
#define NPY_INT4 (NUM_HOST_LITTLE ? "<i4" : ">i4")
/* Version 1.0 header, padded to 64 bytes; n_dims 1 .. 3. Returns its length. */
size_t npy_format_header(char out[NPY_HEADER_MAX], const char *descr, int n_dims,
                         const int64_t *shape);

/* Rows of a dense table turned into the entries of items as they pass. */
typedef struct dense_rows {
    ddsc_context *ctx;
    measures_parts *out;
    int64_t width, taken; /* of a row; elements so far */
    int64_t index_room, weight_room, offset_room;
} dense_rows;

ddsc_status npy_take_dense(dense_rows *t, const unsigned char *bytes, int64_t n, num_type type);
ddsc_status npy_read_dense(io_stream *s, const npy_array *a, dense_rows *t);

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
/* Any labels file of docs/formats.md into label, names and n of parts, and ids where it has some.
 */
ddsc_status labels_read_stream(ddsc_context *ctx, measures_parts *parts, io_stream *s);
ddsc_status npz_read_labels(ddsc_context *ctx, measures_parts *parts, io_stream *s);
/* Put the labels of a file into the order of `to`, by id where both have ids. `from` and `to_name`
 * are named in messages. */
typedef struct label_target {
    int64_t n;
    const char *id_text; /* NULL: items are numbered */
    const int64_t *id_at;
    const char *name;
} label_target;
ddsc_status labels_join(ddsc_context *ctx, measures_parts *labels, const char *from,
                        const label_target *to, ddsc_join *how);
ddsc_status labels_from_npy(ddsc_context *ctx, measures_parts *parts, int64_t *n, io_stream *s,
                            const npy_array *array);

/* ---- readers: each takes an open stream and gives raw parts ---- */

/* By the first bytes; AUTO when unknown. */
ddsc_format io_sniff(const unsigned char *head, size_t n);
/* What the bytes are when they are a known format that is not read ("bzip2-compressed"), or NULL.
 */
const char *io_sniff_foreign(const unsigned char *head, size_t n);
/* Peeks at the first bytes of a stream; fails with a message that names the kind of file where it is one that no reader takes. */
ddsc_status io_peek_content(io_stream *s, unsigned char head[STREAM_PEEK_MAX], size_t *n);

/* libhdf5 is not safe with damaged files, so HDF5 needs more than its content: a name that ends in .h5ad,
 * .h5 or .hdf5, or the format that was asked for. */
ddsc_status io_check_hdf5(io_stream *s, ddsc_format found, ddsc_format asked);

typedef enum cloud_kind { CLOUD_NONE, CLOUD_ROWS, CLOUD_PLY, CLOUD_OFF, CLOUD_PCD } cloud_kind;
/* ply, off or pcd by their first bytes, else none. */
cloud_kind io_sniff_cloud(const unsigned char *head, size_t n);
/* Rows of bare numbers, a point each? By the ending of the path (or NULL), else by content: all lines
 * of several have equally many numbers, more than one. */
bool io_sniff_rows(const unsigned char *head, size_t n, const char *path);

ddsc_status npz_read(ddsc_context *ctx, measures_parts *out, io_stream *s);
/* one: a matrix is the points of one item. */
ddsc_status npy_read_clouds(ddsc_context *ctx, measures_parts *out, io_stream *s, bool one);
/* ply, off, pcd, or rows of bare numbers: one item. set: columns, drop. */
ddsc_status cloud_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                       const ddsc_read_settings *set);
ddsc_status csv_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                     const ddsc_read_settings *set);
ddsc_status idx_read_images(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status idx_read_labels(ddsc_context *ctx, int32_t **label, int64_t *n, io_stream *s);
/* phases: how many phases an object has, 0: find out; phase: which one, 0: all joined. */
ddsc_status d2_read(ddsc_context *ctx, measures_parts *out, io_stream *s, int phases, int phase);
/* set: channels or else columns, drop, arcsinh. */
ddsc_status fcs_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                     const ddsc_read_settings *set);
/* HDF5, of AnnData or plain. set: matrix, id_columns, columns, drop, weight, label, where, arcsinh. */
ddsc_status h5ad_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                      const ddsc_read_settings *set);
ddsc_status mtx_write_graph(ddsc_context *ctx, const ddsc_graph *g, io_writer *w);
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
/* Sniff and read one file; one: among others, so that a matrix is the points of one item. */
ddsc_status io_read_parts(ddsc_context *ctx, measures_parts *out, ddsc_format *format, io_stream *s,
                          const ddsc_read_settings *settings, bool one);
/* Columns of the table set->meta_path for the items, by id. */
typedef struct meta_target {
    int64_t n;
    const char *id_text; /* NULL: ids are numbers */
    const int64_t *id_at;
    measures_texts *names, *values; /* columns there are; those of the table come behind */
    const char *where;
} meta_target;
ddsc_status io_read_meta_stream(ddsc_context *ctx, const meta_target *to, io_stream *s,
                                const char *id_columns);
ddsc_status io_read_meta(ddsc_context *ctx, const meta_target *to, const char *path,
                         const char *id_columns, int64_t max_bytes);
/* Make parts fit to be joined: indices checked, items without ids called "file:number". */
ddsc_status sets_prepare(ddsc_context *ctx, measures_parts *parts, const char *where);
/* Can b stand behind a: the same dimension and words, labels of one kind? */
ddsc_status sets_check(ddsc_context *ctx, const measures_parts *a, const measures_parts *b,
                       const char *where);
/* Append b to a (both prepared; b is empty afterwards). */
ddsc_status sets_join(ddsc_context *ctx, measures_parts *a, measures_parts *b, const char *where);

/* ---- npz ---- */

/* An npz archive, stored, with fixed time stamps: the same arrays give the same bytes. */
typedef struct npz_writer npz_writer;
ddsc_status npz_writer_open(ddsc_context *ctx, npz_writer **out, io_writer *w);
/* One array; `fill` writes rows [begin, end) along the first axis into out. It is called twice over
 * the whole range: once for the checksum, once for the bytes. NULL: arg is the array itself. */
typedef void (*npz_fill_fn)(const void *arg, int64_t begin, int64_t end, unsigned char *out);
ddsc_status npz_writer_add(npz_writer *z, const char *name, const char *descr, int n_dims,
                           const int64_t *shape, int64_t item_bytes, npz_fill_fn fill,
                           const void *arg);
ddsc_status npz_writer_finish(npz_writer *z);
void npz_writer_close(npz_writer *z);
/* Tests set this low to see the 64-bit records without 4 GiB of data. */
void npz_writer_set_limit32(npz_writer *z, int64_t limit);

/* The words alone of an npz, of a set or a model; n = 0 where there are none. */
ddsc_status npz_read_words(ddsc_context *ctx, measures_words *out, io_stream *s);

/* ---- the model of a clustering ---- */

ddsc_status npz_read_model(ddsc_context *ctx, ddsc_model **out, io_stream *s);
ddsc_status npz_write_model(ddsc_context *ctx, const ddsc_model *m, io_writer *w);

ddsc_status npz_write_measures(ddsc_context *ctx, const measures *m, io_writer *w);
ddsc_status csv_write_measures(ddsc_context *ctx, const measures *m, io_writer *w, char delimiter);
ddsc_status d2_write_measures(const measures *m, io_writer *w);

#endif
