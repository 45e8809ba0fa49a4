/* Implements the distance-based analysis of variance. Columns are sequences of str, or arrays of
 * float64. */
#include "core.h"

void columns_free(core_columns *c)
{
    for (Py_ssize_t k = 0; c->values && k < c->n_columns; k++)
        if (c->values[k].obj)
            PyBuffer_Release(&c->values[k]);
    PyMem_Free(c->column);
    PyMem_Free(c->text);
    PyMem_Free(c->values);
}

/* Converts the values of one column: a buffer of n numbers, or a list of n entries that are str or
 * None. */
static bool column_take(core_columns *c, Py_ssize_t k, PyObject *values, int64_t n)
{
    ddsc_column *column = &c->column[k];
    if (!PyList_Check(values)) {
        if (!buffer_get(values, &c->values[k], 'd', 0, column->name) ||
            !buffer_holds(&c->values[k], n, column->name))
            return false;
        column->number = c->values[k].buf;
        return true;
    }
    const char **text = c->text + (int64_t)k * n;
    if (PyList_Size(values) != n) {
        PyErr_Format(PyExc_ValueError, "column %s needs %lld values", column->name, (long long)n);
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        PyObject *value = PyList_GetItem(values, (Py_ssize_t)i);
        text[i] = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, NULL);
        if (!text[i] && value != Py_None)
            return false;
    }
    column->text = text;
    return true;
}

bool columns_take(core_columns *c, PyObject *list, int64_t n)
{
    c->n_columns = PyList_Size(list);
    size_t count = c->n_columns > 0 ? (size_t)c->n_columns : 1;
    c->column = PyMem_Calloc(count, sizeof *c->column);
    c->text = PyMem_Calloc(count * (size_t)(n > 0 ? n : 1), sizeof *c->text);
    c->values = PyMem_Calloc(count, sizeof *c->values);
    if (!c->column || !c->text || !c->values) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t k = 0; k < c->n_columns; k++) {
        int kind, role;
        PyObject *values;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "sOii", &c->column[k].name, &values, &kind,
                              &role) ||
            !column_take(c, k, values, n))
            return false;
        c->column[k].kind = (ddsc_column_kind)kind;
        c->column[k].role = (ddsc_column_role)role;
    }
    return true;
}

static PyObject *texts(const char *const *text, int64_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *one = PyUnicode_FromString(text[i]);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *bytes_or_none(const void *data, int64_t n)
{
    if (!data)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)n * 8);
}

