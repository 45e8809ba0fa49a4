/* simplex: the primal network simplex on the complete bipartite graph from n sources to m sinks. A
 * basis is a spanning tree, and potentials make the reduced cost of its arcs zero. Each pivot adds
 * an arc with negative reduced cost, pushes flow around the cycle that this arc closes, and removes
 * the arc whose flow becomes zero. Supplies are integers, perturbed so that no proper subset of the
 * nodes balances. Every pivot therefore moves flow, and no anti-cycling rule is needed. Costs and
 * potentials are integers in one of two number systems. - int32: dense rows of costs, rounded to
 * 2^-24 of their range. It solves problems that fit in the caches. - double: integers stored in
 * doubles, costs rounded to 2^-49, a few candidate arcs per row, and sweeps over all arcs. It
 * solves large problems, and continues int32 solves whose rounding leaves a gap. Both systems are
 * exact. There is no tolerance, and the pivots are the same on every instruction set. */
#ifndef DDSC_DISTANCE_EXACT_SIMPLEX_H
#define DDSC_DISTANCE_EXACT_SIMPLEX_H

#include <float.h>
#include <math.h>

#include "distance/exact/cost_rows.h"
#include "distance/exact/tuning.h"

typedef struct tree_node {
    int64_t flow; /* flow on the arc to the parent */
    int32_t parent;
    int32_t size; /* nodes in the subtree; used only with lists */
} tree_node;

/* Links of the preorder of the tree, which is stored as a ring. */
typedef struct tree_link {
    int32_t next, previous;
    int32_t last; /* last node of the subtree in preorder */
} tree_link;

typedef struct simplex {
    const kernels *k;
    exact_costs cost;
    int64_t n, m;
    int64_t sink0;   /* node of sink 0; sources are nodes 0 .. n-1 */
    int64_t nodes;   /* sink0 + m, rounded up */
    int64_t ld;      /* length of a row of int32 costs */
    bool dense;      /* int32 costs exist */
    int64_t *supply; /* one per node, all positive; the first basis overwrites it */

    /* The basis: a spanning tree with the given root. */
    int32_t root;
    tree_node *node;
    int32_t *order; /* all nodes, children before parents; valid if `ordered` */
    bool ordered;
    /* The cycle: the nodes on the paths from the source and from the sink of the entering arc up to
     * the node where both paths meet. */
    int32_t *path[2];
    int64_t length[2];
    int64_t words;  /* words per mask; 0: lists are used */
    uint64_t *mask; /* one per node: the set of nodes in its subtree */
    int32_t moved;  /* top of the subtree that was moved last */
    uint64_t *cut;  /* mask of that subtree */
    tree_link *link;

    /* Data of the int32 system. The reduced cost of arc (i, j) is cost - potential[i] +
     * potential[sink0 + j] in both systems. */
    int32_t *cost32; /* n x ld: (cost - offset32) * scale32 */
    int32_t *potential32;
    int64_t bound32; /* upper bound on |potential| */
    double scale32, offset32;
    bool exact32; /* no cost was rounded, and the offset is 0 */

    /* For each group of ROW_GROUP rows, a list of the column blocks that are near the least value
     * of some row in the group; then scratch memory for balancing. */
    bool near;                                 /* the lists are in use */
    int32_t *near_count;                       /* one per row group */
    int32_t *near_block;                       /* ld / COLUMN_BLOCK + 1 entries per row group */
    int32_t *least;                            /* least value of each row */
    float *kernel;                             /* n rounded up, x ld */
    float *weight;                             /* one per node; the weights of each side sum to 1 */
    float *scaling, *log_scaling, *scaled_sum; /* ld */

    /* Data of the double system. */
    double *potential64;
    double bound64, scale64;
    double *arc_cost;    /* n x ARCS */
    int32_t *arc_column; /* n x ARCS */
    int32_t *arc_count;  /* n: number of arcs per row */
    int32_t *arc_end;    /* n: arc_count, padded to whole vectors */
    double *arc_weight;  /* n x ARCS: scratch for smoothing */
    double *column_sum;  /* m: scratch for smoothing */
    double *value;       /* m: one row of cost + potential */
    int32_t *index;      /* m + COLUMN_BLOCK */

    int64_t next_row, block_rows;
    int64_t twice; /* first row of the group that is priced again next, or -1 */
    int64_t pivots, max_pivots;
    ddsc_context *ctx; /* polled for cancellation, or NULL */
} simplex;

