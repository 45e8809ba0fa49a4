/* Defaults, checks and resolution of the metric and graph settings. Error messages name the field
 * and its value. */
#include <math.h>

#include "base/paper.h"
#include "base/sized.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"

/* Up to this limit, h^2 and 1/h^2 are finite. Coordinates have the same limit (data/parts.c). */
static const double largest_bandwidth = 1e150;
static const int64_t most_features = 1 << 20;

static const ddsc_metric_settings metric_defaults = {
    .metric = DDSC_METRIC_W2,
    .epsilon = 5.0,
    .epsilon_is_percent = 1,
    .sinkhorn_value = DDSC_SINKHORN_REGULARIZED,
    .sinkhorn_tolerance = 1e-9,
    .sinkhorn_max_iterations = 100000,
    .mmd_kernel = DDSC_KERNEL_GAUSSIAN,
    .bandwidth_rule = DDSC_BANDWIDTH_AUTO,
    .mmd_estimator = DDSC_MMD_AUTO,
    .reference_rule = DDSC_REFERENCE_AUTO,
};
static const ddsc_graph_settings graph_defaults = {
    .exact_graph = DDSC_GRAPH_AUTO, .sample = 1.0, .sample_columns = 1.0};

SIZED_INIT(metric_struct, ddsc_metric_settings, w2_max_pivots, &metric_defaults);
SIZED_INIT(graph_struct, ddsc_graph_settings, sample, &graph_defaults);

int64_t ddsc_graph_get_tau(int64_t n, const ddsc_graph_settings *settings)
{
    ddsc_graph_settings own;
    if (!sized_copy(&graph_struct, &own, settings) || n < 1 || own.tau < 0)
        return 0;
    return plan_tau_for_count(n, &own);
}

int64_t ddsc_measures_get_tau(const ddsc_measures *m, const ddsc_graph_settings *settings)
{
    ddsc_graph_settings own;
    if (!m || !sized_copy(&graph_struct, &own, settings) || own.tau < 0)
        return 0;
    return plan_tau_for_items(m, &own);
}

/* Checks that the value of an enumeration is between 0 and `last`. Callers in other languages can
 * pass any integer. */
static ddsc_status check_choice(ddsc_context *ctx, const char *field, int64_t value, int64_t last)
{
    if (value >= 0 && value <= last)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s = %lld: must be one of 0 .. %lld", field,
                    (long long)value, (long long)last);
}

/* ---- costs ---- */

const char *plan_cost_name(int64_t cost)
{
    static const char *const names[] = {
        [DDSC_COST_DEFAULT] = "default",     [DDSC_COST_SQEUCLIDEAN] = "sqeuclidean",
        [DDSC_COST_EUCLIDEAN] = "euclidean", [DDSC_COST_COSINE] = "cosine",
        [DDSC_COST_CITYBLOCK] = "cityblock", [DDSC_COST_MATRIX] = "matrix"};
    return names[cost];
}

/* The costs that a metric accepts, and the error message for other costs. */
typedef struct cost_rule {
    ddsc_metric metric;
    unsigned takes; /* one bit per cost */
    const char *instead;
} cost_rule;

#define COST(name) (1u << DDSC_COST_##name)

static const cost_rule cost_rules[] = {
    {DDSC_METRIC_W2, COST(SQEUCLIDEAN) | COST(COSINE) | COST(MATRIX),
     "w2 accepts sqeuclidean, cosine or matrix; use the metric w1 for transport with unsquared "
     "distances"},
    {DDSC_METRIC_W1, COST(EUCLIDEAN) | COST(CITYBLOCK) | COST(MATRIX),
     "w1 accepts euclidean, cityblock or matrix; use the metric w2 for squared distances"},
    {DDSC_METRIC_SINKHORN,
     COST(SQEUCLIDEAN) | COST(EUCLIDEAN) | COST(COSINE) | COST(CITYBLOCK) | COST(MATRIX), ""},
    {DDSC_METRIC_MMD, COST(SQEUCLIDEAN),
     "mmd compares points with a kernel and accepts no other cost; use w2, w1 or sinkhorn"},
    {DDSC_METRIC_LOT, COST(SQEUCLIDEAN) | COST(COSINE),
     "lot accepts sqeuclidean or cosine, because its barycentric projection requires squared "
     "Euclidean costs; use w2, w1 or sinkhorn for other costs"},
};

static ddsc_status check_cost_matrix(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    const double *c = s->cost_matrix, most = 1e150;
    int64_t n = s->cost_size;
    double largest = 0;
    if (!c || n < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "cost = matrix: cost_matrix is NULL or cost_size is %lld, which is less "
                        "than 1; set both",
                        (long long)n);
    for (int64_t k = 0; k < n * n; k++) {
        if (!(c[k] >= 0 && c[k] <= most))
            return ctx_fail(
                ctx, DDSC_ERROR_INPUT,
                "cost matrix: entries must be from 0 to 1e150, but entry (%lld, %lld) is %g",
                (long long)(k / n), (long long)(k % n), c[k]);
        largest = fmax(largest, c[k]);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double gap = fabs(c[i * n + j] - c[j * n + i]);
            if (i == j && c[i * n + i] != 0)
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "cost matrix: the diagonal must be 0, but entry (%lld, %lld) is %g",
                                (long long)i, (long long)i, c[i * n + i]);
            if (gap > 1e-9 * largest)
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "cost matrix: it must be symmetric, but the two entries for "
                                "(%lld, %lld) are %g and %g",
                                (long long)j, (long long)i, c[j * n + i], c[i * n + j]);
        }
    return ctx_check(ctx, largest == 0 || largest >= 1e-140, "cost matrix: the largest cost",
                     largest, "0 or at least 1e-140");
}

