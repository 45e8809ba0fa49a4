/* Euclidean distance between rows of numbers, by differences: a value depends on its two rows
 * alone, so equal rows tie wherever they stand, in matrix and graph alike. */
#include <math.h>

#include "cost/points.h"
#include "engine/prefilter.h"
#include "linalg/linalg.h"
#include "metric/metric.h"
#include "metric/tuning.h"

typedef struct vectors {
    ddsc_context *ctx;
    points table;
    int n_workers;
    points_panel *panel; /* two per worker: rows, columns; few dimensions alone use them */
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
    mem_free(s->ctx, s);
}

static ddsc_status check_rows(ddsc_context *ctx, int64_t n, int64_t dim, const double *rows)
{
    int64_t size;
    if (n < 0 || dim < 1 || !mul_ok(n, dim, &size))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "n = %lld rows of dim = %lld: out of range",
                        (long long)n, (long long)dim);
    for (int64_t p = 0; p < size; p++)
        if (!(fabs(rows[p]) <= 1e150))
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "vector %lld, coordinate %lld is %g: must be finite, at most 1e150",
                            (long long)(p / dim), (long long)(p % dim), rows[p]);
    return DDSC_OK;
}

ddsc_status metric_vectors_open(ddsc_context *ctx, void **state, int64_t n, int64_t dim,
                                const double *rows)
{
    ddsc_status status = DDSC_OK;
    vectors *s = NULL;
    *state = NULL;
    TRY(check_rows(ctx, n, dim, rows));
    TRY(MEM_ZERO(ctx, s, 1));
    *s = (vectors){.ctx = ctx, .n_workers = parallel_width(ctx)};
    TRY(points_open(ctx, &s->table, n, dim, rows));
    TRY(MEM_ZERO(ctx, s->panel, 2 * s->n_workers));
    for (int k = 0; k < 2 * s->n_workers; k++)
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
    points_panel *rows = &s->panel[2 * worker], *columns = rows + 1;
    int64_t d = s->table.d;
    (void)stats;
    if (d > POINTS_MAX_DIRECT) {
        la_differences(t->i1 - t->i0, t->j1 - t->j0, d, s->table.x + t->i0 * d,
                       s->table.x + t->j0 * d, d2, ld);
        return DDSC_OK;
    }
    points_panel_load(rows, &s->table, t->i1 - t->i0, NULL, t->i0);
    points_panel_load(columns, &s->table, t->j1 - t->j0, NULL, t->j0);
    points_distance2(&s->table, rows, columns, d2, ld);
    return DDSC_OK;
}

typedef struct rounding {
    const points *table;
    prefilter_rows *rows;
} rounding;

/* Rows about the centre, in floats. */
static ddsc_status round_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const rounding *r = arg;
    int64_t d = r->table->d;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < d; k++)
            r->rows->rows[i * d + k] = (float)(r->table->x[i * d + k] - r->table->centre[k]);
    return DDSC_OK;
}

/* Floats hold squares of 1e-15 .. 1e15; rows in few dimensions cost little in double. */
ddsc_status metric_vectors_rows(void *state, prefilter_rows *rows)
{
    vectors *s = state;
    const points *table = &s->table;
    double largest = 0;
    for (int64_t p = 0; p < table->n * table->d; p++)
        largest = fmax(largest, fabs(table->x[p] - table->centre[p % table->d]));
    if (table->d <= POINTS_MAX_DIRECT || !(largest >= 1e-15 && largest <= 1e15) ||
        table->n * table->d > ctx_memory_left(s->ctx) / 8)
        return DDSC_OK;
    CHECK(prefilter_rows_create(s->ctx, rows, table->n, table->d));
    return parallel_for(s->ctx, table->n, 64, round_range, &(rounding){table, rows});
}

const pair_backend metric_vectors = {.name = "vectors",
                                     .tile_side = VECTORS_SIDE,
                                     .close = vectors_close,
                                     .tile = vectors_tile,
                                     .rows = metric_vectors_rows};
