/* The inside of the exact solver: workspace, levels, certificate. Only the exact solver's own files
 * and its test include this. */
#ifndef DDSC_OT_EXACT_H
#define DDSC_OT_EXACT_H

#include "ot/ot.h"
#include "ot/simplex.h"

/* One block of memory that grows and never shrinks. */
typedef struct workspace {
    char *block;
    int64_t size;
} workspace;

/* Arrays carved out of a block; with base NULL it only measures. */
typedef struct arena {
    char *base;
    int64_t used;
} arena;

/* What is called optimal has at most this gap. */
#define GAP_PROMISED 1e-10

enum { PRODUCT_DIM = 17 }; /* from this dimension on costs come from products */

/* Costs of a block of pairs, between distinct points. */
typedef struct cost_ahead {
    const measures *m; /* NULL: none */
    int64_t i0, i1, j0, j1;
    int32_t *row, *column;             /* the points: rows of the table */
    int32_t *row_local, *column_local; /* by entry of the items: which of them */
    double *row_norm, *column_norm;
    double *cost;
    int64_t ld;
    workspace room;
    int32_t *seen; /* by row of the table, -1 between uses */
    int64_t n_seen;
} cost_ahead;

struct exact_solver {
    ddsc_context *ctx;
    const kernels *k;
    workspace own, given, level;
    simplex net;

    int64_t pivots; /* of rounds before this one */

    /* The problem in hand: positive weights, costs of ordinary size. */
    const double *a, *b;
    double sum_a, sum_b;
    double b_factor;  /* makes the sums equal; 1 when they differ by rounding alone */
    double low, high; /* bounds of the costs */

    double *f, *g;
    int32_t *plan_row, *plan_column;
    double *plan_mass;
    double *excess; /* two a node */

    cost_ahead ahead;
    const double *start;   /* guess of g for the next solve, or NULL */
    bool rough;            /* balanced potentials are enough, no basis is asked for */
    exact_solver *coarser; /* solves groups of points for a first guess of the potentials */
    exact_solver *twin;    /* solves the first of two small problems at once */
};

void *arena_take(arena *a, int64_t count, size_t size);
ddsc_status workspace_grow(ddsc_context *ctx, workspace *w, int64_t wanted);

/* A problem of positive weights whose costs are far from overflow and underflow. */
ddsc_status solve_ordinary(exact_solver *s, exact_result *result, const double *a, const double *b,
                           const cost_rows *cost, int64_t max_pivots);
/* Two problems of at most SMALL_SIDE x SMALL_SIDE with matrices, not on a line, each as
 * solve_ordinary would. */
typedef struct two_problems {
    const double *a[2], *b[2];
    cost_rows cost[2];
} two_problems;
ddsc_status solve_two(exact_solver *const *s, exact_result *result, const two_problems *p,
                      int64_t max_pivots);
/* The basis alone, as good as max_pivots allow. */
ddsc_status solve_basis(exact_solver *s, simplex_end *end, const double *a, const double *b,
                        const cost_rows *cost, int64_t max_pivots);
/* Guesses into the potentials of the sinks, from the same problem between groups of points; small
 * problems have to do without. */
ddsc_status guess_potentials(exact_solver *s, bool *guessed);

/* The costs of a pair if they were made ahead. */
bool ahead_fill(const cost_ahead *a, double *cost, const measures *mx, int64_t i,
                const measures *my, int64_t j);
void ahead_free(ddsc_context *ctx, cost_ahead *a);

/* The first basis of points on a line, which is optimal. */
void start_on_line(simplex *net);

/* Plan, potentials and both values from the basis tree, with the true weights and costs. */
void certify(exact_solver *s, exact_result *result, bool coarse_optimal);

#endif
