/* Sums values in a fixed binary tree. The left subtree is the largest complete tree that leaves at
 * least one part for the right subtree. */
#include "base/blocks.h"

double tree_sum(const double *part, int64_t n_parts, int64_t stride)
{
    int64_t left = 1;
    if (n_parts <= 0)
        return 0;
    if (n_parts == 1)
        return part[0];
    while (2 * left < n_parts)
        left *= 2;
    return tree_sum(part, left, stride) + tree_sum(part + left * stride, n_parts - left, stride);
}
