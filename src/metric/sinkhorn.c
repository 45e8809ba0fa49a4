/* Entropic transport: one problem a pair, one solver a worker; images by their grid, dense items
 * over one table by its kernel, small items eight pairs at a time. */
#include <math.h>
#include <string.h>

#include "engine/pairs.h"
#include "metric/metric.h"
#include "metric/sinkhorn.h"

enum { SINKHORN_SIDE = 16, SHARED_SIDE = 8, TILE_POINTS = 4096, LANES_TILE_POINTS = 1024 };

static void sinkhorn_close(void *state)
{
    sinkhorn *s = state;
    if (!s)
        return;
    for (int w = 0; s->solver && w < s->n_workers; w++)
        sinkhorn_destroy(s->solver[w]);
    sinkhorn_lanes_close(s);
    mem_free(s->ctx, s->solver);
    mem_free(s->ctx, s->stats);
    mem_free(s->ctx, s->self);
    sinkhorn_grid_free(s->grid);
    sinkhorn_shared_free(s->shared);
    refine_free(s->w2);
    pair_costs_close(&s->costs);
    mem_free(s->ctx, s);
}

/* ---- one pair ---- */

static void count(ddsc_pair_stats *stats, const sinkhorn_result *found, ddsc_status solved)
{
    stats->n_iterations += found->iterations;
    stats->max_gap = BASE_MAX(stats->max_gap, found->marginal_error);
    stats->n_not_converged += solved == DDSC_NOT_CONVERGED;
}

sinkhorn_problem sinkhorn_pair(sinkhorn *s, int64_t i, int64_t j, int worker)
{
    item_view x = measures_item(s->m, i), y = measures_item(s->m, j);
    sinkhorn_problem problem = {.n = x.n,
                                .m = y.n,
                                .a = x.weight,
                                .b = y.weight,
                                .epsilon = s->epsilon,
                                .tolerance = s->tolerance,
                                .max_iterations = s->max_iterations};
    problem.cost = pair_costs_get(&s->costs, i, j, worker, &problem.cost_stride);
    return problem;
}

static ddsc_status solve_pair(sinkhorn *s, int64_t i, int64_t j, int worker, sinkhorn_result *found)
{
    sinkhorn_stop stop = {s->tolerance, s->max_iterations, s->value == DDSC_SINKHORN_SHARP};
    if (s->grid && sinkhorn_grid_solve(s->grid, found, i, j, &stop, worker))
        return DDSC_OK;
    sinkhorn_problem problem = sinkhorn_pair(s, i, j, worker);
    return sinkhorn_solve(s->solver[worker], found, &problem);
}

double sinkhorn_take(const sinkhorn *s, int64_t i, int64_t j, const sinkhorn_result *found,
                     ddsc_status solved, ddsc_pair_stats *stats)
{
    count(stats, found, solved);
    double value = s->value == DDSC_SINKHORN_SHARP ? found->sharp : found->regularised;
    return s->self ? BASE_MAX(0, value - 0.5 * (s->self[i] + s->self[j])) : value;
}

bool sinkhorn_same(const sinkhorn *s, int64_t i, int64_t j)
{
    return s->self && measures_equal_items(s->m, i, j);
}

ddsc_status sinkhorn_single(sinkhorn *s, int64_t i, int64_t j, int worker, double *d2,
                            ddsc_pair_stats *stats)
{
    sinkhorn_result found;
    if (ctx_cancelled(s->ctx))
        return DDSC_ERROR_CANCELLED;
    *d2 = 0;
    if (sinkhorn_same(s, i, j))
        return DDSC_OK;
    ddsc_status status = solve_pair(s, i, j, worker, &found);
    if (status >= 0)
        *d2 = sinkhorn_take(s, i, j, &found, status, stats);
    return status;
}

/* Pairs by the kernel of the table where it solves them, the rest one by one. */
static ddsc_status solve_shared(sinkhorn *s, shared_pair *pair, int64_t n, double *const *out,
                                int worker, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_stop stop = {s->tolerance, s->max_iterations, s->value == DDSC_SINKHORN_SHARP};
    sinkhorn_shared_solve(s->shared, pair, n, &stop, worker);
    for (int64_t k = 0; k < n; k++)
        if (pair[k].solved)
            *out[k] = sinkhorn_take(s, pair[k].i, pair[k].j, &pair[k].found, DDSC_OK, stats);
        else
            TRY(sinkhorn_single(s, pair[k].i, pair[k].j, worker, out[k], stats));
done:
    return status;
}

static ddsc_status shared_tile(sinkhorn *s, const pair_tile *t, double *d2, int64_t ld, int worker,
                               ddsc_pair_stats *stats)
{
    shared_pair pair[SINKHORN_SIDE * SINKHORN_SIDE];
    double *out[SINKHORN_SIDE * SINKHORN_SIDE];
    int64_t n = 0;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *to = d2 + (i - t->i0) * ld + (j - t->j0);
            if (!tile_wants(t, i, j))
                continue;
            *to = 0;
            if (sinkhorn_same(s, i, j))
                continue;
            out[n] = to;
            pair[n++] = (shared_pair){.i = i, .j = j};
        }
    return solve_shared(s, pair, n, out, worker, stats);
}

