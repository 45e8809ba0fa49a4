/* ddsc embed: computes the linear optimal transport embedding, one row per item. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

/* Returns the embedding with one row per input row; rows of dropped items are NaN. The caller frees
 * it with free(). */
static double *by_row(const double *embedding, int64_t n_columns, const ddsc_measures_view *view)
{
    double *rows = cli_allocate((size_t)view->n_rows, (size_t)n_columns * sizeof *rows);
    memcpy(rows, embedding, (size_t)view->n_items * (size_t)n_columns * sizeof *rows);
    output_spread_rows(rows, n_columns, view);
    return rows;
}

static bool write_rows(session *s, const double *embedding, int64_t n_columns,
                       const ddsc_measures_view *view, int *code)
{
    const char *path = s->opt.output ? s->opt.output : "-";
    double *rows = NULL;
    if (s->opt.json && !s->opt.output)
        return true;
    if (view->n_rows != view->n_items)
        rows = by_row(embedding, n_columns, view);
    bool good = session_ok(s,
                           ddsc_matrix_write(s->ctx, rows ? rows : embedding, view->n_rows,
                                             n_columns, path, output_flags(s)),
                           code);
    free(rows);
    return good;
}

static json_t *summary_json(const session *s, const cli_input *in, int64_t n_columns,
                            const ddsc_pair_stats *stats)
{
    ddsc_report_source from = json_source(s, stats);
    json_t *root = json_object(), *told = json_run(s, &from);
    json_put_count(root, "n", in->view.n_rows);
    json_put_count(root, "columns", n_columns);
    json_put_count(root, "reference_size", stats->reference_size);
    json_put_count(root, "solved", stats->n_solved);
    json_put_count(root, "iterations", stats->n_iterations);
    json_put_real(root, "max_gap", stats->max_gap);
    json_take(root, told, "approximation");
    json_decref(told);
    json_put_real(root, "reference_norm", stats->reference_norm);
    json_put_count(root, "items_with_split_mass", stats->n_split);
    json_put_real(root, "norm_shortfall_mean", stats->shortfall_mean);
    json_put_real(root, "norm_shortfall_max", stats->shortfall_max);
    json_put_bool(root, "converged", !s->not_converged);
    json_put_real(root, "seconds", stats->seconds);
    return root;
}

static void summary(const session *s, const cli_input *in, int64_t n_columns,
                    const ddsc_pair_stats *stats)
{
    text t = {0};
    text_add_count(&t, in->view.n_rows);
    text_addf(&t, " rows of %" PRId64 " columns (reference of %" PRId64 " points) in %.2f s\n",
              n_columns, stats->reference_size, stats->seconds);
    text_addf(&t, "  |phi(reference)| %.3g; |phi(item)| = W2(item, reference) for ",
              stats->reference_norm);
    text_add_count(&t, in->view.n_items - stats->n_split);
    text_add(&t, " of ");
    text_add_count(&t, in->view.n_items);
    text_add(&t, " items");
    if (stats->n_split > 0)
        text_addf(&t,
                  "; barycentric projection averages split mass, which shortens the vectors by "
                  "%.2g%% on average (at most %.2g%%)",
                  100 * stats->shortfall_mean, 100 * stats->shortfall_max);
    text_add(&t, "\n");
    output_summary(s, &t);
    text_free(&t);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cli_input in = {0};
    ddsc_pair_stats stats;
    double *embedding = NULL;
    int64_t n_columns = 0;
    s->set.metric.metric = DDSC_METRIC_LOT;
    if (!output_check(s, false, &code) || !output_check_binary(s, &code) ||
        !input_open(s, &in, &code))
        return code;
    ddsc_pair_stats_init(&stats);
    if (!session_ok(
            s, ddsc_embed_run(s->ctx, &embedding, &n_columns, &stats, in.measures, &s->set.metric),
            &code) ||
        !session_alone(s, &code) || !write_rows(s, embedding, n_columns, &in.view, &code))
        goto done;
    code = session_exit(s);
    if (s->opt.json)
        json_print(s, summary_json(s, &in, n_columns, &stats), &code);
    summary(s, &in, n_columns, &stats);
done:
    ddsc_release(s->ctx, embedding);
    input_close(&in);
    return code;
}

static const option_group *const groups[] = {
    &group_file_output, &group_reference, &group_input,  &group_input_format,
    &group_table,       &group_transform, &group_subset, &group_paper,
    &group_run,         &group_help,      NULL};

const cli_verb verb_embed = {
    .name = "embed",
    .operands = "INPUT... -o Z.npy",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "compute the linear optimal transport embedding",
    .description =
        "Transports every item to one reference cloud. Each output row is the vector of one item. "
        "The Euclidean distances between these vectors approximate W2, so any method for vectors "
        "can use them. Rows of items dropped by --on-empty drop contain NaN.",
    .groups = groups,
    .examples = "ddsc embed clouds.npz -o Z.npy\tdefault reference\n"
                "ddsc embed clouds.npz --reference kmeans --reference-size 64 -o Z.npy\t64 k-means "
                "centers as reference\n",
    .run = run,
    .shared = true,
};
