/* Computes states of points: shares, associations with columns, and transport between two lists of
 * items. */
#include "core.h"

static PyObject *doubles(const double *data, int64_t n)
{
    return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)n * (Py_ssize_t)sizeof *data);
}

static PyObject *state_names(const ddsc_states *states, int64_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t s = 0; list && s < n; s++) {
        PyObject *name = PyUnicode_FromString(ddsc_states_get_name(states, s));
        if (!name || PyList_SetItem(list, (Py_ssize_t)s, name) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *states_result(const ddsc_states *states)
{
    ddsc_states_view v;
    ddsc_states_get_view(states, &v);
    PyObject *d = Py_BuildValue("{sisLsLsLsL}", "given", v.given, "n_states", (long long)v.n_states,
                                "sampled", (long long)v.n_sampled, "n_items", (long long)v.n_items,
                                "dim", (long long)v.dim);
    int64_t width = v.n_states * v.dim;
    if (d && put(d, "names", state_names(states, v.n_states)) &&
        put(d, "shares", doubles(v.share, v.n_items * v.n_states)) &&
        put(d, "total", doubles(v.total, v.n_states)) && put(d, "means", doubles(v.mean, width)) &&
        put(d, "deviations", doubles(v.deviation, width)) &&
        put(d, "tried",
            PyBytes_FromStringAndSize((const char *)v.tried, (Py_ssize_t)v.n_tried * 8)) &&
        put(d, "agreement", doubles(v.agreement, v.n_tried)) &&
        put(d, "labels",
            PyBytes_FromStringAndSize((const char *)v.of, (Py_ssize_t)v.n_support * 4)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

/* Adds the transport between two lists of items. */
static bool add_flow(PyObject *d, const ddsc_states_flow *flow, const ddsc_states_view *v)
{
    int64_t k = v->n_states;
    PyObject *f = Py_BuildValue("{sdsLsL}", "value", flow->value, "n_from", (long long)flow->n_from,
                                "n_to", (long long)flow->n_to);
    if (f && put(f, "mass", doubles(flow->mass, k * k)) &&
        put(f, "shift", doubles(flow->shift, k * v->dim)) &&
        put(f, "shares_from", doubles(flow->from, k)) && put(f, "shares_to", doubles(flow->to, k)))
        return put(d, "transport", f);
    Py_XDECREF(f);
    return false;
}

static PyObject *run_flow(core_context *context, PyObject *d, const ddsc_states *states,
                          const ddsc_measures *measures, const Py_buffer *from, const Py_buffer *to)
{
    ddsc_states_view v;
    ddsc_states_flow flow;
    ddsc_states_get_view(states, &v);
    size_t k = (size_t)v.n_states, width = k * (size_t)v.dim;
    double *space = PyMem_Calloc(k * k + width + 2 * k, sizeof *space);
    ddsc_states_flow_init(&flow);
    flow.mass = space;
    flow.shift = space + k * k;
    flow.from = flow.shift + width;
    flow.to = flow.from + k;
    bool good = space && context_begin(context);
    if (!space)
        PyErr_NoMemory();
    good = good && context_end(context, ddsc_states_flow_run(context->ctx, &flow, states, measures,
                                                             buffer_count(from), from->buf,
                                                             buffer_count(to), to->buf));
    good = good && add_flow(d, &flow, &v);
    PyMem_Free(space);
    if (good)
        return d;
    Py_DECREF(d);
    return NULL;
}

static PyObject *states(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *from_of, *to_of, *result = NULL;
    long long n_states;
    Py_buffer from = {0}, to = {0};
    ddsc_states_settings set;
    ddsc_states *found = NULL;
    (void)module;
    ddsc_states_settings_init(&set);
    if (!PyArg_ParseTuple(args, "O!O&LOO", context_type, &context, handle_measures, &measures,
                          &n_states, &from_of, &to_of))
        return NULL;
    set.n_states = n_states;
    if (buffer_get_or_none(from_of, &from, 'q', "from") &&
        buffer_get_or_none(to_of, &to, 'q', "to") && context_begin(context) &&
        context_end(context, ddsc_states_run(context->ctx, &found, measures->pointer, &set)))
        result = states_result(found);
    if (result && from.buf && to.buf)
        result = run_flow(context, result, found, measures->pointer, &from, &to);
    ddsc_states_destroy(found);
    PyBuffer_Release(&from);
    PyBuffer_Release(&to);
    return result;
}

static PyObject *effect_result(const ddsc_effect *e)
{
    return Py_BuildValue("{sLszszsLsLsLsdsdsdsdsdsdsdsd}", "variable", (long long)e->variable,
                         "class", e->level, "other", e->other, "n", (long long)e->n, "n_class",
                         (long long)e->n_level, "n_other", (long long)e->n_other, "mean",
                         e->mean_level, "mean_other", e->mean_other, "effect", e->effect, "low",
                         e->low, "high", e->high, "standardized", e->standardized, "p", e->p,
                         "p_bh", e->p_adjusted);
}

static PyObject *effects_result(const ddsc_effects *found)
{
    ddsc_effects_view v;
    ddsc_effects_get_view(found, &v);
    PyObject *list = PyList_New((Py_ssize_t)v.n_rows);
    for (int64_t k = 0; list && k < v.n_rows; k++) {
        PyObject *one = effect_result(v.rows[k]);
        if (!one || PyList_SetItem(list, (Py_ssize_t)k, one) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    PyObject *d = Py_BuildValue("{sisLsisisd}", "kind", (int)v.kind, "n_permutations",
                                (long long)v.n_permutations, "exhaustive", v.exhaustive,
                                "whole_blocks", v.whole_blocks, "smallest_p", v.smallest_p);
    if (!d)
        Py_XDECREF(list);
    else if (list && put(d, "rows", list))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *effects(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *values_of, *list, *result = NULL;
    long long n, n_variables, permutations;
    Py_buffer values = {0};
    core_columns c = {0};
    ddsc_effects *found = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OLLO!L", context_type, &context, &values_of, &n, &n_variables,
                          &PyList_Type, &list, &permutations))
        return NULL;
    if (buffer_get(values_of, &values, 'd', 0, "values") &&
        buffer_holds(&values, n * n_variables, "values") && columns_take(&c, list, n) &&
        context_begin(context) &&
        context_end(context, ddsc_effects_run(context->ctx, &found, n, n_variables, values.buf,
                                              c.n_columns, c.column, permutations)))
        result = effects_result(found);
    ddsc_effects_destroy(found);
    columns_free(&c);
    PyBuffer_Release(&values);
    return result;
}

PyMethodDef states_methods[] = {
    {"states", states, METH_VARARGS, "(context, measures, n_states, from, to)"},
    {"effects", effects, METH_VARARGS, "(context, values, n, n_variables, columns, permutations)"},
    {NULL, NULL, 0, NULL}};
