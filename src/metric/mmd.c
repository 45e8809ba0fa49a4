/* The engine's view of the maximum mean discrepancy. */
#include "engine/prefilter.h"
#include "metric/metric.h"
#include "mmd/mmd.h"

static ddsc_status mmd_backend_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    const ddsc_metric_settings *given = job->set;
    mmd_settings set = {.kernel.kind = given->mmd_kernel,
                        .biased = given->mmd_estimator == DDSC_MMD_BIASED,
                        .way = -1};
    mmd *opened = NULL;
    if (given->mmd_kernel != DDSC_KERNEL_ENERGY)
        CHECK(mmd_bandwidth(job->ctx, &set.kernel.bandwidth, job->m, given));
    CHECK(mmd_open(job->ctx, &opened, job->m, &set));
    stats->bandwidth = set.kernel.bandwidth;
    *state = opened;
    return DDSC_OK;
}

static void mmd_backend_plan(const void *state, pair_plan *plan)
{
    plan->tile_side = mmd_side(state);
    plan->strip = mmd_strip(state);
}

static ddsc_status mmd_backend_prepare(void *state, int64_t j0, int64_t j1)
{
    return mmd_prepare(state, j0, j1);
}

static ddsc_status mmd_backend_tile(void *state, const pair_tile *t, double *d2, int64_t ld,
                                    int worker, ddsc_pair_stats *stats)
{
    const int64_t range[4] = {t->i0, t->i1, t->j0, t->j1};
    (void)stats;
    return mmd_tile(state, range, t->wanted, d2, ld, worker);
}

static void mmd_backend_close(void *state)
{
    mmd_close(state);
}

static ddsc_status mmd_backend_screen(void *state, pair_screen *screen)
{
    mmd_features f = {0};
    ddsc_status status = mmd_features_make(state, &f);
    *screen = (pair_screen){.n = mmd_items(state),
                            .columns = f.columns,
                            .rows = f.rows,
                            .offset = f.offset,
                            .tail = f.tail};
    return status;
}

const pair_backend backend_mmd = {
    .name = "mmd",
    .tile_side = 64,
    .open = mmd_backend_open,
    .tile = mmd_backend_tile,
    .close = mmd_backend_close,
    .plan = mmd_backend_plan,
    .prepare = mmd_backend_prepare,
    .screen = mmd_backend_screen,
};
