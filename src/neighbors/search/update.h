/* Neighbor lists of a set that changes (update.c). Items occupy slots in ascending order. A removed
 * item leaves its slot empty, and a new item takes the next slot. */
#ifndef DDSC_NEIGHBORS_SEARCH_UPDATE_H
#define DDSC_NEIGHBORS_SEARCH_UPDATE_H

#include "base/workspace.h"
#include "neighbors/search/search.h"

/* A value that was computed for the list of one item and is offered to the list of another. */
typedef struct offered {
    double d2;
    int32_t item, other;
} offered;

typedef struct offer_list {
    offered *at;
    int64_t n, capacity;
} offer_list;

typedef struct search_update {
    pairs *p;
    int64_t n, capacity;              /* slots in use; allocated slots */
    int64_t first;                    /* first new slot of the current search */
    nearest near;                     /* a heap per slot */
    uint8_t *is_gone;                 /* capacity: the slot is empty */
    uint8_t *is_open;                 /* capacity: the list of the item must be searched */
    uint8_t *pushes;                  /* capacity: the item must be offered to the complete lists */
    const struct search_update *also; /* other lists whose values can be reused, or NULL */
    int32_t *work;                    /* capacity: items that are searched or offered, ascending */
    int64_t n_work, n_open, begin;    /* begin: first item of the block */
    int32_t *place;     /* capacity: position of each item in the order of the first bounds */
    offer_list *offers; /* per worker */
    scratch heap, row;  /* per worker: candidates; first bounds of one item */
} search_update;

/* Creates empty lists of tau neighbors for `capacity` slots. The caller must call search_update_free
 * even after an error. */
ddsc_status search_update_create(pairs *p, search_update *u, int64_t tau, int64_t capacity);
void search_update_free(search_update *u);
/* Uses n slots and copies their neighbor lists. Lists with fewer than tau entries become open. */
void search_update_take(search_update *u, const ddsc_graph *kept, int64_t n);
/* Removes the items in the n listed slots, and opens the lists that contained them. */
void search_update_remove(search_update *u, int64_t n, const int64_t *slot);
/* Reorders the lists by the new scales `by`, which replace the scales of the used slots. Opens the
 * lists that may no longer be complete, and pushes the items whose keys decreased. `by` must
 * outlive `u`. */
void search_update_rescale(search_update *u, const local_scales *by);
/* Adds empty, open lists up to slot n. The next search offers the new items to all other lists. */
void search_update_add(search_update *u, int64_t n);
/* Searches the open lists and offers the pushed items to the complete lists, so that all lists
 * equal the lists from a search over all items. Afterwards, no list is open. */
ddsc_status search_update_run(search_update *u);
/* Creates the graph of the items in the occupied slots, numbered in slot order. */
ddsc_status search_update_graph(const search_update *u, ddsc_graph **out);

#endif
