/* Updates the exact tau-NN graph after items have been added or removed. The result is
 * byte-identical to that of a search over all items.
 *
 * A neighbor list is complete if every item outside it is farther away. The lists of remaining
 * items that lost no neighbor are complete. All other lists are open. Open lists are searched as in
 * query.c. A new item must also be offered ("pushed") to the items with complete lists: a pair is
 * solved if its bound does not exceed the limit of the complete list.
 *
 * Items that are searched or pushed are processed in blocks. Within a block, an item changes only
 * its own list, and the values for other lists are offered at the end of the block. The graph and
 * the number of solves are therefore the same for any number of threads. A pair of open items may
 * be solved twice.
 *
 * Each such item costs one pass of first bounds, plus the bounds and solves that its search needs.
 * Metrics without bounds compute all pairs of such items. */
#include "neighbors/search/update.h"
#include "neighbors/search/query.h"
#include "neighbors/search/tuning.h"

static void offer_once(nearest *near, int64_t item, int64_t other, double d2)
{
    if (local_key(near->by, other, d2) <= nearest_limit(near, item))
        nearest_put_once(near, item, other, d2);
}

/* A solve that does not converge is counted, and the search continues. */
static ddsc_status compute_pair(search_update *u, int64_t i, int64_t j, double *d2, int worker)
{
    pair_ij pair = {(int32_t)BASE_MIN(i, j), (int32_t)BASE_MAX(i, j)};
    ddsc_status status = pairs_value(u->p, pair, d2, worker);
    return status < 0 ? status : DDSC_OK;
}

/* Looks up `other` in the list of `item`. */
static bool find_listed(const search_update *u, int64_t item, int64_t other, double *d2)
{
    const int32_t *list = u->near.index + item * u->near.tau;
    for (int64_t k = 0; k < u->near.count[item]; k++)
        if (list[k] == other) {
            *d2 = u->near.value[item * u->near.tau + k];
            return true;
        }
    return false;
}

/* Looks up the value of a pair in the lists that do not change within the block. */
static bool find_known(const search_update *u, int64_t item, int64_t other, double *d2)
{
    return (!u->is_open[other] && find_listed(u, other, item, d2)) ||
           (u->also &&
            (find_listed(u->also, item, other, d2) || find_listed(u->also, other, item, d2)));
}

/* ---- with lower bounds ---- */

static ddsc_status offer_later(search_update *u, int64_t item, int64_t other, double d2, int worker)
{
    offer_list *l = &u->offers[worker];
    CHECK(MEM_RESERVE(u->p->ctx, l->at, &l->capacity, l->n + 1));
    l->at[l->n++] = (offered){d2, (int32_t)item, (int32_t)other};
    return DDSC_OK;
}

/* Computes the value of a pair, adds it to the list of `item` if that list is open, and offers it
 * to `other`. */
static ddsc_status solve_for(search_update *u, int64_t item, int64_t other, int worker)
{
    double d2;
    if (!find_known(u, item, other, &d2))
        CHECK(compute_pair(u, item, other, &d2, worker));
    if (u->is_open[item])
        offer_once(&u->near, item, other, d2);
    return offer_later(u, other, item, d2, worker);
}

/* Offers an item to every complete list that may admit it. Bounds are divided by the scale of the
 * candidate, but limits apply to values that are divided by the scale of the item. */
static ddsc_status offer_to_complete(search_update *u, int64_t item, query_entry *rest, int64_t n,
                                     int worker)
{
    const local_scales *by = u->near.by;
    for (int64_t k = 0; k < n; k++) {
        query_entry *e = &rest[k];
        double limit = nearest_limit(&u->near, e->index);
        if (by)
            limit *= by->scale[item] * by->inverse[e->index];
        bool within = !u->is_open[e->index] && !u->is_gone[e->index] && e->index != item;
        while (within && !beyond(e->bound, limit) &&
               search_candidate_raise(u->p, e, item, limit, worker))
            ;
        if (within && !beyond(e->bound, limit))
            CHECK(solve_for(u, item, e->index, worker));
    }
    return DDSC_OK;
}

