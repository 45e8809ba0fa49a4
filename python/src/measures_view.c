/* Looking at a set: its arrays where they lie, its names. */
#include "core.h"

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
    return good;
}

/* (cells, origin, step) of each axis of the grid the support lies on, or None. */
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

PyMethodDef view_methods[] = {{"measures_view", measures_view, METH_VARARGS, "(measures)"},
                              {"measures_names", measures_names, METH_VARARGS, "(measures)"},
                              {NULL, NULL, 0, NULL}};
