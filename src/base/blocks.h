/* Divides rows into fixed blocks, whose size depends only on the number of rows. Results computed
 * or summed block by block are the same for any number of threads and processes. */
#ifndef DDSC_BASE_BLOCKS_H
#define DDSC_BASE_BLOCKS_H

#include "base/base.h"

/* Returns the number of rows per block: a power of two from 64 to 4,096, chosen for at most 1,024
 * blocks if possible. */
static inline int64_t block_rows(int64_t n)
{
    int64_t rows = 64;
    while (rows < 4096 && n > 1024 * rows)
        rows *= 2;
    return rows;
}

static inline int64_t block_count(int64_t n)
{
    return (n + block_rows(n) - 1) / block_rows(n);
}

/* Returns the sum of part[0], part[stride], ... in a binary tree whose shape depends only on
 * n_parts: adjacent parts are added in pairs, then adjacent pairs are added, and so on. Every
 * contiguous range of parts consists of a few complete subtrees, so a process that owns a range
 * sends only a few sums. */
double tree_sum(const double *part, int64_t n_parts, int64_t stride);

#endif
