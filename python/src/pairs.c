/* Computes distances, neighbors and the linear embedding. */
#include "core.h"

static int64_t n_items(const core_handle *measures)
{
    ddsc_measures_view v;
    ddsc_measures_get_view(measures->pointer, &v);
    return v.n_items;
}

static unsigned distance_flags(int squared, int condensed)
{
    return (squared ? DDSC_DISTANCE_SQUARED : 0u) | (condensed ? DDSC_DISTANCE_CONDENSED : 0u);
}

static PyObject *distance(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *out_of, *settings, *result = NULL;
    int condensed, squared;
    ddsc_metric_settings set;
    ddsc_pair_stats stats;
    Py_buffer out;
    (void)module;
    ddsc_pair_stats_init(&stats);
    if (!PyArg_ParseTuple(args, "O!OO&O!pp", context_type, &context, &out_of, handle_measures,
                          &measures, &PyDict_Type, &settings, &condensed, &squared) ||
        !metric_take(settings, &set) || !buffer_get(out_of, &out, 'd', 1, "out"))
        return NULL;
    int64_t n = n_items(measures);
    if (buffer_holds(&out, condensed ? n * (n - 1) / 2 : n * n, "out") && context_begin(context)) {
        ddsc_status status = ddsc_distance_run(context->ctx, out.buf, &stats, measures->pointer,
                                               &set, distance_flags(squared, condensed));
        if (context_end(context, status))
            result = stats_dictionary(&stats);
    }
    PyBuffer_Release(&out);
    return result;
}

static PyObject *cross(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *rows, *columns;
    PyObject *out_of, *settings, *result = NULL;
    int squared;
    ddsc_metric_settings set;
    ddsc_pair_stats stats;
    Py_buffer out;
    (void)module;
    ddsc_pair_stats_init(&stats);
    if (!PyArg_ParseTuple(args, "O!OO&O&O!p", context_type, &context, &out_of, handle_measures,
                          &rows, handle_measures, &columns, &PyDict_Type, &settings, &squared) ||
        !metric_take(settings, &set) || !buffer_get(out_of, &out, 'd', 1, "out"))
        return NULL;
    if (buffer_holds(&out, n_items(rows) * n_items(columns), "out") && context_begin(context)) {
        ddsc_status status = ddsc_cross_run(context->ctx, out.buf, &stats, rows->pointer,
                                            columns->pointer, &set, distance_flags(squared, 0));
        if (context_end(context, status))
            result = stats_dictionary(&stats);
    }
    PyBuffer_Release(&out);
    return result;
}

static PyObject *graph_result(core_context *context, ddsc_graph *graph,
                              const ddsc_pair_stats *stats)
{
    PyObject *handle = handle_new(context, CORE_GRAPH, graph);
    PyObject *dictionary = handle ? stats_dictionary(stats) : NULL;
    if (dictionary)
        return Py_BuildValue("NN", handle, dictionary);
    Py_XDECREF(handle);
    return NULL;
}

static PyObject *neighbors(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *metric, *settings;
    ddsc_metric_settings metric_set;
    ddsc_graph_settings set;
    ddsc_pair_stats stats;
    ddsc_graph *graph = NULL;
    (void)module;
    ddsc_pair_stats_init(&stats);
    if (!PyArg_ParseTuple(args, "O!O&O!O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &metric, &PyDict_Type, &settings) ||
        !metric_take(metric, &metric_set) || !graph_take(settings, &set) || !context_begin(context))
        return NULL;
    ddsc_status status =
        ddsc_neighbors_run(context->ctx, &graph, &stats, measures->pointer, &metric_set, &set);
    if (context_end(context, status))
        return graph_result(context, graph, &stats);
    ddsc_graph_destroy(graph);
    return NULL;
}

static PyObject *graph_from_matrix(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *matrix_of, *settings, *result = NULL;
    int squared;
    ddsc_graph_settings set;
    Py_buffer matrix;
    ddsc_graph *graph = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OpO!", context_type, &context, &matrix_of, &squared,
                          &PyDict_Type, &settings) ||
        !graph_take(settings, &set) || !buffer_get(matrix_of, &matrix, 'd', 0, "X"))
        return NULL;
    if (matrix.ndim != 2 || matrix.shape[0] != matrix.shape[1]) {
        PyErr_SetString(PyExc_ValueError, "a precomputed X must be a square matrix");
    } else if (context_begin(context)) {
        ddsc_status status = ddsc_graph_create_from_matrix(
            context->ctx, &graph, matrix.shape[0], matrix.buf, distance_flags(squared, 0), &set);
        result = handle_result(context, CORE_GRAPH, graph, status);
    }
    PyBuffer_Release(&matrix);
    return result;
}

