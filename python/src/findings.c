/* Evaluates a clustering: ambiguity of items, stability under resampling, and the comparison of
 * metrics. */
#include "core.h"

static PyObject *standing(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *found;
    PyObject *object[3];
    Py_buffer distance = {0}, ambiguity = {0}, next = {0};
    ddsc_clustering_view v;
    bool good = false;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&OOO", context_type, &context, handle_clustering, &found,
                          &object[0], &object[1], &object[2]))
        return NULL;
    ddsc_clustering_get_view(found->pointer, &v);
    if (buffer_get_room(object[0], &distance, 'd', v.n, "distance") &&
        buffer_get_room(object[1], &ambiguity, 'd', v.n, "ambiguity") &&
        buffer_get_room(object[2], &next, 'i', v.n, "next") && context_begin(context)) {
        ddsc_standing to;
        ddsc_standing_init(&to);
        to.distance = distance.buf;
        to.ambiguity = ambiguity.buf;
        to.next = next.buf;
        good = context_end(context, ddsc_standing_run(context->ctx, &to, v.n, v.n_vectors,
                                                      v.embedding, v.labels, v.k));
    }
    PyBuffer_Release(&distance);
    PyBuffer_Release(&ambiguity);
    PyBuffer_Release(&next);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

/* Writes the memberships of the items. measures may be None. */
static PyObject *membership(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *found, *measures = NULL;
    PyObject *of, *to;
    Py_buffer out = {0};
    ddsc_clustering_view v;
    bool good = false;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&OO", context_type, &context, handle_clustering, &found, &of,
                          &to) ||
        (of != Py_None && !handle_measures(of, &measures)))
        return NULL;
    ddsc_clustering_get_view(found->pointer, &v);
    if (buffer_get_room(to, &out, 'd', v.n * v.k, "membership") && context_begin(context))
        good = context_end(context, ddsc_membership_run(context->ctx, out.buf, NULL, found->pointer,
                                                        measures ? measures->pointer : NULL));
    PyBuffer_Release(&out);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *project(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *xy_of, *rows_of;
    Py_buffer xy = {0}, rows = {0};
    bool good = false;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO", context_type, &context, &xy_of, &rows_of))
        return NULL;
    if (buffer_get(rows_of, &rows, 'd', 0, "rows") && buffer_get(xy_of, &xy, 'd', 1, "xy")) {
        int64_t n = buffer_count(&xy) / 2, dim = n > 0 ? buffer_count(&rows) / n : 0;
        if (context_begin(context))
            good = context_end(context, ddsc_project_run(context->ctx, xy.buf, n, dim, rows.buf));
    }
    PyBuffer_Release(&xy);
    PyBuffer_Release(&rows);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- stability ---- */

static PyObject *resample(const ddsc_stability_row *r)
{
    return Py_BuildValue("{sdsdsdsdsdsdsdsdsdsdsLsLsdsdsdsd}", "sin_theta", r->sin_theta, "zeta",
                         r->zeta, "zeta_common", r->zeta_common, "edges_kept", r->edges_kept,
                         "laplacian", r->laplacian, "gap", r->gap, "theorem_bound",
                         r->theorem_bound, "direct_bound", r->direct_bound, "ari", r->ari, "ami",
                         r->ami, "n_changed", (long long)r->n_changed, "n_components",
                         (long long)r->n_components, "similarity_change", r->similarity_change,
                         "lemma_2_bound", r->lemma_2_bound, "laplacian_largest",
                         r->laplacian_largest, "lemma_3_bound", r->lemma_3_bound);
}

static PyObject *resamples(const ddsc_stability_view *v)
{
    PyObject *list = PyList_New((Py_ssize_t)v->n_resamples);
    for (int64_t b = 0; list && b < v->n_resamples; b++) {
        PyObject *row = resample(v->rows[b]);
        if (!row || PyList_SetItem(list, (Py_ssize_t)b, row) < 0) {
            Py_DECREF(list);
            list = NULL;
        }
    }
    return list;
}

static PyObject *stability_result(core_context *context, ddsc_stability *found)
{
    ddsc_stability_view v;
    ddsc_stability_get_view(found, &v);
    PyObject *owner = handle_new(context, CORE_STABILITY, found), *d = PyDict_New();
    bool good = owner && d && put(d, "rows", resamples(&v)) && put(d, "mean", resample(v.mean)) &&
                put(d, "worst", resample(v.worst)) && put(d, "gap", PyFloat_FromDouble(v.gap)) &&
                put(d, "alpha", PyFloat_FromDouble(v.alpha)) &&
                put(d, "sin_limit", PyFloat_FromDouble(v.sin_limit)) &&
                put(d, "n_ever", PyLong_FromLongLong(v.n_ever)) &&
                put(d, "n_often", PyLong_FromLongLong(v.n_often)) &&
                put(d, "theorem_vacuous", PyBool_FromLong(v.theorem_vacuous)) &&
                put(d, "direct_vacuous", PyBool_FromLong(v.direct_vacuous)) &&
                put(d, "words", PyUnicode_FromString(v.words)) &&
                put(d, "labels", block_new(owner, v.labels, "i", v.n_resamples, v.n)) &&
                put(d, "n_changed", block_new(owner, v.n_changed, "q", v.n, -1)) &&
                put(d, "other", block_new(owner, v.other, "i", v.n, -1)) &&
                put(d, "handle", (Py_XINCREF(owner), owner));
    Py_XDECREF(owner);
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *stability(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures, *first;
    PyObject *metric, *graph, *settings;
    long long n_resamples;
    core_cluster c;
    ddsc_stability_settings own;
    ddsc_stability *found = NULL;
    (void)module;
    ddsc_stability_settings_init(&own);
    if (!PyArg_ParseTuple(args, "O!O&O&O!O!O!L", context_type, &context, handle_measures, &measures,
                          handle_clustering, &first, &PyDict_Type, &metric, &PyDict_Type, &graph,
                          &PyDict_Type, &settings, &n_resamples) ||
        !cluster_take(metric, graph, settings, &c) || !context_begin(context))
        return NULL;
    own.n_resamples = n_resamples;
    if (context_end(context, ddsc_stability_run(context->ctx, &found, measures->pointer,
                                                first->pointer, &c.set, &own)))
        return stability_result(context, found);
    ddsc_stability_destroy(found);
    return NULL;
}

/* ---- several metrics ---- */

static PyObject *compare_rows(const ddsc_compare_view *v)
{
    PyObject *list = PyList_New((Py_ssize_t)v->n_metrics);
    for (int64_t i = 0; list && i < v->n_metrics; i++) {
        const ddsc_compare_row *r = v->rows[i];
        PyObject *row = Py_BuildValue(
            "{sisLsdsdsdsdsisi}", "metric", (int)r->metric, "k", (long long)r->k, "stability",
            r->stability, "modularity", r->modularity, "agreement", r->agreement, "seconds",
            r->seconds, "structure", (int)r->structure, "level", (int)r->level);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0) {
            Py_DECREF(list);
            list = NULL;
        }
    }
    return list;
}

static PyObject *bytes_of(const void *data, int64_t n, size_t size)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)((size_t)n * size));
}

