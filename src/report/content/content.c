/* Builds the tree of result.json. The values of all keys except the last ones (command, threads,
 * seconds) are reproducible for a given input, settings, seed and version. */
#include <math.h>
#include <string.h>

#include "report/content/content.h"
#include "report/traits/traits.h"

static void put_chosen(ddsc_report *r, json_t *root)
{
    json_t *chosen = put_object(r, root, "chosen");
    bool by_metric = result_by_metric(r);
    put_count(r, chosen, "k", r->view.k);
    if (!r->from.clustering)
        return;
    put_count(r, chosen, "tau", r->edges.tau);
    if (r->view.n_joined > 0)
        put_text(r, chosen, "gamma", "of each metric");
    else if (r->view.gamma > 0)
        put_real(r, chosen, "gamma", r->view.gamma);
    else
        put_text(r, chosen, "gamma", "local scaling");
    if (by_metric && content_uses(r, DDSC_METRIC_SINKHORN))
        put_real(r, chosen, "epsilon", r->pairs.epsilon);
    if (by_metric && content_uses(r, DDSC_METRIC_MMD))
        put_real(r, chosen, "bandwidth", r->pairs.bandwidth);
    if (by_metric && content_uses(r, DDSC_METRIC_LOT))
        put_count(r, chosen, "reference_size", r->pairs.reference_size);
}

/* Writes the metrics that were averaged. The graph, the map and all other information about
 * neighbors belong to the first metric. Times are listed under "seconds". */
static void put_joined(ddsc_report *r, json_t *root)
{
    if (r->view.n_joined == 0)
        return;
    json_t *list = put_array(r, root, "joined");
    for (int64_t i = 0; i < r->view.n_joined; i++) {
        const ddsc_joined_row *j = r->view.joined[i];
        json_t *row = put_row(r, list);
        put_text(r, row, "metric", content_metric_name(j->metric));
        if (j->gamma > 0)
            put_real(r, row, "gamma", j->gamma);
        else
            put_text(r, row, "gamma", "local scaling");
        put_count(r, row, "edges", j->n_edges);
        put_text(r, row, "neighbors", j->hubs_rescaled ? "rescaled" : "nearest");
        put_count(r, row, "largest_in_degree", j->in_degree_largest);
        put_count(r, row, "zero_in_degree", j->n_nobody);
    }
}

/* Writes statistics of the in-degrees of the graph. */
static void put_hubs(ddsc_report *r, json_t *root)
{
    json_t *hubs = put_object(r, root, "hubs");
    put_text(r, hubs, "neighbors", r->view.hubs_rescaled ? "rescaled" : "nearest");
    put_count(r, hubs, "largest_in_degree", r->view.in_degree_largest);
    put_count(r, hubs, "zero_in_degree", r->view.n_nobody);
    if (r->view.hubs_rescaled) {
        put_count(r, hubs, "nearest_largest_in_degree", r->view.plain_in_degree_largest);
        put_count(r, hubs, "nearest_zero_in_degree", r->view.plain_n_nobody);
    }
}

static void put_sizes(ddsc_report *r, json_t *root)
{
    json_t *sizes = put_object(r, root, "sizes");
    put_count(r, sizes, "items", r->view.n);
    if (r->measures) {
        put_count(r, sizes, "dim", r->items.dim);
        put_count(r, sizes, "support", r->items.n_support);
        put_count(r, sizes, "entries", r->items.n_entries);
    }
    json_t *clusters = put_array(r, sizes, "clusters");
    for (int64_t c = 0; c < r->k; c++)
        put_last(r, clusters, json_integer(r->size[c]));
}

static void put_scores(ddsc_report *r, json_t *object, const ddsc_scores *scores)
{
    put_real(r, object, "ami", scores->ami);
    put_real(r, object, "ari", scores->ari);
    put_real(r, object, "nmi", scores->nmi);
    put_real(r, object, "purity", scores->purity);
    put_count(r, object, "n", scores->n);
    put_count(r, object, "n_labels", scores->n_labels);
    put_count(r, object, "n_truth", scores->n_truth);
}

