/* ddsc cluster: clusters items and writes the results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "estimate.h"
#include "json.h"
#include "options.h"
#include "over.h"

/* Settings of the program that the library does not know, for the report. */
enum { MORE_SETTINGS = 8 };
typedef struct setting_list {
    ddsc_report_setting at[MORE_SETTINGS];
    int64_t n;
} setting_list;

/* The results of one run, and the library's report on it. */
typedef struct cluster_result {
    session *s;
    cli_input in;
    bool has_items;              /* false if the input was a distance matrix */
    ddsc_clustering *clustering; /* NULL for k-means, d2 and pd2 */
    ddsc_graph *graph; /* graph computed by this verb, or NULL to use the graph of the clustering */
    int32_t *labels;   /* for k-means */
    double inertia;
    ddsc_d2 *d2;
    ddsc_stability *stability;
    int32_t *truth;    /* classes of the items of a distance matrix */
    setting_list more; /* must outlive the report, like origin */
    ddsc_report_origin origin;
    ddsc_report *report;
    ddsc_report_view view;
} cluster_result;

static bool run_ddsc(cluster_result *r, int *code)
{
    session *s = r->s;
    estimate_announce(s, &r->in);
    return session_resume(s, code) &&
           session_ok(s, ddsc_cluster_run(s->ctx, &r->clustering, r->in.measures, &s->set.cluster),
                      code) &&
           session_ok(s, ddsc_context_set_resume(s->ctx, NULL, NULL),
                      code); /* later calls use different items */
}

static bool run_graph(cluster_result *r, int *code)
{
    session *s = r->s;
    return session_ok(s, ddsc_spectral_run(s->ctx, &r->clustering, r->graph, &s->set.cluster),
                      code);
}

static bool run_precomputed(cluster_result *r, int *code)
{
    session *s = r->s;
    double *matrix = NULL;
    int64_t n = 0;
    if (!input_matrix(s, &matrix, &n, code))
        return false;
    if (s->opt.graph.hubs == DDSC_HUBS_DEFAULT && !s->opt.cluster.paper)
        s->set.graph.hubs = DDSC_HUBS_AUTO;
    ddsc_status status = ddsc_graph_create_from_matrix(s->ctx, &r->graph, n, matrix,
                                                       input_distance_flags(s), &s->set.graph);
    bool good = session_ok_in(s, s->opt.operand[0], status, code);
    ddsc_release(s->ctx, matrix);
    return good && run_graph(r, code);
}

static bool run_d2(cluster_result *r, int *code)
{
    session *s = r->s;
    const cli_options *o = &s->opt;
    ddsc_d2_settings set;
    ddsc_d2_settings_init(&set);
    set.k = o->cluster.k_min;
    set.method =
        o->method == METHOD_PD2 ? DDSC_BARYCENTER_PROJECTED : (ddsc_barycenter_method)o->barycenter;
    set.support_size = o->center_size;
    set.cost = s->set.metric.cost;
    set.cost_matrix = s->set.metric.cost_matrix;
    set.cost_size = s->set.metric.cost_size;
    bool distances = set.cost == DDSC_COST_EUCLIDEAN || set.cost == DDSC_COST_CITYBLOCK;
    s->set.metric.metric =
        distances ? DDSC_METRIC_W1 : DDSC_METRIC_W2; /* the cost alone determines the metric */
    s->set.cluster.joined = 0;
    if (o->restarts)
        set.restarts = o->restarts;
    return session_ok(s, ddsc_d2_run(s->ctx, &r->d2, r->in.measures, &set), code);
}

/* Runs a vector baseline, which represents each item as one vector. */
static bool run_vectors(cluster_result *r, int *code)
{
    session *s = r->s;
    const ddsc_cluster_settings *set = &s->set.cluster;
    double *vectors = NULL;
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
            run_graph(r, code);
    } else {
        r->labels = cli_allocate((size_t)n, sizeof *r->labels);
        good = session_ok(s,
                          ddsc_kmeans_run(s->ctx, r->labels, &r->inertia, n, dim, vectors,
                                          set->k_min, set->kmeans_restarts),
                          code);
    }
    ddsc_release(s->ctx, vectors);
    return good;
}

static bool run_method(cluster_result *r, int *code)
{
    switch (r->s->opt.method) {
    case METHOD_DDSC: return run_ddsc(r, code);
    case METHOD_D2:
    case METHOD_PD2: return run_d2(r, code);
    default: return run_vectors(r, code);
    }
}

static bool run_stability(cluster_result *r, int *code)
{
    session *s = r->s;
    ddsc_stability_settings set;
    if (s->opt.stability == 0)
        return true;
    ddsc_stability_settings_init(&set);
    set.n_resamples = s->opt.stability;
    return session_ok(s,
                      ddsc_stability_run(s->ctx, &r->stability, r->in.measures, r->clustering,
                                         &s->set.cluster, &set),
                      code);
}

