/* Calls that compute distances, single transport problems, neighbor graphs and their layout. */
#include "base/context.h"
#include "public_outputs.h"

/* ---- entries: distances and single problems ---- */

static ddsc_status distance_run(ddsc_context *ctx, int option)
{
    ddsc_metric_settings set = metric_of(option % 4);
    set.mmd_features = option == 6 ? 16 : 0;
    double out[N * N];
    ddsc_pair_stats stats;
    unset(out, sizeof out);
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_distance_run(ctx, out, &stats, clouds, &set, DDSC_DISTANCE_SQUARED);
    fills(status, out, sizeof out);
    keeps_stats(status, &stats);
    return status;
}

/* With a resume folder. */
static ddsc_status distance_resumed(ddsc_context *ctx, int option)
{
    (void)option;
    char folder[64], command[128];
    strcpy(folder, "/tmp/ddsc-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    double out[N * N];
    unset(out, sizeof out);
    ddsc_status status = ddsc_context_set_resume(ctx, folder, NULL);
    if (status >= 0)
        status = ddsc_distance_run(ctx, out, NULL, clouds, NULL, 0);
    fills(status, out, sizeof out);
    mem_free(ctx, ctx->resume_folder); /* ddsc_context_set_resume would clear the message */
    mem_free(ctx, ctx->resume_settings);
    ctx->resume_folder = ctx->resume_settings = NULL;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    return status;
}

static ddsc_status cross_run(ddsc_context *ctx, int metric)
{
    ddsc_metric_settings set = metric_of(metric);
    double out[4 * N];
    ddsc_pair_stats stats;
    unset(out, sizeof out);
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_cross_run(ctx, out, &stats, fresh, clouds, &set, 0);
    fills(status, out, sizeof out);
    keeps_stats(status, &stats);
    return status;
}

static ddsc_status embed_run(ddsc_context *ctx, int option)
{
    ddsc_metric_settings set = metric_of(DDSC_METRIC_LOT);
    set.reference_rule = (ddsc_reference_rule)option;
    set.reference_measures = fresh;
    double *out = calls_unset;
    int64_t n_columns;
    ddsc_pair_stats stats;
    unset(&n_columns, sizeof n_columns);
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_embed_run(ctx, &out, &n_columns, &stats, clouds, &set);
    keeps(status, &n_columns, sizeof n_columns);
    keeps_stats(status, &stats);
    return gives_rows(ctx, status, out, sizeof *out, N, n_columns);
}

static ddsc_status reference_create(ddsc_context *ctx, int option)
{
    ddsc_metric_settings set = metric_of(DDSC_METRIC_LOT);
    set.reference_rule = (ddsc_reference_rule)option;
    set.reference_measures = fresh;
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_reference_create(ctx, &out, clouds, &set), &out);
}

/* The weights of two items, and a cost. */
typedef struct plan {
    ddsc_transport result;
    int32_t row[2 * POINTS], column[2 * POINTS];
    double mass[2 * POINTS], f[POINTS], g[POINTS], dense[POINTS * POINTS];
} plan;

/* All outputs are requested; an entropic plan is only returned as a dense matrix. */
static void unset_plan(plan *p, bool is_entropic)
{
    unset(p, sizeof *p);
    ddsc_transport_init(&p->result);
    p->result.plan_row = is_entropic ? NULL : p->row;
    p->result.plan_column = is_entropic ? NULL : p->column;
    p->result.plan_mass = is_entropic ? NULL : p->mass;
    p->result.plan = p->dense;
    p->result.f = p->f;
    p->result.g = p->g;
}

static ddsc_status keeps_plan(ddsc_status status, const plan *p, const plan *before)
{
    if (status >= 0)
        calls_add_answer(&p->result.primal, sizeof p->result.primal);
    keeps_copy(status, p, before, sizeof *p);
    return status;
}

static void make_problem(double *a, double *b, double *cost)
{
    for (int64_t i = 0; i < POINTS; i++) {
        a[i] = weights[i];
        b[i] = weights[POINTS - 1 - i];
        for (int64_t j = 0; j < POINTS; j++)
            cost[i * POINTS + j] = matrix[i * N + j];
    }
}

static ddsc_status emd_run(ddsc_context *ctx, int is_entropic)
{
    plan p, before;
    double a[POINTS], b[POINTS], cost[POINTS * POINTS];
    make_problem(a, b, cost);
    ddsc_transport_problem problem;
    ddsc_transport_problem_init(&problem);
    problem.n = problem.m = POINTS;
    problem.a = a;
    problem.b = b;
    problem.cost = cost;
    ddsc_sinkhorn_settings set;
    ddsc_sinkhorn_settings_init(&set);
    set.epsilon = 0.1;
    set.value = DDSC_SINKHORN_SHARP;
    set.tolerance = 1e-6;
    unset_plan(&p, is_entropic);
    memcpy(&before, &p, sizeof p);
    return keeps_plan(is_entropic ? ddsc_sinkhorn_run(ctx, &p.result, &problem, &set)
                                  : ddsc_emd_run(ctx, &p.result, &problem),
                      &p, &before);
}

