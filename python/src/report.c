/* Writes reports with the library: JSON, tables and pages. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Converts a handle, or None to NULL. */
static bool handle_or_none(PyObject *object, int (*of)(PyObject *, void *), const void **pointer)
{
    core_handle *handle = NULL;
    *pointer = NULL;
    if (object == Py_None)
        return true;
    if (!of(object, &handle))
        return false;
    *pointer = handle->pointer;
    return true;
}

/* Reads the clusters of a clustering, a D2 result or a tuple (labels, inertia). */
static bool take_found(PyObject *found, ddsc_report_source *from, Py_buffer *labels)
{
    core_handle *handle = (core_handle *)found;
    PyObject *labels_of;
    if (PyTuple_Check(found)) {
        if (!PyArg_ParseTuple(found, "Od", &labels_of, &from->inertia) ||
            !buffer_get(labels_of, labels, 'i', 0, "labels"))
            return false;
        from->labels = labels->buf;
    } else if (PyObject_TypeCheck(found, handle_type) && handle->kind == CORE_D2) {
        from->d2 = handle->pointer;
    } else if (PyObject_TypeCheck(found, handle_type) && handle->kind == CORE_UPDATE) {
        ddsc_update_view v;
        ddsc_update_get_view(handle->pointer, &v);
        from->update = handle->pointer;
        from->clustering = v.clustering;
    } else {
        if (!handle_clustering(found, &handle))
            return false;
        from->clustering = handle->pointer;
    }
    return true;
}

enum { MORE_SETTINGS = 16 };

/* Reads a dictionary of texts, integers and booleans. The texts are borrowed from it. */
static bool take_settings(PyObject *more, ddsc_report_setting *list, int64_t *n)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    for (*n = 0; *n < MORE_SETTINGS && PyDict_Next(more, &at, &key, &value); ++*n) {
        ddsc_report_setting s = {.name = PyUnicode_AsUTF8AndSize(key, NULL)};
        if (PyUnicode_Check(value)) {
            s.text = PyUnicode_AsUTF8AndSize(value, NULL);
        } else {
            s.kind = PyBool_Check(value) ? DDSC_SETTING_FLAG : DDSC_SETTING_NUMBER;
            s.number = PyLong_AsLongLong(value);
        }
        list[*n] = s;
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

static PyObject *report_json(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *part[3], *found, *metric, *graph, *settings, *more;
    Py_buffer labels = {0};
    ddsc_report_source from;
    ddsc_report_origin origin;
    ddsc_report_setting list[MORE_SETTINGS];
    core_cluster c;
    const void *measures, *made_from, *stability;
    int converged, outliers;
    (void)module;
    ddsc_report_source_init(&from);
    ddsc_report_origin_init(&origin);
    if (!PyArg_ParseTuple(args, "O!OOOOO!O!O!ppsO!", context_type, &context, &part[0], &found,
                          &part[1], &part[2], &PyDict_Type, &metric, &PyDict_Type, &graph,
                          &PyDict_Type, &settings, &converged, &outliers, &origin.method,
                          &PyDict_Type, &more) ||
        !take_settings(more, list, &origin.n_settings) ||
        !handle_or_none(part[0], handle_measures, &measures) ||
        !handle_or_none(part[1], handle_graph, &made_from) ||
        !handle_or_none(part[2], handle_stability, &stability) ||
        !cluster_take(metric, graph, settings, &c))
        return NULL;
    ddsc_report *report = NULL;
    ddsc_measures_view v;
    ddsc_measures_get_view(measures, &v);
    if (!take_found(found, &from, &labels) ||
        (from.labels && !buffer_holds(&labels, v.n_items, "labels")) || !context_begin(context)) {
        PyBuffer_Release(&labels);
        return NULL;
    }
    from.measures = measures;
    from.graph = made_from;
    from.stability = stability;
    from.settings = &c.set;
    from.truth = v.label;
    from.outliers = outliers;
    origin.settings = list;
    from.origin = &origin;
    from.status = converged ? DDSC_OK : DDSC_NOT_CONVERGED;
    core_text json = {0}, items = {0};
    PyObject *result = NULL;
    ddsc_status status = ddsc_report_create(context->ctx, &report, &from);
    if (status >= 0)
        status = ddsc_report_write(context->ctx, report, DDSC_REPORT_JSON, text_grow, &json);
    if (status >= 0 && from.clustering)
        status = ddsc_report_write(context->ctx, report, DDSC_REPORT_ITEMS, text_grow, &items);
    ddsc_report_destroy(report);
    if (context_end(context, status))
        result = Py_BuildValue("NN", text_decode(&json), text_decode(&items));
    PyBuffer_Release(&labels);
    free(json.bytes);
    free(items.bytes);
    return result;
}

static PyObject *report_page(PyObject *module, PyObject *args)
{
    core_context *context;
    const char *folder;
    int form = DDSC_REPORT_HTML;
    ddsc_report *report = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!s|i", context_type, &context, &folder, &form) ||
        !context_begin(context))
        return NULL;
    core_text page = {0};
    PyObject *result = NULL;
    ddsc_status status = ddsc_report_read(context->ctx, &report, folder);
    if (status >= 0)
        status = ddsc_report_write(context->ctx, report, (ddsc_report_form)form, text_grow, &page);
    ddsc_report_destroy(report);
    if (context_end(context, status))
        result = text_decode(&page);
    free(page.bytes);
    return result;
}

static PyObject *layout(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *graph;
    PyObject *xy_of, *start_of;
    Py_buffer xy = {0}, start = {0};
    ddsc_graph_view g;
    bool good = false;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO&O", context_type, &context, &xy_of, handle_graph, &graph,
                          &start_of))
        return NULL;
    ddsc_graph_get_view(graph->pointer, &g);
    if (buffer_get(xy_of, &xy, 'd', 1, "xy") && buffer_get(start_of, &start, 'd', 0, "start") &&
        buffer_holds(&xy, 2 * g.n, "xy") && buffer_holds(&start, 2 * g.n, "start") &&
        context_begin(context))
        good =
            context_end(context, ddsc_layout_run(context->ctx, xy.buf, graph->pointer, start.buf));
    PyBuffer_Release(&xy);
    PyBuffer_Release(&start);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef report_methods[] = {
    {"report_json", report_json, METH_VARARGS,
     "(context, measures, clustering, graph, stability, metric, "
     "graph_settings, settings, converged, outliers, method, more)"},
    {"report_page", report_page, METH_VARARGS, "(context, folder, form=3)"},
    {"layout", layout, METH_VARARGS, "(context, xy, graph, start)"},
    {NULL, NULL, 0, NULL}};
