/* Problems of at most 16 x 16, which the kernels solve in one call, and their basis as others have
 * it. */
#include <string.h>

#include "exact/simplex.h"

static simplex_end hand_over(simplex *net, const small_tree *t)
{
    bool capped = t->pivots < 0;
    for (int64_t x = 0; x < 2 * LANES; x++)
        net->node[x] = (tree_node){.flow = t->flow[x], .parent = t->parent[x]};
    memcpy(net->coarse, t->potential, sizeof t->potential);
    memcpy(net->order, t->order, sizeof t->order);
    net->root = t->root;
    net->ordered = true;
    net->pivots = capped ? net->max_pivots : t->pivots;
    return capped ? SIMPLEX_CAPPED : SIMPLEX_OPTIMAL;
}

void simplex_small(simplex *const *net, simplex_end *end, int count)
{
    small_tree tree[2];
    small_problem p[2] = {0};
    for (int k = 0; k < count; k++)
        p[k] = (small_problem){.n = net[k]->n,
                               .m = net[k]->m,
                               .cost = net[k]->coarse_cost,
                               .supply = net[k]->supply,
                               .demand = net[k]->supply + net[k]->sink0,
                               .max_pivots = net[k]->max_pivots};
    net[0]->k->small(tree, p, count);
    for (int k = 0; k < count; k++)
        end[k] = hand_over(net[k], &tree[k]);
}
