/* The files of `cluster -o DIR`. result.json comes last: where it stands, the rest is there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "report_page.h"

static bool write_labels(cluster_result *r, const char *path, int *code)
{
    const ddsc_measures *ids = r->has_items ? r->in.measures : NULL;
    return session_ok(
        r->s, ddsc_labels_write(r->s->ctx, r->row_labels, r->n_rows, ids, path, output_flags(r->s)),
        code);
}

static bool write_embedding(cluster_result *r, const char *path, int *code)
{
    int64_t m = r->view.n_vectors;
    double *rows = cli_allocate((size_t)r->n_rows, (size_t)m * sizeof *rows);
    memcpy(rows, r->view.embedding, (size_t)(r->view.n * m) * sizeof *rows);
    if (r->has_items)
        output_spread_rows(rows, m, &r->in.view);
    bool good = session_ok(
        r->s, ddsc_matrix_write(r->s->ctx, rows, r->n_rows, m, path, output_flags(r->s)), code);
    free(rows);
    return good;
}

static bool write_eigenvalues(cluster_result *r, const char *path, int *code)
{
    text t = {0};
    text_add(&t, "index,eigenvalue,residual\n");
    for (int64_t i = 0; i < r->view.n_eigenvalues; i++) {
        text_addf(&t, "%" PRId64 ",", i + 1);
        text_add_double(&t, r->view.eigenvalues[i]);
        text_add(&t, ",");
        if (r->view.residuals)
            text_add_double(&t, r->view.residuals[i]);
        text_add(&t, "\n");
    }
    bool good = output_text(r->s, &t, path, false, code);
    text_free(&t);
    return good;
}

static bool write_graph(cluster_result *r, const char *path, int *code)
{
    return output_graph(r->s, r->graph ? r->graph : r->view.graph,
                        r->has_items ? &r->in.view : NULL, path, code);
}

static bool write_model(cluster_result *r, const char *path, int *code)
{
    session *s = r->s;
    ddsc_model *model = NULL;
    bool good =
        session_ok(
            s, ddsc_model_create(s->ctx, &model, r->in.measures, r->clustering, &s->opt.cluster),
            code) &&
        session_ok(s, ddsc_model_write(s->ctx, model, path, output_flags(s)), code);
    ddsc_model_destroy(model);
    return good;
}

/* One column of labels for every K. */
static bool write_sweep(cluster_result *r, const char *path, int *code)
{
    text t = {0};
    char room[24];
    int64_t item = 0;
    text_add(&t, "id");
    for (int64_t k = 0; k < r->view.n_sweep; k++)
        text_addf(&t, ",k%" PRId64, r->view.sweep[k]->k);
    text_add(&t, "\n");
    for (int64_t row = 0; row < r->n_rows; row++) {
        bool kept = r->row_labels[row] >= 0;
        text_add_csv(&t, cluster_id(r, row, room, sizeof room));
        for (int64_t k = 0; k < r->view.n_sweep; k++)
            text_addf(&t, ",%" PRId32, kept ? r->view.sweep_labels[k * r->view.n + item] : -1);
        text_add(&t, "\n");
        item += kept;
    }
    bool good = output_text(r->s, &t, path, false, code);
    text_free(&t);
    return good;
}

static bool write_truth(cluster_result *r, const char *path, int *code)
{
    const ddsc_measures *ids = r->has_items ? r->in.measures : NULL;
    return session_ok(
        r->s, ddsc_labels_write(r->s->ctx, r->truth, r->n_rows, ids, path, output_flags(r->s)),
        code);
}

static bool write_map(cluster_result *r, const char *path, int *code)
{
    return session_ok(
        r->s, ddsc_matrix_write(r->s->ctx, r->map, r->n_rows, 2, path, output_flags(r->s)), code);
}

static bool write_stability(cluster_result *r, const char *path, int *code)
{
    text t = {0};
    cluster_stability_csv(&t, r);
    bool good = output_text(r->s, &t, path, false, code);
    text_free(&t);
    return good;
}

