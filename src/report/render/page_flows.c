/* Explains why an item is close to its nearest neighbor, if the points have names. The
 * explanation lists the largest flows of the exact transport plan between the two items, with
 * squared Euclidean costs. Mass that stays on the same word is reported as a single sum. Each item
 * needs one solve. No plans are computed if their total cost would exceed FLOW_CELLS. */
#include <string.h>

#include "report/render/report.h"

enum {
    FLOW_CELLS =
        20000000 /* sum over all pairs of the product of their sizes; about half a second */
};

/* Computes the plan from item i to its nearest neighbor j and stores its largest flows in f. */
static ddsc_status flows_of(const ddsc_report *r, ddsc_context *ctx, int64_t i, int64_t j,
                            ddsc_transport *plan, report_flows *f)
{
    const ddsc_measures_view *v = &r->items;
    *f = (report_flows){.from = {-1, -1, -1}, .to = {-1, -1, -1}};
    CHECK(ddsc_w2_run(ctx, plan, r->measures, i, r->measures, j));
    for (int64_t e = 0; e < plan->n_plan; e++) {
        int32_t from = v->index[v->offset[i] + plan->plan_row[e]];
        int32_t to = v->index[v->offset[j] + plan->plan_column[e]];
        double mass = plan->plan_mass[e];
        int at = REPORT_FLOWS;
        if (from == to) {
            f->stays += mass;
            continue;
        }
        for (; at > 0 && mass > f->mass[at - 1]; at--)
            if (at < REPORT_FLOWS) {
                f->mass[at] = f->mass[at - 1];
                f->from[at] = f->from[at - 1];
                f->to[at] = f->to[at - 1];
            }
        if (at < REPORT_FLOWS) {
            f->mass[at] = mass;
            f->from[at] = from;
            f->to[at] = to;
        }
    }
    return DDSC_OK;
}

/* Returns true if the result is based on squared Euclidean distances and the plans are within
 * the cost limit. */
static bool flows_wanted(const ddsc_report *r)
{
    const json_t *settings = json_object_get(r->tree, "settings");
    const char *cost = json_string_value(json_object_get(settings, "cost"));
    const char *metric = json_string_value(json_object_get(settings, "metric"));
    const ddsc_measures_view *v = &r->items;
    double cells = 0;
    if (!result_has_words(r) || r->edges.n != v->n_items)
        return false;
    if ((cost && strcmp(cost, "sqeuclidean") != 0) ||
        (metric && (strstr(metric, "w1") || strcmp(metric, "mmd") == 0)))
        return false;
    for (int64_t i = 0; i < v->n_items; i++)
        if (r->edges.offset[i] < r->edges.offset[i + 1]) {
            int64_t j = r->edges.index[r->edges.offset[i]];
            cells += (double)(v->offset[i + 1] - v->offset[i]) *
                     (double)(v->offset[j + 1] - v->offset[j]);
        }
    return cells <= FLOW_CELLS;
}

report_flows *report_find_flows(buffer *t, const ddsc_report *r)
{
    const ddsc_measures_view *v = &r->items;
    int64_t largest = 0;
    if (!flows_wanted(r))
        return NULL;
    for (int64_t i = 0; i < v->n_items; i++)
        largest = BASE_MAX(largest, v->offset[i + 1] - v->offset[i]);
    report_flows *flows = report_data_memory(t, v->n_items, sizeof *flows);
    ddsc_transport plan;
    ddsc_transport_init(&plan);
    plan.plan_row = report_data_memory(t, 2 * largest, sizeof *plan.plan_row);
    plan.plan_column = report_data_memory(t, 2 * largest, sizeof *plan.plan_column);
    plan.plan_mass = report_data_memory(t, 2 * largest, sizeof *plan.plan_mass);
    for (int64_t i = 0; t->status >= 0 && i < v->n_items; i++) {
        flows[i] = (report_flows){.from = {-1, -1, -1}, .to = {-1, -1, -1}};
        if (r->edges.offset[i] < r->edges.offset[i + 1])
            t->status =
                flows_of(r, t->ctx, i, r->edges.index[r->edges.offset[i]], &plan, &flows[i]);
    }
    MEM_FREE(t->ctx, plan.plan_row, plan.plan_column, plan.plan_mass);
    if (t->status < 0) {
        mem_free(t->ctx, flows);
        return NULL;
    }
    return flows;
}
