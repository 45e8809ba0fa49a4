/* simplex: the primal network simplex on the complete bipartite graph from n sources to m sinks.
 *
 * Supplies are integers made non-degenerate beforehand (no proper subset of nodes balances), so
 * every pivot moves flow and no rule against cycling is needed. Costs and potentials are whole
 * numbers, in one of two systems: coarse (int32, dense rows of costs to 2^-24 of their range) for
 * problems that fit the caches, and fine (doubles that hold integers, costs to 2^-49, a few
 * candidate arcs a row and sweeps over all arcs) for large ones and to finish where coarse rounding
 * mattered. Both are exact: there is no tolerance, and every instruction set takes the same pivots.
 */
#ifndef DDSC_EXACT_SIMPLEX_H
#define DDSC_EXACT_SIMPLEX_H

#include <float.h>
#include <math.h>

#include "exact/cost_rows.h"

enum {
    SMALL_SIDE = 16, /* problems up to this size have a simplex of their own */
    COARSE_BITS = 24,
    COARSE_LIMIT = 1 << 29,   /* |potential| above this leaves the coarse system */
    COARSE_REMOVED = 1 << 30, /* potential of a sink that is no candidate; cost of padding */
    FINE_BITS = 49,
    ARCS = 40,        /* candidate arcs a row, a multiple of 8 */
    MASK_NODES = 2048 /* trees up to this size keep masks, larger ones lists */
};

static inline bool is_small(int64_t n, int64_t m)
{
    return n <= SMALL_SIDE && m <= SMALL_SIDE;
}

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
    cost_rows cost;
    int64_t n, m;
    int64_t sink0;   /* node of sink 0; sources are nodes 0 .. n-1 */
    int64_t nodes;   /* sink0 + m, rounded up */
    int64_t ld;      /* length of a row of coarse costs */
    bool dense;      /* coarse costs are there */
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

    /* Reduced cost of arc (i, j): cost - potential[i] + potential[sink0 + j]. */
    int32_t *coarse_cost; /* n x ld: (cost - offset) * scale */
    int32_t *coarse;
    int64_t coarse_bound; /* at least the largest |potential| */
    double coarse_scale, coarse_offset;
    bool coarse_exact; /* nothing was lost, offset 0 */

    /* Blocks of LANES columns near the least of some of four rows, and room for smoothing. */
    bool near;                                 /* they are listed */
    int32_t *near_count;                       /* by four rows */
    int32_t *near_block;                       /* by four rows, ld / LANES + 1 each */
    int32_t *least;                            /* of each row */
    float *kernel;                             /* n, rounded up, x ld */
    float *weight;                             /* by node, of a sum of 1 */
    float *scaling, *log_scaling, *scaled_sum; /* ld */

    double *fine;
    double fine_bound, fine_scale;
    double *arc_cost;    /* n x ARCS */
    int32_t *arc_column; /* n x ARCS */
    int32_t *arc_count;  /* n: arcs of a row */
    int32_t *arc_end;    /* n: the same in whole vectors, padded */
    double *arc_weight;  /* n x ARCS: room for smoothing */
    double *column_sum;  /* m: likewise */
    double *value;       /* m: one row of cost + potential */
    int32_t *index;      /* m + LANES */

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

/* A number system: find an arc of negative reduced cost; shift the subtree moved last. shift is
 * false when potentials left the exact range. */
typedef struct number_system {
    bool (*price)(simplex *s, entering *found);
    bool (*shift)(simplex *s, double by);
} number_system;

simplex_end simplex_pivot(simplex *s, const number_system *numbers);

/* The scale that brings costs below 2^exponent to so many bits. It stays finite: costs next to the
 * smallest numbers get fewer, and what that loses shows in the gap. */
static inline double unit_scale(int bits, int exponent)
{
    return ldexp(1, BASE_MIN(bits - exponent, DBL_MAX_EXP - 1));
}

/* ---- coarse ---- */
void coarse_costs(simplex *s, double low, double high);
/* List the blocks of columns to price: those near the least of some row under the guesses in the
 * potentials of the sinks, which are balanced against the weights unless they are so already. */
void near_coarse(simplex *s, bool balanced);
simplex_end simplex_coarse(simplex *s);
/* Start and pivots of one or two problems of at most SMALL_SIDE x SMALL_SIDE, after coarse_costs.
 */
void simplex_small(simplex *const *net, simplex_end *end, int count);

/* ---- fine ---- */
/* Candidate arcs of every row: those of least reduced cost under guesses in the potentials of the
 * sinks, which are smoothed on the way if asked. */
void fine_candidates(simplex *s, bool smoothing);
void fine_no_candidates(simplex *s);
void fine_set_arc(simplex *s, int64_t i, int64_t slot, int32_t column, double cost);
void fine_pad_row(simplex *s, int64_t i, int64_t count);
/* To the nearest integer, |x| < 2^51: adding and taking away 1.5 * 2^52 rounds. */
static inline double fine_round(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}
simplex_end simplex_fine(simplex *s);

/* ---- the first basis ---- */
/* The cyclic row minimum: each source in turn serves the sink of least reduced cost, given guesses
 * in the potentials of the sinks. */
void start_coarse(simplex *s);
void start_fine(simplex *s); /* after fine_candidates */
/* Sources and sinks in the order of a line, served one after the other. */
void start_line(simplex *s, const int32_t *source, const int32_t *sink);

/* ---- the tree ---- */
void tree_build(simplex *s); /* from parents and order */
void tree_order(simplex *s); /* order from parents, unless it is there */
void list_build(simplex *s);
/* The cycle that the arc from source to sink closes, into path and length. */
void list_cycle(simplex *s, int32_t source, int32_t sink);
/* Take the subtree of path[side][at] to path[!side][0], with path[side][0] on top. */
void list_move(simplex *s, int side, int64_t at);
/* Shift the fine potentials of the subtree moved last. */
void list_shift(simplex *s, double by);

#endif
