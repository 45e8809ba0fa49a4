/* Updates the exact tau-NN graph after items were added or removed. The result is equal to that of
 * a search over all items, byte for byte.
 *
 * The kept items are followed by the new ones. The list of a kept item is complete if the item lost
 * no neighbor, because every kept item outside the list is farther away. All other items are open:
 * new items, and items that lost a neighbor. The neighbors of an open item are searched among all
 * other items, as in query.c. A new item must also be offered to the items with complete lists. The
 * pair is solved if its bound does not exceed the limit of that item.
 *
 * Open items are processed in blocks. Within a block, the search for an item changes only the list
 * of that item. The values for other lists are offered at the end of the block. The graph and the
 * number of solves are therefore the same for any number of threads. A pair of open items may be
 * solved twice.
 *
 * For each open item, the cost is the first bounds to all other items, plus the bounds and solves
 * of its search. Metrics without bounds compute all pairs of open items. */
#include "base/workspace.h"
#include "neighbors/search/query.h"
#include "neighbors/search/tuning.h"

typedef struct offered {
    double d2;
    int32_t item, other;
} offered;

typedef struct offer_list {
    offered *at;
    int64_t n, capacity;
} offer_list;

typedef struct update {
    pairs *p;
    int64_t n, n_kept;
    nearest near;
    uint8_t *is_open;      /* n */
    int32_t *open;         /* n_open items, ascending */
    int64_t n_open, begin; /* begin: index of the first open item of the block */
    int32_t *place;        /* n: position of each item in the order of the first bounds */
    offer_list *offers;    /* per worker */
    scratch heap, row;     /* one per worker: candidates; first bounds of one item */
} update;

static bool is_listed(const nearest *near, int64_t item, int64_t other)
{
    const int32_t *list = near->index + item * near->tau;
    for (int64_t k = 0; k < near->count[item]; k++)
        if (list[k] == other)
            return true;
    return false;
}

static void offer_once(nearest *near, int64_t item, int64_t other, double d2)
{
    if (d2 <= nearest_limit(near, item))
        nearest_put_once(near, item, other, d2);
}

/* A solve that does not converge is counted, and the search continues. */
static ddsc_status compute_pair(update *u, int64_t i, int64_t j, double *d2, int worker)
{
    pair_ij pair = {(int32_t)BASE_MIN(i, j), (int32_t)BASE_MAX(i, j)};
    ddsc_status status = pairs_value(u->p, pair, d2, worker);
    return status < 0 ? status : DDSC_OK;
}

/* ---- with lower bounds ---- */

/* Solves the pair for the list of `item`, and stores the value for the list of `other`. */
static ddsc_status solve_for(update *u, int64_t item, int64_t other, int worker)
{
    offer_list *l = &u->offers[worker];
    double d2;
    CHECK(compute_pair(u, item, other, &d2, worker));
    offer_once(&u->near, item, other, d2);
    CHECK(MEM_RESERVE(u->p->ctx, l->at, &l->capacity, l->n + 1));
    l->at[l->n++] = (offered){d2, (int32_t)other, (int32_t)item};
    return DDSC_OK;
}

/* Offers a new item to the items with complete lists whose limits it may not exceed. */
static ddsc_status offer_to_complete(update *u, int64_t item, query_entry *rest, int64_t n,
                                     int worker)
{
    for (int64_t k = 0; k < n; k++) {
        query_entry *e = &rest[k];
        const double limit = nearest_limit(&u->near, e->index);
        bool within = !u->is_open[e->index] && e->index != item;
        while (within && !beyond(e->bound, limit) &&
               search_candidate_raise(u->p, e, item, limit, worker))
            ;
        if (within && !beyond(e->bound, limit))
            CHECK(solve_for(u, item, e->index, worker));
    }
    return DDSC_OK;
}

static ddsc_status update_item(update *u, int64_t item, const float *low, int worker)
{
    query_entry *heap = scratch_of(&u->heap, worker);
    const double *limit = &u->near.limit[item];
    int64_t n = u->n;
    search_candidates_make(heap, n, low, &u->p->offer.first, NULL);
    while (n > 0 && !beyond(heap[0].bound, *limit)) {
        int32_t other = heap[0].index;
        bool known = other == item || is_listed(&u->near, item, other);
        if (known || !search_candidate_raise(u->p, &heap[0], item, *limit, worker)) {
            if (!known)
                CHECK(solve_for(u, item, other, worker));
            heap[0] = heap[--n];
        }
        search_candidates_sift(heap, n, 0);
    }
    progress_add(u->p->ctx, 1);
    return item < u->n_kept ? DDSC_OK : offer_to_complete(u, item, heap, n, worker);
}

static ddsc_status update_range(void *arg, int64_t begin, int64_t end, int worker)
{
    update *u = arg;
    const first_bounds *first = &u->p->offer.first;
    float *low = scratch_of(&u->row, worker);
    for (int64_t k = u->begin + begin; k < u->begin + end; k++) {
        int64_t item = u->open[k], row = u->place[item];
        for (int64_t j0 = 0; j0 < u->n; j0 += first->side) {
            pair_tile t = {row, row + 1, j0, BASE_MIN(u->n, j0 + first->side), NULL};
            prefilter_tile(first, &t, low + j0, u->n + first->side, worker);
        }
        low[row] = 0; /* the item itself, whose bound may be undefined */
        pairs_count_bounds(u->p, BOUND_FIRST, u->n - 1, worker);
        CHECK(update_item(u, item, low, worker));
    }
    return DDSC_OK;
}

