/* Builds the basis tree from the parent of each node, and sorts its nodes.
 *
 * The order lists children before parents. It is computed in O(n + m) time by repeatedly removing
 * leaves. The certificate needs the order to accumulate flows from the leaves and potentials from
 * the root. The masks (or lists) of subtrees are built in the same order: the mask of a node is the
 * union of the node and the masks of its children. The masks are built once per solve, before the
 * first pivot, and the order is computed again before the certificate. */
#include <string.h>

#include "distance/exact/simplex.h"

#ifdef DDSC_DEBUG_CHECKS
static bool is_node(const simplex *s, int64_t x)
{
    return (x >= 0 && x < s->n) || (x >= s->sink0 && x < s->sink0 + s->m);
}

bool basis_is_tree(simplex *s)
{
    int32_t *place = s->path[1];
    int64_t n_tree = s->n + s->m;
    bool holds = s->ordered && s->order[n_tree - 1] == s->root;
    memset(place, -1, (size_t)s->nodes * sizeof *place);
    for (int64_t k = 0; holds && k < n_tree; k++) {
        int32_t x = s->order[k];
        holds = is_node(s, x) && place[x] < 0;
        if (holds)
            place[x] = (int32_t)k;
    }
    for (int64_t k = 0; holds && k < n_tree - 1; k++) {
        int32_t x = s->order[k], above = s->node[x].parent;
        holds = is_node(s, above) && (x < s->sink0) != (above < s->sink0) && place[above] > k;
    }
    return holds;
}

/* Returns true if each mask contains its node and the masks of the node's children, which are
 * disjoint, and is contained in the mask of the node's parent. */
static bool masks_hold(simplex *s)
{
    int32_t *below = s->path[0]; /* nodes in the subtrees of the children */
    bool holds = true;
    memset(below, 0, (size_t)s->nodes * sizeof *below);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t x = 0; x < s->nodes; x++) {
            const uint64_t *own = s->mask + x * s->words;
            int32_t count = 0, above = s->node[x].parent;
            if (!is_node(s, x))
                continue;
            for (int64_t w = 0; w < s->words; w++) {
                count += __builtin_popcountll(own[w]);
                holds &= x == s->root || !(own[w] & ~s->mask[above * s->words + w]);
            }
            holds &= own[x >> 6] >> (x & 63) & 1;
            if (pass == 1)
                holds &= count == below[x] + 1 && (x != s->root || count == s->n + s->m);
            else if (x != s->root)
                below[above] += count;
        }
    return holds;
}

bool basis_subtrees_hold(simplex *s)
{
    return s->words ? masks_hold(s) : basis_list_holds(s);
}
#endif

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
    DDSC_ASSERT(basis_is_tree(s));
    if (s->words)
        build_masks(s);
    else
        basis_list_build(s);
    DDSC_ASSERT(basis_subtrees_hold(s));
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
    DDSC_ASSERT(basis_is_tree(s));
}