static bool compute(cluster_result *r, int *code)
{
    session *s = r->s;
    r->has_items = !s->opt.precomputed;
    if (r->has_items)
        return input_open(s, &r->in, code) && over_check(s, &r->in, code) && run_method(r, code) &&
               run_stability(r, code);
    return over_check(s, &r->in, code) && run_precomputed(r, code);
}

/* Reads the classes for a distance matrix. Only the report uses them. */
static bool read_truth(cluster_result *r, int *code)
{
    ddsc_graph_view g;
    ddsc_graph_get_view(r->graph, &g);
    return r->has_items || !r->s->opt.truth || input_truth(r->s, &r->truth, g.n, code);
}

static void add_text(setting_list *l, const char *name, const char *value)
{
    l->at[l->n++] = (ddsc_report_setting){name, DDSC_SETTING_TEXT, value, 0};
}

static void add_number(setting_list *l, const char *name, int64_t number)
{
    l->at[l->n++] = (ddsc_report_setting){name, DDSC_SETTING_NUMBER, NULL, number};
}

static void add_number_or_auto(setting_list *l, const char *name, int64_t number)
{
    if (number)
        add_number(l, name, number);
    else
        add_text(l, name, "auto");
}

static setting_list more_settings(const cluster_result *r)
{
    const cli_options *o = &r->s->opt;
    setting_list l = {.n = 0};
    if (o->reference && o->method == METHOD_DDSC && metric_used(r->s, DDSC_METRIC_LOT))
        add_text(&l, "reference", o->private_ ? "..." : o->reference);
    if (o->cost_file)
        add_text(&l, "cost", o->private_ ? "..." : o->cost_file);
    if (o->method == METHOD_D2)
        add_text(&l, "barycenter", choice_name(choices_barycenter, o->barycenter));
    if (r->d2) {
        if (!o->cost_file && o->metric.cost != DDSC_COST_DEFAULT)
            add_text(&l, "cost", choice_name(choices_cost, (int)o->metric.cost));
        add_number_or_auto(&l, "center_size", o->center_size);
        add_number_or_auto(&l, "restarts", o->restarts);
    }
    if (o->method == METHOD_KMEANS || o->method == METHOD_SC)
        add_text(&l, "vectors_from", choice_name(choices_vectors, o->vectors_from));
    if (!r->has_items)
        l.at[l.n++] =
            (ddsc_report_setting){"squared_input", DDSC_SETTING_FLAG, NULL, o->squared_input != 0};
    if (o->subset_per_class)
        add_number(&l, "subset_per_class", o->subset_per_class);
    return l;
}

static ddsc_report_origin origin_of(const cluster_result *r, const setting_list *more)
{
    const cli_options *o = &r->s->opt;
    ddsc_report_origin origin = json_origin(&r->in);
    origin.method = choice_name(choices_method, o->method);
    origin.command = o->command;
    origin.inputs = o->operand;
    origin.n_inputs = o->private_ ? 0 : o->n_operands; /* paths may contain names */
    origin.truth_name = o->truth ? o->truth : o->read.labels_path;
    if (origin.truth_name && o->private_)
        origin.truth_name = "...";
    origin.settings = more->at;
    origin.n_settings = more->n;
    return origin;
}

/* Returns the source of the report. Scores use the classes of --truth, or else the labels of the
 * input. */
static ddsc_report_source source_of(const cluster_result *r)
{
    const cli_options *o = &r->s->opt;
    ddsc_report_source from;
    ddsc_report_source_init(&from);
    from.clustering = r->clustering;
    from.d2 = r->d2;
    from.labels = r->labels;
    from.inertia = r->inertia;
    from.measures = r->in.measures;
    from.graph = r->graph;
    from.settings = &r->s->set.cluster;
    from.status = r->s->not_converged ? DDSC_NOT_CONVERGED : DDSC_OK;
    from.truth = r->has_items ? r->in.view.label : r->truth;
    from.stability = r->stability;
    from.block = o->block;
    from.map = !output_is_stdout(o->output);
    from.outliers = o->outliers;
    from.membership = o->membership;
    from.over = o->over;
    return from;
}

static bool make_report(cluster_result *r, int *code)
{
    ddsc_report_source from = source_of(r);
    r->more = more_settings(r);
    r->origin = origin_of(r, &r->more);
    from.origin = &r->origin;
    bool good = session_ok(r->s, ddsc_report_create(r->s->ctx, &r->report, &from), code);
    ddsc_report_get_view(r->report, &r->view);
    return good;
}

