/* The public calls of the LOT embedding. */
#include "base/sized.h"
#include "lot/lot.h"
#include "plan/plan.h"

ddsc_status ddsc_embed_run(ddsc_context *context, double **out, int64_t *n_columns,
                           ddsc_pair_stats *stats, const ddsc_measures *data,
                           const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_metric_settings set;
    ddsc_pair_stats found = {0};
    int64_t columns = 0;
    double start = clock_seconds();
    if (out)
        *out = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!out || !n_columns || !data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_embed_run: %s is NULL",
                        !out ? "out" : (!data ? "measures" : "n_columns"));
    TRY(stats_check(context, stats));
    TRY(metric_settings_take(context, &set, settings));
    TRY(lot_run(context, out, &columns, &found, data, &set));
    *n_columns = columns;
    found.seconds = clock_seconds() - start;
    stats_give(stats, &found);
    if (found.n_not_converged > 0)
        status = ctx_fail(context, DDSC_NOT_CONVERGED,
                          "lot: %lld transports met their pivot cap (largest gap %.3g)",
                          (long long)found.n_not_converged, found.max_gap);
done:
    return status;
}

ddsc_status ddsc_reference_create(ddsc_context *context, ddsc_measures **reference,
                                  const ddsc_measures *data, const ddsc_metric_settings *settings)
{
    ddsc_metric_settings set;
    if (reference)
        *reference = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!reference || !data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_reference_create: %s is NULL",
                        reference ? "measures" : "reference");
    ddsc_status status = metric_settings_take(context, &set, settings);
    return status < 0 ? status : lot_reference_make(context, reference, data, &set);
}