static void apply_offers(update *u)
{
    for (int w = 0; w < u->p->n_workers; w++) {
        for (int64_t k = 0; k < u->offers[w].n; k++) {
            const offered *o = &u->offers[w].at[k];
            offer_once(&u->near, o->item, o->other, o->d2);
        }
        u->offers[w].n = 0;
    }
}

static ddsc_status by_bounds(update *u)
{
    const first_bounds *first = &u->p->offer.first;
    ddsc_context *ctx = u->p->ctx;
    CHECK(MEM_NEW(ctx, u->place, u->n));
    CHECK(MEM_ZERO(ctx, u->offers, u->p->n_workers));
    CHECK(scratch_create(ctx, &u->heap, u->n, sizeof(query_entry)));
    CHECK(scratch_create(ctx, &u->row, u->n + first->side, sizeof(float)));
    for (int64_t k = 0; k < u->n; k++)
        u->place[first_item(first->order, k)] = (int32_t)k;
    progress_begin(ctx, "neighbors", u->n_open);
    for (u->begin = 0; u->begin < u->n_open; u->begin += UPDATE_BLOCK) {
        CHECK(parallel_for(ctx, BASE_MIN(UPDATE_BLOCK, u->n_open - u->begin), 1, update_range, u));
        apply_offers(u);
    }
    progress_end(ctx);
    return DDSC_OK;
}

/* ---- without bounds ---- */

static void offer_tile(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    update *u = arg;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = BASE_MAX(i + 1, t->j0); j < t->j1; j++)
            if (tile_wants(t, i, j)) {
                double value = d2[(i - t->i0) * ld + (j - t->j0)];
                offer_once(&u->near, i, j, value);
                offer_once(&u->near, j, i, value);
            }
}

/* Computes the pairs of kept items with earlier kept items of which at least one lost a
 * neighbor. */
static ddsc_status refill_range(void *arg, int64_t begin, int64_t end, int worker)
{
    update *u = arg;
    for (int64_t j = u->begin + begin; j < u->begin + end; j++)
        for (int64_t k = 0; u->is_open[j] ? k < j : k < u->n_open && u->open[k] < j; k++) {
            int64_t i = u->is_open[j] ? k : u->open[k];
            double d2;
            CHECK(compute_pair(u, i, j, &d2, worker));
            offer_once(&u->near, i, j, d2);
            offer_once(&u->near, j, i, d2);
        }
    return DDSC_OK;
}

/* Computes all pairs with new items tile by tile, and then the pairs of kept items one by one. */
static ddsc_status by_values(update *u)
{
    pair_choice choice = {.i_end = u->n, .j_begin = u->n_kept, .sample = 1};
    int64_t strip = pairs_strip(u->p);
    if (u->n > u->n_kept)
        CHECK(pairs_walk(u->p, &choice, offer_tile, u));
    if (u->n_open == u->n - u->n_kept)
        return DDSC_OK;
    progress_begin(u->p->ctx, "neighbors", u->n_kept);
    for (u->begin = 0; u->begin < u->n_kept; u->begin += strip) {
        int64_t end = BASE_MIN(u->n_kept, u->begin + strip);
        CHECK(pairs_prepare(u->p, u->begin, end));
        CHECK(parallel_for(u->p->ctx, end - u->begin, 16, refill_range, u));
        progress_add(u->p->ctx, end - u->begin);
    }
    progress_end(u->p->ctx);
    return DDSC_OK;
}

/* ---- the search ---- */

/* Copies the kept lists to the heaps, and finds the open items. */
static ddsc_status take_known_lists(update *u, const ddsc_graph *kept)
{
    ddsc_context *ctx = u->p->ctx;
    CHECK(MEM_ZERO(ctx, u->is_open, u->n));
    CHECK(MEM_NEW(ctx, u->open, u->n));
    for (int64_t i = 0; i < u->n; i++) {
        for (int64_t e = kept->offset[i]; e < kept->offset[i + 1]; e++)
            nearest_put(&u->near, i, kept->index[e], kept->d2[e]);
        u->is_open[i] = u->near.count[i] < u->near.tau;
        if (u->is_open[i])
            u->open[u->n_open++] = (int32_t)i;
    }
    return DDSC_OK;
}

ddsc_status search_update(pairs *p, ddsc_graph **out, int64_t tau, const ddsc_graph *kept,
                          int64_t n_kept, int64_t *n_open)
{
    ddsc_status status = DDSC_OK;
    update u = {.p = p, .n = p->n, .n_kept = n_kept};
    TRY(nearest_create(p->ctx, &u.near, 0, p->n, tau));
    TRY(take_known_lists(&u, kept));
    *n_open = u.n_open;
    TRY(p->bounds ? by_bounds(&u) : by_values(&u));
    TRY(nearest_finish(p->ctx, &u.near, out));
done:
    for (int w = 0; u.offers && w < p->n_workers; w++)
        mem_free(p->ctx, u.offers[w].at);
    MEM_FREE(p->ctx, u.offers, u.place, u.open, u.is_open);
    scratch_free(p->ctx, &u.heap);
    scratch_free(p->ctx, &u.row);
    nearest_free(p->ctx, &u.near);
    return status;
}
