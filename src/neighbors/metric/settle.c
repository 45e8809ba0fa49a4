/* Determines the order of the points and the frame for a metric (see metric_settle). */
#include "distance/bound/bound.h"
#include "distance/mmd/mmd.h"
#include "distance/sinkhorn/set.h"
#include "neighbors/metric/metric.h"
#include "distance/cost/ground.h"

static const pair_frame plain = {.kind = FRAME_PLAIN};

static bool starts_from_bounds(const ddsc_metric_settings *set)
{
    ground_cost ground = ground_of(set);
    return set->metric == DDSC_METRIC_W2 && ground.kind == DDSC_COST_SQEUCLIDEAN;
}

static mmd_settings mmd_of(const ddsc_metric_settings *set)
{
    return (mmd_settings){.kernel = {set->mmd_kernel, set->bandwidth},
                          .biased = set->mmd_estimator == DDSC_MMD_BIASED};
}

/* Returns the default frame of the set. */
static pair_frame frame_of(ddsc_context *ctx, const metric_resolved *r, const measures *m)
{
    const ddsc_metric_settings *set = &r->set;
    if (starts_from_bounds(set))
        return bound_refined_starts(m) ? bound_refined_frame(m) : plain;
    if (set->metric == DDSC_METRIC_SINKHORN) {
        ground_cost ground = ground_of(set);
        return sinkhorn_set_frame(m, &ground, set->epsilon);
    }
    if (r->backend == &metric_mmd) {
        mmd_settings own = mmd_of(set);
        return mmd_frame(ctx, m, &own);
    }
    return plain;
}

/* Returns true if the items of the set can be compared in *frame. */
static bool frame_fits(ddsc_context *ctx, const metric_resolved *r, const measures *m,
                       const pair_frame *frame)
{
    const ddsc_metric_settings *set = &r->set;
    if (frame->kind <= FRAME_NONE || frame->kind >= FRAME_KINDS)
        return false;
    if (frame->kind == FRAME_PLAIN)
        return true;
    if (starts_from_bounds(set))
        return bound_refined_fits(m, frame);
    if (set->metric == DDSC_METRIC_SINKHORN)
        return sinkhorn_set_fits(m, frame);
    if (r->backend == &metric_mmd) {
        mmd_settings own = mmd_of(set);
        return mmd_fits(ctx, m, &own, frame);
    }
    return false;
}

ddsc_status metric_settle(ddsc_context *ctx, metric_resolved *r, const measures *m,
                          const pair_frame *given)
{
    measures *ordered = NULL;
    if (r->backend != &metric_lot) /* for lot, lot_embed sorts the points of each item */
        CHECK(measures_ordered(ctx, &ordered, metric_measures(r, m)));
    if (ordered) {
        ddsc_measures_destroy(r->own);
        r->own = ordered;
    }
    m = metric_measures(r, m);
    r->frame = given && frame_fits(ctx, r, m, given) ? *given : frame_of(ctx, r, m);
    return DDSC_OK;
}