static ddsc_status check_cost(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    CHECK(check_choice(ctx, "cost", s->cost, DDSC_COST_MATRIX));
    for (size_t k = 0; k < sizeof cost_rules / sizeof *cost_rules; k++)
        if (s->cost != DDSC_COST_DEFAULT && cost_rules[k].metric == s->metric &&
            !(cost_rules[k].takes & 1u << s->cost))
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "cost = %s: %s", plan_cost_name(s->cost),
                            cost_rules[k].instead);
    return s->cost == DDSC_COST_MATRIX ? check_cost_matrix(ctx, s) : DDSC_OK;
}

ddsc_status plan_check_metric(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    const measures *reference = s->reference_measures;
    bool value_given = s->bandwidth_rule == DDSC_BANDWIDTH_VALUE;
    CHECK(check_choice(ctx, "metric", (int64_t)s->metric, DDSC_METRIC_W1));
    CHECK(check_cost(ctx, s));
    CHECK(check_choice(ctx, "sinkhorn_value", (int64_t)s->sinkhorn_value, DDSC_SINKHORN_PAPER));
    CHECK(check_choice(ctx, "paper", s->paper, 1));
    CHECK(check_choice(ctx, "mmd_kernel", (int64_t)s->mmd_kernel, DDSC_KERNEL_ENERGY));
    CHECK(check_choice(ctx, "bandwidth_rule", (int64_t)s->bandwidth_rule, DDSC_BANDWIDTH_NEAR));
    CHECK(check_choice(ctx, "mmd_estimator", (int64_t)s->mmd_estimator, DDSC_MMD_AUTO));
    CHECK(check_choice(ctx, "reference_rule", (int64_t)s->reference_rule, DDSC_REFERENCE_AUTO));
    CHECK(check_choice(ctx, "epsilon_is_percent", s->epsilon_is_percent, 1));
    CHECK(ctx_check(ctx, isfinite(s->epsilon) && s->epsilon > 0, "epsilon", s->epsilon,
                    "positive and finite"));
    CHECK(ctx_check(ctx, s->sinkhorn_tolerance >= 1e-15 && s->sinkhorn_tolerance < 1,
                    "sinkhorn_tolerance", s->sinkhorn_tolerance,
                    "at least 1e-15 (the limit of double precision) and below 1"));
    CHECK(ctx_check(ctx, s->sinkhorn_max_iterations >= 1, "sinkhorn_max_iterations",
                    (double)s->sinkhorn_max_iterations, "at least 1"));
    CHECK(ctx_check(ctx,
                    !value_given || (s->bandwidth >= 1 / largest_bandwidth &&
                                     s->bandwidth <= largest_bandwidth),
                    "bandwidth", s->bandwidth, "positive, from 1e-150 to 1e150"));
    CHECK(ctx_check(ctx, s->mmd_features >= 0 && s->mmd_features <= most_features, "mmd_features",
                    (double)s->mmd_features, "0 (exact) or 1 .. 1048576"));
    /* Random features require a kernel with a spectral density, which the energy kernel does not
     * have. */
    CHECK(ctx_check(ctx, s->mmd_features == 0 || s->mmd_kernel != DDSC_KERNEL_ENERGY,
                    "mmd_features", (double)s->mmd_features,
                    "0: the energy kernel has no random features; use gaussian or laplace"));
    CHECK(ctx_check(ctx, s->reference_size >= 0, "reference_size", (double)s->reference_size,
                    "0 (the mean support size) or positive"));
    CHECK(ctx_check(ctx, s->lot_components >= 0, "lot_components", (double)s->lot_components,
                    "0 (all) or positive"));
    CHECK(ctx_check(ctx, s->w2_max_pivots >= 0, "w2_max_pivots", (double)s->w2_max_pivots,
                    "0 (automatic) or positive"));
    if (s->reference_rule == DDSC_REFERENCE_MEASURES && (!reference || reference->n < 1))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        reference
                            ? "reference_measures is empty; it must contain an item"
                            : "reference_measures = NULL: must be set for this reference_rule");
    return DDSC_OK;
}

