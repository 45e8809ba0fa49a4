/* Implements the scope of a public call, and functions that describe the source of a report without
 * computing anything. */
#include "report/result/tree.h"

result_call result_call_begin(ddsc_context *ctx)
{
    result_call call = {.ctx = ctx, .plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    ctx_enter(ctx);
    ctx_hold(ctx, true);
    call.before = call.plain ? uselocale(call.plain) : (locale_t)0;
    return call;
}

void result_call_end(result_call *call)
{
    if (call->plain) {
        uselocale(call->before);
        freelocale(call->plain);
    }
    ctx_hold(call->ctx, false);
}

/* ---- properties of the source ---- */

bool result_certified(const ddsc_report *r)
{
    return r->from.status == DDSC_OK &&
           (!r->from.clustering || r->view.verified || r->view.eigen_dense);
}

bool result_by_metric(const ddsc_report *r)
{
    return r->k > 0 ? r->measures && r->view.graph : r->from.pairs != NULL;
}

const char *result_method(const ddsc_report *r)
{
    return r->origin.method ? r->origin.method : "ddsc";
}

const ddsc_graph *result_graph(const ddsc_report *r)
{
    return r->from.graph ? r->from.graph : r->view.graph;
}

const ddsc_k_row *result_chosen(const ddsc_report *r)
{
    for (int64_t i = 0; i < r->view.n_sweep; i++)
        if (r->view.sweep[i]->k == r->view.k || r->view.n_sweep == 1)
            return r->view.sweep[i];
    return NULL;
}

bool result_has_words(const ddsc_report *r)
{
    return r->measures && ddsc_measures_get_point_name(r->measures, 0) &&
           !ddsc_measures_has_types(r->measures);
}

bool result_left_out(const ddsc_report *r, int64_t item)
{
    return r->from.outliers && r->outlying && r->outlying[item];
}

/* ---- clusters ---- */

json_t *result_cluster_row(const ddsc_report *r, int64_t c)
{
    return json_array_get(json_object_get(r->tree, "clusters"), (size_t)c);
}

const char *result_cluster_name(const json_t *cluster)
{
    const char *name = json_string_value(json_object_get(cluster, "name"));
    return name && *name ? name : NULL;
}
