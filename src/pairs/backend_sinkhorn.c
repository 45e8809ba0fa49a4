/* Entropic transport: one problem a pair, one solver a worker. Costs come in blocks, one item
 * against all of a tile's columns, so that many dimensions go through a matrix product; a small
 * shared support has its costs in a table. */
#include <math.h>
#include <string.h>

#include "linalg/points.h"
#include "ot/ot.h"
#include "ot/sinkhorn_grid.h"
#include "pairs/pairs.h"

enum { SINKHORN_SIDE = 16, BLOCK_POINTS = 4096, TABLE_BLOCK = 128 };

static const int64_t TABLE_BYTES = (int64_t)64 << 20;

/* What a worker owns. */
typedef struct bench {
    sinkhorn_solver *solver;
    points_panel rows, columns;
    double *cost;
    int64_t *at; /* where each item of the tile begins among the columns */
} bench;

typedef struct sinkhorn {
    ddsc_context *ctx;
    const measures *m;
    points support;
    int64_t side, largest; /* of a tile; points of the largest item */
    double epsilon, tolerance;
    int64_t max_iterations;
    ddsc_sinkhorn_value value;
    sinkhorn_grid *grid; /* of images: solves without costs; NULL: none */
    double *table;       /* v x v costs, or NULL */
    double *self;        /* n regularised values of an item with itself, when debiased */
    int n_workers;
    bench *bench;
    ddsc_pair_stats *stats; /* one a worker, for the work at open */
} sinkhorn;

static void sinkhorn_close(void *state)
{
    sinkhorn *s = state;
    if (!s)
        return;
    for (int w = 0; s->bench && w < s->n_workers; w++) {
        sinkhorn_destroy(s->bench[w].solver);
        points_panel_free(s->ctx, &s->bench[w].rows);
        points_panel_free(s->ctx, &s->bench[w].columns);
        mem_free(s->ctx, s->bench[w].cost);
        mem_free(s->ctx, s->bench[w].at);
    }
    mem_free(s->ctx, s->bench);
    mem_free(s->ctx, s->stats);
    mem_free(s->ctx, s->self);
    mem_free(s->ctx, s->table);
    sinkhorn_grid_free(s->grid);
    points_close(s->ctx, &s->support);
    mem_free(s->ctx, s);
}

/* ---- costs ---- */

/* Items j of the tile side by side: all of them, or those wanted with i. */
static void load_columns(const sinkhorn *s, bench *b, const pair_tile *t, int64_t i)
{
    b->columns.n = 0;
    for (int64_t j = t->j0; j < t->j1; j++) {
        item_view y = measures_item(s->m, j);
        b->at[j - t->j0] = b->columns.n;
        if (!t->wanted || tile_wants(t, i, j))
            points_panel_add(&b->columns, &s->support, y.n, y.index, 0);
    }
}

static void load_row(const sinkhorn *s, bench *b, int64_t i)
{
    item_view x = measures_item(s->m, i);
    points_panel_load(&b->rows, &s->support, x.n, x.index, 0);
    points_distance2(&s->support, &b->rows, &b->columns, b->cost, b->columns.n);
}

static void gather(const sinkhorn *s, bench *b, int64_t i, int64_t j)
{
    item_view x = measures_item(s->m, i), y = measures_item(s->m, j);
    for (int64_t p = 0; p < x.n; p++) {
        const double *row = s->table + x.index[p] * s->m->v;
        for (int64_t q = 0; q < y.n; q++)
            b->cost[p * y.n + q] = row[y.index[q]];
    }
}

static ddsc_status table_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sinkhorn *s = arg;
    bench *b = &s->bench[worker];
    int64_t v = s->m->v;
    points_panel_load(&b->rows, &s->support, end - begin, NULL, begin);
    for (int64_t q = 0; q < v; q += TABLE_BLOCK) {
        points_panel_load(&b->columns, &s->support, BASE_MIN(TABLE_BLOCK, v - q), NULL, q);
        points_distance2(&s->support, &b->rows, &b->columns, s->table + begin * v + q, v);
    }
    return DDSC_OK;
}

/* ---- one pair ---- */

static void count(ddsc_pair_stats *stats, const sinkhorn_result *found, ddsc_status solved)
{
    stats->n_iterations += found->iterations;
    stats->max_gap = BASE_MAX(stats->max_gap, found->marginal_error);
    stats->n_not_converged += solved == DDSC_NOT_CONVERGED;
}

