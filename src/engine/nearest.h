/* The tau nearest of each item, kept in heaps that live in the graph's arrays. */
#ifndef DDSC_ENGINE_NEAREST_H
#define DDSC_ENGINE_NEAREST_H

#include "base/base.h"

/* Neighbours are ordered by (value, index): a total order, so what is kept does not depend on the
 * order of arrival. */
typedef struct nearest {
    ddsc_graph *graph;
    int64_t *count;
    double *limit; /* the worst value kept once a heap is full, else +inf; read without the lock */
    spin *lock;
} nearest;

ddsc_status nearest_create(ddsc_context *ctx, nearest *near, int64_t n, int64_t tau);
void nearest_take(nearest *near, int64_t item, int64_t other, double d2);
/* Offer `other` at distance d2 to item's list; safe from any thread. A limit only ever falls, so a
 * stale one lets too much in, never too little. */
static inline void nearest_offer(nearest *near, int64_t item, int64_t other, double d2)
{
    double limit;
    __atomic_load(&near->limit[item], &limit, __ATOMIC_RELAXED);
    if (d2 <= limit)
        nearest_take(near, item, other, d2);
}
/* The same where a pair may come more than once. */
void nearest_take_once(nearest *near, int64_t item, int64_t other, double d2);
static inline void nearest_offer_once(nearest *near, int64_t item, int64_t other, double d2)
{
    double limit;
    __atomic_load(&near->limit[item], &limit, __ATOMIC_RELAXED);
    if (d2 <= limit)
        nearest_take_once(near, item, other, d2);
}
/* Heaps in an order that depends on what they hold alone: worst first. They stay heaps. */
ddsc_status nearest_sort(ddsc_context *ctx, nearest *near);
/* Sort the lists and hand over the graph; the rest of `near` is freed by nearest_free. */
ddsc_status nearest_finish(ddsc_context *ctx, nearest *near, ddsc_graph **graph);
void nearest_free(ddsc_context *ctx, nearest *near);

#endif
