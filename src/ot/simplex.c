/* The pivot loop, shared by both number systems: price, push flow round the cycle of the entering
 * arc, move the subtree that came off, shift its potentials. */
#include "ot/simplex.h"

/* The arc of a path that blocks first. Arcs that lose flow alternate with arcs that gain, and the
 * first one loses: out of sources on the source's side, into sinks on the sink's. */
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

static void push(simplex *s, int side, int64_t theta)
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

simplex_end simplex_pivot(simplex *s, const number_system *numbers)
{
    entering in;
    while (numbers->price(s, &in)) {
        if (s->pivots >= s->max_pivots)
            return SIMPLEX_CAPPED;
        s->pivots++;
        tree_cycle(s, (int32_t)in.row, (int32_t)(s->sink0 + in.column));
        int64_t at[2], theta[2] = {blocking(s, 0, &at[0]), blocking(s, 1, &at[1])};
        int side = theta[1] < theta[0];
        push(s, 0, theta[side]);
        push(s, 1, theta[side]);
        tree_move(s, side, at[side], theta[side]);
        if (!numbers->shift(s, side == 0 ? in.reduced : -in.reduced))
            return SIMPLEX_OVERFLOW;
    }
    return SIMPLEX_OPTIMAL;
}
