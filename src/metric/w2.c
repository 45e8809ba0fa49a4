/* Exact 2-Wasserstein: one transport problem per pair, one solver per worker. */
#include "exact/exact.h"
#include "metric/bound_tiles.h"
#include "metric/metric.h"
#include "metric/w2.h"

enum { W2_SIDE = 16, W2_SIDE_SHARED = 32 };

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
    exact_destroy_team(s->ctx, s->solver);
    bound_cut_table_free(s->ctx, &s->cuts);
    bound_refined_destroy(s->refined);
    mem_free(s->ctx, s->last);
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
    TRY(exact_create_team(job->ctx, &s->solver));
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

/* Small sets get small tiles, so that many threads find work. Pairs whose costs are made tile by
 * tile take microseconds, and share the more the larger the tile. */
static void w2_plan(const void *state, pair_plan *plan)
{
    const w2 *s = state;
    bool shared = exact_tile_applies(s->m);
    int64_t side = shared ? W2_SIDE_SHARED : W2_SIDE, least_blocks = shared ? 8 : 32;
    plan->tile_side = BASE_MAX(1, BASE_MIN(side, s->m->n / least_blocks));
}

static ddsc_status w2_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                           ddsc_pair_stats *stats)
{
    w2 *s = state;
    exact_solver *solver = s->solver[worker];
    ddsc_status worst = DDSC_OK;
    bool single = t->i1 - t->i0 == 1 || t->j1 - t->j0 == 1;
    if (!single && !t->wanted && exact_tile_applies(s->m))
        CHECK(exact_tile_costs(solver, s->m, t->i0, t->i1, t->j0, t->j1));
    for (int64_t i = t->i0; i < t->i1; i++) {
        if (ctx_cancelled(s->ctx)) /* long solves ask on their own */
            return DDSC_ERROR_CANCELLED;
        for (int64_t j = t->j0; j < t->j1; j++) {
            exact_result result;
            if (!tile_wants(t, i, j))
                continue;
            if (s->starts)
                exact_start(solver, bound_refined_start(s->refined, i, j, worker));
            ddsc_status solved =
                exact_solve_items(solver, &result, s->m, i, s->m, j, s->max_pivots);
            if (solved < 0)
                return solved;
            worst = solved == DDSC_OK ? worst : solved;
            d2[(i - t->i0) * ld + (j - t->j0)] = result.primal;
            stats->n_iterations += result.pivots;
            stats->max_gap = BASE_MAX(stats->max_gap, result.gap);
            stats->n_not_converged += solved == DDSC_NOT_CONVERGED;
            s->last[worker] = (pair_ij){(int32_t)i, (int32_t)j};
        }
    }
    return worst;
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
