/* simplex: the primal network simplex on the complete bipartite graph from n sources to m sinks.
 *
 * Supplies are integers made non-degenerate beforehand (no proper subset of nodes balances), so
 * every pivot moves flow and no rule against cycling is needed. Costs and potentials are whole
 * numbers, in one of two systems: int32 (dense rows of costs to 2^-24 of their range) for problems
 * that fit the caches, and double (doubles that hold integers, costs to 2^-49, a few candidate arcs
 * per row and sweeps over all arcs) for large ones and to finish where rounding to int32 mattered.
 * Both are exact: there is no tolerance, and every instruction set takes the same pivots. */
#ifndef DDSC_DISTANCE_EXACT_SIMPLEX_H
#define DDSC_DISTANCE_EXACT_SIMPLEX_H

#include <float.h>
#include <math.h>

#include "distance/exact/cost_rows.h"
#include "distance/exact/tuning.h"

typedef struct tree_node {
    int64_t flow; /* on the arc to the parent */
    int32_t parent;
    int32_t size; /* nodes in the subtree; kept by lists only */
} tree_node;

/* Preorder as a ring. */
typedef struct tree_link {
    int32_t next, previous;
    int32_t last; /* of the subtree, in preorder */
} tree_link;

typedef struct simplex {
    const kernels *k;
    exact_costs cost;
    int64_t n, m;
    int64_t sink0;   /* node of sink 0; sources are nodes 0 .. n-1 */
    int64_t nodes;   /* sink0 + m, rounded up */
    int64_t ld;      /* length of a row of int32 costs */
    bool dense;      /* int32 costs are there */
    int64_t *supply; /* by node, all positive; used up by the start */

    /* The basis: a spanning tree hanging from root. */
    int32_t root;
    tree_node *node;
    int32_t *order; /* nodes, children before parents, as long as `ordered` */
    bool ordered;
    int32_t *path[2]; /* the cycle: nodes from source and sink of the entering arc up to the join */
    int64_t length[2];
    int64_t words;  /* of a mask; 0: lists */
    uint64_t *mask; /* by node, the set of nodes in its subtree */
    int32_t moved;  /* top of the subtree moved last */
    uint64_t *cut;  /* and its mask */
    tree_link *link;

    /* Reduced cost of arc (i, j): cost - potential[i] + potential[sink0 + j], in int32 ... */
    int32_t *cost32; /* n x ld: (cost - offset32) * scale32 */
    int32_t *potential32;
    int64_t bound32; /* at least the largest |potential| */
    double scale32, offset32;
    bool exact32; /* nothing was lost, offset 0 */

    /* Blocks of columns near the least of some of ROW_GROUP rows, and scratch for balancing. */
    bool near;                                 /* they are listed */
    int32_t *near_count;                       /* by row group */
    int32_t *near_block;                       /* by row group, ld / COLUMN_BLOCK + 1 each */
    int32_t *least;                            /* of each row */
    float *kernel;                             /* n, rounded up, x ld */
    float *weight;                             /* by node, of a sum of 1 */
    float *scaling, *log_scaling, *scaled_sum; /* ld */

    /* ... and in double. */
    double *potential64;
    double bound64, scale64;
    double *arc_cost;    /* n x ARCS */
    int32_t *arc_column; /* n x ARCS */
    int32_t *arc_count;  /* n: arcs of a row */
    int32_t *arc_end;    /* n: the same in whole vectors, padded */
    double *arc_weight;  /* n x ARCS: scratch for smoothing */
    double *column_sum;  /* m: likewise */
    double *value;       /* m: one row of cost + potential */
    int32_t *index;      /* m + COLUMN_BLOCK */

    int64_t next_row, block_rows;
    int64_t twice; /* rows that are to serve once more, or -1 */
    int64_t pivots, max_pivots;
    ddsc_context *ctx; /* asked now and then whether to go on; NULL: never */
} simplex;

typedef enum simplex_end {
    SIMPLEX_OPTIMAL = 0,
    SIMPLEX_CAPPED,  /* max_pivots met */
    SIMPLEX_STOPPED, /* the user wants no more */
    SIMPLEX_OVERFLOW /* potentials left the exact range */
} simplex_end;

typedef struct entering {
    int64_t row, column;
    double reduced; /* exact in both systems */
} entering;

/* A number system. begin: potentials from the tree; price: an arc of negative reduced cost, false
 * when there is none at all; shift: the potentials of the subtree moved last. begin and shift are
 * false when potentials leave the exact range. */
typedef struct number_system {
    bool (*begin)(simplex *s);
    bool (*price)(simplex *s, entering *found);
    bool (*shift)(simplex *s, double by);
} number_system;

extern const number_system simplex_int32, simplex_double;

/* Pivots from the basis in hand. */
simplex_end simplex_run(simplex *s, const number_system *numbers);
/* Start and pivots of a problem of at most TINY_SIDE x TINY_SIDE, after simplex_int32_costs. */
simplex_end simplex_tiny(simplex *s);
void simplex_int32_costs(simplex *s, double low, double high);

/* The scale that brings costs below 2^exponent to so many bits. It stays finite: costs next to the
 * smallest numbers get fewer, and what that loses shows in the gap. */
static inline double simplex_scale(int bits, int exponent)
{
    return ldexp(1, BASE_MIN(bits - exponent, DBL_MAX_EXP - 1));
}
/* To the nearest integer, |x| < 2^51: adding and taking away 1.5 * 2^52 rounds. */
static inline double simplex_round(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}
/* Guesses are kept within the range of int32. */
static inline int32_t simplex_clamp(double x)
{
    const double far = INT32_LIMIT / 2;
    return (int32_t)fmax(fmin(x, far), -far);
}

/* ---- candidate arcs of the double system ---- */
/* Those of every row of least reduced cost under guesses in the potentials of the sinks, which are
 * smoothed on the way if asked. */
void arcs_choose(simplex *s, bool smoothing);
void arcs_drop(simplex *s);
void arcs_set(simplex *s, int64_t i, int64_t slot, int32_t column, double cost);
void arcs_pad(simplex *s, int64_t i, int64_t count);

/* ---- the first basis ---- */
/* List the blocks of columns to price: those near the least of some row under the guesses in the
 * potentials of the sinks, which are balanced against the weights unless they are so already. */
void start_balance(simplex *s, bool balanced);
/* The cyclic row minimum: each source in turn serves the sink of least reduced cost, given guesses
 * in the potentials of the sinks; in double after arcs_choose. */
void start_greedy(simplex *s);
/* Sources and sinks of points on a line in their order, served one after the other: optimal. */
void start_line(simplex *s);

/* ---- the tree ---- */
void basis_build(simplex *s); /* from parents and order */
void basis_order(simplex *s); /* order from parents, unless it is there */
void basis_list_build(simplex *s);
/* The cycle that the arc from source to sink closes, into path and length. */
void basis_list_cycle(simplex *s, int32_t source, int32_t sink);
/* Take the subtree of path[side][at] to path[!side][0], with path[side][0] on top. */
void basis_list_move(simplex *s, int side, int64_t at);
/* Shift the double potentials of the subtree moved last. */
void basis_list_shift(simplex *s, double by);

#endif
