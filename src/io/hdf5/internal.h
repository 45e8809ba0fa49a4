/* The inside of hdf5: libhdf5 behind one lock, silent (file.c, array.c), asked through memory that is shared
 * with the child process in which it works (call.c, child.c). */
#ifndef DDSC_IO_HDF5_INTERNAL_H
#define DDSC_IO_HDF5_INTERNAL_H

#define H5_USE_110_API
#include <hdf5.h>

#include "io/hdf5/hdf5.h"

typedef struct h5_turn {
    H5E_auto2_t print;
    void *print_arg;
} h5_turn;

/* Around every use of libhdf5: its builds need not be safe in threads, and it prints its errors. */
h5_turn h5_begin(void);
void h5_end(h5_turn turn);
/* "NAME: WHAT (reason of libhdf5)". */
ddsc_status h5_fail(h5_file *f, const char *what, const char *path);
/* The lock alone, without libhdf5: around fork, and in the child after it. */
void h5_hold(bool hold);
/* The object at a path, -1 where there is none; for H5Oclose. */
ddsc_status h5_reach(h5_file *f, const char *path, hid_t *object);

/* ---- calls of libhdf5, as in hdf5.h ---- */

ddsc_status h5_raw_open(h5_file *f);
void h5_raw_close(h5_file *f);
ddsc_status h5_raw_find(h5_file *f, const char *path, h5_kind *kind);
ddsc_status h5_raw_attribute(h5_file *f, const char *path, const char *name,
                             char out[H5_ATTRIBUTE]);
ddsc_status h5_raw_shape(h5_file *f, const char *path, const char *name, int64_t shape[2],
                         bool *found);
ddsc_status h5_raw_list(h5_file *f, const char *path, char *out, size_t room);
ddsc_status h5_raw_array_open(h5_file *f, h5_array *a, const char *path);
void h5_raw_array_close(h5_array *a);
ddsc_status h5_raw_numbers(h5_array *a, int64_t begin, int64_t n, bool integers, void *out);
/* Texts [begin, begin + n); ends early, after a batch, once fn has returned a positive status. */
ddsc_status h5_raw_texts(h5_array *a, int64_t begin, int64_t n, h5_text_fn fn, void *arg);

/* ---- requests ---- */

enum { H5_TEXT_BYTES = 1 << 24, H5_LIST_TEXT = 400, H5_MESSAGE = 1024 };
/* Of the values of one answer: a batch, or one row. */
#define H5_ROOM ((int64_t)1 << 27)

typedef enum h5_verb {
    H5_VERB_OPEN,
    H5_VERB_FIND,
    H5_VERB_ATTRIBUTE,
    H5_VERB_SHAPE,
    H5_VERB_LIST,
    H5_VERB_ARRAY_OPEN,
    H5_VERB_ARRAY_CLOSE,
    H5_VERB_DOUBLES,
    H5_VERB_INTEGERS,
    H5_VERB_TEXTS
} h5_verb;

/* A request and its answer. The values follow: numbers, or texts each with its NUL. */
struct h5_exchange {
    h5_verb verb;
    char path[H5_PATH + 16], name[H5_ATTRIBUTE];
    int64_t begin, n; /* rows; answer: how many texts there are */
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

/* Carries out the request in f->exchange by libhdf5. */
ddsc_status h5_serve(h5_file *f);
/* Starts the child that serves the file from now on; ends it. */
ddsc_status h5_child_start(h5_file *f);
void h5_child_stop(h5_file *f);
/* Has the child serve the request in f->exchange. DDSC_ERROR_INPUT where it crashes or answers nothing in time. */
ddsc_status h5_child_ask(h5_file *f);

#endif
