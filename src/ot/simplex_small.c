/* Problems of at most 16 x 16, which the kernels solve in one call, and their basis as others have
 * it. */
#include <string.h>

#include "ot/simplex.h"

simplex_end simplex_small(simplex *net)
{
    small_tree t;
    small_problem p = {.n = net->n,
                       .m = net->m,
                       .cost = net->coarse_cost,
                       .supply = net->supply,
                       .demand = net->supply + net->sink0,
                       .max_pivots = net->max_pivots};
    int64_t pivots = net->k->small(&t, &p);
    net->pivots = pivots < 0 ? net->max_pivots : pivots;
    for (int64_t x = 0; x < 2 * LANES; x++)
        net->node[x] = (tree_node){.flow = t.flow[x], .parent = t.parent[x]};
    memcpy(net->coarse, t.potential, sizeof t.potential);
    memcpy(net->order, t.order, sizeof t.order);
    net->root = t.root;
    net->ordered = true;
    return pivots < 0 ? SIMPLEX_CAPPED : SIMPLEX_OPTIMAL;
}
