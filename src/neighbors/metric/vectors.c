/* Computes the Euclidean distance between rows of numbers as the norm of their difference. A value
 * depends only on its two rows, so it is the same in matrices and graphs. Linear transport and
 * random features use this backend with rows computed when the metric is opened. */
#include <math.h>

#include "distance/cost/points.h"
#include "distance/lot/lot.h"
#include "distance/mmd/mmd.h"
#include "neighbors/metric/metric.h"
#include "neighbors/metric/tuning.h"
#include "neighbors/pairs/prefilter.h"
#include "numeric/linalg/linalg.h"

typedef struct vectors {
    ddsc_context *ctx;
    const measures *m; /* linear transport: the items and the settings */
    const ddsc_metric_settings *set;
    ddsc_pair_stats late; /* statistics of appended items */
    points table;
    double *rows;   /* rows of the table, if this backend owns them */
    double *offset; /* n: value added for each item of a pair, or NULL */
    int n_workers;
    points_panel *panel; /* two per worker, for rows and columns; NULL in many dimensions */
} vectors;

static void vectors_close(void *state)
{
    vectors *s = state;
    if (!s)
        return;
    for (int k = 0; s->panel && k < 2 * s->n_workers; k++)
        points_panel_free(s->ctx, &s->panel[k]);
    mem_free(s->ctx, s->panel);
    points_close(s->ctx, &s->table);
    MEM_FREE(s->ctx, s->offset, s->rows);
    mem_free(s->ctx, s);
}

ddsc_status metric_vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                                const double *rows)
{
    ddsc_status status = DDSC_OK;
    vectors *s = NULL;
    *state = NULL;
    TRY(la_check_rows(ctx, "vectors", 0, n, dim, rows));
    TRY(MEM_ZERO(ctx, s, 1));
    *s = (vectors){.ctx = ctx, .n_workers = parallel_width(ctx)};
    TRY(points_open(ctx, &s->table, n, dim, rows));
    if (dim <= POINTS_MAX_DIRECT)
        TRY(MEM_ZERO(ctx, s->panel, 2 * s->n_workers));
    for (int k = 0; s->panel && k < 2 * s->n_workers; k++)
        TRY(points_panel_create(ctx, &s->panel[k], &s->table, VECTORS_SIDE));
    *state = s;
    s = NULL;
done:
    vectors_close(s);
    return status;
}

static ddsc_status vectors_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                                ddsc_pair_stats *stats)
{
    vectors *s = state;
    int64_t d = s->table.d;
    (void)stats;
    if (!s->panel) {
        la_differences(t->i1 - t->i0, t->j1 - t->j0, d, s->table.x + t->i0 * d,
                       s->table.x + t->j0 * d, d2, ld);
    } else {
        points_panel *rows = &s->panel[2 * worker], *columns = rows + 1;
        points_panel_load(rows, &s->table, t->i1 - t->i0, NULL, t->i0);
        points_panel_load(columns, &s->table, t->j1 - t->j0, NULL, t->j0);
        points_distance2(&s->table, rows, columns, d2, ld);
    }
    for (int64_t i = t->i0; s->offset && i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            d2[(i - t->i0) * ld + (j - t->j0)] += s->offset[i] + s->offset[j];
    return DDSC_OK;
}

typedef struct rounding {
    const vectors *s;
    prefilter_rows *out;
    int64_t first;
    int exponent; /* rows are divided by 2^exponent */
} rounding;

/* Converts the centered rows to floats. */
static ddsc_status round_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const rounding *r = arg;
    const points *table = &r->s->table;
    int64_t d = table->d;
    (void)worker;
    for (int64_t i = r->first + begin; i < r->first + end; i++) {
        for (int64_t k = 0; k < d; k++)
            r->out->rows[i * d + k] =
                (float)ldexp(table->x[i * d + k] - table->center[k], -r->exponent);
        r->out->offset[i] = r->s->offset ? ldexp(r->s->offset[i], -2 * r->exponent) : 0;
    }
    return DDSC_OK;
}

/* Provides the rows as floats for the first bounds. Floats can represent the squares of values from
 * 1e-9 to 1e15, so rows outside this range are scaled to about 1. In few dimensions, computing in
 * double precision is cheap, so no rows are provided. */
