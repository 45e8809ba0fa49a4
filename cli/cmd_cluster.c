/* ddsc cluster: the whole job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "estimate.h"
#include "options.h"

static bool run_ddsc(cluster_result *r, int *code)
{
    session *s = r->s;
    estimate_announce(s, &r->in);
    return session_resume(s, code) &&
           session_ok(s, ddsc_cluster_run(s->ctx, &r->clustering, r->in.measures, &s->opt.cluster),
                      code) &&
           session_ok(s, ddsc_context_set_resume(s->ctx, NULL, NULL),
                      code); /* other items follow */
}

static bool run_graph(cluster_result *r, double began, int *code)
{
    session *s = r->s;
    r->distances_s = cli_now() - began;
    return session_ok(s, ddsc_spectral_run(s->ctx, &r->clustering, r->graph, &s->opt.cluster),
                      code);
}

static bool run_precomputed(cluster_result *r, int *code)
{
    session *s = r->s;
    double *matrix = NULL, began = cli_now();
    int64_t n = 0;
    if (!input_matrix(s, &matrix, &n, code))
        return false;
    r->read_s = cli_now() - began;
    began = cli_now();
    ddsc_status status = ddsc_graph_create_from_matrix(s->ctx, &r->graph, n, matrix,
                                                       input_distance_flags(s), &s->opt.graph);
    bool good = session_ok_in(s, s->opt.operand[0], status, code);
    ddsc_release(s->ctx, matrix);
    return good && run_graph(r, began, code);
}

/* The view of a baseline: an empty one with labels. */
void cluster_plain_view(cluster_result *r, int64_t n, int64_t k, const int32_t *labels)
{
    ddsc_clustering_get_view(NULL, &r->view);
    r->view.n = n;
    r->view.k = k;
    r->view.labels = labels;
    r->view.verified = 1;
}

/* The vector baselines see an item as one vector. */
static bool run_vectors(cluster_result *r, int *code)
{
    session *s = r->s;
    const ddsc_cluster_settings *set = &s->opt.cluster;
    double *vectors = NULL, began = cli_now();
    int64_t dim = 0, n = r->in.view.n_items;
    if (!session_ok(s,
                    ddsc_vectors_run(s->ctx, &vectors, &dim, r->in.measures,
                                     (ddsc_vectors_rule)s->opt.vectors_from),
                    code))
        return false;
    bool good;
    if (s->opt.method == METHOD_SC) {
        good =
            session_ok(
                s, ddsc_graph_create_from_vectors(s->ctx, &r->graph, n, dim, vectors, set->graph),
                code) &&
            run_graph(r, began, code);
    } else {
        r->vector_labels = cli_allocate((size_t)n, sizeof *r->vector_labels);
        good = session_ok(s,
                          ddsc_kmeans_run(s->ctx, r->vector_labels, &r->inertia, n, dim, vectors,
                                          set->k_min, set->kmeans_restarts),
                          code);
        cluster_plain_view(r, n, set->k_min, r->vector_labels);
        r->kmeans_s = cli_now() - began;
    }
    ddsc_release(s->ctx, vectors);
    return good;
}

static bool run_method(cluster_result *r, int *code)
{
    switch (r->s->opt.method) {
    case METHOD_DDSC: return run_ddsc(r, code);
    case METHOD_D2:
    case METHOD_PD2: return cluster_run_d2(r, code);
    default: return run_vectors(r, code);
    }
}

static void take_views(cluster_result *r)
{
    const ddsc_graph *graph = r->graph;
    if (r->clustering) {
        ddsc_clustering_get_view(r->clustering, &r->view);
        graph = graph ? graph : r->view.graph;
        r->distances_s += r->view.seconds_distances;
        r->eigen_s = r->view.seconds_eigen;
        r->kmeans_s = r->view.seconds_kmeans;
    }
    if (graph)
        ddsc_graph_get_view(graph, &r->edges);
    r->n_rows = r->has_items ? r->in.view.n_rows : r->view.n;
    r->size = cli_allocate((size_t)r->view.k, sizeof *r->size);
    for (int64_t i = 0; i < r->view.n; i++)
        r->size[r->view.labels[i]]++;
    if (r->has_items) {
        r->row_labels = output_row_labels(r->view.labels, &r->in.view);
    } else {
        r->row_labels = cli_allocate((size_t)r->n_rows, sizeof *r->row_labels);
        memcpy(r->row_labels, r->view.labels, (size_t)r->n_rows * sizeof *r->row_labels);
    }
}

