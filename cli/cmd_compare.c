/* ddsc compare: compares several metrics on one set and recommends one. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"

/* Describes the size of the lead, as version 0.2 did. */
static const char *const sureness[] = {"no difference", "slight", "clear"};

typedef struct compare_result {
    cli_input in;
    ddsc_compare *table;
    ddsc_compare_view view;
    bool scored, k_given;
    ddsc_scores score[8]; /* scores of each metric */
} compare_result;

static const char *metric_name(const ddsc_compare_row *row)
{
    return choice_name(choices_metric, (int)row->metric);
}

/* Scores all metrics against --truth or the classes of the input. */
static bool score_all(session *s, compare_result *r, int *code)
{
    const ddsc_measures_view *m = &r->in.view;
    if (!m->label)
        return true;
    int32_t *truth = cli_allocate((size_t)m->n_items, sizeof *truth);
    for (int64_t i = 0; i < m->n_items; i++)
        truth[i] = m->label[m->row[i]];
    bool good = true;
    for (int64_t i = 0; i < r->view.n_metrics && good; i++) {
        ddsc_scores_init(&r->score[i]);
        good = session_ok(s,
                          ddsc_scores_run(s->ctx, &r->score[i], m->n_items,
                                          r->view.labels + i * m->n_items, truth),
                          code);
    }
    free(truth);
    r->scored = good;
    return good;
}

/* Adds a value such as "0.83", or a dash for a missing value. */
static void add_cell(text *t, double value, int width)
{
    if (isnan(value))
        text_addf(t, "  %*s", width, "-");
    else
        text_addf(t, "  %*.3f", width, value);
}

static void add_rows(text *t, const compare_result *r)
{
    bool starred = r->view.n_metrics > 1;
    text_addf(t, "  metric  %s  verdict       stability  modularity  agreement  seconds%s\n",
              r->k_given ? "  " : "    suggests K", r->scored ? "     AMI     ARI" : "");
    for (int64_t i = 0; i < r->view.n_metrics; i++) {
        const ddsc_compare_row *row = r->view.rows[i];
        text_addf(t, "%c %-8s", starred && i == r->view.recommended ? '*' : ' ', metric_name(row));
        if (!r->k_given)
            text_addf(t, "  %10" PRId64, row->k);
        text_addf(t, "  %-12s", ddsc_level_get_words(row->level)->name);
        add_cell(t, row->stability, 9);
        add_cell(t, row->modularity, 10);
        add_cell(t, row->agreement, 9);
        text_addf(t, "  %7.2f", row->seconds);
        if (r->scored) {
            add_cell(t, r->score[i].ami, 6);
            add_cell(t, r->score[i].ari, 6);
        }
        text_add(t, "\n");
    }
    if (starred)
        text_add(t, "  * recommended\n");
}

/* Adds a table of the agreement between metrics, with AMI below the diagonal and ARI above it. */
static void add_agreement(text *t, const ddsc_compare_view *v)
{
    if (v->n_metrics < 2)
        return;
    text_add(t, "  AMI \\ ARI");
    for (int64_t j = 0; j < v->n_metrics; j++)
        text_addf(t, "  %8s", metric_name(v->rows[j]));
    text_add(t, "\n");
    for (int64_t i = 0; i < v->n_metrics; i++) {
        text_addf(t, "  %-9s", metric_name(v->rows[i]));
        for (int64_t j = 0; j < v->n_metrics; j++)
            if (i == j)
                text_addf(t, "  %8s", "");
            else
                add_cell(t, (j > i ? v->ari : v->ami)[i * v->n_metrics + j], 8);
        text_add(t, "\n");
    }
}

static bool print_table(session *s, const compare_result *r, int *code)
{
    text t = {0};
    text_add_count(&t, r->view.n);
    text_addf(&t, " items in %" PRId64 " cluster%s%s\n", r->view.k, r->view.k == 1 ? "" : "s",
              r->k_given ? "" : ", the K that most metrics suggest");
    add_rows(&t, r);
    add_agreement(&t, &r->view);
    text_addf(&t, "  recommended  %s. %s\n", metric_name(r->view.rows[r->view.recommended]),
              r->view.words);
    return output_print(s, &t, code);
}

