/* Implements the walk of the pruned search, which visits the pairs that are on no list.
 *
 * The walk starts when the first lists are exhausted, so every item has a limit. If known values
 * replaced the lists, the walk visits all pairs. If the list of an item ended before its limit,
 * some neighbors of the item may not have been on the list. The walk evaluates the first bounds of
 * all pairs again, tile by tile. It collects new pairs that are within reach of such an item,
 * raises their bounds (frame, then dual), and drops the pairs that are then out of reach.
 *
 * The few remaining pairs are added to lists and solved before the walk continues. This limits the
 * memory to little more than FOUND_PER_ITEM n pairs, and lowers the limits during the walk. The
 * length of a step depends only on counts over the whole team, so all ranks make the same steps.
 * The cost is a second pass over the first bounds, plus the dual bounds of the pairs within
 * reach. */
#include "neighbors/search/pruned.h"
#include "neighbors/search/tuning.h"

/* Clears at_i if the pair is out of reach of item i, and at_j if it is out of reach of item j.
 * Returns true if at_i or at_j remains set. */
static bool keep_ends(const pruned *s, found_pair *e)
{
    const local_scales *by = s->p->by;
    e->at_i = e->at_i && local_key(by, e->j, e->bound) <= s->reach[e->i];
    e->at_j = e->at_j && local_key(by, e->i, e->bound) <= s->reach[e->j];
    return e->at_i || e->at_j;
}

/* Returns the value of D^2 that a bound on the pair must exceed to exclude the pair from the lists
 * where it belongs. */
static double enough_of_found(const pruned *s, const found_pair *e)
{
    const local_scales *by = s->p->by;
    double at_i = e->at_i ? local_limit(by, e->j, s->limit[e->i]) : 0;
    double at_j = e->at_j ? local_limit(by, e->i, s->limit[e->j]) : 0;
    return BASE_MAX(at_i, at_j);
}

/* Computes the frame bound of a single pair. Returns true if the pair is still within reach. */
static bool still_in_reach(pruned *s, found_pair *e, int worker)
{
    if (!s->p->offer.level[BOUND_FRAME] || e->reached >= HAS_FRAME)
        return true;
    double enough = enough_of_found(s, e);
    e->bound = fmax(e->bound, pairs_bound(s->p, BOUND_FRAME, e->i, e->j, enough, worker));
    e->reached = HAS_FRAME;
    return keep_ends(s, e);
}

/* Records a pair whose first bound is within reach of one of its items, unless the pair is settled
 * or its value is known. */
static ddsc_status meet_pair(void *arg, int64_t i, int64_t j, double bound, bool framed, int worker)
{
    pruned *s = arg;
    seen_state at_i = pruned_seen(s, i, j), at_j = pruned_seen(s, j, i);
    found_pair e = {.bound = BASE_MAX(0, bound),
                    .i = (int32_t)i,
                    .j = (int32_t)j,
                    .reached = framed ? HAS_FRAME : 0,
                    .at_i = at_i == NOT_SEEN,
                    .at_j = at_j == NOT_SEEN};
    if (ctx_canceled(s->ctx))
        return DDSC_ERROR_CANCELED;
    if (!keep_ends(s, &e) || at_i == SEEN_SETTLED || at_j == SEEN_SETTLED ||
        pruned_is_known(s, i, j) || !still_in_reach(s, &e, worker))
        return DDSC_OK;
    found_list *found = &s->found[worker];
    CHECK(MEM_RESERVE(s->ctx, found->at, &found->capacity, found->n + 1));
    found->at[found->n++] = e;
    return DDSC_OK;
}

/* ---- dual bounds of the found pairs ---- */

static ddsc_status dual_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    for (int64_t k = begin; k < end; k++)
        s->bound[k] = pruned_bound_of(s, BOUND_DUAL, k, worker);
    return DDSC_OK;
}

/* Copies the pairs of a worker that still need a dual bound to their positions in s->pair. */
static ddsc_status gather_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    (void)worker;
    for (int64_t w = begin; w < end; w++) {
        int64_t at = s->found[w].first;
        for (int64_t k = 0; k < s->found[w].n; k++) {
            const found_pair *e = &s->found[w].at[k];
            if (e->reached == HAS_DUAL)
                continue;
            s->pair[at] = (pair_ij){e->i, e->j};
            s->enough[at++] = enough_of_found(s, e);
        }
    }
    return DDSC_OK;
}

static ddsc_status gather_found(pruned *s)
{
    s->n_pairs = 0;
    for (int w = 0; w < s->p->n_workers; w++) {
        s->found[w].first = s->n_pairs;
        for (int64_t k = 0; k < s->found[w].n; k++)
            s->n_pairs += s->found[w].at[k].reached != HAS_DUAL;
    }
    CHECK(MEM_RESERVE(s->ctx, s->pair, &s->pair_capacity, s->n_pairs));
    CHECK(MEM_RESERVE(s->ctx, s->enough, &s->enough_capacity, s->n_pairs));
    CHECK(MEM_RESERVE(s->ctx, s->bound, &s->bound_capacity, s->n_pairs));
    return parallel_for(s->ctx, s->p->n_workers, 1, gather_range, s);
}

