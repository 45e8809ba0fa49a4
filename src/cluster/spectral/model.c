/* Creates a model from a clustering. A model contains the items and everything needed to compare
 * new items with them. */
#include "data/model.h"

#include <math.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "distance/lot/lot.h"
#include "neighbors/planner/plan.h"
#include "numeric/linalg/linalg.h"

/* New items farther away than this quantile of the distances between the model's items are flagged
 * as far. New items that resemble the old ones are flagged with probability 1 - FAR_QUANTILE. */
static const double FAR_QUANTILE = 0.99;

/* Copies the metric settings that the clustering used. New items are compared without
 * approximations. */
static ddsc_status take_metric(ddsc_context *ctx, ddsc_model *m, const measures *data,
                               const ddsc_metric_settings *used)
{
    ddsc_metric_settings *set = &m->metric;
    *set = *used;
    set->mmd_features = set->lot_components = 0;
    if (set->cost == DDSC_COST_MATRIX) {
        CHECK(MEM_COPY(ctx, m->cost_matrix, used->cost_matrix, used->cost_size * used->cost_size));
        set->cost_matrix = m->cost_matrix;
    }
    if (set->metric == DDSC_METRIC_LOT) {
        CHECK(lot_reference_make(ctx, &m->reference, data, set));
        set->reference_size = 0;
        set->reference_measures = m->reference;
    }
    return plan_check_metric(ctx, set);
}

/* Sets far_distance to the quantile FAR_QUANTILE of the distances between items and their neighbors
 * of rank far_neighbor. */
static ddsc_status find_far(ddsc_context *ctx, ddsc_model *m, const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    double *distance = NULL;
    int64_t n = 0;
    m->far_neighbor = BASE_MAX(1, BASE_MIN(AFFINITY_NEIGHBOR, m->tau));
    TRY(MEM_NEW(ctx, distance, m->n));
    for (int64_t i = 0; i < m->n; i++)
        if (g->offset[i + 1] - g->offset[i] >= m->far_neighbor)
            distance[n++] = sqrt(BASE_MAX(0, g->d2[g->offset[i] + m->far_neighbor - 1]));
    m->far_distance = INFINITY;
    if (n > 0)
        m->far_distance = select_smallest(distance, n, (int64_t)(FAR_QUANTILE * (double)(n - 1)));
done:
    mem_free(ctx, distance);
    return status;
}

static ddsc_status take_graph(ddsc_context *ctx, ddsc_model *m, const ddsc_graph *g)
{
    const ddsc_graph *plain = g->plain_lists;
    if (plain) {
        CHECK(MEM_COPY(ctx, m->plain_offset, plain->offset, plain->n + 1));
        CHECK(MEM_COPY(ctx, m->plain_index, plain->index, plain->offset[plain->n]));
        CHECK(MEM_COPY(ctx, m->plain_d2, plain->d2, plain->offset[plain->n]));
    }
    CHECK(MEM_COPY(ctx, m->list_offset, g->offset, g->n + 1));
    CHECK(MEM_COPY(ctx, m->list_index, g->index, g->offset[g->n]));
    CHECK(MEM_COPY(ctx, m->list_d2, g->d2, g->offset[g->n]));
    CHECK(MEM_NEW(ctx, m->scale, m->n));
    CHECK(MEM_NEW(ctx, m->reach, m->n));
    CHECK(affinity_scales(ctx, m->scale, &m->least_scale, g));
    for (int64_t i = 0; i < m->n; i++) {
        int64_t n_known = g->offset[i + 1] - g->offset[i];
        m->reach[i] = n_known < g->tau ? MODEL_REACH_MOST : g->d2[g->offset[i + 1] - 1];
    }
    if (g->scale)
        CHECK(MEM_COPY(ctx, m->hub_scale, g->scale, m->n));
    return find_far(ctx, m, g);
}

/* Copies the mixture of words, and fits the softness of the memberships. */
static ddsc_status take_memberships(ddsc_context *ctx, ddsc_model *m, const ddsc_clustering *c,
                                    const measures *data)
{
    ddsc_membership_report report = {0};
    CHECK(cluster_distance_softness(ctx, &report, c));
    m->softness = report.softness;
    if (c->mixture.n_words == 0)
        return DDSC_OK;
    CHECK(model_copy_mixture(ctx, &m->mixture, &c->mixture));
    CHECK(cluster_word_softness(ctx, &report, c, data));
    m->mixture.softness = report.softness;
    return DDSC_OK;
}

