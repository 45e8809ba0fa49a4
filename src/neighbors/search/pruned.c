/* Builds the exact tau-NN graph while solving only a small fraction of the pairs. The graph is
 * equal, edge for edge, to the graph of the full matrix.
 *
 * Each item has a list of candidates, ordered by a lower bound on D^2. In each round, every item
 * chooses its next few candidates. The pairs of a round are solved in parallel, and each value is
 * used for both items. Solving the pair (i, j) may also yield cuts, which are linear minorants of
 * the distances to i and to j. Cuts raise the bounds of the remaining candidates on the lists of
 * both items. A candidate whose bound exceeds the tau-th distance found so far is excluded
 * permanently, because these distances never increase and bounds never decrease.
 *
 * With local scales (numeric/graph/hubs.c), candidates are compared by key. A key is D^2, or a
 * bound on D^2, divided by the scale of the candidate. For a fixed pair, the key is monotone in
 * D^2, so the key of a bound on D^2 is a bound on the key.
 *
 * Items choose their candidates using the state at the start of the round. A pair chosen by both
 * items is recorded once. The graph and the number of solves are therefore the same for any number
 * of threads. The cost is one pass of first bounds over all pairs, O(n tau) frame and dual bounds,
 * and the solves, whose number depends on how tight the bounds are. */
#include "neighbors/search/pruned.h"

#include <string.h>

#include "neighbors/search/tuning.h"

/* ---- choosing pairs ---- */

/* Returns the value of D^2 that a bound on the pair must exceed to exclude the pair. It is infinite
 * while either item has no limit. */
static double enough_of(const pruned *s, int64_t i, int64_t j)
{
    const local_scales *by = s->p->by;
    return BASE_MAX(local_limit(by, j, s->limit[i]), local_limit(by, i, s->limit[j]));
}

/* Returns true if the candidate still needs its dual bound. The result is the same for (i, j) and
 * (j, i). */
static bool needs_dual_bound(const pruned *s, int64_t i, const candidate *c)
{
    if (!s->p->offer.level[BOUND_DUAL] || c->reached >= HAS_DUAL)
        return false;
    return c->reached < HAS_ROUGH || isfinite(enough_of(s, i, c->index));
}

/* Returns the number of solves that are still needed to fill the heap of item i. */
static int64_t n_missing(const pruned *s, int64_t i)
{
    return isfinite(s->limit[i]) ? 0 : s->tau - s->near.count[i];
}

/* Chooses the first candidates that need a dual bound. While the item has no limit, chooses enough
 * candidates to select its first solves from them. */
static void choose_for_bounds(pruned *s, int64_t i)
{
    candidate_list *l = &s->list[i];
    int64_t left = DUAL_BATCH;
    if (!isfinite(s->limit[i])) {
        left = 2 * n_missing(s, i);
        for (int64_t k = 0; k < l->n; k++)
            left -= !needs_dual_bound(s, i, &l->at[k]);
    }
    for (int64_t k = 0; k < l->n; k++) {
        l->at[k].chosen = left > 0 && needs_dual_bound(s, i, &l->at[k]);
        l->at[k].also = false;
        left -= l->at[k].chosen;
    }
}

/* Chooses the first candidates for solves. If the item has a limit, stops at the first candidate
 * that still needs its dual bound. */