static bool score_sweep(cluster_result *r, const int32_t *truth, int *code)
{
    r->sweep_scores = cli_allocate((size_t)r->view.n_sweep, sizeof *r->sweep_scores);
    for (int64_t k = 0; k < r->view.n_sweep; k++) {
        const int32_t *labels = r->view.sweep_labels + k * r->view.n;
        int32_t *rows = r->has_items ? output_row_labels(labels, &r->in.view) : NULL;
        ddsc_scores_init(&r->sweep_scores[k]);
        bool good = session_ok(
            r->s,
            ddsc_scores_run(r->s->ctx, &r->sweep_scores[k], r->n_rows, rows ? rows : labels, truth),
            code);
        free(rows);
        if (!good)
            return false;
    }
    return true;
}

/* Against --truth, or the labels the input carries. */
static bool score(cluster_result *r, const int32_t *truth, const char *name, int *code)
{
    if (!truth)
        return true;
    r->truth_name = name;
    r->truth = truth;
    r->confusion = cluster_confusion(r, truth);
    ddsc_scores_init(&r->scores);
    return session_ok(r->s, ddsc_scores_run(r->s->ctx, &r->scores, r->n_rows, r->row_labels, truth),
                      code) &&
           score_sweep(r, truth, code) && cluster_theory(r, truth, code);
}

static bool compute(cluster_result *r, int *code)
{
    session *s = r->s;
    r->has_items = !s->opt.precomputed;
    bool good;
    if (!r->has_items)
        good = run_precomputed(r, code);
    else
        good = input_open(s, &r->in, code) && run_method(r, code);
    if (!good)
        return false;
    take_views(r);
    if (!cluster_stand(r, code))
        return false;
    if (r->has_items) {
        r->read_s = r->in.seconds;
        return score(r, r->in.view.label, r->in.truth_name, code) && cluster_stability(r, code);
    }
    return (!s->opt.truth || input_truth(s, &r->read_truth, r->n_rows, code)) &&
           score(r, r->read_truth, s->opt.truth, code);
}

static void warn(const cluster_result *r)
{
    if (r->view.advice && *r->view.advice)
        message_advice(r->s, r->view.advice);
    if (r->trust.n > 0)
        message_note(r->s, "stability: ", r->trust.words);
    message_pairs(r->s, r->view.pairs);
    if (!cluster_certified(r))
        message_error("not converged: results are marked (exit code 4)");
}

static bool deliver(cluster_result *r, int *code)
{
    session *s = r->s;
    text t = {0};
    const char *dir = output_is_stdout(s->opt.output) ? NULL : s->opt.output;
    bool good = true;
    if (dir)
        good = cluster_write(r, dir, code);
    else if (!s->opt.json)
        good = session_ok(s,
                          ddsc_labels_write(s->ctx, r->row_labels, r->n_rows,
                                            r->has_items ? r->in.measures : NULL, "-", 0),
                          code);
    if (good && s->opt.json)
        good = json_print(s, cluster_json(r, !dir), code);
    if (good) {
        cluster_summary(&t, r);
        output_summary(s, &t);
        warn(r);
    }
    text_free(&t);
    return good;
}

/* Killed while it wrote its files, or just after: they are ours to replace. result.json comes last
 * and tells the command that made it. */
static bool own_files(const session *s)
{
    if (!session_resumes(s) || output_is_stdout(s->opt.output))
        return false;
    char *last = output_path(s->opt.output, "result.json");
    json_t *result = json_load_file(last, 0, NULL);
    const char *command = json_string_value(json_object_get(result, "command"));
    bool own = access(last, F_OK) != 0 || (command && strcmp(command, s->opt.command) == 0);
    json_decref(result);
    free(last);
    return own;
}

