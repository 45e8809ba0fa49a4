/* Metric and graph settings: defaults, and a check of every field that names it with its value. */
#include <math.h>

#include "base/sized.h"
#include "plan/plan.h"

/* The range of coordinates (data/parts.c): h^2 and 1/h^2 are finite in it. */
static const double largest_bandwidth = 1e150;
static const int64_t most_features = 1 << 20;

static const ddsc_metric_settings metric_defaults = {
    .metric = DDSC_METRIC_W2,
    .epsilon = 5.0,
    .epsilon_is_percent = 1,
    .sinkhorn_value = DDSC_SINKHORN_REGULARISED,
    .sinkhorn_tolerance = 1e-9,
    .sinkhorn_max_iterations = 100000,
    .mmd_kernel = DDSC_KERNEL_GAUSSIAN,
    .bandwidth_rule = DDSC_BANDWIDTH_AUTO,
    .mmd_estimator = DDSC_MMD_UNBIASED,
    .reference_rule = DDSC_REFERENCE_NORMAL,
};
static const ddsc_graph_settings graph_defaults = {
    .exact_graph = DDSC_GRAPH_AUTO, .sample = 1.0, .sample_columns = 1.0};

static const sized_struct metric_struct =
    SIZED_STRUCT(ddsc_metric_settings, w2_max_pivots, &metric_defaults);
static const sized_struct graph_struct = SIZED_STRUCT(ddsc_graph_settings, sample, &graph_defaults);

void ddsc_metric_settings_init_sized(ddsc_metric_settings *settings, size_t size)
{
    sized_init(&metric_struct, settings, size);
}

void ddsc_graph_settings_init_sized(ddsc_graph_settings *settings, size_t size)
{
    sized_init(&graph_struct, settings, size);
}

int64_t ddsc_graph_get_tau(int64_t n, const ddsc_graph_settings *settings)
{
    ddsc_graph_settings own;
    if (!sized_copy(&graph_struct, &own, settings) || n < 1 || own.tau < 0)
        return 0;
    return plan_tau(n, &own);
}

static ddsc_status bad_number(ddsc_context *ctx, const char *field, double value, const char *rule)
{
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s = %g: must be %s", field, value, rule);
}

static ddsc_status bad_integer(ddsc_context *ctx, const char *field, int64_t value,
                               const char *rule)
{
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s = %lld: must be %s", field, (long long)value,
                    rule);
}

/* Enumerations run from 0 to `last`; a caller in another language can pass anything. */
static ddsc_status check_choice(ddsc_context *ctx, const char *field, int64_t value, int64_t last)
{
    if (value >= 0 && value <= last)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s = %lld: must be one of 0 .. %lld", field,
                    (long long)value, (long long)last);
}

static ddsc_status check_sinkhorn(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    if (!(isfinite(s->epsilon) && s->epsilon > 0))
        return bad_number(ctx, "epsilon", s->epsilon, "positive and finite");
    if (s->epsilon_is_percent != 0 && s->epsilon_is_percent != 1)
        return bad_integer(ctx, "epsilon_is_percent", s->epsilon_is_percent, "0 or 1");
    if (!(s->sinkhorn_tolerance > 0 && s->sinkhorn_tolerance < 1))
        return bad_number(ctx, "sinkhorn_tolerance", s->sinkhorn_tolerance, "between 0 and 1");
    if (s->sinkhorn_max_iterations < 1)
        return bad_integer(ctx, "sinkhorn_max_iterations", s->sinkhorn_max_iterations,
                           "at least 1");
    return DDSC_OK;
}

static ddsc_status check_bandwidth(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    double h = s->bandwidth;
    if (s->bandwidth_rule != DDSC_BANDWIDTH_VALUE)
        return DDSC_OK;
    if (!(h >= 1 / largest_bandwidth && h <= largest_bandwidth))
        return bad_number(ctx, "bandwidth", h, "positive, from 1e-150 to 1e150");
    return DDSC_OK;
}

