/* format: readers and writers, one file per format. A reader takes an open stream and returns the
 * parts of a set. A writer takes a set and an open writer. Error messages state the file and the
 * position. */
#ifndef DDSC_IO_FORMAT_FORMAT_H
#define DDSC_IO_FORMAT_FORMAT_H

#include "data/measures.h"
#include "data/model.h"
#include "io/stream/stream.h"

/* ---- npy ---- */

enum { NPY_MAX_DIMS = 4 };

typedef struct npy_array {
    char kind; /* 'f', 'i' or 'u'; 'U' and 'S' for text */
    num_type type;
    int64_t item_bytes;
    bool fortran;
    int n_dims;
    int64_t shape[NPY_MAX_DIMS], count;
} npy_array;

ddsc_status npy_read_header(io_stream *s, npy_array *array);
/* Receives the elements [begin, begin + n) in file order, as double or int64_t. */
typedef ddsc_status (*npy_chunk_fn)(void *arg, int64_t begin, int64_t n, const void *value);
/* Read the elements into newly allocated memory, in C order. The stream must end after the last
 * element. */
ddsc_status npy_read_doubles(ddsc_context *ctx, double **out, io_stream *s, const npy_array *array);
ddsc_status npy_read_integers(ddsc_context *ctx, int64_t **out, io_stream *s,
                              const npy_array *array);
ddsc_status npy_read_indices(ddsc_context *ctx, int32_t **out, io_stream *s,
                             const npy_array *array);
/* Reads one UTF-8 string per element. Integers are converted to decimal text. */
typedef ddsc_status (*npy_text_fn)(void *arg, int64_t element, const char *text, size_t n);
ddsc_status npy_read_text(ddsc_context *ctx, io_stream *s, const npy_array *array, npy_text_fn fn,
                          void *arg);
/* Formats a shape, for example "(3, 2)", for messages. */
const char *npy_shape_text(char out[QUOTE_TEXT], const npy_array *array);
#define NPY_SHAPE(array) npy_shape_text((char[QUOTE_TEXT]){0}, array)

enum { NPY_HEADER_MAX = 192 };
/* element types of arrays that are written */
#define NPY_FLOAT8 (NUM_HOST_LITTLE ? "<f8" : ">f8")
#define NPY_FLOAT4 (NUM_HOST_LITTLE ? "<f4" : ">f4")
#define NPY_INT8 (NUM_HOST_LITTLE ? "<i8" : ">i8")
#define NPY_INT4 (NUM_HOST_LITTLE ? "<i4" : ">i4")
/* Writes a version 1.0 header, padded to 64 bytes, and returns its length. n_dims is 1 to 3. */
size_t npy_format_header(char out[NPY_HEADER_MAX], const char *descr, int n_dims,
                         const int64_t *shape);

/* The state of a reader that converts the rows of a dense table to entries of items. */
typedef struct dense_rows {
    ddsc_context *ctx;
    measures_parts *out;
    int64_t width, taken; /* length of a row; number of elements read */
    int64_t index_capacity, weight_capacity, offset_capacity;
} dense_rows;

ddsc_status npy_take_dense(dense_rows *t, const unsigned char *bytes, int64_t n, num_type type);
ddsc_status npy_read_dense(io_stream *s, const npy_array *a, dense_rows *t);

/* ---- labels ---- */

/* A list of labels (class names or numbers), to which labels are added one at a time. */
typedef struct label_list {
    text_table names;
    int32_t *code; /* index of the name, or -1 if the label is empty */
    int64_t n, capacity;
} label_list;

ddsc_status label_list_add(ddsc_context *ctx, label_list *list, const char *text, size_t n);
/* Finishes the list. If all labels are integers, they remain numbers; otherwise, they become class
 * numbers with names. Sets label, name_text, name_at and n_names of `parts`, none of which may be
 * set yet. */