/* Offers an item to the neighbors in its own list. */
static ddsc_status offer_to_listed(search_update *u, int64_t item, int worker)
{
    int64_t at = item * u->near.tau;
    for (int64_t k = 0; k < u->near.count[item]; k++)
        CHECK(offer_later(u, u->near.index[at + k], item, u->near.value[at + k], worker));
    return DDSC_OK;
}

static ddsc_status search_list(search_update *u, int64_t item, query_entry *heap, int64_t *n,
                               int worker)
{
    const double *limit = &u->near.limit[item];
    while (*n > 0 && !beyond(heap[0].bound, *limit)) {
        int32_t other = heap[0].index;
        double d2;
        bool done = other == item || u->is_gone[other] || find_listed(u, item, other, &d2);
        if (done || !search_candidate_raise(u->p, &heap[0], item, *limit, worker)) {
            if (!done)
                CHECK(solve_for(u, item, other, worker));
            heap[0] = heap[--*n];
        }
        search_candidates_sift(heap, *n, 0);
    }
    return DDSC_OK;
}

static ddsc_status update_item(search_update *u, int64_t item, const float *low, int worker)
{
    query_entry *heap = scratch_of(&u->heap, worker);
    int64_t n = u->n;
    if (u->pushes[item])
        CHECK(offer_to_listed(u, item, worker));
    search_candidates_make(heap, n, low, &u->p->offer.first, u->near.by);
    if (u->is_open[item])
        CHECK(search_list(u, item, heap, &n, worker));
    progress_add(u->p->ctx, 1);
    return u->pushes[item] ? offer_to_complete(u, item, heap, n, worker) : DDSC_OK;
}

static ddsc_status update_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search_update *u = arg;
    const first_bounds *first = &u->p->offer.first;
    float *low = scratch_of(&u->row, worker);
    for (int64_t k = u->begin + begin; k < u->begin + end; k++) {
        int64_t item = u->work[k], row = u->place[item];
        for (int64_t j0 = 0; j0 < u->n; j0 += first->side) {
            pair_tile t = {row, row + 1, j0, BASE_MIN(u->n, j0 + first->side), NULL};
            prefilter_tile(first, &t, low + j0, u->n + first->side, worker);
        }
        low[row] = 0; /* the row of the item itself: its bound may be undefined */
        pairs_count_bounds(u->p, BOUND_FIRST, u->n - 1, worker);
        CHECK(update_item(u, item, low, worker));
    }
    return DDSC_OK;
}

static void apply_offers(search_update *u)
{
    for (int w = 0; w < u->p->n_workers; w++) {
        for (int64_t k = 0; k < u->offers[w].n; k++) {
            const offered *o = &u->offers[w].at[k];
            offer_once(&u->near, o->item, o->other, o->d2);
        }
        u->offers[w].n = 0;
    }
}

static ddsc_status by_bounds(search_update *u)
{
    const first_bounds *first = &u->p->offer.first;
    ddsc_context *ctx = u->p->ctx;
    if (!u->heap.block) {
        CHECK(scratch_create(ctx, &u->heap, u->capacity, sizeof(query_entry)));
        CHECK(scratch_create(ctx, &u->row, u->capacity + first->side, sizeof(float)));
    }
    for (int64_t k = 0; k < u->n; k++)
        u->place[first_item(first->order, k)] = (int32_t)k;
    progress_begin(ctx, "neighbors", u->n_work);
    for (u->begin = 0; u->begin < u->n_work; u->begin += UPDATE_BLOCK) {
        CHECK(parallel_for(ctx, BASE_MIN(UPDATE_BLOCK, u->n_work - u->begin), 1, update_range, u));
        apply_offers(u);
    }
    progress_end(ctx);
    return DDSC_OK;
}

/* ---- without bounds: no empty slots ---- */

static void offer_both(search_update *u, int64_t i, int64_t j, double d2)
{
    offer_once(&u->near, i, j, d2);
    offer_once(&u->near, j, i, d2);
}

