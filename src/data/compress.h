/* Merges the points of an item. The public function, which also reports the exact error, is in
 * distance/exact/compress_items.c. */
#ifndef DDSC_DATA_COMPRESS_H
#define DDSC_DATA_COMPRESS_H

#include "base/base.h"

typedef struct merge_work {
    ddsc_context *ctx; /* polled for cancellation */
    double *cost;      /* n */
    int64_t *partner;  /* n */
    int64_t *into;     /* n or NULL; for each point, the remaining point that it was merged into */
} merge_work;

/* Merges the points x (n x d) with positive weights a in place. Afterwards, *left = min(n, m)
 * points remain. The only possible error is DDSC_ERROR_CANCELED. */
ddsc_status compress_item(merge_work *w, double *x, double *a, int64_t n, int64_t d, int64_t m,
                          int64_t *left);

#endif
