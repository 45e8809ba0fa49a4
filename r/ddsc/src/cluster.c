/* Clusters items, returns and saves the results, and labels new items. */
#include "calls.h"

#include <string.h>

static const char *path_of(SEXP path)
{
    return Rf_translateCharUTF8(STRING_ELT(path, 0));
}

static unsigned flags_of(SEXP overwrite)
{
    return Rf_asLogical(overwrite) == TRUE ? DDSC_WRITE_OVERWRITE : 0;
}

static bool make_report(handle *h, bool outliers)
{
    ddsc_measures_view view;
    ddsc_report_source from;
    ddsc_report_source_init(&from);
    from.clustering = h->clustering;
    from.graph = h->graph;
    from.settings = &h->settings.cluster;
    from.status = h->status;
    from.map = 1;
    from.outliers = outliers;
    if (h->parent) {
        from.measures = h->parent->set;
        ddsc_measures_get_view(from.measures, &view);
        from.truth = view.label;
    }
    ddsc_status status = ddsc_report_create(h->ctx, &h->report, &from);
    if (status != DDSC_OK)
        h->status = status;
    return status >= 0;
}

/* `data` is the handle of a set, or a symmetric matrix of distances. `keep` contains the R objects
 * that the settings refer to. */
SEXP r_cluster(SEXP run, SEXP data, SEXP list, SEXP keep, SEXP outliers, SEXP squared)
{
    bool precomputed = TYPEOF(data) == REALSXP;
    handle *set = precomputed ? NULL : handle_get(data);
    SEXP pointer = PROTECT(handle_new(run, set, keep));
    handle *h = handle_get(pointer);
    settings_fill(&h->settings, list);
    if (precomputed) {
        if (h->settings.graph.hubs == DDSC_HUBS_DEFAULT && !h->settings.cluster.paper)
            h->settings.graph.hubs = DDSC_HUBS_AUTO;
        unsigned flags = Rf_asLogical(squared) == TRUE ? DDSC_DISTANCE_SQUARED : 0;
        h->status = ddsc_graph_create_from_matrix(h->ctx, &h->graph, Rf_nrows(data), REAL(data),
                                                  flags, &h->settings.graph);
        if (h->status >= 0)
            h->status = ddsc_spectral_run(h->ctx, &h->clustering, h->graph, &h->settings.cluster);
    } else {
        h->status = ddsc_cluster_run(h->ctx, &h->clustering, set->set, &h->settings.cluster);
    }
    if (h->status >= 0)
        make_report(h, Rf_asLogical(outliers) == TRUE);
    SEXP answer = handle_answer(h, pointer);
    UNPROTECT(1);
    return answer;
}

/* ---- results ---- */

static SEXP copy_matrix(const double *rows, int64_t n, int64_t dim)
{
    if (!rows)
        return R_NilValue;
    SEXP matrix = Rf_allocMatrix(REALSXP, (int)n, (int)dim);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            REAL(matrix)[j * n + i] = rows[i * dim + j];
    return matrix;
}

static SEXP copy_numbers(const double *values, int64_t n)
{
    SEXP vector = Rf_allocVector(REALSXP, n);
    if (n > 0)
        memcpy(REAL(vector), values, (size_t)n * sizeof *values);
    return vector;
}

static SEXP copy_labels(const int32_t *labels, int64_t n)
{
    SEXP vector = Rf_allocVector(INTSXP, n);
    for (int64_t i = 0; i < n; i++)
        INTEGER(vector)[i] = labels[i];
    return vector;
}

/* Returns one row per K: k, gap, relative gap, modularity, inertia, size of the smallest and the
 * largest cluster, stability. */
static SEXP sweep_of(const ddsc_clustering_view *view)
{
    SEXP table = Rf_allocMatrix(REALSXP, (int)view->n_sweep, 8);
    for (int64_t i = 0; i < view->n_sweep; i++) {
        const ddsc_k_row *row = view->sweep[i];
        const double values[] = {(double)row->k,       row->gap,      row->relative_gap,
                                 row->modularity,      row->inertia,  (double)row->smallest,
                                 (double)row->largest, row->stability};
        for (int64_t j = 0; j < 8; j++)
            REAL(table)[j * view->n_sweep + i] = values[j];
    }
    return table;
}

