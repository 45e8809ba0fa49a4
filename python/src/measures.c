/* Creates sets of items from arrays and files, and writes them. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* ---- a list of items, each with its own arrays ---- */

typedef struct item_list {
    Py_ssize_t n;
    int64_t dim;
    Py_buffer *points, *weights;
    ddsc_cloud *cloud;
} item_list;

static void items_free(item_list *list)
{
    for (Py_ssize_t i = 0; list->points && list->weights && i < list->n; i++) {
        PyBuffer_Release(&list->points[i]);
        PyBuffer_Release(&list->weights[i]);
    }
    free(list->points);
    free(list->weights);
    free(list->cloud);
}

static bool item_points(item_list *list, Py_ssize_t i, PyObject *object)
{
    Py_buffer *points = &list->points[i];
    if (PyObject_GetBuffer(object, points, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0)
        return false;
    bool is_float = buffer_is(points, 'f');
    if (points->ndim != 2 || (!is_float && !buffer_is(points, 'd'))) {
        PyErr_Format(PyExc_TypeError, "item %zd must be a matrix of float64 or float32", i);
        return false;
    }
    if (points->shape[1] != list->dim) {
        PyErr_Format(PyExc_ValueError,
                     "item %zd has points of %zd coordinates, but earlier items have %lld", i,
                     points->shape[1], (long long)list->dim);
        return false;
    }
    list->cloud[i] =
        (ddsc_cloud){.n = points->shape[0], .points = points->buf, .is_float = is_float};
    return true;
}

static bool item_weights(item_list *list, Py_ssize_t i, PyObject *object)
{
    if (!buffer_get_or_none(object, &list->weights[i], 'd', "sample_weight"))
        return false;
    if (object == Py_None)
        return true;
    if (buffer_count(&list->weights[i]) != list->cloud[i].n) {
        PyErr_Format(PyExc_ValueError, "item %zd has %lld points and %lld weights", i,
                     (long long)list->cloud[i].n, (long long)buffer_count(&list->weights[i]));
        return false;
    }
    list->cloud[i].weights = list->weights[i].buf;
    return true;
}

static bool items_take(item_list *list, PyObject *points, PyObject *weights)
{
    list->n = PyList_Size(points);
    if (list->n < 0)
        return false;
    list->points = calloc((size_t)list->n + 1, sizeof *list->points);
    list->weights = calloc((size_t)list->n + 1, sizeof *list->weights);
    list->cloud = calloc((size_t)list->n + 1, sizeof *list->cloud);
    if (!list->points || !list->weights || !list->cloud) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < list->n; i++) {
        if (!item_points(list, i, PyList_GetItem(points, i)))
            return false;
        if (weights != Py_None && !item_weights(list, i, PyList_GetItem(weights, i)))
            return false;
    }
    return true;
}

static PyObject *items(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *points, *weights, *result = NULL;
    long long dim;
    int drop;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!OLp", context_type, &context, &PyList_Type, &points, &weights,
                          &dim, &drop))
        return NULL;
    item_list list = {.dim = dim};
    if (weights != Py_None && PyList_Size(weights) != PyList_Size(points)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "weights must have one array for each item");
        return NULL;
    }
    if (items_take(&list, points, weights) && context_begin(context)) {
        ddsc_status status = ddsc_measures_create_items(context->ctx, &made, list.n, dim,
                                                        list.cloud, drop ? DDSC_EMPTY_DROP : 0);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
    items_free(&list);
    return result;
}

/* ---- flat arrays ---- */

static PyObject *clouds(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *points_of, *weights_of, *offsets_of, *result = NULL;
    int drop;
    Py_buffer points = {0}, weights = {0}, offsets = {0};
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOOp", context_type, &context, &points_of, &weights_of,
                          &offsets_of, &drop))
        return NULL;
    if (!buffer_get(points_of, &points, 'd', 0, "points") ||
        !buffer_get_or_none(weights_of, &weights, 'd', "weights") ||
        !buffer_get(offsets_of, &offsets, 'q', 0, "offsets") ||
        !buffer_holds(&offsets, 1, "offsets"))
        goto done;
    int64_t n = buffer_count(&offsets) - 1, last = ((const int64_t *)offsets.buf)[n];
    int64_t dim = points.ndim == 2 ? points.shape[1] : 1;
    if (!buffer_holds(&points, last * dim, "points") ||
        (weights.obj && !buffer_holds(&weights, last, "weights")))
        goto done;
    if (context_begin(context)) {
        ddsc_status status =
            ddsc_measures_create_clouds(context->ctx, &made, n, dim, points.buf, weights.buf,
                                        offsets.buf, drop ? DDSC_EMPTY_DROP : 0);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
done:
    PyBuffer_Release(&points);
    PyBuffer_Release(&weights);
    PyBuffer_Release(&offsets);
    return result;
}

