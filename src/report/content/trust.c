/* Writes the theoretical guarantees of a result: the graph compared with known classes, and the
 * stability under resampled points. */
#include <stdio.h>

#include "report/content/tree.h"

/* Theorem 2: if the graph has as many components as clusters, changing affinities by up to xi/2
 * leaves the clusters unchanged. */
static void put_theorem_2(ddsc_report *r, json_t *root)
{
    const ddsc_theory *t = &r->theory;
    json_t *theorem = put_object(r, root, "theorem_2");
    bool components = t->n_components == r->view.k;
    put_bool(r, theorem, "components_equal_k", components);
    put_real(r, theorem, "zeta_allowed", t->xi > 0 ? t->xi / 2 : 0);
    if (r->trust.n == 0)
        return;
    put_real(r, theorem, "zeta", r->trust.worst->zeta);
    put_bool(r, theorem, "holds", components && t->xi > 0 && r->trust.worst->zeta <= t->xi / 2);
}

void result_put_theory(ddsc_report *r, json_t *parent)
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
    put_real(r, root, "gap", row->gap);
    put_real(r, root, "theorem_bound", row->theorem_bound);
    put_real(r, root, "direct_bound", row->direct_bound);
    put_real(r, root, "ari", row->ari);
    put_real(r, root, "ami", row->ami);
    put_count(r, root, "items_changed", row->n_changed);
}

void result_put_stability(ddsc_report *r, json_t *parent)
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
    json_t *runs = put_array(r, root, "runs");
    for (int64_t b = 0; b < v->n_resamples; b++)
        put_resample(r, put_row(r, runs), v->rows[b]);
    put_text(r, root, "words", v->words);
}
