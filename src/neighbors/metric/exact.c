/* Solves exact transport, with one problem per pair and one solver per worker. The value is D^2 for
 * w2 and D for w1. */
#include "distance/bound/bound.h"
#include "distance/exact/exact.h"
#include "neighbors/metric/metric.h"
#include "neighbors/metric/tuning.h"

typedef struct transport {
    ddsc_context *ctx;
    const measures *m;
    ground_cost ground;
    bool is_distance; /* the value is D rather than D^2 */
    int64_t max_pivots;
    int n_workers;
    exact_solver **solver;
    pair_ij *last;       /* one per worker: the last pair that it solved, in the order of
                          * solved_as */
    bool starts;         /* solves start from the potentials of a dual bound */
    bound_refined *dual; /* NULL if the set has no dual bounds or they have not been created yet */
} transport;

/* Returns true if the values are W2^2. Refined bounds and cuts exist only for W2^2. */
static bool has_squares(const transport *s)
{
    return s->ground.kind == DDSC_COST_SQEUCLIDEAN && !s->is_distance;
}

/* Returns the two items in the order in which the solver receives them. The order depends only on
 * the contents of the items, so that the value has the same bits for (i, j) and (j, i), and in
 * every set. */
static pair_ij solved_as(const transport *s, int64_t i, int64_t j)
{
    return measures_precedes(s->m, i, j) ? (pair_ij){(int32_t)i, (int32_t)j}
                                         : (pair_ij){(int32_t)j, (int32_t)i};
}

static void transport_close(void *state)
{
    transport *s = state;
    if (!s)
        return;
    exact_destroy_team(s->ctx, s->solver);
    bound_refined_destroy(s->dual);
    mem_free(s->ctx, s->last);
    mem_free(s->ctx, s);
}

static ddsc_status transport_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    transport *s = NULL;
    (void)stats;
    TRY(MEM_ZERO(job->ctx, s, 1));
    *s = (transport){.ctx = job->ctx, .m = job->m, .n_workers = job->n_workers};
    s->max_pivots = job->set->w2_max_pivots;
    s->ground = ground_of(job->set);
    s->is_distance = metric_is_distance(job->set);
    TRY(ground_check(job->ctx, &s->ground, job->m));
    TRY(exact_create_team(job->ctx, &s->solver, &s->ground));
    TRY(MEM_ZERO(job->ctx, s->last, s->n_workers));
    s->starts = job->frame.kind == FRAME_GRID || job->frame.kind == FRAME_DENSE;
    DDSC_ASSERT(!s->starts || has_squares(s));
    if (s->starts)
        TRY(bound_refined_create(job->ctx, &s->dual, job->m, &job->frame));
    ctx_note(job->ctx, "solver",
             s->starts                                ? "network simplex from dual potentials"
             : exact_tile_applies(job->m, &s->ground) ? "network simplex, costs of whole tiles"
                                                      : "network simplex",
             "%lld points per item, %lld dimensions",
             (long long)(job->m->nnz / BASE_MAX(1, job->m->n)), (long long)job->m->d);
    *state = s;
    s = NULL;
done:
    transport_close(s);
    return status;
}

static ddsc_status transport_grow(void *state, int64_t first)
{
    const transport *s = state;
    return s->dual ? bound_refined_grow(s->dual, first) : DDSC_OK;
}

/* Uses small tiles for small sets, so that all threads have work. If costs are computed per tile, a
 * solve takes only microseconds, and larger tiles share more of the cost computation. */
static void transport_shape(const void *state, pair_shape *shape)
{
    const transport *s = state;
    bool shared = exact_tile_applies(s->m, &s->ground);
    int64_t side = shared ? W2_SIDE_TILE_COSTS : W2_SIDE;
    int64_t blocks = shared ? W2_BLOCKS_TILE_COSTS : W2_BLOCKS;
    shape->tile_side = BASE_MAX(1, BASE_MIN(side, s->m->n / blocks));
}

static ddsc_status transport_tile(void *state, const pair_tile *t, double *d2, int64_t ld,
                                  int worker, ddsc_pair_stats *stats)
{
    transport *s = state;
    exact_solver *solver = s->solver[worker];
    ddsc_status worst = DDSC_OK;
    bool single = t->i1 - t->i0 == 1 || t->j1 - t->j0 == 1;
    if (!single && !t->wanted && exact_tile_applies(s->m, &s->ground))
        CHECK(exact_tile_costs(solver, s->m, t->i0, t->i1, t->j0, t->j1));
    for (int64_t i = t->i0; i < t->i1; i++) {
        if (ctx_canceled(s->ctx)) /* long solves check for cancellation themselves */
            return DDSC_ERROR_CANCELED;
        for (int64_t j = t->j0; j < t->j1; j++) {
            exact_result result;
            if (!tile_wants(t, i, j))
                continue;
            pair_ij pair = solved_as(s, i, j);
            if (s->starts && bound_refined_may_start(s->dual, pair.i, pair.j))
                exact_start(solver, bound_refined_start(s->dual, pair.i, pair.j, worker));
            ddsc_status solved =
                exact_solve_items(solver, &result, s->m, pair.i, s->m, pair.j, s->max_pivots);
            if (solved < 0)
                return solved;
            worst = solved == DDSC_OK ? worst : solved;
            d2[(i - t->i0) * ld + (j - t->j0)] =
                s->is_distance ? result.primal * result.primal : result.primal;
            stats->n_iterations += result.pivots;
            stats->max_gap = BASE_MAX(stats->max_gap, result.gap);
            stats->n_not_converged += solved == DDSC_NOT_CONVERGED;
            s->last[worker] = pair;
        }
    }
    return worst;
}

