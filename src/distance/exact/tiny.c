/* Solves problems of at most TINY_SIDE x TINY_SIDE with one kernel call.
 *
 * The kernel stores a row of costs in one cache line and a subtree in one 32-bit word, and every
 * pivot prices all arcs. It runs the same simplex as the general int32 code. simplex_tiny copies
 * the resulting tree, flows, potentials and order to the general basis, so the certificate and the
 * double system can continue from them. Masks are not copied, because they are needed only if the
 * double system runs. */
#include <string.h>

#include "distance/exact/simplex.h"

simplex_end simplex_tiny(simplex *s)
{
    tiny_tree t;
    s->k->tiny(&t, &(tiny_problem){.n = s->n,
                                   .m = s->m,
                                   .cost = s->cost32,
                                   .supply = s->supply,
                                   .demand = s->supply + s->sink0,
                                   .max_pivots = s->max_pivots});
    for (int64_t x = 0; x < 2 * TINY_SIDE; x++)
        s->node[x] = (tree_node){.flow = t.flow[x], .parent = t.parent[x]};
    memcpy(s->potential32, t.potential, sizeof t.potential);
    memcpy(s->order, t.order, sizeof t.order);
    s->root = t.root;
    s->ordered = true;
    s->pivots = t.pivots < 0 ? s->max_pivots : t.pivots;
    DDSC_ASSERT(basis_is_tree(s));
    return t.pivots < 0 ? SIMPLEX_CAPPED : SIMPLEX_OPTIMAL;
}