ddsc_status plan_check_graph(ddsc_context *ctx, const ddsc_graph_settings *s)
{
    bool part = s->sample < 1 || s->sample_columns < 1;
    CHECK(check_choice(ctx, "neighbors", (int64_t)s->neighbors, DDSC_NEIGHBORS_APPROXIMATE));
    CHECK(check_choice(ctx, "exact_graph", (int64_t)s->exact_graph, DDSC_GRAPH_PRUNED));
    CHECK(check_choice(ctx, "hubs", s->hubs, DDSC_HUBS_ALWAYS));
    CHECK(check_choice(ctx, "paper", s->paper, 1));
    CHECK(ctx_check(ctx, s->tau >= 0, "tau", (double)s->tau,
                    "0 (chosen from the number of items) or positive"));
    CHECK(ctx_check(ctx, s->sample > 0 && s->sample <= 1, "sample", s->sample,
                    "above 0 and at most 1"));
    CHECK(ctx_check(ctx, s->sample_columns > 0 && s->sample_columns <= 1, "sample_columns",
                    s->sample_columns, "above 0 and at most 1"));
    if (s->neighbors == DDSC_NEIGHBORS_APPROXIMATE && part)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "neighbors = approximate cannot be combined with sample or sample_columns below 1");
    if (s->sample < 1 && s->sample_columns < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "sample = %g and sample_columns = %g: only one of them may be below 1",
                        s->sample, s->sample_columns);
    return DDSC_OK;
}

ddsc_status plan_take_metric(ddsc_context *ctx, ddsc_metric_settings *own,
                             const ddsc_metric_settings *given)
{
    CHECK(sized_take(ctx, &metric_struct, own, given));
    CHECK(plan_check_metric(ctx, own));
    return own->paper ? paper_apply(ctx, PAPER_METRIC, own) : DDSC_OK;
}

ddsc_status plan_take_graph(ddsc_context *ctx, ddsc_graph_settings *own,
                            const ddsc_graph_settings *given, bool for_clusters)
{
    CHECK(sized_take(ctx, &graph_struct, own, given));
    CHECK(plan_check_graph(ctx, own));
    if (own->paper)
        CHECK(paper_apply(ctx, PAPER_GRAPH, own));
    if (own->hubs == DDSC_HUBS_DEFAULT)
        own->hubs = for_clusters ? DDSC_HUBS_AUTO : DDSC_HUBS_OFF;
    return DDSC_OK;
}

ddsc_status plan_follow_paper(ddsc_context *ctx, ddsc_metric_settings *metric,
                              ddsc_graph_settings *graph)
{
    metric->paper = graph->paper = 1;
    CHECK(paper_apply(ctx, PAPER_METRIC, metric));
    return paper_apply(ctx, PAPER_GRAPH, graph);
}

/* ---- resolved settings ---- */

/* Returns max(least, ceil(log2 n)), limited to n/8 for small sets (but at least 3) and to n - 1. */
static int64_t tau_from(int64_t n, int64_t least, const ddsc_graph_settings *settings)
{
    int64_t bits = 0, tau = settings->tau;
    while (bits < 62 && ((int64_t)1 << bits) < n)
        bits++;
    if (tau == 0)
        tau = BASE_MIN(BASE_MAX(3, (n + 7) / 8), BASE_MAX(least, bits));
    return BASE_MAX(0, BASE_MIN(tau, n - 1));
}

int64_t plan_tau_for_count(int64_t n, const ddsc_graph_settings *settings)
{
    return tau_from(n, TAU_LEAST, settings);
}

int64_t plan_tau_for_items(const measures *m, const ddsc_graph_settings *settings)
{
    int64_t least = TAU_LEAST;
    if (m->words.n > 0 && !settings->paper)
        least = m->nnz < SHORT_DOCUMENT * m->n ? TAU_LEAST_OF_TITLES : TAU_LEAST_OF_DOCUMENTS;
    least = BASE_MAX(TAU_LEAST, BASE_MIN(least, m->n / ITEMS_PER_NEIGHBOR));
    return tau_from(m->n, least, settings);
}

ddsc_status plan_check_pruned(ddsc_context *ctx, ddsc_exact_graph asked, const char *name)
{
    if (asked != DDSC_GRAPH_PRUNED)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "exact_graph = pruned: %s has no lower bounds; use auto or full", name);
}

ddsc_status plan_resolve(ddsc_context *ctx, graph_request *p, const measures *m,
                         const ddsc_metric_settings *metric, const ddsc_graph_settings *graph,
                         const pair_frame *frame)
{
    *p = (graph_request){.m = m, .graph = *graph, .tau = plan_tau_for_items(m, graph)};
    p->graph.tau = p->tau; /* also used for the in-degrees of hubs */
    CHECK(metric_resolve(ctx, &p->metric, m, metric));
    CHECK(metric_settle(ctx, &p->metric, m, frame));
    p->m = metric_measures(&p->metric, m);
    return DDSC_OK;
}

ddsc_status plan_give_settings(ddsc_context *ctx, ddsc_metric_settings *metric,
                               ddsc_graph_settings *graph, const ddsc_metric_settings *own_metric,
                               const ddsc_graph_settings *own_graph)
{
    ddsc_metric_settings old_metric; /* only checks the caller's structs */
    ddsc_graph_settings old_graph;
    CHECK(sized_take(ctx, &metric_struct, &old_metric, metric));
    CHECK(sized_take(ctx, &graph_struct, &old_graph, graph));
    sized_give(&metric_struct, metric, own_metric);
    sized_give(&graph_struct, graph, own_graph);
    return DDSC_OK;
}
