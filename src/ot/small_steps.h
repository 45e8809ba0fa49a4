/* Start and pivots of a problem of at most LANES x LANES: the same simplex with everything in
 * place. A row of costs is sixteen numbers, a subtree one word, every pivot prices all arcs, and
 * potentials cannot leave the coarse range: a path has at most 31 arcs.
 *
 * Each instruction set includes this after its own tile_best, open_best, push, regraft and shift,
 * with TARGET before every function, so that a problem is one call. */
#include <string.h>

enum { SIDE = LANES, NODES = 2 * SIDE };

TARGET static inline uint32_t bit(int64_t node)
{
    return (uint32_t)1 << node;
}

/* Without a better guess: minus the mean cost of a column, which takes out what its arcs share.
 * Sums of padding wrap around and do not matter. */
TARGET static inline void guess(small_tree *t, const small_problem *p)
{
    uint32_t sum[SIDE] = {0};
    double share = -1.0 / (double)p->n;
    for (int64_t i = 0; i < p->n; i++)
        for (int j = 0; j < SIDE; j++)
            sum[j] += (uint32_t)p->cost[i * SIDE + j];
    for (int j = 0; j < SIDE; j++)
        t->potential[SIDE + j] = (int32_t)((int32_t)(sum[j] & INT32_MAX) * share);
}

/* The source after i, in turn, of those that wait. */
TARGET static inline int64_t next_source(uint32_t waiting, int64_t i)
{
    uint32_t later = waiting & ~(bit(i + 1) - 1);
    return __builtin_ctz(later ? later : waiting);
}

/* The cyclic row minimum; masks and order of the tree come along. While a source is served the
 * choice of the next one is made already: it falls only if that sink goes now. */
TARGET static inline void start(small_tree *t, const small_problem *p)
{
    const int32_t *pot = t->potential + SIDE;
    int64_t left[NODES], n_steps = p->n + p->m - 1, i = 0;
    uint32_t open = bit(p->m) - 1, waiting = bit(p->n) - 1;
    memcpy(left, p->supply, (size_t)p->n * sizeof *left);
    memcpy(left + SIDE, p->demand, (size_t)p->m * sizeof *left);
    for (int x = 0; x < NODES; x++)
        t->mask[x] = bit(x);
    int64_t best = open_best(p->cost, pot, open);
    for (int64_t k = 0; k < n_steps; k++) {
        int64_t next = next_source(waiting, i), sink = SIDE + best;
        int64_t then = open_best(p->cost + next * SIDE, pot, open);
        bool done = left[i] < left[sink] || (open & (open - 1)) == 0;
        int64_t child = done ? i : sink, above = done ? sink : i;
        t->parent[child] = (int32_t)above;
        t->flow[child] = left[child];
        t->mask[above] |= t->mask[child];
        left[above] -= left[child];
        t->order[k] = (int32_t)child;
        waiting &= ~(done ? bit(i) : 0);
        open &= ~(done ? 0 : bit(best));
        t->root = (int32_t)above;
        if (!(open >> then & 1) && open)
            then = open_best(p->cost + next * SIDE, pot, open);
        best = then;
        i = next;
    }
    t->order[n_steps] = t->root;
    t->parent[t->root] = -1;
    t->flow[t->root] = 0;
}

/* Parents first. */
TARGET static inline void potentials(small_tree *t, const small_problem *p)
{
    int32_t *value = t->potential;
    memset(value, 0, sizeof t->potential);
    for (int64_t k = p->n + p->m - 2; k >= 0; k--) {
        int32_t x = t->order[k], above = t->parent[x];
        value[x] = x < SIDE ? value[above] + p->cost[x * SIDE + above - SIDE]
                            : value[above] - p->cost[above * SIDE + x - SIDE];
    }
}

/* Turn the arcs from `top` up to `end` round: `top` hangs on `hook` by an arc of flow `flow`. */
TARGET static inline void reverse(small_tree *t, int32_t top, int32_t end, int32_t hook,
                                  int64_t flow)
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

TARGET static inline int64_t pivot_all(small_tree *t, const small_problem *p)
{
    const int32_t *source = t->potential, *sink = source + SIDE;
    for (int64_t pivots = 0;; pivots++) {
        int64_t row, column, theta;
        uint32_t side[2];
        int32_t reduced = tile_best(p->cost, sink, source, p->n, &row, &column);
        if (reduced >= 0)
            return pivots;
        if (pivots >= p->max_pivots)
            return -1;
        int32_t end = push(t, row, column, side, &theta);
        int32_t tip[2] = {(int32_t)row, (int32_t)(SIDE + column)};
        int own = side[1] >> end & 1;
        uint32_t cut = t->mask[end];
        regraft(t, side[own] & ~cut, side[!own], cut);
        reverse(t, tip[own], end, tip[!own], theta);
        shift(t, cut, own == 0 ? reduced : -reduced);
    }
}

/* Children before parents: smaller subtrees before larger ones. */
TARGET static inline void set_order(small_tree *t, const small_problem *p)
{
    int32_t size[NODES], at[NODES + 2] = {0};
    uint32_t used = (bit(p->n) - 1) | (bit(p->m) - 1) << SIDE;
    for (int x = 0; x < NODES; x++) {
        size[x] = used >> x & 1 ? __builtin_popcount(t->mask[x]) : NODES;
        at[size[x] + 1]++;
    }
    for (int k = 1; k <= NODES; k++)
        at[k] += at[k - 1];
    for (int x = 0; x < NODES; x++)
        if (used >> x & 1)
            t->order[at[size[x]]++] = x;
}

TARGET static inline int64_t small_solve(small_tree *t, const small_problem *p)
{
    guess(t, p);
    start(t, p);
    potentials(t, p);
    int64_t pivots = pivot_all(t, p);
    set_order(t, p);
    return pivots;
}
