/* ddsc._core: the Python bindings of the C library. This module only converts data: buffers, and
 * dictionaries of settings, which field tables map to structs. The Python files define the names
 * and defaults of options, and the library defines their meaning. The bindings use the buffer
 * protocol instead of numpy's C API, so one build works with every version of numpy. */
#ifndef DDSC_PYTHON_CORE_H
#define DDSC_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "ddsc/ddsc.h"

/* ---- context: one per call, used by one thread at a time ---- */

typedef struct core_context {
    PyObject_HEAD ddsc_context *ctx;
    PyObject *progress;   /* callable(stage, done, total) or None */
    PyObject *warnings;   /* list of str */
    PyThreadState *saved; /* set while the interpreter lock is released */
    double last_look;     /* time of the last check for signals */
    bool failed;          /* a Python exception is set and is raised when the call ends */
    bool busy;
    int status;
} core_context;

extern PyTypeObject *context_type;

/* Releases the interpreter lock. Returns false with an exception if another thread uses the
 * context. */
bool context_begin(core_context *self);
/* Acquires the interpreter lock again. Returns true if the status is not an error, otherwise sets
 * an exception. */
bool context_end(core_context *self, ddsc_status status);

/* ---- handles: library objects, destroyed with their Python owner ---- */

typedef enum core_kind {
    CORE_MEASURES,
    CORE_GRAPH,
    CORE_CLUSTERING,
    CORE_MODEL,
    CORE_BARYCENTER,
    CORE_STABILITY,
    CORE_D2,
    CORE_MEMORY, /* freed with ddsc_release */
    CORE_UPDATE,
    CORE_INDEX,
    CORE_KINDS
} core_kind;

typedef struct core_handle {
    PyObject_HEAD void *pointer;
    core_context *context;
    core_kind kind;
    PyObject *owner;  /* handle of the object that `pointer` belongs to, or NULL */
    PyObject *needed; /* handle of an object that must outlive `pointer`, or NULL */
} core_handle;

extern PyTypeObject *handle_type;

/* Takes ownership of `pointer`, even on failure. */
PyObject *handle_new(core_context *context, core_kind kind, void *pointer);
/* Ends a call that created `pointer`. Returns its handle, or destroys it if the call failed. */
PyObject *handle_result(core_context *context, core_kind kind, void *pointer, ddsc_status status);
/* Does the same as handle_result for an object that uses the object of `needed`. */
PyObject *handle_result_of(core_context *context, core_kind kind, void *pointer, ddsc_status status,
                           PyObject *needed);
/* Returns a handle of an object that belongs to the object of `owner`. */
PyObject *handle_borrow(PyObject *owner, core_kind kind, const void *pointer);
/* Converters for "O&" of PyArg_ParseTuple. Each accepts a core_handle of its kind. */
int handle_measures(PyObject *object, void *out);
int handle_graph(PyObject *object, void *out);
int handle_clustering(PyObject *object, void *out);
int handle_model(PyObject *object, void *out);
int handle_stability(PyObject *object, void *out);
int handle_d2(PyObject *object, void *out);
int handle_index(PyObject *object, void *out);

/* Returns a read-only buffer of memory that `owner` keeps alive. The buffer is one-dimensional if
 * `columns` is -1. */
PyObject *block_new(PyObject *owner, const void *data, const char *format, int64_t rows,
                    int64_t columns);

/* ---- arguments ---- */

/* Acquires a C-contiguous buffer of one number type ('d', 'f', 'i' for int32 or 'q' for int64).
 * buffer_get_or_none accepts None, which gives an empty buffer. */
bool buffer_get(PyObject *object, Py_buffer *buffer, char type, int writable, const char *name);
bool buffer_get_or_none(PyObject *object, Py_buffer *buffer, char type, const char *name);
bool buffer_is(const Py_buffer *buffer, char type);
int64_t buffer_count(const Py_buffer *buffer);
/* Returns true if the buffer has at least `count` numbers, otherwise sets a ValueError. */
bool buffer_holds(const Py_buffer *buffer, int64_t count, const char *name);
/* Acquires a writable buffer for `count` numbers. None means that the caller does not request the
 * output. */
bool buffer_get_room(PyObject *object, Py_buffer *buffer, char type, int64_t count,
                     const char *name);

typedef enum field_type {
    FIELD_INT,
    FIELD_INT64,
    FIELD_DOUBLE,
    FIELD_TEXT,
    FIELD_MATRIX
} field_type;

/* A field of a settings struct. */
typedef struct core_field {
    const char *name;
    field_type type;
    size_t offset;
} core_field;

/* Copies the entries of a dictionary to the fields of a struct. A name that is not in the table
 * is an error. Texts and matrices are borrowed from the dictionary. The size of a square matrix
 * is stored in the int64_t that follows its address. */
bool fields_take(PyObject *dictionary, void *settings, const core_field *fields);
bool metric_take(PyObject *dictionary, ddsc_metric_settings *set);
bool graph_take(PyObject *dictionary, ddsc_graph_settings *set);
/* The settings of a clustering. set points to the other two members. */
typedef struct core_cluster {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} core_cluster;

/* Fills the settings from three dictionaries. */
bool cluster_take(PyObject *metric, PyObject *graph, PyObject *rest, core_cluster *c);
PyObject *stats_dictionary(const ddsc_pair_stats *stats);
/* Sets dictionary[name] = value and takes ownership of the reference. Returns false if value is
 * NULL. */
bool put(PyObject *dictionary, const char *name, PyObject *value);

/* A buffer for text that the library writes in parts. The caller frees `bytes` with free(). */
typedef struct core_text {
    char *bytes;
    size_t n;
} core_text;

/* A ddsc_write_fn whose `user` is a core_text. */
int text_grow(void *user, const void *bytes, size_t n);
/* Decodes text in which ids may not be valid UTF-8. */
PyObject *text_decode(const core_text *t);

/* The metadata columns that one call uses. `values` keeps the buffers of numbers alive. */
typedef struct core_columns {
    ddsc_column *column;
    const char **text; /* n_columns x n; NULL entries for columns of numbers */
    Py_buffer *values;
    Py_ssize_t n_columns;
} core_columns;

/* Converts a list of tuples (name, values, kind, role). The caller frees the columns even on
 * failure. */
bool columns_take(core_columns *c, PyObject *list, int64_t n);
void columns_free(core_columns *c);

/* ---- method tables of the module ---- */

extern PyMethodDef measures_methods[], view_methods[], pairs_methods[], cluster_methods[],
    transport_methods[], model_methods[], findings_methods[], report_methods[], diff_methods[],
    baseline_methods[], permanova_methods[], states_methods[], index_methods[];
int context_register(PyObject *module);
int handle_register(PyObject *module);
void transport_forget(void);

#endif
