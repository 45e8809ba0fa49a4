/* Assigns new items with the model of a clustering, and computes barycenters. */
#include "core.h"

static PyObject *model_create(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures, *clustering;
    PyObject *metric, *graph, *settings;
    core_cluster c;
    ddsc_model *model = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O&O!O!O!", context_type, &context, handle_measures, &measures,
                          handle_clustering, &clustering, &PyDict_Type, &metric, &PyDict_Type,
                          &graph, &PyDict_Type, &settings) ||
        !cluster_take(metric, graph, settings, &c) || !context_begin(context))
        return NULL;
    ddsc_status status =
        ddsc_model_create(context->ctx, &model, measures->pointer, clustering->pointer, &c.set);
    return handle_result(context, CORE_MODEL, model, status);
}

static PyObject *measures_copy_like(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures, *model;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O&", context_type, &context, handle_measures, &measures,
                          handle_model, &model) ||
        !context_begin(context))
        return NULL;
    ddsc_status status =
        ddsc_measures_copy_like(context->ctx, &made, measures->pointer, model->pointer);
    return handle_result(context, CORE_MEASURES, made, status);
}

/* Returns handles of the update, the updated set and its clustering. */
static PyObject *update_result(PyObject *owner, const ddsc_update *update)
{
    ddsc_update_view v;
    PyObject *d = PyDict_New();
    ddsc_update_get_view(update, &v);
    bool good = owner && d && put(d, "measures", handle_borrow(owner, CORE_MEASURES, v.measures)) &&
                put(d, "clustering", handle_borrow(owner, CORE_CLUSTERING, v.clustering)) &&
                PyDict_SetItemString(d, "update", owner) == 0;
    Py_XDECREF(owner);
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *update(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *model, *measures = NULL;
    PyObject *added, *removed_of, *metric, *graph, *settings;
    Py_buffer removed;
    core_cluster c;
    ddsc_update *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&OOO!O!O!", context_type, &context, handle_model, &model,
                          &added, &removed_of, &PyDict_Type, &metric, &PyDict_Type, &graph,
                          &PyDict_Type, &settings) ||
        (added != Py_None && !handle_measures(added, &measures)) ||
        !cluster_take(metric, graph, settings, &c) ||
        !buffer_get(removed_of, &removed, 'q', 0, "removed"))
        return NULL;
    PyObject *result = NULL;
    if (context_begin(context)) {
        ddsc_status status = ddsc_update_run(context->ctx, &made, model->pointer,
                                             measures ? measures->pointer : NULL,
                                             buffer_count(&removed), removed.buf, &c.set);
        if (context_end(context, status))
            result = update_result(handle_new(context, CORE_UPDATE, made), made);
        else
            ddsc_update_destroy(made);
    }
    PyBuffer_Release(&removed);
    return result;
}

/* Returns the items of a model. */
static PyObject *model_items(PyObject *module, PyObject *args)
{
    PyObject *model;
    core_handle *handle;
    ddsc_model_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &model) || !handle_model(model, &handle))
        return NULL;
    ddsc_model_get_view(handle->pointer, &v);
    return handle_borrow(model, CORE_MEASURES, v.measures);
}

static PyObject *model_read(PyObject *module, PyObject *args)
{
    core_context *context;
    const char *path;
    ddsc_model *model = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!s", context_type, &context, &path) || !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_model_read(context->ctx, &model, path);
    return handle_result(context, CORE_MODEL, model, status);
}

static PyObject *model_write(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *model;
    const char *path;
    int overwrite;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&sp", context_type, &context, handle_model, &model, &path,
                          &overwrite) ||
        !context_begin(context) ||
        !context_end(context, ddsc_model_write(context->ctx, model->pointer, path,
                                               overwrite ? DDSC_WRITE_OVERWRITE : 0)))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *write_bytes(PyObject *module, PyObject *args)
{
    core_context *context;
    const char *path;
    Py_buffer bytes;
    int overwrite;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!sy*p", context_type, &context, &path, &bytes, &overwrite))
        return NULL;
    bool good =
        context_begin(context) &&
        context_end(context, ddsc_file_write(context->ctx, path, bytes.buf, (size_t)bytes.len,
                                             overwrite ? DDSC_WRITE_OVERWRITE : 0));
    PyBuffer_Release(&bytes);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *model_view(PyObject *module, PyObject *args)
{
    core_handle *model;
    ddsc_model_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_model, &model))
        return NULL;
    ddsc_model_get_view(model->pointer, &v);
    return Py_BuildValue("{sLsLsLsLsLsisdsi}", "n_items", (long long)v.n_items, "dim",
                         (long long)v.dim, "k", (long long)v.k, "tau", (long long)v.tau,
                         "n_vectors", (long long)v.n_vectors, "metric", (int)v.metric,
                         "far_distance", v.far_distance, "transformed",
                         ddsc_measures_get_transform(v.measures, 0) != NULL);
}

/* Output arrays for new items. Each of them may be None. */
typedef struct places {
    Py_buffer rows, labels, confidence, distance, far, membership;
} places;

static void places_free(places *p)
{
    PyBuffer_Release(&p->rows);
    PyBuffer_Release(&p->labels);
    PyBuffer_Release(&p->confidence);
    PyBuffer_Release(&p->distance);
    PyBuffer_Release(&p->far);
    PyBuffer_Release(&p->membership);
}

