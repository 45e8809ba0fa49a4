/* Prepares a run with the settings of a model: copies the settings, applies the transforms of the
 * model's items to the new items, and checks that the points are comparable. */
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "data/model.h"
#include "data/recipe.h"
#include "neighbors/planner/plan.h"

/* Checks that the items and the model use the same word vectors. Points from different word vectors
 * are not comparable, even if they have the same dimension. */
static ddsc_status check_words(ddsc_context *ctx, const ddsc_model *m, const measures *data)
{
    static const char advice[] =
        "encode new documents with the words of the model (ddsc text DOCS --vectors MODEL.npz)";
    if (measures_words_equal(&data->words, &m->items->words))
        return DDSC_OK;
    if (data->words.n > 0)
        return ctx_fail(
            ctx, DDSC_ERROR_INPUT,
            "the word vectors of the items were not fitted to the documents of the model; %s",
            advice);
    ctx_warn(ctx,
             "the word vectors of the model were fitted to its documents, but the items have no "
             "word information; %s",
             advice);
    return DDSC_OK;
}

/* Checks that the coordinates of the items and of the model have the same names in the same
 * order. */
static ddsc_status like_check_coordinates(ddsc_context *ctx, const measures_texts *there, int64_t d,
                                          const measures *data)
{
    const measures_texts *here = &data->coordinates;
    if (data->d != d)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the points of the items have %lld coordinates, but those of the model "
                        "have %lld; the dimensions must be equal",
                        (long long)data->d, (long long)d);
    for (int64_t k = 0; k < BASE_MIN(here->n, there->n); k++)
        if (strcmp(texts_get(here, k), texts_get(there, k)) != 0)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "coordinate %lld of the items is \"%.60s\", but that of the model is "
                            "\"%.60s\"; the items must have the same coordinates in the same order",
                            (long long)k + 1, texts_get(here, k), texts_get(there, k));
    return DDSC_OK;
}

/* Applies the model's transforms to items that have not been transformed. */
static ddsc_status repeat_transforms(ddsc_context *ctx, measures **moved, const ddsc_model *m,
                                     const measures *data)
{
    const measures_recipe *there = &m->items->recipe;
    if (measures_recipe_equal(&data->recipe, there))
        return DDSC_OK;
    if (data->recipe.n > 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the items were transformed differently from those of the model, or the "
                        "transforms were fitted to other data; pass untransformed items, to which "
                        "the model's transforms are applied");
    CHECK(like_check_coordinates(ctx, &there->inputs, recipe_dimension(there, m->items->d), data));
    return recipe_apply(ctx, moved, data, there);
}

ddsc_status cluster_take_items(ddsc_context *ctx, measures **moved, const ddsc_model *m,
                               const measures *data)
{
    CHECK(repeat_transforms(ctx, moved, m, data));
    data = *moved ? *moved : data;
    CHECK(like_check_coordinates(ctx, &m->items->coordinates, m->items->d, data));
    return check_words(ctx, m, data);
}

ddsc_status ddsc_measures_copy_like(ddsc_context *context, ddsc_measures **copy,
                                    const ddsc_measures *data, const ddsc_model *model)
{
    ddsc_status status = DDSC_OK;
    measures *own = NULL;
    CHECK(ctx_enter_new(context, copy));
    CHECK(ctx_need(context, data, "measures"));
    CHECK(ctx_need(context, model, "model"));
    TRY(cluster_take_items(context, &own, model, data));
    if (!own)
        TRY(measures_copy(context, &own, data));
    *copy = own;
    own = NULL;
done:
    ddsc_measures_destroy(own);
    return status;
}

/* Restores the rules for settings, so that they are chosen again from the new data. */
static void choose_again(cluster_plan *plan, const ddsc_model *m)
{
    const model_rules *rules = &m->rules;
    ddsc_metric_settings *metric = &plan->metric;
    plan->graph.tau = rules->tau;
    plan->graph.hubs = rules->hubs;
    if (rules->gamma_rule != DDSC_GAMMA_VALUE)
        plan->set.gamma_rule = (ddsc_gamma_rule)rules->gamma_rule;
    if (rules->bandwidth_rule != DDSC_BANDWIDTH_VALUE)
        metric->bandwidth_rule = (ddsc_bandwidth_rule)rules->bandwidth_rule;
    metric->mmd_estimator = (ddsc_mmd_estimator)rules->estimator;
    metric->epsilon = rules->epsilon;
    metric->epsilon_is_percent = (int)rules->epsilon_is_percent;
    if (rules->reference_rule != DDSC_REFERENCE_MEASURES) {
        metric->reference_rule = (ddsc_reference_rule)rules->reference_rule;
        metric->reference_size = rules->reference_size;
        metric->reference_measures = NULL;
    }
}

ddsc_status cluster_take_like(ddsc_context *ctx, cluster_plan *plan)
{
    const ddsc_model *m = plan->set.like;
    const model_run *run = &m->run;
    bool by_seed = run->mmd_features > 0 || run->sample < 1 || run->sample_columns < 1;
    if (run->frame.kind == FRAME_NONE)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "like: the model was written by version 0.2.0, which did not store all "
                        "settings; cluster its items again with this version");
    if (plan->set.joined)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "like: the model was computed with a single metric; set joined = 0");
    if (by_seed && !plan->set.resolve && (uint64_t)run->seed != ctx_seed(ctx))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "like: the model used random features or a sample with seed %lld, but the "
                        "seed is %lld; use the same seed",
                        (long long)run->seed, (long long)ctx_seed(ctx));
    plan->metric = m->metric;
    plan->metric.mmd_features = run->mmd_features;
    plan->metric.lot_components = run->lot_components;
    plan->graph.tau = m->tau;
    plan->graph.sample = run->sample;
    plan->graph.sample_columns = run->sample_columns;
    plan->graph.neighbors = (ddsc_neighbors)run->neighbors;
    plan->graph.hubs = m->hub_scale ? DDSC_HUBS_ALWAYS : DDSC_HUBS_OFF;
    plan->metric.paper = plan->graph.paper = plan->set.paper = (int)run->paper;
    plan->set.gamma_rule = m->gamma > 0 ? DDSC_GAMMA_VALUE : DDSC_GAMMA_LOCAL;
    plan->set.gamma = m->gamma;
    plan->set.min_cluster = run->min_cluster;
    plan->set.refine = m->mixture.n_words > 0 ? DDSC_REFINE_AUTO : DDSC_REFINE_OFF;
    if (plan->set.resolve)
        choose_again(plan, m);
    if (plan->set.k_min == 0)
        plan->set.k_min = plan->set.k_max = run->k;
    CHECK(plan_check_graph(ctx, &plan->graph));
    return plan_check_metric(ctx, &plan->metric);
}
