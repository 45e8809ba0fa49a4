/* Turns the operands and input options into measures: reads, labels, subsamples and compresses. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"

enum { MAX_PHASES = 1000000 };

/* Replaces a set with a derived copy, if the copy was created. */
static ddsc_status replace(ddsc_measures **set, ddsc_status status, ddsc_measures *copy)
{
    if (status < 0)
        return status;
    ddsc_measures_destroy(*set);
    *set = copy;
    return status;
}

ddsc_status input_join_meta(session *s, ddsc_measures **measures, int first, const char *id_columns)
{
    ddsc_status status = DDSC_OK;
    for (int k = first; k < s->opt.n_meta && status >= 0; k++) {
        ddsc_measures *copy = NULL;
        status = ddsc_measures_read_meta(s->ctx, &copy, *measures, s->opt.meta[k], id_columns);
        status = replace(measures, status, copy);
    }
    return status;
}

/* The state of the rank that reads the input. */
typedef struct reader {
    session *s;
    cli_input *in;
    ddsc_measures *set; /* the set so far */
    bool labeled;
    bool needs_labels; /* true if labels are required but missing */
} reader;

static void look_for_labels(reader *r)
{
    ddsc_measures_view view;
    ddsc_measures_get_view(r->set, &view);
    r->labeled = view.label != NULL;
}

/* Warns if the h5ad reader has detected raw counts that will not be transformed. */
static void warn_counts(const reader *r)
{
    const ddsc_transform_settings *t = &r->s->set.transform;
    const char *stage, *path, *why;
    for (int64_t k = 0; ddsc_context_get_note(r->s->ctx, k, &stage, &path, &why); k++)
        if (strcmp(path, "raw counts") == 0 && !t->log1p && !t->arcsinh && !t->logicle &&
            !t->normalize)
            message_warning(r->s,
                            "the matrix contains raw counts (%s), so distances mostly reflect the "
                            "number of reads per cell; normalize first (scanpy: normalize_total, "
                            "log1p), choose a normalized layer or an embedding (--matrix X_pca), "
                            "or use --log1p",
                            why);
}

static ddsc_status read_files(reader *r)
{
    const cli_options *o = &r->s->opt;
    ddsc_context *ctx = r->s->ctx;
    const char *const *file = o->operand + r->s->first_input;
    int64_t n_files = o->n_operands - r->s->first_input;
    ddsc_read_settings set = r->s->set.read;
    set.meta_path = o->n_meta > 0 ? o->meta[0] : NULL;
    if (r->s->set.transform.batch)
        set.item_columns = r->s->set.transform.batch;
    set.phase = (int)(o->phase > MAX_PHASES ? MAX_PHASES : o->phase);
    set.phases = (int)(o->phases > MAX_PHASES ? MAX_PHASES : o->phases);
    ddsc_status status = n_files == 1 ? ddsc_measures_read(ctx, &r->set, *file, &set)
                                      : ddsc_measures_read_files(ctx, &r->set, n_files, file, &set);
    if (status >= 0)
        warn_counts(r);
    if (status >= 0)
        status = input_join_meta(r->s, &r->set, 1, set.id_columns);
    if (status < 0)
        return status;
    look_for_labels(r);
    if (r->labeled)
        r->in->truth_name = o->read.labels_path ? o->read.labels_path : "the input";
    return status;
}

