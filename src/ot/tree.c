/* The basis tree. Small trees keep each subtree as a bit mask: membership is one bit, cutting and
 * hanging are and/or of whole masks along the cycle, potentials move under a mask. Large trees keep
 * preorder as a ring, where a subtree is a stretch. */
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

static void build_masks(simplex *s)
{
    memset(s->mask, 0, (size_t)(s->nodes * s->words) * sizeof *s->mask);
    for (int64_t k = 0; k < s->n + s->m; k++) {
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

/* Parents first, each child goes right behind its parent. */
static void build_ring(simplex *s)
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
    /* The child hung first comes last: walking parents first, the last child seen is kept. */
    for (int64_t k = 0; k < n_tree - 1; k++) {
        int32_t x = s->order[k], end = s->link[x].last, after = s->link[end].next;
        int32_t above = s->node[x].parent;
        if (after == s->root || s->node[after].parent != above)
            s->link[above].last = end;
    }
}

void tree_build(simplex *s)
{
    if (s->words)
        build_masks(s);
    else
        build_ring(s);
}

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

static void cycle_by_masks(simplex *s, int32_t source, int32_t sink)
{
    const tree_node *node = s->node;
    int32_t *path = s->path[0], x = source;
    int64_t length = 0;
    for (; !mask_has(mask_of(s, x), sink); x = node[x].parent)
        path[length++] = x;
    path[length] = x;
    s->length[0] = length;
    path = s->path[1];
    length = 0;
    for (int32_t y = sink; y != x; y = node[y].parent)
        path[length++] = y;
    path[length] = x;
    s->length[1] = length;
}

/* The smaller subtree climbs: of two nodes with equal sizes neither lies above the other. */
static void cycle_by_sizes(simplex *s, int32_t source, int32_t sink)
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

void tree_cycle(simplex *s, int32_t source, int32_t sink)
{
    if (s->words)
        cycle_by_masks(s, source, sink);
    else
        cycle_by_sizes(s, source, sink);
}

static void reverse_path(simplex *s, int side, int64_t at, int64_t theta)
{
    const int32_t *path = s->path[side];
    int32_t above = s->path[!side][0];
    int64_t flow = theta;
    for (int64_t k = 0; k <= at; k++) {
        tree_node *node = s->node + path[k];
        int64_t next = node->flow;
        node->parent = above;
        node->flow = flow;
        above = path[k];
        flow = next;
    }
}

static void join_links(tree_link *link, int32_t left, int32_t right)
{
    link[left].next = right;
    link[right].previous = left;
}

/* Take the stretch of path[at] out of the ring; ancestors that ended with it end before it. */
static void ring_cut(simplex *s, int32_t top)
{
    tree_link *link = s->link;
    int32_t before = link[top].previous, end = link[top].last;
    for (int32_t x = s->node[top].parent; x >= 0 && link[x].last == end; x = s->node[x].parent)
        link[x].last = before;
    join_links(link, before, link[end].next);
}

/* New preorder of a subtree hung by path[0]: the old subtree of path[0], then for each node up to
 * the top what was its own before and after the subtree below. Returns the last node. */
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

static void move_ring(simplex *s, int side, int64_t at)
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

void tree_move(simplex *s, int side, int64_t at, int64_t theta)
{
    if (s->words) {
        mask_move m = {s->mask, s->words,        s->path[side],    s->path[!side],
                       at,      s->length[side], s->length[!side], s->cut};
        s->k->move(&m);
    } else {
        move_ring(s, side, at);
    }
    reverse_path(s, side, at, theta);
    s->moved = s->path[side][0];
}

/* Whichever part is smaller moves: only differences of potentials matter. */
void list_shift(simplex *s, double by)
{
    int32_t x = s->moved;
    int64_t count = s->node[x].size, rest = s->n + s->m - count;
    if (rest < count) {
        x = s->link[s->link[x].last].next;
        count = rest;
        by = -by;
    }
    for (; count > 0; count--, x = s->link[x].next)
        s->fine[x] += by;
}