static void put_sweep(ddsc_report *r, json_t *root)
{
    json_t *sweep = put_array(r, root, "sweep");
    for (int64_t i = 0; i < r->view.n_sweep; i++) {
        const ddsc_k_row *k = r->view.sweep[i];
        json_t *row = put_row(r, sweep);
        put_count(r, row, "k", k->k);
        put_real(r, row, "gap", k->gap);
        put_real(r, row, "relative_gap", k->relative_gap);
        put_real(r, row, "modularity", k->modularity);
        put_real(r, row, "inertia", k->inertia);
        put_real(r, row, "stability", k->stability);
        put_real(r, row, "starts_agree", k->starts_agree);
        put_count(r, row, "smallest", k->smallest);
        put_count(r, row, "largest", k->largest);
        if (r->sweep_scores)
            put_scores(r, put_object(r, row, "scores"), &r->sweep_scores[i]);
    }
}

static void put_candidates(ddsc_report *r, json_t *root)
{
    ddsc_k_candidate c[DDSC_CANDIDATES_MOST];
    int64_t n = ddsc_clustering_get_candidates(r->from.clustering, c);
    if (n == 0)
        return;
    json_t *list = put_array(r, root, "candidates");
    for (int64_t i = 0; i < n; i++) {
        json_t *row = put_row(r, list);
        put_count(r, row, "k", c[i].k);
        put_bool(r, row, "widest_gap", c[i].widest_gap);
        put_bool(r, row, "highest_modularity", c[i].highest_modularity);
        put_bool(r, row, "halves_agree", c[i].halves_agree);
        put_bool(r, row, "large_may_hide", c[i].large_may_hide);
    }
}

static void put_spectrum(ddsc_report *r, json_t *root)
{
    const ddsc_k_row *chosen = result_chosen(r);
    json_t *gaps = put_object(r, root, "gaps");
    put_real(r, gaps, "gap", chosen ? chosen->gap : NAN);
    put_real(r, gaps, "relative_gap", chosen ? chosen->relative_gap : NAN);
    put_bool(r, gaps, "clear", chosen && chosen->gap_clear);
    json_t *values = put_array(r, root, "eigenvalues");
    for (int64_t i = 0; i < r->view.n_eigenvalues; i++)
        put_last(r, values, json_real(r->view.eigenvalues[i]));
    put_count(r, root, "components", r->view.n_components);
    put_joined(r, root);
    put_hubs(r, root);
    put_count(r, root, "merged_small_clusters", r->view.n_merged_small);
    put_sweep(r, root);
    put_candidates(r, root);
}

static void put_centers(ddsc_report *r, json_t *root)
{
    const ddsc_d2_view *c = &r->centers;
    put_real(r, root, "objective", c->objective[c->n_objective - 1]);
    json_t *list = put_array(r, root, "objectives");
    for (int64_t i = 0; i < c->n_objective; i++)
        put_last(r, list, json_real(c->objective[i]));
    json_t *centers = put_object(r, root, "centers");
    put_count(r, centers, "points", c->center_size);
    put_count(r, centers, "steps", c->n_objective - 1);
    put_count(r, centers, "restart", c->restart);
    put_count(r, centers, "pairs", c->n_pairs);
    put_count(r, centers, "solved", c->n_solved);
}

static void put_certificates(ddsc_report *r, json_t *root)
{
    json_t *c = put_object(r, root, "certificates");
    put_bool(r, c, "converged", r->from.status == DDSC_OK);
    put_bool(r, c, "certified", result_certified(r));
    if (!r->from.clustering)
        return;
    if (result_by_metric(r)) {
        put_real(r, c, "max_gap", r->pairs.max_gap);
        put_count(r, c, "pairs_not_converged", r->pairs.n_not_converged);
        put_count(r, c, "pairs_clamped", r->pairs.n_clamped);
    }
    put_real(r, c, "max_residual", r->view.max_residual);
    put_bool(r, c, "eigen_verified", r->view.verified);
    put_bool(r, c, "eigen_dense", r->view.eigen_dense);
    put_count(r, c, "eigen_products", r->view.n_eigen_products);
}

static void put_details(ddsc_report *r, json_t *object, const ddsc_detail *details, int64_t n)
{
    if (n == 0)
        return;
    json_t *child = put_object(r, object, "details");
    for (int64_t i = 0; i < n; i++) {
        double value = details[i].value;
        bool whole = fabs(value) < 0x1p53 && value == floor(value);
        put_value(r, child, details[i].name,
                  whole ? json_integer((json_int_t)value) : json_real(value));
    }
}

