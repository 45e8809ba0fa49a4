/* The walk: when the first lists are worked off, limits are known, and every pair that is on no
 * list and in reach of an item whose list ran out before its limit goes through the bounds once.
 * What is left is little; it is put on lists and solved before the walk goes on, which keeps memory
 * small and the limits fresh. */
#include "search/pruned.h"

enum {
    TILES_AT_ONCE = 64,
    FOUND_PER_ITEM = 4, /* then lists are worked off before the walk goes on */
    GROUP = 8           /* bounds looked at together */
};

typedef struct walk {
    search *s;
    int64_t first_tile;
} walk;

static bool runs_out(const search *s, int64_t i)
{
    double to = s->list[i].complete_to; /* infinite: the list had every item */
    return isfinite(to) && !beyond(to, s->limit[i]);
}

/* Ends of the pair for which it is new and in reach. */
static bool keep_ends(const search *s, pair_entry *e)
{
    e->at_i = e->at_i && e->bound <= s->reach[e->i];
    e->at_j = e->at_j && e->bound <= s->reach[e->j];
    return e->at_i || e->at_j;
}

static double enough_for(const search *s, const pair_entry *e)
{
    double at_i = e->at_i ? s->limit[e->i] : 0, at_j = e->at_j ? s->limit[e->j] : 0;
    return BASE_MAX(at_i, at_j);
}

/* The pair was pruned before on the list of one end: that count is taken back. */
static void take_back(const search *s, worker_room *room, int64_t slot)
{
    if (slot >= 0)
        room->n_pruned[s->seen_stage[slot]]--;
}

/* A pair whose first bound is in reach of an end. */
static ddsc_status meet_pair(search *s, int64_t i, int64_t j, double bound, int worker)
{
    worker_room *room = &s->room[worker];
    pair_entry e = {.bound = bound, .i = (int32_t)i, .j = (int32_t)j};
    int64_t at_i = seen_find(s, i, j), at_j = seen_find(s, j, i), slot = BASE_MAX(at_i, at_j);
    e.at_i = at_i < 0;
    e.at_j = at_j < 0;
    if (!keep_ends(s, &e) || (slot >= 0 && pair_set_has(&s->settled, i, j)))
        return DDSC_OK;
    room->n_met += slot < 0;
    e.bound = closer_bound(s, i, j, bound, enough_for(s, &e));
    room->bounds.closer += s->backend->pruning->closer != NULL;
    if (!keep_ends(s, &e)) {
        room->n_pruned[LISTED] += slot < 0;
        return DDSC_OK;
    }
    if (s->refines) {
        double refined = s->backend->pruning->refine(s->state, i, j, enough_for(s, &e), worker);
        e.bound = BASE_MAX(e.bound, refined);
        e.stage = REFINED;
        room->bounds.refined++;
        if (!keep_ends(s, &e)) {
            take_back(s, room, slot);
            room->n_pruned[REFINED]++;
            if (slot >= 0)
                s->seen_stage[slot] = REFINED;
            return DDSC_OK;
        }
    }
    take_back(s, room, slot);
    return entry_push(s->ctx, &room->found, e);
}

static bool any_in_reach(const double *row, const double *reach, double own)
{
    int hits = 0;
    for (int k = 0; k < GROUP; k++)
        hits |= row[k] <= (reach[k] > own ? reach[k] : own);
    return hits;
}

static ddsc_status walk_row(search *s, const pair_tile *t, int64_t i, const double *row, int worker)
{
    int64_t begin = BASE_MAX(t->j0, i + 1);
    for (int64_t j = begin; j < t->j1;) {
        int64_t end = BASE_MIN(t->j1, j + GROUP);
        if (end - j == GROUP && !any_in_reach(row + (j - t->j0), s->reach + j, s->reach[i])) {
            j = end;
            continue;
        }
        for (; j < end; j++)
            if (row[j - t->j0] <= BASE_MAX(s->reach[i], s->reach[j]))
                CHECK(meet_pair(s, i, j, row[j - t->j0], worker));
    }
    return DDSC_OK;
}

static ddsc_status walk_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const walk *w = arg;
    search *s = w->s;
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    for (int64_t k = begin; k < end; k++) {
        pair_tile t = tile_number(s->n, s->bound_side, w->first_tile + k);
        TRY(s->bound->tile(s->bound_state, &t, s->room[worker].tile, s->bound_side, worker,
                           &scratch));
        for (int64_t i = t.i0; i < t.i1; i++) {
            if (ctx_cancelled(s->ctx))
                return DDSC_ERROR_CANCELLED;
            TRY(walk_row(s, &t, i, s->room[worker].tile + (i - t.i0) * s->bound_side, worker));
        }
        s->room[worker].bounds.first += tile_pairs(&t);
        progress_add(s->ctx, tile_pairs(&t));
    }
done:
    return status;
}

static int64_t n_found(const search *s)
{
    int64_t n = 0;
    for (int w = 0; w < s->n_workers; w++)
        n += s->room[w].found.n;
    return n;
}

static void set_reach(search *s, const bool *looks)
{
    for (int64_t i = 0; i < s->n; i++)
        s->reach[i] = looks[i] ? reach_of(s->limit[i]) : -1;
}

static ddsc_status walk_tiles(search *s, const bool *looks)
{
    ddsc_status status = DDSC_OK;
    walk w = {.s = s};
    int64_t blocks = (s->n + s->bound_side - 1) / s->bound_side;
    int64_t n_tiles = blocks * (blocks + 1) / 2;
    while (w.first_tile < n_tiles) {
        int64_t n = BASE_MIN(TILES_AT_ONCE, n_tiles - w.first_tile);
        set_reach(s, looks);
        TRY(parallel_for(s->ctx, n, 1, walk_range, &w));
        w.first_tile += n;
        if (n_found(s) < FOUND_PER_ITEM * s->n && w.first_tile < n_tiles)
            continue;
        TRY(lists_take(s));
        TRY(search_rounds(s, false));
    }
done:
    return status;
}

ddsc_status search_walk(search *s)
{
    ddsc_status status = DDSC_OK;
    bool *looks = NULL, any = false;
    TRY(MEM_NEW(s->ctx, looks, s->n));
    for (int64_t i = 0; i < s->n; i++) {
        looks[i] = runs_out(s, i);
        any = any || looks[i];
    }
    if (!any)
        goto done;
    TRY(MEM_NEW(s->ctx, s->reach, s->n));
    for (int w = 0; w < s->n_workers; w++)
        TRY(MEM_NEW(s->ctx, s->room[w].tile, s->bound_side * s->bound_side));
    progress_begin(s->ctx, "candidates", s->n * (s->n - 1) / 2);
    TRY(walk_tiles(s, looks));
    progress_end(s->ctx);
done:
    mem_free(s->ctx, looks);
    return status;
}
