/* Problems of at most 16 x 16: the same simplex with everything in place. A row of costs is sixteen
 * numbers, a subtree one word, every pivot prices all arcs, and potentials cannot leave the coarse
 * range: a path has at most 31 arcs. */
#include <string.h>

#include "ot/simplex.h"

enum { SIDE = SMALL_SIDE, NODES = 2 * SIDE };

typedef struct small {
    const kernels *k;
    int64_t n, m;
    const int32_t *cost; /* n x SIDE */
    _Alignas(64) int32_t source[SIDE];
    int32_t sink[SIDE];    /* right behind the sources: a shift runs over both */
    int32_t parent[NODES]; /* sinks follow the sources */
    int64_t flow[NODES];
    uint32_t mask[NODES];
    int32_t root;
} small;

static inline uint32_t bit(int64_t node)
{
    return (uint32_t)1 << node;
}

/* Without a better guess: minus the mean cost of a column, which takes out what its arcs share. */
static inline void guess(small *s)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int j = 0; j < SIDE; j++)
            s->sink[j] -= s->cost[i * SIDE + j] >> 4;
}

/* The cyclic row minimum; masks and order of the tree come along. */
static inline void start(small *s, const int64_t *supply, const int64_t *demand, int32_t *order)
{
    int64_t left[NODES], n_steps = s->n + s->m - 1, i = 0;
    uint32_t open = bit(s->m) - 1, waiting = bit(s->n) - 1;
    for (int64_t k = 0; k < s->n; k++)
        left[k] = supply[k];
    for (int64_t k = 0; k < s->m; k++)
        left[SIDE + k] = demand[k];
    for (int x = 0; x < NODES; x++)
        s->mask[x] = bit(x);
    for (int64_t k = 0; k < n_steps; k++) {
        int64_t sink = SIDE + s->k->open_best(s->cost + i * SIDE, s->sink, open);
        bool done = left[i] < left[sink] || (open & (open - 1)) == 0;
        int64_t child = done ? i : sink, above = done ? sink : i;
        s->parent[child] = (int32_t)above;
        s->flow[child] = left[child];
        s->mask[above] |= s->mask[child];
        left[above] -= left[child];
        order[k] = (int32_t)child;
        waiting &= ~(done ? bit(i) : 0);
        open &= ~(done ? 0 : bit(sink - SIDE));
        uint32_t later = waiting & ~(bit(i + 1) - 1);
        i = later ? __builtin_ctz(later) : waiting ? __builtin_ctz(waiting) : 0;
        s->root = (int32_t)above;
    }
    order[n_steps] = s->root;
    s->parent[s->root] = -1;
    s->flow[s->root] = 0;
}

/* Parents first. */
static inline void potentials(small *s, const int32_t *order)
{
    int32_t value[NODES] = {0};
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = order[k], above = s->parent[x];
        value[x] = x < SIDE ? value[above] + s->cost[x * SIDE + above - SIDE]
                            : value[above] - s->cost[above * SIDE + x - SIDE];
    }
    memcpy(s->source, value, sizeof s->source);
    memcpy(s->sink, value + SIDE, sizeof s->sink);
}

typedef struct way {
    int32_t node[NODES];
    int length, at; /* at: the arc that blocks first */
    int64_t theta;
} way;

/* From x up to where the subtree holds `other`. The first arc loses flow, the next gains, and so
 * on. */
static inline void climb(const small *s, way *w, int32_t x, uint32_t other)
{
    w->length = w->at = 0;
    w->theta = INT64_MAX;
    for (; !(s->mask[x] & other); x = s->parent[x]) {
        bool blocks = !(w->length & 1) && s->flow[x] < w->theta;
        w->theta = blocks ? s->flow[x] : w->theta;
        w->at = blocks ? w->length : w->at;
        w->node[w->length++] = x;
    }
}

static inline void push(small *s, const way *w, int64_t theta)
{
    for (int k = 0; k < w->length; k++)
        s->flow[w->node[k]] += k & 1 ? theta : -theta;
}

/* Hang the subtree of w->node[w->at] by its node w->node[0] on `hook`. */
static inline uint32_t move(small *s, const way *w, const way *other, int32_t hook, int64_t theta)
{
    uint32_t cut = s->mask[w->node[w->at]];
    int64_t flow = theta;
    for (int k = w->at + 1; k < w->length; k++)
        s->mask[w->node[k]] &= ~cut;
    for (int k = 0; k < other->length; k++)
        s->mask[other->node[k]] |= cut;
    uint32_t below = 0;
    for (int k = 0; k <= w->at; k++) {
        int32_t x = w->node[k];
        uint32_t own = s->mask[x];
        int64_t next = s->flow[x];
        s->mask[x] = cut & ~below;
        s->parent[x] = hook;
        s->flow[x] = flow;
        below = own;
        hook = x;
        flow = next;
    }
    return cut;
}

static inline simplex_end pivot_all(small *s, int64_t max_pivots, int64_t *pivots)
{
    way up[2];
    for (*pivots = 0;; ++*pivots) {
        int64_t row, column;
        int32_t reduced = s->k->tile_best(s->cost, s->sink, s->source, s->n, &row, &column);
        if (reduced >= 0)
            return SIMPLEX_OPTIMAL;
        if (*pivots >= max_pivots)
            return SIMPLEX_CAPPED;
        climb(s, &up[0], (int32_t)row, bit(SIDE + column));
        climb(s, &up[1], (int32_t)(SIDE + column), bit(row));
        int side = up[1].theta < up[0].theta;
        int64_t theta = up[side].theta;
        push(s, &up[0], theta);
        push(s, &up[1], theta);
        int32_t hook = (int32_t)(side == 0 ? SIDE + column : row);
        uint64_t cut = move(s, &up[side], &up[!side], hook, theta);
        s->k->shift(s->source, &cut, NODES, side == 0 ? reduced : -reduced);
    }
}

static void hand_over(simplex *to, const small *s)
{
    for (int64_t x = 0; x < NODES; x++)
        to->node[x] = (tree_node){.flow = s->flow[x], .parent = s->parent[x]};
    memcpy(to->coarse, s->source, sizeof s->source);
    memcpy(to->coarse + SIDE, s->sink, sizeof s->sink);
    to->root = s->root;
}

simplex_end simplex_small(simplex *net)
{
    small s = {.k = net->k, .n = net->n, .m = net->m, .cost = net->coarse_cost};
    guess(&s);
    start(&s, net->supply, net->supply + SIDE, net->order);
    potentials(&s, net->order);
    simplex_end end = pivot_all(&s, net->max_pivots, &net->pivots);
    net->ordered = net->pivots == 0;
    hand_over(net, &s);
    return end;
}