/* Writes the error of an approximate metric, measured on a sample of pairs. */
static void put_approximation(ddsc_report *r, json_t *root)
{
    const ddsc_pair_stats *pairs = &r->pairs;
    bool lot = content_uses(r, DDSC_METRIC_LOT);
    if (!lot && pairs->n_features == 0)
        return;
    json_t *a = put_object(r, root, "approximation");
    put_text(r, a, "of", lot ? "w2" : "mmd");
    put_text(r, a, "by", lot ? "linear optimal transport" : "random Fourier features");
    if (pairs->n_features > 0)
        put_count(r, a, "features", pairs->n_features);
    if (pairs->n_components > 0) {
        put_count(r, a, "components", pairs->n_components);
        put_real(r, a, "variance_left_out", pairs->reduction_error);
    }
    put_text(r, a, "error", lot ? "|D - W2| / W2" : "|D^2 - exact D^2|");
    put_count(r, a, "sample_pairs", pairs->n_checked);
    put_real(r, a, "error_median", pairs->check_median);
    put_real(r, a, "error_95", pairs->check_high);
    put_real(r, a, "error_max", pairs->check_max);
}

static void put_pairs(ddsc_report *r, json_t *root)
{
    const ddsc_pair_stats *pairs = &r->pairs;
    json_t *object = put_object(r, root, "pairs");
    put_count(r, object, "pairs", pairs->n_pairs);
    put_count(r, object, "solved", pairs->n_solved);
    put_count(r, object, "bounds", pairs->n_bounds);
    put_count(r, object, "pruned", pairs->n_pruned);
    put_count(r, object, "not_converged", pairs->n_not_converged);
    put_count(r, object, "clamped", pairs->n_clamped);
    put_count(r, object, "iterations", pairs->n_iterations);
    put_real(r, object, "max_gap", pairs->max_gap);
    put_text(r, object, "search", pairs->n_recall_rows > 0 ? "approximate" : "exact");
    if (pairs->n_recall_rows > 0) {
        put_real(r, object, "recall", pairs->recall);
        put_real(r, object, "recall_low", pairs->recall_low);
        put_real(r, object, "recall_high", pairs->recall_high);
        put_count(r, object, "recall_rows", pairs->n_recall_rows);
    }
    put_details(r, object, r->view.details, r->view.n_details);
    if (r->edges.n_columns > 0) {
        put_count(r, object, "columns", r->edges.n_columns);
        put_real(r, object, "columns_error", r->edges.columns_error);
    }
    put_approximation(r, root);
}

static void put_steps(ddsc_report *r, json_t *root)
{
    const ctx_step *step;
    int64_t n = ctx_steps(r->ctx, &step);
    json_t *plan = put_array(r, root, "plan");
    for (int64_t i = 0; i < n; i++) {
        json_t *row = put_row(r, plan);
        put_text(r, row, "stage", step[i].stage);
        put_text(r, row, "path", step[i].path);
        put_text(r, row, "why", step[i].why);
    }
}

content_times content_times_now(const ddsc_report *r)
{
    content_times t = {0};
    double staged = 0;
    t.n = stage_list(r->ctx, &t.list);
    for (int64_t i = 1; i < t.n; i++)
        staged += t.list[i].wall;
    t.other = t.list[0].wall;
    t.total = staged + t.other;
    return t;
}

/* Rounds to whole nanoseconds, the resolution of the clocks. Otherwise, the page generated from
 * result.json could differ, because the last bit of a sum determines how 0.000331550 is printed. */
static double whole_nanoseconds(double seconds)
{
    return round(seconds * 1e9) / 1e9;
}

static json_t *stage_row(const char *name, double wall, double cpu)
{
    return json_pack("{s:s, s:f, s:f}", "stage", name, "wall", whole_nanoseconds(wall), "cpu",
                     whole_nanoseconds(cpu));
}