static void warn(const cluster_result *r)
{
    ddsc_clustering_view found;
    ddsc_stability_view trust;
    ddsc_clustering_get_view(r->clustering, &found);
    ddsc_stability_get_view(r->stability, &trust);
    if (found.advice && *found.advice)
        message_advice(r->s, found.advice);
    if (trust.n > 0)
        message_note(r->s, "stability: ", trust.words);
    message_pairs(r->s, found.pairs);
    if (!r->view.certified)
        message_error("the computation did not converge; the results are marked as not converged "
                      "(exit code 4)");
}

/* Prints the summary, with its headline in bold on a terminal. With --verbose, prints all details.
 * */
static bool print_summary(cluster_result *r, int *code)
{
    session *s = r->s;
    text t = {0};
    ddsc_report_form form = s->opt.verbose ? DDSC_REPORT_TEXT : DDSC_REPORT_BRIEF;
    bool good = session_ok(s, ddsc_report_write(s->ctx, r->report, form, text_write, &t), code);
    if (!output_is_stdout(s->opt.output)) {
        char *page = output_path(s->opt.output, "report.html");
        text_addf(&t, "  report       %s\n", page);
        free(page);
    } else if (!s->opt.verbose) {
        text_add(&t, "  report       none; -o DIR writes one\n");
    }
    if (good)
        output_summary_bold(s, &t, strlen(r->view.headline));
    text_free(&t);
    return good;
}

static bool print_json(cluster_result *r, ddsc_report_form form, int *code)
{
    text t = {0};
    bool good =
        session_ok(r->s, ddsc_report_write(r->s->ctx, r->report, form, text_write, &t), code) &&
        output_print(r->s, &t, code);
    return good;
}

static bool deliver(cluster_result *r, int *code)
{
    session *s = r->s;
    const char *dir = output_is_stdout(s->opt.output) ? NULL : s->opt.output;
    bool good = true;
    if (dir)
        good = output_make_parent(dir, code) &&
               session_ok(s, ddsc_report_save(s->ctx, r->report, dir, output_flags(s)), code);
    else if (!s->opt.json)
        good = session_ok(
            s, ddsc_labels_write(s->ctx, r->view.labels, r->view.n_rows, r->in.measures, "-", 0),
            code);
    if (good && s->opt.json)
        good = print_json(r, dir ? DDSC_REPORT_JSON : DDSC_REPORT_JSON_LABELS, code);
    good = good && print_summary(r, code);
    if (good)
        warn(r);
    return good;
}

/* Returns true if an earlier run of the same command was killed while or just after it wrote the
 * files in the output folder. These files may be replaced. result.json is written last and contains
 * the command. */
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

/* Checks, before the computation starts, that all files can be written. */
static bool check_dir(session *s, int *code)
{
    struct stat info;
    const char *names[32] = {NULL}, *dir = s->opt.output;
    for (int i = 0; i < 31 && ddsc_report_get_file_name(i); i++)
        names[i] = ddsc_report_get_file_name(i);
    bool there = stat(dir, &info) == 0 && S_ISDIR(info.st_mode);
    return (!there || session_ok(s, ddsc_report_check(s->ctx, dir, DDSC_WRITE_OVERWRITE), code)) &&
           output_check_dir(s, dir, names, false, code);
}

/* Returns the reason why --cost has no effect, or NULL if --cost is used. */
static const char *cost_refused(const cli_options *o)
{
    if (o->precomputed)
        return "--precomputed, which provides the distances";
    if (o->method == METHOD_KMEANS || o->method == METHOD_SC)
        return "a vector baseline";
    return NULL;
}

static bool check_usage(session *s, int *code)
{
    const cli_options *o = &s->opt;
    *code = EXIT_GOOD;
    if (!o->k_given && !o->like)
        *code = message_usage(s->verb,
                              "the number of clusters is missing: use -k 5, -k 2:10 or -k auto");
    else if (like_refused(o))
        *code = message_usage(s->verb, "--%s cannot be combined with --like, which determines it",
                              like_refused(o));
    else if (o->like && o->k_given && o->cluster.k_min == 0)
        *code =
            message_usage(s->verb, "-k auto cannot be combined with --like; remove -k to use the K "
                                   "of the earlier result, or specify a range such as -k 2:15");
    else if (o->method != METHOD_DDSC && o->method != METHOD_SC &&
             (o->cluster.k_min != o->cluster.k_max || !o->cluster.k_min))
        *code =
            message_usage(s->verb, "--method %s needs a single number of clusters, such as -k 5",
                          choice_name(choices_method, o->method));
    else if (o->cluster.joined &&
             o->stability) /* the library would report this only after the clustering */
        *code = message_usage(
            s->verb,
            "--stability supports a single metric and cannot be combined with metrics joined by +");
    else if (o->metric.cost != DDSC_COST_DEFAULT && cost_refused(o))
        *code = message_usage(s->verb, "--cost cannot be combined with %s", cost_refused(o));
    else if (o->outliers && o->cluster.paper)
        *code = message_usage(s->verb, "--outliers contradicts --paper, which labels every item; "
                                       "remove one of them");
    else if (o->outliers && o->method != METHOD_DDSC && o->method != METHOD_SC)
        *code = message_usage(s->verb,
                              "--outliers needs a neighbor graph, which --method %s does not build",
                              choice_name(choices_method, o->method));
    else if (o->membership &&
             (output_is_stdout(o->output) || (o->method != METHOD_DDSC && o->method != METHOD_SC)))
        *code = message_usage(s->verb, "--membership needs %s",
                              output_is_stdout(o->output) ? "a folder for its file (-o DIR)"
                                                          : "an embedding, which baselines lack");
    else if (o->refine == DDSC_REFINE_WORDS && (o->precomputed || o->method != METHOD_DDSC))
        *code = message_usage(s->verb, "--refine words cannot be combined with %s",
                              o->precomputed ? "--precomputed" : "a baseline");
    else if (o->stability && (o->precomputed || o->method != METHOD_DDSC))
        *code = message_usage(
            s->verb, "--stability resamples the points of each item and cannot be combined with %s",
            o->precomputed ? "--precomputed" : "a baseline");
    if (own_files(s))
        s->overwrite = true;
    return *code == EXIT_GOOD && session_device(s, code) &&
           (output_is_stdout(o->output) || check_dir(s, code));
}