static SEXP verdict_of(const ddsc_verdict *verdict)
{
    static const char *const names[] = {"level", "headline", "detail", "halves_agree"};
    if (!verdict)
        return R_NilValue;
    ddsc_verdict_view view;
    ddsc_verdict_get_view(verdict, &view);
    const ddsc_level_words *words = ddsc_level_get_words(view.level);
    SEXP list = named_list(4, names);
    SET_VECTOR_ELT(list, 0, Rf_ScalarString(string_of(words ? words->name : NULL)));
    SET_VECTOR_ELT(list, 1, Rf_ScalarString(string_of(view.headline)));
    SET_VECTOR_ELT(list, 2, Rf_ScalarString(string_of(view.detail)));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal(view.halves_agree));
    UNPROTECT(1);
    return list;
}

static SEXP scores_of(const ddsc_scores *scores)
{
    static const char *const names[] = {"ami", "ari", "nmi", "purity"};
    if (!scores)
        return R_NilValue;
    SEXP list = named_list(4, names);
    SET_VECTOR_ELT(list, 0, Rf_ScalarReal(scores->ami));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(scores->ari));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(scores->nmi));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal(scores->purity));
    UNPROTECT(1);
    return list;
}

SEXP r_result(SEXP pointer)
{
    static const char *const names[] = {"k",      "labels",  "map",         "embedding",
                                        "sweep",  "verdict", "eigenvalues", "certified",
                                        "scores", "advice",  "gamma",       "n_components"};
    handle *h = handle_get(pointer);
    ddsc_clustering_view found;
    ddsc_report_view view;
    handle_begin(h);
    ddsc_clustering_get_view(h->clustering, &found);
    ddsc_report_get_view(h->report, &view);
    SEXP list = named_list(12, names);
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)view.k));
    SET_VECTOR_ELT(list, 1, copy_labels(view.labels, view.n_rows));
    SET_VECTOR_ELT(list, 2, copy_matrix(view.map, view.n_rows, 2));
    SET_VECTOR_ELT(list, 3, copy_matrix(found.embedding, found.n, found.n_vectors));
    SET_VECTOR_ELT(list, 4, sweep_of(&found));
    SET_VECTOR_ELT(list, 5, verdict_of(view.verdict));
    SET_VECTOR_ELT(list, 6, copy_numbers(found.eigenvalues, found.n_eigenvalues));
    SET_VECTOR_ELT(list, 7, Rf_ScalarLogical(view.certified));
    SET_VECTOR_ELT(list, 8, scores_of(view.scores));
    SET_VECTOR_ELT(list, 9, Rf_ScalarString(string_of(found.advice)));
    SET_VECTOR_ELT(list, 10, Rf_ScalarReal(found.gamma));
    SET_VECTOR_ELT(list, 11, Rf_ScalarReal((double)found.n_components));
    UNPROTECT(1);
    return list;
}

/* form is "brief", "text", "items", "json" or "html". */
SEXP r_report(SEXP pointer, SEXP form)
{
    static const struct {
        const char *name;
        ddsc_report_form form;
    } forms[] = {{"brief", DDSC_REPORT_BRIEF},
                 {"text", DDSC_REPORT_TEXT},
                 {"items", DDSC_REPORT_ITEMS},
                 {"json", DDSC_REPORT_JSON},
                 {"html", DDSC_REPORT_HTML}};
    handle *h = handle_get(pointer);
    handle_begin(h);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, CHAR(STRING_ELT(form, 0))) == 0)
            h->status = ddsc_report_write(h->ctx, h->report, forms[i].form, text_write, &h->output);
    SEXP text = PROTECT(text_string(&h->output));
    text_free(&h->output);
    SEXP answer = handle_answer(h, text);
    UNPROTECT(1);
    return answer;
}

