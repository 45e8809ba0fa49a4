/* Resolves the settings of a metric: replaces rules that depend on the data with values. No other
 * file interprets an epsilon in percent, a bandwidth rule or a reference rule. */
#include <math.h>
#include <string.h>

#include "distance/cost/ground.h"
#include "distance/lot/lot.h"
#include "distance/mmd/mmd.h"
#include "neighbors/metric/metric.h"
#include "numeric/linalg/linalg.h"

const pair_backend *metric_find(ddsc_metric metric)
{
    switch (metric) {
    case DDSC_METRIC_W2: return &metric_w2;
    case DDSC_METRIC_SINKHORN: return &metric_sinkhorn;
    case DDSC_METRIC_MMD: return &metric_mmd;
    case DDSC_METRIC_LOT: return &metric_lot;
    case DDSC_METRIC_W1: return &metric_w1;
    }
    return NULL;
}

/* Returns twice the pooled variance, which is the mean cost of two random points. Used if the
 * median cost is 0. */
static double mean_cost(const measures *m)
{
    double total = 0;
    for (int64_t k = 0; k < m->d; k++) {
        double mean = 0;
        for (int64_t p = 0; p < m->nnz; p++)
            mean += measures_point(m, m->index[p])[k] / (double)m->nnz;
        for (int64_t p = 0; p < m->nnz; p++) {
            double away = measures_point(m, m->index[p])[k] - mean;
            total += 2 * away * away / (double)m->nnz;
        }
    }
    return total;
}

/* Converts an epsilon in percent of the median cost to an absolute value. If all points coincide,
 * every epsilon gives the same result. */
static ddsc_status resolve_epsilon(ddsc_context *ctx, ddsc_metric_settings *set, const measures *m)
{
    double scale = 100;
    if (set->epsilon_is_percent) {
        ground_cost ground = ground_of(set);
        CHECK(cost_median(ctx, &ground, m, &scale));
        if (!(scale > 0))
            scale = ground.kind == DDSC_COST_SQEUCLIDEAN ? mean_cost(m) : ground_range(&ground, m);
        if (!(scale > 0))
            scale = 1;
    }
    set->epsilon = fmin(fmax(set->epsilon * (scale / 100), 1e-300), 1e300);
    set->epsilon_is_percent = 0;
    return DDSC_OK;
}

/* Minimum extent of the coordinates. With a smaller extent, squared differences lose digits or
 * underflow. */
static const double EXTENT_LEAST = 1e-140;

/* Rejects coordinates whose differences are too small to be squared. The W2 solvers scale the
 * coordinates by a power of two, and mark results that cannot be squared, but epsilon, bandwidths
 * and kernels are not scaled. */
static ddsc_status check_extent(ddsc_context *ctx, const measures *m)
{
    double extent = 0;
    for (int64_t k = 0; k < m->d; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t p = 0; p < m->v; p++) {
            double x = m->support[p * m->d + k];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        extent = fmax(extent, high - low);
    }
    if (extent > 0 && extent < EXTENT_LEAST)
        return ctx_fail(
            ctx, DDSC_ERROR_INPUT,
            "coordinates differ by at most %.3g, and the square of this value is too small "
            "for a double; multiply all coordinates by a constant",
            extent);
    return DDSC_OK;
}

/* ---- costs ---- */

/* cos(x, y) depends only on directions, so every point can be scaled to length 1. */
ddsc_status metric_to_unit_length(ddsc_context *ctx, measures **out, const measures *m)
{
    CHECK(measures_subset(ctx, out, m, m->n, NULL));
    (*out)->grid.found = false;
    for (int64_t r = 0; r < m->v; r++) {
        double *x = (*out)->support + r * m->d, largest = 0;
        for (int64_t k = 0; k < m->d; k++)
            largest = fmax(largest, fabs(x[k]));
        if (largest == 0)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "cost = cosine: all coordinates of point %lld are 0, so it has no "
                            "direction; remove such points",
                            (long long)r);
        for (int64_t k = 0; k < m->d; k++)
            x[k] /= largest; /* ensures that squares neither overflow nor underflow */
        double length = la_norm(m->d, x);
        for (int64_t k = 0; k < m->d; k++)
            x[k] /= length;
    }
    return DDSC_OK;
}

/* Resolves the default cost. A cost matrix is copied, because a clustering stores its settings. */
static ddsc_status resolve_cost(ddsc_context *ctx, metric_resolved *out, const measures *m)
{
    ddsc_metric_settings *own = &out->set;
    if (own->cost == DDSC_COST_DEFAULT)
        own->cost = own->metric == DDSC_METRIC_W1 ? DDSC_COST_EUCLIDEAN : DDSC_COST_SQEUCLIDEAN;
    if (own->cost == DDSC_COST_COSINE)
        return metric_to_unit_length(ctx, &out->own, m);
    if (own->cost != DDSC_COST_MATRIX) {
        own->cost_matrix = NULL;
        own->cost_size = 0;
        return DDSC_OK;
    }
    CHECK(MEM_COPY(ctx, out->cost_matrix, own->cost_matrix, own->cost_size * own->cost_size));
    for (int64_t i = 0; i < own->cost_size; i++) /* bounds require exact symmetry */
        for (int64_t j = 0; j < i; j++) {
            double *above = &out->cost_matrix[j * own->cost_size + i];
            double *below = &out->cost_matrix[i * own->cost_size + j];
            *above = *below = *above / 2 + *below / 2;
        }
    own->cost_matrix = out->cost_matrix;
    ground_cost ground = ground_of(own);
    return ground_check(ctx, &ground, m);
}

ddsc_status metric_resolve(ddsc_context *ctx, metric_resolved *out, const measures *m,
                           const ddsc_metric_settings *set)
{
    ddsc_metric_settings *own = &out->set;
    *out = (metric_resolved){.ctx = ctx, .set = *set, .backend = metric_find(set->metric)};
    CHECK(resolve_cost(ctx, out, m));
    m = metric_measures(out, m);
    if (set->metric == DDSC_METRIC_SINKHORN || set->metric == DDSC_METRIC_MMD)
        CHECK(check_extent(ctx, m));
    if (set->mmd_estimator == DDSC_MMD_AUTO)
        own->mmd_estimator = DDSC_MMD_BIASED;
    if (set->metric == DDSC_METRIC_SINKHORN)
        return resolve_epsilon(ctx, own, m);
    if (set->metric == DDSC_METRIC_MMD) {
        if (set->mmd_features > 0)
            out->backend = &metric_features;
        if (set->mmd_kernel == DDSC_KERNEL_ENERGY)
            return DDSC_OK; /* this kernel has no bandwidth */
        CHECK(mmd_bandwidth(ctx, &own->bandwidth, m, set));
        own->bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    }
    if (set->metric == DDSC_METRIC_LOT && set->reference_rule != DDSC_REFERENCE_MEASURES) {
        CHECK(lot_reference_make(ctx, &out->reference, m, set));
        own->reference_rule = DDSC_REFERENCE_MEASURES;
        own->reference_measures = out->reference;
    }
    return DDSC_OK;
}

void metric_resolved_free(metric_resolved *r)
{
    ddsc_measures_destroy(r->reference);
    ddsc_measures_destroy(r->own);
    if (r->cost_matrix)
        mem_free(r->ctx, r->cost_matrix);
    *r = (metric_resolved){0};
}
