/* Keeps a metric open while items are added and removed.
 *
 * A change prepares the new items and searches only the neighbor lists that it affects. If an item
 * does not fit into the open set (data/growing.h), the metric is opened again for the changed set,
 * with spare slots in proportion to its number of items. If the metric cannot prepare single items,
 * every insert opens it again. Both paths produce the same graph, because a distance depends only on
 * its two items, the settings and the frame.
 *
 * A failed change leaves the index unchanged. The exception is a search of the open set that runs
 * out of memory or is canceled: all later calls then fail. */
#include <string.h>

#include "neighbors/planner/index.h"
#include "neighbors/planner/tuning.h"

struct plan_index {
    ddsc_context *ctx;
    graph_request p; /* p.m is the set of `open` */
    pair_frame given;
    plan_open_set *open;
    int64_t n, *slot; /* slots of the items, ascending */
    bool is_broken;
};

int64_t plan_index_count(const plan_index *x)
{
    return x->n;
}

void plan_index_close(plan_index *x)
{
    if (!x)
        return;
    plan_set_close(x->open, DDSC_OK, NULL);
    metric_resolved_free(&x->p.metric);
    mem_free(x->ctx, x->slot);
    mem_free(x->ctx, x);
}

/* Returns the number of spare slots for an open set, or 0 if the metric cannot prepare single
 * items. */
static int64_t spare_for(const graph_request *p)
{
    return p->metric.backend->grow ? BASE_MAX(INDEX_SPARE_LEAST, p->m->n / INDEX_SPARE_SHARE) : 0;
}

static ddsc_status number_slots(ddsc_context *ctx, int64_t **slot, int64_t n, int64_t capacity)
{
    CHECK(MEM_NEW(ctx, *slot, capacity));
    for (int64_t i = 0; i < n; i++)
        (*slot)[i] = i;
    return DDSC_OK;
}

/* Opens the set of *p and searches its neighbor lists. Takes ownership of `own`, even on error. */
static ddsc_status open_and_search(ddsc_context *ctx, plan_open_set **out, int64_t **slot,
                                   graph_request *p, measures *own, const plan_known *known)
{
    ddsc_status status = DDSC_OK;
    plan_open_set *s = NULL;
    int64_t n = own->n, spare = spare_for(p);
    TRY(plan_set_open(ctx, &s, p, spare, known));
    p->m = s->r.job.m;
    TRY(number_slots(ctx, slot, n, n + spare));
    TRY(plan_set_run(s));
    if (spare == 0) {
        s->own = own;
        own = NULL;
    }
    *out = s;
    s = NULL;
done:
    plan_set_close(s, status, NULL);
    ddsc_measures_destroy(own);
    return status;
}

ddsc_status plan_index_open(ddsc_context *ctx, plan_index **out, graph_request *p,
                            const pair_frame *given, const plan_known *known)
{
    ddsc_status status = DDSC_OK;
    plan_index *x = NULL;
    measures *own = p->metric.own;
    graph_request request = *p;
    *p = (graph_request){0};
    request.metric.own = NULL;
    TRY(MEM_ZERO(ctx, x, 1));
    *x = (plan_index){.ctx = ctx, .p = request, .given = *given, .n = own ? own->n : request.m->n};
    request.metric = (metric_resolved){0};
    if (!own) /* lot does not need sorted points, but a growing set does */
        TRY(measures_ordered(ctx, &own, x->p.m));
    if (!own)
        TRY(measures_subset(ctx, &own, x->p.m, x->n, NULL));
    x->p.m = own;
    measures *set = own;
    own = NULL;
    TRY(open_and_search(ctx, &x->open, &x->slot, &x->p, set, known));
    *out = x;
    x = NULL;
done:
    if (request.metric.backend)
        metric_resolved_free(&request.metric);
    ddsc_measures_destroy(own);
    plan_index_close(x);
    return status;
}

/* ---- changes to the open set ---- */

/* Prepares the lower bounds of the appended items. */
static ddsc_status grow_bounds(plan_open_set *s, int64_t first, bool *done)
{
    const pairs *p = &s->r.p;
    if (p->bounds)
        return p->backend->bounds->grow(p->bounds, first, done);
    CHECK(p->backend->grow_rows(p->state, &s->rows, done));
    return *done ? prefilter_enclose_from(s->ctx, s->start, s->spread, &s->rows,
                                          prefilter_radius(s->rows.columns), first)
                 : DDSC_OK;
}

