/* The state of a pruned search: rounds in pruned.c, candidate lists in pruned_lists.c, the walk
 * over what is on no list in pruned_walk.c, opening and closing in pruned_open.c. */
#ifndef DDSC_SEARCH_PRUNED_H
#define DDSC_SEARCH_PRUNED_H

#include <math.h>

#include "engine/backend.h"
#include "engine/nearest.h"
#include "engine/pair_set.h"
#include "graph/graph.h"
#include "search/search.h"

/* How far a candidate has come: a quick look tells the order in which to solve as long as no limit
 * is known. */
typedef enum stage { LISTED, CUT, LOOKED_AT, REFINED, SETTLED, N_STAGES } stage;

typedef struct candidate {
    double bound; /* of the squared distance, from below */
    int32_t index;
    uint8_t stage; /* reached or on its way in this round */
    bool owner;    /* of a pair on two lists one end is counted */
} candidate;

/* What is left to look at for one item, nearest bound first. */
typedef struct candidates {
    candidate *at;
    int64_t n;
    double complete_to; /* every other item with a first bound below this was on the list */
} candidates;

/* A pair taken off the list of i, or one that a walk left in reach. */
typedef struct pair_entry {
    double bound;
    int32_t i, j;
    uint8_t stage;
    bool at_i, at_j; /* on whose lists it belongs */
} pair_entry;

typedef struct entry_list {
    pair_entry *at;
    int64_t n, room;
} entry_list;

/* Bounds evaluated and pairs that came to their end, by stage. */
typedef struct stage_counts {
    int64_t first, closer, cut, refined, last;
} stage_counts;

typedef struct worker_room {
    float *potential; /* of a cut: one slot a support row */
    double *tile;     /* of a walk */
    entry_list dropped, found;
    stage_counts bounds;
    int64_t n_pruned[N_STAGES], n_abandoned, n_solved;
    int64_t n_met; /* pairs on no first list that a walk found in reach */
    ddsc_pair_stats stats;
} worker_room;

typedef struct search {
    ddsc_context *ctx;
    const measures *m;
    int64_t n, tau;
    const pair_backend *backend, *bound;
    void *state, *bound_state;
    bool refines; /* the metric has refined bounds for this set */
    int64_t bound_side;
    int64_t together;    /* pairs solved at once; 0: one by one */
    candidate *first;    /* storage of the lists */
    int32_t *seen;       /* n x width, ascending: who was on the first lists */
    uint8_t *seen_stage; /* how far they came */
    int64_t width, n_listed;
    candidates *list;
    nearest near;
    double *limit; /* tau-th distance of each item when the lists were last looked through */
    double *reach; /* what a walk looks for: the limit and room for rounding, -1 for nothing */
    pair_set settled;
    pair_ij *pair; /* of the round */
    int64_t n_pairs, pair_room;
    int n_workers;
    worker_room *room;
} search;

ddsc_status search_open(search *s, const pair_job *job);
void search_close(search *s);

/* Strictly beyond, with room for the rounding of values: equal distances are decided by index,
 * never by a bound. */
static inline double reach_of(double limit)
{
    return limit + (isfinite(limit) ? 1e-9 * fabs(limit) : 0);
}

static inline bool beyond(double bound, double limit)
{
    return bound > reach_of(limit);
}

/* The nearest by the first bound for every item. */
ddsc_status lists_make(search *s);
/* Put entries on the lists of their ends; all lists are empty before. */
ddsc_status lists_take(search *s);
/* Leave out what is settled or out of reach, sort, take a new look at the limits. */
ddsc_status lists_clean(search *s);
/* The entry of `other` in the list of `item`, or NULL. */
candidate *list_find(const search *s, int64_t item, int64_t other);
/* Place of `other` among those first seen by `item`, or -1. */
int64_t seen_find(const search *s, int64_t item, int64_t other);
ddsc_status entry_push(ddsc_context *ctx, entry_list *list, pair_entry entry);

/* Work the lists off until nothing in reach is left on them. */
ddsc_status search_rounds(search *s, bool reports);
/* Pairs on no list that are in reach of an item whose list ran out before its limit. */
ddsc_status search_walk(search *s);

double closer_bound(const search *s, int64_t i, int64_t j, double bound, double enough);

#endif