/* Drops the pairs that are now out of reach. */
static ddsc_status drop_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    (void)worker;
    for (int64_t w = begin; w < end; w++) {
        found_list *l = &s->found[w];
        int64_t kept = 0, at = l->first;
        for (int64_t k = 0; k < l->n; k++) {
            found_pair e = l->at[k];
            if (e.reached != HAS_DUAL)
                e.bound = fmax(e.bound, s->bound[at++]);
            e.reached = HAS_DUAL;
            if (keep_ends(s, &e))
                l->at[kept++] = e;
        }
        l->n = kept;
    }
    return DDSC_OK;
}

/* Computes all dual bounds at once, so that a device can be used. */
static ddsc_status dual_of_found(pruned *s)
{
    if (!s->p->offer.level[BOUND_DUAL])
        return DDSC_OK;
    CHECK(gather_found(s));
    CHECK(pruned_bounds_make(s, BOUND_DUAL));
    CHECK(parallel_for(s->ctx, s->n_pairs, 8, dual_range, s));
    return parallel_for(s->ctx, s->p->n_workers, 1, drop_range, s);
}

/* A step of the walk: its length in tiles, and the counts of its results. */
typedef struct walk_stride {
    int64_t tiles, least;
    int64_t n_met;   /* number of pairs for which a dual bound was computed */
    int64_t n_found; /* number of pairs found within reach since the lists were last processed */
} walk_stride;

static ddsc_status count_found(const pruned *s, walk_stride *step)
{
    int64_t count[] = {s->p->offer.level[BOUND_DUAL] ? s->n_pairs : 0, 0};
    for (int w = 0; w < s->p->n_workers; w++)
        count[1] += s->found[w].n;
    CHECK(team_sum_i64(s->ctx, count, 2));
    step->n_met = count[0];
    step->n_found = count[1];
    return DDSC_OK;
}

/* Sets the length of the next step from the counts of the previous step. With longer steps, ranks
 * wait for each other less often, but more memory is needed. The length is limited because the
 * first items of the input may have few pairs. */
static void set_step(const pruned *s, walk_stride *step, int64_t found_before)
{
    double n = (double)s->n, left = FOUND_PER_ITEM * n - (double)step->n_found;
    double met = (double)step->n_met / (MET_PER_ITEM * n);
    double found = (double)(step->n_found - found_before) / left;
    double tiles = (double)step->tiles / fmax(0.5, fmax(met, found));
    tiles = fmin(tiles, WALK_STRIDE * (double)step->least);
    step->tiles = BASE_MAX(step->least, (int64_t)tiles);
}

/* Sets unfinished[i] to true if the list of item i ended before its limit. If a list contains all
 * other items, its complete_to is infinite. */
static ddsc_status set_unfinished(const pruned *s, bool *unfinished, bool *any)
{
    for (int64_t i = s->own.begin; i < s->own.end; i++) {
        double to = s->list[i].complete_to;
        unfinished[i] = isfinite(to) && !beyond(to, s->limit[i]);
    }
    CHECK(team_gather(s->ctx, unfinished, s->n, block_rows(s->n), sizeof *unfinished));
    *any = false;
    for (int64_t i = 0; i < s->n; i++)
        *any = *any || unfinished[i];
    return DDSC_OK;
}

ddsc_status pruned_walk(pruned *s)
{
    ddsc_status status = DDSC_OK;
    bool *unfinished = NULL, any;
    int64_t n_tiles = tile_count(s->n, s->p->offer.first.side), all = s->n * (s->n - 1) / 2;
    walk_stride step = {.least = BASE_MAX(WALK_TILES, n_tiles / WALK_STEPS)};
    TRY(MEM_NEW(s->ctx, unfinished, s->n));
    TRY(set_unfinished(s, unfinished, &any));
    if (!any)
        goto done;
    /* A mark changes only when its pair is solved, which happens after the walk has reached the
     * pair, so the current marks are sufficient. */
    if (s->width > 0)
        TRY(team_gather(s->ctx, s->seen, s->n, block_rows(s->n),
                        s->width * (int64_t)sizeof *s->seen));
    TRY(MEM_NEW(s->ctx, s->reach, s->n));
    TRY(MEM_NEW(s->ctx, s->within, s->n));
    progress_begin(s->ctx, "candidates", all);
    step.tiles = step.least;
    for (int64_t begin = 0, end; begin < n_tiles; begin = end) {
        int64_t found_before = step.n_found;
        end = BASE_MIN(n_tiles, begin + step.tiles);
        for (int64_t i = 0; i < s->n; i++) {
            s->reach[i] = unfinished[i] ? reach_of(s->limit[i]) : -INFINITY;
            s->within[i] = local_limit_any(s->p->by, s->reach[i]);
        }
        TRY(s->p->device->within(s->device, begin, end, s->within, meet_pair, s));
        TRY(dual_of_found(s));
        TRY(count_found(s, &step));
        if (step.n_found < FOUND_PER_ITEM * s->n && end < n_tiles) {
            set_step(s, &step, found_before);
            continue;
        }
        TRY(pruned_lists_refill(s));
        TRY(pruned_rounds(s, false));
        step.n_found = 0;
    }
    progress_end(s->ctx);
    pairs_count_first(s->p, all);
done:
    mem_free(s->ctx, unfinished);
    return status;
}
