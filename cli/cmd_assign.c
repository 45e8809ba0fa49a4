/* ddsc assign: labels new items with the model of an earlier clustering. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

typedef struct assign_result {
    session *s;
    const char *path; /* path of the model */
    ddsc_model *model;
    ddsc_model_view view;
    cli_input in;
    int32_t *label, *far; /* by input row; -1 and 0 for dropped items */
    double *confidence, *distance;
    double *membership; /* items x k, or NULL */
    int64_t *size;      /* number of new items in each cluster */
    int64_t n_far;
    double mean_confidence;
    ddsc_pair_stats stats;
    bool scored;
    ddsc_scores scores;
} assign_result;

/* Moves the values of items to their rows and sets all other rows to `empty`. Works from the end to
 * the start, because row[i] >= i. */
static void spread(double *values, const ddsc_measures_view *view, double empty)
{
    int64_t item = view->n_items - 1;
    for (int64_t row = view->n_rows - 1; row >= 0; row--) {
        bool kept = item >= 0 && view->row[item] == row;
        values[row] = kept ? values[item] : empty;
        item -= kept;
    }
}

static void take_rows(assign_result *r, const int32_t *label, const int32_t *far)
{
    const ddsc_measures_view *in = &r->in.view;
    r->size = cli_allocate((size_t)r->view.k, sizeof *r->size);
    for (int64_t i = 0; i < in->n_items; i++) {
        r->size[label[i]]++;
        r->mean_confidence += r->confidence[i] / (double)in->n_items;
    }
    r->label = output_row_labels(label, in);
    r->far = output_row_labels(far, in);
    for (int64_t row = 0; row < in->n_rows; row++)
        r->far[row] = r->far[row] > 0;
    spread(r->confidence, in, 0);
    spread(r->distance, in, 0);
}

static bool compute(assign_result *r, int *code)
{
    session *s = r->s;
    size_t n = (size_t)r->in.view.n_rows;
    int32_t *label = cli_allocate(n, sizeof *label), *far = cli_allocate(n, sizeof *far);
    r->confidence = cli_allocate(n, sizeof *r->confidence);
    r->distance = cli_allocate(n, sizeof *r->distance);
    ddsc_assignment places;
    ddsc_assign_settings set;
    ddsc_assignment_init(&places);
    ddsc_assign_settings_init(&set);
    set.paper = s->opt.cluster.paper;
    places.labels = label;
    places.confidence = r->confidence;
    places.distance = r->distance;
    places.far = far;
    if (s->opt.membership)
        places.membership = r->membership =
            cli_allocate((size_t)(r->in.view.n_items * r->view.k), sizeof *r->membership);
    ddsc_pair_stats_init(&r->stats);
    ddsc_scores_init(&r->scores);
    bool good = session_ok(
        s, ddsc_assign_run(s->ctx, &places, &r->stats, r->model, r->in.measures, &set), code);
    r->n_far = places.n_far;
    if (good)
        take_rows(r, label, far);
    if (good && r->in.view.label) {
        r->scored = true;
        good = session_ok(
            s, ddsc_scores_run(s->ctx, &r->scores, r->in.view.n_rows, r->label, r->in.view.label),
            code);
    }
    free(label);
    free(far);
    return good;
}

/* Adds one field per cluster. The fields of a dropped item (NULL) are empty. */
static void add_memberships(text *t, const double *membership, int64_t k)
{
    for (int64_t c = 0; c < k; c++) {
        text_add(t, ",");
        if (membership)
            text_add_double(t, membership[c]);
    }
}

static bool write_table(assign_result *r, int *code)
{
    text t = {0};
    int64_t item = 0, k = r->view.k;
    text_add(&t, "id,label,confidence,far");
    for (int64_t c = 0; r->membership && c < k; c++)
        text_addf(&t, ",cluster%" PRId64, c);
    text_add(&t, "\n");
    for (int64_t row = 0; row < r->in.view.n_rows; row++) {
        bool kept = item < r->in.view.n_items && r->in.view.row[item] == row;
        text_add_csv(&t, ddsc_measures_get_id(r->in.measures, row));
        text_addf(&t, ",%" PRId32 ",", r->label[row]);
        text_add_double(&t, r->confidence[row]);
        text_addf(&t, ",%" PRId32, r->far[row]);
        if (r->membership)
            add_memberships(&t, kept ? r->membership + item * k : NULL, k);
        text_add(&t, "\n");
        item += kept;
    }
    bool good = output_text(r->s, &t, r->s->opt.output, false, code);
    text_free(&t);
    return good;
}

static void put_items(json_t *root, const assign_result *r)
{
    json_t *labels = json_put_array(root, "labels");
    json_t *confidence = json_put_array(root, "confidence"), *far = json_put_array(root, "far");
    json_t *distance = json_put_array(root, "distance");
    for (int64_t row = 0; row < r->in.view.n_rows; row++) {
        json_add(labels, json_integer(r->label[row]));
        json_add(confidence, json_real(r->confidence[row]));
        json_add(far, json_integer(r->far[row]));
        json_add(distance, json_real(r->distance[row]));
    }
}

/* Writes the memberships by input row. The array of a dropped item is empty. */
static void put_memberships(json_t *root, const assign_result *r)
{
    json_t *rows = json_put_array(root, "membership");
    const ddsc_measures_view *in = &r->in.view;
    for (int64_t row = 0, item = 0; row < in->n_rows; row++) {
        json_t *found = json_array();
        if (item < in->n_items && in->row[item] == row) {
            for (int64_t c = 0; c < r->view.k; c++)
                json_add(found, json_real(r->membership[item * r->view.k + c]));
            item++;
        }
        json_add(rows, found);
    }
}