typedef enum simplex_end {
    SIMPLEX_OPTIMAL = 0,
    SIMPLEX_CAPPED,  /* reached max_pivots */
    SIMPLEX_STOPPED, /* canceled by the user */
    SIMPLEX_OVERFLOW /* potentials left the exact range */
} simplex_end;

typedef struct entering {
    int64_t row, column;
    double reduced; /* exact in both systems */
} entering;

/* A number system. `begin` computes the potentials from the tree. `price` finds an arc with
 * negative reduced cost, or returns false if there is none. `shift` updates the potentials of the
 * subtree that was moved last. `begin` and `shift` return false if potentials leave the exact
 * range. */
typedef struct number_system {
    bool (*begin)(simplex *s);
    bool (*price)(simplex *s, entering *found);
    bool (*shift)(simplex *s, double by);
} number_system;

extern const number_system simplex_int32, simplex_double;

/* Pivots from the current basis until it is optimal or a limit is reached. */
simplex_end simplex_run(simplex *s, const number_system *numbers);
/* Builds the first basis for a problem of at most TINY_SIDE x TINY_SIDE, and pivots to the optimum.
 * Requires simplex_int32_costs. */
simplex_end simplex_tiny(simplex *s);
void simplex_int32_costs(simplex *s, double low, double high);

/* Returns the scale that converts costs below 2^exponent to integers of the given number of bits.
 * The scale is limited to finite values, so costs near the smallest doubles get fewer bits, and the
 * gap includes the resulting error. */
static inline double simplex_scale(int bits, int exponent)
{
    return ldexp(1, BASE_MIN(bits - exponent, DBL_MAX_EXP - 1));
}
/* Rounds to the nearest integer for |x| < 2^51. Adding and subtracting 1.5 * 2^52 removes the
 * fraction. */
static inline double simplex_round(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}
/* Converts a guess to int32, clamped to half of INT32_LIMIT. */
static inline int32_t simplex_clamp(double x)
{
    const double far = INT32_LIMIT / 2;
    return (int32_t)fmax(fmin(x, far), -far);
}

/* ---- candidate arcs of the double system ---- */
/* Chooses the arcs with the smallest reduced cost in every row, based on the guessed potentials of
 * the sinks. If `smoothing` is true, also smooths the guesses. */
void arcs_choose(simplex *s, bool smoothing);
void arcs_drop(simplex *s);
void arcs_set(simplex *s, int64_t i, int64_t slot, int32_t column, double cost);
void arcs_pad(simplex *s, int64_t i, int64_t count);

/* ---- the first basis ---- */
/* Lists the column blocks to price: those near the least value of some row, based on the guessed
 * potentials of the sinks. Unless the guesses are already balanced, balances them against the
 * weights. */
void start_balance(simplex *s, bool balanced);
/* Builds the first basis with the cyclic row minimum rule: each source in turn serves the sink with
 * the smallest reduced cost, based on the guessed potentials of the sinks. The double system
 * requires a previous call of arcs_choose. */
void start_greedy(simplex *s);
/* Builds the basis for points on a line. Sorted sources serve sorted sinks in order, which is
 * optimal. */
void start_line(simplex *s);

/* ---- the tree ---- */
void basis_build(simplex *s); /* builds masks or lists from parents and order */
void basis_order(simplex *s); /* computes the order from parents if it is not valid */
/* Used in assertions. basis_is_tree returns true if parents and order form a spanning tree in which
 * every arc joins a source and a sink. basis_subtrees_hold returns true if the masks, or the ring
 * and its sizes, agree with the parents. Both overwrite `path`, which is scratch memory between
 * pivots. */
bool basis_is_tree(simplex *s);
bool basis_subtrees_hold(simplex *s);
bool basis_list_holds(simplex *s);
void basis_list_build(simplex *s);
/* Finds the cycle that the arc from source to sink closes, and stores it in `path` and `length`. */
void basis_list_cycle(simplex *s, int32_t source, int32_t sink);
/* Moves the subtree of path[side][at] below path[!side][0]. The new top of the subtree is
 * path[side][0]. */
void basis_list_move(simplex *s, int side, int64_t at);
/* Shifts the double potentials of the subtree that was moved last. */
void basis_list_shift(simplex *s, double by);

#endif
