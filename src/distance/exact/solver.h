/* The inside of the exact solver: workspace, levels, certificate. Only the exact solver's own files
 * and its test include this. */
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

    int64_t pivots; /* of rounds before this one */

    /* The problem in hand: positive weights, costs of ordinary size. */
    const double *a, *b;
    double sum_a, sum_b;
    double b_factor;  /* makes the sums equal; 1 when they differ by rounding alone */
    double low, high; /* bounds of the costs */

    double *f, *g;
    int32_t *plan_row, *plan_column;
    double *plan_mass;
    double *excess; /* two per node */

    ground_cost ground;   /* of items */
    cost_tile tile;       /* costs of a block of pairs, made before their solves */
    const double *start;  /* guess of g for the next solve, or NULL */
    bool strict;          /* costs are not negative: the gap is relative to the value alone */
    bool potentials_only; /* balanced potentials are enough, no basis is asked for */
    exact_solver *parent; /* the level above: solves groups of points for a first guess */
};

static inline bool exact_is_tiny(int64_t n, int64_t m)
{
    return n <= TINY_SIDE && m <= TINY_SIDE;
}

/* A problem of positive weights whose costs are far from overflow and underflow. */
ddsc_status exact_solve_ordinary(exact_solver *s, exact_result *result, const double *a,
                                 const double *b, const exact_costs *cost, int64_t max_pivots);
/* The basis alone, as good as max_pivots allow. */
ddsc_status exact_solve_basis(exact_solver *s, simplex_end *end, const double *a, const double *b,
                              const exact_costs *cost, int64_t max_pivots);
/* Guesses into the potentials of the sinks, from the same problem between groups of points; those of
 * problems of few points are poor, and *guessed is false. */
ddsc_status start_multiscale(exact_solver *s, bool *guessed);
/* Plan, potentials and both values from the basis tree, with the true weights and costs. */
void exact_certify(exact_solver *s, exact_result *result, bool int32_optimal);
/* Pivots with about 106 bits from the basis in hand, where certificate or weights leave a doubt, and the
 * certificate they lead to. */
ddsc_status exact_polish(exact_solver *s, exact_result *result);
/* Potentials of the basis in doubles, feasible on all arcs, and their size. */
void exact_potentials(exact_solver *s, double *size);
/* The gap from a difference of primal and dual, relative to the value, or to a floor below that. */
void exact_set_gap(exact_result *result, double difference, double floor);
/* The node of the largest weight. */
int64_t exact_heaviest(const exact_solver *s);

#endif