static void offer_tile(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = BASE_MAX(i + 1, t->j0); j < t->j1; j++)
            if (tile_wants(t, i, j))
                offer_both(arg, i, j, d2[(i - t->i0) * ld + (j - t->j0)]);
}

/* Computes all pairs of remaining items in which at least one item is searched or pushed. */
static ddsc_status refill_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search_update *u = arg;
    for (int64_t j = u->begin + begin; j < u->begin + end; j++) {
        bool all = u->is_open[j] || u->pushes[j];
        for (int64_t k = 0; all ? k < j : k < u->n_work && u->work[k] < j; k++) {
            int64_t i = all ? k : u->work[k];
            double d2;
            CHECK(compute_pair(u, i, j, &d2, worker));
            offer_both(u, i, j, d2);
        }
    }
    return DDSC_OK;
}

/* Computes all pairs with new items tile by tile, and then the required pairs of remaining items
 * one by one. If many remaining items are searched or pushed, computes all pairs of the set tile by
 * tile. */
static ddsc_status by_values(search_update *u)
{
    int64_t strip = pairs_strip(u->p), n_refilled = u->n_work - (u->n - u->first);
    bool all = n_refilled * REFILL_SHARE > u->first;
    pair_choice choice = {.i_end = u->n, .j_begin = all ? 0 : u->first, .sample = 1};
    if (all || u->n > u->first)
        CHECK(pairs_walk(u->p, &choice, offer_tile, u));
    if (all || n_refilled == 0)
        return DDSC_OK;
    progress_begin(u->p->ctx, "neighbors", u->first);
    for (u->begin = 0; u->begin < u->first; u->begin += strip) {
        int64_t end = BASE_MIN(u->first, u->begin + strip);
        CHECK(pairs_prepare(u->p, u->begin, end));
        CHECK(parallel_for(u->p->ctx, end - u->begin, 16, refill_range, u));
        progress_add(u->p->ctx, end - u->begin);
    }
    progress_end(u->p->ctx);
    return DDSC_OK;
}

/* ---- neighbor lists ---- */

ddsc_status search_update_create(pairs *p, search_update *u, int64_t tau, int64_t capacity)
{
    ddsc_context *ctx = p->ctx;
    *u = (search_update){.p = p, .capacity = capacity};
    CHECK(nearest_create(ctx, &u->near, 0, capacity, tau));
    CHECK(MEM_ZERO(ctx, u->is_gone, capacity));
    CHECK(MEM_ZERO(ctx, u->is_open, capacity));
    CHECK(MEM_ZERO(ctx, u->pushes, capacity));
    CHECK(MEM_NEW(ctx, u->work, capacity));
    CHECK(MEM_NEW(ctx, u->place, capacity));
    return MEM_ZERO(ctx, u->offers, p->n_workers);
}

void search_update_free(search_update *u)
{
    if (!u->p)
        return;
    ddsc_context *ctx = u->p->ctx;
    for (int w = 0; u->offers && w < u->p->n_workers; w++)
        mem_free(ctx, u->offers[w].at);
    MEM_FREE(ctx, u->offers, u->place, u->work, u->pushes, u->is_open, u->is_gone);
    scratch_free(ctx, &u->heap);
    scratch_free(ctx, &u->row);
    nearest_free(ctx, &u->near);
    *u = (search_update){0};
}

void search_update_take(search_update *u, const ddsc_graph *kept, int64_t n)
{
    u->n = u->first = n;
    for (int64_t i = 0; i < u->n; i++) {
        for (int64_t e = kept->offset[i]; e < kept->offset[i + 1]; e++)
            nearest_put(&u->near, i, kept->index[e], kept->d2[e]);
        u->is_open[i] = u->near.count[i] < u->near.tau;
    }
}

/* Removes deleted items from the list of `item`. Each entry is read before its position is
 * overwritten. Returns false if the list contains no deleted item. */
