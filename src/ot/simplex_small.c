/* Problems of at most 16 x 16: the same simplex with everything in place. A row of costs is sixteen
 * numbers, a subtree one word, every pivot prices all arcs, and potentials cannot leave the coarse
 * range: a path has at most 31 arcs. */
#include <string.h>

#include "ot/simplex.h"

enum { SIDE = SMALL_SIDE, NODES = 2 * SIDE };

typedef struct small {
    small_tree t;
    const kernels *k;
    int64_t n, m;
    const int32_t *cost; /* n x SIDE */
} small;

static inline uint32_t bit(int64_t node)
{
    return (uint32_t)1 << node;
}

/* Without a better guess: minus the mean cost of a column, which takes out what its arcs share.
 * Sums of padding wrap around and do not matter. */
static inline void guess(small *s)
{
    uint32_t sum[SIDE] = {0};
    double share = -1.0 / (double)s->n;
    for (int64_t i = 0; i < s->n; i++)
        for (int j = 0; j < SIDE; j++)
            sum[j] += (uint32_t)s->cost[i * SIDE + j];
    for (int j = 0; j < SIDE; j++)
        s->t.potential[SIDE + j] = (int32_t)((int32_t)(sum[j] & INT32_MAX) * share);
}

/* The source after i, in turn, of those that wait. */
static inline int64_t next_source(uint32_t waiting, int64_t i)
{
    uint32_t later = waiting & ~(bit(i + 1) - 1);
    return __builtin_ctz(later ? later : waiting);
}

/* The cyclic row minimum; masks and order of the tree come along. While a source is served the
 * choice of the next one is made already: it falls only if that sink goes now. */
static inline void start(small *s, const int64_t *supply, const int64_t *demand, int32_t *order)
{
    small_tree *t = &s->t;
    const int32_t *pot = t->potential + SIDE;
    int64_t left[NODES], n_steps = s->n + s->m - 1, i = 0;
    uint32_t open = bit(s->m) - 1, waiting = bit(s->n) - 1;
    memcpy(left, supply, (size_t)s->n * sizeof *left);
    memcpy(left + SIDE, demand, (size_t)s->m * sizeof *left);
    for (int x = 0; x < NODES; x++)
        t->mask[x] = bit(x);
    int64_t best = s->k->open_best(s->cost, pot, open);
    for (int64_t k = 0; k < n_steps; k++) {
        int64_t next = next_source(waiting, i), sink = SIDE + best;
        int64_t then = s->k->open_best(s->cost + next * SIDE, pot, open);
        bool done = left[i] < left[sink] || (open & (open - 1)) == 0;
        int64_t child = done ? i : sink, above = done ? sink : i;
        t->parent[child] = (int32_t)above;
        t->flow[child] = left[child];
        t->mask[above] |= t->mask[child];
        left[above] -= left[child];
        order[k] = (int32_t)child;
        waiting &= ~(done ? bit(i) : 0);
        open &= ~(done ? 0 : bit(best));
        t->root = (int32_t)above;
        if (!(open >> then & 1) && open)
            then = s->k->open_best(s->cost + next * SIDE, pot, open);
        best = then;
        i = next;
    }
    order[n_steps] = t->root;
    t->parent[t->root] = -1;
    t->flow[t->root] = 0;
}

/* Parents first. */
static inline void potentials(small *s, const int32_t *order)
{
    int32_t *value = s->t.potential;
    memset(value, 0, sizeof s->t.potential);
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = order[k], above = s->t.parent[x];
        value[x] = x < SIDE ? value[above] + s->cost[x * SIDE + above - SIDE]
                            : value[above] - s->cost[above * SIDE + x - SIDE];
    }
}

/* Turn the arcs from `top` up to `end` round: `top` hangs on `hook` by an arc of flow `flow`. */
static inline void reverse(small_tree *t, int32_t top, int32_t end, int32_t hook, int64_t flow)
{
    uint32_t cut = t->mask[end], below = 0;
    for (int32_t x = top, next;; x = next) {
        uint32_t own = t->mask[x];
        int64_t old = t->flow[x];
        next = t->parent[x];
        t->mask[x] = cut & ~below;
        t->parent[x] = hook;
        t->flow[x] = flow;
        if (x == end)
            return;
        below = own;
        hook = x;
        flow = old;
    }
}

static inline simplex_end pivot_all(small *s, int64_t max_pivots, int64_t *pivots)
{
    small_tree *t = &s->t;
    const int32_t *source = t->potential, *sink = source + SIDE;
    for (*pivots = 0;; ++*pivots) {
        int64_t row, column, theta;
        uint32_t side[2];
        int32_t reduced = s->k->tile_best(s->cost, sink, source, s->n, &row, &column);
        if (reduced >= 0)
            return SIMPLEX_OPTIMAL;
        if (*pivots >= max_pivots)
            return SIMPLEX_CAPPED;
        int32_t end = s->k->small_push(t, row, column, side, &theta);
        int32_t tip[2] = {(int32_t)row, (int32_t)(SIDE + column)};
        int own = side[1] >> end & 1;
        uint64_t cut = t->mask[end];
        s->k->small_regraft(t, side[own] & ~(uint32_t)cut, side[!own], (uint32_t)cut);
        reverse(t, tip[own], end, tip[!own], theta);
        s->k->shift(t->potential, &cut, NODES, own == 0 ? reduced : -reduced);
    }
}

/* Children before parents: smaller subtrees before larger ones. */
static void set_order(int32_t *order, const small *s)
{
    int32_t size[NODES], at[NODES + 2] = {0};
    uint32_t used = (bit(s->n) - 1) | (bit(s->m) - 1) << SIDE;
    for (int x = 0; x < NODES; x++) {
        size[x] = used >> x & 1 ? __builtin_popcount(s->t.mask[x]) : NODES;
        at[size[x] + 1]++;
    }
    for (int k = 1; k <= NODES; k++)
        at[k] += at[k - 1];
    for (int x = 0; x < NODES; x++)
        if (used >> x & 1)
            order[at[size[x]]++] = x;
}

static void hand_over(simplex *to, const small *s)
{
    for (int64_t x = 0; x < NODES; x++)
        to->node[x] = (tree_node){.flow = s->t.flow[x], .parent = s->t.parent[x]};
    memcpy(to->coarse, s->t.potential, sizeof s->t.potential);
    to->root = s->t.root;
    set_order(to->order, s);
    to->ordered = true;
}

simplex_end simplex_small(simplex *net)
{
    small s = {.k = net->k, .n = net->n, .m = net->m, .cost = net->coarse_cost};
    guess(&s);
    start(&s, net->supply, net->supply + SIDE, net->order);
    potentials(&s, net->order);
    simplex_end end = pivot_all(&s, net->max_pivots, &net->pivots);
    hand_over(net, &s);
    return end;
}