static PyObject *compare_result(const ddsc_compare *found)
{
    ddsc_compare_view v;
    ddsc_compare_get_view(found, &v);
    int64_t square = v.n_metrics * v.n_metrics;
    PyObject *d = PyDict_New();
    if (d && put(d, "k", PyLong_FromLongLong(v.k)) && put(d, "rows", compare_rows(&v)) &&
        put(d, "labels", bytes_of(v.labels, v.n_metrics * v.n, sizeof *v.labels)) &&
        put(d, "ari", bytes_of(v.ari, square, sizeof *v.ari)) &&
        put(d, "ami", bytes_of(v.ami, square, sizeof *v.ami)) &&
        put(d, "recommended", PyLong_FromLongLong(v.recommended)) &&
        put(d, "lead", PyFloat_FromDouble(v.lead)) &&
        put(d, "sure", PyLong_FromLong((long)v.sure)) &&
        put(d, "words", PyUnicode_FromString(v.words)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *compare(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *metric, *graph, *settings, *result = NULL;
    core_cluster c;
    ddsc_compare *found = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O!O!O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &metric, &PyDict_Type, &graph, &PyDict_Type, &settings) ||
        !cluster_take(metric, graph, settings, &c) || !context_begin(context))
        return NULL;
    if (context_end(context, ddsc_compare_run(context->ctx, &found, measures->pointer, &c.set)))
        result = compare_result(found);
    ddsc_compare_destroy(found);
    return result;
}

PyMethodDef findings_methods[] = {
    {"compare", compare, METH_VARARGS, "(context, measures, metric, graph, settings)"},
    {"standing", standing, METH_VARARGS, "(context, clustering, distance, ambiguity, next)"},
    {"membership", membership, METH_VARARGS, "(context, clustering, measures, membership)"},
    {"project", project, METH_VARARGS, "(context, xy, rows)"},
    {"stability", stability, METH_VARARGS,
     "(context, measures, clustering, metric, graph, settings, n_resamples)"},
    {NULL, NULL, 0, NULL}};