static void choose_for_solves(pruned *s, int64_t i)
{
    candidate_list *l = &s->list[i];
    bool limited = isfinite(s->limit[i]);
    int64_t left = limited ? s->batch : (n_missing(s, i) + 1) / 2;
    for (int64_t k = 0; k < l->n; k++) {
        bool lacks_bound = needs_dual_bound(s, i, &l->at[k]);
        if (lacks_bound && limited)
            left = 0;
        l->at[k].chosen = left > 0 && !lacks_bound;
        l->at[k].also = false;
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

/* Returns the level that a chosen pair will reach in this round. The result is the same for (i, j)
 * and (j, i). */
static reached goal_of(const pruned *s, int64_t i, int64_t j)
{
    bool last = s->p->offer.short_lists || isfinite(enough_of(s, i, j));
    return s->solving ? SETTLED : last ? HAS_DUAL : HAS_ROUGH;
}

static void mark_pair(pruned *s, candidate *c, int64_t item, int64_t other)
{
    if (c)
        c->reached = (uint8_t)goal_of(s, item, other);
    if (s->solving)
        pruned_seen_settle(s, item, other);
}

/* Notifies the ranks that own the other items of the chosen pairs. */
static ddsc_status send_choices(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < s->list[i].n; k++) {
            const candidate *c = &s->list[i].at[k];
            if (c->chosen && !pruned_owns(s, c->index))
                CHECK(pruned_send(s, c->index, i, 0, worker));
        }
    return DDSC_OK;
}

static void mark_chosen(pruned *s, const pair_message *message)
{
    candidate *c = pruned_list_find(s, message->item, message->other);
    if (c)
        c->also = true;
    mark_pair(s, c, message->item, message->other);
}

/* Marks each chosen pair on the lists of both items, and records the pair once. If both items chose
 * the pair, the lower item records it. Every mark has a single writer. */
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
            bool owns = pruned_owns(s, j);
            candidate *back = c->chosen && owns ? pruned_list_find(s, j, i) : NULL;
            bool twice = back ? back->chosen : c->also;
            if (!c->chosen || (twice && j < i))
                continue;
            mark_pair(s, c, i, j);
            if (owns)
                mark_pair(s, back, j, i);
            CHECK(MEM_RESERVE(s->ctx, b->at, &b->capacity, b->n + 1));
            b->at[b->n++] = (pair_ij){(int32_t)BASE_MIN(i, j), (int32_t)BASE_MAX(i, j)};
        }
    return DDSC_OK;
}

static ddsc_status propose_pairs(pruned *s, bool solving)
{
    int64_t rows = block_rows(s->n);
    s->solving = solving;
    s->n_pairs = 0;
    CHECK(team_for(s->ctx, s->n, rows, choose_pairs, s));
    if (!s->alone) {
        CHECK(team_for(s->ctx, s->n, rows, send_choices, s));
        CHECK(pruned_deliver(s, mark_chosen));
    }
    CHECK(team_for(s->ctx, s->n, rows, mark_range, s));
    for (int64_t b = s->own.begin / rows; b * rows < s->own.end; b++) {
        const block_pairs *from = &s->block[b];
        CHECK(MEM_RESERVE(s->ctx, s->pair, &s->pair_capacity, s->n_pairs + from->n));
        if (from->n > 0)
            memcpy(s->pair + s->n_pairs, from->at, (size_t)from->n * sizeof *s->pair);
        s->n_pairs += from->n;
    }
    return pruned_divide(s);
}

/* ---- dual bounds ---- */

static void raise_bound(pruned *s, const pair_message *message)
{
    candidate *c = pruned_list_find(s, message->item, message->other);
    if (!c)
        return;
    spin_lock(&s->near.lock[message->item]);
    c->bound = BASE_MAX(c->bound, local_key(s->p->by, message->other, message->value));
    spin_unlock(&s->near.lock[message->item]);
}

static void offer_value(pruned *s, const pair_message *message)
{
    nearest_offer_one(&s->near, message->item, message->other, message->value);
}

/* Passes a value to both items of a pair. Rows of this rank are updated directly; other ranks
 * receive a message. */
static ddsc_status send_to_ends(pruned *s, pair_ij pair, double value, message_fn fn, int worker)
{
    for (int side = 0; side < 2; side++) {
        pair_message message = {value, side == 0 ? pair.i : pair.j, side == 0 ? pair.j : pair.i};
        if (pruned_owns(s, message.item))
            fn(s, &message);
        else
            CHECK(pruned_send(s, message.item, message.other, value, worker));
    }
    return DDSC_OK;
}

