/* The steps of measures_build, each operating on the raw parts of a set. */
#ifndef DDSC_DATA_PARTS_H
#define DDSC_DATA_PARTS_H

#include "data/measures.h"

/* Checks sizes, offsets, indices, points and weights. Negative zeros become zeros. */
ddsc_status parts_check(ddsc_context *ctx, measures_parts *p, const char *where);
/* Removes entries with weight zero, and creates the index if it is NULL. Depending on on_empty,
 * empty items are rejected or remain without entries. */
ddsc_status parts_drop_zeros(ddsc_context *ctx, measures_parts *p, ddsc_on_empty on_empty,
                             const char *where, int64_t *n_dropped);
/* Merges equal points into one row and removes unused rows. The order of the table is preserved. */
ddsc_status parts_merge_points(ddsc_context *ctx, measures_parts *p);
/* Sorts the indices of each item in ascending order and adds the weights of equal indices. */
ddsc_status parts_merge_entries(ddsc_context *ctx, measures_parts *p, int64_t *n_merged);
ddsc_status parts_normalize(ddsc_context *ctx, measures_parts *p);

/* Detects whether the rows lie on a regular grid with at most four cells per row. */
ddsc_status parts_find_grid(ddsc_context *ctx, measures_grid *grid, int64_t v, int64_t d,
                            const double *support);

#endif