static void free_result(cluster_result *r)
{
    ddsc_report_destroy(r->report);
    ddsc_stability_destroy(r->stability);
    ddsc_clustering_destroy(r->clustering);
    ddsc_graph_destroy(r->graph);
    ddsc_d2_destroy(r->d2);
    free(r->labels);
    free(r->truth);
    input_close(&r->in);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cluster_result r = {.s = s};
    if (!check_usage(s, &code))
        return code;
    input_warn_unused(s);
    s->set.cluster.refine = s->opt.refine;
    if (s->opt.restarts)
        s->set.cluster.kmeans_restarts = s->opt.restarts;
    if (s->opt.dry_run)
        return estimate_dry_run(s);
    if (s->opt.cluster.joined && !output_is_stdout(s->opt.output))
        message_note(s, "note: ",
                     "model.npz will not be written, because new items cannot be assigned with "
                     "joined metrics; use a single metric if you need 'ddsc assign'");
    if (like_open(s, s->opt.like, &code) && compute(&r, &code) && session_alone(s, &code) &&
        read_truth(&r, &code) && make_report(&r, &code)) {
        if (session_interrupted()) {
            session_say_interrupted(s);
            code = EXIT_INTERRUPTED;
        } else if (deliver(&r, &code)) {
            code = r.view.certified ? EXIT_GOOD : EXIT_NOT_CONVERGED;
        }
    }
    free_result(&r);
    return code;
}

static const option_group *const groups[] = {&group_cluster,     &group_like,
                                             &group_labels,      &group_baseline,
                                             &group_dir_output,  &group_truth,
                                             &group_about,       &group_metric,
                                             &group_reference,   &group_graph,
                                             &group_input,       &group_input_format,
                                             &group_table,       &group_transform,
                                             &group_precomputed, &group_subset,
                                             &group_resume,      &group_device,
                                             &group_paper,       &group_run,
                                             &group_help,        NULL};

const cli_verb verb_cluster = {
    .name = "cluster",
    .operands = "INPUT... -k K [-o DIR]",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "cluster items: distances, graph, eigenvectors, labels, report",
    .description = "Clusters the items of INPUT. With -o DIR, the labels, embedding, eigenvalues, "
                   "graph, result.json and a report are written to DIR. Otherwise, the labels are "
                   "written to standard output. Several INPUT files are read as one set (fcs: one "
                   "item per file). Unless specified, tau, gamma and the bandwidth are chosen from "
                   "the data; the output reports the values used.",
    .groups = groups,
    .examples = "ddsc cluster clouds.npz -k 5 -o result\tfive clusters with exact W2\n"
                "ddsc cluster clouds.npz -k 2:10 -o result\ta sweep from one decomposition\n"
                "ddsc cluster clouds.npz -k 5 --metric w2+mmd+lot -o result\tthree joined metrics\n"
                "ddsc cluster images.gz --labels classes.gz --subset-per-class 100 --metric mmd -k "
                "10\ta balanced subset, scored against its labels\n"
                "ddsc cluster D.npy --precomputed -k auto\tyour own distances\n"
                "ddsc cluster docs.npz --method d2 -k 5\tbarycenter clustering, for comparison\n"
                "ddsc cluster clouds.npz -k 5 --stability 20 -o result\titems whose cluster "
                "depends on the sample\n"
                "ddsc cluster docs.npz --metric lot -k 5 --truth classes.csv "
                "--json\tmachine-readable scores\n",
    .run = run,
    .shared = true,
};
