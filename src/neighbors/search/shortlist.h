/* shortlist: selects the candidates of an item from its smallest float bounds. Candidates are the
 * items that can still be among the tau nearest. The CPU and the device code share the selection
 * rule (see shortlist.c). */
#ifndef DDSC_NEIGHBORS_SEARCH_SHORTLIST_H
#define DDSC_NEIGHBORS_SEARCH_SHORTLIST_H

#include "neighbors/search/search.h"

typedef struct shortlist {
    int64_t n, tau, most;
    int64_t first;  /* first item that has a list */
    int32_t *index; /* lists of `most` entries, one list per item from `first` on; after settling,
                     * the candidates come first */
    int64_t *count; /* n: number of candidates, or -1 if all items are candidates */
    double *spread; /* n: see prefilter_enclose */
    const local_scales *by;
    double relative, absolute; /* relative and absolute rounding errors of the keys from a device */
} shortlist;

/* Allocates `count` and `spread`. The caller allocates `index`. */
ddsc_status search_shortlist_create(ddsc_context *ctx, shortlist *d, int64_t n, int64_t tau,
                                    int64_t most);
void search_shortlist_free(ddsc_context *ctx, shortlist *d);
/* Moves the candidates of item i to the front of its list and stores their number in count. key[k]
 * is the key of a lower bound on the distance between item i and the k-th item on its list. The
 * keys of items outside the list are at least the largest of these keys. `upper` is scratch memory
 * for `most` values. */
void search_shortlist_settle(const shortlist *d, int64_t i, const double *key, double *upper);
/* Adds to *open the number of items in [first, end) that have all other items as candidates. Sets
 * *few to true if *open is not too large. */
void search_shortlist_count(const shortlist *d, int64_t end, int64_t *open, bool *few);
/* Passes the candidates of items [first, end) to the ranking, which computes the values. */
ddsc_status search_shortlist_rank(const shortlist *d, int64_t end, ranking *r);

/* Result of the candidate search on a device. */
typedef enum filtered {
    FILTERED_NOT,       /* no device was used, or it failed */
    FILTERED_UNDECIDED, /* too many items have undecided candidates */
    FILTERED
} filtered;

/* Finds the candidates on the device that the context selects. If *how is FILTERED, all candidates
 * have been ranked. The candidates in one strip of rows are ranked while the device computes the
 * next strip. */
ddsc_status search_on_device(pairs *p, ranking *r, const prefilter_rows *rows, int64_t tau,
                             filtered *how);

#endif