ddsc_status label_list_finish(ddsc_context *ctx, label_list *list, measures_parts *parts);
void label_list_free(ddsc_context *ctx, label_list *list);
/* Reads a labels file in any format listed in docs/formats.md. Sets the labels, names and n of
 * `parts`, and the ids if the file contains ids. */
ddsc_status labels_read_stream(ddsc_context *ctx, measures_parts *parts, io_stream *s);
ddsc_status npz_read_labels(ddsc_context *ctx, measures_parts *parts, io_stream *s);
/* The items to which labels are added. labels_join joins the labels of a file to the items: by id
 * if both have ids, otherwise by order. `from` and `to->name` are used in messages. */
typedef struct label_target {
    int64_t n;
    const char *id_text; /* NULL if items are numbered */
    const int64_t *id_at;
    const char *name;
} label_target;
ddsc_status labels_join(ddsc_context *ctx, measures_parts *labels, const char *from,
                        const label_target *to, ddsc_join *how);
ddsc_status labels_from_npy(ddsc_context *ctx, measures_parts *parts, int64_t *n, io_stream *s,
                            const npy_array *array);

/* ---- readers: each takes an open stream and returns raw parts ---- */

/* Determines the format from the first bytes. Returns DDSC_FORMAT_AUTO if the format is unknown. */
ddsc_format io_sniff(const unsigned char *head, size_t n);
/* Peeks at the first bytes of a stream. If the content is of a known kind that no reader supports,
 * fails with a message that names the kind. */
ddsc_status io_peek_content(io_stream *s, unsigned char head[STREAM_PEEK_MAX], size_t *n);

/* Checks that a file may be opened as HDF5. A damaged file can crash libhdf5, so HDF5 content is
 * not sufficient: the name must end in .h5ad, .h5 or .hdf5, or the format must have been
 * requested. */
ddsc_status io_check_hdf5(io_stream *s, ddsc_format found, ddsc_format asked);

typedef enum cloud_kind { CLOUD_NONE, CLOUD_ROWS, CLOUD_PLY, CLOUD_OFF, CLOUD_PCD } cloud_kind;
/* Recognizes ply, off and pcd from their first bytes. */
cloud_kind io_sniff_cloud(const unsigned char *head, size_t n);
/* Returns true for rows of bare numbers, one point per row. If `path` is not NULL, its extension
 * decides. Otherwise, the content decides: several lines must contain equally many numbers, at
 * least two. */
bool io_sniff_rows(const unsigned char *head, size_t n, const char *path);

ddsc_status npz_read(ddsc_context *ctx, measures_parts *out, io_stream *s);
/* If `one` is true, a matrix is read as the points of one item. */
ddsc_status npy_read_clouds(ddsc_context *ctx, measures_parts *out, io_stream *s, bool one);
/* Reads one item from a ply, off or pcd file, or from rows of bare numbers. Uses `columns` and
 * `drop` of `set`. */
ddsc_status cloud_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                       const ddsc_read_settings *set);
ddsc_status csv_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                     const ddsc_read_settings *set);
ddsc_status idx_read_images(ddsc_context *ctx, measures_parts *out, io_stream *s);
ddsc_status idx_read_labels(ddsc_context *ctx, int32_t **label, int64_t *n, io_stream *s);
/* Reads a .d2 file. `phases` is the number of phases per object, or 0 to infer it. `phase` is the
 * phase to read, or 0 to join all phases. */
ddsc_status d2_read(ddsc_context *ctx, measures_parts *out, io_stream *s, int phases, int phase);
/* Reads an fcs file. Uses `channels` (or else `columns`), `drop` and `arcsinh` of `set`. */
ddsc_status fcs_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                     const ddsc_read_settings *set);
/* Reads an HDF5 file, in the AnnData layout or plain. Uses `matrix`, `id_columns`, `columns`,
 * `drop`, `weight`, `label`, `where` and `arcsinh` of `set`. */
ddsc_status h5ad_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                      const ddsc_read_settings *set);
ddsc_status mtx_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s);
ddsc_status npy_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s);

