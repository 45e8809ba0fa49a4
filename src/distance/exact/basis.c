/* Builds the basis tree from the parent of each node, and sorts its nodes.
 *
 * The order lists children before parents. It is computed by repeatedly removing leaves, in O(n +
 * m) time. The certificate needs it to accumulate flows from the leaves and potentials from the
 * root. The masks (or lists) of subtrees are built from the same order: the mask of a node is the
 * union of the masks of its children and the node itself. Both are needed once per solve, before
 * the first pivot and before the certificate. */
#include <string.h>

#include "distance/exact/simplex.h"

static void build_masks(simplex *s)
{
    memset(s->mask, 0, (size_t)(s->nodes * s->words) * sizeof *s->mask);
    for (int64_t k = 0; k < s->n + s->m; k++) {
        int32_t x = s->order[k];
        uint64_t *own = s->mask + x * s->words;
        own[x >> 6] |= (uint64_t)1 << (x & 63);
        if (x == s->root)
            continue;
        uint64_t *above = s->mask + s->node[x].parent * s->words;
        for (int64_t w = 0; w < s->words; w++)
            above[w] |= own[w];
    }
}

void basis_build(simplex *s)
{
    if (s->words)
        build_masks(s);
    else
        basis_list_build(s);
}

void basis_order(simplex *s)
{
    int32_t *children = s->path[0], n_done = 0;
    if (s->ordered)
        return;
    s->ordered = true;
    memset(children, 0, (size_t)s->nodes * sizeof *children);
    for (int64_t k = 0; k < s->n + s->m; k++) {
        int64_t x = k < s->n ? k : s->sink0 + k - s->n;
        if (x != s->root)
            children[s->node[x].parent]++;
    }
    for (int64_t k = 0; k < s->n + s->m; k++) {
        int64_t x = k < s->n ? k : s->sink0 + k - s->n;
        s->order[n_done] = (int32_t)x;
        n_done += children[x] == 0;
    }
    for (int32_t k = 0; k < n_done; k++) {
        int32_t x = s->order[k];
        if (x != s->root && --children[s->node[x].parent] == 0)
            s->order[n_done++] = s->node[x].parent;
    }
}