static ddsc_status take_embedding(ddsc_context *ctx, ddsc_model *m, const ddsc_clustering *c,
                                  const measures *data)
{
    CHECK(MEM_COPY(ctx, m->embedding, c->embedding, m->n * m->width));
    CHECK(MEM_COPY(ctx, m->radius, c->radius, m->n));
    CHECK(MEM_NEW(ctx, m->eigenvalue, m->width));
    for (int64_t j = 0; j < m->width; j++)
        m->eigenvalue[j] = 1 - c->eigenvalues[j];
    CHECK(cluster_find_centers(ctx, &m->center, &m->center_label, &m->n_centers, c));
    return take_memberships(ctx, m, c, data);
}

/* Returns the number of clusters for a new run with the same settings, without the clusters that
 * vanished in an update. */
static int64_t requested_clusters(const ddsc_clustering *c, const ddsc_cluster_settings *set)
{
    bool fixed = set->k_min == set->k_max && set->k_min > 0;
    return c->view.n_sweep == 1 ? c->view.sweep[0]->k : fixed ? set->k_min : c->view.k;
}

/* Returns the number after the largest one that was the id of an item of an earlier model, or 0 if
 * an item has this id or a larger one. */
static int64_t removed_next_id(const ddsc_model *before, const measures *items)
{
    int64_t next = before ? BASE_MAX(before->run.next_id, cluster_next_id(before->items)) : 0;
    return next > cluster_next_id(items) ? next : 0;
}

static model_rules requested_rules(const cluster_plan *plan)
{
    const ddsc_metric_settings *metric = &plan->metric;
    return (model_rules){.tau = plan->graph.tau,
                         .hubs = plan->graph.hubs,
                         .gamma_rule = plan->set.gamma_rule,
                         .bandwidth_rule = metric->bandwidth_rule,
                         .estimator = metric->mmd_estimator,
                         .reference_rule = metric->reference_rule,
                         .reference_size = metric->reference_size,
                         .epsilon = metric->epsilon,
                         .epsilon_is_percent = metric->epsilon_is_percent};
}

static ddsc_status check_call(ddsc_context *ctx, const measures *data, const ddsc_clustering *c)
{
    CHECK(ctx_need(ctx, data, "measures"));
    CHECK(ctx_need(ctx, c, "clustering"));
    if (!c->graph)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "ddsc_model_create: the clustering was computed from a graph, so new items "
                        "cannot be compared with its items; cluster measures instead");
    if (c->view.n_joined > 0)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "ddsc_model_create: a clustering of joined metrics cannot assign new "
                        "items; use one metric, or cluster old and new items together");
    if (data->n != c->view.n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "ddsc_model_create: the clustering has %lld items, but measures has %lld; "
                        "pass the clustered set",
                        (long long)c->view.n, (long long)data->n);
    return DDSC_OK;
}

ddsc_status ddsc_model_create(ddsc_context *ctx, ddsc_model **out, const ddsc_measures *data,
                              const ddsc_clustering *clustering,
                              const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    cluster_plan plan;
    ddsc_model *m = NULL;
    CHECK(ctx_enter_new(ctx, out));
    TRY(check_call(ctx, data, clustering));
    TRY(cluster_settings_take(ctx, &plan, settings));
    TRY(MEM_ZERO(ctx, m, 1));
    *m = (ddsc_model){.ctx = ctx,
                      .n = data->n,
                      .k = clustering->view.k,
                      .tau = clustering->graph->tau,
                      .gamma = clustering->view.gamma,
                      .width = clustering->view.n_vectors};
    TRY(take_metric(ctx, m, data, &clustering->metric.set));
    m->run = (model_run){.frame = clustering->metric.frame,
                         .mmd_features = clustering->metric.set.mmd_features,
                         .lot_components = clustering->metric.set.lot_components,
                         .neighbors = plan.graph.neighbors,
                         .paper = plan.set.paper,
                         .sample = plan.graph.sample,
                         .sample_columns = plan.graph.sample_columns,
                         .min_cluster = plan.set.min_cluster,
                         .seed = (int64_t)ctx_seed(ctx),
                         .k = requested_clusters(clustering, &plan.set)};
    m->rules = plan.set.like && !plan.set.resolve ? plan.set.like->rules : requested_rules(&plan);
    TRY(measures_copy_items(ctx, &m->items, data, clustering->labels));
    m->run.next_id = removed_next_id(plan.set.like, m->items);
    TRY(MEM_COPY(ctx, m->fresh, clustering->fresh, clustering->n_fresh));
    m->n_fresh = clustering->n_fresh;
    TRY(take_graph(ctx, m, clustering->graph));
    TRY(take_embedding(ctx, m, clustering, data));
    *out = m;
    m = NULL;
done:
    ddsc_model_destroy(m);
    return status;
}