static sinkhorn_problem problem_of(const sinkhorn *s, int64_t i, int64_t j, const double *cost,
                                   int64_t stride)
{
    item_view x = measures_item(s->m, i), y = measures_item(s->m, j);
    return (sinkhorn_problem){.n = x.n,
                              .m = y.n,
                              .a = x.weight,
                              .b = y.weight,
                              .cost = cost,
                              .cost_stride = stride,
                              .epsilon = s->epsilon,
                              .tolerance = s->tolerance,
                              .max_iterations = s->max_iterations};
}

/* Equal items are at divergence 0, without the rounding of three values. */
static bool equal_items(const measures *m, int64_t i, int64_t j)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    return x.n == y.n && memcmp(x.index, y.index, (size_t)x.n * sizeof *x.index) == 0 &&
           memcmp(x.weight, y.weight, (size_t)x.n * sizeof *x.weight) == 0;
}

static void keep(const sinkhorn *s, int64_t i, int64_t j, const sinkhorn_result *found, double *d2)
{
    *d2 = s->value == DDSC_SINKHORN_SHARP ? found->sharp : found->regularised;
    if (s->self)
        *d2 = BASE_MAX(0, *d2 - 0.5 * (s->self[i] + s->self[j]));
}

static ddsc_status solve_dense(const sinkhorn *s, bench *b, int64_t i, int64_t j,
                               const double *cost, int64_t stride, double *d2,
                               ddsc_pair_stats *stats)
{
    sinkhorn_result found;
    sinkhorn_problem problem = problem_of(s, i, j, cost, stride);
    ddsc_status status = sinkhorn_solve(b->solver, &found, &problem);
    if (status < 0)
        return status;
    count(stats, &found, status);
    keep(s, i, j, &found, d2);
    return status;
}

/* The costs of one pair, from the table or made now. */
static void load_pair(const sinkhorn *s, bench *b, int64_t i, int64_t j)
{
    pair_tile one = {i, i + 1, j, j + 1, NULL};
    if (s->table) {
        gather(s, b, i, j);
    } else {
        load_columns(s, b, &one, i);
        load_row(s, b, i);
    }
}

static ddsc_status solve_alone(const sinkhorn *s, bench *b, int64_t i, int64_t j, int worker,
                               double *d2, ddsc_pair_stats *stats)
{
    sinkhorn_result found;
    sinkhorn_stop stop = {s->tolerance, s->max_iterations, s->value == DDSC_SINKHORN_SHARP};
    if (s->grid && sinkhorn_grid_solve(s->grid, &found, i, j, &stop, worker)) {
        count(stats, &found, DDSC_OK);
        keep(s, i, j, &found, d2);
        return DDSC_OK;
    }
    load_pair(s, b, i, j);
    return solve_dense(s, b, i, j, b->cost, measures_item(s->m, j).n, d2, stats);
}

static ddsc_status sinkhorn_tile(void *state, const pair_tile *t, double *d2, int64_t ld,
                                 int worker, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    sinkhorn *s = state;
    bench *b = &s->bench[worker];
    bool alone = s->table || s->grid; /* each pair finds its own costs */
    for (int64_t i = t->i0; i < t->i1; i++) {
        if (!alone && (i == t->i0 || t->wanted))
            load_columns(s, b, t, i);
        if (!alone)
            load_row(s, b, i);
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *out = d2 + (i - t->i0) * ld + (j - t->j0);
            if (!tile_wants(t, i, j))
                continue;
            if (ctx_cancelled(s->ctx))
                return DDSC_ERROR_CANCELLED;
            if (s->self && equal_items(s->m, i, j))
                *out = 0;
            else if (alone)
                TRY(solve_alone(s, b, i, j, worker, out, stats));
            else
                TRY(solve_dense(s, b, i, j, b->cost + b->at[j - t->j0], b->columns.n, out, stats));
        }
    }
done:
    return status;
}

/* ---- opening ---- */

static ddsc_status self_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ddsc_status status = DDSC_OK;
    sinkhorn *s = arg;
    bench *b = &s->bench[worker];
    for (int64_t i = begin; i < end; i++) {
        sinkhorn_result found;
        load_pair(s, b, i, i);
        sinkhorn_problem problem = problem_of(s, i, i, b->cost, measures_item(s->m, i).n);
        ddsc_status solved = sinkhorn_self(b->solver, &found, &problem);
        TRY(solved);
        count(&s->stats[worker], &found, solved);
        s->self[i] = found.regularised;
        progress_add(s->ctx, 1);
    }
done:
    return status;
}

