/* What the paper's theory says about one result: run, JSON, files, lines for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cluster.h"

/* ---- the runs ---- */

bool cluster_theory(cluster_result *r, const int32_t *row_truth, int *code)
{
    session *s = r->s;
    size_t n = (size_t)r->view.n;
    const ddsc_graph *graph = r->graph ? r->graph : r->view.graph;
    if (!graph)
        return true;
    int32_t *truth = cli_allocate(n, sizeof *truth);
    r->intra = cli_allocate(n, sizeof *r->intra);
    r->inter = cli_allocate(n, sizeof *r->inter);
    r->xi = cli_allocate(n, sizeof *r->xi);
    for (int64_t i = 0; i < r->view.n; i++)
        truth[i] = row_truth[r->has_items ? r->in.view.row[i] : i];
    ddsc_theory_init(&r->theory);
    r->theory.item_intra = r->intra;
    r->theory.item_inter = r->inter;
    r->theory.item_xi = r->xi;
    bool good =
        session_ok(s, ddsc_theory_run(s->ctx, &r->theory, graph, truth, &s->opt.cluster), code);
    free(truth);
    return good;
}

bool cluster_stability(cluster_result *r, int *code)
{
    session *s = r->s;
    ddsc_stability_settings set;
    if (s->opt.stability == 0)
        return true;
    ddsc_stability_settings_init(&set);
    set.n_resamples = s->opt.stability;
    if (!session_ok(s,
                    ddsc_stability_run(s->ctx, &r->stability, r->in.measures, r->clustering,
                                       &s->opt.cluster, &set),
                    code))
        return false;
    ddsc_stability_get_view(r->stability, &r->trust);
    return true;
}

void cluster_theory_free(cluster_result *r)
{
    ddsc_stability_destroy(r->stability);
    free(r->intra);
    free(r->inter);
    free(r->xi);
}

/* ---- JSON ---- */

/* Theorem 2: with as many components as clusters, a change of affinity up to xi/2 does no harm. */
static void put_theorem_2(json_t *root, const cluster_result *r)
{
    const ddsc_theory *t = &r->theory;
    json_t *theorem = json_put_object(root, "theorem_2");
    bool components = t->n_components == r->view.k;
    json_put_bool(theorem, "components_equal_k", components);
    json_put_real(theorem, "zeta_allowed", t->xi > 0 ? t->xi / 2 : 0);
    if (r->trust.n == 0)
        return;
    json_put_real(theorem, "zeta", r->trust.worst->zeta);
    json_put_bool(theorem, "holds", components && t->xi > 0 && r->trust.worst->zeta <= t->xi / 2);
}

json_t *cluster_theory_json(const cluster_result *r)
{
    const ddsc_theory *t = &r->theory;
    json_t *root = json_object();
    json_put_count(root, "items", t->n);
    json_put_count(root, "classes", t->n_classes);
    json_put_count(root, "components", t->n_components);
    json_put_count(root, "pure_components", t->n_pure_components);
    json_put_count(root, "whole_classes", t->n_whole_classes);
    json_put_bool(root, "connected", t->connected);
    json_put_count(root, "intra_neighbours", t->n_intra);
    json_put_count(root, "inter_neighbours", t->n_inter);
    json_put_count(root, "items_without_inter", t->n_clean);
    json_put_count(root, "items_without_intra", t->n_stranded);
    json_put_real(root, "xi", t->xi);
    json_put_real(root, "xi_median", t->xi_median);
    json_put_count(root, "items_with_positive_xi", t->n_correct);
    put_theorem_2(root, r);
    return root;
}

