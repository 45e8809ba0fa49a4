/* Exact 2-Wasserstein: one transport problem a pair, one solver a worker. */
#include "exact/exact.h"
#include "metric/bound_tiles.h"
#include "metric/metric.h"
#include "metric/w2.h"

enum { W2_SIDE = 16, W2_SIDE_AHEAD = 32 };

typedef struct w2 {
    ddsc_context *ctx;
    const measures *m;
    int64_t max_pivots;
    int n_workers;
    exact_solver **solver;
    pair_ij *last;          /* one a worker: what its solver holds */
    bound_cut_table cuts;   /* empty: no cuts */
    bool starts;            /* solves start from refined potentials */
    bound_refined *refined; /* NULL: none for this set, or not yet */
} w2;

static void w2_close(void *state)
{
    w2 *s = state;
    if (!s)
        return;
    for (int k = 0; s->solver && k < s->n_workers; k++)
        exact_destroy(s->solver[k]);
    bound_cut_table_free(s->ctx, &s->cuts);
    bound_refined_destroy(s->refined);
    mem_free(s->ctx, s->last);
    mem_free(s->ctx, s->solver);
    mem_free(s->ctx, s);
}

bound_refined **w2_refined(void *state)
{
    return &((w2 *)state)->refined;
}

static ddsc_status w2_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    w2 *s = NULL;
    (void)stats;
    TRY(MEM_ZERO(job->ctx, s, 1));
    *s = (w2){.ctx = job->ctx, .m = job->m, .n_workers = job->n_workers};
    s->max_pivots = job->set->w2_max_pivots;
    TRY(MEM_ZERO(job->ctx, s->solver, s->n_workers));
    for (int k = 0; k < s->n_workers; k++)
        TRY(exact_create(job->ctx, &s->solver[k]));
    TRY(MEM_ZERO(job->ctx, s->last, s->n_workers));
    s->starts = bound_refined_starts(job->m);
    if (s->starts)
        TRY(bound_refined_create(job->ctx, &s->refined, job->m));
    *state = s;
    s = NULL;
done:
    w2_close(s);
    return status;
}

/* Small sets get small tiles, so that many threads find work. Pairs whose costs are made ahead take
 * microseconds, and share the more the larger the tile. */
static void w2_plan(const void *state, pair_plan *plan)
{
    const w2 *s = state;
    bool ahead = exact_ahead_applies(s->m);
    int64_t side = ahead ? W2_SIDE_AHEAD : W2_SIDE, least_blocks = ahead ? 8 : 32;
    plan->tile_side = BASE_MAX(1, BASE_MIN(side, s->m->n / least_blocks));
}

static void take(const exact_result *result, double *d2, ddsc_pair_stats *stats, bool converged)
{
    *d2 = result->primal;
    stats->n_iterations += result->pivots;
    stats->max_gap = BASE_MAX(stats->max_gap, result->gap);
    stats->n_not_converged += !converged;
}

static ddsc_status solve_pair(w2 *s, int worker, int64_t i, int64_t j, double *d2,
                              ddsc_pair_stats *stats)
{
    exact_result result;
    exact_solver *solver = s->solver[worker];
    if (s->starts)
        exact_start(solver, bound_refined_start(s->refined, i, j, worker));
    ddsc_status status = exact_solve_items(solver, &result, s->m, i, s->m, j, s->max_pivots);
    if (status >= 0)
        take(&result, d2, stats, status != DDSC_NOT_CONVERGED);
    return status;
}

/* Two pairs of a row. One that does not converge is seen on its own. */
static ddsc_status solve_two(w2 *s, int worker, int64_t i, const int64_t *j, double *const *d2,
                             ddsc_pair_stats *stats)
{
    exact_result result[2];
    ddsc_status status = exact_solve_two(s->solver[worker], result, s->m, i, j, s->max_pivots);
    if (status == DDSC_NOT_CONVERGED) {
        status = DDSC_OK;
        for (int k = 0; k < 2; k++)
            TRY(solve_pair(s, worker, i, j[k], d2[k], stats));
    } else if (status >= 0) {
        for (int k = 0; k < 2; k++)
            take(&result[k], d2[k], stats, true);
    }
done:
    return status;
}

