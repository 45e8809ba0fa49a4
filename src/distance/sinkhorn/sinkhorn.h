/* sinkhorn: computes entropic optimal transport by scaling iterations, or by Newton steps if these
 * iterations converge slowly.
 *
 * The problem is min <P, C> + eps KL(P | a x b) over plans P with row sums a and column sums b. The
 * optimal plan is P_ij = u_i K_ij v_j with K_ij = exp(-C_ij / eps). Sinkhorn's iteration alternates
 * u = a / (K v) and v = b / (K' u). Each half step makes one marginal exact, and one iteration
 * takes O(n m) operations. The regularized value is computed from the dual, so its error is of
 * second order in the error of the potentials.
 *
 * Three engines run these iterations under the same pace control (pace.h). The dense engine,
 * declared in this file, solves one problem of any size and epsilon. The group engine solves eight
 * small problems at once, one per vector lane (group.h). The grid engine solves items on a plane
 * grid, where the kernel is a product (grid.h). set.h chooses the engine for each pair of a set.
 *
 * A solver owns a workspace that grows as needed and is reused for later pairs. It is not
 * thread-safe, so each worker has its own solver. */
#ifndef DDSC_DISTANCE_SINKHORN_SINKHORN_H
#define DDSC_DISTANCE_SINKHORN_SINKHORN_H

#include "base/base.h"
#include "data/measures.h"

/* Settings for a solve with any engine. */
typedef struct sinkhorn_rule {
    double epsilon;         /* absolute, positive, finite */
    double tolerance;       /* maximum L1 marginal error */
    int64_t max_iterations; /* passes over the kernel plus Newton steps */
    bool sharp;             /* compute the sharp value, which is NaN otherwise */
} sinkhorn_rule;

typedef struct sinkhorn_problem {
    int64_t n, m;
    const double *a, *b; /* >= 0; normalized internally */
    const double *cost;  /* n x m, finite, magnitude at most SINKHORN_MAX_COST */
    int64_t cost_stride; /* distance between rows of the cost */
    sinkhorn_rule rule;
} sinkhorn_problem;

#define SINKHORN_MAX_COST 1e305

typedef struct sinkhorn_result {
    double regularized; /* <P,C> + eps KL(P | a x b), computed from the dual */
    double sharp;       /* <P,C> */
    double marginal_error;
    int64_t iterations;
} sinkhorn_result;

typedef struct sinkhorn_solver sinkhorn_solver;

ddsc_status sinkhorn_create(ddsc_context *ctx, sinkhorn_solver **solver);
void sinkhorn_destroy(sinkhorn_solver *solver);
/* Enables progress reports and cancellation checks during long solves. The solver must then run on
 * the calling thread. */
void sinkhorn_poll(sinkhorn_solver *solver);
/* Reserves the memory for problems of up to n x n, so that their bounds cannot run out of memory.
 */
ddsc_status sinkhorn_reserve(sinkhorn_solver *solver, int64_t n);
/* Solves a problem. The result depends only on the problem, not on earlier solves. Returns
 * DDSC_NOT_CONVERGED if the iteration limit was reached; the result then contains the current plan
 * and its marginal error. */
ddsc_status sinkhorn_solve(sinkhorn_solver *solver, sinkhorn_result *result,
                           const sinkhorn_problem *problem);
/* Solves the problem of an item with itself by an averaged fixed-point iteration, which converges
 * fast for any epsilon. Ignores b. The cost must be symmetric with a zero diagonal. */
ddsc_status sinkhorn_self(sinkhorn_solver *solver, sinkhorn_result *result,
                          const sinkhorn_problem *problem);
/* Returns a lower bound on the regularized value after a few iterations, or -infinity if no
 * bound was found. Stops as soon as the bound exceeds `enough` or is unlikely to reach it. */
double sinkhorn_bound(sinkhorn_solver *solver, const sinkhorn_problem *problem, double enough);
/* These functions copy the potentials and the plan P_ij = a_i b_j exp((f_i + g_j - C_ij) / epsilon)
 * of the last solve, which must have solved `problem`. The potentials are shifted so that each side
 * contributes half of the dual value, and extended to points with zero weight by the soft
 * c-transform. */
void sinkhorn_potentials(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *f,
                         double *g);
void sinkhorn_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *plan);

#endif