static bool write_report(cluster_result *r, const char *path, int *code)
{
    text t = {0};
    json_t *result = cluster_json(r, false);
    report_data d = {.result = result,
                     .n_rows = r->n_rows,
                     .k = r->view.k,
                     .label = r->row_labels,
                     .xy = r->map};
    if (r->has_items) {
        d.measures = r->in.measures;
        d.items = r->in.view;
    }
    int32_t *truth = report_truth(&d, r->truth);
    d.truth = truth;
    report_index(&d);
    report_page(&t, &d);
    report_index_free(&d);
    free(truth);
    json_decref(result);
    bool good = output_text(r->s, &t, path, false, code);
    text_free(&t);
    return good;
}

/* The barycenters, as a set of their own. */
static bool write_centres(cluster_result *r, const char *path, int *code)
{
    const ddsc_d2_view *c = &r->centres;
    session *s = r->s;
    ddsc_measures *set = NULL;
    int64_t *offset = cli_allocate((size_t)c->k + 1, sizeof *offset);
    for (int64_t i = 0; i <= c->k; i++)
        offset[i] = i * c->center_size;
    bool good =
        session_ok(s,
                   ddsc_measures_create_clouds(s->ctx, &set, c->k, c->dim, c->support, c->weights,
                                               offset, DDSC_EMPTY_ERROR),
                   code) &&
        session_ok(s, ddsc_measures_write(s->ctx, set, path, DDSC_FORMAT_NPZ, output_flags(s)),
                   code);
    ddsc_measures_destroy(set);
    free(offset);
    return good;
}

static bool write_json(cluster_result *r, const char *path, int *code)
{
    text t = {0};
    json_to_text(&t, cluster_json(r, false));
    bool good = output_text(r->s, &t, path, false, code);
    text_free(&t);
    return good;
}

static bool always(const cluster_result *r)
{
    (void)r;
    return true;
}

static bool if_spectral(const cluster_result *r)
{
    return r->clustering != NULL;
}

/* Only items that were compared by a metric can be compared with new ones. */
static bool if_model(const cluster_result *r)
{
    return r->clustering && r->view.graph;
}

static bool if_sweep(const cluster_result *r)
{
    return r->clustering && r->view.n_sweep > 1;
}

static bool if_truth(const cluster_result *r)
{
    return r->truth != NULL;
}

static bool if_stability(const cluster_result *r)
{
    return r->trust.n > 0;
}

static bool if_centres(const cluster_result *r)
{
    return r->d2 != NULL;
}

static bool if_map(const cluster_result *r)
{
    return r->map != NULL;
}

static const struct {
    const char *name;
    bool (*wanted)(const cluster_result *r);
    bool (*write)(cluster_result *r, const char *path, int *code);
} files[] = {
    {"labels.csv", always, write_labels},
    {"embedding.npy", if_spectral, write_embedding},
    {"eigenvalues.csv", if_spectral, write_eigenvalues},
    {"graph.mtx", if_spectral, write_graph},
    {"model.npz", if_model, write_model},
    {"centres.npz", if_centres, write_centres},
    {"sweep.csv", if_sweep, write_sweep},
    {"stability.csv", if_stability, write_stability},
    {"map.npy", if_map, write_map},
    {"truth.csv", if_truth, write_truth},
    {"report.html", always, write_report},
    {"result.json", always, write_json},
};
enum { N_FILES = sizeof files / sizeof *files };

bool cluster_check_dir(const session *s, const char *dir, int *code)
{
    const char *names[N_FILES + 1] = {NULL};
    for (int i = 0; i < N_FILES; i++)
        names[i] = files[i].name;
    return output_check_dir(s, dir, names, false, code);
}

/* A folder without result.json is no result: what was written before a failure goes. */
static void take_back(const cluster_result *r, const char *dir, int n_written)
{
    for (int i = 0; i < n_written; i++) {
        char *path = output_path(dir, files[i].name);
        if (files[i].wanted(r))
            unlink(path);
        free(path);
    }
}

bool cluster_write(cluster_result *r, const char *dir, int *code)
{
    bool good = output_make_dir(dir, code) && cluster_make_map(r, code);
    int n_written = 0;
    for (; good && n_written < N_FILES; n_written += good) {
        char *path = output_path(dir, files[n_written].name);
        if (files[n_written].wanted(r))
            good = files[n_written].write(r, path, code);
        else if (r->s->opt.force)
            unlink(path); /* of an earlier run: it would belong to other labels */
        free(path);
    }
    if (!good)
        take_back(r, dir, n_written);
    return good;
}
