/* dense: internals of a sinkhorn_solver, for the dense and the group engine. */
#ifndef DDSC_DISTANCE_SINKHORN_DENSE_H
#define DDSC_DISTANCE_SINKHORN_DENSE_H

#include "base/workspace.h"
#include "distance/sinkhorn/dense_kernel.h"
#include "distance/sinkhorn/sinkhorn.h"
#include "distance/sinkhorn/tuning.h"

struct sinkhorn_solver {
    ddsc_context *ctx;
    bool polls;
    bool swapped; /* the rows here are the columns of the problem */
    double unit;  /* power of two by which cost and epsilon are divided */
    dense_arrays s;
    double range;             /* largest reduced cost */
    double epsilon;           /* epsilon of the current kernel */
    workspace memory, newton; /* `newton` is used only by the few problems that need Newton steps */
};

/* The state of an iteration. */
typedef struct dense_run {
    double tolerance;
    int64_t iterations, cap;
    double error; /* L1 error of the rows; the columns are exact */
} dense_run;

/* Returns the number of levels with a larger epsilon before the requested epsilon. */
int64_t sinkhorn_levels(double range, double epsilon);
/* Computes the kernel of the current potentials. */
void sinkhorn_dense_start(sinkhorn_solver *z, double epsilon);
/* Iterates from zero potentials to the plan for `epsilon`. On return, the columns are exact, and
 * run->error is set. */
ddsc_status sinkhorn_dense_iterate(sinkhorn_solver *z, double epsilon, dense_run *run);
/* Performs one damped Newton step on the semi-dual, starting from exact columns, and updates
 * *error. Sets *moved to false if no step was found, in which case the scalings do not change. */
ddsc_status sinkhorn_dense_newton(sinkhorn_solver *z, double *error, bool *moved);

#endif
