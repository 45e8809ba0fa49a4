/* hdf5: arrays and texts inside an HDF5 file, by libhdf5 where it is built in. What the file declares is
 * checked against what it stores before memory is taken; nothing leads out of the file: only hard
 * links are followed, arrays kept in other files and filters that are no part of libhdf5 are refused.
 * libhdf5 works in a child process of the call, so that a damaged file can neither crash nor block
 * the caller; its own memory is not counted. */
#ifndef DDSC_IO_HDF5_HDF5_H
#define DDSC_IO_HDF5_HDF5_H

#include "io/stream/stream.h"

enum { H5_PATH = 512, H5_ATTRIBUTE = 128, H5_MAX_AXES = 3 };

typedef struct h5_exchange h5_exchange;

typedef struct h5_file {
    ddsc_context *ctx;
    io_stream *s;
    int64_t id, size, text_bytes; /* the last: of the texts read so far */
    unsigned char *image;         /* of what can only be read once */
    h5_exchange *exchange;        /* memory shared with the child */
    int child, socket; /* its process id, 0: libhdf5 works in this process; the way to it */
    bool busy;         /* it has not yet answered */
} h5_file;

typedef enum h5_kind { H5_NOTHING, H5_FOLDER, H5_TABLE } h5_kind;

/* Refused where libhdf5 is not built in, with the name of its package. */
ddsc_status h5_open(ddsc_context *ctx, h5_file *f, io_stream *s);
void h5_close(h5_file *f);
/* What stands at a path: an HDF5 group is a folder here, a dataset a table. */
ddsc_status h5_find(h5_file *f, const char *path, h5_kind *kind);
/* A text attribute, or "" where there is none. */
ddsc_status h5_attribute(h5_file *f, const char *path, const char *name, char out[H5_ATTRIBUTE]);
/* The two numbers of an attribute; *found false where there are none. */
ddsc_status h5_shape(h5_file *f, const char *path, const char *name, int64_t shape[2], bool *found);
/* Names in a folder, "a, b, c", cut to the room. */
ddsc_status h5_list(h5_file *f, const char *path, char *out, size_t room);

typedef struct h5_array {
    h5_file *f;
    char path[H5_PATH];
    int64_t id;
    bool is_text, is_float; /* else whole numbers */
    int n_axes;
    int64_t shape[H5_MAX_AXES];
    int64_t width; /* values in a row: of one step along the first axis */
    int64_t batch; /* rows to read at a time */
} h5_array;

/* A table of at most three axes, of numbers or texts. */
ddsc_status h5_array_open(h5_file *f, h5_array *a, const char *path);
void h5_array_close(h5_array *a);
/* Rows [begin, begin + n) of numbers. */
ddsc_status h5_read_doubles(h5_array *a, int64_t begin, int64_t n, double *out);
ddsc_status h5_read_integers(h5_array *a, int64_t begin, int64_t n, int64_t *out);
/* Every element of an array of one axis as UTF-8 text; numbers as they are written. */
typedef ddsc_status (*h5_text_fn)(void *arg, int64_t element, const char *text, size_t n);
ddsc_status h5_read_texts(h5_array *a, h5_text_fn fn, void *arg);

#endif
