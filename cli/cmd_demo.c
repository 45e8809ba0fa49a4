/* ddsc demo: clusters squares and circles with a common center. The means of all items are nearly
 * equal, so methods that use one vector per item fail. Distances between distributions separate the
 * two shapes (section 5.1 of the paper). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

enum { N_METHODS = 8, N_PER_SHAPE = 20, N_POINTS = 40 };

typedef struct demo_method {
    const char *name;
    const char *what;
    int method; /* cli_method */
    ddsc_metric metric;
} demo_method;

static const demo_method methods[N_METHODS] = {
    {"w2", "exact 2-Wasserstein distance", METHOD_DDSC, DDSC_METRIC_W2},
    {"sinkhorn", "entropic transport", METHOD_DDSC, DDSC_METRIC_SINKHORN},
    {"mmd", "maximum mean discrepancy", METHOD_DDSC, DDSC_METRIC_MMD},
    {"lot", "linear optimal transport", METHOD_DDSC, DDSC_METRIC_LOT},
    {"kmeans", "baseline: k-means on the means", METHOD_KMEANS, DDSC_METRIC_W2},
    {"sc", "baseline: spectral clustering of the means", METHOD_SC, DDSC_METRIC_W2},
    {"d2", "baseline: k-means around barycenters", METHOD_D2, DDSC_METRIC_W2},
    {"pd2", "baseline: like d2, projection robust", METHOD_PD2, DDSC_METRIC_W2},
};

typedef struct demo_result {
    int32_t *labels;
    ddsc_scores scores;
    double seconds;
    bool converged;
} demo_result;

typedef struct demo {
    session *s;
    ddsc_measures *shapes;
    ddsc_measures_view view;
    demo_result result[N_METHODS];
    const char *dir;
    char *page, *picture;
} demo;

static const char *const file_names[] = {"report.html", "shapes.svg", NULL};

static void copy_labels(demo *d, demo_result *r, const ddsc_clustering *c)
{
    memcpy(r->labels, ddsc_clustering_get_labels(c), (size_t)d->view.n_items * sizeof *r->labels);
}

static ddsc_status run_metric(demo *d, demo_result *r, const ddsc_cluster_settings *set)
{
    ddsc_clustering *c = NULL;
    ddsc_status status = ddsc_cluster_run(d->s->ctx, &c, d->shapes, set);
    if (status >= 0)
        copy_labels(d, r, c);
    ddsc_clustering_destroy(c);
    return status;
}

static ddsc_status run_sc(demo *d, demo_result *r, int64_t dim, const double *vectors,
                          const ddsc_cluster_settings *set)
{
    ddsc_context *ctx = d->s->ctx;
    ddsc_graph *graph = NULL;
    ddsc_clustering *c = NULL;
    ddsc_status status =
        ddsc_graph_create_from_vectors(ctx, &graph, d->view.n_items, dim, vectors, set->graph);
    if (status >= 0)
        status = ddsc_spectral_run(ctx, &c, graph, set);
    if (status >= 0)
        copy_labels(d, r, c);
    ddsc_clustering_destroy(c);
    ddsc_graph_destroy(graph);
    return status;
}

static ddsc_status run_d2(demo *d, demo_result *r, ddsc_barycenter_method method)
{
    ddsc_d2 *found = NULL;
    ddsc_d2_view view;
    ddsc_d2_settings set;
    ddsc_d2_settings_init(&set);
    set.method = method;
    ddsc_status status = ddsc_d2_run(d->s->ctx, &found, d->shapes, &set);
    ddsc_d2_get_view(found, &view);
    if (status >= 0)
        memcpy(r->labels, view.labels, (size_t)view.n * sizeof *r->labels);
    ddsc_d2_destroy(found);
    return status;
}

static ddsc_status run_vectors(demo *d, demo_result *r, int method,
                               const ddsc_cluster_settings *set)
{
    ddsc_context *ctx = d->s->ctx;
    double *vectors = NULL, inertia;
    int64_t dim = 0;
    ddsc_status status = ddsc_vectors_run(ctx, &vectors, &dim, d->shapes, DDSC_VECTORS_AUTO);
    if (status >= 0)
        status = method == METHOD_SC ? run_sc(d, r, dim, vectors, set)
                                     : ddsc_kmeans_run(ctx, r->labels, &inertia, d->view.n_items,
                                                       dim, vectors, 2, set->kmeans_restarts);
    ddsc_release(ctx, vectors);
    return status;
}

static ddsc_status run_any(demo *d, demo_result *r, int method, const ddsc_cluster_settings *set)
{
    switch (method) {
    case METHOD_DDSC: return run_metric(d, r, set);
    case METHOD_D2: return run_d2(d, r, DDSC_BARYCENTER_ADMM);
    case METHOD_PD2: return run_d2(d, r, DDSC_BARYCENTER_PROJECTED);
    default: return run_vectors(d, r, method, set);
    }
}

static bool run_method(demo *d, int which, int *code)
{
    demo_result *r = &d->result[which];
    const demo_method *m = &methods[which];
    double began = cli_now();
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_metric_settings_init(&metric);
    metric.metric = m->metric;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 2;
    set.metric = &metric;
    ddsc_scores_init(&r->scores);
    r->labels = cli_allocate((size_t)d->view.n_items, sizeof *r->labels);
    ddsc_status status = run_any(d, r, m->method, &set);
    if (!session_ok(d->s, status, code))
        return false;
    r->converged = status == DDSC_OK;
    r->seconds = cli_now() - began;
    return session_ok(
        d->s, ddsc_scores_run(d->s->ctx, &r->scores, d->view.n_items, r->labels, d->view.label),
        code);
}