static PyObject *graph_tau(PyObject *module, PyObject *args)
{
    long long n;
    PyObject *settings;
    ddsc_graph_settings set;
    (void)module;
    if (!PyArg_ParseTuple(args, "LO!", &n, &PyDict_Type, &settings) || !graph_take(settings, &set))
        return NULL;
    return PyLong_FromLongLong(ddsc_graph_get_tau(n, &set));
}

static PyObject *graph_from_csr(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *object[3], *result = NULL;
    Py_buffer offsets = {0}, indices = {0}, d2 = {0};
    ddsc_graph *graph = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOO", context_type, &context, &object[0], &object[1],
                          &object[2]))
        return NULL;
    if (buffer_get(object[0], &offsets, 'q', 0, "offsets") &&
        buffer_get(object[1], &indices, 'i', 0, "indices") &&
        buffer_get(object[2], &d2, 'd', 0, "d2") && buffer_holds(&offsets, 1, "offsets")) {
        int64_t n = buffer_count(&offsets) - 1, n_edges = ((const int64_t *)offsets.buf)[n];
        if (buffer_holds(&indices, n_edges, "indices") && buffer_holds(&d2, n_edges, "d2") &&
            context_begin(context)) {
            ddsc_status status = ddsc_graph_create_from_csr(context->ctx, &graph, n, offsets.buf,
                                                            indices.buf, d2.buf);
            if (context_end(context, status))
                result = handle_new(context, CORE_GRAPH, graph);
        }
    }
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&indices);
    PyBuffer_Release(&d2);
    return result;
}

static PyObject *graph_view(PyObject *module, PyObject *args)
{
    core_handle *graph;
    ddsc_graph_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_graph, &graph))
        return NULL;
    ddsc_graph_get_view(graph->pointer, &v);
    PyObject *owner = (PyObject *)graph, *d = PyDict_New();
    if (d && put(d, "n", PyLong_FromLongLong(v.n)) && put(d, "tau", PyLong_FromLongLong(v.tau)) &&
        put(d, "offsets", block_new(owner, v.offset, "q", v.n + 1, -1)) &&
        put(d, "indices", block_new(owner, v.index, "i", v.n_edges, -1)) &&
        put(d, "d2", block_new(owner, v.d2, "d", v.n_edges, -1)) &&
        (!v.scale || put(d, "scale", block_new(owner, v.scale, "d", v.n, -1))))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *embed(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *settings;
    ddsc_metric_settings set;
    ddsc_pair_stats stats;
    double *z = NULL;
    int64_t n_columns = 0;
    (void)module;
    ddsc_pair_stats_init(&stats);
    if (!PyArg_ParseTuple(args, "O!O&O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &settings) ||
        !metric_take(settings, &set) || !context_begin(context))
        return NULL;
    ddsc_status status =
        ddsc_embed_run(context->ctx, &z, &n_columns, &stats, measures->pointer, &set);
    if (!context_end(context, status)) {
        ddsc_release(context->ctx, z);
        return NULL;
    }
    PyObject *owner = handle_new(context, CORE_MEMORY, z);
    PyObject *block = owner ? block_new(owner, z, "d", n_items(measures), n_columns) : NULL;
    Py_XDECREF(owner);
    PyObject *dictionary = block ? stats_dictionary(&stats) : NULL;
    if (dictionary)
        return Py_BuildValue("NN", block, dictionary);
    Py_XDECREF(block);
    return NULL;
}

static PyObject *reference(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *settings;
    ddsc_metric_settings set;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &settings) ||
        !metric_take(settings, &set) || !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_reference_create(context->ctx, &made, measures->pointer, &set);
    return handle_result(context, CORE_MEASURES, made, status);
}

PyMethodDef pairs_methods[] = {
    {"distance", distance, METH_VARARGS, "(context, out, measures, metric, condensed, squared)"},
    {"cross", cross, METH_VARARGS, "(context, out, rows, columns, metric, squared)"},
    {"neighbors", neighbors, METH_VARARGS, "(context, measures, metric, graph)"},
    {"graph_from_matrix", graph_from_matrix, METH_VARARGS, "(context, matrix, squared, graph)"},
    {"graph_tau", graph_tau, METH_VARARGS, "(n, graph)"},
    {"graph_from_csr", graph_from_csr, METH_VARARGS, "(context, offsets, indices, d2)"},
    {"graph_view", graph_view, METH_VARARGS, "(graph)"},
    {"embed", embed, METH_VARARGS, "(context, measures, metric)"},
    {"reference", reference, METH_VARARGS, "(context, measures, metric)"},
    {NULL, NULL, 0, NULL}};
