/* A set with spare capacity for more items (growing.c). */
#ifndef DDSC_DATA_GROWING_H
#define DDSC_DATA_GROWING_H

#include "data/measures.h"

typedef struct measures_growing {
    measures *set;
    int32_t *slot; /* hash table of the rows by their points */
    uint64_t mask;
} measures_growing;

/* Copies the items of an ordered set, without names, to a set with capacity for `more` items of
 * average size. Even on error, the caller must call measures_growing_free. */
ddsc_status measures_growing_make(ddsc_context *ctx, measures_growing *g, const measures *m,
                                  int64_t more);
void measures_growing_free(ddsc_context *ctx, measures_growing *g);
/* Appends the items of an ordered set. If an item does not fit, returns false; the set then
 * contains its previous items, and nothing more can be appended to it. */
bool measures_growing_append(measures_growing *g, const measures *from);

#endif