/* ---- bounds ---- */

typedef struct bounds_state {
    transport *s;
    metric_first *first;
    bool refined; /* dual bounds use refined potentials, and not relaxed transport */
    bound_cut_table cuts;
} bounds_state;

static void bounds_close(void *state)
{
    bounds_state *b = state;
    if (!b)
        return;
    ddsc_context *ctx = b->s->ctx;
    metric_first_close(b->first);
    bound_cut_table_free(ctx, &b->cuts);
    mem_free(ctx, b);
}

/* Opens the bounds. Cuts are used only if there are no dual bounds, because they would add little
 * to dual bounds. */
static ddsc_status bounds_open(void **state, bound_offer *offer, const pair_job *job, void *metric)
{
    ddsc_status status = DDSC_OK;
    const measures *m = job->m;
    bounds_state *b = NULL;
    transport *s = metric;
    bool dual = has_squares(s) && bound_refined_applies(m);
    first_pairs pairs;
    TRY(MEM_ZERO(job->ctx, b, 1));
    b->s = s;
    b->refined = dual;
    TRY(metric_first_open(&b->first, &offer->first, &pairs, job, &s->ground, 0, s->is_distance));
    offer->level[BOUND_FRAME] = dual ? pairs != FIRST_NO_PAIRS : pairs == FIRST_FRAMES;
    offer->level[BOUND_DUAL] = dual || pairs == FIRST_RELAXED;
    offer->short_lists = !dual && pairs == FIRST_RELAXED;
    offer->level[BOUND_TIGHT] = dual;
    offer->level[BOUND_CUT] = !dual && has_squares(s) && bound_cut_applies(m);
    if (dual && !s->dual)
        TRY(bound_refined_create(job->ctx, &s->dual, m, NULL));
    offer->grid = dual ? bound_refined_for_device(s->dual) : NULL;
    if (offer->level[BOUND_CUT])
        TRY(bound_cut_table_make(job->ctx, &b->cuts, m));
    *state = b;
    b = NULL;
done:
    bounds_close(b);
    return status;
}

static double bounds_pair(void *state, bound_level level, int64_t i, int64_t j, double enough,
                          int worker)
{
    const bounds_state *b = state;
    if (level == BOUND_FRAME || !b->refined)
        return metric_first_pair(b->first, i, j, enough, worker);
    pair_ij pair = solved_as(b->s, i, j);
    return level == BOUND_DUAL ? bound_refined_pair(b->s->dual, pair.i, pair.j, enough, worker)
                               : bound_refined_last(b->s->dual, pair.i, pair.j, enough, worker);
}

static void bounds_cut(void *state, int worker, int side, pair_cut *cut)
{
    const bounds_state *b = state;
    const exact_solver *solver = b->s->solver[worker];
    pair_ij last = b->s->last[worker];
    bool row = (last.i < last.j) == (side == 0);
    bound_cut_make(&b->cuts, measures_item(b->s->m, row ? last.i : last.j),
                   row ? exact_f(solver) : exact_g(solver), &cut->constant, cut->potential);
    cut->unit = b->cuts.unit2;
}

/* Cuts cannot grow, because a cut has one potential per row of the support table. */
static ddsc_status bounds_grow(void *state, int64_t first, bool *done)
{
    bounds_state *b = state;
    *done = b->cuts.v == 0 || b->cuts.v == b->s->m->v;
    return *done ? metric_first_grow(b->first, first, done) : DDSC_OK;
}

static const pair_bounds transport_bounds = {.open = bounds_open,
                                             .close = bounds_close,
                                             .grow = bounds_grow,
                                             .pair = bounds_pair,
                                             .cut = bounds_cut};

#define TRANSPORT(named)                                                                       \
    {                                                                                          \
        .name = named, .tile_side = W2_SIDE, .open = transport_open, .close = transport_close, \
        .grow = transport_grow, .tile = transport_tile, .shape = transport_shape,              \
        .bounds = &transport_bounds                                                            \
    }
const pair_backend metric_w2 = TRANSPORT("w2"), metric_w1 = TRANSPORT("w1");
