/* From the words of the command line to measures: read, label, cut down, merge. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"

enum { MAX_PHASES = 1000000 };

/* Replace the measures by a copy made from them. */
static void replace(cli_input *in, ddsc_measures *copy)
{
    ddsc_measures_destroy(in->measures);
    in->measures = copy;
    ddsc_measures_get_view(copy, &in->view);
}

bool input_join_meta(session *s, ddsc_measures **measures, int first, const char *id_columns,
                     int *code)
{
    for (int k = first; k < s->opt.n_meta; k++) {
        ddsc_measures *copy = NULL;
        if (!session_ok(
                s, ddsc_measures_read_meta(s->ctx, &copy, *measures, s->opt.meta[k], id_columns),
                code))
            return false;
        ddsc_measures_destroy(*measures);
        *measures = copy;
    }
    return true;
}

static bool read_files(session *s, cli_input *in, int *code)
{
    const cli_options *o = &s->opt;
    ddsc_read_settings set = o->read;
    set.meta_path = o->n_meta > 0 ? o->meta[0] : NULL;
    if (o->transform.batch)
        set.item_columns = o->transform.batch;
    set.phase = (int)(o->phase > MAX_PHASES ? MAX_PHASES : o->phase);
    set.phases = (int)(o->phases > MAX_PHASES ? MAX_PHASES : o->phases);
    ddsc_status status =
        o->n_operands == 1
            ? ddsc_measures_read(s->ctx, &in->measures, o->operand[0], &set)
            : ddsc_measures_read_files(s->ctx, &in->measures, o->n_operands, o->operand, &set);
    if (!session_ok(s, status, code) || !input_join_meta(s, &in->measures, 1, set.id_columns, code))
        return false;
    ddsc_measures_get_view(in->measures, &in->view);
    if (in->view.label)
        in->truth_name = o->read.labels_path ? o->read.labels_path : "the input";
    return true;
}

/* ---- the same on every rank ---- */

