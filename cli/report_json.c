#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static json_t *checked(json_t *value)
{
    if (!value) {
        message_error("out of memory");
        exit(EXIT_MEMORY);
    }
    return value;
}

void json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, checked(value)) != 0)
        checked(NULL);
}

/* File names and ids need not be UTF-8, JSON must be: odd bytes become '?'. */
json_t *json_from_text(const char *value)
{
    json_t *string = json_string(value);
    if (string)
        return string;
    text t = {0};
    for (const char *c = value; *c; c++)
        text_add_bytes(&t, (unsigned char)*c < 0x80 ? c : "?", 1);
    string = checked(json_string(text_get(&t)));
    text_free(&t);
    return string;
}

void json_put_text(json_t *object, const char *key, const char *value)
{
    json_put(object, key, json_from_text(value));
}

void json_put_count(json_t *object, const char *key, int64_t value)
{
    json_put(object, key, json_integer(value));
}

void json_put_count_or_auto(json_t *object, const char *key, int64_t value)
{
    json_put(object, key, value ? json_integer(value) : json_string("auto"));
}

void json_put_real(json_t *object, const char *key, double value)
{
    json_put(object, key, isfinite(value) ? json_real(value) : json_null());
}

void json_put_bool(json_t *object, const char *key, bool value)
{
    json_put(object, key, json_boolean(value));
}

json_t *json_put_object(json_t *object, const char *key)
{
    json_t *child = checked(json_object());
    json_put(object, key, child);
    return child;
}

json_t *json_put_array(json_t *object, const char *key)
{
    json_t *child = checked(json_array());
    json_put(object, key, child);
    return child;
}

void json_add(json_t *array, json_t *value)
{
    if (json_array_append_new(array, checked(value)) != 0)
        checked(NULL);
}

void json_to_text(text *t, json_t *root)
{
    char *dump = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (!dump)
        checked(NULL);
    text_add(t, dump);
    text_add(t, "\n");
    free(dump);
}

bool json_print(session *s, json_t *root, int *code)
{
    text t = {0};
    json_to_text(&t, root);
    bool good = output_text(s, &t, NULL, false, code);
    text_free(&t);
    return good;
}

void json_put_scores(json_t *object, const ddsc_scores *scores)
{
    json_put_real(object, "ami", scores->ami);
    json_put_real(object, "ari", scores->ari);
    json_put_real(object, "nmi", scores->nmi);
    json_put_real(object, "purity", scores->purity);
    json_put_count(object, "n", scores->n);
    json_put_count(object, "n_labels", scores->n_labels);
    json_put_count(object, "n_truth", scores->n_truth);
}

void json_put_details(json_t *object, const ddsc_detail *details, int64_t n)
{
    if (n == 0)
        return;
    json_t *child = json_put_object(object, "details");
    for (int64_t i = 0; i < n; i++) {
        double value = details[i].value;
        bool whole = fabs(value) < 0x1p53 && value == floor(value);
        json_put(child, details[i].name,
                 whole ? json_integer((json_int_t)value) : json_real(value));
    }
}

void json_put_pairs(json_t *object, const ddsc_pair_stats *pairs)
{
    json_put_count(object, "pairs", pairs->n_pairs);
    json_put_count(object, "solved", pairs->n_solved);
    json_put_count(object, "bounds", pairs->n_bounds);
    json_put_count(object, "pruned", pairs->n_pruned);
    json_put_count(object, "not_converged", pairs->n_not_converged);
    json_put_count(object, "clamped", pairs->n_clamped);
    json_put_count(object, "iterations", pairs->n_iterations);
    json_put_real(object, "max_gap", pairs->max_gap);
    json_put_text(object, "search", pairs->n_recall_rows > 0 ? "approximate" : "exact");
    if (pairs->n_recall_rows > 0) {
        json_put_real(object, "recall", pairs->recall);
        json_put_count(object, "recall_rows", pairs->n_recall_rows);
    }
}

