/* The first basis: sources in cyclic order each serve, once a turn, the sink that is cheapest in
 * reduced cost. Supplies are non-degenerate, so each step uses up exactly one node; that node
 * becomes a child of the other, and n + m - 1 steps leave a spanning tree. */
#include <string.h>

#include "ot/simplex.h"

static int64_t cheapest_sink(const simplex *s, int64_t i)
{
    const int32_t *row = coarse_row(s, i), *sink = s->coarse + s->sink0;
    return s->kernels->row_find(row, sink, s->kernels->row_min(row, sink, s->ld));
}

static void hang(simplex *s, int64_t *n_done, int64_t child, int64_t above, int64_t flow)
{
    s->node[child].parent = (int32_t)above;
    s->node[child].flow = flow;
    s->order[(*n_done)++] = (int32_t)child;
}

void simplex_start(simplex *s)
{
    int64_t n_done = 0, n_sinks = s->m, last = s->n - 1, i = 0;
    int64_t *left = s->supply;
    int32_t *next = s->path[0];
    for (int64_t k = 0; k < s->n; k++)
        next[k] = (int32_t)((k + 1) % s->n);
    while (n_done < s->n + s->m - 1) {
        int64_t sink = s->sink0 + cheapest_sink(s, i);
        bool last_sink = n_sinks == 1;
        if (left[i] < left[sink] || last_sink) {
            left[sink] -= left[i];
            hang(s, &n_done, i, sink, left[i]);
            next[last] = next[i];
        } else {
            left[i] -= left[sink];
            hang(s, &n_done, sink, i, left[sink]);
            s->coarse[sink] = COARSE_REMOVED;
            n_sinks--;
            last = i;
        }
        i = next[i];
        s->root = (int32_t)sink;
    }
    s->node[s->root].parent = -1;
    s->node[s->root].flow = 0;
    s->order[n_done] = s->root;
    tree_build(s);
}
