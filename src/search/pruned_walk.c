/* The walk: when the first lists are worked off, limits are known, and every pair that is on no
 * list and in reach of an item whose list ran out before its limit goes through the bounds once.
 * What is left is little; it is put on lists and solved before the walk goes on, which keeps memory
 * small and the limits fresh. */
#include "search/pruned.h"
#include "search/tuning.h"

/* Ends of the pair for which it is new and in reach. */
static bool keep_ends(const pruned *s, found_pair *e)
{
    const local_scales *by = s->p->by;
    e->at_i = e->at_i && local_key(by, e->j, e->bound) <= s->reach[e->i];
    e->at_j = e->at_j && local_key(by, e->i, e->bound) <= s->reach[e->j];
    return e->at_i || e->at_j;
}

/* A bound of the level is raised up to the limits of the ends that look; is the pair still in reach? */
static bool still_in_reach(pruned *s, found_pair *e, bound_level level, int worker)
{
    const local_scales *by = s->p->by;
    double at_i = e->at_i ? local_limit(by, e->j, s->limit[e->i]) : 0;
    double at_j = e->at_j ? local_limit(by, e->i, s->limit[e->j]) : 0;
    if (!s->p->offer.level[level])
        return true;
    e->bound = fmax(e->bound, pairs_bound(s->p, level, e->i, e->j, BASE_MAX(at_i, at_j), worker));
    e->reached = level == BOUND_DUAL ? HAS_DUAL : HAS_FRAME;
    return keep_ends(s, e);
}

/* A pair whose first bound is in reach of an end. */
static ddsc_status meet_pair(void *arg, int64_t i, int64_t j, double bound, int worker)
{
    pruned *s = arg;
    seen_state at_i = pruned_seen(s, i, j), at_j = pruned_seen(s, j, i);
    found_pair e = {.bound = BASE_MAX(0, bound),
                    .i = (int32_t)i,
                    .j = (int32_t)j,
                    .at_i = at_i == NOT_SEEN,
                    .at_j = at_j == NOT_SEEN};
    if (ctx_cancelled(s->ctx))
        return DDSC_ERROR_CANCELLED;
    if (!keep_ends(s, &e) || at_i == SEEN_SETTLED || at_j == SEEN_SETTLED ||
        pruned_is_known(s, i, j) || !still_in_reach(s, &e, BOUND_FRAME, worker) ||
        !still_in_reach(s, &e, BOUND_DUAL, worker))
        return DDSC_OK;
    found_list *found = &s->found[worker];
    CHECK(MEM_RESERVE(s->ctx, found->at, &found->capacity, found->n + 1));
    found->at[found->n++] = e;
    return DDSC_OK;
}

static int64_t n_found(const pruned *s)
{
    int64_t n = 0;
    for (int w = 0; w < s->p->n_workers; w++)
        n += s->found[w].n;
    return n;
}

/* Who looks: items whose list ran out before their limit. An infinite end: the list had every item. */
static bool set_looks(const pruned *s, bool *looks)
{
    bool any = false;
    for (int64_t i = 0; i < s->n; i++) {
        double to = s->list[i].complete_to;
        looks[i] = isfinite(to) && !beyond(to, s->limit[i]);
        any = any || looks[i];
    }
    return any;
}

ddsc_status pruned_walk(pruned *s)
{
    ddsc_status status = DDSC_OK;
    bool *looks = NULL;
    int64_t n_tiles = tile_count(s->n, s->p->offer.first.side);
    int64_t step = BASE_MAX(WALK_TILES, n_tiles / WALK_STEPS), all = s->n * (s->n - 1) / 2;
    TRY(MEM_NEW(s->ctx, looks, s->n));
    if (!set_looks(s, looks))
        goto done;
    TRY(MEM_NEW(s->ctx, s->reach, s->n));
    TRY(MEM_NEW(s->ctx, s->within, s->n));
    progress_begin(s->ctx, "candidates", all);
    for (int64_t begin = 0; begin < n_tiles; begin += step) {
        int64_t end = BASE_MIN(n_tiles, begin + step);
        for (int64_t i = 0; i < s->n; i++) {
            s->reach[i] = looks[i] ? reach_of(s->limit[i]) : -INFINITY;
            s->within[i] = local_limit_any(s->p->by, s->reach[i]);
        }
        TRY(s->p->device->within(s->device, begin, end, s->within, meet_pair, s));
        if (n_found(s) < FOUND_PER_ITEM * s->n && end < n_tiles)
            continue;
        TRY(pruned_lists_refill(s));
        TRY(pruned_rounds(s, false));
    }
    progress_end(s->ctx);
    pairs_count_bounds(s->p, BOUND_FIRST, all, 0);
done:
    mem_free(s->ctx, looks);
    return status;
}
