/* Start and pivots of a problem of at most LANES x LANES: the same simplex with everything in
 * place. A row of costs is sixteen numbers, a subtree one word, every pivot prices all arcs, and
 * potentials cannot leave the coarse range: a path has at most 31 arcs.
 *
 * Each instruction set includes this after its own tile_best, open_best, push, regraft and shift,
 * with TARGET before every function, so that a problem, or two side by side, are one call. */
#include <string.h>

#define STEP TARGET static inline __attribute__((always_inline))

enum { SIDE = LANES, NODES = 2 * SIDE };

STEP uint32_t bit(int64_t node)
{
    return (uint32_t)1 << node;
}

/* Without a better guess: minus the mean cost of a column, which takes out what its arcs share.
 * Sums of padding wrap around and do not matter. */
STEP void guess(small_tree *t, const small_problem *p)
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
STEP int64_t next_source(uint32_t waiting, int64_t i)
{
    uint32_t later = waiting & ~(bit(i + 1) - 1);
    return __builtin_ctz(later ? later : waiting);
}

/* How far the start is: what nodes have left, sinks and sources that have some, the source whose
 * turn it is and the sink it chose. */
typedef struct small_start {
    int64_t left[NODES];
    uint32_t open, waiting;
    int64_t source, sink;
    int64_t n_done;
} small_start;

STEP void start_open(small_start *w, small_tree *t, const small_problem *p)
{
    memcpy(w->left, p->supply, (size_t)p->n * sizeof *w->left);
    memcpy(w->left + SIDE, p->demand, (size_t)p->m * sizeof *w->left);
    for (int x = 0; x < NODES; x++)
        t->mask[x] = bit(x);
    w->open = bit(p->m) - 1;
    w->waiting = bit(p->n) - 1;
    w->source = w->n_done = 0;
    w->sink = open_best(p->cost, t->potential + SIDE, w->open);
}

/* The cyclic row minimum; masks and order of the tree come along. While a source is served the
 * choice of the next one is made already: it falls only if that sink goes now. */
STEP void start_step(small_start *w, small_tree *t, const small_problem *p)
{
    const int32_t *pot = t->potential + SIDE;
    int64_t source = w->source, sink = SIDE + w->sink, next = next_source(w->waiting, source);
    int64_t then = open_best(p->cost + next * SIDE, pot, w->open);
    bool done = w->left[source] < w->left[sink] || (w->open & (w->open - 1)) == 0;
    int64_t child = done ? source : sink, above = done ? sink : source;
    t->parent[child] = (int32_t)above;
    t->flow[child] = w->left[child];
    t->mask[above] |= t->mask[child];
    w->left[above] -= w->left[child];
    t->order[w->n_done++] = (int32_t)child;
    w->waiting &= ~(done ? bit(source) : 0);
    w->open &= ~(done ? 0 : bit(w->sink));
    t->root = (int32_t)above;
    if (!(w->open >> then & 1) && w->open)
        then = open_best(p->cost + next * SIDE, pot, w->open);
    w->sink = then;
    w->source = next;
}

STEP void start_close(const small_start *w, small_tree *t)
{
    t->order[w->n_done] = t->root;
    t->parent[t->root] = -1;
    t->flow[t->root] = 0;
}

/* Parents first. */
STEP void potentials(small_tree *t, const small_problem *p)
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
STEP void reverse(small_tree *t, int32_t top, int32_t end, int32_t hook, int64_t flow)
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

typedef struct small_pivot {
    int32_t reduced; /* of the entering arc; not negative: there is none */
    int64_t row, column;
    uint32_t side[2];
    int32_t end; /* below the leaving arc */
    int64_t theta;
} small_pivot;

STEP void price(small_pivot *v, const small_tree *t, const small_problem *p)
{
    v->reduced = tile_best(p->cost, t->potential + SIDE, t->potential, p->n, &v->row, &v->column);
}

STEP void move(const small_pivot *v, small_tree *t)
{
    int32_t tip[2] = {(int32_t)v->row, (int32_t)(SIDE + v->column)};
    int own = v->side[1] >> v->end & 1;
    uint32_t cut = t->mask[v->end];
    regraft(t, v->side[own] & ~cut, v->side[!own], cut);
    reverse(t, tip[own], v->end, tip[!own], v->theta);
    shift(t, cut, own == 0 ? v->reduced : -v->reduced);
}

/* From the pivot already priced on. */
STEP int64_t pivot_all(small_pivot *v, small_tree *t, const small_problem *p, int64_t pivots)
{
    for (; v->reduced < 0; pivots++) {
        if (pivots >= p->max_pivots)
            return -1;
        v->end = push(t, v->row, v->column, v->side, &v->theta);
        move(v, t);
        price(v, t, p);
    }
    return pivots;
}

/* As long as both go on: a pivot waits mostly for its own results, so two take little longer than
 * one. */
STEP int64_t pivot_both(small_pivot v[2], small_tree *s, small_tree *t, const small_problem p[2])
{
    int64_t pivots = 0,
            most = p[0].max_pivots < p[1].max_pivots ? p[0].max_pivots : p[1].max_pivots;
    for (; v[0].reduced < 0 && v[1].reduced < 0 && pivots < most; pivots++) {
        v[0].end = push(s, v[0].row, v[0].column, v[0].side, &v[0].theta);
        v[1].end = push(t, v[1].row, v[1].column, v[1].side, &v[1].theta);
        move(&v[0], s);
        move(&v[1], t);
        price(&v[0], s, &p[0]);
        price(&v[1], t, &p[1]);
    }
    return pivots;
}

/* Children before parents: smaller subtrees before larger ones. */
STEP void set_order(small_tree *t, const small_problem *p)
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

TARGET static void solve_one(small_tree *t, const small_problem *p)
{
    small_start w;
    small_pivot v;
    guess(t, p);
    start_open(&w, t, p);
    while (w.n_done < p->n + p->m - 1)
        start_step(&w, t, p);
    start_close(&w, t);
    potentials(t, p);
    price(&v, t, p);
    t->pivots = pivot_all(&v, t, p, 0);
    set_order(t, p);
}

TARGET static void solve_two(small_tree t[2], const small_problem p[2])
{
    small_start w[2];
    small_pivot v[2];
    int64_t steps[2];
    for (int k = 0; k < 2; k++) {
        steps[k] = p[k].n + p[k].m - 1;
        guess(&t[k], &p[k]);
        start_open(&w[k], &t[k], &p[k]);
    }
    while (w[0].n_done < steps[0] && w[1].n_done < steps[1]) {
        start_step(&w[0], &t[0], &p[0]);
        start_step(&w[1], &t[1], &p[1]);
    }
    for (int k = 0; k < 2; k++) {
        while (w[k].n_done < steps[k])
            start_step(&w[k], &t[k], &p[k]);
        start_close(&w[k], &t[k]);
        potentials(&t[k], &p[k]);
        price(&v[k], &t[k], &p[k]);
    }
    int64_t pivots = pivot_both(v, &t[0], &t[1], p);
    for (int k = 0; k < 2; k++) {
        t[k].pivots = pivot_all(&v[k], &t[k], &p[k], pivots);
        set_order(&t[k], &p[k]);
    }
}
