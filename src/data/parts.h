/* The steps of measures_build, each over the raw parts of a set. */
#ifndef DDSC_DATA_PARTS_H
#define DDSC_DATA_PARTS_H

#include "data/measures.h"

/* Sizes, offsets, indices, finite points and weights. Negative zeros become zeros. */
ddsc_status parts_check(ddsc_context *ctx, measures_parts *p, const char *where);
/* Remove entries of weight zero, make the index when there is none; empty items are refused or left
 * without entries. */
ddsc_status parts_drop_zeros(ddsc_context *ctx, measures_parts *p, ddsc_on_empty on_empty,
                             const char *where, int64_t *n_dropped);
/* One row for equal points, rows nobody uses removed, table order kept. */
ddsc_status parts_merge_points(ddsc_context *ctx, measures_parts *p);
/* Indices ascending within each item, equal ones added up. */
ddsc_status parts_merge_entries(ddsc_context *ctx, measures_parts *p, int64_t *n_merged);
ddsc_status parts_normalise(ddsc_context *ctx, measures_parts *p);

/* Do the rows lie on a regular grid with at most four cells per row? */
ddsc_status parts_find_grid(ddsc_context *ctx, measures_grid *grid, int64_t v, int64_t d,
                            const double *support);

#endif