static ddsc_status w2_run(ddsc_context *ctx, int option)
{
    (void)option;
    plan p, before;
    unset_plan(&p, false);
    memcpy(&before, &p, sizeof p);
    return keeps_plan(ddsc_w2_run(ctx, &p.result, clouds, 0, fresh, 1), &p, &before);
}

/* ---- entries: graphs ---- */

typedef struct search {
    int metric;
    ddsc_exact_graph exact_graph;
    ddsc_neighbors neighbors;
    double sample, sample_columns;
    ddsc_measures **data;
} search;

static const search searches[] = {
    {DDSC_METRIC_W2, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 1, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_AUTO, DDSC_NEIGHBORS_APPROXIMATE, 1, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 0.6, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 1, 0.5, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &images},
    {DDSC_METRIC_SINKHORN, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &clouds},
    {DDSC_METRIC_SINKHORN, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 1, 1, &images},
    {DDSC_METRIC_SINKHORN, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &histograms},
    {DDSC_METRIC_MMD, DDSC_GRAPH_AUTO, DDSC_NEIGHBORS_AUTO, 1, 1, &clouds},
    {DDSC_METRIC_LOT, DDSC_GRAPH_AUTO, DDSC_NEIGHBORS_AUTO, 1, 1, &clouds},
};

static ddsc_status neighbors_run(ddsc_context *ctx, int option)
{
    const search *s = &searches[option];
    ddsc_metric_settings metric = metric_of(s->metric);
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = 3;
    set.exact_graph = s->exact_graph;
    set.neighbors = s->neighbors;
    set.sample = s->sample;
    set.sample_columns = s->sample_columns;
    ddsc_graph *out = calls_unset;
    ddsc_pair_stats stats;
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_neighbors_run(ctx, &out, &stats, *s->data, &metric, &set);
    keeps_stats(status, &stats);
    return gives_graph(status, &out);
}

static ddsc_status graph_create_from_matrix(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_graph *out = calls_unset;
    return gives_graph(ddsc_graph_create_from_matrix(ctx, &out, N, matrix, 0, NULL), &out);
}

static ddsc_status graph_create_from_vectors(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_graph *out = calls_unset;
    return gives_graph(ddsc_graph_create_from_vectors(ctx, &out, N, 3, rows, NULL), &out);
}

static ddsc_status graph_create_from_csr(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_graph_view v;
    ddsc_graph_get_view(graph, &v);
    ddsc_graph *out = calls_unset;
    return gives_graph(ddsc_graph_create_from_csr(ctx, &out, v.n, v.offset, v.index, v.d2), &out);
}

static ddsc_status layout_run(ddsc_context *ctx, int option)
{
    (void)option;
    double xy[2 * N];
    unset(xy, sizeof xy);
    ddsc_status status = ddsc_layout_run(ctx, xy, graph, NULL);
    keeps(status, xy, sizeof xy);
    return status;
}

static const call_entry entries[] = {
    E(distance_run, "w2", 0),
    E(distance_run, "sinkhorn", 1),
    E(distance_run, "mmd", 2),
    E(distance_run, "lot", 3),
    E(distance_run, "mmd by features", 6),
    {"ddsc_distance_run", "resumed", distance_resumed, 0},
    E(cross_run, "w2", 0),
    E(cross_run, "sinkhorn", 1),
    E(cross_run, "mmd", 2),
    E(cross_run, "lot", 3),
    E(embed_run, "normal", 0),
    E(embed_run, "kmeans", 1),
    E(embed_run, "given", 2),
    E(reference_create, "normal", 0),
    E(reference_create, "kmeans", 1),
    E(reference_create, "given", 2),
    E(emd_run, "", 0),
    E(w2_run, "", 0),
    {"ddsc_sinkhorn_run", "", emd_run, 1},
    E(neighbors_run, "w2 full", 0),
    E(neighbors_run, "w2 pruned", 1),
    E(neighbors_run, "w2 approximate", 2),
    E(neighbors_run, "w2 sample", 3),
    E(neighbors_run, "w2 columns", 4),
    E(neighbors_run, "w2 of images", 5),
    E(neighbors_run, "sinkhorn pruned", 6),
    E(neighbors_run, "sinkhorn of images", 7),
    E(neighbors_run, "sinkhorn of histograms", 8),
    E(neighbors_run, "mmd", 9),
    E(neighbors_run, "lot", 10),
    E(graph_create_from_matrix, "", 0),
    E(graph_create_from_csr, "", 0),
    E(graph_create_from_vectors, "", 0),
    E(layout_run, "", 0),
};
const call_table pairs_calls = CALL_TABLE(entries);
