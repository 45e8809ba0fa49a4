/* The tau-NN graph without most of the solves, edge for edge the one of the full matrix.
 *
 * Every item has a list of candidates in the order of a lower bound. In rounds, each item chooses its
 * next few; the pairs of a round are solved in parallel, each for both its ends, and each solve may
 * raise the bounds of what is left on both lists by a linear minorant (a cut). A candidate whose
 * bound lies beyond the tau-th distance found so far can never enter: distances found only fall,
 * bounds only rise.
 *
 * With local scales (graph/hubs.c) everything an item compares is a key: D^2, or a bound of it, over the scale of
 * the other. For fixed items that is monotone in D^2, so a bound stays a bound.
 *
 * An item chooses on the state at the start of the round; then pairs that both ends chose are put
 * down once. So not only the graph but also the count of solves is the same for any number of
 * threads, and no end needs to know what another chose before it. */
#include "search/pruned.h"

#include <string.h>

#include "search/tuning.h"

/* ---- choosing ---- */

/* What the pair's bounds are raised up to: without a limit there is nothing to exceed. */
static double enough_of(const pruned *s, int64_t i, int64_t j)
{
    const local_scales *by = s->p->by;
    return BASE_MAX(local_limit(by, j, s->limit[i]), local_limit(by, i, s->limit[j]));
}

/* For a dual bound; symmetric in the ends of a pair. */
static bool waits(const pruned *s, int64_t i, const candidate *c)
{
    if (!s->p->offer.level[BOUND_DUAL] || c->reached >= HAS_DUAL)
        return false;
    return c->reached < HAS_LOOK || isfinite(enough_of(s, i, c->index));
}

/* Solves that would fill the heap of item i if no one else proposed them. */
static int64_t n_missing(const pruned *s, int64_t i)
{
    return isfinite(s->limit[i]) ? 0 : s->tau - s->near.count[i];
}

/* The first few that wait; as long as there is no limit, enough of them to choose from. */
static void choose_for_bounds(pruned *s, int64_t i)
{
    candidate_list *l = &s->list[i];
    int64_t left = DUAL_BATCH;
    if (!isfinite(s->limit[i])) {
        left = 2 * n_missing(s, i);
        for (int64_t k = 0; k < l->n; k++)
            left -= !waits(s, i, &l->at[k]);
    }
    for (int64_t k = 0; k < l->n; k++) {
        l->at[k].chosen = left > 0 && waits(s, i, &l->at[k]);
        left -= l->at[k].chosen;
    }
}

/* The first few. Where a limit is known, nobody overtakes a candidate that waits. */
static void choose_for_solves(pruned *s, int64_t i)
{
    candidate_list *l = &s->list[i];
    bool limited = isfinite(s->limit[i]);
    int64_t left = limited ? SOLVE_BATCH : (n_missing(s, i) + 1) / 2;
    for (int64_t k = 0; k < l->n; k++) {
        bool waiting = waits(s, i, &l->at[k]);
        if (waiting && limited)
            left = 0;
        l->at[k].chosen = left > 0 && !waiting;
        left -= l->at[k].chosen;
    }
}

static ddsc_status choose_pairs(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        (s->solving ? choose_for_solves : choose_for_bounds)(s, i);
    return DDSC_OK;
}

/* Marks at both ends and one record of each pair: of two ends that chose it the lower item makes
 * them, so every mark has one writer. */
static ddsc_status mark_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    block_pairs *b = &s->block[begin / block_rows(s->n)];
    (void)worker;
    b->n = 0;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < s->list[i].n; k++) {
            candidate *c = &s->list[i].at[k];
            int32_t j = c->index;
            candidate *back = c->chosen ? pruned_list_find(s, j, i) : NULL;
            if (!c->chosen || (back && back->chosen && j < i))
                continue;
            reached to = s->solving ? SETTLED : isfinite(enough_of(s, i, j)) ? HAS_DUAL : HAS_LOOK;
            c->reached = (uint8_t)to;
            if (back)
                back->reached = (uint8_t)to;
            if (s->solving) {
                pruned_seen_settle(s, i, j);
                pruned_seen_settle(s, j, i);
            }
            CHECK(MEM_RESERVE(s->ctx, b->at, &b->capacity, b->n + 1));
            b->at[b->n++] = (pair_ij){(int32_t)BASE_MIN(i, j), (int32_t)BASE_MAX(i, j)};
        }
    return DDSC_OK;
}

static ddsc_status propose_pairs(pruned *s, bool solving)
{
    s->solving = solving;
    s->n_pairs = 0;
    CHECK(parallel_for(s->ctx, s->n, block_rows(s->n), choose_pairs, s));
    CHECK(parallel_for(s->ctx, s->n, block_rows(s->n), mark_range, s));
    for (int64_t b = 0; b < block_count(s->n); b++) {
        const block_pairs *from = &s->block[b];
        CHECK(MEM_RESERVE(s->ctx, s->pair, &s->pair_capacity, s->n_pairs + from->n));
        if (from->n > 0)
            memcpy(s->pair + s->n_pairs, from->at, (size_t)from->n * sizeof *s->pair);
        s->n_pairs += from->n;
    }
    return DDSC_OK;
}

/* ---- dual bounds ---- */