/* FNV-1a over words of eight bytes, then what is left of them. */
static uint64_t add_bytes(uint64_t hash, const void *bytes, int64_t n)
{
    const unsigned char *at = bytes;
    for (; n > 0; n -= 8, at += 8) {
        uint64_t word = 0;
        memcpy(&word, at, n < 8 ? (size_t)n : 8);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Ranks on other machines may see another file under the same name; they would wait for each other for
 * ever, or make a graph of both. */
static bool same_input(session *s, uint64_t hash, int *code)
{
    if (!s->team || s->team->ranks.size == 1)
        return true;
    double half[2] = {(double)(hash >> 32), (double)(uint32_t)hash};
    double most[4] = {half[0], -half[0], half[1], -half[1]};
    const ddsc_team *ranks = &s->team->ranks;
    bool good = ranks->agree(ranks->state, most, 4) == 0;
    if (good && most[0] == -most[1] && most[2] == -most[3])
        return true;
    message_error(good ? "%s: not the same on all ranks" : "%s: the other ranks cannot be reached",
                  s->opt.operand[0]);
    *code = EXIT_INPUT;
    return false;
}

static bool same_measures(session *s, const cli_input *in, int *code)
{
    const ddsc_measures_view *v = &in->view;
    if (!s->team)
        return true;
    uint64_t hash = add_bytes((uint64_t)v->n_rows, v->support, 8 * v->n_support * v->dim);
    hash = add_bytes(hash, v->offset, 8 * (v->n_items + 1));
    hash = add_bytes(hash, v->index, 4 * v->n_entries);
    return same_input(s, add_bytes(hash, v->weight, 8 * v->n_entries), code);
}

bool input_truth(session *s, int32_t **truth, int64_t n, int *code)
{
    int64_t n_found = 0;
    int32_t *found = NULL;
    if (!session_ok(s, ddsc_labels_read(s->ctx, &found, &n_found, s->opt.truth), code))
        return false;
    if (n_found != n) {
        message_error("%s: %lld labels for %lld items", s->opt.truth, (long long)n_found,
                      (long long)n);
        ddsc_release(s->ctx, found);
        *code = EXIT_INPUT;
        return false;
    }
    *truth = cli_allocate((size_t)n, sizeof **truth);
    memcpy(*truth, found, (size_t)n * sizeof **truth);
    ddsc_release(s->ctx, found);
    return true;
}

static bool attach_truth(session *s, cli_input *in, int *code)
{
    int32_t *truth = NULL;
    ddsc_measures *copy = NULL;
    if (!session_ok(s, ddsc_labels_read_for(s->ctx, &truth, NULL, in->measures, s->opt.truth),
                    code))
        return false;
    bool good =
        session_ok(s, ddsc_measures_copy_labelled(s->ctx, &copy, in->measures, truth), code);
    ddsc_release(s->ctx, truth);
    if (!good)
        return false;
    replace(in, copy);
    in->truth_name = s->opt.truth;
    return true;
}

static bool cut_down(session *s, cli_input *in, int *code)
{
    ddsc_measures *copy = NULL;
    if (!in->view.label) {
        message_error("--subset-per-class needs class labels: give --labels FILE or --truth FILE");
        *code = EXIT_USAGE;
        return false;
    }
    if (!session_ok(
            s, ddsc_measures_copy_balanced(s->ctx, &copy, in->measures, s->opt.subset_per_class),
            code))
        return false;
    replace(in, copy);
    return true;
}

static bool merge(session *s, cli_input *in, int *code)
{
    ddsc_measures *copy = NULL;
    ddsc_compress_report_init(&in->compress);
    if (!session_ok(
            s, ddsc_measures_compress(s->ctx, &copy, &in->compress, in->measures, s->opt.compress),
            code))
        return false;
    replace(in, copy);
    in->compressed = true;
    return true;
}

static bool transform(session *s, cli_input *in, int *code)
{
    const ddsc_transform_settings *set = &s->opt.transform;
    ddsc_measures *copy = NULL;
    if (!set->arcsinh && !set->logicle && !set->log1p && !set->batch && !set->normalise &&
        !set->pca && !set->per_item && !set->align)
        return true;
    if (!session_ok(s, ddsc_measures_transform(s->ctx, &copy, in->measures, set), code))
        return false;
    replace(in, copy);
    return true;
}

bool input_keep_numbers(session *s, ddsc_measures **measures, int *code)
{
    ddsc_measures *copy = NULL;
    if (!s->opt.private_)
        return true;
    if (!session_ok(s, ddsc_measures_copy_private(s->ctx, &copy, *measures), code))
        return false;
    ddsc_measures_destroy(*measures);
    *measures = copy;
    return true;
}

static bool keep_numbers(session *s, cli_input *in, int *code)
{
    bool good = input_keep_numbers(s, &in->measures, code);
    ddsc_measures_get_view(in->measures, &in->view);
    return good;
}

static bool read_reference(session *s, cli_input *in, int *code)
{
    ddsc_metric_settings *metric = &s->opt.metric;
    if (!session_ok(s, ddsc_measures_read(s->ctx, &in->reference, s->opt.reference, NULL), code))
        return false;
    metric->reference_rule = DDSC_REFERENCE_MEASURES;
    metric->reference_measures = in->reference;
    return true;
}

static bool read_cost(session *s, cli_input *in, int *code)
{
    ddsc_metric_settings *metric = &s->opt.metric;
    if (!session_ok(s, ddsc_matrix_read(s->ctx, &in->cost, &metric->cost_size, s->opt.cost_file),
                    code))
        return false;
    metric->cost_matrix = in->cost;
    return true;
}

unsigned input_distance_flags(const session *s)
{
    return s->opt.squared_input ? DDSC_DISTANCE_SQUARED : 0;
}

bool input_open(session *s, cli_input *in, int *code)
{
    double began = cli_now();
    *in = (cli_input){.ctx = s->ctx};
    bool good = read_files(s, in, code) && same_measures(s, in, code) &&
                (!s->opt.truth || attach_truth(s, in, code)) &&
                (!s->opt.subset_per_class || cut_down(s, in, code)) && transform(s, in, code) &&
                keep_numbers(s, in, code) && (!s->opt.compress || merge(s, in, code)) &&
                (!s->opt.reference || read_reference(s, in, code)) &&
                (!s->opt.cost_file || read_cost(s, in, code));
    in->seconds = cli_now() - began;
    if (!good)
        input_close(in);
    return good;
}

void input_close(cli_input *in)
{
    ddsc_measures_destroy(in->measures);
    ddsc_measures_destroy(in->reference);
    if (in->cost)
        ddsc_release(in->ctx, in->cost);
    in->cost = NULL;
    in->measures = NULL;
    in->reference = NULL;
}

bool input_matrix(session *s, double **matrix, int64_t *n, int *code)
{
    if (s->opt.n_operands != 1) {
        *code = message_usage(s->verb, "--precomputed takes one matrix");
        return false;
    }
    static const char *const meaningless[] = {"subset-per-class",
                                              "compress",
                                              "labels",
                                              "phase",
                                              "phases",
                                              "channels",
                                              "arcsinh",
                                              "method",
                                              "id",
                                              "columns",
                                              "drop",
                                              "weight",
                                              "label",
                                              "where",
                                              "as",
                                              "meta",
                                              "private",
                                              "matrix",
                                              "logicle",
                                              "log1p",
                                              "batch",
                                              "normalise",
                                              "pca",
                                              "per-item",
                                              "align"};
    for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++)
        if (option_given(&s->opt, meaningless[i])) {
            *code = message_usage(s->verb, "--%s does not go with --precomputed", meaningless[i]);
            return false;
        }
    return session_ok(s, ddsc_matrix_read(s->ctx, matrix, n, s->opt.operand[0]), code) &&
           same_input(s, s->team ? add_bytes((uint64_t)*n, *matrix, 8 * *n * *n) : 0, code);
}

/* Options that only one metric reads. */
static const struct {
    const char *option;
    ddsc_metric metric;
} metric_only[] = {
    {"epsilon", DDSC_METRIC_SINKHORN},   {"sinkhorn-value", DDSC_METRIC_SINKHORN},
    {"tolerance", DDSC_METRIC_SINKHORN}, {"max-iterations", DDSC_METRIC_SINKHORN},
    {"mmd-kernel", DDSC_METRIC_MMD},     {"bandwidth", DDSC_METRIC_MMD},
    {"mmd-estimator", DDSC_METRIC_MMD},  {"reference", DDSC_METRIC_LOT},
    {"reference-size", DDSC_METRIC_LOT}, {"mmd-features", DDSC_METRIC_MMD},
    {"lot-components", DDSC_METRIC_LOT},
};

/* Options that only some methods read. */
static void warn_method_options(const session *s)
{
    const cli_options *o = &s->opt;
    bool vectors = o->method == METHOD_KMEANS || o->method == METHOD_SC;
    bool centres = o->method == METHOD_D2 || o->method == METHOD_PD2;
    if (option_given(o, "vectors-from") && !vectors)
        message_warning(s, "--vectors-from has no effect here: it belongs to --method kmeans, sc");
    if (option_given(o, "centre-size") && !centres)
        message_warning(s, "--centre-size has no effect here: it belongs to --method d2, pd2");
    if (option_given(o, "barycenter") && o->method != METHOD_D2)
        message_warning(s, "--barycenter has no effect here: it belongs to --method d2");
}

void input_warn_unused(const session *s)
{
    const cli_options *o = &s->opt;
    bool no_metric = o->precomputed || o->method != METHOD_DDSC;
    for (size_t i = 0; i < sizeof metric_only / sizeof *metric_only; i++) {
        const char *name = metric_only[i].option;
        bool used = !no_metric && metric_used(o, metric_only[i].metric);
        if (option_given(o, name) && !used)
            message_warning(s, "--%s has no effect here: it belongs to --metric %s", name,
                            choice_name(choices_metric, (int)metric_only[i].metric));
    }
    if (no_metric && option_given(o, "metric"))
        message_warning(s, "--metric has no effect with %s",
                        o->precomputed ? "--precomputed" : "a baseline");
    if (no_metric && o->resume)
        message_warning(s, "--resume has no effect with %s",
                        o->precomputed ? "--precomputed" : "a baseline");
    warn_method_options(s);
    if (o->squared_input && !o->precomputed)
        message_warning(s, "--squared-input has no effect without --precomputed");
    if (o->metric.mmd_kernel == DDSC_KERNEL_ENERGY && option_given(o, "bandwidth"))
        message_warning(s, "--bandwidth has no effect with --mmd-kernel energy");
    if (o->reference && option_given(o, "reference-size"))
        message_warning(s, "--reference-size has no effect with a reference from a file");
    if (o->resume && o->graph.sample_columns < 1)
        message_warning(s, "--resume keeps nothing with --sample-columns");
    bool sampled = o->graph.sample < 1 || o->graph.sample_columns < 1;
    if (sampled && o->graph.exact_graph == DDSC_GRAPH_PRUNED)
        message_warning(s, "--exact-graph pruned has no effect with %s",
                        o->graph.sample < 1 ? "--sample" : "--sample-columns");
}