/* Writes only the model if the path ends in .npz, and otherwise all files of the result to a
 * folder. */
SEXP r_save(SEXP pointer, SEXP path, SEXP overwrite)
{
    handle *h = handle_get(pointer);
    const char *name = path_of(path);
    size_t n = strlen(name);
    handle_begin(h);
    if (n > 4 && strcmp(name + n - 4, ".npz") == 0) {
        if (cluster_make_model(h))
            h->status = ddsc_model_write(h->ctx, h->model, name, flags_of(overwrite));
    } else {
        h->status = ddsc_report_save(h->ctx, h->report, name, flags_of(overwrite));
    }
    return handle_answer(h, R_NilValue);
}

/* ---- new items ---- */

bool cluster_make_model(handle *h)
{
    if (h->model)
        return true;
    h->status = ddsc_model_create(h->ctx, &h->model, h->parent ? h->parent->set : NULL,
                                  h->clustering, &h->settings.cluster);
    return h->status >= 0;
}

SEXP r_model_read(SEXP run, SEXP path)
{
    SEXP pointer = PROTECT(handle_new(run, NULL, R_NilValue));
    handle *h = handle_get(pointer);
    h->status = ddsc_model_read(h->ctx, &h->model, path_of(path));
    SEXP answer = handle_answer(h, pointer);
    UNPROTECT(1);
    return answer;
}

SEXP r_model_view(SEXP pointer)
{
    static const char *const names[] = {"k", "labels", "ids", "metric", "dim"};
    handle *h = handle_get(pointer);
    ddsc_model_view view;
    ddsc_model_get_view(h->model, &view);
    SEXP list = named_list(5, names);
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)view.k));
    SET_VECTOR_ELT(list, 1, copy_labels(view.labels, view.n_items));
    SEXP ids = Rf_allocVector(STRSXP, view.n_items);
    SET_VECTOR_ELT(list, 2, ids);
    ddsc_measures_view items;
    ddsc_measures_get_view(view.measures, &items);
    for (int64_t i = 0; i < view.n_items; i++)
        SET_STRING_ELT(ids, i, string_of(ddsc_measures_get_id(view.measures, items.row[i])));
    SET_VECTOR_ELT(list, 3, Rf_ScalarInteger((int)view.metric));
    SET_VECTOR_ELT(list, 4, Rf_ScalarReal((double)view.dim));
    UNPROTECT(1);
    return list;
}

SEXP r_assign(SEXP run, SEXP pointer, SEXP items)
{
    static const char *const names[] = {"labels", "confidence", "distance", "far"};
    handle *from = handle_get(pointer), *set = handle_get(items);
    SEXP own = PROTECT(handle_new(run, NULL, R_NilValue));
    handle *h = handle_get(own);
    ddsc_measures_view view;
    ddsc_measures_get_view(set->set, &view);
    SEXP list = named_list(4, names);
    SET_VECTOR_ELT(list, 0, Rf_allocVector(INTSXP, view.n_items));
    SET_VECTOR_ELT(list, 1, Rf_allocVector(REALSXP, view.n_items));
    SET_VECTOR_ELT(list, 2, Rf_allocVector(REALSXP, view.n_items));
    SET_VECTOR_ELT(list, 3, Rf_allocVector(LGLSXP, view.n_items));
    ddsc_assignment out;
    ddsc_assignment_init(&out);
    out.labels = INTEGER(VECTOR_ELT(list, 0));
    out.confidence = REAL(VECTOR_ELT(list, 1));
    out.distance = REAL(VECTOR_ELT(list, 2));
    out.far = LOGICAL(VECTOR_ELT(list, 3));
    handle_begin(from);
    if (cluster_make_model(from))
        h->status = ddsc_assign_run(h->ctx, &out, NULL, from->model, set->set, NULL);
    SEXP answer = handle_answer(from->status < 0 ? from : h, list);
    UNPROTECT(2);
    return answer;
}
