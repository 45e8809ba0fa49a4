/* Converts arguments: buffers of numbers, and dictionaries of settings, which field tables
 * describe. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* ---- buffers ---- */

bool buffer_is(const Py_buffer *buffer, char type)
{
    const char *format = buffer->format ? buffer->format : "B";
    if (*format == '@' || *format == '=')
        format++;
#if PY_BIG_ENDIAN
    if (*format == '>')
        format++;
#else
    if (*format == '<')
        format++;
#endif
    if (format[0] == '\0' || format[1] != '\0')
        return false;
    if (type == 'd' || type == 'f')
        return format[0] == type;
    Py_ssize_t size = type == 'i' ? 4 : 8;
    return strchr("ilqn", format[0]) && buffer->itemsize == size;
}

static const char *type_name(char type)
{
    switch (type) {
    case 'd': return "float64";
    case 'f': return "float32";
    case 'i': return "int32";
    default: return "int64";
    }
}

bool buffer_get(PyObject *object, Py_buffer *buffer, char type, int writable, const char *name)
{
    int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, buffer, flags) < 0)
        return false;
    if (buffer_is(buffer, type))
        return true;
    PyErr_Format(PyExc_TypeError, "%s must hold %s", name, type_name(type));
    PyBuffer_Release(buffer);
    buffer->obj = NULL;
    return false;
}

bool buffer_get_or_none(PyObject *object, Py_buffer *buffer, char type, const char *name)
{
    if (object != Py_None)
        return buffer_get(object, buffer, type, 0, name);
    memset(buffer, 0, sizeof *buffer);
    return true;
}

int64_t buffer_count(const Py_buffer *buffer)
{
    return buffer->itemsize > 0 ? buffer->len / buffer->itemsize : 0;
}

bool buffer_holds(const Py_buffer *buffer, int64_t count, const char *name)
{
    if (buffer_count(buffer) >= count)
        return true;
    PyErr_Format(PyExc_ValueError, "%s has %lld numbers, but %lld are required", name,
                 (long long)buffer_count(buffer), (long long)count);
    return false;
}

bool buffer_get_room(PyObject *object, Py_buffer *buffer, char type, int64_t count,
                     const char *name)
{
    if (object == Py_None)
        return true;
    return buffer_get(object, buffer, type, 1, name) && buffer_holds(buffer, count, name);
}

/* ---- settings ---- */

/* Stores the address and size of a matrix. The dictionary keeps the matrix alive during the
 * call. */
static bool matrix_set(PyObject *value, char *at)
{
    Py_buffer view;
    if (!buffer_get(value, &view, 'd', 0, "cost"))
        return false;
    const double *address = view.buf;
    int64_t size = view.ndim > 0 ? view.shape[0] : 0;
    bool square = view.ndim == 2 && view.shape[0] == view.shape[1];
    PyBuffer_Release(&view);
    memcpy(at, &address, sizeof address);
    memcpy(at + sizeof address, &size, sizeof size);
    if (!square)
        PyErr_SetString(PyExc_ValueError, "cost must be a square matrix");
    return square;
}

static bool field_set(PyObject *value, char *at, field_type type)
{
    int number = 0;
    int64_t large = 0;
    double real = 0;
    const char *text = NULL;
    switch (type) {
    case FIELD_INT:
        number = (int)PyLong_AsLong(value);
        memcpy(at, &number, sizeof number);
        break;
    case FIELD_INT64:
        large = PyLong_AsLongLong(value);
        memcpy(at, &large, sizeof large);
        break;
    case FIELD_DOUBLE:
        real = PyFloat_AsDouble(value);
        memcpy(at, &real, sizeof real);
        break;
    case FIELD_TEXT:
        text = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, NULL);
        memcpy(at, &text, sizeof text);
        break;
    case FIELD_MATRIX: return matrix_set(value, at);
    }
    return !PyErr_Occurred();
}

bool fields_take(PyObject *dictionary, void *settings, const core_field *fields)
{
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dictionary, &position, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        const core_field *field = fields;
        while (name && field->name && strcmp(field->name, name) != 0)
            field++;
        if (!name || !field->name) {
            PyErr_Format(PyExc_TypeError, "unknown setting %R", key);
            return false;
        }
        if (!field_set(value, (char *)settings + field->offset, field->type))
            return false;
    }
    return true;
}

