/* simplex: the primal network simplex on the complete bipartite graph from n sources to m sinks.
 *
 * Supplies are integers made non-degenerate beforehand (no proper subset of nodes balances), so
 * every pivot moves flow and no rule against cycling is needed. Potentials live in two exact number
 * systems: coarse (int32, costs to 2^-27 of their range), which does nearly all pivots, and fine
 * (doubles that hold integers, costs to 2^-49), which finishes where coarse rounding mattered. Both
 * are exact, so there is no tolerance, and every instruction set takes the same pivots. */
#ifndef DDSC_OT_SIMPLEX_H
#define DDSC_OT_SIMPLEX_H

#include "ot/simplex_kernels.h"

enum {
    COARSE_BITS = 24,
    COARSE_LIMIT = 1 << 29,  /* |potential| above this leaves the coarse system */
    COARSE_REMOVED = 1 << 30 /* potential of a sink that is no candidate */
};

typedef struct tree_node {
    int64_t flow; /* on the arc to the parent */
    int32_t parent;
    int32_t unused;
} tree_node;

typedef struct simplex {
    int64_t n, m;
    int64_t sink0; /* node of sink 0; sources are nodes 0 .. n-1 */
    int64_t nodes; /* sink0 + m, rounded up */
    int64_t ld;    /* length of a row of coarse costs */
    int64_t words; /* 64-bit words of a mask */

    const simplex_kernels *kernels;
    int64_t *supply; /* by node, all positive */

    /* The basis: a spanning tree hanging from root. */
    int32_t root;
    tree_node *node;
    uint64_t *mask;   /* by node, the set of nodes in its subtree */
    uint64_t *cut;    /* the subtree being moved */
    int32_t *order;   /* nodes, children before parents; valid after simplex_start and tree_order */
    int32_t *path[2]; /* the cycle: nodes from source and sink of the entering arc up to the join */
    int64_t length[2];

    /* Reduced cost of arc (i, j): cost - potential[i] + potential[sink0 + j]. */
    int32_t *coarse_cost; /* n x ld */
    int32_t *coarse;
    int64_t coarse_bound; /* at least the largest |potential| */

    const double *fine_cost; /* n x m true costs; integers are rint(cost * fine_scale) */
    double fine_scale;
    double *fine;
    double fine_bound;

    int64_t next_row;
    int64_t pivots, max_pivots;
} simplex;

typedef enum simplex_end {
    SIMPLEX_OPTIMAL = 0,
    SIMPLEX_CAPPED,  /* max_pivots met */
    SIMPLEX_OVERFLOW /* potentials left the exact range */
} simplex_end;

static inline int32_t *coarse_row(const simplex *s, int64_t i)
{
    return s->coarse_cost + i * s->ld;
}

/* A spanning tree with feasible flows by the cyclic row minimum: each source in turn serves the
 * sink of least reduced cost. `coarse` holds start potentials of the sinks. */
void simplex_start(simplex *s);
simplex_end simplex_coarse(simplex *s);
simplex_end simplex_fine(simplex *s);

/* The tree behind the basis. */
void tree_build(simplex *s); /* from parent and order */
void tree_order(simplex *s); /* order from parent */
void tree_cycle(simplex *s, int32_t source, int32_t sink);
/* Cut off the subtree of path[side][at] and hang it by path[side][0] on path[!side][0]; on return
 * `cut` is that subtree. `theta` is the flow of the entering arc. */
void tree_move(simplex *s, int side, int64_t at, int64_t theta);

#endif