static PyObject *row_result(const ddsc_permanova_view *v, const ddsc_permanova_row *r)
{
    PyObject *d = Py_BuildValue(
        "{sssisisLsdsdsdsdsdsLsisdsisLsdsdsdsd}", "column", r->name, "role", (int)r->role, "kind",
        (int)r->kind, "df", (long long)r->df, "sum_of_squares", r->sum_of_squares, "r2", r->r2, "f",
        r->f, "p", r->p, "p_bh", r->p_adjusted, "n_permutations", (long long)r->n_permutations,
        "exhaustive", r->exhaustive, "smallest_p", r->smallest_p, "whole_blocks", r->whole_blocks,
        "residual_df", (long long)r->residual_df, "dispersion_f", r->dispersion_f, "dispersion_p",
        r->dispersion_p, "points_r2", r->points_r2, "points_p", r->points_p);
    if (d && put(d, "levels", texts(r->levels, r->n_levels)) &&
        put(d, "level_sizes", bytes_or_none(r->level_sizes, r->n_levels)) &&
        put(d, "distance_to_centroid", bytes_or_none(r->distance_to_centroid, v->n_used)) &&
        put(d, "mean_distance", bytes_or_none(r->mean_distance, r->n_levels)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *pair_result(const ddsc_permanova_view *v, const ddsc_permanova_pair *p)
{
    const ddsc_permanova_row *r = v->rows[p->row];
    return Py_BuildValue("{sssssssLsLsdsdsdsdsLsisdsz}", "column", r->name, "a", r->levels[p->a],
                         "b", r->levels[p->b], "n_a", (long long)p->n_a, "n_b", (long long)p->n_b,
                         "r2", p->r2, "f", p->f, "p", p->p, "p_holm", p->p_adjusted,
                         "n_permutations", (long long)p->n_permutations, "exhaustive",
                         p->exhaustive, "smallest_p", p->smallest_p, "problem", p->problem);
}

/* Appends the result of a function for each index to a list. Returns NULL on failure. */
#define LIST_OF(count, expression)                                  \
    PyObject *list = PyList_New((Py_ssize_t)(count));               \
    for (int64_t i = 0; list && i < (count); i++) {                 \
        PyObject *one = (expression);                               \
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) { \
            Py_DECREF(list);                                        \
            list = NULL;                                            \
        }                                                           \
    }                                                               \
    return list

static PyObject *row_list(const ddsc_permanova_view *v)
{
    LIST_OF(v->n_rows, row_result(v, v->rows[i]));
}

static PyObject *pair_list(const ddsc_permanova_view *v)
{
    LIST_OF(v->n_pairs, pair_result(v, v->pairs[i]));
}

static PyObject *missing_list(const ddsc_permanova_view *v)
{
    LIST_OF(v->n_missing,
            Py_BuildValue("(LL)", (long long)v->missing[i].item, (long long)v->missing[i].column));
}

static PyObject *result_of(const ddsc_permanova *found)
{
    ddsc_permanova_view v;
    ddsc_permanova_get_view(found, &v);
    PyObject *d = Py_BuildValue(
        "{sLsLsdsdsLsLsLsdsdsi}", "n", (long long)v.n, "n_used", (long long)v.n_used,
        "total_sum_of_squares", v.total_sum_of_squares, "residual_sum_of_squares",
        v.residual_sum_of_squares, "residual_df", (long long)v.residual_df, "points_smallest",
        (long long)v.points_smallest, "points_largest", (long long)v.points_largest, "points_r2",
        v.points_r2, "points_p", v.points_p, "points_warning", v.points_warning);
    if (d && put(d, "terms", row_list(&v)) && put(d, "pairs", pair_list(&v)) &&
        put(d, "missing", missing_list(&v)) && put(d, "used", bytes_or_none(v.used, v.n_used)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *permanova(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *matrix, *list, *given_of, *points_of, *result = NULL;
    long long n, permutations;
    int squared, pairwise, separately;
    Py_buffer distances = {0}, given = {0}, points = {0};
    core_columns c = {0};
    ddsc_permanova_settings set;
    ddsc_permanova *found = NULL;
    (void)module;
    ddsc_permanova_settings_init(&set);
    if (!PyArg_ParseTuple(args, "O!OLO!LOOiii", context_type, &context, &matrix, &n, &PyList_Type,
                          &list, &permutations, &given_of, &points_of, &squared, &pairwise,
                          &separately))
        return NULL;
    if (buffer_get(matrix, &distances, 'd', 0, "distances") &&
        buffer_holds(&distances, n * n, "distances") &&
        buffer_get_or_none(given_of, &given, 'i', "permutations") &&
        buffer_get_or_none(points_of, &points, 'q', "points") && columns_take(&c, list, n) &&
        context_begin(context)) {
        set.permutations = permutations;
        set.squared = squared;
        set.pairwise = pairwise;
        set.separately = separately;
        set.given = given.buf;
        set.n_given = given.buf ? buffer_count(&given) / n : 0;
        set.points = points.buf;
        if (context_end(context, ddsc_permanova_run(context->ctx, &found, n, distances.buf,
                                                    c.n_columns, c.column, &set)))
            result = result_of(found);
    }
    ddsc_permanova_destroy(found);
    columns_free(&c);
    PyBuffer_Release(&distances);
    PyBuffer_Release(&given);
    PyBuffer_Release(&points);
    return result;
}

PyMethodDef permanova_methods[] = {
    {"permanova", permanova, METH_VARARGS,
     "(context, distances, n, columns, permutations, given, points, squared, pairwise, "
     "separately)"},
    {NULL, NULL, 0, NULL}};