/* How far an approximate metric is from the exact one, as measured on a sample of pairs. */
void json_put_approximation(json_t *object, const cli_options *o, const ddsc_pair_stats *pairs)
{
    bool lot = o->metric.metric == DDSC_METRIC_LOT;
    if (!lot && pairs->n_features == 0)
        return;
    json_t *a = json_put_object(object, "approximation");
    json_put_text(a, "of", lot ? "w2" : "mmd");
    json_put_text(a, "by", lot ? "linear optimal transport" : "random Fourier features");
    if (pairs->n_features > 0)
        json_put_count(a, "features", pairs->n_features);
    if (pairs->n_components > 0) {
        json_put_count(a, "components", pairs->n_components);
        json_put_real(a, "variance_left_out", pairs->reduction_error);
    }
    json_put_text(a, "error", lot ? "|D - W2| / W2" : "|D^2 - exact D^2|");
    json_put_count(a, "sample_pairs", pairs->n_checked);
    json_put_real(a, "error_median", pairs->check_median);
    json_put_real(a, "error_95", pairs->check_high);
    json_put_real(a, "error_max", pairs->check_max);
}

void json_put_resumed(json_t *object, const session *s)
{
    if (s->opt.resume)
        json_put_count(object, "resumed", ddsc_context_get_resumed(s->ctx));
}

/* Which path each stage took, and why. */
void json_put_plan(json_t *object, const session *s)
{
    json_t *plan = json_put_array(object, "plan");
    for (int k = 0; k < s->n_plan; k++) {
        json_t *line = json_object();
        json_put_text(line, "stage", s->plan[k].stage);
        json_put_text(line, "path", s->plan[k].path);
        json_put_text(line, "why", s->plan[k].why);
        json_add(plan, line);
    }
}

void json_put_columns(json_t *object, const ddsc_graph_view *graph)
{
    if (graph->n_columns == 0)
        return;
    json_put_count(object, "columns", graph->n_columns);
    json_put_real(object, "columns_error", graph->columns_error);
}

static void put_sinkhorn(json_t *object, const ddsc_metric_settings *m)
{
    json_put_real(object, "epsilon", m->epsilon);
    json_put_bool(object, "epsilon_is_percent", m->epsilon_is_percent);
    json_put_text(object, "sinkhorn_value", choice_name(choices_sinkhorn, (int)m->sinkhorn_value));
    json_put_real(object, "tolerance", m->sinkhorn_tolerance);
    json_put_count(object, "max_iterations", m->sinkhorn_max_iterations);
}

static void put_mmd(json_t *object, const ddsc_metric_settings *m)
{
    static const char *const rule[] = {"auto", "median"};
    json_put_text(object, "mmd_kernel", choice_name(choices_kernel, (int)m->mmd_kernel));
    json_put_text(object, "mmd_estimator", choice_name(choices_estimator, (int)m->mmd_estimator));
    if (m->mmd_features > 0)
        json_put_count(object, "mmd_features", m->mmd_features);
    if (m->bandwidth_rule == DDSC_BANDWIDTH_VALUE)
        json_put_real(object, "bandwidth", m->bandwidth);
    else
        json_put_text(object, "bandwidth", rule[m->bandwidth_rule]);
}

static void put_lot(json_t *object, const cli_options *o)
{
    const ddsc_metric_settings *m = &o->metric;
    json_put_text(object, "reference",
                  o->reference                                 ? o->reference
                  : m->reference_rule == DDSC_REFERENCE_KMEANS ? "kmeans"
                                                               : "normal");
    json_put_count_or_auto(object, "reference_size", m->reference_size);
    if (m->lot_components > 0)
        json_put_count(object, "lot_components", m->lot_components);
}

json_t *json_metric(const cli_options *o)
{
    json_t *object = checked(json_object());
    const ddsc_metric_settings *m = &o->metric;
    json_put_text(object, "metric", choice_name(choices_metric, (int)m->metric));
    if (m->metric == DDSC_METRIC_SINKHORN)
        put_sinkhorn(object, m);
    if (m->metric == DDSC_METRIC_MMD)
        put_mmd(object, m);
    if (m->metric == DDSC_METRIC_LOT)
        put_lot(object, o);
    return object;
}
