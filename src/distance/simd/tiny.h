/* The simplex for problems of at most TINY_SIDE x TINY_SIDE, included by loops.h.
 *
 * The algorithm is the general simplex, but all data fit in a few vectors. A row of costs is one
 * line, a subtree is one word, and every pivot prices all arcs. Potentials cannot leave the int32
 * range because a path has at most 31 arcs. */

enum { NODES = 2 * TINY_SIDE };

static const uint32_t tiny_sources = ((uint32_t)1 << TINY_SIDE) - 1;

OP uint32_t bit(int64_t node)
{
    return (uint32_t)1 << node;
}

/* Guesses the potentials of the sinks as minus the mean cost of their columns, which removes the
 * common cost of all arcs in a column. Sums over padding may wrap around and are not used. */
OP void guess(tiny_tree *t, const tiny_problem *p)
{
    uint32_t sum[TINY_SIDE] = {0};
    double share = -1.0 / (double)p->n;
    for (int64_t i = 0; i < p->n; i++)
        for (int j = 0; j < TINY_SIDE; j++)
            sum[j] += (uint32_t)p->cost[i * TINY_SIDE + j];
    for (int j = 0; j < TINY_SIDE; j++)
        t->potential[TINY_SIDE + j] = (int32_t)((int32_t)(sum[j] & INT32_MAX) * share);
}

/* Returns the open sink with the smallest reduced cost. */
OP int64_t open_best(const int32_t *cost, const int32_t *sink, uint32_t open)
{
    int_line value = line_select(open, line_at(cost, sink), line_all(INT32_MAX));
    return __builtin_ctz(line_equal(value, line_least(value)));
}

/* Returns the next waiting source after i, in cyclic order. */
OP int64_t next_source(uint32_t waiting, int64_t i)
{
    uint32_t later = waiting & ~(bit(i + 1) - 1);
    return __builtin_ctz(later ? later : waiting);
}

/* Builds the first basis with the cyclic row minimum rule, together with the masks and the order of
 * the tree. The sink of the next source is chosen while the current source is served. It is
 * replaced only if the current step exhausts it. */
OP void first_basis(tiny_tree *t, const tiny_problem *p)
{
    const int32_t *pot = t->potential + TINY_SIDE;
    int64_t left[NODES], source = 0, n_done = 0;
    uint32_t open = bit(p->m) - 1, waiting = bit(p->n) - 1;
    memcpy(left, p->supply, (size_t)p->n * sizeof *left);
    memcpy(left + TINY_SIDE, p->demand, (size_t)p->m * sizeof *left);
    memset(t->flow, 0, sizeof t->flow); /* unused nodes also need a flow, because push adds to all
                                         * nodes */
    for (int x = 0; x < NODES; x++)
        t->mask[x] = bit(x);
    int64_t chosen = open_best(p->cost, pot, open);
    while (n_done < p->n + p->m - 1) {
        int64_t sink = TINY_SIDE + chosen, next = next_source(waiting, source);
        int64_t then = open_best(p->cost + next * TINY_SIDE, pot, open);
        bool done = left[source] < left[sink] || (open & (open - 1)) == 0;
        int64_t child = done ? source : sink, above = done ? sink : source;
        t->parent[child] = (int32_t)above;
        t->flow[child] = left[child];
        t->mask[above] |= t->mask[child];
        left[above] -= left[child];
        t->order[n_done++] = (int32_t)child;
        waiting &= ~(done ? bit(source) : 0);
        open &= ~(done ? 0 : bit(chosen));
        t->root = (int32_t)above;
        if (!(open >> then & 1) && open)
            then = open_best(p->cost + next * TINY_SIDE, pot, open);
        chosen = then;
        source = next;
    }
    t->order[n_done] = t->root;
    t->parent[t->root] = -1;
    t->flow[t->root] = 0;
}

/* Computes the potentials from the tree, parents first. */
OP void potentials(tiny_tree *t, const tiny_problem *p)
{
    int32_t *value = t->potential;
    memset(value, 0, sizeof t->potential);
    for (int64_t k = p->n + p->m - 2; k >= 0; k--) {
        int32_t x = t->order[k], above = t->parent[x];
        value[x] = x < TINY_SIDE ? value[above] + p->cost[x * TINY_SIDE + above - TINY_SIDE]
                                 : value[above] - p->cost[above * TINY_SIDE + x - TINY_SIDE];
    }
}

/* Finds the arc with the smallest reduced cost, in the first column that contains it, and returns
 * its reduced cost. */