ddsc_status pruned_bounds_make(pruned *s, bound_level level)
{
    const prefilter_device *d = s->p->device;
    s->made = false;
    if (!d->pairs)
        return DDSC_OK;
    CHECK(MEM_RESERVE(s->ctx, s->bound, &s->bound_capacity, s->n_pairs));
    CHECK(d->pairs(s->device, level, s->n_pairs, s->pair, s->enough, s->bound, &s->made));
    if (s->made)
        pairs_count_bounds(s->p, level, s->n_pairs, 0);
    return DDSC_OK;
}

double pruned_bound_of(pruned *s, bound_level level, int64_t k, int worker)
{
    return s->made ? s->bound[k]
                   : pairs_bound(s->p, level, s->pair[k].i, s->pair[k].j, s->enough[k], worker);
}

static ddsc_status enough_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        s->enough[k] = enough_of(s, s->pair[k].i, s->pair[k].j);
    return DDSC_OK;
}

static ddsc_status round_bounds(pruned *s, bound_level level)
{
    CHECK(MEM_RESERVE(s->ctx, s->enough, &s->enough_capacity, s->n_pairs));
    CHECK(parallel_for(s->ctx, s->n_pairs, 4096, enough_range, s));
    return s->p->offer.level[level] ? pruned_bounds_make(s, level) : DDSC_OK;
}

static ddsc_status bound_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    for (int64_t k = begin; k < end; k++) {
        double bound = pruned_bound_of(s, BOUND_DUAL, k, worker);
        CHECK(send_to_ends(s, s->pair[k], bound, raise_bound, worker));
    }
    return DDSC_OK;
}

/* ---- solves ---- */

/* Returns true if the bounds of a pair on the lists of its items do not exceed its value by more
 * than the slack of beyond(). Values that are negative because of rounding errors count as 0. */
static bool bounds_hold(pruned *s, pair_ij pair, double d2)
{
    bool holds = true;
    for (int side = 0; side < 2; side++) {
        int64_t item = side == 0 ? pair.i : pair.j, other = side == 0 ? pair.j : pair.i;
        if (!pruned_owns(s, item))
            continue;
        spin_lock(&s->near.lock[item]);
        const candidate *c = pruned_list_find(s, item, other);
        holds &= !c || !beyond(c->bound, local_key(s->p->by, other, BASE_MAX(d2, 0)));
        spin_unlock(&s->near.lock[item]);
    }
    return holds;
}

/* Raises the bounds on the list of an item to the bounds given by a cut. The result does not depend
 * on the order of the cuts. */
void pruned_apply_cut(pruned *s, int64_t item, const pair_cut *cut, int worker)
{
    candidate_list *l = &s->list[item];
    spin_lock(&s->near.lock[item]);
    for (int64_t k = 0; k < l->n; k++) {
        int64_t other = l->at[k].index;
        double bound = pairs_cut_bound(s->p, cut, other);
        DDSC_ASSERT(other >= 0 && other < s->n && other != item);
        l->at[k].bound = fmax(l->at[k].bound, local_key(s->p->by, other, bound));
    }
    spin_unlock(&s->near.lock[item]);
    pairs_count_bounds(s->p, BOUND_CUT, l->n, worker);
}

/* Returns true if the pair need not be solved, because its tight bound exceeds the limits of both
 * items. Computing this bound takes a small fraction of the time of a solve. */
static bool abandons(pruned *s, int64_t k, int worker)
{
    return s->p->offer.level[BOUND_TIGHT] && isfinite(s->enough[k]) &&
           beyond(pruned_bound_of(s, BOUND_TIGHT, k, worker), s->enough[k]);
}

