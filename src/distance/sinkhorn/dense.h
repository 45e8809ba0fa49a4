/* The inside of a sinkhorn_solver, shared by the dense_*.c files. */
#ifndef DDSC_DISTANCE_SINKHORN_DENSE_H
#define DDSC_DISTANCE_SINKHORN_DENSE_H

#include "base/workspace.h"
#include "distance/sinkhorn/dense_kernel.h"
#include "distance/sinkhorn/sinkhorn.h"
#include "distance/sinkhorn/tuning.h"

struct sinkhorn_solver {
    ddsc_context *ctx;
    bool polls;
    bool swapped; /* rows here are the problem's columns */
    double unit;  /* cost and epsilon are kept divided by this power of two */
    dense_arrays s;
    double range;             /* largest reduced cost */
    double epsilon;           /* of the kernel that is filled in */
    workspace memory, newton; /* the latter for steps that few problems need */
};

/* Where an iteration stands. */
typedef struct dense_run {
    double tolerance;
    int64_t iterations, cap;
    double error; /* of the rows; the columns are exact */
} dense_run;

/* Steps of a falling epsilon before the one asked for. */
int64_t sinkhorn_levels(double range, double epsilon);
/* The kernel of the potentials at hand. */
void sinkhorn_dense_start(sinkhorn_solver *z, double epsilon);
/* From the starting potentials (0) to the plan of `epsilon`; leaves exact columns and run->error. */
ddsc_status sinkhorn_dense_iterate(sinkhorn_solver *z, double epsilon, dense_run *run);
/* One damped Newton step on the semi-dual from exact columns; *error is updated. *moved is false
 * when no step was found, and the scalings are then as before. */
ddsc_status sinkhorn_dense_newton(sinkhorn_solver *z, double *error, bool *moved);

#endif