static ddsc_status find_self_terms(sinkhorn *s, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    TRY(MEM_NEW(s->ctx, s->self, s->m->n));
    progress_begin(s->ctx, "self terms", s->m->n);
    TRY(parallel_for(s->ctx, s->m->n, 4, self_range, s));
    progress_end(s->ctx);
    for (int w = 0; w < s->n_workers; w++)
        pair_stats_merge(stats, &s->stats[w]);
done:
    return status;
}

/* Twice the pooled variance is the mean cost of two random points: stands in for a median of 0. */
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

/* The absolute epsilon. Where all points coincide every epsilon gives the same answer. */
static ddsc_status resolve_epsilon(sinkhorn *s, const ddsc_metric_settings *set)
{
    double scale = 100;
    if (set->epsilon_is_percent) {
        ddsc_status status = cost_median(s->ctx, s->m, &scale);
        if (status < 0)
            return status;
        if (!(scale > 0))
            scale = mean_cost(s->m);
        if (!(scale > 0))
            scale = 1;
    }
    s->epsilon = fmin(fmax(set->epsilon * (scale / 100), 1e-300), 1e300);
    return DDSC_OK;
}

static bool wants_table(const measures *m)
{
    return m->d > POINTS_MAX_DIRECT && measures_is_shared(m) &&
           m->v <= TABLE_BYTES / (int64_t)sizeof(double) / m->v;
}

static ddsc_status make_benches(sinkhorn *s, bool table)
{
    ddsc_status status = DDSC_OK;
    int64_t rows = table ? TABLE_BLOCK : s->largest;
    int64_t columns = table ? TABLE_BLOCK : s->side * s->largest;
    int64_t size = 0;
    if (!mul_ok(s->largest, table ? s->largest : columns, &size))
        return ctx_fail(s->ctx, DDSC_ERROR_MEMORY, "an item of %lld points is too large",
                        (long long)s->largest);
    TRY(MEM_ZERO(s->ctx, s->stats, s->n_workers));
    TRY(MEM_ZERO(s->ctx, s->bench, s->n_workers));
    for (int w = 0; w < s->n_workers; w++) {
        bench *b = &s->bench[w];
        TRY(sinkhorn_create(s->ctx, &b->solver));
        TRY(points_panel_create(s->ctx, &b->rows, &s->support, rows));
        TRY(points_panel_create(s->ctx, &b->columns, &s->support, columns));
        TRY(MEM_NEW(s->ctx, b->cost, size));
        TRY(MEM_NEW(s->ctx, b->at, s->side));
    }
done:
    return status;
}

static ddsc_status sinkhorn_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    const measures *m = job->m;
    sinkhorn *s = NULL;
    TRY(MEM_ZERO(job->ctx, s, 1));
    *s = (sinkhorn){.ctx = job->ctx, .m = m, .n_workers = job->n_workers};
    s->tolerance = job->set->sinkhorn_tolerance;
    s->max_iterations = job->set->sinkhorn_max_iterations;
    s->value = job->set->sinkhorn_value;
    s->largest = measures_largest_item(m);
    s->side = BASE_MAX(1, BASE_MIN(BLOCK_POINTS / s->largest, BASE_MIN(SINKHORN_SIDE, m->n / 32)));
    TRY(resolve_epsilon(s, job->set));
    if (sinkhorn_grid_applies(m, s->epsilon))
        TRY(sinkhorn_grid_make(s->ctx, &s->grid, m, s->epsilon));
    TRY(points_open(s->ctx, &s->support, m->v, m->d, m->support));
    TRY(make_benches(s, wants_table(m)));
    if (wants_table(m)) {
        TRY(MEM_NEW(s->ctx, s->table, m->v * m->v));
        TRY(parallel_for(s->ctx, m->v, TABLE_BLOCK, table_range, s));
    }
    if (s->value == DDSC_SINKHORN_DEBIASED)
        TRY(find_self_terms(s, stats));
    stats->epsilon = s->epsilon;
    *state = s;
    s = NULL;
done:
    sinkhorn_close(s);
    return status;
}

static void sinkhorn_plan_tiles(const void *state, pair_plan *plan)
{
    plan->tile_side = ((const sinkhorn *)state)->side;
}

const pair_backend backend_sinkhorn = {
    .name = "sinkhorn",
    .tile_side = SINKHORN_SIDE,
    .open = sinkhorn_open,
    .tile = sinkhorn_tile,
    .close = sinkhorn_close,
    .plan = sinkhorn_plan_tiles,
};