static json_t *to_json(const demo *d)
{
    json_t *root = json_object(), *list = json_put_array(root, "methods");
    for (int i = 0; i < N_METHODS; i++) {
        const demo_result *r = &d->result[i];
        json_t *row = json_object();
        json_put_text(row, "name", methods[i].name);
        json_put_scores(row, &r->scores);
        json_put_bool(row, "baseline", methods[i].method != METHOD_DDSC);
        json_put_bool(row, "converged", r->converged);
        json_put_real(row, "seconds", r->seconds);
        json_add(list, row);
    }
    json_put_count(root, "n", d->view.n_items);
    json_put_count(root, "points", N_POINTS);
    json_put_count(root, "seed", d->s->opt.seed);
    json_put(root, "report", d->page ? json_from_text(d->page) : json_null());
    json_put(root, "picture", d->picture ? json_from_text(d->picture) : json_null());
    return root;
}

/* Renders the page, or a single picture. */
static bool compare(text *t, const demo *d, int picture, int *code)
{
    const char *names[N_METHODS], *notes[N_METHODS];
    const int32_t *labels[N_METHODS];
    ddsc_comparison c;
    ddsc_comparison_init(&c);
    for (int i = 0; i < N_METHODS; i++) {
        names[i] = methods[i].name;
        notes[i] = methods[i].what;
        labels[i] = d->result[i].labels;
    }
    c.measures = d->shapes;
    c.title = "Squares and circles";
    c.words = "The items are 20 squares and 20 circles of 40 points each, all around one center. "
              "Every method "
              "computes two clusters. The first two baselines use only the mean of each item, "
              "and the other two look for round clusters around barycenters. None of the baselines "
              "can separate the shapes.";
    c.n = N_METHODS;
    c.names = names;
    c.notes = notes;
    c.labels = labels;
    return session_ok(d->s, ddsc_comparison_write(d->s->ctx, &c, picture, text_write, t), code);
}

static bool write_files(demo *d, int *code)
{
    text page = {0}, picture = {0};
    bool own = d->s->opt.output == NULL; /* the default folder may be overwritten */
    if (!output_make_dir(d->dir, code))
        return false;
    d->page = output_path(d->dir, file_names[0]);
    d->picture = output_path(d->dir, file_names[1]);
    bool good = compare(&page, d, 0, code) && compare(&picture, d, 1, code) &&
                output_text(d->s, &page, d->page, own, code) &&
                output_text(d->s, &picture, d->picture, own, code);
    text_free(&page);
    text_free(&picture);
    return good;
}

static bool print_table(demo *d, int *code)
{
    text t = {0};
    text_addf(&t, "%d squares and %d circles of %d points, 2 clusters\n\n", N_PER_SHAPE,
              N_PER_SHAPE, N_POINTS);
    text_add(&t, "method      AMI     ARI     NMI    seconds\n");
    for (int i = 0; i < N_METHODS; i++) {
        const demo_result *r = &d->result[i];
        text_addf(&t, "%-9s %7.4f %7.4f %7.4f  %7.3f   %s\n", methods[i].name, r->scores.ami,
                  r->scores.ari, r->scores.nmi, r->seconds, methods[i].what);
    }
    if (d->page)
        text_addf(&t, "\nreport: %s\n", d->page);
    return output_print(d->s, &t, code);
}

static bool compute(demo *d, int *code)
{
    ddsc_context *ctx = d->s->ctx;
    if (!session_ok(d->s, ddsc_measures_generate_shapes(ctx, &d->shapes, N_PER_SHAPE, N_POINTS),
                    code))
        return false;
    ddsc_measures_get_view(d->shapes, &d->view);
    for (int i = 0; i < N_METHODS; i++)
        if (!run_method(d, i, code))
            return false;
    return true;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    demo d = {.s = s, .dir = s->opt.output ? s->opt.output : "ddsc-demo"};
    if (output_check_dir(s, d.dir, file_names, s->opt.output == NULL, &code) &&
        compute(&d, &code) && write_files(&d, &code)) {
        code = session_exit(s);
        if (s->opt.json)
            json_print(s, to_json(&d), &code);
        else
            print_table(&d, &code);
    }
    for (int i = 0; i < N_METHODS; i++)
        free(d.result[i].labels);
    ddsc_measures_destroy(d.shapes);
    free(d.page);
    free(d.picture);
    return code;
}

static const option_group *const groups[] = {&group_dir_output, &group_run, &group_help, NULL};

const cli_verb verb_demo = {
    .name = "demo",
    .operands = "[-o DIR]",
    .max_operands = 0,
    .summary = "run the built-in example: squares and circles",
    .description = "Clusters 20 squares and 20 circles of 40 points with all four metrics and four "
                   "baselines, prints the scores of each, and writes a report and a figure to DIR "
                   "(default: ddsc-demo, which is overwritten).",
    .groups = groups,
    .examples = "ddsc demo\ttable, report and figure\n"
                "ddsc demo --json -o shapes\tmachine-readable; results in shapes/\n",
    .run = run,
};