static void raise_bound(pruned *s, int64_t item, int64_t other, double bound)
{
    candidate *c = pruned_list_find(s, item, other);
    if (!c)
        return;
    spin_lock(&s->near.lock[item]);
    c->bound = BASE_MAX(c->bound, local_key(s->p->by, other, bound));
    spin_unlock(&s->near.lock[item]);
}

static ddsc_status bound_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    for (int64_t k = begin; k < end; k++) {
        int64_t i = s->pair[k].i, j = s->pair[k].j;
        double bound = pairs_bound(s->p, BOUND_DUAL, i, j, enough_of(s, i, j), worker);
        raise_bound(s, i, j, bound);
        raise_bound(s, j, i, bound);
    }
    return DDSC_OK;
}

/* ---- solves ---- */

/* Raise the bounds on the list of `item` by a minorant; maxima commute, so order does not matter. */
static void apply_cut(pruned *s, int64_t item, const pair_cut *cut, int worker)
{
    candidate_list *l = &s->list[item];
    spin_lock(&s->near.lock[item]);
    for (int64_t k = 0; k < l->n; k++) {
        int64_t other = l->at[k].index;
        double bound = pairs_cut_bound(s->p, cut, other);
        l->at[k].bound = fmax(l->at[k].bound, local_key(s->p->by, other, bound));
    }
    spin_unlock(&s->near.lock[item]);
    pairs_count_bounds(s->p, BOUND_CUT, l->n, worker);
}

/* Is a bound that costs a small part of the solve beyond both limits? */
static bool abandons(pruned *s, pair_ij pair, int worker)
{
    double enough = enough_of(s, pair.i, pair.j);
    return s->p->offer.level[BOUND_TIGHT] && isfinite(enough) &&
           beyond(pairs_bound(s->p, BOUND_TIGHT, pair.i, pair.j, enough, worker), enough);
}

static ddsc_status solve_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    ddsc_status status = DDSC_OK;
    pair_cut cut;
    for (int64_t k = begin; k < end; k++) {
        pair_ij pair = s->pair[k];
        if (abandons(s, pair, worker))
            continue;
        TRY(pairs_solve(s->p, &s->near, pair, worker));
        for (int side = 0; side < 2; side++)
            if (pairs_cut(s->p, worker, side, &cut))
                apply_cut(s, side == 0 ? pair.i : pair.j, &cut, worker);
    }
done:
    return status;
}

/* The pairs proposed, as a stage of their own. */
static ddsc_status timed_pairs(pruned *s, const char *stage, int64_t grain, parallel_fn fn)
{
    const char *before = stage_enter(s->ctx, stage);
    ddsc_status status = parallel_for(s->ctx, s->n_pairs, grain, fn, s);
    stage_leave(s->ctx, before);
    return status;
}

ddsc_status pruned_rounds(pruned *s, bool reports)
{
    ddsc_status status = DDSC_OK;
    for (int64_t left = s->n_left, n_bounds = 0;; left = s->n_left) {
        TRY(pruned_lists_clean(s));
        if (reports)
            progress_add(s->ctx, left - s->n_left);
        if (s->p->offer.level[BOUND_DUAL]) {
            TRY(propose_pairs(s, false));
            n_bounds = s->n_pairs;
            TRY(timed_pairs(s, "bounds", 8, bound_range));
            if (n_bounds > 0)
                TRY(pruned_lists_clean(s));
        }
        TRY(propose_pairs(s, true));
        TRY(timed_pairs(s, "solves", 1, solve_range));
        if (s->n_pairs == 0 && n_bounds == 0)
            break;
    }
done:
    return status;
}

/* ---- the search ---- */

static ddsc_status state_open(pruned *s)
{
    CHECK(nearest_create(s->ctx, &s->near, 0, s->n, s->tau));
    s->near.by = s->p->by;
    CHECK(MEM_NEW(s->ctx, s->limit, s->n));
    CHECK(MEM_ZERO(s->ctx, s->block, block_count(s->n)));
    return MEM_ZERO(s->ctx, s->found, s->p->n_workers);
}

static void state_close(pruned *s)
{
    for (int w = 0; s->found && w < s->p->n_workers; w++)
        mem_free(s->ctx, s->found[w].at);
    for (int64_t b = 0; s->block && b < block_count(s->n); b++)
        mem_free(s->ctx, s->block[b].at);
    MEM_FREE(s->ctx, s->found, s->block, s->storage, s->list, s->pair, s->limit, s->reach,
             s->within, s->seen);
    nearest_free(s->ctx, &s->near);
}

ddsc_status search_pruned(pairs *p, ddsc_graph **out, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    pruned s = {.ctx = p->ctx, .p = p, .n = p->n, .tau = tau};
    TRY(state_open(&s));
    TRY(p->device->open(p->ctx, &s.device, &p->offer.first));
    TRY(pruned_lists_make(&s));
    pruned_take_known(&s);
    progress_begin(p->ctx, "neighbours", s.n_left);
    TRY(pruned_rounds(&s, true));
    progress_end(p->ctx);
    TRY(pruned_walk(&s));
    TRY(nearest_finish(p->ctx, &s.near, out));
done:
    p->device->close(s.device);
    state_close(&s);
    return status;
}