/* Appends the items to the open set. Sets *done to false if the metric must be opened again. */
static ddsc_status append_items(plan_index *x, const measures *added, bool *done)
{
    plan_open_set *s = x->open;
    pairs *p = &s->r.p;
    measures *m = s->items.set;
    const pair_backend *backend = p->backend;
    bool grows = p->bounds ? backend->bounds->grow != NULL : backend->grow_rows != NULL;
    int64_t first = m ? m->n : 0, v = m ? m->v : 0;
    *done = m && !s->is_full && grows && measures_growing_append(&s->items, added);
    s->is_full = !*done;
    if (!*done)
        return DDSC_OK;
    ddsc_status status = backend->grow(p->state, first);
    if (status >= 0)
        status = grow_bounds(s, first, done);
    if (status < 0 || !*done) { /* drop the new items; their rows stay unused */
        m->n = m->n_rows = first;
        m->nnz = m->offset[first];
        m->v = v;
        s->is_full = true;
        return status;
    }
    p->n = p->offer.first.n = m->n;
    return DDSC_OK;
}

static ddsc_status change_open_set(plan_index *x, const measures *added, int64_t n_removed,
                                   const int64_t *slots, bool *done)
{
    plan_open_set *s = x->open;
    /* A search without bounds does not support empty slots. */
    *done = s->r.p.offer.first.n > 0;
    if (*done && added)
        CHECK(append_items(x, added, done));
    if (!*done)
        return DDSC_OK;
    plan_set_change(s, n_removed, slots, s->r.p.n);
    ddsc_status status = plan_set_run(s);
    x->is_broken = status < 0;
    return status;
}

/* ---- opening the changed set ---- */

/* Creates the changed set: the remaining items, followed by the new ones, with sorted points. */
static ddsc_status join_sets(plan_index *x, measures **out, const measures *added, int64_t n_kept,
                             const int64_t *kept)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = x->ctx;
    measures *part = NULL, *joined = NULL, *ordered = NULL;
    TRY(measures_subset(ctx, &part, x->p.m, n_kept, kept));
    if (added)
        TRY(measures_join(ctx, &joined, part, added));
    else {
        joined = part;
        part = NULL;
    }
    TRY(measures_ordered(ctx, &ordered, joined));
    *out = ordered ? ordered : joined;
    if (!ordered)
        joined = NULL;
done:
    ddsc_measures_destroy(part);
    ddsc_measures_destroy(joined);
    return status;
}

/* Creates the neighbor lists of the remaining items without the removed ones. If the frame changes,
 * all lists are empty. */
static ddsc_status keep_lists(plan_index *x, const search_update *from, ddsc_graph **out,
                              int64_t n_kept, const int32_t *place, bool same_frame)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *all = NULL;
    if (!same_frame)
        return graph_create(x->ctx, out, n_kept, x->p.tau);
    TRY(search_update_graph(from, &all));
    TRY(graph_part(x->ctx, out, all, place, n_kept));
done:
    ddsc_graph_destroy(all);
    return status;
}

static ddsc_status open_again(plan_index *x, const measures *added, int64_t n_kept,
                              const int64_t *kept, const int32_t *place, int64_t *n_searched)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = x->ctx;
    measures *own = NULL;
    ddsc_graph *lists = NULL, *plain = NULL;
    plan_open_set *open = NULL, *old = x->open;
    double *scale = NULL;
    int64_t *slot = NULL, n;
    graph_request next = x->p;
    TRY(join_sets(x, &own, added, n_kept, kept));
    n = own->n;
    next.metric.own = NULL;
    TRY(metric_settle(ctx, &next.metric, own, &x->given));
    next.m = own;
    bool same = plan_same_frame(&next.metric.frame, &x->p.metric.frame);
    TRY(keep_lists(x, &old->lists, &lists, n_kept, place, same));
    if (old->rescales) {
        TRY(keep_lists(x, &old->plain, &plain, n_kept, place, same));
        TRY(MEM_NEW(ctx, scale, n_kept));
        for (int64_t k = 0; k < n_kept; k++)
            scale[k] = old->scales[old->current].scale[kept[k]];
    }
    measures *set = own;
    own = NULL;
    plan_known known = {.lists = lists, .plain = plain, .scale = scale, .n_kept = n_kept};
    TRY(open_and_search(ctx, &open, &slot, &next, set, &known));
    *n_searched = open->lists.n_open;
    plan_set_close(old, DDSC_OK, NULL);
    mem_free(ctx, x->slot);
    x->open = open;
    x->slot = slot;
    slot = NULL;
    x->p = next;
    x->n = n;
