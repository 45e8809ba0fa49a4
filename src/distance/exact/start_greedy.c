/* Builds the first basis.
 *
 * The supplies are non-degenerate, so each step of a greedy rule exhausts exactly one of its two
 * nodes. The exhausted node becomes a child of the other node, and n + m - 1 steps create a
 * spanning tree with positive flows. The general rule is the cyclic row minimum: sources take
 * turns, and each serves the open sink with the smallest C_ij - g_j. For points on a line, sorted
 * sources serve sorted sinks in order, which is optimal for the convex costs used here, so no
 * pivots are needed, only the certificate. The cost is one row search per step, or O(n log n +
 * m log m) for points on a line. */
#include <math.h>
#include <string.h>

#include "distance/exact/simplex.h"

static const double removed = 1e300;

static int64_t cheapest_int32(simplex *s, int64_t i)
{
    const int32_t *row = s->cost32 + i * s->ld, *sink = s->potential32 + s->sink0;
    return s->k->row_best(row, sink, s->ld);
}

/* Returns the cheapest open candidate of row i, or else the cheapest open sink in the whole row. */
static int64_t cheapest_double(simplex *s, int64_t i)
{
    const double *sink = s->potential64 + s->sink0, *cost = s->arc_cost + i * ARCS;
    const int32_t *column = s->arc_column + i * ARCS;
    double least = s->k->arcs_least(cost, column, sink, s->arc_end[i]);
    int64_t at = 0;
    if (least < 0x1p51) {
        while (cost[at] + sink[column[at]] != least)
            at++;
        return column[at];
    }
    least = s->k->row_quanta(s->value, exact_cost_row(&s->cost, i), sink, s->m, s->scale64);
    while (s->value[at] != least)
        at++;
    return at;
}

/* Ships mass from source i to a sink until one of the two is exhausted. Returns true if the source
 * is exhausted. */
static bool serve(simplex *s, int64_t *n_done, int64_t *n_sinks, int64_t i, int64_t sink)
{
    int64_t *left = s->supply;
    bool source_done = left[i] < left[sink] || *n_sinks == 1;
    int64_t child = source_done ? i : sink, above = source_done ? sink : i;
    s->node[child] = (tree_node){.flow = left[child], .parent = (int32_t)above};
    DDSC_ASSERT(left[child] > 0 && left[above] > 0);
    left[above] -= left[child];
    s->order[(*n_done)++] = (int32_t)child;
    *n_sinks -= !source_done;
    s->root = (int32_t)above;
    return source_done;
}

static void end_tree(simplex *s, int64_t n_done)
{
    s->node[s->root] = (tree_node){.flow = 0, .parent = -1};
    s->order[n_done] = s->root;
    s->ordered = true;
    basis_build(s);
}

void start_greedy(simplex *s)
{
    int64_t n_done = 0, n_sinks = s->m, last = s->n - 1, i = 0;
    int32_t *next = s->path[0];
    for (int64_t k = 0; k < s->n; k++)
        next[k] = (int32_t)((k + 1) % s->n);
    while (n_done < s->n + s->m - 1) {
        int64_t sink = s->sink0 + (s->dense ? cheapest_int32(s, i) : cheapest_double(s, i));
        if (serve(s, &n_done, &n_sinks, i, sink)) {
            next[last] = next[i];
        } else {
            last = i;
            if (s->dense)
                s->potential32[sink] = INT32_REMOVED;
            else
                s->potential64[sink] = removed;
        }
        i = next[i];
    }
    end_tree(s, n_done);
}

void start_line(simplex *s)
{
    int64_t n_done = 0, n_sinks = s->m, i = 0, j = 0;
    sort_order(s->path[0], s->cost.x, s->n);
    sort_order(s->path[1], s->cost.y, s->m);
    while (n_done < s->n + s->m - 1) {
        if (serve(s, &n_done, &n_sinks, s->path[0][i], s->sink0 + s->path[1][j]))
            i++;
        else
            j++;
    }
    end_tree(s, n_done);
}