static PyObject *shared(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *support_of, *offsets_of, *indices_of, *weights_of, *result = NULL;
    int drop;
    Py_buffer support = {0}, offsets = {0}, indices = {0}, weights = {0};
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOOOp", context_type, &context, &support_of, &offsets_of,
                          &indices_of, &weights_of, &drop))
        return NULL;
    if (!buffer_get(support_of, &support, 'd', 0, "support") ||
        !buffer_get(offsets_of, &offsets, 'q', 0, "offsets") ||
        !buffer_get(indices_of, &indices, 'i', 0, "indices") ||
        !buffer_get(weights_of, &weights, 'd', 0, "weights") ||
        !buffer_holds(&offsets, 1, "offsets"))
        goto done;
    int64_t n = buffer_count(&offsets) - 1, last = ((const int64_t *)offsets.buf)[n];
    if (!buffer_holds(&indices, last, "indices") || !buffer_holds(&weights, last, "weights"))
        goto done;
    if (support.ndim != 2) {
        PyErr_SetString(PyExc_ValueError, "support must be a matrix");
        goto done;
    }
    if (context_begin(context)) {
        ddsc_shared_items items;
        ddsc_shared_items_init(&items);
        items.n_items = n;
        items.n_support = support.shape[0];
        items.dim = support.shape[1];
        items.support = support.buf;
        items.offsets = offsets.buf;
        items.indices = indices.buf;
        items.weights = weights.buf;
        ddsc_status status = ddsc_measures_create_shared(context->ctx, &made, &items,
                                                         drop ? DDSC_EMPTY_DROP : DDSC_EMPTY_ERROR);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
done:
    PyBuffer_Release(&support);
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&indices);
    PyBuffer_Release(&weights);
    return result;
}

static PyObject *dense(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *support_of, *histograms_of, *result = NULL;
    int drop;
    Py_buffer support = {0}, histograms = {0};
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOp", context_type, &context, &support_of, &histograms_of,
                          &drop))
        return NULL;
    if (!buffer_get(support_of, &support, 'd', 0, "support") ||
        !buffer_get(histograms_of, &histograms, 'd', 0, "histograms"))
        goto done;
    if (support.ndim != 2 || histograms.ndim != 2 || histograms.shape[1] != support.shape[0]) {
        PyErr_SetString(PyExc_ValueError, "histograms must have one column per support point");
        goto done;
    }
    if (context_begin(context)) {
        ddsc_status status = ddsc_measures_create_dense(
            context->ctx, &made, histograms.shape[0], support.shape[0], support.shape[1],
            support.buf, histograms.buf, drop ? DDSC_EMPTY_DROP : 0);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
done:
    PyBuffer_Release(&support);
    PyBuffer_Release(&histograms);
    return result;
}

/* ---- files ---- */

#define READ(name, type)                                \
    {                                                   \
#name, type, offsetof(ddsc_read_settings, name) \
    }
static const core_field read_fields[] = {
    READ(on_empty, FIELD_INT),       READ(phase, FIELD_INT),
    READ(phases, FIELD_INT),         READ(labels_path, FIELD_TEXT),
    READ(channels, FIELD_TEXT),      READ(arcsinh, FIELD_DOUBLE),
    READ(max_bytes, FIELD_INT64),    READ(id_columns, FIELD_TEXT),
    READ(weight_column, FIELD_TEXT), READ(label_column, FIELD_TEXT),
    READ(where, FIELD_TEXT),         READ(columns, FIELD_TEXT),
    READ(drop, FIELD_TEXT),          READ(meta_path, FIELD_TEXT),
    READ(image_as, FIELD_INT),       READ(matrix, FIELD_TEXT),
    READ(item_columns, FIELD_TEXT),  READ(format, FIELD_INT),
    READ(type_column, FIELD_TEXT),   {NULL, FIELD_INT, 0}};

/* Returns the n texts of a list. The caller frees the array. */
static const char **path_list(PyObject *paths, Py_ssize_t n)
{
    const char **path = calloc((size_t)n + 1, sizeof *path);
    if (!path)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; path && i < n; i++)
        if (!(path[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(paths, i), NULL))) {
            free(path);
            return NULL;
        }
    return path;
}

