#include "calls.h"

static ddsc_transport places(int32_t *row, int32_t *column, double *mass, double *f, double *g)
{
    ddsc_transport t;
    ddsc_transport_init(&t);
    t.plan_row = row;
    t.plan_column = column;
    t.plan_mass = mass;
    t.f = f;
    t.g = g;
    return t;
}

static ddsc_transport_problem problem(int64_t n, int64_t m, const double *a, const double *b,
                                      const double *cost)
{
    ddsc_transport_problem p;
    ddsc_transport_problem_init(&p);
    p.n = n;
    p.m = m;
    p.a = a;
    p.b = b;
    p.cost = cost;
    return p;
}

ddsc_status call_emd(ddsc_context *ctx, ddsc_transport *result, int32_t *plan_row,
                     int32_t *plan_column, double *plan_mass, double *f, double *g, int64_t n,
                     int64_t m, const double *a, const double *b, const double *cost)
{
    ddsc_transport t = places(plan_row, plan_column, plan_mass, f, g);
    ddsc_transport_problem p = problem(n, m, a, b, cost);
    ddsc_status status = ddsc_emd_run(ctx, &t, &p);
    if (result && status >= 0)
        *result = t;
    return status;
}

ddsc_status call_w2(ddsc_context *ctx, ddsc_transport *result, int32_t *plan_row,
                    int32_t *plan_column, double *plan_mass, double *f, double *g,
                    const ddsc_measures *x, int64_t i, const ddsc_measures *y, int64_t j)
{
    ddsc_transport t = places(plan_row, plan_column, plan_mass, f, g);
    ddsc_status status = ddsc_w2_run(ctx, &t, x, i, y, j);
    if (result && status >= 0)
        *result = t;
    return status;
}

ddsc_status call_sinkhorn(ddsc_context *ctx, double *value, ddsc_transport *result, double *plan,
                          double *f, double *g, int64_t n, int64_t m, const double *a,
                          const double *b, const double *cost, double epsilon,
                          ddsc_sinkhorn_value which, double tolerance, int64_t max_iterations)
{
    ddsc_transport t = places(NULL, NULL, NULL, f, g);
    ddsc_transport_problem p = problem(n, m, a, b, cost);
    ddsc_sinkhorn_settings set;
    ddsc_sinkhorn_settings_init(&set);
    t.plan = plan;
    set.epsilon = epsilon;
    set.value = which;
    set.tolerance = tolerance;
    set.max_iterations = max_iterations;
    ddsc_status status = ddsc_sinkhorn_run(ctx, &t, &p, &set);
    if (value && status >= 0)
        *value = t.value;
    if (result && status >= 0)
        *result = t;
    return status;
}

ddsc_status call_assign(ddsc_context *ctx, int32_t *labels, double *confidence, double *distance,
                        int32_t *far, ddsc_pair_stats *stats, const ddsc_model *model,
                        const ddsc_measures *measures, const ddsc_assign_settings *settings)
{
    ddsc_assignment a;
    ddsc_assignment_init(&a);
    a.labels = labels;
    a.confidence = confidence;
    a.distance = distance;
    a.far = far;
    return ddsc_assign_run(ctx, &a, stats, model, measures, settings);
}

ddsc_status call_extend(ddsc_context *ctx, double *rows, int32_t *labels, ddsc_pair_stats *stats,
                        const ddsc_model *model, const ddsc_measures *measures,
                        const ddsc_assign_settings *settings)
{
    ddsc_assignment a;
    ddsc_assignment_init(&a);
    a.rows = rows;
    a.labels = labels;
    return ddsc_assign_run(ctx, &a, stats, model, measures, settings);
}

ddsc_status call_theory(ddsc_context *ctx, ddsc_theory *theory, int64_t *item_intra,
                        int64_t *item_inter, double *item_xi, const ddsc_graph *graph,
                        const int32_t *truth, const ddsc_cluster_settings *settings)
{
    if (!theory)
        return ddsc_theory_run(ctx, NULL, graph, truth, settings);
    ddsc_theory_init(theory);
    theory->item_intra = item_intra;
    theory->item_inter = item_inter;
    theory->item_xi = item_xi;
    return ddsc_theory_run(ctx, theory, graph, truth, settings);
}

ddsc_status call_standing(ddsc_context *ctx, double *distance, double *ambiguity, int32_t *next,
                          int64_t n, int64_t dim, const double *rows, const int32_t *labels,
                          int64_t k)
{
    ddsc_standing s;
    ddsc_standing_init(&s);
    s.distance = distance;
    s.ambiguity = ambiguity;
    s.next = next;
    return ddsc_standing_run(ctx, &s, n, dim, rows, labels, k);
}

ddsc_status make_shared(ddsc_context *ctx, ddsc_measures **measures, int64_t n_items,
                        int64_t n_support, int64_t dim, const double *support,
                        const int64_t *offsets, const int32_t *indices, const double *weights,
                        ddsc_on_empty on_empty)
{
    ddsc_shared_items items;
    ddsc_shared_items_init(&items);
    items.n_items = n_items;
    items.n_support = n_support;
    items.dim = dim;
    items.support = support;
    items.offsets = offsets;
    items.indices = indices;
    items.weights = weights;
    return ddsc_measures_create_shared(ctx, measures, &items, on_empty);
}
