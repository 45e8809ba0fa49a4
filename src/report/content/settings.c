/* Writes the settings of a run under the names of the command-line options. Only settings that
 * the run used are included. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/content/content.h"

static const char *const metrics[] = {"w2", "sinkhorn", "mmd", "lot", "w1"};
static const char *const costs[] = {"default", "sqeuclidean", "euclidean",
                                    "cosine",  "cityblock",   "matrix"};
static const char *const sinkhorn_values[] = {"regularized", "sharp", "debiased", "paper"};
static const char *const kernels[] = {"gaussian", "laplace", "energy"};
static const char *const bandwidths[] = {"auto", "median", "given", "near"};
static const char *const estimators[] = {"unbiased", "biased", "biased"};
static const char *const references[] = {"normal", "kmeans", "measures", "auto"};
static const char *const exact_graphs[] = {"auto", "full", "pruned"};
static const char *const refinements[] = {"auto", "off", "words"};
static const char *const hubs[] = {"default", "off", "auto", "always"};
static const char *const neighbor_searches[] = {"auto", "exact", "approximate"};

/* Returns the name of an enum value, or "?" for values added by later versions. */
#define NAMED(names, value) \
    ((size_t)(value) < sizeof(names) / sizeof *(names) ? (names)[value] : "?")

const char *content_metric_name(ddsc_metric metric)
{
    return NAMED(metrics, metric);
}

bool content_uses(const ddsc_report *r, ddsc_metric metric)
{
    return r->plan.metric.metric == metric || (r->plan.set.joined >> metric & 1);
}

const char *content_metric_names(const ddsc_report *r, char space[CONTENT_METRICS])
{
    ddsc_metric own = r->plan.metric.metric;
    size_t used = (size_t)snprintf(space, CONTENT_METRICS, "%s", content_metric_name(own));
    for (int m = 0; m <= DDSC_METRIC_W1; m++)
        if (m != (int)own && content_uses(r, (ddsc_metric)m) && used < CONTENT_METRICS)
            used += (size_t)snprintf(space + used, CONTENT_METRICS - used, "+%s",
                                     content_metric_name((ddsc_metric)m));
    return space;
}

const char *content_cost_given(const ddsc_report *r)
{
    int64_t cost = r->plan.metric.cost;
    return cost == DDSC_COST_DEFAULT ? NULL : NAMED(costs, cost);
}

static void put_sinkhorn(ddsc_report *r, json_t *object, const ddsc_metric_settings *m)
{
    put_real(r, object, "epsilon", m->epsilon);
    put_bool(r, object, "epsilon_is_percent", m->epsilon_is_percent);
    put_text(r, object, "sinkhorn_value", NAMED(sinkhorn_values, m->sinkhorn_value));
    put_real(r, object, "tolerance", m->sinkhorn_tolerance);
    put_count(r, object, "max_iterations", m->sinkhorn_max_iterations);
}

static void put_mmd(ddsc_report *r, json_t *object, const ddsc_metric_settings *m)
{
    put_text(r, object, "mmd_kernel", NAMED(kernels, m->mmd_kernel));
    put_text(r, object, "mmd_estimator", NAMED(estimators, m->mmd_estimator));
    if (m->mmd_features > 0)
        put_count(r, object, "mmd_features", m->mmd_features);
    if (m->bandwidth_rule == DDSC_BANDWIDTH_VALUE)
        put_real(r, object, "bandwidth", m->bandwidth);
    else
        put_text(r, object, "bandwidth", NAMED(bandwidths, m->bandwidth_rule));
}

static void put_lot(ddsc_report *r, json_t *object, const ddsc_metric_settings *m)
{
    put_text(r, object, "reference", NAMED(references, m->reference_rule));
    put_count_or_auto(r, object, "reference_size", m->reference_size);
    if (m->lot_components > 0)
        put_count(r, object, "lot_components", m->lot_components);
}