/* Returns NULL if memory is exhausted. */
static json_t *stage_rows(const content_times *t)
{
    json_t *rows = json_array();
    bool good = rows != NULL;
    for (int64_t i = 1; good && i <= t->n; i++) {
        const stage_time *s = &t->list[i % t->n];
        good = json_array_append_new(
                   rows, stage_row(s->name, i < t->n ? s->wall : t->other, s->cpu)) == 0;
    }
    if (!good)
        json_decref(rows);
    return good ? rows : NULL;
}

/* Returns the time of the stages that read the input, which only the context records. */
static double seconds_read(const ddsc_report *r)
{
    return stage_seconds(r->ctx, "read") + stage_seconds(r->ctx, "merge") +
           stage_seconds(r->ctx, "transform");
}

static double seconds_of_means(const ddsc_report *r)
{
    const ddsc_d2_view *c = &r->centers;
    return r->from.clustering ? r->view.seconds_kmeans
           : r->from.d2       ? c->seconds_start + c->seconds_assign + c->seconds_centers
                              : stage_seconds(r->ctx, "k-means");
}

static void put_seconds(ddsc_report *r, json_t *root)
{
    content_times now = content_times_now(r);
    json_t *seconds = put_object(r, root, "seconds");
    put_real(r, seconds, "read", seconds_read(r));
    put_real(r, seconds, "distances", r->view.seconds_distances + stage_seconds(r->ctx, "graph"));
    for (int64_t i = 0; i < r->view.n_joined; i++)
        put_real(r, seconds, content_metric_name(r->view.joined[i]->metric),
                 r->view.joined[i]->seconds);
    put_real(r, seconds, "eigen", r->view.seconds_eigen);
    put_real(r, seconds, "kmeans", seconds_of_means(r));
    if (content_judged(r))
        put_real(r, seconds, "verdict", stage_seconds(r->ctx, "verdict"));
    if (r->trust.n > 0)
        put_real(r, seconds, "stability", r->trust.seconds);
    put_real(r, seconds, "total", whole_nanoseconds(now.total));
    put_value(r, seconds, "stages", stage_rows(&now));
}

/* If memory is exhausted, the old values remain. */
void content_renew_seconds(const ddsc_report *r)
{
    content_times now = content_times_now(r);
    json_t *seconds = json_object_get(r->tree, "seconds"), *rows = stage_rows(&now);
    if (rows && json_object_set_new(seconds, "total", json_real(whole_nanoseconds(now.total))) == 0)
        json_object_set(seconds, "stages", rows);
    json_decref(rows);
}

/* Writes the transforms that were applied to the items, and the batch columns. */
static void put_transforms(ddsc_report *r, json_t *root)
{
    const char *name;
    if (!ddsc_measures_get_transform(r->measures, 0))
        return;
    json_t *steps = put_array(r, root, "transforms");
    for (int64_t k = 0; (name = ddsc_measures_get_transform(r->measures, k)); k++)
        put_last(r, steps, result_string(name));
    if (!ddsc_measures_get_batch(r->measures, 0))
        return;
    json_t *batches = put_array(r, root, "batches");
    for (int64_t k = 0; (name = ddsc_measures_get_batch(r->measures, k)); k++)
        put_last(r, batches, result_string(name));
}

static void put_compress_accuracy(ddsc_report *r, json_t *c)
{
    const ddsc_compress_report *found = &r->compress;
    put_count(r, c, "sample_pairs", found->n_pairs);
    put_count(r, c, "sample_items", found->n_items);
    put_real(r, c, "error_median", found->error_median);
    put_real(r, c, "error_95", found->error_95);
    put_count(r, c, "neighbors", found->n_near);
    put_real(r, c, "neighbors_kept", found->kept);
}

static void put_input(ddsc_report *r, json_t *root)
{
    put_count(r, root, "format_version", DDSC_FORMAT_VERSION);
    put_text(r, root, "program", "ddsc");
    put_text(r, root, "version", ddsc_version());
    put_text(r, root, "features", ddsc_features());
    put_text(r, root, "device", ddsc_context_get_device(r->ctx));
    json_t *files = put_array(r, root, "input");
    for (int64_t i = 0; i < r->origin.n_inputs; i++)
        put_last(r, files, result_string(r->origin.inputs[i]));
    if (r->origin.compress) {
        json_t *c = put_object(r, root, "compress");
        put_count(r, c, "m", r->origin.compress_points);
        put_count(r, c, "points_before", r->compress.n_before);
        put_count(r, c, "points_after", r->compress.n_after);
        put_real(r, c, "mean_w2", r->compress.mean_w2);
        put_real(r, c, "max_w2", r->compress.max_w2);
        if (r->compress.n_pairs > 0)
            put_compress_accuracy(r, c);
    }
    put_count(r, root, "seed", (int64_t)ctx_seed(r->ctx));
    put_transforms(r, root);
}

