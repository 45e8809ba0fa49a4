/* Compares two results with the library. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Labels and ids of one side, borrowed from the arguments. */
typedef struct side {
    ddsc_diff_side of;
    Py_buffer labels;
    const char **ids;
} side;

static void side_free(side *s)
{
    if (s->labels.obj)
        PyBuffer_Release(&s->labels);
    PyMem_Free((void *)s->ids);
}

static bool take_ids(side *s, PyObject *ids)
{
    Py_ssize_t n = PyList_Check(ids) ? PyList_Size(ids) : -1;
    if (n != s->of.n) {
        PyErr_SetString(PyExc_ValueError, "ids must be a list with one id per label");
        return false;
    }
    s->ids = PyMem_Calloc((size_t)n + 1, sizeof *s->ids);
    if (!s->ids) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        s->ids[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(ids, i), NULL);
        if (!s->ids[i])
            return false;
    }
    s->of.ids = s->ids;
    return true;
}

/* Opens one side, given a folder or a tuple (name, ids or None, labels, json or None). */
static bool side_take(side *s, PyObject *given)
{
    PyObject *ids, *labels;
    ddsc_diff_side_init(&s->of);
    if (PyUnicode_Check(given)) {
        s->of.folder = PyUnicode_AsUTF8AndSize(given, NULL);
        return s->of.folder != NULL;
    }
    if (!PyArg_ParseTuple(given, "sOOz", &s->of.name, &ids, &labels, &s->of.json) ||
        !buffer_get(labels, &s->labels, 'i', 0, "labels"))
        return false;
    s->of.labels = s->labels.buf;
    s->of.n = (int64_t)(s->labels.len / (Py_ssize_t)sizeof *s->of.labels);
    return ids == Py_None || take_ids(s, ids);
}

static PyObject *diff(PyObject *module, PyObject *args)
{
    enum { FORMS = 3 };
    static const ddsc_diff_form forms[FORMS] = {DDSC_DIFF_JSON, DDSC_DIFF_TEXT, DDSC_DIFF_HTML};
    core_context *context;
    PyObject *given[2], *result = NULL;
    side s[2] = {0};
    core_text text[FORMS] = {0};
    ddsc_diff *found = NULL;
    (void)module;
    if (PyArg_ParseTuple(args, "O!OO", context_type, &context, &given[0], &given[1]) &&
        side_take(&s[0], given[0]) && side_take(&s[1], given[1]) && context_begin(context)) {
        ddsc_status status = ddsc_diff_create(context->ctx, &found, &s[0].of, &s[1].of, NULL);
        for (int f = 0; f < FORMS && status >= 0; f++)
            status = ddsc_diff_write(context->ctx, found, forms[f], text_grow, &text[f]);
        ddsc_diff_destroy(found);
        if (context_end(context, status))
            result = Py_BuildValue("NNN", text_decode(&text[0]), text_decode(&text[1]),
                                   text_decode(&text[2]));
    }
    for (int f = 0; f < FORMS; f++)
        free(text[f].bytes);
    side_free(&s[0]);
    side_free(&s[1]);
    return result;
}

/* Copies a matrix of n_rows x n_columns doubles or counts as bytes. */
static PyObject *bytes_of(const void *data, int64_t count)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)count * 8);
}

static PyObject *over_result(const ddsc_over_view *v)
{
    PyObject *names = PyList_New((Py_ssize_t)v->n_periods);
    for (int64_t t = 0; names && t < v->n_periods; t++) {
        PyObject *name =
            PyUnicode_DecodeUTF8(v->periods[t], (Py_ssize_t)strlen(v->periods[t]), "replace");
        if (!name || PyList_SetItem(names, (Py_ssize_t)t, name) < 0)
            Py_CLEAR(names);
    }
    if (!names)
        return NULL;
    int64_t cells = v->k * v->n_periods;
    return Py_BuildValue("{sNsNsNsNsNsNsNsssL}", "periods", names, "items",
                         bytes_of(v->items, v->n_periods), "counts", bytes_of(v->counts, cells),
                         "share", bytes_of(v->share, cells), "low", bytes_of(v->low, cells), "high",
                         bytes_of(v->high, cells), "change",
                         PyBytes_FromStringAndSize((const char *)v->change, (Py_ssize_t)v->k * 4),
                         "unit", v->unit, "missing", (long long)v->n_missing);
}

/* Counts the items of each cluster per period of a list of texts, or None for missing values. */
static PyObject *over(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *labels, *values, *result = NULL;
    const char *column;
    long long k;
    side s = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OLsO!", context_type, &context, &labels, &k, &column,
                          &PyList_Type, &values) ||
        !buffer_get(labels, &s.labels, 'i', 0, "labels"))
        return NULL;
    Py_ssize_t n = PyList_Size(values);
    bool good = buffer_holds(&s.labels, n, "labels");
    s.ids = PyMem_Calloc((size_t)n + 1, sizeof *s.ids);
    if (!s.ids)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; good && s.ids && i < n; i++) {
        PyObject *value = PyList_GetItem(values, i);
        s.ids[i] = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, NULL);
        good = s.ids[i] || value == Py_None;
    }
    if (good && s.ids && context_begin(context)) {
        ddsc_over *found = NULL;
        ddsc_over_view v;
        ddsc_status status = ddsc_over_run(context->ctx, &found, n, s.labels.buf, k, column, s.ids);
        if (context_end(context, status)) {
            ddsc_over_get_view(found, &v);
            result = over_result(&v);
        }
        ddsc_over_destroy(found);
    }
    side_free(&s);
    return result;
}

PyMethodDef diff_methods[] = {{"diff", diff, METH_VARARGS, "(context, first, second)"},
                              {"over", over, METH_VARARGS, "(context, labels, k, column, values)"},
                              {NULL, NULL, 0, NULL}};
