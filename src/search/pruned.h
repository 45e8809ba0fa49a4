/* The state of a pruned search: rounds in pruned.c, candidate lists in pruned_lists.c, the walk
 * over what is on no list in pruned_walk.c. Rows are looked through in fixed blocks (base/blocks.h),
 * and a row's data is written by one thread at a time: a block could as well live in another process. */
#ifndef DDSC_SEARCH_PRUNED_H
#define DDSC_SEARCH_PRUNED_H

#include "base/blocks.h"
#include "search/reach.h"
#include "search/search.h"

typedef struct candidate {
    double bound; /* from below: of the squared distance, or of its key (local_key) for this item */
    int32_t index;
    uint8_t reached; /* or on its way in this round */
    bool chosen;     /* for this round, by this end */
} candidate;

/* What is left to look at for one item, least bound first. */
typedef struct candidate_list {
    candidate *at;
    int64_t n;
    double complete_to; /* every other item with a first bound below this was on the list */
} candidate_list;

/* A pair that the walk left in reach. */
typedef struct found_pair {
    double bound;
    int32_t i, j;
    uint8_t reached;
    bool at_i, at_j; /* on whose lists it belongs */
} found_pair;

typedef struct found_list {
    found_pair *at;
    int64_t n, capacity;
} found_list;

/* The pairs that a block of rows put down for the round. */
typedef struct block_pairs {
    pair_ij *at;
    int64_t n, capacity;
} block_pairs;

typedef struct pruned {
    ddsc_context *ctx;
    pairs *p;
    void *device; /* state of p->device over the first bounds */
    int64_t n, tau;
    candidate *storage; /* of the lists */
    candidate_list *list;
    /* Who was on the first lists: n x width, ascending, and a mark for pairs that are settled. */
    uint32_t *seen;
    int64_t width;
    nearest near;
    double *limit;  /* tau-th distance of each item when the lists were last looked through */
    double *reach;  /* what the walk looks for: the limit and some slack, -inf for nothing */
    double *within; /* the same as D^2, whatever the other end */
    int64_t n_left; /* candidates on all lists then */
    bool solving;   /* what the round chooses for: solves, or dual bounds */
    block_pairs *block;
    pair_ij *pair; /* of the round, block by block */
    int64_t n_pairs, pair_capacity;
    found_list *found; /* per worker: of the walk */
} pruned;

/* The nearest by the first bound for every item. */
ddsc_status pruned_lists_make(pruned *s);
/* Values of an earlier search: offered, and settled wherever they are on lists. */
void pruned_take_known(pruned *s);
/* Has an earlier search left the value of the pair? */
bool pruned_is_known(const pruned *s, int64_t i, int64_t j);
/* Put what the walk found on the lists of its ends; all lists are empty before. */
ddsc_status pruned_lists_refill(pruned *s);
/* Leave out what is settled or out of reach, sort, take a new look at the limits. */
ddsc_status pruned_lists_clean(pruned *s);
/* The entry of `other` in the list of `item`, or NULL. */
candidate *pruned_list_find(const pruned *s, int64_t item, int64_t other);

/* Was `other` on the first list of `item`, and is the pair settled? */
typedef enum seen_state { NOT_SEEN, SEEN, SEEN_SETTLED } seen_state;
seen_state pruned_seen(const pruned *s, int64_t item, int64_t other);
void pruned_seen_settle(pruned *s, int64_t item, int64_t other);

/* Work the lists off until nothing in reach is left on them. */
ddsc_status pruned_rounds(pruned *s, bool reports);
/* Pairs on no list that are in reach of an item whose list ran out before its limit. */
ddsc_status pruned_walk(pruned *s);

#endif
