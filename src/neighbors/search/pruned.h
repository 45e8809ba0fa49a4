/* The state of a pruned search, shared by pruned.c (rounds), pruned_lists.c (candidate lists),
 * pruned_walk.c (pairs on no list) and pruned_team.c (messages between ranks). Rows are processed
 * in fixed blocks (base/blocks.h). Each rank of a team owns a contiguous range of blocks. On this
 * rank, the lists and heaps of all other rows are empty, and results for other rows are sent to the
 * ranks that own them. */
#ifndef DDSC_NEIGHBORS_SEARCH_PRUNED_H
#define DDSC_NEIGHBORS_SEARCH_PRUNED_H

#include "base/blocks.h"
#include "base/team.h"
#include "neighbors/search/pruning.h"
#include "neighbors/search/search.h"

typedef struct candidate {
    double bound; /* lower bound on D^2, or on its key (local_key) for this item */
    int32_t index;
    uint8_t reached; /* current level of the bound, or level after this round */
    bool chosen;     /* chosen by this item in this round */
    bool also;       /* chosen by the other item, whose row another rank owns */
} candidate;

/* Remaining candidates of one item, with the smallest bound first. */
typedef struct candidate_list {
    candidate *at;
    int64_t n;
    double complete_to; /* every item with a first bound below this value was on the list */
} candidate_list;

/* A pair within reach that the walk found. */
typedef struct found_pair {
    double bound;
    int32_t i, j;
    uint8_t reached;
    bool at_i, at_j; /* the pair belongs on the list of i; on the list of j */
} found_pair;

typedef struct found_list {
    found_pair *at;
    int64_t n, capacity;
    int64_t first; /* index of its first pair among all pairs that get a dual bound */
} found_list;

/* Pairs that a block of rows selected in this round. */
typedef struct block_pairs {
    pair_ij *at;
    int64_t n, capacity;
} block_pairs;

/* A message about the pair (item, other), sent to the rank that owns the row `item`. */
typedef struct pair_message {
    double value; /* D^2 or a bound on it */
    int32_t item, other;
} pair_message;

typedef struct pruned {
    ddsc_context *ctx;
    pairs *p;
    team_part own; /* rows of this rank */
    bool alone;    /* this rank owns all rows */
    team_queue messages, found_messages, cuts;
    scratch cut_record; /* one per worker: a cut to send */
    void *device;       /* state of p->device, which computes the first bounds */
    int64_t n, tau;
    candidate *storage; /* entries of all lists */
    candidate_list *list;
    /* The items on the first lists (n x width, ascending), with a mark on settled pairs. */
    uint32_t *seen;
    int64_t width;
    nearest near;
    double *limit;    /* tau-th key of each item when the lists were last cleaned */
    double *reach;    /* largest key that the walk must find: the limit with slack, or -inf */
    double *within;   /* the same limit as D^2, valid for any other item */
    int64_t own_left; /* number of candidates on the lists of this rank after the last cleaning */
    int64_t n_left;   /* number of candidates on all lists; set when pairs are assigned to ranks */
    int64_t batch;    /* number of candidates of an item that are solved in one round */
    bool solving;     /* this round chooses pairs for solves rather than for dual bounds */
    block_pairs *block;
    pair_ij *pair; /* pairs of this round by block; then this rank's share of all pairs */
    int64_t n_pairs, pair_capacity;
    int64_t n_round;        /* number of pairs of all ranks */
    double *enough, *bound; /* per pair: value that the bound must exceed; bound computed by the
                             * device */
    int64_t enough_capacity, bound_capacity;
    bool made;         /* s->bound is filled; otherwise each bound is computed when it is used */
    found_list *found; /* one per worker: pairs found in the walk */
} pruned;

static inline bool pruned_owns(const pruned *s, int64_t item)
{
    return s->alone || (item >= s->own.begin && item < s->own.end);
}

/* ---- messages (pruned_team.c); a single rank sends no messages ---- */

ddsc_status pruned_team_open(pruned *s);
void pruned_team_close(pruned *s);
/* Queues a message about a row that another rank owns. */
ddsc_status pruned_send(pruned *s, int64_t item, int64_t other, double value, int worker);
/* Delivers the queued messages. Calls fn for each message about this rank's rows, from many
 * threads. */
typedef void (*message_fn)(pruned *s, const pair_message *messages);
ddsc_status pruned_deliver(pruned *s, message_fn fn);
/* Divides the pairs of the round evenly among the ranks. Sets n_round and n_left. */
ddsc_status pruned_divide(pruned *s);
/* Queues a cut for a row that another rank owns. pruned_deliver_cuts delivers all cuts, and applies
 * the cuts for this rank's rows. */
ddsc_status pruned_send_cut(pruned *s, int64_t item, const pair_cut *cut, int worker);
ddsc_status pruned_deliver_cuts(pruned *s);
/* Sends the pairs found by the walk to the owners of their items. */
ddsc_status pruned_send_found(pruned *s);
/* Raises the bounds on the list of an item that this rank owns, using a linear minorant. */
void pruned_apply_cut(pruned *s, int64_t item, const pair_cut *cut, int worker);

/* Builds the first list of every item from its smallest first bounds. If the offer has short lists
 * and known values fill all heaps, leaves the lists empty: the walk then finds all candidates. */
ddsc_status pruned_lists_make(pruned *s);
/* Offers the values of an earlier search to the heaps. */
void pruned_offer_known(pruned *s);
/* Marks the pairs with known values as settled on all lists. */
void pruned_settle_known(pruned *s);
/* Returns true if an earlier search stored the value of the pair. */
bool pruned_is_known(const pruned *s, int64_t i, int64_t j);
/* Adds each pair found by the walk to the lists of its items. All lists must be empty. */
ddsc_status pruned_lists_refill(pruned *s);
/* Removes entries that are settled or out of reach, and sorts the lists. If `solved` is true, also
 * sends the new limits to all ranks. */
ddsc_status pruned_lists_clean(pruned *s, bool solved);
/* Returns the entry of `other` in the list of `item`, or NULL. */
candidate *pruned_list_find(const pruned *s, int64_t item, int64_t other);

/* States whether an item was on the first list of another item, and whether the pair is settled. */
typedef enum seen_state { NOT_SEEN, SEEN, SEEN_SETTLED } seen_state;
seen_state pruned_seen(const pruned *s, int64_t item, int64_t other);
void pruned_seen_settle(pruned *s, int64_t item, int64_t other);

/* If a device is available, computes bounds of this level, up to s->enough, for the pairs of the
 * round. Sets s->made to true if the bounds were computed. */
ddsc_status pruned_bounds_make(pruned *s, bound_level level);
/* Returns the bound of pair k, which is the device's bound if s->made is true, and otherwise
 * computed on the CPU. */
double pruned_bound_of(pruned *s, bound_level level, int64_t k, int worker);
/* Processes the lists until no candidate within reach remains on them. */
ddsc_status pruned_rounds(pruned *s, bool reports);
/* Processes the pairs that were on no list but are within reach of an item whose list ended before
 * its limit. */
ddsc_status pruned_walk(pruned *s);

#endif
