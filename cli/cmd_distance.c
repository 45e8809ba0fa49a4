/* ddsc distance: computes the full distance matrix. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "estimate.h"
#include "options.h"
#include "json.h"

static int64_t n_entries(int64_t n, bool condensed)
{
    return condensed ? n * (n - 1) / 2 : n * n;
}

static void add_shape(text *t, int64_t n, bool condensed)
{
    text_add_count(t, condensed ? n_entries(n, true) : n);
    if (!condensed) {
        text_add(t, " x ");
        text_add_count(t, n);
    }
}

/* Allocates the matrix over all rows, subject to --memory and the memory of the machine. The caller
 * frees it with free(). */
static double *allocate_matrix(session *s, int64_t n, int *code)
{
    text t = {0};
    double bytes = 8.0 * (double)n * (double)n / (s->opt.condensed ? 2 : 1), limit;
    double used = (double)ddsc_context_get_peak_memory(s->ctx);
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    limit = s->opt.memory ? (double)s->opt.memory - used : machine;
    double *matrix = NULL;
    if (bytes <= limit && n < INT32_MAX)
        matrix = calloc((size_t)n_entries(n, s->opt.condensed) + 1, sizeof *matrix);
    if (!matrix) {
        text_add(&t, "the matrix of ");
        add_shape(&t, n, s->opt.condensed);
        text_add(&t, " entries needs ");
        text_add_size(&t, bytes);
        text_add(&t, s->opt.memory ? ", which exceeds --memory" : ", more than this machine has");
        message_error("%s; %s'ddsc neighbors' needs much less memory", text_get(&t),
                      s->opt.condensed ? "" : "--condensed halves it, ");
        *code = EXIT_MEMORY;
    }
    text_free(&t);
    return matrix;
}

static void spread(const session *s, double *matrix, const ddsc_measures_view *view)
{
    if (s->opt.condensed)
        output_spread_condensed(matrix, view);
    else
        output_spread_square(matrix, view);
}

static bool write_matrix(session *s, const double *matrix, int64_t n, int *code)
{
    const cli_options *o = &s->opt;
    if (o->json && !o->output)
        return true;
    const char *path = o->output ? o->output : "-";
    int64_t rows = o->condensed ? n_entries(n, true) : n;
    return session_ok(
        s, ddsc_matrix_write(s->ctx, matrix, rows, o->condensed ? 0 : n, path, output_flags(s)),
        code);
}

static json_t *summary_json(const session *s, const cli_input *in, const ddsc_pair_stats *stats)
{
    ddsc_report_source from = json_source(s, stats);
    ddsc_report_origin origin = json_origin(in);
    from.origin = &origin;
    json_t *root = json_object(), *told = json_run(s, &from);
    json_put_count(root, "n", in->view.n_rows);
    json_put_count(root, "items", in->view.n_items);
    json_take(root, told, "settings");
    json_put_bool(root, "squared", s->opt.squared);
    json_put_bool(root, "condensed", s->opt.condensed);
    json_put_count(root, "bytes", 8 * n_entries(in->view.n_rows, s->opt.condensed));
    json_join(root, told, "pairs");
    json_take(root, told, "plan");
    json_take(root, told, "compress");
    json_put_text(root, "device", ddsc_context_get_device(s->ctx));
    json_put_resumed(root, s);
    json_put_real(root, "epsilon", stats->epsilon);
    json_put_real(root, "bandwidth", stats->bandwidth);
    json_put_count(root, "reference_size", stats->reference_size);
    json_take(root, told, "approximation");
    json_decref(told);
    json_put_bool(root, "converged", !s->not_converged);
    json_put_real(root, "seconds", stats->seconds);
    return root;
}

static void summary(const session *s, const cli_input *in, const ddsc_pair_stats *stats)
{
    text t = {0};
    add_shape(&t, in->view.n_rows, s->opt.condensed);
    text_addf(&t, " %s%s distances (", s->opt.squared ? "squared " : "",
              choice_name(choices_metric, (int)s->set.metric.metric));
    text_add_size(&t, 8.0 * (double)n_entries(in->view.n_rows, s->opt.condensed));
    text_add(&t, "): ");
    text_add_count(&t, stats->n_solved);
    text_add(&t, " pairs solved");
    output_add_resumed(&t, s);
    text_addf(&t, " in %.2f s", stats->seconds);
    if (s->opt.output && !output_is_stdout(s->opt.output))
        text_addf(&t, ", %s", s->opt.output);
    text_add(&t, "\n");
    output_summary(s, &t);
    text_free(&t);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cli_input in = {0};
    ddsc_pair_stats stats;
    double *matrix = NULL;
    const cli_options *o = &s->opt;
    if (!output_check(s, false, &code) || !output_check_binary(s, &code))
        return code;
    input_warn_unused(s);
    if (o->dry_run)
        return estimate_dry_run(s);
    if (!input_open(s, &in, &code))
        return code;
    matrix = allocate_matrix(s, in.view.n_rows, &code);
    if (matrix)
        estimate_announce(s, &in);
    ddsc_pair_stats_init(&stats);
    if (!matrix || !session_device(s, &code) || !session_resume(s, &code) ||
        !session_ok(s,
                    ddsc_distance_run(s->ctx, matrix, &stats, in.measures, &s->set.metric,
                                      output_distance_flags(s)),
                    &code) ||
        !session_alone(s, &code))
        goto done;
    spread(s, matrix, &in.view);
    if (!write_matrix(s, matrix, in.view.n_rows, &code))
        goto done;
    message_pairs(s, &stats);
    code = session_exit(s);
    if (o->json)
        json_print(s, summary_json(s, &in, &stats), &code);
    summary(s, &in, &stats);
done:
    free(matrix);
    input_close(&in);
    return code;
}

static const option_group *const groups[] = {
    &group_file_output,  &group_matrix, &group_metric,    &group_reference, &group_input,
    &group_input_format, &group_table,  &group_transform, &group_subset,    &group_resume,
    &group_device,       &group_paper,  &group_run,       &group_help,      NULL};

const cli_verb verb_distance = {
    .name = "distance",
    .operands = "INPUT... -o D.npy",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "compute the full N x N distance matrix",
    .description =
        "Computes the distance between every pair of items and writes the matrix as npy, which "
        "takes 8 N^2 bytes. For clustering, the neighbor graph (ddsc neighbors) is sufficient. "
        "Rows of items dropped by --on-empty drop contain NaN.",
    .groups = groups,
    .examples =
        "ddsc distance clouds.npz -o D.npy\texact W2 distances\n"
        "ddsc distance clouds.npz --metric sinkhorn --epsilon 2% --squared -o S.npy\tentropic "
        "transport costs\n"
        "ddsc distance clouds.npz --metric mmd --condensed -o d.npy\tthe upper triangle only\n",
    .run = run,
    .shared = true,
};