static void put_square(json_t *root, const char *key, const double *value, int64_t n)
{
    json_t *rows = json_put_array(root, key);
    for (int64_t i = 0; i < n; i++) {
        json_t *row = json_array();
        json_add(rows, row);
        for (int64_t j = 0; j < n; j++)
            json_add(row, json_real(value[i * n + j]));
    }
}

static json_t *to_json(const compare_result *r)
{
    const ddsc_compare_view *v = &r->view;
    json_t *root = json_object();
    json_put_count(root, "n", v->n);
    json_put_count(root, "k", v->k);
    json_t *rows = json_put_array(root, "metrics");
    for (int64_t i = 0; i < v->n_metrics; i++) {
        json_t *row = json_object();
        json_add(rows, row);
        json_put_text(row, "metric", metric_name(v->rows[i]));
        if (!r->k_given)
            json_put_count(row, "suggests_k", v->rows[i]->k);
        json_put_text(row, "level", ddsc_level_get_words(v->rows[i]->level)->name);
        json_put_text(row, "structure", ddsc_structure_get_words(v->rows[i]->structure)->name);
        json_put_real(row, "stability", v->rows[i]->stability);
        json_put_real(row, "modularity", v->rows[i]->modularity);
        json_put_real(row, "agreement", v->rows[i]->agreement);
        json_put_real(row, "seconds", v->rows[i]->seconds);
        if (r->scored)
            json_put_scores(json_put_object(row, "scores"), &r->score[i]);
    }
    put_square(root, "ari", v->ari, v->n_metrics);
    put_square(root, "ami", v->ami, v->n_metrics);
    json_put_text(root, "recommended", metric_name(v->rows[v->recommended]));
    json_put_real(root, "lead", v->lead);
    json_put_text(root, "sure", sureness[v->sure]);
    json_put_text(root, "words", v->words);
    return root;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    compare_result r = {.k_given = s->set.cluster.k_min > 0 &&
                                   s->set.cluster.k_min == s->set.cluster.k_max};
    if (!option_given(&s->opt, "metrics")) {
        s->set.metric.metric = DDSC_METRIC_W2;
        s->set.cluster.joined =
            1 << DDSC_METRIC_SINKHORN | 1 << DDSC_METRIC_MMD | 1 << DDSC_METRIC_LOT;
    }
    if (input_open(s, &r.in, &code) &&
        session_ok(s, ddsc_compare_run(s->ctx, &r.table, r.in.measures, &s->set.cluster), &code)) {
        ddsc_compare_get_view(r.table, &r.view);
        if (score_all(s, &r, &code) &&
            (s->opt.json ? json_print(s, to_json(&r), &code) : print_table(s, &r, &code)) &&
            s->not_converged)
            code = EXIT_NOT_CONVERGED;
    }
    ddsc_compare_destroy(r.table);
    input_close(&r.in);
    return code;
}

static const option_group *const groups[] = {&group_compare,   &group_json,
                                             &group_truth,     &group_metric_values,
                                             &group_reference, &group_graph,
                                             &group_input,     &group_input_format,
                                             &group_table,     &group_transform,
                                             &group_subset,    &group_run,
                                             &group_help,      NULL};

const cli_verb verb_compare = {
    .name = "compare",
    .operands = "INPUT... [-k K]",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "compare metrics on one set: stability, agreement, time, recommendation",
    .description =
        "Clusters INPUT with each metric and reports, without using labels, how reliable each "
        "result is. verdict is the level that ddsc cluster reports, such as separate or continuum. "
        "stability is the agreement with the clusters of random subsamples, each "
        "with four fifths of the items. modularity measures how well the clusters fit the average "
        "graph of all metrics. agreement is the agreement with the clusters of the other metrics. "
        "Recommends the metric with the most stable clusters. The size of its lead does not show "
        "how much better it is. A metric with unconfirmed clusters is not recommended if another "
        "metric finds separate ones. docs/metrics.md reports how often the recommended metric was "
        "the best one.",
    .groups = groups,
    .examples =
        "ddsc compare clouds.npz -k 5\tall metrics, five clusters\n"
        "ddsc compare clouds.npz --metrics w2,mmd\ttwo metrics, with the K that most suggest\n"
        "ddsc compare digits.npz -k 10 --truth classes.csv --json\tmachine-readable, with scores\n",
    .run = run,
};
