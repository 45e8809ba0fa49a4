/* The files of `cluster -o DIR`. result.json comes last: where it stands, the rest is there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"

const char *const cluster_file_names[] = {"labels.csv",  "embedding.npy", "eigenvalues.csv",
                                          "graph.mtx",   "sweep.csv",     "stability.csv",
                                          "report.html", "result.json",   NULL};

void text_add_csv(text *t, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        text_add(t, field);
        return;
    }
    text_add(t, "\"");
    for (; *field; field++)
        text_add_bytes(t, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    text_add(t, "\"");
}

static bool write_labels(cluster_result *r, const char *path, int *code)
{
    const ddsc_measures *ids = r->has_items ? r->in.measures : NULL;
    return session_wrote(
        r->s, ddsc_labels_write(r->s->ctx, r->row_labels, r->n_rows, ids, path, r->s->opt.force),
        code);
}

static bool write_embedding(cluster_result *r, const char *path, int *code)
{
    int64_t m = r->view.n_vectors;
    double *rows = cli_allocate((size_t)r->n_rows, (size_t)m * sizeof *rows);
    memcpy(rows, r->view.embedding, (size_t)(r->view.n * m) * sizeof *rows);
    if (r->has_items)
        output_spread_rows(rows, m, &r->in.view);
    bool good = session_wrote(
        r->s, ddsc_matrix_write(r->s->ctx, rows, r->n_rows, m, path, r->s->opt.force), code);
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

/* One column of labels for every K. */
static bool write_sweep(cluster_result *r, const char *path, int *code)
{
    text t = {0};
    char room[24];
    int64_t item = 0;
    text_add(&t, "id");
    for (int64_t k = 0; k < r->view.n_sweep; k++)
        text_addf(&t, ",k%" PRId64, r->view.sweep[k].k);
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
    cluster_page(&t, r);
    bool good = output_text(r->s, &t, path, false, code);
    text_free(&t);
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

/* In the order of cluster_file_names; whether a run has such a file. */
static bool has_file(const cluster_result *r, int which)
{
    bool spectral = r->clustering != NULL;
    const bool has[] = {
        true,           spectral, spectral, spectral, spectral && r->view.n_sweep > 1,
        r->trust.n > 0, true,     true};
    return has[which];
}

bool cluster_write(cluster_result *r, const char *dir, int *code)
{
    static bool (*const writers[])(cluster_result *, const char *, int *) = {
        write_labels, write_embedding, write_eigenvalues, write_graph,
        write_sweep,  write_stability, write_report,      write_json};
    bool good = output_make_dir(dir, code);
    for (int i = 0; good && cluster_file_names[i]; i++) {
        char *path = output_path(dir, cluster_file_names[i]);
        if (has_file(r, i))
            good = writers[i](r, path, code);
        else if (r->s->opt.force)
            unlink(path); /* of an earlier run: it would belong to other labels */
        free(path);
    }
    return good;
}