/* Infinite bounds become null: there is none. */
static void put_row(json_t *root, const ddsc_stability_row *row)
{
    json_put_real(root, "sin_theta", row->sin_theta);
    json_put_real(root, "zeta", row->zeta);
    json_put_real(root, "zeta_common", row->zeta_common);
    json_put_real(root, "edges_kept", row->edges_kept);
    json_put_real(root, "laplacian_change", row->laplacian);
    json_put_real(root, "gap", row->gap);
    json_put_real(root, "theorem_bound", row->theorem_bound);
    json_put_real(root, "direct_bound", row->direct_bound);
    json_put_real(root, "ari", row->ari);
    json_put_real(root, "ami", row->ami);
    json_put_count(root, "items_changed", row->n_changed);
}

json_t *cluster_stability_json(const cluster_result *r)
{
    const ddsc_stability_view *v = &r->trust;
    json_t *root = json_object();
    json_put_count(root, "resamples", v->n_resamples);
    json_put_count(root, "k", v->k);
    json_put_count(root, "tau", v->tau);
    json_put_real(root, "gap", v->gap);
    json_put_real(root, "alpha", v->alpha);
    json_put_real(root, "sin_limit", v->sin_limit);
    json_put_bool(root, "theorem_vacuous", v->theorem_vacuous);
    json_put_bool(root, "direct_vacuous", v->direct_vacuous);
    json_put_count(root, "items_ever_changed", v->n_ever);
    json_put_count(root, "items_often_changed", v->n_often);
    put_row(json_put_object(root, "mean"), v->mean);
    put_row(json_put_object(root, "worst"), v->worst);
    json_t *runs = json_put_array(root, "runs");
    for (int64_t b = 0; b < v->n_resamples; b++) {
        json_t *row = json_object();
        put_row(row, v->rows[b]);
        json_add(runs, row);
    }
    json_put_text(root, "words", v->words);
    return root;
}

/* ---- the file: one line an input row; items that were dropped have empty fields ---- */

static void add_class_fields(text *t, const cluster_result *r, int64_t item)
{
    if (r->theory.n == 0)
        return;
    text_addf(t, ",%" PRId64 ",%" PRId64 ",", r->intra[item], r->inter[item]);
    if (!isnan(r->xi[item]))
        text_add_double(t, r->xi[item]);
}

void cluster_stability_csv(text *t, const cluster_result *r)
{
    const ddsc_stability_view *v = &r->trust;
    char room[24];
    int64_t item = 0;
    bool classes = r->theory.n > 0;
    text_addf(t, "id,label,changed,fraction,other%s\n", classes ? ",intra,inter,xi" : "");
    for (int64_t row = 0; row < r->n_rows; row++) {
        text_add_csv(t, cluster_id(r, row, room, sizeof room));
        text_addf(t, ",%" PRId32, r->row_labels[row]);
        if (r->row_labels[row] < 0) {
            text_addf(t, ",,,%s\n", classes ? ",,," : "");
            continue;
        }
        text_addf(t, ",%" PRId64 ",", v->n_changed[item]);
        text_add_double(t, (double)v->n_changed[item] / (double)v->n_resamples);
        text_add(t, ",");
        if (v->other[item] >= 0)
            text_addf(t, "%" PRId32, v->other[item]);
        add_class_fields(t, r, item);
        text_add(t, "\n");
        item++;
    }
}

/* ---- lines for people ---- */

void cluster_theory_summary(text *t, const cluster_result *r)
{
    const ddsc_theory *c = &r->theory;
    const ddsc_stability_view *v = &r->trust;
    if (c->n_intra + c->n_inter > 0)
        text_addf(
            t,
            "  classes      %.1f%% of the neighbours are of the same class; components %" PRId64
            ", classes %" PRId64 "; tolerance xi %.3g\n",
            100 * (double)c->n_intra / (double)(c->n_intra + c->n_inter), c->n_components,
            c->n_classes, c->xi);
    if (v->n > 0)
        text_addf(t,
                  "  stability    ARI %.3f, |sin Theta| %.3g of %.3g, mean of %" PRId64
                  " resamples; %" PRId64 " items changed cluster\n",
                  v->mean->ari, v->mean->sin_theta, v->sin_limit, v->n_resamples, v->n_ever);
}