static PyObject *read_paths(core_context *context, PyObject *paths, const ddsc_read_settings *set)
{
    Py_ssize_t n = PyList_Size(paths);
    PyObject *result = NULL;
    ddsc_measures *made = NULL;
    const char **path = path_list(paths, n);
    if (path && context_begin(context)) {
        ddsc_status status = n == 1 ? ddsc_measures_read(context->ctx, &made, path[0], set)
                                    : ddsc_measures_read_files(context->ctx, &made, n, path, set);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
    free(path);
    return result;
}

static PyObject *read_files(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *paths, *settings;
    ddsc_read_settings set;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!", context_type, &context, &PyList_Type, &paths,
                          &PyDict_Type, &settings))
        return NULL;
    ddsc_read_settings_init(&set);
    return fields_take(settings, &set, read_fields) ? read_paths(context, paths, &set) : NULL;
}

#define TEXT(name, type)                                \
    {                                                   \
#name, type, offsetof(ddsc_text_settings, name) \
    }
static const core_field text_fields[] = {
    TEXT(text_columns, FIELD_TEXT), TEXT(label_column, FIELD_TEXT),   TEXT(id_columns, FIELD_TEXT),
    TEXT(where, FIELD_TEXT),        TEXT(stopwords_path, FIELD_TEXT), TEXT(lemmas_path, FIELD_TEXT),
    TEXT(tokens, FIELD_INT),        TEXT(weighting, FIELD_INT),       TEXT(idf, FIELD_INT),
    TEXT(support, FIELD_INT64),     TEXT(on_empty, FIELD_INT),        TEXT(max_bytes, FIELD_INT64),
    TEXT(words, FIELD_INT),         TEXT(paper, FIELD_INT64),         {NULL, FIELD_INT, 0}};

static PyObject *read_text(PyObject *module, PyObject *args)
{
    core_context *context;
    const char *vectors;
    PyObject *paths, *settings, *result = NULL;
    ddsc_text_settings set;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!zO!", context_type, &context, &PyList_Type, &paths, &vectors,
                          &PyDict_Type, &settings))
        return NULL;
    Py_ssize_t n = PyList_Size(paths);
    const char **path = path_list(paths, n);
    ddsc_text_settings_init(&set);
    if (path && fields_take(settings, &set, text_fields) && context_begin(context)) {
        ddsc_status status =
            ddsc_text_read_files(context->ctx, &made, NULL, n, path, vectors, &set);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
    free(path);
    return result;
}

static PyObject *write_file(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    const char *path;
    int overwrite;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&sp", context_type, &context, handle_measures, &measures, &path,
                          &overwrite) ||
        !context_begin(context))
        return NULL;
    ddsc_status status =
        ddsc_measures_write(context->ctx, measures->pointer, path, DDSC_FORMAT_AUTO,
                            overwrite ? DDSC_WRITE_OVERWRITE : 0);
    if (!context_end(context, status))
        return NULL;
    Py_RETURN_NONE;
}

/* ---- copies ---- */

static PyObject *subset(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *items_of, *result = NULL;
    Py_buffer chosen;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O", context_type, &context, handle_measures, &measures,
                          &items_of) ||
        !buffer_get(items_of, &chosen, 'q', 0, "items"))
        return NULL;
    if (context_begin(context)) {
        ddsc_status status = ddsc_measures_copy_subset(context->ctx, &made, measures->pointer,
                                                       buffer_count(&chosen), chosen.buf);
        result = handle_result(context, CORE_MEASURES, made, status);
    }
    PyBuffer_Release(&chosen);
    return result;
}

/* Copies a set with other ids and, if given, numeric labels. */
static ddsc_status rename_set(core_context *context, ddsc_measures **made,
                              const ddsc_measures *from, const char *const *ids,
                              const int32_t *labels)
{
    ddsc_measures *named = NULL;
    ddsc_status status = ddsc_measures_copy_named(context->ctx, &named, from, ids);
    if (status >= 0 && labels)
        status = ddsc_measures_copy_labeled(context->ctx, made, named, labels);
    else
        *made = named;
    if (*made != named)
        ddsc_measures_destroy(named);
    return status;
}

static PyObject *named(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *ids, *labels_of, *result = NULL;
    Py_buffer labels = {0};
    ddsc_measures_view v;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O!O", context_type, &context, handle_measures, &measures,
                          &PyList_Type, &ids, &labels_of))
        return NULL;
    ddsc_measures_get_view(measures->pointer, &v);
    const char **text = calloc((size_t)v.n_rows + 1, sizeof *text);
    bool good = text && PyList_Size(ids) == v.n_rows &&
                buffer_get_or_none(labels_of, &labels, 'i', "labels") &&
                (!labels.buf || buffer_holds(&labels, v.n_rows, "labels"));
    for (int64_t i = 0; good && i < v.n_rows; i++)
        good = (text[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(ids, (Py_ssize_t)i), NULL));
    if (good && context_begin(context)) {
        ddsc_status status = rename_set(context, &made, measures->pointer, text, labels.buf);
        result = handle_result(context, CORE_MEASURES, made, status);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "ids must have one entry for each row");
    }
    PyBuffer_Release(&labels);
    free(text);
    return result;
}

