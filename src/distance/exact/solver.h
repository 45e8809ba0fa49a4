/* solver: internals of the exact solver: the workspace, the levels and the certificate.
 *
 * Only the source files of the exact solver and its test include this file. A solve rounds weights
 * and costs to integers, guesses potentials from a coarser parent problem, builds a first basis
 * greedily and pivots to optimality. exact_certify then recomputes the plan, the potentials and the
 * gap from the optimal basis with the original numbers, so that errors from rounding to integers
 * can widen the gap but cannot invalidate the bounds. */
#ifndef DDSC_DISTANCE_EXACT_SOLVER_H
#define DDSC_DISTANCE_EXACT_SOLVER_H

#include "base/workspace.h"
#include "distance/cost/tile_costs.h"
#include "distance/exact/exact.h"
#include "distance/exact/simplex.h"

struct exact_solver {
    ddsc_context *ctx;
    const kernels *k;
    workspace own, given, level, polish;
    simplex net;

    int64_t pivots; /* pivots of earlier rounds */

    /* The current problem: positive weights, and costs far from overflow and underflow. */
    const double *a, *b;
    double sum_a, sum_b;
    double b_factor;  /* sum_a / sum_b; 1 if both differ only by rounding errors */
    double low, high; /* bounds on the costs */

    double *f, *g;
    int32_t *plan_row, *plan_column;
    double *plan_mass;
    double *excess; /* two values per node */

    ground_cost ground;   /* ground cost between items */
    cost_tile tile;       /* costs of a block of pairs, computed before the solves */
    const double *start;  /* starting potentials g for the next solve, or NULL */
    bool strict;          /* costs are >= 0; the gap is relative to the value alone */
    bool potentials_only; /* balanced potentials suffice; no basis is needed */
    exact_solver *parent; /* the coarser level, which solves groups of points */
};

static inline bool exact_is_tiny(int64_t n, int64_t m)
{
    return n <= TINY_SIDE && m <= TINY_SIDE;
}

/* Solves a problem with positive weights and with costs far from overflow and underflow. */
ddsc_status exact_solve_ordinary(exact_solver *s, exact_result *result, const double *a,
                                 const double *b, const exact_costs *cost, int64_t max_pivots);
/* Computes a basis without a certificate. The basis is optimal unless max_pivots was reached. */
ddsc_status exact_solve_basis(exact_solver *s, simplex_end *end, const double *a, const double *b,
                              const exact_costs *cost, int64_t max_pivots);
/* Sets the initial potentials of the sinks to s->start or, if it is NULL, to those of the same
 * problem between groups of points. *guessed is false if only a rough estimate was possible, for
 * example because there are few points. */
ddsc_status start_multiscale(exact_solver *s, bool *guessed);
/* Computes the plan, the potentials and both values from the basis tree with the original weights
 * and costs. */
void exact_certify(exact_solver *s, exact_result *result, bool int32_optimal);
/* Pivots from the current basis with about 106 bits, and certifies the result. Used if the
 * certificate or the weights leave the value uncertain. */
ddsc_status exact_polish(exact_solver *s, exact_result *result);
/* Computes potentials of the basis in double precision that are feasible on all arcs. Sets *size to
 * sum a |f| + sum b |g|. */
void exact_potentials(exact_solver *s, double *size);
/* Sets the gap to the difference between primal and dual value, relative to max(|primal|,
 * floor). */
void exact_set_gap(exact_result *result, double difference, double floor);
/* Returns the node with the largest weight. */
int64_t exact_heaviest(const exact_solver *s);

#endif