static bool check_usage(session *s, int *code)
{
    const cli_options *o = &s->opt;
    *code = EXIT_GOOD;
    if (!o->k_given)
        *code = message_usage(s->verb, "say how many clusters: -k 5, -k 2:10 or -k auto");
    else if (o->method != METHOD_DDSC && o->method != METHOD_SC &&
             (o->cluster.k_min != o->cluster.k_max || !o->cluster.k_min))
        *code = message_usage(s->verb, "--method %s needs one number of clusters: -k 5",
                              choice_name(choices_method, o->method));
    else if (o->stability && (o->precomputed || o->method != METHOD_DDSC))
        *code = message_usage(s->verb,
                              "--stability draws the points of items anew: it does not go "
                              "with %s",
                              o->precomputed ? "--precomputed" : "a baseline");
    if (own_files(s))
        s->opt.force = 1;
    return *code == EXIT_GOOD &&
           (output_is_stdout(o->output) || cluster_check_dir(s, o->output, code));
}

static void free_result(cluster_result *r)
{
    ddsc_clustering_destroy(r->clustering);
    ddsc_graph_destroy(r->graph);
    ddsc_d2_destroy(r->d2);
    free(r->vector_labels);
    free(r->row_labels);
    free(r->size);
    free(r->sweep_scores);
    cluster_theory_free(r);
    free(r->distance);
    free(r->doubt);
    free(r->next);
    free(r->map);
    free(r->read_truth);
    json_decref(r->confusion);
    input_close(&r->in);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cluster_result r = {.s = s};
    double began = cli_now();
    if (!check_usage(s, &code))
        return code;
    input_warn_unused(s);
    if (s->opt.restarts)
        s->opt.cluster.kmeans_restarts = s->opt.restarts;
    if (s->opt.dry_run)
        return estimate_dry_run(s);
    if (compute(&r, &code)) {
        r.total_s = cli_now() - began;
        if (session_interrupted()) {
            session_say_interrupted(s);
            code = EXIT_INTERRUPTED;
        } else if (deliver(&r, &code)) {
            code = cluster_certified(&r) ? EXIT_GOOD : EXIT_NOT_CONVERGED;
        }
    }
    free_result(&r);
    return code;
}

static const option_group *const groups[] = {&group_cluster,     &group_baseline,
                                             &group_dir_output,  &group_truth,
                                             &group_metric,      &group_reference,
                                             &group_graph,       &group_input,
                                             &group_precomputed, &group_subset,
                                             &group_resume,      &group_run,
                                             &group_help,        NULL};

const cli_verb verb_cluster = {
    .name = "cluster",
    .operands = "INPUT... -k K [-o DIR]",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "the whole job: distances, graph, eigenvectors, labels, report",
    .description =
        "Clusters the items of INPUT. With -o DIR the labels, embedding, eigenvalues, graph, "
        "result.json and a report are written there; without it the labels go to standard "
        "output. Several INPUT files are read as one set (fcs: one item a file). Unless told "
        "otherwise, tau, gamma and bandwidth are chosen from the data and stated.",
    .groups = groups,
    .examples =
        "ddsc cluster clouds.npz -k 5 -o result\tfive clusters by exact W2\n"
        "ddsc cluster clouds.npz -k 2:10 -o result\ta sweep from one decomposition\n"
        "ddsc cluster images.gz --labels classes.gz --subset-per-class 100 --metric mmd -k 10\t"
        "a balanced subset, scored against its labels\n"
        "ddsc cluster D.npy --precomputed -k auto\tdistances of your own\n"
        "ddsc cluster docs.npz --method d2 -k 5\tbarycenter clustering, for comparison\n"
        "ddsc cluster clouds.npz -k 5 --stability 20 -o result\twhich items hang on the sample\n"
        "ddsc cluster docs.npz --metric lot -k 5 --truth classes.csv --json\tscores for machines\n",
    .run = run,
};
