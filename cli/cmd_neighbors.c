/* ddsc neighbors: computes only the neighbor graph. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "options.h"
#include "json.h"

/* Builds the graph from the distance matrix given with --precomputed. */
static bool from_matrix(session *s, ddsc_graph **graph, ddsc_pair_stats *stats, int *code)
{
    double *matrix = NULL, began;
    int64_t n = 0;
    if (!input_matrix(s, &matrix, &n, code))
        return false;
    began = cli_now();
    ddsc_status status = ddsc_graph_create_from_matrix(s->ctx, graph, n, matrix,
                                                       input_distance_flags(s), &s->set.graph);
    bool good = session_ok_in(s, s->opt.operand[0], status, code);
    ddsc_release(s->ctx, matrix);
    stats->n_pairs = n * (n - 1) / 2;
    stats->seconds = cli_now() - began;
    return good;
}

/* The names and values of the details that a run reported. */
typedef struct left_over {
    ddsc_detail detail[64];
    int64_t n;
} left_over;

static bool from_items(session *s, ddsc_graph **graph, cli_input *in, ddsc_pair_stats *stats,
                       left_over *left, int *code)
{
    if (!input_open(s, in, code) || !session_resume(s, code))
        return false;
    estimate_announce(s, in);
    bool good = session_ok(
        s, ddsc_neighbors_run(s->ctx, graph, stats, in->measures, &s->set.metric, &s->set.graph),
        code);
    const ddsc_detail *details = ddsc_context_get_details(s->ctx, &left->n);
    left->n = left->n > 64 ? 64 : left->n;
    memcpy(left->detail, details, (size_t)left->n * sizeof *details);
    return good;
}

/* Adds the details that only some algorithms report. */
static void put_details(json_t *root, const left_over *left)
{
    json_t *details = left->n > 0 ? json_put_object(root, "details") : NULL;
    for (int64_t i = 0; i < left->n; i++) {
        double value = left->detail[i].value;
        if (fabs(value) < 0x1p53 && value == floor(value))
            json_put_count(details, left->detail[i].name, (int64_t)value);
        else
            json_put_real(details, left->detail[i].name, value);
    }
}

static json_t *summary_json(const session *s, const ddsc_graph *graph, const cli_input *in,
                            const ddsc_pair_stats *stats, const left_over *left)
{
    ddsc_graph_view g;
    ddsc_report_source from = json_source(s, stats);
    ddsc_report_origin origin = json_origin(in);
    from.graph = graph;
    from.origin = &origin;
    json_t *root = json_object(), *told = json_run(s, &from);
    ddsc_graph_get_view(graph, &g);
    json_put_count(root, "n", in->measures ? in->view.n_rows : g.n);
    json_put_count(root, "tau", g.tau);
    json_put_count(root, "edges", g.n_edges);
    json_join(root, told, "pairs");
    put_details(root, left);
    json_take(root, told, "plan");
    json_take(root, told, "compress");
    json_put_text(root, "device", ddsc_context_get_device(s->ctx));
    json_put_resumed(root, s);
    if (!s->opt.precomputed) {
        json_take(root, told, "settings");
        json_put_real(root, "epsilon", stats->epsilon);
        json_put_real(root, "bandwidth", stats->bandwidth);
        json_put_count(root, "reference_size", stats->reference_size);
        json_take(root, told, "approximation");
    }
    json_decref(told);
    json_put_bool(root, "converged", !s->not_converged);
    json_put_real(root, "seconds", stats->seconds);
    return root;
}

static void summary(const session *s, const ddsc_graph_view *g, const ddsc_pair_stats *stats)
{
    text t = {0};
    text_add_count(&t, g->n);
    text_addf(&t, " items, tau %" PRId64 ", ", g->tau);
    text_add_count(&t, g->n_edges);
    text_add(&t, " edges");
    if (!s->opt.precomputed) {
        text_add(&t, ": solved ");
        text_add_count(&t, stats->n_solved);
        text_add(&t, " of ");
        text_add_count(&t, stats->n_pairs);
        text_add(&t, " pairs");
    }
    if (stats->n_recall_rows > 0)
        text_addf(&t,
                  ", approximate: recall at least %.3f (95%% confidence; %.3f on %" PRId64
                  " sampled items)",
                  stats->recall_low, stats->recall, stats->n_recall_rows);
    output_add_resumed(&t, s);
    text_addf(&t, " in %.2f s\n", stats->seconds);
    output_summary(s, &t);
    text_free(&t);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cli_input in = {0};
    ddsc_graph *graph = NULL;
    ddsc_graph_view view;
    ddsc_pair_stats stats;
    left_over left = {.n = 0};
    const cli_options *o = &s->opt;
    if (!output_check(s, false, &code) || !session_device(s, &code))
        return code;
    input_warn_unused(s);
    if (o->dry_run)
        return estimate_dry_run(s);
    ddsc_pair_stats_init(&stats);
    if (!(o->precomputed ? from_matrix(s, &graph, &stats, &code)
                         : from_items(s, &graph, &in, &stats, &left, &code)) ||
        !session_alone(s, &code))
        goto done;
    ddsc_graph_get_view(graph, &view);
    if ((!o->json || o->output) &&
        !output_graph(s, graph, in.measures ? &in.view : NULL, o->output ? o->output : "-", &code))
        goto done;
    message_pairs(s, &stats);
    code = session_exit(s);
    if (o->json)
        json_print(s, summary_json(s, graph, &in, &stats, &left), &code);
    summary(s, &view, &stats);
done:
    ddsc_graph_destroy(graph);
    input_close(&in);
    return code;
}

static const option_group *const groups[] = {
    &group_file_output, &group_graph,  &group_metric,       &group_reference,
    &group_precomputed, &group_input,  &group_input_format, &group_table,
    &group_transform,   &group_subset, &group_resume,       &group_device,
    &group_paper,       &group_run,    &group_help,         NULL};

const cli_verb verb_neighbors = {
    .name = "neighbors",
    .operands = "INPUT... -o G.mtx",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "compute the tau nearest neighbors of every item",
    .description =
        "Finds the tau nearest items of every item and writes them as MatrixMarket. Column c "
        "contains the squared distances of the neighbors of item c. If the output name ends in "
        ".npz, the file can be read by scipy.sparse.load_npz. Lower bounds avoid most exact "
        "transport problems, and the graph is the same as the one computed from the full matrix.",
    .groups = groups,
    .examples = "ddsc neighbors clouds.npz -o G.mtx\texact W2, default tau\n"
                "ddsc neighbors clouds.npz --tau 15 --json\tnumber of pairs that were solved\n"
                "ddsc neighbors D.npy --precomputed -o G.mtx\tfrom a distance matrix\n",
    .run = run,
    .shared = true,
};