/* Random features need a kernel with a spectrum to draw from. */
static ddsc_status check_features(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    if (s->mmd_features < 0 || s->mmd_features > most_features)
        return bad_integer(ctx, "mmd_features", s->mmd_features, "0 (exact) or 1 .. 1048576");
    if (s->mmd_features > 0 && s->mmd_kernel == DDSC_KERNEL_ENERGY)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "mmd_features = %lld: the energy kernel has no random features; use "
                        "gaussian or laplace",
                        (long long)s->mmd_features);
    return DDSC_OK;
}

static ddsc_status check_reference(ddsc_context *ctx, const ddsc_metric_settings *s)
{
    if (s->reference_size < 0)
        return bad_integer(ctx, "reference_size", s->reference_size,
                           "0 (the mean support size) or positive");
    if (s->reference_rule == DDSC_REFERENCE_MEASURES && !s->reference_measures)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "reference_measures = NULL: reference_rule asks for its first item");
    if (s->reference_rule == DDSC_REFERENCE_MEASURES && s->reference_measures->n < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "reference_measures holds no item");
    return DDSC_OK;
}

ddsc_status metric_settings_check(ddsc_context *ctx, const ddsc_metric_settings *settings)
{
    const ddsc_metric_settings *s = settings;
    CHECK(check_choice(ctx, "metric", (int64_t)s->metric, DDSC_METRIC_LOT));
    CHECK(check_choice(ctx, "sinkhorn_value", (int64_t)s->sinkhorn_value, DDSC_SINKHORN_DEBIASED));
    CHECK(check_choice(ctx, "mmd_kernel", (int64_t)s->mmd_kernel, DDSC_KERNEL_ENERGY));
    CHECK(check_choice(ctx, "bandwidth_rule", (int64_t)s->bandwidth_rule, DDSC_BANDWIDTH_VALUE));
    CHECK(check_choice(ctx, "mmd_estimator", (int64_t)s->mmd_estimator, DDSC_MMD_BIASED));
    CHECK(check_choice(ctx, "reference_rule", (int64_t)s->reference_rule, DDSC_REFERENCE_MEASURES));
    CHECK(check_sinkhorn(ctx, s));
    CHECK(check_bandwidth(ctx, s));
    CHECK(check_features(ctx, s));
    CHECK(check_reference(ctx, s));
    if (s->lot_components < 0)
        CHECK(bad_integer(ctx, "lot_components", s->lot_components, "0 (all) or positive"));
    if (s->w2_max_pivots < 0)
        CHECK(bad_integer(ctx, "w2_max_pivots", s->w2_max_pivots, "0 (automatic) or positive"));
    return DDSC_OK;
}

ddsc_status graph_settings_check(ddsc_context *ctx, const ddsc_graph_settings *settings)
{
    const ddsc_graph_settings *s = settings;
    if (s->tau < 0)
        return bad_integer(ctx, "tau", s->tau, "0 (chosen from the number of items) or positive");
    if (!(s->sample > 0 && s->sample <= 1))
        return bad_number(ctx, "sample", s->sample, "above 0 and at most 1");
    if (s->neighbors == DDSC_NEIGHBORS_APPROXIMATE && (s->sample < 1 || s->sample_columns < 1))
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "neighbors = approximate does not go with sample or sample_columns below 1");
    ddsc_status status =
        check_choice(ctx, "neighbors", (int64_t)s->neighbors, DDSC_NEIGHBORS_APPROXIMATE);
    if (status < 0)
        return status;
    if (!(s->sample_columns > 0 && s->sample_columns <= 1))
        return bad_number(ctx, "sample_columns", s->sample_columns, "above 0 and at most 1");
    if (s->sample < 1 && s->sample_columns < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "sample = %g and sample_columns = %g: only one of them may be below 1",
                        s->sample, s->sample_columns);
    return check_choice(ctx, "exact_graph", (int64_t)s->exact_graph, DDSC_GRAPH_PRUNED);
}

ddsc_status metric_settings_take(ddsc_context *ctx, ddsc_metric_settings *own,
                                 const ddsc_metric_settings *given)
{
    CHECK(sized_take(ctx, &metric_struct, own, given));
    return metric_settings_check(ctx, own);
}

ddsc_status graph_settings_take(ddsc_context *ctx, ddsc_graph_settings *own,
                                const ddsc_graph_settings *given)
{
    CHECK(sized_take(ctx, &graph_struct, own, given));
    return graph_settings_check(ctx, own);
}
