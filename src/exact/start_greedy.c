/* The first basis. Supplies are non-degenerate, so each step of a greedy rule uses up exactly one
 * node; that node becomes a child of the other, and n + m - 1 steps leave a spanning tree. */
#include <math.h>
#include <string.h>

#include "exact/simplex.h"

static const double removed = 1e300;

static int64_t cheapest_coarse(simplex *s, int64_t i)
{
    const int32_t *row = s->coarse_cost + i * s->ld, *sink = s->coarse + s->sink0;
    return s->k->row_best(row, sink, s->ld);
}

/* A candidate that is still there, else the best of the whole row. */
static int64_t cheapest_fine(simplex *s, int64_t i)
{
    const double *sink = s->fine + s->sink0, *cost = s->arc_cost + i * ARCS;
    const int32_t *column = s->arc_column + i * ARCS;
    double least = s->k->arcs_min(cost, column, sink, s->arc_end[i]);
    int64_t at = 0;
    if (least < 0x1p51) {
        while (cost[at] + sink[column[at]] != least)
            at++;
        return column[at];
    }
    least = s->k->row_quanta(s->value, cost_row(&s->cost, i), sink, s->m, s->fine_scale);
    while (s->value[at] != least)
        at++;
    return at;
}

/* One step from source i to a sink: true when the source was used up. */
static bool serve(simplex *s, int64_t *n_done, int64_t *n_sinks, int64_t i, int64_t sink)
{
    int64_t *left = s->supply;
    bool source_done = left[i] < left[sink] || *n_sinks == 1;
    int64_t child = source_done ? i : sink, above = source_done ? sink : i;
    s->node[child] = (tree_node){.flow = left[child], .parent = (int32_t)above};
    left[above] -= left[child];
    s->order[(*n_done)++] = (int32_t)child;
    *n_sinks -= !source_done;
    s->root = (int32_t)above;
    return source_done;
}

static void finish(simplex *s, int64_t n_done)
{
    s->node[s->root] = (tree_node){.flow = 0, .parent = -1};
    s->order[n_done] = s->root;
    s->ordered = true;
    tree_build(s);
}

static void cyclic_minimum(simplex *s, int64_t (*cheapest)(simplex *s, int64_t i))
{
    int64_t n_done = 0, n_sinks = s->m, last = s->n - 1, i = 0;
    int32_t *next = s->path[0];
    for (int64_t k = 0; k < s->n; k++)
        next[k] = (int32_t)((k + 1) % s->n);
    while (n_done < s->n + s->m - 1) {
        int64_t sink = s->sink0 + cheapest(s, i);
        if (serve(s, &n_done, &n_sinks, i, sink)) {
            next[last] = next[i];
        } else {
            last = i;
            if (s->dense)
                s->coarse[sink] = COARSE_REMOVED;
            else
                s->fine[sink] = removed;
        }
        i = next[i];
    }
    finish(s, n_done);
}

void start_coarse(simplex *s)
{
    cyclic_minimum(s, cheapest_coarse);
}

void start_fine(simplex *s)
{
    cyclic_minimum(s, cheapest_fine);
}

void start_line(simplex *s, const int32_t *source, const int32_t *sink)
{
    int64_t n_done = 0, n_sinks = s->m, i = 0, j = 0;
    while (n_done < s->n + s->m - 1) {
        if (serve(s, &n_done, &n_sinks, source[i], s->sink0 + sink[j]))
            i++;
        else
            j++;
    }
    finish(s, n_done);
}
