/* report.html of `cluster`. Nothing in it depends on threads or clocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "options.h"

enum { MAX_DRAWN = 4000 };

/* Every key of a flat object as a row; `object` is taken over. */
static void add_object(text *t, json_t *object)
{
    const char *key;
    json_t *value;
    html_table_begin(t, NULL);
    json_object_foreach(object, key, value)
    {
        char *dump = json_is_string(value)
                         ? NULL
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        html_pair(t, key, json_is_string(value) ? json_string_value(value) : dump ? dump : "");
        free(dump);
    }
    html_table_end(t);
    json_decref(object);
}

static void add_clusters(text *t, const cluster_result *r)
{
    static const char *const heads[] = {"cluster", "items", NULL};
    html_heading(t, "Clusters");
    html_table_begin(t, heads);
    for (int32_t c = 0; c < r->view.k; c++) {
        html_row_begin(t);
        html_cell_cluster(t, c);
        html_cell_count(t, r->size[c]);
        html_row_end(t);
    }
    html_table_end(t);
}

static void add_scores(text *t, const cluster_result *r)
{
    static const char *const heads[] = {"AMI", "ARI", "NMI", "purity", "items", NULL};
    text against = {0};
    if (!r->truth_name)
        return;
    text_addf(&against, "Scores against %s", r->truth_name);
    html_heading(t, text_get(&against));
    text_free(&against);
    html_table_begin(t, heads);
    html_row_begin(t);
    html_cell_real(t, r->scores.ami);
    html_cell_real(t, r->scores.ari);
    html_cell_real(t, r->scores.nmi);
    html_cell_real(t, r->scores.purity);
    html_cell_count(t, r->scores.n);
    html_row_end(t);
    html_table_end(t);
}

static void add_sweep(text *t, const cluster_result *r)
{
    static const char *const heads[] = {"K",       "gap",      "relative gap", "modularity",
                                        "inertia", "smallest", "largest",      "AMI",
                                        "ARI",     NULL};
    html_heading(t, "Numbers of clusters tried");
    html_table_begin(t, heads);
    for (int64_t i = 0; i < r->view.n_sweep; i++) {
        const ddsc_k_row *k = &r->view.sweep[i];
        html_row_begin(t);
        html_cell_count(t, k->k);
        html_cell_real(t, k->gap);
        html_cell_real(t, k->relative_gap);
        html_cell_real(t, k->modularity);
        html_cell_real(t, k->inertia);
        html_cell_count(t, k->smallest);
        html_cell_count(t, k->largest);
        if (r->sweep_scores) {
            html_cell_real(t, r->sweep_scores[i].ami);
            html_cell_real(t, r->sweep_scores[i].ari);
        }
        html_row_end(t);
    }
    html_table_end(t);
}

typedef struct drawing {
    int64_t n, stride;
    double *rows, *xy;
    int32_t *label;
    const char **name;
    char (*room)[24];
} drawing;

/* Every `stride`-th item of the embedding, seen along its two widest directions. */
static void drawing_make(drawing *d, const cluster_result *r)
{
    int64_t m = r->view.n_vectors;
    d->rows = cli_allocate((size_t)(d->n * m), sizeof *d->rows);
    d->xy = cli_allocate((size_t)(2 * d->n), sizeof *d->xy);
    d->label = cli_allocate((size_t)d->n, sizeof *d->label);
    d->name = cli_allocate((size_t)d->n, sizeof *d->name);
    d->room = cli_allocate((size_t)d->n, sizeof *d->room);
    for (int64_t i = 0; i < d->n; i++) {
        int64_t item = i * d->stride, row = r->has_items ? r->in.view.row[item] : item;
        memcpy(d->rows + i * m, r->view.embedding + item * m, (size_t)m * sizeof *d->rows);
        d->label[i] = r->view.labels[item];
        d->name[i] = cluster_id(r, row, d->room[i], sizeof d->room[i]);
    }
    report_project(d->xy, d->rows, d->n, m);
}

static void drawing_free(drawing *d)
{
    free(d->rows);
    free(d->xy);
    free(d->label);
    free(d->name);
    free(d->room);
}

static void add_scatter(text *t, const cluster_result *r)
{
    drawing d = {.stride = (r->view.n + MAX_DRAWN - 1) / MAX_DRAWN};
    if (r->view.n == 0 || r->view.n_vectors == 0)
        return;
    d.n = (r->view.n + d.stride - 1) / d.stride;
    drawing_make(&d, r);
    html_heading(t, "Spectral embedding");
    if (d.stride > 1) {
        text note = {0};
        text_addf(&note, "One item of every %" PRId64 " is drawn.", d.stride);
        html_paragraph(t, text_get(&note));
        text_free(&note);
    }
    svg_scatter(t, &(svg_points){.n = d.n, .xy = d.xy, .label = d.label, .name = d.name});
    drawing_free(&d);
}

static void add_spectrum(text *t, const cluster_result *r)
{
    html_heading(t, "Eigenvalues of the normalised Laplacian");
    svg_eigenvalues(t, r->view.eigenvalues, r->view.n_eigenvalues, r->view.k);
    text note = {0};
    text_addf(&note, "The graph has %" PRId64 " connected component%s.", r->view.n_components,
              r->view.n_components == 1 ? "" : "s");
    html_paragraph(t, text_get(&note));
    text_free(&note);
}

void cluster_page(text *t, const cluster_result *r)
{
    text title = {0};
    text_addf(&title, "%" PRId64 " items in %" PRId64 " clusters", r->view.n, r->view.k);
    html_begin(t, text_get(&title));
    text_free(&title);
    for (int i = 0; i < r->s->opt.n_operands && i < 8; i++)
        html_paragraph(t, r->s->opt.operand[i]);
    if (!cluster_certified(r))
        html_paragraph(t, "Not converged: these results are marked, see result.json.");
    if (r->view.advice && *r->view.advice)
        html_paragraph(t, r->view.advice);
    add_scores(t, r);
    add_clusters(t, r);
    if (r->clustering) {
        add_scatter(t, r);
        add_spectrum(t, r);
        add_sweep(t, r);
    }
    html_heading(t, "Chosen from the data");
    add_object(t, cluster_chosen_json(r));
    html_heading(t, "Settings");
    add_object(t, cluster_settings_json(r));
    html_end(t);
}
