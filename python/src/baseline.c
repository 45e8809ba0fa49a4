/* Implements the baselines: conversion of items to plain vectors, k-means, and D2 clustering around
 * barycenters. */
#include "core.h"

static PyObject *vectors(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    int rule;
    double *made = NULL;
    int64_t n_columns = 0;
    ddsc_measures_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&i", context_type, &context, handle_measures, &measures,
                          &rule) ||
        !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_vectors_run(context->ctx, &made, &n_columns, measures->pointer,
                                          (ddsc_vectors_rule)rule);
    if (!context_end(context, status)) {
        ddsc_release(context->ctx, made);
        return NULL;
    }
    ddsc_measures_get_view(measures->pointer, &v);
    PyObject *owner = handle_new(context, CORE_MEMORY, made);
    PyObject *block = owner ? block_new(owner, made, "d", v.n_items, n_columns) : NULL;
    Py_XDECREF(owner);
    return block;
}

/* Gets the rows of a matrix. The caller releases the buffer. */
static bool rows_get(PyObject *object, Py_buffer *rows)
{
    if (!buffer_get(object, rows, 'd', 0, "vectors"))
        return false;
    if (rows->ndim == 2)
        return true;
    PyErr_SetString(PyExc_ValueError, "vectors must be a matrix");
    return false;
}

static PyObject *graph_from_vectors(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *rows_of, *settings, *result = NULL;
    Py_buffer rows = {0};
    ddsc_graph_settings set;
    ddsc_graph *graph = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO!", context_type, &context, &rows_of, &PyDict_Type,
                          &settings) ||
        !graph_take(settings, &set))
        return NULL;
    if (rows_get(rows_of, &rows) && context_begin(context)) {
        ddsc_status status = ddsc_graph_create_from_vectors(context->ctx, &graph, rows.shape[0],
                                                            rows.shape[1], rows.buf, &set);
        if (context_end(context, status))
            result = handle_new(context, CORE_GRAPH, graph);
    }
    PyBuffer_Release(&rows);
    return result;
}

static PyObject *kmeans(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *rows_of, *labels_of, *result = NULL;
    Py_buffer rows = {0}, labels = {0};
    long long k, restarts;
    double inertia = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOLL", context_type, &context, &labels_of, &rows_of, &k,
                          &restarts))
        return NULL;
    if (rows_get(rows_of, &rows) && buffer_get(labels_of, &labels, 'i', 1, "labels") &&
        buffer_holds(&labels, rows.shape[0], "labels") && context_begin(context)) {
        ddsc_status status = ddsc_kmeans_run(context->ctx, labels.buf, &inertia, rows.shape[0],
                                             rows.shape[1], rows.buf, k, restarts);
        if (context_end(context, status))
            result = PyFloat_FromDouble(inertia);
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&labels);
    return result;
}

#define D2(name, type)                                \
    {                                                 \
#name, type, offsetof(ddsc_d2_settings, name) \
    }
static const core_field d2_fields[] = {
    D2(k, FIELD_INT64),        D2(method, FIELD_INT), D2(support_size, FIELD_INT64),
    D2(restarts, FIELD_INT64), D2(cost, FIELD_INT64), D2(cost_matrix, FIELD_MATRIX),
    {NULL, FIELD_INT, 0}};

static PyObject *d2(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *settings;
    ddsc_d2_settings set;
    ddsc_d2 *found = NULL;
    (void)module;
    ddsc_d2_settings_init(&set);
    if (!PyArg_ParseTuple(args, "O!O&O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &settings) ||
        !fields_take(settings, &set, d2_fields) || !context_begin(context))
        return NULL;
    if (context_end(context, ddsc_d2_run(context->ctx, &found, measures->pointer, &set)))
        return handle_new(context, CORE_D2, found);
    ddsc_d2_destroy(found);
    return NULL;
}

static PyObject *d2_view(PyObject *module, PyObject *args)
{
    core_handle *found;
    ddsc_d2_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_d2, &found))
        return NULL;
    ddsc_d2_get_view(found->pointer, &v);
    PyObject *owner = (PyObject *)found, *d = PyDict_New();
    if (d && put(d, "k", PyLong_FromLongLong(v.k)) &&
        put(d, "converged", PyBool_FromLong(v.converged)) &&
        put(d, "center_size", PyLong_FromLongLong(v.center_size)) &&
        put(d, "labels", block_new(owner, v.labels, "i", v.n, -1)) &&
        put(d, "objective", block_new(owner, v.objective, "d", v.n_objective, -1)) &&
        put(d, "support", block_new(owner, v.support, "d", v.k * v.center_size, v.dim)) &&
        put(d, "weights", block_new(owner, v.weights, "d", v.k * v.center_size, -1)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyMethodDef baseline_methods[] = {
    {"vectors", vectors, METH_VARARGS, "(context, measures, rule)"},
    {"graph_from_vectors", graph_from_vectors, METH_VARARGS, "(context, vectors, graph)"},
    {"kmeans", kmeans, METH_VARARGS, "(context, labels, vectors, k, restarts)"},
    {"d2", d2, METH_VARARGS, "(context, measures, settings)"},
    {"d2_view", d2_view, METH_VARARGS, "(d2)"},
    {NULL, NULL, 0, NULL}};
