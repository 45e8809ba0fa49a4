/* Implements the pair backend for the maximum mean discrepancy. */
#include "distance/mmd/mmd.h"
#include "neighbors/metric/metric.h"

static ddsc_status open_state(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    mmd_settings set = {.kernel = {job->set->mmd_kernel, job->set->bandwidth},
                        .biased = job->set->mmd_estimator == DDSC_MMD_BIASED,
                        .way = -1,
                        .frame = job->frame};
    mmd *opened = NULL;
    (void)stats;
    static const char *const ways[] = {[MMD_CLOUDS] = "point by point",
                                       [MMD_FIELD] = "field on the shared support",
                                       [MMD_GRID] = "field on the grid, axis by axis"};
    CHECK(mmd_open(job->ctx, &opened, job->m, &set));
    ctx_note(job->ctx, "kernel sums", ways[mmd_get_way(opened)],
             "lowest estimated cost for %lld points, %lld of them distinct", (long long)job->m->nnz,
             (long long)job->m->v);
    *state = opened;
    return DDSC_OK;
}

static void close_state(void *state)
{
    mmd_close(state);
}

static void shape_of(const void *state, pair_shape *shape)
{
    shape->tile_side = mmd_side(state);
    shape->strip = mmd_strip(state);
}

static ddsc_status prepare(void *state, int64_t j0, int64_t j1)
{
    return mmd_prepare(state, j0, j1);
}

static ddsc_status tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                        ddsc_pair_stats *stats)
{
    const int64_t range[4] = {t->i0, t->i1, t->j0, t->j1};
    (void)stats;
    return mmd_tile(state, range, t->wanted, d2, ld, worker);
}

static ddsc_status rows_of(void *state, prefilter_rows *rows)
{
    mmd_features f = {0};
    ddsc_status status = mmd_features_make(state, &f);
    *rows = (prefilter_rows){.n = mmd_items(state),
                             .columns = f.columns,
                             .rows = f.rows,
                             .offset = f.offset,
                             .tail = f.tail,
                             .unit = 1};
    return status;
}

const pair_backend metric_mmd = {.name = "mmd",
                                 .tile_side = 64,
                                 .open = open_state,
                                 .close = close_state,
                                 .tile = tile,
                                 .shape = shape_of,
                                 .prepare = prepare,
                                 .rows = rows_of};
