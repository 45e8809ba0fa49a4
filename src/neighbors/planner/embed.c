/* Implements the public functions of the LOT embedding. */
#include "base/paper.h"
#include "base/sized.h"
#include "distance/lot/lot.h"
#include "neighbors/planner/plan.h"

static ddsc_status lot_settings_take(ddsc_context *ctx, ddsc_metric_settings *own,
                                     const ddsc_metric_settings *given)
{
    CHECK(plan_take_metric(ctx, own, given));
    own->metric = DDSC_METRIC_LOT;
    return own->paper ? paper_apply(ctx, PAPER_METRIC, own) : DDSC_OK;
}

ddsc_status ddsc_embed_run(ddsc_context *context, double **out, int64_t *n_columns,
                           ddsc_pair_stats *stats, const ddsc_measures *data,
                           const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_metric_settings set;
    ddsc_pair_stats found = {0};
    int64_t columns = 0;
    double start = clock_seconds();
    CHECK(ctx_enter_new(context, out));
    CHECK(ctx_need(context, n_columns, "n_columns"));
    CHECK(ctx_need(context, data, "measures"));
    TRY(stats_check(context, stats));
    TRY(lot_settings_take(context, &set, settings));
    TRY(lot_run(context, out, &columns, &found, data, &set));
    *n_columns = columns;
    found.seconds = clock_seconds() - start;
    stats_give(stats, &found);
    if (found.n_not_converged > 0)
        status = ctx_fail(
            context, DDSC_NOT_CONVERGED,
            "lot: %lld transports reached the pivot limit (largest gap %.3g); raise w2_max_pivots",
            (long long)found.n_not_converged, found.max_gap);
done:
    return status;
}

ddsc_status ddsc_reference_create(ddsc_context *context, ddsc_measures **reference,
                                  const ddsc_measures *data, const ddsc_metric_settings *settings)
{
    ddsc_metric_settings set;
    CHECK(ctx_enter_new(context, reference));
    CHECK(ctx_need(context, data, "measures"));
    CHECK(lot_settings_take(context, &set, settings));
    return lot_reference_make(context, reference, data, &set);
}
