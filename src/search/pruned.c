/* The tau-NN graph without most of the solves, edge for edge the one of the full matrix.
 *
 * Every item has a list of candidates in the order of a lower bound. In rounds, each item proposes
 * its next few; the pairs of a round are solved in parallel, each for both its ends, and each solve
 * may raise the bounds of what is left on both lists by a linear minorant (a cut). A candidate
 * whose bound lies beyond the tau-th distance found so far can never enter: distances found only
 * fall, bounds only rise. What a round does depends on the state at its start alone, so not only
 * the graph but also the count of solves is the same for any number of threads. */
#include "search/pruned.h"

enum { REFINE_BATCH = 16, SOLVE_BATCH = 2 };

/* ---- rounds ---- */

static ddsc_status push_pair(search *s, int64_t i, int64_t j)
{
    if (s->n_pairs == s->pair_room) {
        int64_t room = BASE_MAX(1024, 2 * s->pair_room);
        CHECK(mem_resize(s->ctx, &s->pair, room, sizeof *s->pair));
        s->pair_room = room;
    }
    s->pair[s->n_pairs++] = (pair_ij){(int32_t)BASE_MIN(i, j), (int32_t)BASE_MAX(i, j)};
    return DDSC_OK;
}

/* What the pair is refined up to: without a limit there is nothing to exceed. */
static double enough_of(const search *s, int64_t i, int64_t j)
{
    return BASE_MAX(s->limit[i], s->limit[j]);
}

static bool waits(const search *s, int64_t i, const candidate *c)
{
    if (!s->refines || c->stage >= REFINED)
        return false;
    return c->stage < LOOKED_AT || isfinite(enough_of(s, i, c->index));
}

/* Solves that would fill the heap of item i if no one else proposed them. */
static int64_t n_missing(const search *s, int64_t i)
{
    return isfinite(s->limit[i]) ? 0 : s->near.graph->tau - s->near.count[i];
}

/* How many candidates of item i to refine: as long as it has no limit, enough to choose from. */
static int64_t refine_batch(const search *s, int64_t i)
{
    if (isfinite(s->limit[i]))
        return REFINE_BATCH;
    int64_t ready = 0;
    for (int64_t p = 0; p < s->list[i].n; p++)
        ready += !waits(s, i, &s->list[i].at[p]);
    return BASE_MAX(0, 2 * n_missing(s, i) - ready);
}

/* Both ends are marked, so that a pair is worked on once. */
static void mark(search *s, int64_t i, candidate *c, stage reached)
{
    candidate *back = list_find(s, c->index, i);
    c->stage = (uint8_t)reached;
    if (back)
        back->stage = (uint8_t)reached;
}

/* The first few of each list that wait for a refined bound. */
static ddsc_status propose_refinements(search *s)
{
    s->n_pairs = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t left = refine_batch(s, i);
        for (int64_t p = 0; p < s->list[i].n && left > 0; p++) {
            candidate *c = &s->list[i].at[p];
            if (!waits(s, i, c))
                continue;
            mark(s, i, c, isfinite(enough_of(s, i, c->index)) ? REFINED : LOOKED_AT);
            CHECK(push_pair(s, i, c->index));
            left--;
        }
    }
    return DDSC_OK;
}

/* The first few of each list. Where a limit is known, nobody overtakes a candidate that waits for
 * its refined bound. */
static ddsc_status propose_solves(search *s)
{
    ddsc_status status = DDSC_OK;
    s->n_pairs = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t left = isfinite(s->limit[i]) ? SOLVE_BATCH : (n_missing(s, i) + 1) / 2;
        for (int64_t p = 0; p < s->list[i].n && left > 0; p++) {
            candidate *c = &s->list[i].at[p];
            bool fresh = false;
            if (waits(s, i, c) && isfinite(s->limit[i]))
                break;
            if (waits(s, i, c))
                continue;
            left--;
            if (c->stage == SETTLED) /* proposed by the other end */
                continue;
            mark(s, i, c, SETTLED);
            TRY(pair_set_add(s->ctx, &s->settled, i, c->index, &fresh));
            TRY(push_pair(s, i, c->index));
        }
    }
done:
    return status;
}

/* ---- refined bounds ---- */