static void put_metric(ddsc_report *r, json_t *object, const ddsc_metric_settings *m)
{
    char space[CONTENT_METRICS];
    put_text(r, object, "metric", content_metric_names(r, space));
    if (m->metric != DDSC_METRIC_MMD)
        put_text(r, object, "cost",
                 m->cost != DDSC_COST_DEFAULT  ? NAMED(costs, m->cost)
                 : m->metric == DDSC_METRIC_W1 ? "euclidean"
                                               : "sqeuclidean");
    if (content_uses(r, DDSC_METRIC_SINKHORN))
        put_sinkhorn(r, object, m);
    if (content_uses(r, DDSC_METRIC_MMD))
        put_mmd(r, object, m);
    if (content_uses(r, DDSC_METRIC_LOT))
        put_lot(r, object, m);
}

static void put_k(ddsc_report *r, json_t *object, const ddsc_cluster_settings *set)
{
    char range[48];
    snprintf(range, sizeof range, "%" PRId64 ":%" PRId64, set->k_min, set->k_max);
    if (set->k_min == set->k_max)
        put_count_or_auto(r, object, "k", set->k_min);
    else
        put_text(r, object, "k", range);
}

static void put_gamma(ddsc_report *r, json_t *object, const ddsc_cluster_settings *set)
{
    bool auto_rule = set->gamma_rule == DDSC_GAMMA_AUTO && !set->paper;
    if (set->gamma_rule == DDSC_GAMMA_VALUE)
        put_real(r, object, "gamma", set->gamma);
    else
        put_text(r, object, "gamma",
                 auto_rule                             ? "auto"
                 : set->gamma_rule == DDSC_GAMMA_LOCAL ? "local"
                                                       : "median");
}

static void put_spectral(ddsc_report *r, json_t *object, const ddsc_cluster_settings *set)
{
    const ddsc_graph_settings *g = set->graph;
    put_count_or_auto(r, object, "tau", g->tau);
    put_text(r, object, "exact_graph", NAMED(exact_graphs, g->exact_graph));
    put_text(r, object, "neighbors", NAMED(neighbor_searches, g->neighbors));
    put_text(r, object, "hubs", NAMED(hubs, g->hubs));
    put_real(r, object, "sample", g->sample);
    put_real(r, object, "sample_columns", g->sample_columns);
    put_gamma(r, object, set);
    put_bool(r, object, "paper", set->paper);
    put_real(r, object, "min_cluster", set->min_cluster);
    put_text(r, object, "refine", NAMED(refinements, set->refine));
    if (r->trust.n > 0)
        put_count(r, object, "stability", r->trust.n_resamples);
    put_real(r, object, "eigen_tolerance", set->eigen_tolerance);
}

/* Adds the settings passed by the caller, which replace settings with the same name. */
static ddsc_status put_more(ddsc_report *r, json_t *object)
{
    for (int64_t i = 0; i < r->origin.n_settings; i++) {
        const ddsc_report_setting *s = &r->origin.settings[i];
        if (!s->name || (s->kind == DDSC_SETTING_TEXT && !s->text))
            return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                            "report: setting %lld has no name or no text; set both", (long long)i);
        if (s->kind == DDSC_SETTING_TEXT)
            put_text(r, object, s->name, s->text);
        else if (s->kind == DDSC_SETTING_NUMBER)
            put_count(r, object, s->name, s->number);
        else
            put_bool(r, object, s->name, s->number != 0);
    }
    return DDSC_OK;
}

ddsc_status content_put_settings(ddsc_report *r, json_t *root)
{
    const ddsc_cluster_settings *set = &r->plan.set;
    json_t *object = put_object(r, root, "settings");
    if (result_by_metric(r))
        put_metric(r, object, set->metric);
    if (r->k == 0) /* only pairs were compared */
        return put_more(r, object);
    put_text(r, object, "method", result_method(r));
    put_k(r, object, set);
    if (!r->from.d2)
        put_count(r, object, "kmeans_restarts", set->kmeans_restarts);
    CHECK(put_more(r, object));
    if (r->origin.compress)
        put_count(r, object, "compress", r->origin.compress_points);
    if (r->from.clustering)
        put_spectral(r, object, set);
    return DDSC_OK;
}
