/* hdf5: reads arrays and texts from an HDF5 file, if the build includes libhdf5. Declared sizes are
 * checked against stored sizes before memory is allocated. All data must be in the file itself:
 * only hard links are followed, and external storage and third-party filters are rejected. libhdf5
 * runs in a child process for each open file, so that a damaged file can neither crash nor block
 * the caller. Memory used by the child is not counted. */
#ifndef DDSC_IO_HDF5_HDF5_H
#define DDSC_IO_HDF5_HDF5_H

#include "io/stream/stream.h"

enum { H5_PATH = 512, H5_ATTRIBUTE = 128, H5_MAX_AXES = 3, H5_NAME = 400 };

typedef struct h5_exchange h5_exchange;

typedef struct h5_file {
    ddsc_context *ctx;
    io_stream *s;
    int64_t id, size, text_bytes; /* text_bytes: size of the texts read so far */
    unsigned char *image;         /* copy of a source that can be read only once */
    h5_exchange *exchange;        /* memory shared with the child */
    int child, socket,
        handle; /* child process (0: none), socket to the child, pidfd of the child */
    bool busy,
        ended; /* busy: the child has not replied; ended: the child's process id is no longer valid */
} h5_file;

typedef enum h5_kind { H5_NOTHING, H5_FOLDER, H5_TABLE } h5_kind;

/* Opens an HDF5 file. In a build without libhdf5, fails with a message that names the package to
 * install. */
ddsc_status h5_open(ddsc_context *ctx, h5_file *f, io_stream *s);
void h5_close(h5_file *f);
/* Returns the kind of object at a path. An HDF5 group is called a folder here, and a dataset is
 * called a table. */
ddsc_status h5_find(h5_file *f, const char *path, h5_kind *kind);
/* Reads a text attribute, or "" if there is none. */
ddsc_status h5_attribute(h5_file *f, const char *path, const char *name, char out[H5_ATTRIBUTE]);
/* Reads an attribute that consists of two numbers. *found is false if there is none. */
ddsc_status h5_shape(h5_file *f, const char *path, const char *name, int64_t shape[2], bool *found);
/* Lists the names in a folder as "a, b, c", truncated to the buffer. */
ddsc_status h5_list(h5_file *f, const char *path, char *out, size_t capacity);

/* Reads the k-th name in a folder, in ascending order. *more is false if there are at most k names.
 * A name that does not fit is returned as "". */
ddsc_status h5_name(h5_file *f, const char *path, int64_t k, char name[H5_NAME], bool *more);

typedef struct h5_array {
    h5_file *f;
    char path[H5_PATH];
    int64_t id;
    bool is_text, is_float; /* if both are false, the values are integers */
    int n_axes;
    int64_t shape[H5_MAX_AXES];
    int64_t width; /* number of values per step along the first axis */
    int64_t batch; /* rows to read at a time */
} h5_array;

/* Opens a table of numbers or texts with at most three axes. */
ddsc_status h5_array_open(h5_file *f, h5_array *a, const char *path);
void h5_array_close(h5_array *a);
/* Read the rows [begin, begin + n) of a table of numbers. */
ddsc_status h5_read_doubles(h5_array *a, int64_t begin, int64_t n, double *out);
ddsc_status h5_read_integers(h5_array *a, int64_t begin, int64_t n, int64_t *out);
/* Calls fn for each element of a one-dimensional array. Texts are UTF-8; numbers are converted to
 * text. */
typedef ddsc_status (*h5_text_fn)(void *arg, int64_t element, const char *text, size_t n);
ddsc_status h5_read_texts(h5_array *a, h5_text_fn fn, void *arg);

#endif
