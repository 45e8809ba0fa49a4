/* The tau nearest neighbors of each item, in bounded heaps. */
#ifndef DDSC_NEIGHBORS_PAIRS_NEAREST_H
#define DDSC_NEIGHBORS_PAIRS_NEAREST_H

#include "base/base.h"
#include "base/team.h"
#include "numeric/graph/graph.h"

/* Neighbors are ordered by (key, index), which is a total order, so the result does not depend on
 * the order in which pairs arrive. The key is the value or, if `by` is set, the value divided by
 * the scale of the neighbor. */
typedef struct nearest {
    int64_t first, n, tau; /* items first .. first + n - 1 have heaps */
    double *value;         /* n x tau */
    int32_t *index;
    int64_t *count;
    double *limit; /* worst key of a full heap, or +inf; read without locking */
    spin *lock;
    const local_scales *by; /* NULL after nearest_create; may be set before the first offer */
} nearest;

ddsc_status nearest_create(ddsc_context *ctx, nearest *near, int64_t first, int64_t n, int64_t tau);
void nearest_free(ddsc_context *ctx, nearest *near);

/* Adds `other` to the heap of a slot. The slot of an item is its number minus near->first. */
void nearest_put(nearest *near, int64_t slot, int64_t other, double d2);
/* Does the same for pairs that may be offered more than once. */
void nearest_put_once(nearest *near, int64_t slot, int64_t other, double d2);

/* Returns the current limit of a slot. Limits never increase, so an outdated limit may admit too
 * many entries, but never excludes an entry that belongs to the heap. */
static inline double nearest_limit(const nearest *near, int64_t slot)
{
    double limit;
    __atomic_load(&near->limit[slot], &limit, __ATOMIC_RELAXED);
    return limit;
}

/* Adds `other` to the heap of a slot if its key does not exceed the limit. */
static inline void nearest_offer_one(nearest *near, int64_t slot, int64_t other, double d2)
{
    if (local_key(near->by, other, d2) <= nearest_limit(near, slot))
        nearest_put(near, slot, other, d2);
}

/* Offers a pair to the heaps of both items, or to the one that exists. May be called from any
 * thread. */
static inline void nearest_offer(nearest *near, int64_t i, int64_t j, double d2)
{
    int64_t a = i - near->first, b = j - near->first;
    if (a >= 0 && local_key(near->by, j, d2) <= nearest_limit(near, a))
        nearest_put(near, a, j, d2);
    if (b >= 0 && local_key(near->by, i, d2) <= nearest_limit(near, b))
        nearest_put(near, b, i, d2);
}

/* Sorts the lists of the slots by ascending or, if worst_first is true, by descending key. The
 * order depends only on the entries. A list in descending order is still a heap. */
ddsc_status nearest_sort(ddsc_context *ctx, nearest *near, team_part slots, bool worst_first);
/* Joins the heaps after a search in which every rank of a team offered its pairs to local heaps.
 * Each rank receives the heaps of the rows that it owns (team_own). Set `once` if two ranks may
 * have offered the same pair. */
ddsc_status nearest_join(ddsc_context *ctx, nearest *near, bool once);
/* Sends the heaps of all rows from their owners to all ranks. Requires that `near` has been joined,
 * or that the pairs of each row were offered only on the rank that owns the row. */
ddsc_status nearest_spread(ddsc_context *ctx, nearest *near);
/* Joins and spreads the heaps. */
ddsc_status nearest_share(ddsc_context *ctx, nearest *near, bool once);

/* Sorts the lists and returns them as a graph. The caller must still free `near` with
 * nearest_free. */
ddsc_status nearest_finish(ddsc_context *ctx, nearest *near, ddsc_graph **graph);

#endif