done:
    MEM_FREE(ctx, scale, slot);
    ddsc_graph_destroy(plain);
    ddsc_graph_destroy(lists);
    ddsc_measures_destroy(own);
    return status;
}

/* ---- changes ---- */

/* Sets place[i] to the new number of item i, or to -1 if it is removed. Writes the slots of the
 * remaining items to `kept`. */
static ddsc_status index_choose_kept(const plan_index *x, int32_t *place, int64_t *kept,
                                     int64_t n_removed, const int64_t *removed)
{
    int64_t n = 0;
    for (int64_t i = 0; i < x->n; i++)
        place[i] = 0;
    for (int64_t k = 0; k < n_removed; k++) {
        int64_t i = removed[k];
        if (i < 0 || i >= x->n)
            return ctx_fail(x->ctx, DDSC_ERROR_ARGUMENT,
                            "removed[%lld] is %lld, but the index has %lld items", (long long)k,
                            (long long)i, (long long)x->n);
        if (place[i] < 0)
            return ctx_fail(x->ctx, DDSC_ERROR_ARGUMENT, "item %lld is removed twice",
                            (long long)i);
        place[i] = -1;
    }
    for (int64_t i = 0; i < x->n; i++)
        if (place[i] == 0) {
            place[i] = (int32_t)n;
            kept[n++] = x->slot[i];
        }
    return DDSC_OK;
}

static ddsc_status check_change(const plan_index *x, int64_t n_added, int64_t n_removed,
                                const int64_t *removed)
{
    int64_t n = x->n - n_removed + n_added;
    if (x->is_broken)
        return ctx_fail(x->ctx, DDSC_ERROR_ARGUMENT,
                        "an earlier change of the index failed halfway; open a new index");
    if (n_removed < 0 || (n_removed > 0 && !removed))
        return ctx_fail(
            x->ctx, DDSC_ERROR_ARGUMENT,
            "n_removed is %lld and removed is %s; n_removed must be the length of removed",
            (long long)n_removed, removed ? "not NULL" : "NULL");
    if (n_removed >= x->n || n < x->p.tau + 1)
        return ctx_fail(x->ctx, DDSC_ERROR_INPUT,
                        "%lld items would remain, but %lld neighbors require at least %lld items, "
                        "one of them old",
                        (long long)n, (long long)x->p.tau, (long long)x->p.tau + 1);
    return DDSC_OK;
}

/* Returns the number of solves that reached their iteration limit since the set was opened. */
static int64_t count_unconverged(const plan_open_set *s)
{
    int64_t n = s->r.stats.n_not_converged;
    for (int w = 0; w < s->r.p.n_workers; w++)
        n += s->r.p.worker[w].stats.n_not_converged;
    return n;
}

ddsc_status plan_index_change(plan_index *x, const measures *added, int64_t n_removed,
                              const int64_t *removed, int64_t *n_searched)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = x->ctx;
    int32_t *place = NULL;
    int64_t *kept = NULL, *slots = NULL, n_added = added ? added->n : 0, before;
    bool done;
    CHECK(check_change(x, n_added, n_removed, removed));
    TRY(MEM_NEW(ctx, place, x->n));
    TRY(MEM_NEW(ctx, kept, x->n));
    TRY(MEM_NEW(ctx, slots, n_removed));
    TRY(index_choose_kept(x, place, kept, n_removed, removed));
    for (int64_t k = 0; k < n_removed; k++)
        slots[k] = x->slot[removed[k]];
    int64_t n_kept = x->n - n_removed, first = x->p.m->n;
    before = count_unconverged(x->open);
    TRY(change_open_set(x, added, n_removed, slots, &done));
    if (done) {
        *n_searched = x->open->lists.n_open;
        for (int64_t k = 0; k < n_kept; k++)
            x->slot[k] = kept[k];
        for (int64_t k = 0; k < n_added; k++)
            x->slot[n_kept + k] = first + k;
        x->n = n_kept + n_added;
    } else {
        TRY(open_again(x, added, n_kept, kept, place, n_searched));
        before = 0;
    }
    if (count_unconverged(x->open) > before)
        status = ctx_fail(ctx, DDSC_NOT_CONVERGED, "%lld solves reached the iteration limit",
                          (long long)(count_unconverged(x->open) - before));
done:
    MEM_FREE(ctx, slots, kept, place);
    return status;
}

ddsc_status plan_index_graph(const plan_index *x, ddsc_graph **out)
{
    CHECK(check_change(x, 0, 0, NULL));
    CHECK(plan_set_graph(x->open, out));
    graph_sort(*out);
    return DDSC_OK;
}