static bool drop_gone(search_update *u, int64_t item)
{
    nearest *near = &u->near;
    int64_t at = item * near->tau, n = near->count[item], k = 0;
    while (k < n && !u->is_gone[near->index[at + k]])
        k++;
    if (k == n)
        return false;
    near->count[item] = 0;
    near->limit[item] = INFINITY;
    for (k = 0; k < n; k++) {
        int32_t other = near->index[at + k];
        double d2 = near->value[at + k];
        if (!u->is_gone[other])
            nearest_put(near, item, other, d2);
    }
    return true;
}

void search_update_remove(search_update *u, int64_t n, const int64_t *slot)
{
    for (int64_t k = 0; k < n; k++) {
        u->is_gone[slot[k]] = 1;
        u->is_open[slot[k]] = u->pushes[slot[k]] = 0;
    }
    for (int64_t i = 0; i < u->n; i++)
        if (!u->is_gone[i] && drop_gone(u, i))
            u->is_open[i] = 1;
}

/* Returns true if an entry of a full list may now be farther away than an item outside the list.
 * The keys of items outside the list were at least `limit`, and items whose key decreased are
 * pushed. */
static bool is_overtaken(const search_update *u, const local_scales *by, int64_t item, double limit,
                         int32_t last)
{
    const nearest *near = &u->near;
    int64_t at = item * near->tau;
    for (int64_t k = 0; k < near->count[item]; k++) {
        double key = local_key(by, near->index[at + k], near->value[at + k]);
        if (key > limit || (key == limit && near->index[at + k] > last))
            return true;
    }
    return false;
}

/* Restores the heap after its order changed. Each entry is read before its position is
 * overwritten. */
static void order_again(nearest *near, int64_t item)
{
    int64_t at = item * near->tau, n = near->count[item];
    near->count[item] = 0;
    near->limit[item] = INFINITY;
    for (int64_t k = 0; k < n; k++) {
        int32_t other = near->index[at + k];
        nearest_put(near, item, other, near->value[at + k]);
    }
}

void search_update_rescale(search_update *u, const local_scales *by)
{
    nearest *near = &u->near;
    const local_scales *old = near->by;
    for (int64_t i = 0; old && i < u->n; i++) {
        if (u->is_gone[i])
            continue;
        u->pushes[i] = u->pushes[i] || by->inverse[i] < old->inverse[i];
        int64_t full = near->count[i] == near->tau;
        u->is_open[i] = u->is_open[i] || !full ||
                        is_overtaken(u, by, i, near->limit[i], near->index[i * near->tau]);
    }
    near->by = by;
    for (int64_t i = 0; i < u->n; i++)
        order_again(near, i);
}

void search_update_add(search_update *u, int64_t n)
{
    u->first = u->n;
    for (; u->n < n; u->n++)
        u->is_open[u->n] = u->pushes[u->n] = 1;
}

ddsc_status search_update_run(search_update *u)
{
    u->n_work = u->n_open = 0;
    for (int64_t i = 0; i < u->n; i++)
        if (u->is_open[i] || u->pushes[i]) {
            u->work[u->n_work++] = (int32_t)i;
            u->n_open += u->is_open[i];
        }
    CHECK(u->p->offer.first.n > 0 ? by_bounds(u) : by_values(u));
    for (int64_t k = 0; k < u->n_work; k++)
        u->is_open[u->work[k]] = u->pushes[u->work[k]] = 0;
    u->first = u->n;
    return DDSC_OK;
}

ddsc_status search_update_graph(const search_update *u, ddsc_graph **out)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = u->p->ctx;
    nearest to = {0};
    int32_t *number = NULL;
    int64_t n = 0, tau = u->near.tau;
    TRY(MEM_NEW(ctx, number, u->n));
    for (int64_t i = 0; i < u->n; i++)
        number[i] = u->is_gone[i] ? -1 : (int32_t)n++;
    TRY(nearest_create(ctx, &to, 0, n, tau));
    to.by = NULL;
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t k = 0; number[i] >= 0 && k < u->near.count[i]; k++)
            nearest_put(&to, number[i], number[u->near.index[i * tau + k]],
                        u->near.value[i * tau + k]);
    TRY(nearest_finish(ctx, &to, out));
done:
    mem_free(ctx, number);
    nearest_free(ctx, &to);
    return status;
}
