/* The merging kernel; the public call, with its exact error, is in distance/exact/compress_items.c. */
#ifndef DDSC_DATA_COMPRESS_H
#define DDSC_DATA_COMPRESS_H

#include "base/base.h"

typedef struct merge_work {
    ddsc_context *ctx; /* asked now and then whether the call is cancelled */
    double *cost;      /* n */
    int64_t *partner;  /* n */
    int64_t *into;     /* n, or NULL: gets the number of the point left that each one is part of */
} merge_work;

/* Points x (n x d) and weights a (positive), changed in place: *left, min(n, m), remain. The
 * only error is DDSC_ERROR_CANCELLED. */
ddsc_status compress_item(merge_work *w, double *x, double *a, int64_t n, int64_t d, int64_t m,
                          int64_t *left);

#endif
