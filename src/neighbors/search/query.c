/* Finds the nearest old items of new items, using lower bounds. search_update (update.c) uses the
 * same search after the set has changed.
 *
 * New items are not compared with each other, so each new item has an independent best-first
 * search. A heap contains all old items, ordered by a lower bound on D^2. For the top candidate,
 * the bound of the next level is computed. If the candidate already has the last bound that is
 * worth computing, the pair is solved. The search ends when the smallest bound exceeds the tau-th
 * distance found. All remaining candidates are then excluded, because bounds never exceed values,
 * so the result equals that of a full search.
 *
 * With local scales, the heap and the limit use keys (numeric/graph/hubs.c). Each new item costs
 * n_old first bounds, O(n_old) time to build the heap, and O(log n_old) time per raised bound or
 * solve. */
#include "base/team.h"
#include "base/workspace.h"
#include "neighbors/search/query.h"
#include "neighbors/search/tuning.h"

static bool entry_before(query_entry x, query_entry y)
{
    return x.bound < y.bound || (x.bound == y.bound && x.index < y.index);
}

void search_candidates_sift(query_entry *heap, int64_t n, int64_t at)
{
    query_entry moving = heap[at];
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && entry_before(heap[child + 1], heap[child]))
            child++;
        if (!entry_before(heap[child], moving))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

void search_candidates_make(query_entry *heap, int64_t n, const float *low,
                            const first_bounds *first, const local_scales *by)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t j = first_item(first->order, k);
        double bound = BASE_MAX(0, first->unit * (double)low[k]);
        heap[k] = (query_entry){local_key(by, j, bound), (int32_t)j, HAS_FIRST};
    }
    for (int64_t at = n / 2 - 1; at >= 0; at--)
        search_candidates_sift(heap, n, at);
}

/* Without a limit, a dual bound after a few iterations is accurate enough to order the
 * candidates. */
bool search_candidate_raise(pairs *p, query_entry *top, int64_t item, double limit, int worker)
{
    const bool *level = p->offer.level;
    bound_level next = BOUND_FRAME;
    if (top->reached == HAS_FIRST && level[BOUND_FRAME]) {
        top->reached = HAS_FRAME;
    } else if (level[BOUND_DUAL] &&
               (top->reached < HAS_ROUGH || (top->reached == HAS_ROUGH && isfinite(limit)))) {
        top->reached = p->offer.short_lists || isfinite(limit) ? HAS_DUAL : HAS_ROUGH;
        next = BOUND_DUAL;
    } else {
        return false;
    }
    double enough = local_limit(p->by, top->index, limit);
    int64_t i = BASE_MIN(top->index, item), j = BASE_MAX(top->index, item);
    double bound = pairs_bound(p, next, i, j, enough, worker);
    top->bound = fmax(top->bound, local_key(p->by, top->index, bound));
    return true;
}

typedef struct query {
    pairs *p;
    int64_t n_old, ld;
    nearest near;
    scratch heap; /* one per worker: candidates, with the smallest bound on top */
    scratch rows; /* one per worker: first bounds of QUERY_ITEMS new items */
} query;

static ddsc_status query_item(query *q, int64_t item, const float *low, int worker)
{
    ddsc_status status = DDSC_OK;
    query_entry *heap = scratch_of(&q->heap, worker);
    int64_t n = q->n_old;
    const double *limit = &q->near.limit[item - q->n_old];
    search_candidates_make(heap, n, low, &q->p->offer.first, q->p->by);
    while (n > 0 && !beyond(heap[0].bound, *limit)) {
        if (!search_candidate_raise(q->p, &heap[0], item, *limit, worker)) {
            TRY(pairs_solve(q->p, &q->near, (pair_ij){heap[0].index, (int32_t)item}, worker));
            heap[0] = heap[--n];
        }
        search_candidates_sift(heap, n, 0);
    }
    progress_add(q->p->ctx, 1);
done:
    return status;
}

static ddsc_status query_range(void *arg, int64_t begin, int64_t end, int worker)
{
    ddsc_status status = DDSC_OK;
    query *q = arg;
    const first_bounds *first = &q->p->offer.first;
    float *rows = scratch_of(&q->rows, worker);
    for (int64_t j0 = 0; j0 < q->n_old; j0 += first->side) {
        pair_tile t = {.i0 = q->n_old + begin,
                       .i1 = q->n_old + end,
                       .j0 = j0,
                       .j1 = BASE_MIN(q->n_old, j0 + first->side)};
        prefilter_tile(first, &t, rows + j0, q->ld, worker);
    }
    pairs_count_bounds(q->p, BOUND_FIRST, (end - begin) * q->n_old, worker);
    for (int64_t i = begin; i < end; i++)
        TRY(query_item(q, first_item(first->order, q->n_old + i), rows + (i - begin) * q->ld,
                       worker));
done:
    return status;
}

ddsc_status search_query(pairs *p, ddsc_graph **out, int64_t tau, int64_t n_old)
{
    ddsc_status status = DDSC_OK;
    int64_t n_new = p->n - n_old;
    query q = {.p = p, .n_old = n_old, .ld = n_old + p->offer.first.side};
    TRY(nearest_create(p->ctx, &q.near, n_old, n_new, tau));
    q.near.by = p->by;
    TRY(scratch_create(p->ctx, &q.rows, QUERY_ITEMS * q.ld, sizeof(float)));
    TRY(scratch_create(p->ctx, &q.heap, n_old, sizeof(query_entry)));
    progress_begin(p->ctx, "neighbors", n_new);
    TRY(team_for(p->ctx, n_new, QUERY_ITEMS, query_range, &q));
    progress_end(p->ctx);
    TRY(nearest_share(p->ctx, &q.near, false));
    TRY(nearest_finish(p->ctx, &q.near, out));
done:
    scratch_free(p->ctx, &q.heap);
    scratch_free(p->ctx, &q.rows);
    nearest_free(p->ctx, &q.near);
    return status;
}