/* Writes the number of labels that refinement by words changed. */
static void put_refinement(ddsc_report *r, json_t *root)
{
    if (r->view.n_refine_rounds == 0 && !r->view.refine_stopped)
        return;
    json_t *refined = put_object(r, root, "refinement");
    put_text(r, refined, "by", "words");
    put_count(r, refined, "rounds", r->view.n_refine_rounds);
    put_count(r, refined, "moved", r->view.n_moved);
    put_bool(r, refined, "stopped_early", r->view.refine_stopped);
}

/* Writes the calibration of the memberships. */
static void put_membership(ddsc_report *r, json_t *root)
{
    const ddsc_membership_report *m = &r->membership_fit;
    if (!r->membership)
        return;
    json_t *told = put_object(r, root, "membership");
    put_text(r, told, "by", m->n_by_words > 0 ? "words" : "distances");
    put_count(r, told, "items_by_words", m->n_by_words);
    put_real(r, told, "softness", m->softness);
    put_count(r, told, "held_out", m->n_held_out);
    put_real(r, told, "held_out_confidence", m->n_held_out > 0 ? m->confidence : NAN);
    put_real(r, told, "held_out_agreement", m->n_held_out > 0 ? m->agreement : NAN);
}

static void put_clusters_found(ddsc_report *r, json_t *root)
{
    put_chosen(r, root);
    put_sizes(r, root);
    if (r->from.clustering)
        put_spectrum(r, root);
    else if (r->from.d2)
        put_centers(r, root);
    else
        put_real(r, root, "inertia", r->from.inertia);
    put_refinement(r, root);
    put_membership(r, root);
    put_certificates(r, root);
}

static ddsc_status put_judgement(ddsc_report *r, json_t *root)
{
    if (r->scored) {
        json_t *scores = put_object(r, root, "scores");
        put_text(r, scores, "truth", r->origin.truth_name ? r->origin.truth_name : "the input");
        put_scores(r, scores, &r->scores);
        CHECK(content_put_confusion(r, scores));
    }
    if (r->theory.n > 0)
        content_put_theory(r, root);
    if (r->trust.n > 0)
        content_put_stability(r, root);
    CHECK(content_put_merges(r, root));
    content_put_outliers(r, root);
    CHECK(content_put_findings(r, root));
    CHECK(traits_put_explanation(r));
    CHECK(traits_put_means(r));
    CHECK(traits_put_order(r, root));
    CHECK(traits_put_cells(r, root));
    CHECK(traits_put_about(r, root));
    if (r->from.over)
        CHECK(traits_add_over(r, r->from.over, NULL, 0));
    put_text(r, root, "advice", r->view.advice ? r->view.advice : "");
    return DDSC_OK;
}

ddsc_status content_build(ddsc_report *r)
{
    json_t *root = r->tree = json_object();
    if (r->k > 0)
        content_put_verdict(r, root);
    put_input(r, root);
    if (r->k > 0) {
        put_count(r, root, "n", r->n_rows);
        put_count(r, root, "k", r->k);
    }
    CHECK(content_put_settings(r, root));
    content_put_update(r, root);
    if (r->k > 0)
        put_clusters_found(r, root);
    if (result_by_metric(r))
        put_pairs(r, root);
    put_steps(r, root);
    if (r->k > 0)
        CHECK(put_judgement(r, root));
    put_text(r, root, "command", r->origin.command ? r->origin.command : "");
    if (r->view.resume)
        put_count(r, root, "resumed", r->view.n_resumed);
    put_count(r, root, "threads", ddsc_context_get_threads(r->ctx));
    put_seconds(r, root);
    if (r->lost)
        return ctx_fail(r->ctx, DDSC_ERROR_MEMORY, "out of memory for the tree of a report");
    return DDSC_OK;
}