static ddsc_status solve_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    ddsc_status status = DDSC_OK;
    pair_cut cut;
    double d2;
    for (int64_t k = begin; k < end; k++) {
        pair_ij pair = s->pair[k];
        if (abandons(s, k, worker))
            continue;
        TRY(pairs_value(s->p, pair, &d2, worker));
        DDSC_ASSERT(bounds_hold(s, pair, d2));
        TRY(send_to_ends(s, pair, d2, offer_value, worker));
        for (int side = 0; side < 2; side++) {
            int64_t item = side == 0 ? pair.i : pair.j;
            if (!pairs_cut(s->p, worker, side, &cut))
                continue;
            if (pruned_owns(s, item))
                pruned_apply_cut(s, item, &cut, worker);
            else
                TRY(pruned_send_cut(s, item, &cut, worker));
        }
    }
done:
    return status;
}

/* Processes the pairs assigned to this rank, and records the time as a separate stage. If a device
 * is available, it first computes the required bounds. Finally, receives messages from other
 * ranks. */
static ddsc_status timed_pairs(pruned *s, bound_level level, int64_t grain, parallel_fn fn,
                               message_fn on_message)
{
    const char *before = stage_enter(s->ctx, "bounds");
    ddsc_status status = round_bounds(s, level);
    stage_enter(s->ctx, level == BOUND_DUAL ? "bounds" : "solves");
    if (status >= 0)
        status = parallel_for(s->ctx, s->n_pairs, grain, fn, s);
    if (status >= 0 && !s->alone)
        status = pruned_deliver(s, on_message);
    stage_leave(s->ctx, before);
    return status;
}

ddsc_status pruned_rounds(pruned *s, bool reports)
{
    ddsc_status status = DDSC_OK;
    s->batch = SOLVE_BATCH;
    for (int64_t left = s->n_left, n_bounds = 0;; left = s->n_left) {
        TRY(pruned_lists_clean(s, true));
        if (s->p->offer.level[BOUND_DUAL])
            TRY(propose_pairs(s, false));
        n_bounds = s->p->offer.level[BOUND_DUAL] ? s->n_round : 0;
        if (n_bounds > 0) {
            TRY(timed_pairs(s, BOUND_DUAL, 8, bound_range, raise_bound));
            TRY(pruned_lists_clean(s, false));
        }
        TRY(propose_pairs(s, true));
        if (reports)
            progress_add(s->ctx, left - s->n_left);
        if (s->n_round > 0) {
            TRY(timed_pairs(s, BOUND_TIGHT, 1, solve_range, offer_value));
            TRY(pruned_deliver_cuts(s));
            /* If few items remain, they solve most of their candidates anyway, and small batches
             * would lead to many nearly empty rounds. */
            if (s->n_round <= s->n / FEW_SHARE)
                s->batch = BASE_MIN(2 * s->batch, BASE_MAX(s->width, s->tau));
        } else if (n_bounds == 0) {
            break;
        }
    }
done:
    return status;
}

/* ---- the search ---- */

static ddsc_status state_open(pruned *s)
{
    CHECK(nearest_create(s->ctx, &s->near, 0, s->n, s->tau));
    s->near.by = s->p->by;
    CHECK(pruned_team_open(s));
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
    MEM_FREE(s->ctx, s->found, s->block, s->storage, s->list, s->pair, s->enough, s->bound,
             s->limit, s->reach, s->within, s->seen);
    nearest_free(s->ctx, &s->near);
    pruned_team_close(s);
}

ddsc_status search_pruned(pairs *p, ddsc_graph **out, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    pruned s = {.ctx = p->ctx, .p = p, .n = p->n, .tau = tau};
    TRY(state_open(&s));
    TRY(p->device->open(p->ctx, &s.device, &p->offer.first, p->offer.grid));
    pruned_offer_known(&s);
    TRY(pruned_lists_make(&s));
    pruned_settle_known(&s);
    progress_begin(p->ctx, "neighbors", s.n_left);
    TRY(pruned_rounds(&s, true));
    progress_end(p->ctx);
    TRY(pruned_walk(&s));
    TRY(nearest_spread(p->ctx, &s.near));
    TRY(nearest_finish(p->ctx, &s.near, out));
done:
    p->device->close(s.device);
    state_close(&s);
    return status;
}
