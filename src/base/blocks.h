/* Rows in fixed blocks, whose size depends on the number of rows alone: what is done or summed block
 * by block is the same for any number of threads, and will be for any number of processes. */
#ifndef DDSC_BASE_BLOCKS_H
#define DDSC_BASE_BLOCKS_H

#include "base/base.h"

/* Rows of a block: a power of two from 64 on, at most 1,024 blocks until a block has 4,096 rows. */
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

/* The sum of part[0], part[stride], ... up a binary tree whose shape depends on n_parts alone: pairs
 * of neighbours, then pairs of pairs. A run of parts is a few whole subtrees, so whoever holds one
 * has few sums to hand over. */
double tree_sum(const double *part, int64_t n_parts, int64_t stride);

#endif