static ddsc_status vectors_rows(void *state, prefilter_rows *out)
{
    vectors *s = state;
    const points *table = &s->table;
    double largest = 0;
    for (int64_t p = 0; p < table->n * table->d; p++)
        largest = fmax(largest, fabs(table->x[p] - table->center[p % table->d]));
    int exponent = largest >= 1e-9 && largest <= 1e15 ? 0 : ilogb(largest);
    if (table->d <= POINTS_MAX_DIRECT || !(largest > 0) || exponent < -400 || exponent > 400 ||
        table->n * table->d > ctx_memory_left(s->ctx) / 8)
        return DDSC_OK;
    CHECK(prefilter_rows_create(s->ctx, out, s->m ? measures_item_capacity(s->m) : table->n,
                                table->d));
    out->n = table->n;
    out->unit = ldexp(1, 2 * exponent);
    return parallel_for(s->ctx, table->n, 64, round_range, &(rounding){s, out, 0, exponent});
}

static ddsc_status vectors_grow_rows(void *state, prefilter_rows *out, bool *done)
{
    vectors *s = state;
    const points *table = &s->table;
    int64_t first = out->n, d = table->d;
    int exponent = ilogb(out->unit) / 2;
    for (int64_t p = first * d; p < table->n * d; p++)
        if (!(ldexp(fabs(table->x[p] - table->center[p % d]), -exponent) <= 1e15)) {
            *done = false;
            return DDSC_OK;
        }
    *done = true;
    out->n = table->n;
    return parallel_for(s->ctx, table->n - first, 64, round_range,
                        &(rounding){s, out, first, exponent});
}

const pair_backend metric_vectors = {.name = "vectors",
                                     .tile_side = VECTORS_SIDE,
                                     .close = vectors_close,
                                     .tile = vectors_tile,
                                     .rows = vectors_rows};

/* ---- linear optimal transport ---- */

static ddsc_status lot_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    double *z = NULL;
    int64_t columns;
    TRY(lot_run(job->ctx, &z, &columns, stats, job->m, job->set));
    TRY(metric_vectors_open(job->ctx, state, job->m->n, columns, z));
    vectors *s = *state;
    s->rows = z;
    s->m = job->m;
    s->set = job->set;
    z = NULL;
done:
    mem_free(job->ctx, z);
    return status;
}

/* The reference is known because the settings are resolved. */
static ddsc_status lot_grow(void *state, int64_t first)
{
    vectors *s = state;
    CHECK(lot_embed_from(s->ctx, s->rows, &s->late, s->m, first, s->set->reference_measures,
                         s->set->w2_max_pivots));
    s->table.n = s->m->n;
    return DDSC_OK;
}

const pair_backend metric_lot = {.name = "lot",
                                 .tile_side = VECTORS_SIDE,
                                 .open = lot_open,
                                 .close = vectors_close,
                                 .grow = lot_grow,
                                 .tile = vectors_tile,
                                 .rows = vectors_rows,
                                 .grow_rows = vectors_grow_rows};

/* ---- maximum mean discrepancy with random Fourier features ---- */

static ddsc_status features_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    const ddsc_metric_settings *set = job->set;
    bool biased = set->mmd_estimator == DDSC_MMD_BIASED;
    mmd_kernel kernel = {set->mmd_kernel, set->bandwidth};
    mmd_fourier f = {0};
    TRY(mmd_fourier_make(job->ctx, &f, job->m, &kernel, biased, set->mmd_features));
    TRY(mmd_fourier_check(job->ctx, &f, stats, job->m, &kernel, biased));
    TRY(metric_vectors_open(job->ctx, state, job->m->n, f.columns, f.rows));
    stats->n_features = f.columns;
    vectors *s = *state;
    s->rows = f.rows;
    s->offset = f.offset; /* term that the unbiased estimator adds for each item */
    f = (mmd_fourier){0};
done:
    mmd_fourier_free(job->ctx, &f);
    return status;
}

const pair_backend metric_features = {.name = "mmd",
                                      .tile_side = VECTORS_SIDE,
                                      .open = features_open,
                                      .close = vectors_close,
                                      .tile = vectors_tile,
                                      .rows = vectors_rows};
