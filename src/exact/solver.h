/* The inside of the exact solver: workspace, levels, certificate. Only the exact solver's own files
 * and its test include this. */
#ifndef DDSC_EXACT_SOLVER_H
#define DDSC_EXACT_SOLVER_H

#include "cost/tile_costs.h"
#include "exact/exact.h"
#include "exact/simplex.h"

/* What is called optimal has at most this gap. */
#define GAP_PROMISED 1e-10

enum { PRODUCT_DIM = 17 }; /* from this dimension on costs come from products */

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

/* The first basis of points on a line, which is optimal. */
void start_on_line(simplex *net);

/* Plan, potentials and both values from the basis tree, with the true weights and costs. */
void certify(exact_solver *s, exact_result *result, bool coarse_optimal);

#endif
