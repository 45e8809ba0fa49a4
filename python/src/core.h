/* ddsc._core: the Python module over the C library. Plain conversions only: buffers in, buffers
 * out, settings from dictionaries by tables of fields. What a word or a default means is decided in
 * the Python files; what a number means in the library. The buffer protocol stands in for numpy's
 * C interface, so one build serves every numpy. */
#ifndef DDSC_PYTHON_CORE_H
#define DDSC_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "ddsc/ddsc.h"

/* ---- context: one a call, used by one thread at a time ---- */

typedef struct core_context {
    PyObject_HEAD ddsc_context *ctx;
    PyObject *progress;   /* callable(stage, done, total) or None */
    PyObject *warnings;   /* a list of texts */
    PyThreadState *saved; /* while the lock of the interpreter is released */
    double last_look;     /* at pending signals */
    bool failed;          /* a Python exception is set and waits for the call to end */
    bool busy;
    int status;
} core_context;

extern PyTypeObject *context_type;

/* Release the interpreter's lock; false with an exception when the context is at work elsewhere. */
bool context_begin(core_context *self);
/* Take the lock back. True when the status is no error; otherwise the exception is set. */
bool context_end(core_context *self, ddsc_status status);

/* ---- handles: objects of the library, destroyed with their Python owner ---- */

typedef enum core_kind {
    CORE_MEASURES,
    CORE_GRAPH,
    CORE_CLUSTERING,
    CORE_MODEL,
    CORE_BARYCENTER,
    CORE_STABILITY,
    CORE_D2,
    CORE_MEMORY, /* released by ddsc_release */
    CORE_KINDS
} core_kind;

typedef struct core_handle {
    PyObject_HEAD void *pointer;
    core_context *context;
    core_kind kind;
} core_handle;

extern PyTypeObject *handle_type;

/* Takes over `pointer`, also on failure. */
PyObject *handle_new(core_context *context, core_kind kind, void *pointer);
/* For PyArg_ParseTuple "O&": a core_handle of that kind. */
int handle_measures(PyObject *object, void *out);
int handle_graph(PyObject *object, void *out);
int handle_clustering(PyObject *object, void *out);
int handle_model(PyObject *object, void *out);
int handle_stability(PyObject *object, void *out);
int handle_d2(PyObject *object, void *out);

/* A read-only buffer of memory that `owner` keeps alive. columns -1: one dimension. */
PyObject *block_new(PyObject *owner, const void *data, const char *format, int64_t rows,
                    int64_t columns);

/* ---- arguments ---- */

/* A C-contiguous buffer of one number type ('d', 'f', 'i': int32, 'q': int64); None gives an empty
 * one where that is allowed. */
bool buffer_get(PyObject *object, Py_buffer *buffer, char type, int writable, const char *name);
bool buffer_get_or_none(PyObject *object, Py_buffer *buffer, char type, const char *name);
bool buffer_is(const Py_buffer *buffer, char type);
int64_t buffer_count(const Py_buffer *buffer);
/* At least so many numbers, or ValueError. */
bool buffer_holds(const Py_buffer *buffer, int64_t count, const char *name);
/* A place for so many numbers; None: they are not wanted. */
bool buffer_get_room(PyObject *object, Py_buffer *buffer, char type, int64_t count,
                     const char *name);

typedef enum field_type {
    FIELD_INT,
    FIELD_INT64,
    FIELD_DOUBLE,
    FIELD_TEXT,
    FIELD_MATRIX
} field_type;

/* One field of a settings struct. */
typedef struct core_field {
    const char *name;
    field_type type;
    size_t offset;
} core_field;

/* Fields named in the dictionary into the struct; a name that is not in the table is an error.
 * Texts and matrices are borrowed from the dictionary; the size of a matrix, which is square, goes into
 * the int64_t behind its address. */
bool fields_take(PyObject *dictionary, void *settings, const core_field *fields);
bool metric_take(PyObject *dictionary, ddsc_metric_settings *set);
bool graph_take(PyObject *dictionary, ddsc_graph_settings *set);
/* The settings of a clustering; set points at the other two. */
typedef struct core_cluster {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} core_cluster;

/* From three dictionaries. */
bool cluster_take(PyObject *metric, PyObject *graph, PyObject *rest, core_cluster *c);
PyObject *stats_dictionary(const ddsc_pair_stats *stats);
/* dictionary[name] = value; takes over the reference, false when it is NULL. */
bool put(PyObject *dictionary, const char *name, PyObject *value);

/* ---- the functions of the module ---- */

extern PyMethodDef measures_methods[], view_methods[], pairs_methods[], cluster_methods[],
    transport_methods[], model_methods[], findings_methods[], report_methods[], baseline_methods[];
int context_register(PyObject *module);
int handle_register(PyObject *module);
void transport_forget(void);

#endif
