/* The state of a pruned search: rounds in pruned.c, candidate lists in pruned_lists.c, opening and
 * closing in pruned_open.c. */
#ifndef DDSC_PAIRS_PRUNED_H
#define DDSC_PAIRS_PRUNED_H

#include <math.h>

#include "graph/graph.h"
#include "pairs/pair_set.h"
#include "pairs/pairs.h"

/* How far a candidate has come: a quick look tells the order in which to solve as long as no limit
 * is known. */
typedef enum stage { NEW, LOOKED_AT, REFINED, SOLVED } stage;

typedef struct candidate {
    double bound; /* of the squared distance, from below */
    int32_t index;
    stage stage; /* reached or on its way in this round */
} candidate;

/* What is left to look at for one item, nearest bound first. */
typedef struct candidates {
    candidate *at;
    int64_t n;
    double complete_to; /* every other item with a first bound below this was on the list */
    candidate *own;     /* storage of a refilled list */
} candidates;

typedef struct worker_room {
    float *potential; /* of a cut: one slot a support row */
    double *rows;     /* of a refill: bounds of some items against all */
    int64_t n_bounds, n_refilled;
    ddsc_pair_stats stats;
} worker_room;

typedef struct search {
    ddsc_context *ctx;
    const measures *m;
    int64_t n, tau;
    const pair_backend *backend, *bound;
    void *state, *bound_state;
    bool refines; /* the metric has refined bounds for this set */
    int64_t bound_side, n_bounds;
    candidate *first; /* storage of the first lists */
    int32_t *seen;    /* n x width: who was on them */
    int64_t width;
    candidates *list;
    nearest near;
    double *limit; /* tau-th distance of each item when the lists were last looked through */
    pair_set solved;
    pair_ij *pair; /* of the round */
    int64_t n_pairs, pair_room;
    int n_workers;
    worker_room *room;
} search;

ddsc_status search_open(search *s, const pair_job *job);
void search_close(search *s);

/* Strictly beyond, with room for the rounding of values: equal distances are decided by index,
 * never by a bound. */
static inline bool beyond(double bound, double limit)
{
    return bound > limit + (isfinite(limit) ? 1e-9 * fabs(limit) : 0);
}

/* The nearest by the first bound for every item. */
ddsc_status lists_make(search *s);
/* Leave out what is solved or out of reach, sort, take a new look at the limits. */
ddsc_status lists_clean(search *s);
/* Lists that ran out before their limit get all others that their first bounds leave in reach. */
ddsc_status lists_refill(search *s, int64_t *n_refilled);
/* The entry of `other` in the list of `item`, or NULL. */
candidate *list_find(const search *s, int64_t item, int64_t other);
void list_drop(ddsc_context *ctx, candidates *c);

#endif
