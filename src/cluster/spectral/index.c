/* Implements the index of a model's items: keeps the metric open and the neighbor graph up to date
 * while items are added and removed. */
#include "cluster/spectral/cluster.h"
#include "data/model.h"
#include "neighbors/planner/index.h"

struct ddsc_index {
    ddsc_context *ctx;
    const ddsc_model *model;
    plan_index *own;
    int64_t n_searched; /* lists searched by the last update */
};

void ddsc_index_destroy(ddsc_index *index)
{
    if (!index)
        return;
    plan_index_close(index->own);
    mem_free(index->ctx, index);
}

static ddsc_status index_check_model(ddsc_context *ctx, const ddsc_model *m, const graph_request *p,
                                     const plan_known *known)
{
    const char *refused = plan_update_refused(ctx, p, known);
    if (!known->lists)
        refused = "the model has no neighbor lists";
    if (!plan_same_frame(&p->metric.frame, &m->run.frame))
        refused = "the items cannot be compared in the frame of the model";
    if (refused)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "an index cannot be opened for this model: %s; use ddsc_update_run",
                        refused);
    return DDSC_OK;
}

ddsc_status ddsc_index_open(ddsc_context *context, ddsc_index **index, const ddsc_model *model)
{
    ddsc_status status = DDSC_OK;
    ddsc_index *x = NULL;
    ddsc_graph *lists = NULL, *plain = NULL;
    ddsc_cluster_settings own;
    cluster_plan plan;
    graph_request p = {0};
    CHECK(ctx_enter_new(context, index));
    CHECK(ctx_need(context, model, "model"));
    TRY(cluster_settings_copy(context, &own, NULL));
    own.like = model;
    TRY(cluster_settings_take(context, &plan, &own));
    TRY(plan_resolve(context, &p, model->items, plan.set.metric, plan.set.graph,
                     &model->run.frame));
    TRY(cluster_model_lists(context, &lists, &plain, model));
    plan_known known = {
        .lists = lists, .plain = plain, .scale = model->hub_scale, .n_kept = model->n};
    TRY(index_check_model(context, model, &p, &known));
    TRY(MEM_ZERO(context, x, 1));
    *x = (ddsc_index){.ctx = context, .model = model};
    TRY(plan_index_open(context, &x->own, &p, &model->run.frame, &known));
    *index = x;
    x = NULL;
done:
    metric_resolved_free(&p.metric);
    ddsc_graph_destroy(lists);
    ddsc_graph_destroy(plain);
    ddsc_index_destroy(x);
    return status;
}

/* Converts new items to the form of the items in the index: transformed, with sorted points, and
 * with points of length 1 for the cosine cost. *out is NULL if no conversion is needed. */
static ddsc_status prepare_items(ddsc_context *ctx, measures **out, const ddsc_model *m,
                                 const measures *added)
{
    ddsc_status status = DDSC_OK;
    measures *moved = NULL, *unit = NULL;
    TRY(cluster_take_items(ctx, &moved, m, added));
    added = moved ? moved : added;
    if (m->metric.cost == DDSC_COST_COSINE)
        TRY(metric_to_unit_length(ctx, &unit, added));
    TRY(measures_ordered(ctx, out, unit ? unit : added));
    if (!*out) {
        *out = unit ? unit : moved;
        if (unit)
            unit = NULL;
        else
            moved = NULL;
    }
done:
    ddsc_measures_destroy(unit);
    ddsc_measures_destroy(moved);
    return status;
}

ddsc_status ddsc_index_update(ddsc_context *context, ddsc_index *index, const ddsc_measures *added,
                              int64_t n_removed, const int64_t *removed)
{
    ddsc_status status = DDSC_OK;
    measures *ready = NULL;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, index, "index"));
    if (context != index->ctx)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "the index belongs to another context");
    if (added)
        TRY(prepare_items(context, &ready, index->model, added));
    TRY(plan_index_change(index->own, ready ? ready : added, n_removed, removed,
                          &index->n_searched));
done:
    ddsc_measures_destroy(ready);
    return status;
}

ddsc_status ddsc_index_create_graph(ddsc_context *context, ddsc_graph **graph,
                                    const ddsc_index *index)
{
    CHECK(ctx_enter_new(context, graph));
    CHECK(ctx_need(context, index, "index"));
    return plan_index_graph(index->own, graph);
}

int64_t ddsc_index_get_count(const ddsc_index *index)
{
    return index ? plan_index_count(index->own) : 0;
}

int64_t ddsc_index_get_searched(const ddsc_index *index)
{
    return index ? index->n_searched : 0;
}
