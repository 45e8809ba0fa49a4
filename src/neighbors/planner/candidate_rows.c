/* Creates vectors that represent the items in an approximate search. The vectors are the rows of
 * the metric if it has rows, and otherwise random features of a kernel or a linear embedding of
 * transport. */
#include <string.h>

#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/lot/lot.h"
#include "distance/mmd/mmd.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"
#include "numeric/linalg/linalg.h"

static ddsc_status from_doubles(ddsc_context *ctx, search_rows *t, const double *z, int64_t n,
                                int64_t columns)
{
    ddsc_status status = DDSC_OK;
    la_principal p = {0};
    t->columns = BASE_MIN(columns, ROWS_MOST);
    if (columns > ROWS_MOST)
        TRY(la_principal_make(ctx, &p, n, columns, z, ROWS_MOST));
    TRY(MEM_NEW(ctx, t->rows, n * t->columns));
    for (int64_t k = 0; k < n * t->columns; k++)
        t->rows[k] = (float)(p.image ? p.image[k] : z[k]);
done:
    la_principal_free(ctx, &p);
    return status;
}

/* Uses the rows of the metric. If they have more than ROWS_MOST columns, they are projected onto
 * their principal components. */
static ddsc_status from_metric(ddsc_context *ctx, search_rows *t, prefilter_rows *s)
{
    ddsc_status status = DDSC_OK;
    double *z = NULL;
    t->offset = s->offset;
    s->offset = NULL;
    if (s->columns <= ROWS_MOST) {
        t->columns = s->columns;
        t->rows = s->rows;
        s->rows = NULL;
        return DDSC_OK;
    }
    TRY(MEM_NEW(ctx, z, s->n * s->columns));
    for (int64_t p = 0; p < s->n * s->columns; p++)
        z[p] = (double)s->rows[p];
    TRY(from_doubles(ctx, t, z, s->n, s->columns));
done:
    mem_free(ctx, z);
    return status;
}

/* Appends columns to the rows. Squared distances are then the sums of the squared distances in both
 * sets of columns. */
static ddsc_status put_beside(ddsc_context *ctx, search_rows *t, const float *more, int64_t columns,
                              double unit, int64_t n)
{
    float *rows = NULL;
    int64_t all = t->columns + columns;
    CHECK(MEM_NEW(ctx, rows, n * all));
    for (int64_t i = 0; i < n; i++) {
        float *to = rows + i * all;
        memcpy(to, t->rows + i * t->columns, (size_t)t->columns * sizeof *to);
        for (int64_t c = 0; c < columns; c++)
            to[t->columns + c] = (float)(unit * (double)more[i * columns + c]);
    }
    mem_free(ctx, t->rows);
    t->rows = rows;
    t->columns = all;
    return DDSC_OK;
}

/* Creates rows from the LOT embedding. If the dimension is at most
 * PROJECTION_DIM, projections of the items are appended. */
static ddsc_status from_transport(search_rows *t, const pair_job *job)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = job->ctx;
    ddsc_metric_settings lot;
    ddsc_pair_stats ignored = {0};
    double *z = NULL;
    bound_projection projected = {0};
    int64_t columns = 0, n = job->m->n, mean = job->m->nnz / BASE_MAX(1, n);
    ddsc_metric_settings_init(&lot);
    lot.metric = DDSC_METRIC_LOT;
    lot.reference_size = BASE_MAX(1, BASE_MIN(mean, REFERENCE_MOST));
    TRY(lot_run(ctx, &z, &columns, &ignored, job->m, &lot));
    TRY(from_doubles(ctx, t, z, n, columns));
    if (job->m->d > PROJECTION_DIM)
        goto done;
    TRY(bound_projection_make(ctx, &projected, job->m, false));
    TRY(put_beside(ctx, t, projected.row, projected.p, PROJECTION_WEIGHT * bound_unit(job->m), n));
done:
    bound_projection_free(ctx, &projected);
    mem_free(ctx, z);
    return status;
}

/* Creates rows for MMD from random features. */
static ddsc_status from_features(search_rows *t, const pair_job *job)
{
    ddsc_status status = DDSC_OK;
    mmd_kernel kernel = {job->set->mmd_kernel, job->set->bandwidth};
    mmd_fourier f = {0};
    bool biased = job->set->mmd_estimator == DDSC_MMD_BIASED;
    TRY(mmd_fourier_make(job->ctx, &f, job->m, &kernel, biased, FEATURES));
    TRY(from_doubles(job->ctx, t, f.rows, job->m->n, f.columns));
    t->offset = f.offset;
    f.offset = NULL;
done:
    mmd_fourier_free(job->ctx, &f);
    return status;
}

/* Creates rows for a cost matrix. Row numbers have no geometric meaning, so each item is
 * represented by its mean cost to every row of the matrix. */
static ddsc_status from_costs(search_rows *t, const pair_job *job)
{
    ddsc_status status = DDSC_OK;
    const measures *m = job->m;
    int64_t size = job->set->cost_size;
    double *z = NULL;
    TRY(MEM_ZERO(job->ctx, z, m->n * size));
    for (int64_t i = 0; i < m->n; i++) {
        item_view item = measures_item(m, i);
        for (int64_t p = 0; p < item.n; p++) {
            const double *cost = job->set->cost_matrix + (int64_t)m->support[item.index[p]] * size;
            for (int64_t r = 0; r < size; r++)
                z[i * size + r] += item.weight[p] * cost[r];
        }
    }
    TRY(from_doubles(job->ctx, t, z, m->n, size));
done:
    mem_free(job->ctx, z);
    return status;
}

ddsc_status plan_rows_make(search_rows *rows, const pair_job *job, const pair_backend *backend,
                           void *state)
{
    ddsc_status status = DDSC_OK;
    prefilter_rows own = {0};
    bool drawn = job->set->metric == DDSC_METRIC_MMD && job->set->mmd_kernel != DDSC_KERNEL_ENERGY;
    *rows = (search_rows){0};
    if (backend->rows)
        TRY(backend->rows(state, &own));
    rows->enclosing = own.columns > 0;
    if (rows->enclosing)
        TRY(from_metric(job->ctx, rows, &own));
    else
        TRY(drawn                                ? from_features(rows, job)
            : job->set->cost == DDSC_COST_MATRIX ? from_costs(rows, job)
                                                 : from_transport(rows, job));
    ctx_note(job->ctx, "candidates",
             rows->enclosing                      ? "rows of the metric"
             : drawn                              ? "random features"
             : job->set->cost == DDSC_COST_MATRIX ? "mean costs"
                                                  : "linear transport and projections",
             "%lld columns", (long long)rows->columns);
done:
    prefilter_rows_free(job->ctx, &own);
    return status;
}