/* The keys are those of `compress` in result.json. */
static PyObject *compress_dictionary(const ddsc_compress_report *r)
{
    PyObject *d = Py_BuildValue("{sLsLsLsdsd}", "m", (long long)r->n_points, "points_before",
                                (long long)r->n_before, "points_after", (long long)r->n_after,
                                "mean_w2", r->mean_w2, "max_w2", r->max_w2);
    PyObject *more = NULL;
    if (d && r->n_pairs > 0)
        more = Py_BuildValue("{sLsLsdsdsLsd}", "sample_pairs", (long long)r->n_pairs,
                             "sample_items", (long long)r->n_items, "error_median", r->error_median,
                             "error_95", r->error_95, "neighbors", (long long)r->n_near,
                             "neighbors_kept", r->kept);
    if (d && r->n_pairs > 0 && (!more || PyDict_Update(d, more) < 0)) {
        Py_DECREF(d);
        d = NULL;
    }
    Py_XDECREF(more);
    return d;
}

/* If keep > 0, measures the accuracy for the metric (a dictionary, or the model that has it), and
 * m = 0 chooses the number of points. The result is (measures or None, report). */
static PyObject *compress(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures, *model = NULL;
    PyObject *settings;
    long long m;
    double keep;
    ddsc_measures *made = NULL;
    ddsc_metric_settings set;
    ddsc_model_view view;
    const ddsc_metric_settings *metric = &set;
    ddsc_compress_report report;
    (void)module;
    ddsc_compress_report_init(&report);
    if (!PyArg_ParseTuple(args, "O!O&LdO", context_type, &context, handle_measures, &measures, &m,
                          &keep, &settings) ||
        !(PyDict_Check(settings) ? metric_take(settings, &set) : handle_model(settings, &model)))
        return NULL;
    if (model) {
        ddsc_model_get_view(model->pointer, &view);
        metric = view.metric_settings;
    }
    if (!context_begin(context))
        return NULL;
    ddsc_status status =
        keep > 0 ? ddsc_measures_compress_for(context->ctx, &made, &report, measures->pointer,
                                              metric, m, keep)
                 : ddsc_measures_compress(context->ctx, &made, &report, measures->pointer, m);
    PyObject *found = context_end(context, status) ? compress_dictionary(&report) : NULL;
    if (!found) {
        ddsc_measures_destroy(made);
        return NULL;
    }
    if (!made)
        return Py_BuildValue("ON", Py_None, found);
    PyObject *handle = handle_new(context, CORE_MEASURES, made);
    if (!handle)
        Py_DECREF(found);
    return handle ? Py_BuildValue("NN", handle, found) : NULL;
}

static PyObject *generate(PyObject *module, PyObject *args)
{
    core_context *context;
    const char *what;
    long long k, n, n_points, dim;
    double separation;
    ddsc_measures *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!sLLLLd", context_type, &context, &what, &k, &n, &n_points, &dim,
                          &separation) ||
        !context_begin(context))
        return NULL;
    ddsc_status status = strcmp(what, "shapes") == 0
                             ? ddsc_measures_generate_shapes(context->ctx, &made, n, n_points)
                             : ddsc_measures_generate_gaussians(context->ctx, &made, k, n, n_points,
                                                                dim, separation);
    return handle_result(context, CORE_MEASURES, made, status);
}

PyMethodDef measures_methods[] = {
    {"items", items, METH_VARARGS, "(context, points, weights, dim, drop)"},
    {"clouds", clouds, METH_VARARGS, "(context, points, weights, offsets, drop)"},
    {"shared", shared, METH_VARARGS, "(context, support, offsets, indices, weights, drop)"},
    {"dense", dense, METH_VARARGS, "(context, support, histograms, drop)"},
    {"read_files", read_files, METH_VARARGS, "(context, paths, settings)"},
    {"read_text", read_text, METH_VARARGS, "(context, documents, vectors, settings)"},
    {"write_file", write_file, METH_VARARGS, "(context, measures, path, overwrite)"},
    {"subset", subset, METH_VARARGS, "(context, measures, items)"},
    {"named", named, METH_VARARGS, "(context, measures, ids, labels)"},
    {"compress", compress, METH_VARARGS, "(context, measures, m, keep, metric)"},
    {"generate", generate, METH_VARARGS, "(context, what, k, n, n_points, dim, separation)"},
    {NULL, NULL, 0, NULL}};
