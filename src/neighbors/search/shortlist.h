/* What float bounds leave in doubt: for each item the few with the least bounds, of which those stay that
 * can be among its tau nearest. Whoever made the bounds, the rule is this one. */
#ifndef DDSC_NEIGHBORS_SEARCH_SHORTLIST_H
#define DDSC_NEIGHBORS_SEARCH_SHORTLIST_H

#include "neighbors/search/search.h"

typedef struct doubt {
    int64_t n, tau, most;
    int64_t first;  /* the first item that there are lists of */
    int32_t *index; /* x most; the first count of a list are candidates */
    int64_t *count; /* n; -1: everybody is one */
    double *spread; /* n: see prefilter_enclose */
    const local_scales *by;
    double relative, absolute; /* rounding of keys: those of a device are floats */
} doubt;

/* index: the caller's to make. */
ddsc_status search_doubt_create(ddsc_context *ctx, doubt *d, int64_t n, int64_t tau, int64_t most);
void search_doubt_free(ddsc_context *ctx, doubt *d);
/* key[k] is the key of a lower bound for (i, k-th of its list), no other item has one below the largest
 * of them. Candidates move to the front of the list. upper: room for `most`. */
void search_doubt_settle(const doubt *d, int64_t i, const double *key, double *upper);
/* Adds the items of [first, end) that have everybody as candidates. *few: not too many have. */
void search_doubt_count(const doubt *d, int64_t end, int64_t *open, bool *few);
/* Candidates of [first, end) go to the metric. */
ddsc_status search_doubt_rank(const doubt *d, int64_t end, ranking *r);

/* Whether a device found the candidates. */
typedef enum filtered {
    FILTERED_NOT,      /* there is none, or it cannot */
    FILTERED_IN_DOUBT, /* its bounds leave too many items in doubt */
    FILTERED
} filtered;

/* By the device that the context asks for; where it could, all candidates have been ranked, those of a strip while
 * the device was at the next. */
ddsc_status search_on_device(pairs *p, ranking *r, const prefilter_rows *rows, int64_t tau,
                             filtered *how);

#endif
