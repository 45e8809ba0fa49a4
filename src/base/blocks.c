/* Sums up a fixed binary tree: the left subtree of n parts is the largest whole one that leaves
 * something over. */
#include <string.h>

#include "base/blocks.h"

void tree_sum(double *out, const double *part, int64_t n_parts, int64_t width, double *scratch)
{
    if (n_parts <= 0)
        memset(out, 0, (size_t)width * sizeof *out);
    else if (n_parts == 1)
        memcpy(out, part, (size_t)width * sizeof *out);
    if (n_parts < 2)
        return;
    int64_t left = (int64_t)1 << (tree_scratch(n_parts) - 1);
    tree_sum(out, part, left, width, scratch);
    tree_sum(scratch, part + left * width, n_parts - left, width, scratch + width);
    for (int64_t c = 0; c < width; c++)
        out[c] += scratch[c];
}