static void raise_bound(search *s, int64_t item, int64_t other, double bound)
{
    candidate *c = list_find(s, item, other);
    if (!c)
        return;
    spin_lock(&s->near.lock[item]);
    c->bound = BASE_MAX(c->bound, bound);
    spin_unlock(&s->near.lock[item]);
}

static ddsc_status refine_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    for (int64_t k = begin; k < end; k++) {
        pair_ij pair = s->pair[k];
        double bound = s->backend->pruning->refine(s->state, pair.i, pair.j,
                                                   enough_of(s, pair.i, pair.j), worker);
        raise_bound(s, pair.i, pair.j, bound);
        raise_bound(s, pair.j, pair.i, bound);
        s->room[worker].bounds.refined++;
    }
    return DDSC_OK;
}

static ddsc_status refine_lists(search *s, int64_t *n_refined)
{
    CHECK(propose_refinements(s));
    *n_refined = s->n_pairs;
    if (s->n_pairs > 0) {
        CHECK(parallel_for(s->ctx, s->n_pairs, 8, refine_range, s));
        CHECK(lists_clean(s));
    }
    return DDSC_OK;
}

/* ---- solves ---- */

/* Raise the bounds on the list of `item` by a minorant; maxima commute, so order does not matter.
 */
static void apply_cut(search *s, int64_t item, const pair_cut *cut, worker_room *room)
{
    candidates *c = &s->list[item];
    spin_lock(&s->near.lock[item]);
    for (int64_t p = 0; p < c->n; p++) {
        item_view other = measures_item(s->m, c->at[p].index);
        double bound = cut->constant;
        for (int64_t e = 0; e < other.n; e++)
            bound += other.weight[e] * (double)cut->potential[other.index[e]];
        if (cut->unit * bound > c->at[p].bound) {
            c->at[p].bound = cut->unit * bound;
            c->at[p].stage = (uint8_t)BASE_MAX(c->at[p].stage, CUT);
        }
    }
    room->bounds.cut += c->n;
    spin_unlock(&s->near.lock[item]);
}

/* Is a bound that costs a small part of the solve beyond both limits? */
static bool abandons(search *s, pair_ij pair, int worker)
{
    const pair_pruning *rule = s->backend->pruning;
    double enough = enough_of(s, pair.i, pair.j);
    if (!s->refines || !rule->last || !isfinite(enough))
        return false;
    s->room[worker].bounds.last++;
    return beyond(rule->last(s->state, pair.i, pair.j, enough, worker), enough);
}

static ddsc_status offer(search *s, pair_ij pair, double d2, int worker)
{
    if (!isfinite(d2))
        return ctx_fail(s->ctx, DDSC_ERROR_INTERNAL, "metric %s gave %g for items %d and %d",
                        s->backend->name, d2, pair.i, pair.j);
    s->room[worker].n_solved++;
    nearest_offer(&s->near, pair.i, pair.j, d2 + 0.0);
    nearest_offer(&s->near, pair.j, pair.i, d2 + 0.0);
    return DDSC_OK;
}

static ddsc_status solve_pair(search *s, pair_ij pair, int worker)
{
    ddsc_status status = DDSC_OK;
    worker_room *room = &s->room[worker];
    if (abandons(s, pair, worker)) {
        room->n_abandoned++;
        return DDSC_OK;
    }
    pair_tile t = {.i0 = pair.i, .i1 = pair.i + 1, .j0 = pair.j, .j1 = pair.j + 1};
    double d2 = NAN;
    pair_cut cut = {.potential = room->potential};
    TRY(s->backend->tile(s->state, &t, &d2, 1, worker, &room->stats));
    TRY(offer(s, pair, d2, worker));
    const pair_pruning *rule = s->backend->pruning;
    for (int side = 0; rule->cut && side < 2; side++)
        if (rule->cut(s->state, worker, side, &cut))
            apply_cut(s, side == 0 ? pair.i : pair.j, &cut, room);
done:
    return status;
}

static ddsc_status solve_list(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    ddsc_status status = DDSC_OK;
    double d2[PAIRS_TOGETHER];
    TRY(s->backend->list(s->state, s->pair + begin, end - begin, d2, worker,
                         &s->room[worker].stats));
    for (int64_t k = begin; k < end; k++)
        TRY(offer(s, s->pair[k], d2[k - begin], worker));
done:
    return status;
}