/* Row i of a tile, pair by pair or two by two. */
static ddsc_status solve_row(w2 *s, int worker, const pair_tile *t, int64_t i, double *row,
                             bool by_two, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    int64_t wanted[2];
    double *d2[2];
    int have = 0;
    for (int64_t j = t->j0; j < t->j1; j++) {
        if (!tile_wants(t, i, j))
            continue;
        wanted[have] = j;
        d2[have++] = row + (j - t->j0);
        if (by_two && have == 2)
            TRY(solve_two(s, worker, i, wanted, d2, stats));
        else if (!by_two)
            TRY(solve_pair(s, worker, i, j, d2[0], stats));
        else
            continue;
        have = 0;
        s->last[worker] = (pair_ij){(int32_t)i, (int32_t)j};
    }
    if (have == 1) {
        TRY(solve_pair(s, worker, i, wanted[0], d2[0], stats));
        s->last[worker] = (pair_ij){(int32_t)i, (int32_t)wanted[0]};
    }
done:
    return status;
}

static ddsc_status w2_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                           ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    w2 *s = state;
    bool single = t->i1 - t->i0 == 1 || t->j1 - t->j0 == 1;
    bool by_two = !s->starts && exact_are_small(s->m);
    if (!single && !t->wanted && exact_ahead_applies(s->m))
        TRY(exact_ahead(s->solver[worker], s->m, t->i0, t->i1, t->j0, t->j1));
    for (int64_t i = t->i0; i < t->i1; i++) {
        if (ctx_cancelled(s->ctx)) /* long solves ask on their own */
            return DDSC_ERROR_CANCELLED;
        TRY(solve_row(s, worker, t, i, d2 + (i - t->i0) * ld, by_two, stats));
    }
done:
    return status;
}

static bool w2_cut(void *state, int worker, int side, pair_cut *cut)
{
    const w2 *s = state;
    if (!s->cuts.cost)
        return false;
    const exact_solver *solver = s->solver[worker];
    pair_ij last = s->last[worker];
    bound_cut_make(&s->cuts, measures_item(s->m, side == 0 ? last.i : last.j),
                   side == 0 ? exact_f(solver) : exact_g(solver), &cut->constant, cut->potential);
    cut->unit = s->cuts.unit2;
    return true;
}

/* A search begins. Cuts are cheaper than refined bounds, but where there are those they add too
 * little. */
static ddsc_status w2_refine_open(void *state, bool *offered)
{
    w2 *s = state;
    *offered = bound_refined_applies(s->m);
    if (*offered)
        return s->refined ? DDSC_OK : bound_refined_create(s->ctx, &s->refined, s->m);
    if (bound_cut_applies(s->m))
        return bound_cut_table_make(s->ctx, &s->cuts, s->m);
    return DDSC_OK;
}

static double w2_refine(void *state, int64_t i, int64_t j, double enough, int worker)
{
    const w2 *s = state;
    return bound_refined_pair(s->refined, i, j, enough, worker);
}

static double w2_last(void *state, int64_t i, int64_t j, double enough, int worker)
{
    const w2 *s = state;
    return bound_refined_last(s->refined, i, j, enough, worker);
}

static const pair_pruning w2_pruning = {.bound = &w2_bound_tiles,
                                        .closer = bound_tiles_pair,
                                        .cut = w2_cut,
                                        .refine_open = w2_refine_open,
                                        .refine = w2_refine,
                                        .last = w2_last};

const pair_backend backend_w2 = {
    .name = "w2",
    .tile_side = W2_SIDE,
    .open = w2_open,
    .tile = w2_tile,
    .close = w2_close,
    .plan = w2_plan,
    .pruning = &w2_pruning,
};
