/* Opens and closes a metric and its pair service for a set. Closing collects the statistics, closes
 * the journal and checks convergence. */
#include "neighbors/planner/plan.h"

/* Opens the resume folder and checks that its contents belong to this run. */
static ddsc_status open_journal(ddsc_context *ctx, plan_metric *r, const char *kept_as)
{
    ddsc_status status = DDSC_OK;
    char *manifest = NULL;
    if (!kept_as || !ctx_resume_folder(ctx))
        return DDSC_OK;
    TRY(plan_manifest(ctx, &manifest, r->job.m, r->job.set, kept_as));
    TRY(journal_open(ctx, &r->journal, ctx_resume_folder(ctx), manifest, parallel_width(ctx)));
done:
    mem_free(ctx, manifest);
    return status;
}

ddsc_status plan_metric_open(ddsc_context *ctx, plan_metric *r, const measures *m,
                             const metric_resolved *metric, bool matrix, const char *kept_as)
{
    *r = (plan_metric){.metric = metric, .start = clock_seconds()};
    r->job = (pair_job){.ctx = ctx,
                        .m = m,
                        .set = &metric->set,
                        .frame = metric->frame,
                        .n_workers = parallel_width(ctx),
                        .matrix = matrix};
    CHECK(open_journal(ctx, r, kept_as));
    CHECK(metric->backend->open(&r->state, &r->job, &r->stats));
    return pairs_open(ctx, &r->p, m->n, metric->backend, r->state, r->journal);
}

ddsc_status plan_metric_close(plan_metric *r, ddsc_status status, int64_t n_pairs,
                              ddsc_pair_stats *stats)
{
    const metric_resolved *metric = r->metric;
    if (status >= 0) {
        ddsc_status late = pairs_finish(&r->p, n_pairs, &r->stats);
        status = late < 0 ? late : status;
    }
    pairs_close(&r->p);
    if (r->state)
        metric->backend->close(r->state);
    ddsc_status kept = journal_close(r->journal);
    if (status >= 0 && kept < 0)
        status = kept;
    if (status < 0)
        return status;
    r->stats.seconds = clock_seconds() - r->start;
    if (metric->set.metric == DDSC_METRIC_SINKHORN)
        r->stats.epsilon = metric->set.epsilon;
    if (metric->set.metric == DDSC_METRIC_MMD && metric->set.mmd_kernel != DDSC_KERNEL_ENERGY)
        r->stats.bandwidth = metric->set.bandwidth;
    *stats = r->stats;
    if (stats->n_not_converged == 0)
        return status;
    return ctx_fail(r->job.ctx, DDSC_NOT_CONVERGED,
                    "metric %s: %lld solves reached the iteration limit (largest gap %.3g); raise "
                    "the limit or the tolerance",
                    metric->backend->name, (long long)stats->n_not_converged, stats->max_gap);
}