static json_t *summary_json(const assign_result *r)
{
    ddsc_report_source from = json_source(r->s, &r->stats);
    json_t *root = json_object(), *told = json_run(r->s, &from);
    json_put_count(root, "n", r->in.view.n_rows);
    json_put_count(root, "items", r->in.view.n_items);
    json_t *model = json_put_object(root, "model");
    json_put_text(model, "path", r->path);
    json_put_count(model, "items", r->view.n_items);
    json_put_count(model, "dim", r->view.dim);
    json_put_count(model, "k", r->view.k);
    json_put_count(model, "tau", r->view.tau);
    json_put_text(model, "metric", choice_name(choices_metric, (int)r->view.metric));
    json_t *sizes = json_put_array(root, "sizes");
    for (int64_t c = 0; c < r->view.k; c++)
        json_add(sizes, json_integer(r->size[c]));
    json_put_real(root, "mean_confidence", r->mean_confidence);
    json_put_count(root, "n_far", r->n_far);
    json_put_real(root, "far_distance", r->view.far_distance);
    json_put_count(root, "far_neighbor", r->view.far_neighbor);
    json_take(root, told, "pairs");
    json_decref(told);
    if (r->scored)
        json_put_scores(json_put_object(root, "scores"), &r->scores);
    if (!r->s->opt.output)
        put_items(root, r);
    if (!r->s->opt.output && r->membership)
        put_memberships(root, r);
    json_put_bool(root, "converged", !r->s->not_converged);
    json_put_real(root, "seconds", r->stats.seconds);
    return root;
}

static void summary(const assign_result *r)
{
    text t = {0};
    text_add_count(&t, r->in.view.n_items);
    text_addf(&t, " new items assigned to %" PRId64 " clusters of ", r->view.k);
    text_add_count(&t, r->view.n_items);
    text_addf(&t, " items using %s: mean confidence %.3f, distant items: ",
              choice_name(choices_metric, (int)r->view.metric), r->mean_confidence);
    text_add_count(&t, r->n_far);
    text_add(&t, ", solved ");
    text_add_count(&t, r->stats.n_solved);
    text_add(&t, " of ");
    text_add_count(&t, r->stats.n_pairs);
    text_addf(&t, " pairs in %.2f s\n", r->stats.seconds);
    if (r->scored)
        text_addf(&t, "  scores       AMI %.4f, ARI %.4f, NMI %.4f, purity %.4f against %s\n",
                  r->scores.ami, r->scores.ari, r->scores.nmi, r->scores.purity, r->in.truth_name);
    output_summary(r->s, &t);
    text_free(&t);
}

static bool deliver(assign_result *r, int *code)
{
    session *s = r->s;
    if ((!s->opt.json || s->opt.output) && !write_table(r, code))
        return false;
    if (s->opt.json && !json_print(s, summary_json(r), code))
        return false;
    summary(r);
    return true;
}

/* Opens the model, which is the first operand, and reads the other operands in the same way as
 * other verbs. */
static bool open_all(assign_result *r, int *code)
{
    session *s = r->s;
    if (!session_ok(s, ddsc_model_read_shared(s->ctx, &r->model, r->path), code))
        return false;
    ddsc_model_get_view(r->model, &r->view);
    const char *batch = ddsc_measures_get_batch(r->view.measures, 0),
               *asked = s->opt.transform.batch;
    s->set.read.item_columns =
        batch; /* the model maps the batches of new items in the same way as those of the old
                * items */
    if (batch && asked && strcmp(batch, asked) == 0)
        s->set.transform.batch = NULL;
    s->first_input = 1;
    return input_open(s, &r->in, code);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    assign_result r = {.s = s, .path = s->opt.operand[0]};
    if (!output_check(s, false, &code))
        return code;
    if (open_all(&r, &code) && compute(&r, &code) && session_alone(s, &code) && deliver(&r, &code))
        code = session_exit(s);
    free(r.label);
    free(r.far);
    free(r.confidence);
    free(r.distance);
    free(r.membership);
    free(r.size);
    input_close(&r.in);
    ddsc_model_destroy(r.model);
    return code;
}

static const option_spec membership_options[] = {
    {.name = "membership",
     .kind = OPTION_FLAG,
     .offset = offsetof(cli_options, membership),
     .help = "add one column per cluster: how strongly each new item belongs to the cluster"},
    {.name = NULL}};
static const option_group group_membership = {"Labels", membership_options};

static const option_group *const groups[] = {&group_membership, &group_file_output,  &group_truth,
                                             &group_input,      &group_input_format, &group_table,
                                             &group_transform,  &group_subset,       &group_paper,
                                             &group_run,        &group_help,         NULL};

const cli_verb verb_assign = {
    .name = "assign",
    .operands = "MODEL INPUT... [-o LABELS.csv]",
    .min_operands = 2,
    .max_operands = -1,
    .summary = "assign new items to the clusters of an earlier result",
    .description =
        "Assigns the items of INPUT to the clusters of MODEL, the model.npz of a `ddsc cluster -o "
        "DIR` run. Each new item is compared with the old items using the metric of that run. The "
        "eigenvectors are extended to the new item, and the nearest center determines its label. "
        "confidence is 0 half-way between two clusters and 1 at a center. far is 1 if the distance "
        "from the item to its 7th nearest old item is larger than this distance is for 99% of the "
        "old items.",
    .groups = groups,
    .examples =
        "ddsc assign result/model.npz new.npz\tid, label, confidence, far as csv\n"
        "ddsc assign result/model.npz new.npz --truth classes.csv -o labels.csv\twith scores\n"
        "ddsc assign result/model.npz new.npz --json\tmachine-readable output\n",
    .run = run,
    .shared = true,
};
