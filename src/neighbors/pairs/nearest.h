/* The tau nearest of each item, kept in bounded heaps. */
#ifndef DDSC_NEIGHBORS_PAIRS_NEAREST_H
#define DDSC_NEIGHBORS_PAIRS_NEAREST_H

#include "base/base.h"
#include "base/team.h"
#include "numeric/graph/graph.h"

/* Neighbours are ordered by (key, index), the key being the value or, with `by`, the value over the scale of
 * the neighbour: a total order, so what is kept does not depend on the
 * order of arrival. */
typedef struct nearest {
    int64_t first, n, tau; /* items first .. first + n - 1 have a heap */
    double *value;         /* n x tau */
    int32_t *index;
    int64_t *count;
    double *limit; /* the worst key kept once a heap is full, else +inf; read without the lock */
    spin *lock;
    const local_scales *by; /* NULL from nearest_create; may be set before the first offer */
} nearest;

ddsc_status nearest_create(ddsc_context *ctx, nearest *near, int64_t first, int64_t n, int64_t tau);
void nearest_free(ddsc_context *ctx, nearest *near);

/* `slot`: an item less `first`. */
void nearest_put(nearest *near, int64_t slot, int64_t other, double d2);
/* The same where a pair may come more than once. */
void nearest_put_once(nearest *near, int64_t slot, int64_t other, double d2);

/* A limit only ever falls, so a stale one lets too much in, never too little. */
static inline double nearest_limit(const nearest *near, int64_t slot)
{
    double limit;
    __atomic_load(&near->limit[slot], &limit, __ATOMIC_RELAXED);
    return limit;
}

/* Offer `other` to one item. */
static inline void nearest_offer_one(nearest *near, int64_t slot, int64_t other, double d2)
{
    if (local_key(near->by, other, d2) <= nearest_limit(near, slot))
        nearest_put(near, slot, other, d2);
}

/* Offer a pair to those of its ends that have a heap; safe from any thread. */
static inline void nearest_offer(nearest *near, int64_t i, int64_t j, double d2)
{
    int64_t a = i - near->first, b = j - near->first;
    if (a >= 0 && local_key(near->by, j, d2) <= nearest_limit(near, a))
        nearest_put(near, a, j, d2);
    if (b >= 0 && local_key(near->by, i, d2) <= nearest_limit(near, b))
        nearest_put(near, b, i, d2);
}

/* Lists of these slots in an order that depends on what they hold alone: nearest first, or worst first,
 * which leaves them heaps. */
ddsc_status nearest_sort(ddsc_context *ctx, nearest *near, team_part slots, bool worst_first);
/* After a search that was divided over a team, where every rank has offered its pairs to heaps of its own: the
 * heaps of rank r's rows (team_own of n in blocks) come together there. once: two ranks may have offered
 * the same pair. */
ddsc_status nearest_join(ddsc_context *ctx, nearest *near, bool once);
/* The heaps of all rows from their ranks to all; `near` has been joined, or rows were offered to their own rank alone. */
ddsc_status nearest_spread(ddsc_context *ctx, nearest *near);
/* Both. */
ddsc_status nearest_share(ddsc_context *ctx, nearest *near, bool once);

/* Sort the lists and hand them over as a graph; the rest of `near` is freed by nearest_free. */
ddsc_status nearest_finish(ddsc_context *ctx, nearest *near, ddsc_graph **graph);

#endif
