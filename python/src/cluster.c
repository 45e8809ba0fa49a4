/* Implements the bindings for clustering and for scores of labels. */
#include "core.h"

#define CLUSTER(name, type)                                \
    {                                                      \
#name, type, offsetof(ddsc_cluster_settings, name) \
    }
static const core_field cluster_fields[] = {CLUSTER(k_min, FIELD_INT64),
                                            CLUSTER(k_max, FIELD_INT64),
                                            CLUSTER(gamma_rule, FIELD_INT),
                                            CLUSTER(gamma, FIELD_DOUBLE),
                                            CLUSTER(paper, FIELD_INT),
                                            CLUSTER(min_cluster, FIELD_DOUBLE),
                                            CLUSTER(kmeans_restarts, FIELD_INT64),
                                            CLUSTER(eigen_tolerance, FIELD_DOUBLE),
                                            CLUSTER(eigen_max_iterations, FIELD_INT64),
                                            CLUSTER(joined, FIELD_INT64),
                                            CLUSTER(refine, FIELD_INT64),
                                            CLUSTER(resolve, FIELD_INT64),
                                            {NULL, FIELD_INT, 0}};

/* Fills the settings. The model whose settings are used (`like`) is passed as a handle. */
static bool like_take(PyObject *dictionary, ddsc_cluster_settings *set)
{
    PyObject *like = PyDict_GetItemString(dictionary, "like");
    if (!like)
        return fields_take(dictionary, set, cluster_fields);
    core_handle *handle = NULL;
    PyObject *rest = PyDict_Copy(dictionary);
    bool good = rest && PyDict_DelItemString(rest, "like") == 0 && handle_model(like, &handle) &&
                fields_take(rest, set, cluster_fields);
    Py_XDECREF(rest);
    if (good)
        set->like = handle->pointer;
    return good;
}

bool cluster_take(PyObject *metric, PyObject *graph, PyObject *rest, core_cluster *c)
{
    ddsc_cluster_settings_init(&c->set);
    c->set.metric = &c->metric;
    c->set.graph = &c->graph;
    return metric_take(metric, &c->metric) && graph_take(graph, &c->graph) &&
           like_take(rest, &c->set);
}

static PyObject *cluster_result(core_context *context, ddsc_clustering *found, ddsc_status status)
{
    return handle_result(context, CORE_CLUSTERING, found, status);
}

static PyObject *cluster(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *measures;
    PyObject *metric, *graph, *settings;
    core_cluster c;
    ddsc_clustering *found = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O&O!O!O!", context_type, &context, handle_measures, &measures,
                          &PyDict_Type, &metric, &PyDict_Type, &graph, &PyDict_Type, &settings) ||
        !cluster_take(metric, graph, settings, &c) || !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_cluster_run(context->ctx, &found, measures->pointer, &c.set);
    return cluster_result(context, found, status);
}

static PyObject *spectral(PyObject *module, PyObject *args)
{
    core_context *context;
    core_handle *graph;
    PyObject *settings;
    ddsc_cluster_settings set;
    ddsc_clustering *found = NULL;
    (void)module;
    ddsc_cluster_settings_init(&set);
    if (!PyArg_ParseTuple(args, "O!O&O!", context_type, &context, handle_graph, &graph,
                          &PyDict_Type, &settings) ||
        !fields_take(settings, &set, cluster_fields) || !context_begin(context))
        return NULL;
    ddsc_status status = ddsc_spectral_run(context->ctx, &found, graph->pointer, &set);
    return cluster_result(context, found, status);
}

/* ---- the result as a dictionary ---- */

static PyObject *sweep_list(const ddsc_clustering_view *v)
{
    PyObject *list = PyList_New((Py_ssize_t)v->n_sweep);
    for (int64_t r = 0; list && r < v->n_sweep; r++) {
        const ddsc_k_row *k = v->sweep[r];
        PyObject *row = Py_BuildValue("{sLsdsdsdsdsdsLsL}", "k", (long long)k->k, "gap", k->gap,
                                      "relative_gap", k->relative_gap, "modularity", k->modularity,
                                      "inertia", k->inertia, "stability", k->stability, "smallest",
                                      (long long)k->smallest, "largest", (long long)k->largest);
        if (!row || PyList_SetItem(list, (Py_ssize_t)r, row) < 0) {
            Py_DECREF(list);
            list = NULL;
        }
    }
    return list;
}

