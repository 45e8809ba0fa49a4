/* Keeps the neighbor graph of a model up to date while items are added and removed. */
#include "core.h"

static PyObject *index_open(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *model;
    ddsc_index *index = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&", context_type, &context, handle_model, &model) ||
        !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_index_open(context->ctx, &index, model->pointer);
    return handle_result_of(context, CORE_INDEX, index, status, (PyObject *)model);
}

static PyObject *index_update(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *index, *measures = NULL;
    PyObject *added, *removed_of;
    Py_buffer removed;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&OO", context_type, &context, handle_index, &index, &added,
                          &removed_of) ||
        (added != Py_None && !handle_measures(added, &measures)) ||
        !buffer_get(removed_of, &removed, 'q', 0, "removed"))
        return NULL;
    bool good = context_begin(context) &&
                context_end(context, ddsc_index_update(context->ctx, index->pointer,
                                                       measures ? measures->pointer : NULL,
                                                       buffer_count(&removed), removed.buf));
    PyBuffer_Release(&removed);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *index_graph(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *index;
    ddsc_graph *graph = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&", context_type, &context, handle_index, &index) ||
        !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_index_create_graph(context->ctx, &graph, index->pointer);
    return handle_result(context, CORE_GRAPH, graph, status);
}

static PyObject *index_view(PyObject *module, PyObject *args)
{
    core_handle *index;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_index, &index))
        return NULL;
    return Py_BuildValue("{sLsL}", "n", (long long)ddsc_index_get_count(index->pointer), "searched",
                         (long long)ddsc_index_get_searched(index->pointer));
}

PyMethodDef index_methods[] = {
    {"index_open", index_open, METH_VARARGS, "(context, model)"},
    {"index_update", index_update, METH_VARARGS, "(context, index, added, removed)"},
    {"index_graph", index_graph, METH_VARARGS, "(context, index)"},
    {"index_view", index_view, METH_VARARGS, "(index)"},
    {NULL, NULL, 0, NULL}};
