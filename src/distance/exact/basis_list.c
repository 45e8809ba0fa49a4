/* Stores trees of the network simplex as linked lists, for problems that are too large for bit
 * masks.
 *
 * The nodes form a ring in preorder, so a subtree is a contiguous range of the ring, from its top
 * to link[top].last. The number of nodes in each subtree is also stored. The cycle of an entering
 * arc is found by climbing from the end with the smaller subtree. A pivot re-roots the moved
 * subtree by relinking ranges along the path, and shifts the potentials of the subtree or of all
 * other nodes, whichever are fewer. Apart from pricing, the cost of a pivot is about the length of
 * the cycle plus the number of shifted potentials. */
#include <string.h>

#include "distance/exact/simplex.h"

#ifdef DDSC_DEBUG_CHECKS
/* Checks that the ring contains every node once, that each subtree is the range of `size` nodes
 * that ends with `last`, and that the sizes add up. */
bool basis_list_holds(simplex *s)
{
    int32_t *place = s->path[0], *below = s->path[1];
    int64_t n_tree = s->n + s->m;
    int32_t x = s->root;
    bool holds = true;
    memset(place, -1, (size_t)s->nodes * sizeof *place);
    memset(below, 0, (size_t)s->nodes * sizeof *below);
    for (int64_t k = 0; holds && k < n_tree; k++, x = s->link[x].next) {
        holds = x >= 0 && x < s->nodes && place[x] < 0 && s->link[s->link[x].next].previous == x;
        if (holds)
            place[x] = (int32_t)k;
    }
    holds = holds && x == s->root;
    for (int64_t k = 0; holds && k < n_tree; k++, x = s->link[x].next) {
        int32_t size = s->node[x].size, above = s->node[x].parent;
        holds = place[s->link[x].last] == k + size - 1;
        if (!holds || x == s->root)
            continue;
        below[above] += size;
        holds = place[above] < k && k + size <= place[above] + s->node[above].size;
    }
    for (int64_t k = 0; holds && k < n_tree; k++, x = s->link[x].next)
        holds = below[x] == s->node[x].size - 1;
    return holds;
}
#endif

/* Builds the ring, parents first, by inserting each child directly after its parent. */
void basis_list_build(simplex *s)
{
    int64_t n_tree = s->n + s->m;
    s->link[s->root] = (tree_link){s->root, s->root, s->root};
    for (int64_t k = n_tree - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent, next = s->link[above].next;
        s->link[x] = (tree_link){next, above, x};
        s->link[above].next = x;
        s->link[next].previous = x;
    }
    for (int64_t k = 0; k < n_tree; k++)
        s->node[s->order[k]].size = 1;
    for (int64_t k = 0; k < n_tree - 1; k++) {
        int32_t x = s->order[k], above = s->node[x].parent;
        s->node[above].size += s->node[x].size;
    }
    /* The child that was inserted first comes last. If the node after the subtree of x is not a
     * sibling, x is the last child of its parent. */
    for (int64_t k = 0; k < n_tree - 1; k++) {
        int32_t x = s->order[k], end = s->link[x].last, after = s->link[end].next;
        int32_t above = s->node[x].parent;
        if (after == s->root || s->node[after].parent != above)
            s->link[above].last = end;
    }
}

/* Finds the cycle by climbing from the node with the smaller subtree until both paths meet. Of two
 * nodes with subtrees of equal size, neither is an ancestor of the other. */
void basis_list_cycle(simplex *s, int32_t source, int32_t sink)
{
    const tree_node *node = s->node;
    int64_t n_x = 0, n_y = 0;
    int32_t x = source, y = sink;
    while (x != y) {
        if (node[x].size <= node[y].size) {
            s->path[0][n_x++] = x;
            x = node[x].parent;
        } else {
            s->path[1][n_y++] = y;
            y = node[y].parent;
        }
    }
    s->path[0][n_x] = s->path[1][n_y] = x;
    s->length[0] = n_x;
    s->length[1] = n_y;
}

static void join_links(tree_link *link, int32_t left, int32_t right)
{
    link[left].next = right;
    link[right].previous = left;
}

/* Removes the subtree of `top` from the ring, and updates the ancestors whose subtrees ended with
 * it. */
static void ring_cut(simplex *s, int32_t top)
{
    tree_link *link = s->link;
    int32_t before = link[top].previous, end = link[top].last;
    for (int32_t x = s->node[top].parent; x >= 0 && link[x].last == end; x = s->node[x].parent)
        link[x].last = before;
    join_links(link, before, link[end].next);
}

/* Rearranges the preorder of a subtree whose new root is path[0]. The old subtree of path[0] comes
 * first. Then, for each node on the path up to the old top, its subtree follows without the nodes
 * that have already been placed. Returns the last node. */
static int32_t ring_turn(simplex *s, const int32_t *path, int64_t at)
{
    tree_link *link = s->link;
    int32_t end = link[path[0]].last, below_end = end;
    int32_t left_end = link[path[0]].previous, right = link[end].next;
    for (int64_t k = 1; k <= at; k++) {
        int32_t x = path[k], x_end = link[x].last, next_left = link[x].previous;
        join_links(link, end, x);
        end = left_end;
        if (x_end != below_end) {
            int32_t next_right = link[x_end].next;
            join_links(link, end, right);
            end = below_end = x_end;
            right = next_right;
        }
        left_end = next_left;
    }
    return end;
}

void basis_list_move(simplex *s, int side, int64_t at)
{
    const int32_t *path = s->path[side], *other = s->path[!side];
    tree_link *link = s->link;
    int32_t top = path[at], hook = other[0], moved = s->node[top].size;
    ring_cut(s, top);
    int32_t end = ring_turn(s, path, at);
    int32_t after = link[hook].next;
    join_links(link, hook, path[0]);
    join_links(link, end, after);
    for (int32_t x = hook; x >= 0 && link[x].last == hook; x = s->node[x].parent)
        link[x].last = end;
    for (int64_t k = at + 1; k < s->length[side]; k++)
        s->node[path[k]].size -= moved;
    for (int64_t k = 0; k < s->length[!side]; k++)
        s->node[other[k]].size += moved;
    for (int64_t k = at; k > 0; k--)
        s->node[path[k]].size = moved - s->node[path[k - 1]].size;
    s->node[path[0]].size = moved;
    for (int64_t k = 1; k <= at; k++)
        link[path[k]].last = end;
    link[path[0]].last = end;
}

/* Shifts the potentials of the moved subtree or, if there are fewer other nodes, shifts the
 * potentials of these by the opposite amount. Only differences between potentials matter. */
void basis_list_shift(simplex *s, double by)
{
    int32_t x = s->moved, stretch_end = s->link[x].last;
    int64_t count = s->node[x].size, rest = s->n + s->m - count;
    if (rest < count) {
        int32_t before = s->link[x].previous;
        x = s->link[stretch_end].next;
        stretch_end = before;
        count = rest;
        by = -by;
    }
    const tree_link *link = s->link;
    int32_t y = stretch_end; /* walks from both ends, so that two independent chains of loads run in
                              * parallel */
    for (; count > 1; count -= 2, x = link[x].next, y = link[y].previous) {
        s->potential64[x] += by;
        s->potential64[y] += by;
    }
    if (count)
        s->potential64[x] += by;
}
