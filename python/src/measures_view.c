/* Provides views of the arrays of a set, its names, and transforms. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

typedef const char *(*name_fn)(const ddsc_measures *measures, int64_t i);

/* Returns a list of n names, or None if there are none. */
static PyObject *name_list(const ddsc_measures *measures, name_fn get, int64_t n)
{
    if (n == 0 || !get(measures, 0))
        return Py_NewRef(Py_None);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        const char *text = get(measures, i);
        PyObject *name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *step_list(const ddsc_measures *m)
{
    PyObject *list = PyList_New(0);
    for (int64_t k = 0; list && ddsc_measures_get_transform(m, k); k++) {
        PyObject *name = PyUnicode_FromString(ddsc_measures_get_transform(m, k));
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* Returns the batch column followed by the names of the batches, or None. */
static PyObject *batch_list(const ddsc_measures *m)
{
    int64_t n = 0;
    while (ddsc_measures_get_batch(m, n))
        n++;
    return name_list(m, ddsc_measures_get_batch, n);
}

/* Returns a dictionary {column: values by row}. */
static PyObject *meta_of(const ddsc_measures *m, int64_t n)
{
    PyObject *d = PyDict_New();
    const char *name;
    for (int64_t k = 0; d && (name = ddsc_measures_get_meta_name(m, k)); k++) {
        PyObject *list = PyList_New((Py_ssize_t)n);
        bool good = list != NULL;
        for (int64_t i = 0; good && i < n; i++) {
            PyObject *value = PyUnicode_FromString(ddsc_measures_get_meta(m, i, k));
            good = value && PyList_SetItem(list, (Py_ssize_t)i, value) == 0;
        }
        if (!good || PyDict_SetItemString(d, name, list) < 0)
            Py_CLEAR(d);
        Py_XDECREF(list);
    }
    return d;
}

static bool put_names(PyObject *d, core_handle *measures, const ddsc_measures_view *v)
{
    PyObject *ids = PyList_New((Py_ssize_t)v->n_rows);
    PyObject *names = PyList_New((Py_ssize_t)v->n_label_names);
    bool good = ids && names;
    for (int64_t i = 0; good && i < v->n_rows; i++) {
        PyObject *id = PyUnicode_FromString(ddsc_measures_get_id(measures->pointer, i));
        good = id && PyList_SetItem(ids, (Py_ssize_t)i, id) == 0;
    }
    for (int64_t i = 0; good && i < v->n_label_names; i++) {
        const char *text = ddsc_measures_get_label_name(measures->pointer, (int32_t)i);
        PyObject *name = PyUnicode_FromString(text ? text : "");
        good = name && PyList_SetItem(names, (Py_ssize_t)i, name) == 0;
    }
    good = put(d, "ids", good ? ids : NULL) && put(d, "label_names", good ? names : NULL);
    return good &&
           put(d, "coordinate_names",
               name_list(measures->pointer, ddsc_measures_get_coordinate_name, v->dim)) &&
           put(d, "point_names",
               name_list(measures->pointer, ddsc_measures_get_point_name, v->n_support)) &&
           put(d, "titles", name_list(measures->pointer, ddsc_measures_get_title, v->n_rows)) &&
           put(d, "transforms", step_list(measures->pointer)) &&
           put(d, "batches", batch_list(measures->pointer)) &&
           put(d, "meta", meta_of(measures->pointer, v->n_rows));
}

/* Returns (cells, origin, step) for each axis of the grid of the support, or None. */
static PyObject *grid_of(const ddsc_measures_view *v)
{
    PyObject *grid = v->is_grid ? PyList_New(0) : Py_None;
    if (!v->is_grid) {
        Py_INCREF(grid);
        return grid;
    }
    for (int64_t k = 0; grid && k < v->dim; k++) {
        PyObject *axis =
            Py_BuildValue("Ldd", (long long)v->grid_shape[k], v->grid_origin[k], v->grid_step[k]);
        if (!axis || PyList_Append(grid, axis) < 0)
            Py_CLEAR(grid);
        Py_XDECREF(axis);
    }
    return grid;
}

static PyObject *measures_view(PyObject *module, PyObject *args)
{
    core_handle *measures;
    ddsc_measures_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_measures, &measures))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &v);
    PyObject *owner = (PyObject *)measures, *d = PyDict_New();
    bool good = d && put(d, "n_items", PyLong_FromLongLong(v.n_items)) &&
                put(d, "n_rows", PyLong_FromLongLong(v.n_rows)) &&
                put(d, "n_words", PyLong_FromLongLong(v.n_words)) &&
                put(d, "dim", PyLong_FromLongLong(v.dim)) && put(d, "grid", grid_of(&v)) &&
                put(d, "support", block_new(owner, v.support, "d", v.n_support, v.dim)) &&
                put(d, "offsets", block_new(owner, v.offset, "q", v.n_items + 1, -1)) &&
                put(d, "indices", block_new(owner, v.index, "i", v.n_entries, -1)) &&
                put(d, "weights", block_new(owner, v.weight, "d", v.n_entries, -1)) &&
                put(d, "rows", block_new(owner, v.row, "q", v.n_items, -1)) &&
                (!v.label || put(d, "labels", block_new(owner, v.label, "i", v.n_rows, -1)));
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *measures_names(PyObject *module, PyObject *args)
{
    core_handle *measures;
    ddsc_measures_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_measures, &measures))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &v);
    PyObject *d = PyDict_New();
    if (d && put_names(d, measures, &v))
        return d;
    Py_XDECREF(d);
    return NULL;
}