#define METRIC(name, type)                                \
    {                                                     \
#name, type, offsetof(ddsc_metric_settings, name) \
    }
static const core_field metric_fields[] = {METRIC(metric, FIELD_INT),
                                           METRIC(epsilon, FIELD_DOUBLE),
                                           METRIC(epsilon_is_percent, FIELD_INT),
                                           METRIC(sinkhorn_value, FIELD_INT),
                                           METRIC(sinkhorn_tolerance, FIELD_DOUBLE),
                                           METRIC(sinkhorn_max_iterations, FIELD_INT64),
                                           METRIC(mmd_kernel, FIELD_INT),
                                           METRIC(bandwidth_rule, FIELD_INT),
                                           METRIC(bandwidth, FIELD_DOUBLE),
                                           METRIC(mmd_estimator, FIELD_INT),
                                           METRIC(reference_rule, FIELD_INT),
                                           METRIC(reference_size, FIELD_INT64),
                                           METRIC(w2_max_pivots, FIELD_INT64),
                                           METRIC(mmd_features, FIELD_INT64),
                                           METRIC(lot_components, FIELD_INT64),
                                           METRIC(cost, FIELD_INT64),
                                           METRIC(paper, FIELD_INT64),
                                           METRIC(cost_matrix, FIELD_MATRIX),
                                           {NULL, FIELD_INT, 0}};

/* Fills the metric settings. The LOT reference is passed as a handle. */
bool metric_take(PyObject *dictionary, ddsc_metric_settings *set)
{
    ddsc_metric_settings_init(set);
    PyObject *reference = PyDict_GetItemString(dictionary, "reference_measures");
    if (!reference)
        return fields_take(dictionary, set, metric_fields);
    core_handle *handle = NULL;
    PyObject *rest = PyDict_Copy(dictionary);
    bool good = rest && PyDict_DelItemString(rest, "reference_measures") == 0 &&
                handle_measures(reference, &handle) && fields_take(rest, set, metric_fields);
    Py_XDECREF(rest);
    if (good)
        set->reference_measures = handle->pointer;
    return good;
}

#define GRAPH(name, type)                                \
    {                                                    \
#name, type, offsetof(ddsc_graph_settings, name) \
    }
static const core_field graph_fields[] = {
    GRAPH(tau, FIELD_INT64),     GRAPH(exact_graph, FIELD_INT),
    GRAPH(sample, FIELD_DOUBLE), GRAPH(sample_columns, FIELD_DOUBLE),
    GRAPH(neighbors, FIELD_INT), GRAPH(hubs, FIELD_INT64),
    {NULL, FIELD_INT, 0}};

bool graph_take(PyObject *dictionary, ddsc_graph_settings *set)
{
    ddsc_graph_settings_init(set);
    return fields_take(dictionary, set, graph_fields);
}

bool put(PyObject *dictionary, const char *name, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dictionary, name, value) : -1;
    Py_XDECREF(value);
    return status == 0;
}

PyObject *stats_dictionary(const ddsc_pair_stats *s)
{
    return Py_BuildValue(
        "{sLsLsLsLsLsLsLsdsdsdsLsdsLsdsd}", "n_pairs", (long long)s->n_pairs, "n_solved",
        (long long)s->n_solved, "n_bounds", (long long)s->n_bounds, "n_pruned",
        (long long)s->n_pruned, "n_not_converged", (long long)s->n_not_converged, "n_clamped",
        (long long)s->n_clamped, "n_iterations", (long long)s->n_iterations, "max_gap", s->max_gap,
        "epsilon", s->epsilon, "bandwidth", s->bandwidth, "reference_size",
        (long long)s->reference_size, "seconds", s->seconds, "n_checked", (long long)s->n_checked,
        "check_median", s->check_median, "check_max", s->check_max);
}

/* ---- text ---- */

int text_grow(void *user, const void *bytes, size_t n)
{
    core_text *t = user;
    char *more = realloc(t->bytes, t->n + n);
    if (!more)
        return 1;
    memcpy(more + t->n, bytes, n);
    t->bytes = more;
    t->n += n;
    return 0;
}

PyObject *text_decode(const core_text *t)
{
    return PyUnicode_DecodeUTF8(t->bytes, (Py_ssize_t)t->n, "replace");
}
