/* The state of a pruned search: rounds in pruned.c, candidate lists in pruned_lists.c, the walk
 * over what is on no list in pruned_walk.c, what travels between ranks of a team in pruned_team.c. Rows are
 * looked through in fixed blocks (base/blocks.h). A rank owns a run of blocks: lists and heaps of other rows
 * are empty there, and what it finds out about them goes to their owners by mail. */
#ifndef DDSC_NEIGHBORS_SEARCH_PRUNED_H
#define DDSC_NEIGHBORS_SEARCH_PRUNED_H

#include "base/blocks.h"
#include "base/team.h"
#include "neighbors/search/pruning.h"
#include "neighbors/search/search.h"

typedef struct candidate {
    double bound; /* from below: of the squared distance, or of its key (local_key) for this item */
    int32_t index;
    uint8_t reached; /* or on its way in this round */
    bool chosen;     /* for this round, by this end */
    bool also;       /* by the other end, which belongs to another rank */
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
    int64_t first; /* of its pairs among those that get a dual bound */
} found_list;

/* The pairs that a block of rows put down for the round. */
typedef struct block_pairs {
    pair_ij *at;
    int64_t n, capacity;
} block_pairs;

/* What a rank tells the owner of a row: of the pair (item, other). */
typedef struct pair_news {
    double value; /* a bound of D^2, or D^2 */
    int32_t item, other;
} pair_news;

typedef struct pruned {
    ddsc_context *ctx;
    pairs *p;
    team_part own; /* rows of this rank */
    bool alone;    /* all of them */
    team_mail news, found_news, cuts;
    scratch cut_room; /* per worker: a cut on its way */
    void *device;     /* state of p->device over the first bounds */
    int64_t n, tau;
    candidate *storage; /* of the lists */
    candidate_list *list;
    /* Who was on the first lists: n x width, ascending, and a mark for pairs that are settled. */
    uint32_t *seen;
    int64_t width;
    nearest near;
    double *limit;    /* tau-th distance of each item when the lists were last looked through */
    double *reach;    /* what the walk looks for: the limit and some slack, -inf for nothing */
    double *within;   /* the same as D^2, whatever the other end */
    int64_t own_left; /* candidates on this rank's lists then */
    int64_t n_left;   /* on all; known when pairs were dealt out */
    int64_t batch;    /* candidates of an item that a round solves */
    bool solving;     /* what the round chooses for: solves, or dual bounds */
    block_pairs *block;
    pair_ij *pair; /* of the round, block by block; then this rank's share of those of all ranks */
    int64_t n_pairs, pair_capacity;
    int64_t n_round;        /* of all ranks */
    double *enough, *bound; /* of this rank's pairs: asked for and found by a device at once */
    int64_t enough_capacity, bound_capacity;
    bool made;         /* the bounds were; else each is asked for where it is used */
    found_list *found; /* per worker: of the walk */
} pruned;

static inline bool pruned_owns(const pruned *s, int64_t item)
{
    return s->alone || (item >= s->own.begin && item < s->own.end);
}

/* ---- what travels (pruned_team.c); nothing does where a rank is alone ---- */

ddsc_status pruned_team_open(pruned *s);
void pruned_team_close(pruned *s);
/* Put down news of a row that another rank owns. */
ddsc_status pruned_tell(pruned *s, int64_t item, int64_t other, double value, int worker);
/* Deliver it; fn sees what came for own rows, from many threads. */
typedef void (*news_fn)(pruned *s, const pair_news *news);
ddsc_status pruned_hear(pruned *s, news_fn fn);
/* The pairs of the round dealt out evenly; n_round and n_left are known then. */
ddsc_status pruned_deal(pruned *s);
/* A cut of a row that another rank owns, and those that came for own rows. */
ddsc_status pruned_tell_cut(pruned *s, int64_t item, const pair_cut *cut, int worker);
ddsc_status pruned_hear_cuts(pruned *s);
/* What the walk found to the owners of its ends. */
ddsc_status pruned_deal_found(pruned *s);
/* Raise the bounds on the list of an own row by a minorant. */
void pruned_apply_cut(pruned *s, int64_t item, const pair_cut *cut, int worker);

/* The nearest by the first bound for every item. */
ddsc_status pruned_lists_make(pruned *s);
/* Values of an earlier search: offered, and settled wherever they are on lists. */
void pruned_take_known(pruned *s);
/* Has an earlier search left the value of the pair? */
bool pruned_is_known(const pruned *s, int64_t i, int64_t j);
/* Put what the walk found on the lists of its ends; all lists are empty before. */
ddsc_status pruned_lists_refill(pruned *s);
/* Leave out what is settled or out of reach, sort; solved: take a new look at the limits. */
ddsc_status pruned_lists_clean(pruned *s, bool solved);
/* The entry of `other` in the list of `item`, or NULL. */
candidate *pruned_list_find(const pruned *s, int64_t item, int64_t other);

/* Was `other` on the first list of `item`, and is the pair settled? */
typedef enum seen_state { NOT_SEEN, SEEN, SEEN_SETTLED } seen_state;
seen_state pruned_seen(const pruned *s, int64_t item, int64_t other);
void pruned_seen_settle(pruned *s, int64_t item, int64_t other);

/* Bounds of this level of the pairs at hand, up to s->enough, by a device if there is one: s->made tells. */
ddsc_status pruned_bounds_make(pruned *s, bound_level level);
/* That of pair k. */
double pruned_bound_of(pruned *s, bound_level level, int64_t k, int worker);
/* Work the lists off until nothing in reach is left on them. */
ddsc_status pruned_rounds(pruned *s, bool reports);
/* Pairs on no list that are in reach of an item whose list ran out before its limit. */
ddsc_status pruned_walk(pruned *s);

#endif