/* ---- changing names ---- */

/* Returns the n strings of a list, or NULL for None. The caller frees the array. */
static bool texts_take(PyObject *list, const char ***text, int64_t n, const char *what)
{
    *text = NULL;
    if (list == Py_None)
        return true;
    if (!PyList_Check(list) || PyList_Size(list) != n) {
        PyErr_Format(PyExc_ValueError, "%s: expected %lld names", what, (long long)n);
        return false;
    }
    *text = calloc((size_t)n + 1, sizeof **text);
    if (!*text)
        PyErr_NoMemory();
    bool good = *text != NULL;
    for (int64_t i = 0; good && i < n; i++)
        good = ((*text)[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, (Py_ssize_t)i), NULL));
    return good;
}

static PyObject *described(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *list[3], *result = NULL;
    const char **text[3] = {NULL, NULL, NULL};
    ddsc_measures_view v;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&OOO", context_type, &context, handle_measures, &measures,
                          &list[0], &list[1], &list[2]))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &v);
    if (texts_take(list[0], &text[0], v.dim, "coordinate_names") &&
        texts_take(list[1], &text[1], v.n_support, "point_names") &&
        texts_take(list[2], &text[2], v.n_rows, "titles") && context_begin(context)) {
        ddsc_status status = ddsc_measures_copy_described(context->ctx, &made, measures->pointer,
                                                          text[0], text[1], text[2]);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
    for (int k = 0; k < 3; k++)
        free(text[k]);
    return result;
}

/* Returns a copy with metadata columns. The values are given row by row. */
static PyObject *about(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *names, *values, *result = NULL;
    const char **name = NULL, **value = NULL;
    ddsc_measures_view v;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O!O!", context_type, &context, handle_measures, &measures,
                          &PyList_Type, &names, &PyList_Type, &values))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &v);
    int64_t n = (int64_t)PyList_Size(names);
    if (texts_take(names, &name, n, "meta") && texts_take(values, &value, n * v.n_rows, "meta") &&
        context_begin(context)) {
        ddsc_status status =
            ddsc_measures_copy_about(context->ctx, &made, measures->pointer, n, name, value);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
    free(name);
    free(value);
    return result;
}

static PyObject *read_meta(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    const char *path, *id;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&sz", context_type, &context, handle_measures, &measures, &path,
                          &id) ||
        !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_measures_read_meta(context->ctx, &made, measures->pointer, path, id);
    return handle_result(context, CORE_MEASURES, made, status);
}

/* ---- transforms ---- */

#define STEP(name, type)                                     \
    {                                                        \
#name, type, offsetof(ddsc_transform_settings, name) \
    }
static const core_field transform_fields[] = {
    STEP(arcsinh, FIELD_TEXT), STEP(log1p, FIELD_INT),      STEP(normalize, FIELD_INT),
    STEP(pca, FIELD_INT64),    STEP(per_item, FIELD_INT64), STEP(align, FIELD_INT),
    STEP(logicle, FIELD_TEXT), STEP(batch, FIELD_TEXT),     {NULL, FIELD_INT, 0}};

static PyObject *transformed(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *settings;
    ddsc_transform_settings set;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &settings))
        return NULL;
    ddsc_transform_settings_init(&set);
    if (!fields_take(settings, &set, transform_fields) || !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_measures_transform(context->ctx, &made, measures->pointer, &set);
    return handle_result(context, CORE_MEASURES, made, status);
}

/* Returns the files that the readers open in addition to a file of items or of word vectors. */
static PyObject *find_companions(PyObject *module, PyObject *args)
{
    const char *path;
    int vectors;
    char found[PATH_MAX];
    PyObject *list = PyList_New(0);
    (void)module;
    if (!list || !PyArg_ParseTuple(args, "sp", &path, &vectors)) {
        Py_XDECREF(list);
        return NULL;
    }
    for (int64_t k = 0; vectors ? k == 0 && ddsc_text_find_words(found, sizeof found, path) > 0
                                : ddsc_measures_find_table(found, sizeof found, path, k) > 0;
         k++) {
        PyObject *text = PyUnicode_DecodeFSDefault(found);
        if (!text || PyList_Append(list, text) != 0) {
            Py_XDECREF(text);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(text);
    }
    return list;
}

PyMethodDef view_methods[] = {
    {"measures_view", measures_view, METH_VARARGS, "(measures)"},
    {"measures_names", measures_names, METH_VARARGS, "(measures)"},
    {"find_companions", find_companions, METH_VARARGS, "(path, vectors)"},
    {"transformed", transformed, METH_VARARGS, "(context, measures, settings)"},
    {"about", about, METH_VARARGS, "(context, measures, names, values)"},
    {"read_meta", read_meta, METH_VARARGS, "(context, measures, path, id)"},
    {"described", described, METH_VARARGS, "(context, measures, coordinates, points, titles)"},
    {NULL, NULL, 0, NULL}};
