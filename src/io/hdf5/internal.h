/* Internals of the module hdf5. file.c and array.c call libhdf5 while they hold a lock and with the
 * error output of libhdf5 disabled. call.c and child.c send requests through memory that is shared
 * with the child process in which libhdf5 runs. */
#ifndef DDSC_IO_HDF5_INTERNAL_H
#define DDSC_IO_HDF5_INTERNAL_H

#define H5_USE_110_API
#include <hdf5.h>

#include "io/hdf5/hdf5.h"

typedef struct h5_turn {
    H5E_auto2_t print;
    void *print_arg;
} h5_turn;

/* Every use of libhdf5 is enclosed by these functions, because libhdf5 may not be thread-safe and
 * prints its errors. */
h5_turn h5_begin(void);
void h5_end(h5_turn turn);
/* Fails with "NAME: WHAT (reason from libhdf5)". */
ddsc_status h5_fail(h5_file *f, const char *what, const char *path);
/* Acquires or releases only the lock. Acquired before fork, and released after fork in both
 * processes. */
void h5_hold(bool hold);
/* Opens the object at a path. *object is -1 if there is none; otherwise it must be closed with
 * H5Oclose. */
ddsc_status h5_reach(h5_file *f, const char *path, hid_t *object);

/* ---- the functions of hdf5.h, implemented with libhdf5 ---- */

ddsc_status h5_raw_open(h5_file *f);
void h5_raw_close(h5_file *f);
ddsc_status h5_raw_find(h5_file *f, const char *path, h5_kind *kind);
ddsc_status h5_raw_attribute(h5_file *f, const char *path, const char *name,
                             char out[H5_ATTRIBUTE]);
ddsc_status h5_raw_shape(h5_file *f, const char *path, const char *name, int64_t shape[2],
                         bool *found);
ddsc_status h5_raw_list(h5_file *f, const char *path, char *out, size_t capacity);
ddsc_status h5_raw_name(h5_file *f, const char *path, int64_t k, char name[H5_NAME], bool *more);
ddsc_status h5_raw_array_open(h5_file *f, h5_array *a, const char *path);
void h5_raw_array_close(h5_array *a);
ddsc_status h5_raw_numbers(h5_array *a, int64_t begin, int64_t n, bool integers, void *out);
/* Reads the texts [begin, begin + n). Stops after a batch in which fn returned a positive
 * status. */
ddsc_status h5_raw_texts(h5_array *a, int64_t begin, int64_t n, h5_text_fn fn, void *arg);

/* ---- requests ---- */

enum { H5_TEXT_BYTES = 1 << 24, H5_LIST_TEXT = H5_NAME, H5_MESSAGE = 1024 };
/* Maximum size of the values in one reply (a batch or one row). */
#define H5_ROOM ((int64_t)1 << 27)

typedef enum h5_verb {
    H5_VERB_OPEN,
    H5_VERB_FIND,
    H5_VERB_ATTRIBUTE,
    H5_VERB_SHAPE,
    H5_VERB_LIST,
    H5_VERB_NAME,
    H5_VERB_ARRAY_OPEN,
    H5_VERB_ARRAY_CLOSE,
    H5_VERB_DOUBLES,
    H5_VERB_INTEGERS,
    H5_VERB_TEXTS
} h5_verb;

/* A request and its reply, followed by the values: numbers, or texts that each end with a NUL. */
struct h5_exchange {
    h5_verb verb;
    char path[H5_PATH + 16], name[H5_ATTRIBUTE];
    int64_t begin,
        n; /* range of rows; for H5_VERB_NAME, begin is the index of the name; in replies, n is the number of texts */
    h5_array array;
    ddsc_status status;
    char message[H5_MESSAGE];
    h5_kind kind;
    bool found;
    int64_t shape[2];
    char text[H5_LIST_TEXT];
    int64_t used;
    _Alignas(64) unsigned char values[];
};

/* Executes the request in f->exchange with libhdf5. */
ddsc_status h5_serve(h5_file *f);
/* Start and stop the child that serves all requests for the file. */
ddsc_status h5_child_start(h5_file *f);
void h5_child_stop(h5_file *f);
/* Sends the request in f->exchange to the child and waits for the reply. Fails with
 * DDSC_ERROR_INPUT if the child crashes or does not reply in time. */
ddsc_status h5_child_ask(h5_file *f);

#endif