/* A table that accompanies a .d2 file: a vocabulary (dimension, size, rows) or a matrix of
 * histogram costs (size, matrix). Costs are stored as coordinates whose squared distances are the
 * costs. */
typedef struct d2_table {
    int64_t n, dim;
    double *point; /* n x dim */
    bool dense;    /* true if distributions are histograms over all n points, without ids */
} d2_table;

ddsc_status d2_read_vocabulary(ddsc_context *ctx, d2_table *table, io_stream *s);
ddsc_status d2_read_costs(ddsc_context *ctx, d2_table *table, io_stream *s);

/* Reads a set from an open stream: detects the format, reads the data, and builds the set. */
ddsc_status io_read_measures(ddsc_context *ctx, measures **out, io_stream *s,
                             const ddsc_read_settings *settings);
/* Detects the format and reads one file. `one` is true if several files are read; each matrix is
 * then the points of one item. */
ddsc_status io_read_parts(ddsc_context *ctx, measures_parts *out, ddsc_format *format, io_stream *s,
                          const ddsc_read_settings *settings, bool one);
/* The items to which the columns of a metadata table (set->meta_path) are added, matched by id. */
typedef struct meta_target {
    int64_t n;
    const char *id_text; /* NULL if ids are numbers */
    const int64_t *id_at;
    measures_texts *names, *values; /* existing columns, to which the new ones are appended */
    const char *where;
} meta_target;
ddsc_status io_read_meta_stream(ddsc_context *ctx, const meta_target *to, io_stream *s,
                                const char *id_columns);
ddsc_status io_read_meta(ddsc_context *ctx, const meta_target *to, const char *path,
                         const char *id_columns, int64_t max_bytes);
/* Prepares parts for joining: checks the indices, and names items without ids "file:number". */
ddsc_status sets_prepare(ddsc_context *ctx, measures_parts *parts, const char *where);
/* Checks that b can be appended to a. The two must have the same dimension, words, transforms and
 * metadata columns, and labels of the same kind. */
ddsc_status sets_check(ddsc_context *ctx, const measures_parts *a, const measures_parts *b,
                       const char *where);
/* Appends b to a. a and b must have been prepared with sets_prepare. Afterwards, b is empty. */
ddsc_status sets_join(ddsc_context *ctx, measures_parts *a, measures_parts *b, const char *where);

/* ---- npz ---- */

/* Writes an uncompressed npz archive with fixed timestamps, so that the same arrays give the same
 * bytes. */
typedef struct npz_writer npz_writer;
ddsc_status npz_writer_open(ddsc_context *ctx, npz_writer **out, io_writer *w);
ddsc_context *npz_writer_context(const npz_writer *z);
/* Adds one array. `fill` writes the rows [begin, end) along the first axis to out. The whole range
 * is generated twice: once to compute the checksum and once to write the bytes. If `fill` is NULL,
 * `arg` is the array itself. */
typedef void (*npz_fill_fn)(const void *arg, int64_t begin, int64_t end, unsigned char *out);
ddsc_status npz_writer_add(npz_writer *z, const char *name, const char *descr, int n_dims,
                           const int64_t *shape, int64_t item_bytes, npz_fill_fn fill,
                           const void *arg);
ddsc_status npz_writer_finish(npz_writer *z);
void npz_writer_close(npz_writer *z);
/* Sets the size above which 64-bit records are used. Tests lower this size to cover 64-bit records
 * without 4 GiB of data. */
void npz_writer_set_limit32(npz_writer *z, int64_t limit);

/* Reads only the words from an npz file of a set or a model. If the file contains no words, out->n
 * is 0. */
ddsc_status npz_read_words(ddsc_context *ctx, measures_words *out, io_stream *s);

/* ---- the model of a clustering ---- */

ddsc_status npz_read_model(ddsc_context *ctx, ddsc_model **out, io_stream *s);

ddsc_status npz_write_measures(ddsc_context *ctx, const measures *m, io_writer *w);

#endif
