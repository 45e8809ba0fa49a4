/* What float bounds leave in doubt: for each item the few with the least bounds, of which those stay that
 * can be among its tau nearest. Whoever made the bounds, the rule is this one. */
#ifndef DDSC_SEARCH_DOUBT_H
#define DDSC_SEARCH_DOUBT_H

#include "engine/prefilter.h"

typedef struct doubt {
    int64_t n, tau, most;
    int32_t *index; /* n x most; the first count of a list are candidates */
    int64_t *count; /* n; -1: everybody is one */
    double *spread; /* n: see prefilter_enclose */
    const local_scales *by;
    double relative, absolute; /* rounding of keys: those of a device are floats */
} doubt;

/* index: made by the caller, or, where NULL, here. */
ddsc_status search_doubt_create(ddsc_context *ctx, doubt *d, int64_t n, int64_t tau, int64_t most);
void search_doubt_free(ddsc_context *ctx, doubt *d);
/* key[k] is the key of a lower bound for (i, k-th of its list), no other item has one below the largest
 * of them. Candidates move to the front of the list. upper: room for `most`. */
void search_doubt_settle(const doubt *d, int64_t i, const double *key, double *upper);
/* So many items may have everybody as candidates. */
int64_t search_doubt_allowed(int64_t n);

/* Whether a device found the candidates. */
typedef enum filtered {
    FILTERED_NOT,      /* there is none, or it cannot */
    FILTERED_IN_DOUBT, /* its bounds leave too many items in doubt */
    FILTERED
} filtered;

/* By the device that the context asks for: d comes to be. */
ddsc_status search_on_device(ddsc_context *ctx, doubt *d, const prefilter_rows *rows, int64_t tau,
                             const local_scales *by, filtered *how);

#endif
