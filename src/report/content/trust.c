/* Writes the theoretical guarantees of a result: the graph compared with known classes, and the
 * stability under resampled points. */
#include <stdio.h>

#include "report/content/content.h"

/* Theorem 2: if the graph of the sample has as many components as clusters, changing affinities by
 * up to xi/2 leaves the clusters unchanged. The condition is checked for every resample. */
static void put_theorem_2(ddsc_report *r, json_t *root)
{
    const ddsc_theory *t = &r->theory;
    json_t *theorem = put_object(r, root, "theorem_2");
    bool components = t->n_components == r->view.k;
    put_bool(r, theorem, "components_equal_k", components);
    put_real(r, theorem, "zeta_allowed", t->xi > 0 ? t->xi / 2 : 0);
    if (r->trust.n == 0)
        return;
    int64_t n_equal = 0;
    for (int64_t b = 0; b < r->trust.n_resamples; b++)
        n_equal += r->trust.rows[b]->n_components == r->view.k;
    put_count(r, theorem, "resamples_with_k_components", n_equal);
    components = components && n_equal == r->trust.n_resamples;
    put_real(r, theorem, "zeta", r->trust.worst->zeta);
    put_bool(r, theorem, "holds", components && t->xi > 0 && r->trust.worst->zeta <= t->xi / 2);
}

void content_put_theory(ddsc_report *r, json_t *parent)
{
    const ddsc_theory *t = &r->theory;
    json_t *root = put_object(r, parent, "theory");
    put_count(r, root, "items", t->n);
    put_count(r, root, "classes", t->n_classes);
    put_count(r, root, "components", t->n_components);
    put_count(r, root, "pure_components", t->n_pure_components);
    put_count(r, root, "whole_classes", t->n_whole_classes);
    put_bool(r, root, "connected", t->connected);
    put_count(r, root, "intra_neighbors", t->n_intra);
    put_count(r, root, "inter_neighbors", t->n_inter);
    put_count(r, root, "items_without_inter", t->n_clean);
    put_count(r, root, "items_without_intra", t->n_stranded);
    put_real(r, root, "xi", t->xi);
    put_real(r, root, "xi_median", t->xi_median);
    put_count(r, root, "items_with_positive_xi", t->n_correct);
    put_theorem_2(r, root);
}

/* Infinite bounds are written as null. */
static void put_resample(ddsc_report *r, json_t *root, const ddsc_stability_row *row)
{
    put_real(r, root, "sin_theta", row->sin_theta);
    put_real(r, root, "zeta", row->zeta);
    put_real(r, root, "zeta_common", row->zeta_common);
    put_real(r, root, "edges_kept", row->edges_kept);
    put_real(r, root, "laplacian_change", row->laplacian);
    put_real(r, root, "similarity_change", row->similarity_change);
    put_real(r, root, "lemma_2_bound", row->lemma_2_bound);
    put_real(r, root, "laplacian_largest", row->laplacian_largest);
    put_real(r, root, "lemma_3_bound", row->lemma_3_bound);
    put_count(r, root, "components", row->n_components);
    put_real(r, root, "gap", row->gap);
    put_real(r, root, "theorem_bound", row->theorem_bound);
    put_real(r, root, "direct_bound", row->direct_bound);
    put_real(r, root, "ari", row->ari);
    put_real(r, root, "ami", row->ami);
    put_count(r, root, "items_changed", row->n_changed);
}

static void put_run(ddsc_report *r, json_t *root, const ddsc_stability_row *row, int64_t k)
{
    put_resample(r, root, row);
    put_bool(r, root, "components_equal_k", row->n_components == k);
}

/* Lemma 1, for sinkhorn with costs that have a simple Lipschitz constant. log10_E is large for most
 * data, so no other value depends on it. */
static void put_lemma_1(ddsc_report *r, json_t *root)
{
    ddsc_sampling_constants c;
    int64_t cost = r->plan.metric.cost;
    ddsc_sampling_constants_init(&c);
    if (cost > DDSC_COST_EUCLIDEAN || r->plan.metric.metric != DDSC_METRIC_SINKHORN ||
        !r->from.measures ||
        ddsc_sampling_constants_run(r->ctx, &c, r->from.measures, &r->plan.metric) != DDSC_OK)
        return;
    json_t *lemma = put_object(r, root, "lemma_1");
    put_real(r, lemma, "L", c.lipschitz);
    put_real(r, lemma, "diameter", c.diameter);
    put_real(r, lemma, "largest_cost", c.largest_cost);
    put_real(r, lemma, "epsilon", c.epsilon);
    put_count(r, lemma, "m", c.n_points);
    put_real(r, lemma, "kappa", c.kappa);
    put_real(r, lemma, "log10_E", c.log10_e);
}

void content_put_stability(ddsc_report *r, json_t *parent)
{
    const ddsc_stability_view *v = &r->trust;
    json_t *root = put_object(r, parent, "stability");
    put_count(r, root, "resamples", v->n_resamples);
    put_count(r, root, "k", v->k);
    put_count(r, root, "tau", v->tau);
    put_real(r, root, "gap", v->gap);
    put_real(r, root, "alpha", v->alpha);
    put_real(r, root, "sin_limit", v->sin_limit);
    put_bool(r, root, "theorem_vacuous", v->theorem_vacuous);
    put_bool(r, root, "direct_vacuous", v->direct_vacuous);
    put_count(r, root, "items_ever_changed", v->n_ever);
    put_count(r, root, "items_often_changed", v->n_often);
    put_resample(r, put_object(r, root, "mean"), v->mean);
    put_resample(r, put_object(r, root, "worst"), v->worst);
    put_lemma_1(r, root);
    json_t *runs = put_array(r, root, "runs");
    for (int64_t b = 0; b < v->n_resamples; b++)
        put_run(r, put_row(r, runs), v->rows[b], v->k);
    put_text(r, root, "words", v->words);
}