/* Assigns new items. If `rows` is given, the function writes the embedding of the items to it;
 * otherwise it writes labels, confidences and distances. */
static PyObject *assign(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *model, *measures;
    PyObject *object[6];
    places p = {0};
    bool good = false;
    ddsc_measures_view m;
    ddsc_model_view v;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O&OOOOOO", context_type, &context, handle_model, &model,
                          handle_measures, &measures, &object[0], &object[1], &object[2],
                          &object[3], &object[4], &object[5]))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &m);
    ddsc_model_get_view(model->pointer, &v);
    if (buffer_get_room(object[0], &p.rows, 'd', m.n_items * v.n_vectors, "rows") &&
        buffer_get_room(object[1], &p.labels, 'i', m.n_items, "labels") &&
        buffer_get_room(object[2], &p.confidence, 'd', m.n_items, "confidence") &&
        buffer_get_room(object[3], &p.distance, 'd', m.n_items, "distance") &&
        buffer_get_room(object[4], &p.far, 'i', m.n_items, "far") &&
        buffer_get_room(object[5], &p.membership, 'd', m.n_items * v.k, "membership") &&
        context_begin(context)) {
        ddsc_assignment to;
        ddsc_assignment_init(&to);
        to.rows = p.rows.buf;
        to.labels = p.labels.buf;
        to.confidence = p.confidence.buf;
        to.distance = p.distance.buf;
        to.far = p.far.buf;
        to.membership = p.membership.buf;
        ddsc_status status =
            ddsc_assign_run(context->ctx, &to, NULL, model->pointer, measures->pointer, NULL);
        good = context_end(context, status);
    }
    places_free(&p);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- barycenters ---- */

#define BARYCENTER(name, type)                                \
    {                                                         \
#name, type, offsetof(ddsc_barycenter_settings, name) \
    }
static const core_field barycenter_fields[] = {
    BARYCENTER(method, FIELD_INT),         BARYCENTER(support_size, FIELD_INT64),
    BARYCENTER(rho, FIELD_DOUBLE),         BARYCENTER(epsilon, FIELD_DOUBLE),
    BARYCENTER(max_rounds, FIELD_INT64),   BARYCENTER(max_passes, FIELD_INT64),
    BARYCENTER(tolerance, FIELD_DOUBLE),   BARYCENTER(projection_dim, FIELD_INT64),
    BARYCENTER(restarts, FIELD_INT64),     BARYCENTER(cost, FIELD_INT64),
    BARYCENTER(cost_matrix, FIELD_MATRIX), {NULL, FIELD_INT, 0}};

static PyObject *barycenter_result(core_context *context, ddsc_barycenter *found)
{
    ddsc_barycenter_view v;
    ddsc_barycenter_get_view(found, &v);
    PyObject *owner = handle_new(context, CORE_BARYCENTER, found), *d = PyDict_New();
    bool good = owner && d && put(d, "support", block_new(owner, v.support, "d", v.n, v.dim)) &&
                put(d, "weights", block_new(owner, v.weights, "d", v.n, -1)) &&
                put(d, "objective", block_new(owner, v.objective, "d", v.n_objective, -1)) &&
                put(d, "converged", PyBool_FromLong(v.converged));
    Py_XDECREF(owner);
    if (good)
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *barycenter(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *weights_of, *settings, *result = NULL;
    ddsc_barycenter_settings set;
    ddsc_measures_view m;
    Py_buffer weights;
    ddsc_barycenter *found = NULL;
    (void)module;
    ddsc_barycenter_settings_init(&set);
    if (!PyArg_ParseTuple(args, "O!O&OO!", context_type, &context, handle_measures, &measures,
                          &weights_of, &PyDict_Type, &settings) ||
        !fields_take(settings, &set, barycenter_fields) ||
        !buffer_get_or_none(weights_of, &weights, 'd', "item_weights"))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &m);
    set.item_weights = weights.buf;
    if ((!weights.buf || buffer_holds(&weights, m.n_items, "item_weights")) &&
        context_begin(context)) {
        ddsc_status status = ddsc_barycenter_run(context->ctx, &found, measures->pointer, &set);
        if (context_end(context, status))
            result = barycenter_result(context, found);
        else
            ddsc_barycenter_destroy(found);
    }
    PyBuffer_Release(&weights);
    return result;
}

PyMethodDef model_methods[] = {
    {"model_create", model_create, METH_VARARGS,
     "(context, measures, clustering, metric, graph, settings)"},
    {"measures_copy_like", measures_copy_like, METH_VARARGS, "(context, measures, model)"},
    {"model_read", model_read, METH_VARARGS, "(context, path)"},
    {"model_items", model_items, METH_VARARGS, "(model)"},
    {"update", update, METH_VARARGS, "(context, model, added, removed, metric, graph, settings)"},
    {"model_write", model_write, METH_VARARGS, "(context, model, path, overwrite)"},
    {"write_bytes", write_bytes, METH_VARARGS, "(context, path, bytes, overwrite)"},
    {"model_view", model_view, METH_VARARGS, "(model)"},
    {"assign", assign, METH_VARARGS,
     "(context, model, measures, rows, labels, confidence, distance, far, membership)"},
    {"barycenter", barycenter, METH_VARARGS, "(context, measures, item_weights, settings)"},
    {NULL, NULL, 0, NULL}};
