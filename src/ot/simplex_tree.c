/* The basis tree with subtrees as bit masks: membership is one bit, cutting and hanging a subtree
 * are and/or of whole masks along the cycle, and potentials move under a mask. */
#include <string.h>

#include "ot/simplex.h"

static uint64_t *mask_of(const simplex *s, int32_t node)
{
    return s->mask + (int64_t)node * s->words;
}

static bool mask_has(const uint64_t *mask, int32_t node)
{
    return mask[node >> 6] >> (node & 63) & 1;
}

void tree_build(simplex *s)
{
    int64_t n_tree = s->n + s->m;
    memset(s->mask, 0, (size_t)(s->nodes * s->words) * sizeof *s->mask);
    for (int64_t k = 0; k < n_tree; k++) {
        int32_t x = s->order[k];
        uint64_t *own = mask_of(s, x);
        own[x >> 6] |= (uint64_t)1 << (x & 63);
        if (x == s->root)
            continue;
        uint64_t *above = mask_of(s, s->node[x].parent);
        for (int64_t w = 0; w < s->words; w++)
            above[w] |= own[w];
    }
}

/* Peel leaves. path[0] counts children, path[1] is not used. */
void tree_order(simplex *s)
{
    int32_t *children = s->path[0], n_done = 0;
    memset(children, 0, (size_t)s->nodes * sizeof *children);
    for (int64_t x = 0; x < s->sink0 + s->m; x++)
        if ((x < s->n || x >= s->sink0) && x != s->root)
            children[s->node[x].parent]++;
    for (int64_t x = 0; x < s->sink0 + s->m; x++)
        if ((x < s->n || x >= s->sink0) && children[x] == 0)
            s->order[n_done++] = (int32_t)x;
    for (int32_t k = 0; k < n_done; k++) {
        int32_t x = s->order[k];
        if (x != s->root && --children[s->node[x].parent] == 0)
            s->order[n_done++] = s->node[x].parent;
    }
}

void tree_cycle(simplex *s, int32_t source, int32_t sink)
{
    int32_t x = source;
    s->length[0] = s->length[1] = 0;
    for (; !mask_has(mask_of(s, x), sink); x = s->node[x].parent)
        s->path[0][s->length[0]++] = x;
    for (int32_t y = sink; y != x; y = s->node[y].parent)
        s->path[1][s->length[1]++] = y;
    s->path[0][s->length[0]] = s->path[1][s->length[1]] = x;
}

static void reverse_path(simplex *s, int side, int64_t at, int64_t theta)
{
    const int32_t *path = s->path[side];
    int32_t above = s->path[!side][0];
    int64_t flow = theta;
    for (int64_t k = 0; k <= at; k++) {
        int64_t next = s->node[path[k]].flow;
        s->node[path[k]].parent = above;
        s->node[path[k]].flow = flow;
        above = path[k];
        flow = next;
    }
}

void tree_move(simplex *s, int side, int64_t at, int64_t theta)
{
    mask_move m = {s->mask, s->words,        s->path[side],    s->path[!side],
                   at,      s->length[side], s->length[!side], s->cut};
    s->kernels->move(&m);
    reverse_path(s, side, at, theta);
}