static ddsc_status solve_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t k = begin; k < end; k++)
        TRY(solve_pair(s, s->pair[k], worker));
done:
    return status;
}

static int64_t candidates_left(const search *s)
{
    int64_t left = 0;
    for (int64_t i = 0; i < s->n; i++)
        left += s->list[i].n;
    return left;
}

ddsc_status search_rounds(search *s, bool reports)
{
    ddsc_status status = DDSC_OK;
    int64_t left = candidates_left(s), n_refined = 0;
    for (;;) {
        TRY(lists_clean(s));
        int64_t still = candidates_left(s);
        if (reports)
            progress_add(s->ctx, left - still);
        left = still;
        if (s->refines)
            TRY(refine_lists(s, &n_refined));
        TRY(propose_solves(s));
        TRY(s->together > 0 ? parallel_for(s->ctx, s->n_pairs, s->together, solve_list, s)
                            : parallel_for(s->ctx, s->n_pairs, 1, solve_range, s));
        if (s->n_pairs == 0 && n_refined == 0)
            break;
    }
done:
    return status;
}

/* ---- the search ---- */

static void counts_add(stage_counts *into, const stage_counts *from)
{
    into->first += from->first;
    into->closer += from->closer;
    into->cut += from->cut;
    into->refined += from->refined;
    into->last += from->last;
}

/* Pairs on no list, and at no time in reach of a walk, fell by their first bound. */
static void stats_collect(const search *s, ddsc_pair_stats *stats)
{
    stage_counts bounds = {0}, pruned = {0};
    stats->n_solved = 0;
    for (int w = 0; w < s->n_workers; w++) {
        const worker_room *room = &s->room[w];
        pair_stats_merge(stats, &room->stats);
        counts_add(&bounds, &room->bounds);
        pruned.closer += room->n_pruned[LISTED];
        pruned.cut += room->n_pruned[CUT];
        pruned.refined += room->n_pruned[LOOKED_AT] + room->n_pruned[REFINED];
        pruned.last += room->n_abandoned;
        pruned.first -= room->n_met;
        stats->n_solved += room->n_solved;
    }
    stats->n_pairs = s->n * (s->n - 1) / 2;
    pruned.first += stats->n_pairs - s->n_listed;
    stats->n_pruned = stats->n_pairs - stats->n_solved;
    stats->n_bounds = bounds.first + bounds.closer + bounds.cut + bounds.refined + bounds.last;
    ctx_detail(s->ctx, "bounds_closer", (double)bounds.closer);
    ctx_detail(s->ctx, "bounds_cut", (double)bounds.cut);
    ctx_detail(s->ctx, "bounds_refined", (double)bounds.refined);
    ctx_detail(s->ctx, "bounds_last", (double)bounds.last);
    ctx_detail(s->ctx, "pruned_first", (double)pruned.first);
    ctx_detail(s->ctx, "pruned_closer", (double)pruned.closer);
    ctx_detail(s->ctx, "pruned_cut", (double)pruned.cut);
    ctx_detail(s->ctx, "pruned_refined", (double)pruned.refined);
    ctx_detail(s->ctx, "pruned_last", (double)pruned.last);
}

static ddsc_status first_lists(search *s)
{
    ddsc_status status = DDSC_OK;
    TRY(lists_make(s));
    if (s->backend->pruning->refine_open)
        TRY(s->backend->pruning->refine_open(s->state, &s->refines));
    progress_begin(s->ctx, "neighbours", candidates_left(s));
    TRY(search_rounds(s, true));
    progress_end(s->ctx);
done:
    return status;
}

ddsc_status pruned_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const pair_job *job, const pair_backend *backend, void *state,
                          const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    search s = {.ctx = ctx, .m = job->m, .n = job->m->n, .backend = backend, .state = state};
    s.tau = tau_used(s.n, settings);
    TRY(search_open(&s, job));
    TRY(first_lists(&s));
    TRY(search_walk(&s));
    stats_collect(&s, stats);
    TRY(nearest_finish(ctx, &s.near, out));
done:
    search_close(&s);
    return status;
}