OP int32_t price(const tiny_tree *t, const tiny_problem *p, int64_t *row, int64_t *column)
{
    int_line best = line_all(INT32_MAX), where = line_all(0);
    for (int64_t i = 0; i < p->n; i++) {
        int_line own = line_at(p->cost + i * TINY_SIDE, t->potential + TINY_SIDE);
        own = line_minus(own, t->potential[i]);
        where = line_pick(own, best, line_all((int32_t)i), where);
        best = line_min(best, own);
    }
    int32_t value = line_least(best);
    *column = __builtin_ctz(line_equal(best, value));
    *row = line_lane(where, *column);
    return value;
}

/* Returns the nodes whose subtree contains the given node. */
OP uint32_t holders(const tiny_tree *t, int64_t node)
{
    uint32_t bits = 0;
    for (int x = 0; x < NODES; x += INTS)
        bits |= ints_common(ints_at(t->mask + x), ints_all(bit(node))) << x;
    return bits;
}

/* Pushes as much flow around the cycle of the entering arc as the arcs that lose flow permit.
 * side[0] and side[1] are the nodes of the cycle below the join on the sides of the source and of
 * the sink. Returns the lower node of the arc whose flow becomes zero. */
OP int32_t push(tiny_tree *t, int64_t row, int64_t column, uint32_t side[2], int64_t *theta)
{
    uint32_t above = holders(t, row), other = holders(t, TINY_SIDE + column), empty = 0;
    side[0] = above & ~other;
    side[1] = other & ~above;
    uint32_t losing = (side[0] & tiny_sources) | (side[1] & ~tiny_sources);
    uint32_t gaining = above ^ other ^ losing;
    longs none = longs_all(INT64_MAX), least = none;
    for (int x = 0; x < NODES; x += LONGS)
        least = longs_min(least, longs_select(losing >> x, longs_at(t->flow + x), none));
    *theta = longs_least(least);
    for (int x = 0; x < NODES; x += LONGS) {
        longs own = longs_at(t->flow + x), by = longs_all(*theta);
        empty |= longs_equal(own, by) << x;
        own = longs_select(losing >> x, own - by, own);
        own = longs_select(gaining >> x, own + by, own);
        memcpy(t->flow + x, &own, sizeof own);
    }
    return __builtin_ctz(empty & losing);
}

/* Removes the nodes of a subtree from the masks of `from`, adds them to the masks of `to`, and
 * shifts the potentials of the subtree. */
OP void regraft(tiny_tree *t, uint32_t cut, uint32_t from, uint32_t to, int32_t by)
{
    for (int x = 0; x < NODES; x += INTS) {
        ints bits = ints_all(cut), own = ints_at(t->mask + x), old = ints_at(t->potential + x);
        own = ints_select(from >> x, own & ~bits, own);
        own = ints_select(to >> x, own | bits, own);
        old = ints_select(cut >> x, old + by, old);
        memcpy(t->mask + x, &own, sizeof own);
        memcpy(t->potential + x, &old, sizeof old);
    }
}

/* Reverses the arcs from `top` up to `end`, and attaches `top` to `hook` with an arc that carries
 * `flow`. */
OP void reverse(tiny_tree *t, int32_t top, int32_t end, int32_t hook, int64_t flow)
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

OP int64_t pivot_all(tiny_tree *t, const tiny_problem *p)
{
    int64_t row, column, theta;
    for (int64_t pivots = 0;; pivots++) {
        int32_t reduced = price(t, p, &row, &column);
        if (reduced >= 0)
            return pivots;
        if (pivots >= p->max_pivots)
            return -1;
        uint32_t side[2];
        int32_t end = push(t, row, column, side, &theta);
        int32_t tip[2] = {(int32_t)row, (int32_t)(TINY_SIDE + column)};
        int own = side[1] >> end & 1;
        uint32_t cut = t->mask[end];
        regraft(t, cut, side[own] & ~cut, side[!own], own == 0 ? reduced : -reduced);
        reverse(t, tip[own], end, tip[!own], theta);
    }
}

/* Sorts the nodes by the size of their subtrees, so that children precede parents. */
OP void set_order(tiny_tree *t, const tiny_problem *p)
{
    int32_t size[NODES], at[NODES + 2] = {0};
    uint32_t used = (bit(p->n) - 1) | (bit(p->m) - 1) << TINY_SIDE;
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

TARGET static void solve_tiny(tiny_tree *t, const tiny_problem *p)
{
    guess(t, p);
    first_basis(t, p);
    potentials(t, p);
    t->pivots = pivot_all(t, p);
    set_order(t, p);
}