static bool put_numbers(PyObject *d, const ddsc_clustering_view *v)
{
    return put(d, "k", PyLong_FromLongLong(v->k)) &&
           put(d, "n_components", PyLong_FromLongLong(v->n_components)) &&
           put(d, "gamma", PyFloat_FromDouble(v->gamma)) &&
           put(d, "max_residual", PyFloat_FromDouble(v->max_residual)) &&
           put(d, "verified", PyBool_FromLong(v->verified)) &&
           put(d, "n_merged_small", PyLong_FromLongLong(v->n_merged_small)) &&
           put(d, "hubs_rescaled", PyBool_FromLong(v->hubs_rescaled)) &&
           put(d, "in_degree_largest", PyLong_FromLongLong(v->in_degree_largest)) &&
           put(d, "n_nobody", PyLong_FromLongLong(v->n_nobody)) &&
           put(d, "seconds_distances", PyFloat_FromDouble(v->seconds_distances)) &&
           put(d, "seconds_eigen", PyFloat_FromDouble(v->seconds_eigen)) &&
           put(d, "seconds_kmeans", PyFloat_FromDouble(v->seconds_kmeans)) &&
           put(d, "advice", PyUnicode_FromString(v->advice ? v->advice : "")) &&
           put(d, "pairs", stats_dictionary(v->pairs)) && put(d, "sweep", sweep_list(v));
}

static bool put_arrays(PyObject *d, PyObject *owner, const ddsc_clustering_view *v)
{
    return put(d, "labels", block_new(owner, v->labels, "i", v->n, -1)) &&
           put(d, "embedding", block_new(owner, v->embedding, "d", v->n, v->n_vectors)) &&
           put(d, "eigenvalues", block_new(owner, v->eigenvalues, "d", v->n_eigenvalues, -1)) &&
           put(d, "residuals", block_new(owner, v->residuals, "d", v->n_eigenvalues, -1)) &&
           put(d, "sweep_labels", block_new(owner, v->sweep_labels, "i", v->n_sweep, v->n));
}

static bool put_affinity(PyObject *d, PyObject *owner, const ddsc_affinity_view *a)
{
    return put(d, "affinity_offsets", block_new(owner, a->offset, "q", a->n + 1, -1)) &&
           put(d, "affinity_indices", block_new(owner, a->column, "i", a->n_entries, -1)) &&
           put(d, "affinity_values", block_new(owner, a->value, "d", a->n_entries, -1)) &&
           put(d, "radius", block_new(owner, a->radius, "d", a->n, -1)) &&
           put(d, "scale_rank", PyLong_FromLongLong(a->scale_rank)) &&
           put(d, "scale_floor", PyFloat_FromDouble(a->scale_floor)) &&
           (!a->scale || put(d, "scale", block_new(owner, a->scale, "d", a->n, -1)));
}

static bool put_graph(PyObject *d, PyObject *owner, const ddsc_graph *graph)
{
    ddsc_graph_view v;
    if (!graph)
        return true;
    ddsc_graph_get_view(graph, &v);
    return put(d, "graph_offsets", block_new(owner, v.offset, "q", v.n + 1, -1)) &&
           put(d, "graph_indices", block_new(owner, v.index, "i", v.n_edges, -1)) &&
           put(d, "graph_d2", block_new(owner, v.d2, "d", v.n_edges, -1));
}

static PyObject *clustering_view(PyObject *module, PyObject *args)
{
    core_handle *found;
    ddsc_clustering_view v;
    ddsc_affinity_view a;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", handle_clustering, &found))
        return NULL;
    ddsc_clustering_get_view(found->pointer, &v);
    ddsc_clustering_get_affinity(found->pointer, &a);
    PyObject *owner = (PyObject *)found, *d = PyDict_New();
    if (d && put_numbers(d, &v) && put_arrays(d, owner, &v) && put_affinity(d, owner, &a) &&
        put_graph(d, owner, v.graph))
        return d;
    Py_XDECREF(d);
    return NULL;
}

/* ---- scores ---- */

static PyObject *scores(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *labels_of, *truth_of, *result = NULL;
    Py_buffer labels = {0}, truth = {0};
    ddsc_scores found;
    (void)module;
    ddsc_scores_init(&found);
    if (!PyArg_ParseTuple(args, "O!OO", context_type, &context, &labels_of, &truth_of))
        return NULL;
    if (buffer_get(labels_of, &labels, 'i', 0, "labels") &&
        buffer_get(truth_of, &truth, 'i', 0, "truth") &&
        buffer_holds(&truth, buffer_count(&labels), "truth") && context_begin(context)) {
        ddsc_status status =
            ddsc_scores_run(context->ctx, &found, buffer_count(&labels), labels.buf, truth.buf);
        if (context_end(context, status))
            result = Py_BuildValue("{sdsdsdsd}", "ami", found.ami, "ari", found.ari, "nmi",
                                   found.nmi, "purity", found.purity);
    }
    PyBuffer_Release(&labels);
    PyBuffer_Release(&truth);
    return result;
}

PyMethodDef cluster_methods[] = {
    {"cluster", cluster, METH_VARARGS, "(context, measures, metric, graph, settings)"},
    {"spectral", spectral, METH_VARARGS, "(context, graph, settings)"},
    {"clustering_view", clustering_view, METH_VARARGS, "(clustering)"},
    {"scores", scores, METH_VARARGS, "(context, labels, truth)"},
    {NULL, NULL, 0, NULL}};