bool input_truth(session *s, int32_t **truth, int64_t n, int *code)
{
    int64_t n_found = 0;
    int32_t *found = NULL;
    if (!session_ok(s, ddsc_labels_read(s->ctx, &found, &n_found, s->opt.truth), code))
        return false;
    if (n_found != n) {
        message_error("%s: found %lld labels for %lld items", s->opt.truth, (long long)n_found,
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

static ddsc_status attach_truth(reader *r)
{
    ddsc_context *ctx = r->s->ctx;
    int32_t *truth = NULL;
    ddsc_measures *copy = NULL;
    ddsc_status status = ddsc_labels_read_for(ctx, &truth, NULL, r->set, r->s->opt.truth);
    if (status < 0)
        return status;
    status = ddsc_measures_copy_labeled(ctx, &copy, r->set, truth);
    ddsc_release(ctx, truth);
    r->in->truth_name = r->s->opt.truth;
    r->labeled = true;
    return replace(&r->set, status, copy);
}

static ddsc_status cut_down(reader *r)
{
    ddsc_measures *copy = NULL;
    r->needs_labels = !r->labeled;
    if (r->needs_labels)
        return DDSC_ERROR_ARGUMENT;
    ddsc_status status =
        ddsc_measures_copy_balanced(r->s->ctx, &copy, r->set, r->s->opt.subset_per_class);
    return replace(&r->set, status, copy);
}

static ddsc_status merge(reader *r)
{
    ddsc_measures *copy = NULL;
    ddsc_status status = input_compress(r->s, &r->in->merging, &copy, r->set);
    return copy ? replace(&r->set, status, copy) : status;
}

/* Returns true if the metric uses squared costs, which extreme points dominate. */
static bool is_fragile(const session *s)
{
    return verb_has_option(s->verb, "metric") && s->set.metric.metric != DDSC_METRIC_MMD;
}

/* Replaces --normalize auto with a rule that depends on the scales of the coordinates. The
 * preceding transforms are applied first, to determine these scales. */
static ddsc_status choose_normalize(reader *r)
{
    ddsc_transform_settings before = r->s->set.transform;
    ddsc_measures *copy = NULL;
    ddsc_units units;
    ddsc_units_init(&units);
    before.normalize = DDSC_NORMALIZE_NONE;
    before.pca = 0;
    before.align = DDSC_ALIGN_NONE;
    ddsc_status status = ddsc_measures_transform(r->s->ctx, &copy, r->set, &before);
    if (status >= 0)
        status = ddsc_units_run(r->s->ctx, &units, copy);
    ddsc_measures_destroy(copy);
    if (status < 0)
        return status;
    bool rank = units.advice == DDSC_UNITS_HEAVY && is_fragile(r->s);
    bool differ = units.advice == DDSC_UNITS_HEAVY || units.advice == DDSC_UNITS_DIFFER;
    r->s->set.transform.normalize = !differ ? DDSC_NORMALIZE_NONE
                                    : rank  ? DDSC_NORMALIZE_RANK
                                            : DDSC_NORMALIZE_STANDARD;
    text t = {0};
    text_addf(&t, "%s, because %lld of %lld coordinates spread less than 1/20 of the widest one",
              !differ ? "none"
              : rank  ? "rank"
                      : "standard",
              (long long)units.n_small, (long long)(units.n_small + units.n_large));
    if (rank)
        text_add(&t, ", and extreme points dominate some of them");
    if (units.advice == DDSC_UNITS_INTENSITY)
        text_add(&t,
                 " without a gap in between, as counts (--log1p) and intensities (--arcsinh) do");
    if (!r->s->opt.quiet)
        message_note(r->s, "normalize auto: ", text_get(&t));
    text_free(&t);
    return DDSC_OK;
}

static ddsc_status transform(reader *r)
{
    const ddsc_transform_settings *set = &r->s->set.transform;
    ddsc_measures *copy = NULL;
    if (r->s->like) {
        ddsc_status status = ddsc_measures_copy_like(r->s->ctx, &copy, r->set, r->s->like);
        return replace(&r->set, status, copy);
    }
    if ((int)set->normalize == NORMALIZE_AUTO) {
        ddsc_status status = choose_normalize(r);
        if (status < 0)
            return status;
    }
    if (!set->arcsinh && !set->logicle && !set->log1p && !set->batch && !set->normalize &&
        !set->pca && !set->per_item && !set->align)
        return DDSC_OK;
    ddsc_status status = ddsc_measures_transform(r->s->ctx, &copy, r->set, set);
    return replace(&r->set, status, copy);
}

ddsc_status input_keep_numbers(session *s, ddsc_measures **measures)
{
    ddsc_measures *copy = NULL;
    if (!s->opt.private_)
        return DDSC_OK;
    ddsc_status status = ddsc_measures_copy_private(s->ctx, &copy, *measures);
    return replace(measures, status, copy);
}

/* Creates the set, as a ddsc_measures_fn. With several ranks, only the first rank calls it. */
static ddsc_status make_set(void *user, ddsc_context *ctx, ddsc_measures **out)
{
    reader *r = user;
    const cli_options *o = &r->s->opt;
    (void)ctx; /* the context of the session */
    ddsc_status status = read_files(r);
    if (status >= 0 && o->truth)
        status = attach_truth(r);
    if (status >= 0 && o->subset_per_class)
        status = cut_down(r);
    if (status >= 0)
        status = transform(r);
    if (status >= 0)
        status = input_keep_numbers(r->s, &r->set);
    if (status >= 0 && o->compress)
        status = merge(r);
    if (status >= 0)
        *out = r->set;
    else
        ddsc_measures_destroy(r->set);
    return status;
}

static bool read_set(session *s, cli_input *in, int *code)
{
    reader r = {.s = s, .in = in};
    ddsc_status status = ddsc_measures_share(s->ctx, &in->measures, make_set, &r);
    if (r.needs_labels) {
        message_error(
            "--subset-per-class requires class labels; use --labels FILE or --truth FILE");
        *code = EXIT_USAGE;
        return false;
    }
    ddsc_measures_get_view(in->measures, &in->view);
    return session_ok(s, status, code);
}

static ddsc_status make_reference(void *user, ddsc_context *ctx, ddsc_measures **out)
{
    const session *s = user;
    return ddsc_measures_read(ctx, out, s->opt.reference, NULL);
}

static bool read_reference(session *s, cli_input *in, int *code)
{
    ddsc_metric_settings *metric = &s->set.metric;
    if (!session_ok(s, ddsc_measures_share(s->ctx, &in->reference, make_reference, s), code))
        return false;
    metric->reference_rule = DDSC_REFERENCE_MEASURES;
    metric->reference_measures = in->reference;
    return true;
}

static bool read_cost(session *s, cli_input *in, int *code)
{
    ddsc_metric_settings *metric = &s->set.metric;
    if (!session_ok(
            s, ddsc_matrix_read_shared(s->ctx, &in->cost, &metric->cost_size, s->opt.cost_file),
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
    bool good = read_set(s, in, code) && (!s->opt.reference || read_reference(s, in, code)) &&
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
        *code = message_usage(s->verb, "--precomputed takes exactly one matrix");
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
                                              "normalize",
                                              "pca",
                                              "per-item",
                                              "align"};
    for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++)
        if (option_given(&s->opt, meaningless[i])) {
            *code = message_usage(s->verb, "--%s cannot be combined with --precomputed",
                                  meaningless[i]);
            return false;
        }
    return session_ok(s, ddsc_matrix_read_shared(s->ctx, matrix, n, s->opt.operand[0]), code);
}

/* The options that apply to only one metric. */
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

/* Warns about options that apply only to some methods. */
static void warn_method_options(const session *s)
{
    const cli_options *o = &s->opt;
    bool vectors = o->method == METHOD_KMEANS || o->method == METHOD_SC;
    bool centers = o->method == METHOD_D2 || o->method == METHOD_PD2;
    if (option_given(o, "vectors-from") && !vectors)
        message_warning(s,
                        "--vectors-from has no effect; it applies only to --method kmeans and sc");
    if (option_given(o, "center-size") && !centers)
        message_warning(s, "--center-size has no effect; it applies only to --method d2 and pd2");
    if (option_given(o, "barycenter") && o->method != METHOD_D2)
        message_warning(s, "--barycenter has no effect; it applies only to --method d2");
}

void input_warn_unused(const session *s)
{
    const cli_options *o = &s->opt;
    bool no_metric = o->precomputed || o->method != METHOD_DDSC;
    for (size_t i = 0; i < sizeof metric_only / sizeof *metric_only; i++) {
        const char *name = metric_only[i].option;
        bool used = !no_metric && metric_used(s, metric_only[i].metric);
        if (option_given(o, name) && !used)
            message_warning(s, "--%s has no effect; it applies only to --metric %s", name,
                            choice_name(choices_metric, (int)metric_only[i].metric));
    }
    if (no_metric && option_given(o, "metric"))
        message_warning(s, "--metric has no effect with %s",
                        o->precomputed           ? "--precomputed"
                        : o->method == METHOD_D2 ? "--method d2, which uses --cost (euclidean: W1)"
                                                 : "a baseline");
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
        message_warning(s, "--resume stores nothing with --sample-columns");
    bool sampled = o->graph.sample < 1 || o->graph.sample_columns < 1;
    if (sampled && o->graph.exact_graph == DDSC_GRAPH_PRUNED)
        message_warning(s, "--exact-graph pruned has no effect with %s",
                        o->graph.sample < 1 ? "--sample" : "--sample-columns");
}
