/* result.json of `cluster`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster.h"
#include "options.h"

bool cluster_certified(const cluster_result *r)
{
    return !r->s->not_converged && (!r->clustering || r->view.verified || r->view.eigen_dense);
}

const ddsc_k_row *cluster_chosen(const cluster_result *r)
{
    for (int64_t i = 0; i < r->view.n_sweep; i++)
        if (r->view.sweep[i]->k == r->view.k)
            return r->view.sweep[i];
    return NULL;
}

const char *cluster_id(const cluster_result *r, int64_t row, char *room, size_t size)
{
    if (r->has_items)
        return ddsc_measures_get_id(r->in.measures, row);
    snprintf(room, size, "%" PRId64, row);
    return room;
}

static bool uses_metric(const cluster_result *r)
{
    return r->has_items && r->s->opt.method == METHOD_DDSC;
}

static void put_k(json_t *root, const ddsc_cluster_settings *set)
{
    text t = {0};
    text_addf(&t, "%" PRId64 ":%" PRId64, set->k_min, set->k_max);
    if (set->k_min == set->k_max)
        json_put_count_or_auto(root, "k", set->k_min);
    else
        json_put_text(root, "k", text_get(&t));
    text_free(&t);
}

static void put_gamma(json_t *root, const ddsc_cluster_settings *set)
{
    bool auto_rule = set->gamma_rule == DDSC_GAMMA_AUTO && !set->paper;
    if (set->gamma_rule == DDSC_GAMMA_VALUE)
        json_put_real(root, "gamma", set->gamma);
    else
        json_put_text(root, "gamma", auto_rule ? "auto" : "median");
}

json_t *cluster_settings_json(const cluster_result *r)
{
    const cli_options *o = &r->s->opt;
    const ddsc_cluster_settings *set = &o->cluster;
    json_t *root = uses_metric(r) ? json_metric(o) : json_object();
    json_put_text(root, "method", choice_name(choices_method, o->method));
    put_k(root, set);
    if (r->d2)
        cluster_d2_settings_json(root, r);
    else
        json_put_count(root, "kmeans_restarts", set->kmeans_restarts);
    if (o->method == METHOD_KMEANS || o->method == METHOD_SC)
        json_put_text(root, "vectors_from", choice_name(choices_vectors, o->vectors_from));
    if (!r->has_items)
        json_put_bool(root, "squared_input", o->squared_input);
    if (o->subset_per_class)
        json_put_count(root, "subset_per_class", o->subset_per_class);
    if (o->compress)
        json_put_count(root, "compress", o->compress);
    if (!r->clustering)
        return root;
    json_put_count_or_auto(root, "tau", set->graph->tau);
    json_put_text(root, "exact_graph",
                  choice_name(choices_exact_graph, (int)set->graph->exact_graph));
    json_put_text(root, "neighbors", choice_name(choices_neighbors, (int)set->graph->neighbors));
    json_put_real(root, "sample", set->graph->sample);
    json_put_real(root, "sample_columns", set->graph->sample_columns);
    put_gamma(root, set);
    json_put_bool(root, "paper", set->paper);
    json_put_real(root, "min_cluster", set->min_cluster);
    if (o->stability)
        json_put_count(root, "stability", o->stability);
    json_put_real(root, "eigen_tolerance", set->eigen_tolerance);
    return root;
}

json_t *cluster_chosen_json(const cluster_result *r)
{
    json_t *root = json_object();
    ddsc_metric metric = r->s->opt.metric.metric;
    json_put_count(root, "k", r->view.k);
    if (!r->clustering)
        return root;
    json_put_count(root, "tau", r->edges.tau);
    if (r->view.gamma > 0)
        json_put_real(root, "gamma", r->view.gamma);
    else
        json_put_text(root, "gamma", "local scaling");
    if (uses_metric(r) && metric == DDSC_METRIC_SINKHORN)
        json_put_real(root, "epsilon", r->view.pairs->epsilon);
    if (uses_metric(r) && metric == DDSC_METRIC_MMD)
        json_put_real(root, "bandwidth", r->view.pairs->bandwidth);
    if (uses_metric(r) && metric == DDSC_METRIC_LOT)
        json_put_count(root, "reference_size", r->view.pairs->reference_size);
    return root;
}

static void put_sizes(json_t *root, const cluster_result *r)
{
    json_t *sizes = json_put_object(root, "sizes");
    json_put_count(sizes, "items", r->view.n);
    if (r->has_items) {
        json_put_count(sizes, "dim", r->in.view.dim);
        json_put_count(sizes, "support", r->in.view.n_support);
        json_put_count(sizes, "entries", r->in.view.n_entries);
    }
    json_t *clusters = json_put_array(sizes, "clusters");
    for (int64_t c = 0; c < r->view.k; c++)
        json_add(clusters, json_integer(r->size[c]));
}

static void put_sweep(json_t *root, const cluster_result *r)
{
    json_t *sweep = json_put_array(root, "sweep");
    for (int64_t i = 0; i < r->view.n_sweep; i++) {
        const ddsc_k_row *k = r->view.sweep[i];
        json_t *row = json_object();
        json_put_count(row, "k", k->k);
        json_put_real(row, "gap", k->gap);
        json_put_real(row, "relative_gap", k->relative_gap);
        json_put_real(row, "modularity", k->modularity);
        json_put_real(row, "inertia", k->inertia);
        json_put_real(row, "stability", k->stability);
        json_put_count(row, "smallest", k->smallest);
        json_put_count(row, "largest", k->largest);
        if (r->sweep_scores)
            json_put_scores(json_put_object(row, "scores"), &r->sweep_scores[i]);
        json_add(sweep, row);
    }
}

static void put_spectrum(json_t *root, const cluster_result *r)
{
    const ddsc_k_row *chosen = cluster_chosen(r);
    json_t *gaps = json_put_object(root, "gaps");
    json_put_real(gaps, "gap", chosen ? chosen->gap : NAN);
    json_put_real(gaps, "relative_gap", chosen ? chosen->relative_gap : NAN);
    json_t *values = json_put_array(root, "eigenvalues");
    for (int64_t i = 0; i < r->view.n_eigenvalues; i++)
        json_add(values, json_real(r->view.eigenvalues[i]));
    json_put_count(root, "components", r->view.n_components);
    json_put_count(root, "merged_small_clusters", r->view.n_merged_small);
    put_sweep(root, r);
}

static void put_certificates(json_t *root, const cluster_result *r)
{
    json_t *c = json_put_object(root, "certificates");
    json_put_bool(c, "converged", !r->s->not_converged);
    json_put_bool(c, "certified", cluster_certified(r));
    if (!r->clustering)
        return;
    if (uses_metric(r)) {
        json_put_real(c, "max_gap", r->view.pairs->max_gap);
        json_put_count(c, "pairs_not_converged", r->view.pairs->n_not_converged);
        json_put_count(c, "pairs_clamped", r->view.pairs->n_clamped);
    }
    json_put_real(c, "max_residual", r->view.max_residual);
    json_put_bool(c, "eigen_verified", r->view.verified);
    json_put_bool(c, "eigen_dense", r->view.eigen_dense);
    json_put_count(c, "eigen_products", r->view.n_eigen_products);
}

static void put_seconds(json_t *root, const cluster_result *r)
{
    json_t *seconds = json_put_object(root, "seconds");
    json_put_real(seconds, "read", r->read_s);
    json_put_real(seconds, "distances", r->distances_s);
    json_put_real(seconds, "eigen", r->eigen_s);
    json_put_real(seconds, "kmeans", r->kmeans_s);
    if (r->trust.n > 0)
        json_put_real(seconds, "stability", r->trust.seconds);
    json_put_real(seconds, "total", r->total_s);
}

static void put_input(json_t *root, const cluster_result *r)
{
    json_t *files = json_put_array(root, "input");
    for (int i = 0; i < r->s->opt.n_operands; i++)
        json_add(files, json_from_text(r->s->opt.operand[i]));
    if (!r->in.compressed)
        return;
    json_t *c = json_put_object(root, "compress");
    json_put_count(c, "points_before", r->in.compress.n_before);
    json_put_count(c, "points_after", r->in.compress.n_after);
    json_put_real(c, "mean_w2", r->in.compress.mean_w2);
    json_put_real(c, "max_w2", r->in.compress.max_w2);
}

/* All but the last three keys are the same at every run of the same input, seed and version. */
json_t *cluster_json(const cluster_result *r, bool with_labels)
{
    json_t *root = json_object();
    json_put_text(root, "program", "ddsc");
    json_put_text(root, "version", ddsc_version());
    json_put_text(root, "features", ddsc_features());
    put_input(root, r);
    json_put_count(root, "seed", r->s->opt.seed);
    json_put_count(root, "n", r->n_rows);
    json_put_count(root, "k", r->view.k);
    json_put(root, "settings", cluster_settings_json(r));
    json_put(root, "chosen", cluster_chosen_json(r));
    put_sizes(root, r);
    if (r->clustering)
        put_spectrum(root, r);
    else if (r->d2)
        cluster_d2_json(root, r);
    else
        json_put_real(root, "inertia", r->inertia);
    put_certificates(root, r);
    if (uses_metric(r)) {
        json_t *pairs = json_put_object(root, "pairs");
        json_put_pairs(pairs, r->view.pairs);
        json_put_details(pairs, r->view.details, r->view.n_details);
        json_put_columns(pairs, &r->edges);
        json_put_approximation(root, &r->s->opt, r->view.pairs);
    }
    json_put_plan(root, r->s);
    if (r->truth_name) {
        json_t *scores = json_put_object(root, "scores");
        json_put_text(scores, "truth", r->truth_name);
        json_put_scores(scores, &r->scores);
        if (r->confusion)
            json_put(scores, "confusion", json_incref(r->confusion));
    }
    if (r->theory.n > 0)
        json_put(root, "theory", cluster_theory_json(r));
    if (r->trust.n > 0)
        json_put(root, "stability", cluster_stability_json(r));
    cluster_put_findings(root, r);
    json_put_text(root, "advice", r->view.advice ? r->view.advice : "");
    if (with_labels) {
        json_t *labels = json_put_array(root, "labels");
        for (int64_t i = 0; i < r->n_rows; i++)
            json_add(labels, json_integer(r->row_labels[i]));
    }
    json_put_text(root, "command", r->s->opt.command ? r->s->opt.command : "");
    json_put_resumed(root, r->s);
    json_put_count(root, "threads", ddsc_context_get_threads(r->s->ctx));
    put_seconds(root, r);
    return root;
}