static ddsc_status sinkhorn_tile(void *state, const pair_tile *t, double *d2, int64_t ld,
                                 int worker, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    sinkhorn *s = state;
    bool in_reach = t->i1 - t->i0 <= s->side && t->j1 - t->j0 <= s->side;
    if (s->shared && in_reach)
        return shared_tile(s, t, d2, ld, worker, stats);
    if (s->lanes && in_reach && t->j1 - t->j0 > 1)
        return sinkhorn_lanes_tile(s, t, d2, ld, worker, stats);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            if (tile_wants(t, i, j))
                TRY(sinkhorn_single(s, i, j, worker, d2 + (i - t->i0) * ld + (j - t->j0), stats));
done:
    return status;
}

/* ---- opening ---- */

static ddsc_status self_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sinkhorn *s = arg;
    for (int64_t i = begin; i < end; i++) {
        sinkhorn_result found;
        sinkhorn_problem problem = sinkhorn_pair(s, i, i, worker);
        ddsc_status solved = sinkhorn_self(s->solver[worker], &found, &problem);
        CHECK(solved);
        count(&s->stats[worker], &found, solved);
        s->self[i] = found.regularised;
        progress_add(s->ctx, 1);
    }
    return DDSC_OK;
}

static ddsc_status find_self_terms(sinkhorn *s, ddsc_pair_stats *stats)
{
    CHECK(MEM_NEW(s->ctx, s->self, s->m->n));
    progress_begin(s->ctx, "self terms", s->m->n);
    CHECK(parallel_for(s->ctx, s->m->n, 4, self_range, s));
    progress_end(s->ctx);
    for (int w = 0; w < s->n_workers; w++)
        pairs_merge_stats(stats, &s->stats[w]);
    return DDSC_OK;
}

static double cost_range(const measures *m)
{
    double total = 0;
    for (int64_t k = 0; k < m->d; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t r = 0; r < m->v; r++) {
            low = fmin(low, m->support[r * m->d + k]);
            high = fmax(high, m->support[r * m->d + k]);
        }
        total += m->v > 0 ? (high - low) * (high - low) : 0;
    }
    return total;
}

/* Mostly small items, and none by a grid. */
static bool use_lanes(const sinkhorn *s)
{
    return !s->grid && !s->shared && s->m->nnz <= LANES_SIDE * s->m->n;
}

/* Tiles short enough to be a unit of work, and enough of them for every thread; of small items in
 * whole groups, with few enough points for their costs: a few larger items do not count there. */
static int64_t tile_side(const sinkhorn *s)
{
    int64_t n = s->m->n, largest = measures_largest_item(s->m);
    if (s->shared)
        return BASE_MIN(SINKHORN_SIDE, BASE_MAX(SHARED_SIDE, n / 32));
    if (!use_lanes(s))
        return BASE_MAX(1, BASE_MIN(BASE_MIN(SINKHORN_SIDE, n / 32), TILE_POINTS / largest));
    int64_t most = LANES_TILE_POINTS / BASE_MIN(LANES_SIDE, largest);
    int64_t side = BASE_MIN(BASE_MIN(SINKHORN_TILE, most), n / 16);
    return BASE_MAX(1, side / SIMD_LANES) * SIMD_LANES;
}

static ddsc_status solvers_open(sinkhorn *s)
{
    CHECK(MEM_ZERO(s->ctx, s->stats, s->n_workers));
    CHECK(MEM_ZERO(s->ctx, s->solver, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        CHECK(sinkhorn_create(s->ctx, &s->solver[w]));
    if (use_lanes(s))
        CHECK(sinkhorn_lanes_open(s));
    return DDSC_OK;
}

static ddsc_status sinkhorn_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    const measures *m = job->m;
    sinkhorn *s = NULL;
    TRY(MEM_ZERO(job->ctx, s, 1));
    *s = (sinkhorn){.ctx = job->ctx, .m = m, .n_workers = job->n_workers};
    s->tolerance = job->set->sinkhorn_tolerance;
    s->range = cost_range(m);
    s->slack = s->tolerance * s->range;
    s->max_iterations = job->set->sinkhorn_max_iterations;
    s->value = job->set->sinkhorn_value;
    s->epsilon = job->set->epsilon;
    if (sinkhorn_grid_applies(m, s->epsilon))
        TRY(sinkhorn_grid_make(s->ctx, &s->grid, m, s->epsilon));
    else if (sinkhorn_shared_applies(m))
        TRY(sinkhorn_shared_make(s->ctx, &s->shared, m, s->epsilon,
                                 s->value == DDSC_SINKHORN_SHARP));
    s->side = tile_side(s);
    TRY(pair_costs_open(s->ctx, &s->costs, m));
    TRY(solvers_open(s));
    if (s->value == DDSC_SINKHORN_DEBIASED)
        TRY(find_self_terms(s, stats));
    *state = s;
    s = NULL;
done:
    sinkhorn_close(s);
    return status;
}

static void sinkhorn_shape(const void *state, pair_shape *shape)
{
    const sinkhorn *s = state;
    shape->tile_side = s->side;
}

const pair_backend metric_sinkhorn = {
    .name = "sinkhorn",
    .tile_side = SINKHORN_SIDE,
    .open = sinkhorn_open,
    .tile = sinkhorn_tile,
    .close = sinkhorn_close,
    .shape = sinkhorn_shape,
    .bounds = &sinkhorn_bounds,
};
