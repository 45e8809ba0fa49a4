/* Implements the pivot loop, which both number systems share.
 *
 * This is Dantzig's simplex method on a spanning tree (Ahuja, Magnanti, Orlin 1993, chapter 11). A
 * pivot has four steps: price an entering arc, push flow around its cycle, move the subtree below
 * the leaving arc, and shift the potentials of that subtree by the reduced cost. Flows remain
 * positive because the supplies are non-degenerate, so every pivot lowers the total cost.
 *
 * Trees of up to MASK_NODES nodes store each subtree as a bit mask. A node belongs to a subtree if
 * its bit is set, and moving a subtree takes a few and/or operations on whole masks along the
 * cycle. This is cheaper than following links. */
#include "distance/exact/simplex.h"

static bool mask_has(const simplex *s, int32_t top, int32_t node)
{
    return s->mask[top * s->words + (node >> 6)] >> (node & 63) & 1;
}

static void mask_cycle(simplex *s, int32_t source, int32_t sink)
{
    const tree_node *node = s->node;
    int32_t *path = s->path[0], x = source;
    int64_t length = 0;
    for (; !mask_has(s, x, sink); x = node[x].parent)
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

/* Returns the smallest flow on the arcs of a path that lose flow, and sets *at to the first node
 * with that flow. Arcs that lose flow and arcs that gain flow alternate, starting with an arc that
 * loses flow. Arcs that lose flow leave sources on the path of the source, and enter sinks on the
 * path of the sink. */
static int64_t blocking(const simplex *s, int side, int64_t *at)
{
    const int32_t *path = s->path[side];
    int64_t theta = INT64_MAX;
    *at = 0;
    for (int64_t k = 0; k < s->length[side]; k += 2) {
        int64_t flow = s->node[path[k]].flow;
        *at = flow < theta ? k : *at;
        theta = flow < theta ? flow : theta;
    }
    return theta;
}

static void push_flow(simplex *s, int side, int64_t theta)
{
    const int32_t *path = s->path[side];
    int64_t k = 0, length = s->length[side];
    for (; k + 1 < length; k += 2) {
        s->node[path[k]].flow -= theta;
        s->node[path[k + 1]].flow += theta;
    }
    if (k < length)
        s->node[path[k]].flow -= theta;
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

/* Does the same as the kernel `move`, for masks of one word. */
static void move_word(simplex *s, int side, int64_t at)
{
    const int32_t *path = s->path[side], *other = s->path[!side];
    uint64_t *mask = s->mask, cut = mask[path[at]];
    for (int64_t k = at + 1; k < s->length[side]; k++)
        mask[path[k]] &= ~cut;
    for (int64_t k = 0; k < s->length[!side]; k++)
        mask[other[k]] |= cut;
    for (int64_t k = at; k > 0; k--)
        mask[path[k]] = cut & ~mask[path[k - 1]];
    mask[path[0]] = *s->cut = cut;
}

/* Cuts off the subtree of path[side][at] and attaches it at path[side][0] to path[!side][0].
 * `theta` is the flow of the entering arc. */
static void move_subtree(simplex *s, int side, int64_t at, int64_t theta)
{
    if (s->words == 1) {
        move_word(s, side, at);
    } else if (s->words) {
        mask_move m = {s->mask, s->words,        s->path[side],    s->path[!side],
                       at,      s->length[side], s->length[!side], s->cut};
        s->k->move(&m);
    } else {
        basis_list_move(s, side, at);
    }
    reverse_path(s, side, at, theta);
    s->moved = s->path[side][0];
}

/* Returns true if every arc of the basis carries flow, which non-degenerate supplies ensure. */
static bool flows_hold(const simplex *s)
{
    bool holds = true;
    for (int64_t k = 0; k < s->n + s->m; k++) {
        int64_t x = k < s->n ? k : s->sink0 + k - s->n;
        holds &= x == s->root || s->node[x].flow > 0;
    }
    return holds;
}

/* Returns true if the user canceled. Polls only every CANCEL_PIVOTS pivots, because polling reads a
 * clock. */
static bool stopped(const simplex *s)
{
    return s->pivots % CANCEL_PIVOTS == 0 && s->ctx && ctx_canceled(s->ctx);
}

simplex_end simplex_run(simplex *s, const number_system *numbers)
{
    entering in;
    s->next_row = 0;
    DDSC_ASSERT(basis_is_tree(s) && basis_subtrees_hold(s) && flows_hold(s));
    if (!numbers->begin(s))
        return SIMPLEX_OVERFLOW;
    while (numbers->price(s, &in)) {
        if (s->pivots >= s->max_pivots)
            return SIMPLEX_CAPPED;
        if (stopped(s))
            return SIMPLEX_STOPPED;
        s->pivots++;
        s->ordered = false;
        if (s->words)
            mask_cycle(s, (int32_t)in.row, (int32_t)(s->sink0 + in.column));
        else
            basis_list_cycle(s, (int32_t)in.row, (int32_t)(s->sink0 + in.column));
        int64_t at[2], theta[2] = {blocking(s, 0, &at[0]), blocking(s, 1, &at[1])};
        int side = theta[1] < theta[0];
        DDSC_ASSERT(in.reduced < 0 && theta[side] > 0 && theta[side] < INT64_MAX);
        DDSC_ASSERT(s->path[0][s->length[0]] == s->path[1][s->length[1]]);
        push_flow(s, 0, theta[side]);
        push_flow(s, 1, theta[side]);
        move_subtree(s, side, at[side], theta[side]);
        if (!numbers->shift(s, side == 0 ? in.reduced : -in.reduced))
            return SIMPLEX_OVERFLOW;
    }
    DDSC_ASSERT(basis_subtrees_hold(s) && flows_hold(s));
    return SIMPLEX_OPTIMAL;
}
