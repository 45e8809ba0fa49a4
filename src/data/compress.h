/* The merging kernel; the public call, with its exact error, is in ot/compress.c. */
#ifndef DDSC_DATA_COMPRESS_H
#define DDSC_DATA_COMPRESS_H

#include <stdint.h>

typedef struct merge_work {
    double *cost;     /* room for n */
    int64_t *partner; /* room for n */
} merge_work;

/* Points x (n x d) and weights a (positive), changed in place; returns the number left, min(n, m).
 */
int64_t compress_item(merge_work *w, double *x, double *a, int64_t n, int64_t d, int64_t m);

#endif
