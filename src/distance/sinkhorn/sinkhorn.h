/* sinkhorn: entropic transport. Three engines run the same scaling iterations at one pace (pace.h):
 * dense for one problem of any size and epsilon, here; group for eight small problems, one per lane of
 * a vector (group.h); grid for items on a plane grid, where the kernel is a product (grid.h). set.h
 * chooses among them for the pairs of a set. A solver owns a workspace that grows and is reused over
 * pairs, and knows nothing of threads: one solver per worker. */
#ifndef DDSC_DISTANCE_SINKHORN_SINKHORN_H
#define DDSC_DISTANCE_SINKHORN_SINKHORN_H

#include "base/base.h"
#include "data/measures.h"

/* What is asked for, by all engines. */
typedef struct sinkhorn_rule {
    double epsilon;         /* absolute, positive, finite */
    double tolerance;       /* L1 marginal error */
    int64_t max_iterations; /* passes over the kernel and Newton steps */
    bool sharp;             /* the sharp value as well; else it is NaN */
} sinkhorn_rule;

typedef struct sinkhorn_problem {
    int64_t n, m;
    const double *a, *b; /* zero or positive; normalised inside */
    const double *cost;  /* n x m, finite, magnitude at most SINKHORN_MAX_COST */
    int64_t cost_stride; /* from one row of the cost to the next */
    sinkhorn_rule rule;
} sinkhorn_problem;

#define SINKHORN_MAX_COST 1e305

typedef struct sinkhorn_result {
    double regularised; /* <P,C> + eps KL(P | a x b), from the dual: second order in the error */
    double sharp;       /* <P,C> */
    double marginal_error;
    int64_t iterations;
} sinkhorn_result;

typedef struct sinkhorn_solver sinkhorn_solver;

ddsc_status sinkhorn_create(ddsc_context *ctx, sinkhorn_solver **solver);
void sinkhorn_destroy(sinkhorn_solver *solver);
/* For a solver on the calling thread: long solves report and ask whether to stop. */
void sinkhorn_poll(sinkhorn_solver *solver);
/* Memory for problems of up to n x n ahead of time: bounds of them then cannot run out of it. */
ddsc_status sinkhorn_reserve(sinkhorn_solver *solver, int64_t n);
/* A pure function of the problem: nothing of earlier solves is used. DDSC_NOT_CONVERGED when the
 * cap was met; the result is then the plan reached and its true marginal error. */
ddsc_status sinkhorn_solve(sinkhorn_solver *solver, sinkhorn_result *result,
                           const sinkhorn_problem *problem);
/* The same for an item with itself (b is not read; cost symmetric with a zero diagonal), by the
 * averaged fixed point, which needs a handful of iterations whatever epsilon is. */
ddsc_status sinkhorn_self(sinkhorn_solver *solver, sinkhorn_result *result,
                          const sinkhorn_problem *problem);
/* A lower bound of the regularised value from a few iterations; -infinity where there is none to be
 * had. Stops once it exceeds `enough`, or when it hardly ever will. */
double sinkhorn_bound(sinkhorn_solver *solver, const sinkhorn_problem *problem, double enough);
/* Potentials and plan of the last solve, which was of `problem`: P_ij = a_i b_j exp((f_i + g_j -
 * C_ij) / epsilon). Each side carries half of the dual value; points without weight get the value
 * that continues the formula. */
void sinkhorn_potentials(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *f,
                         double *g);
void sinkhorn_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *plan);

#endif
