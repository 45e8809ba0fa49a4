/* The inside of a sinkhorn_solver, shared by the sinkhorn_*.c files. */
#ifndef DDSC_SINKHORN_SOLVER_H
#define DDSC_SINKHORN_SOLVER_H

#include "sinkhorn/kernel.h"
#include "sinkhorn/sinkhorn.h"

/* Workspace of the Newton steps; made when the first one is taken. */
typedef struct newton_space {
    double *block;
    int64_t capacity;
    double *scaled;    /* rows x stride: u K v / sqrt(b) */
    double *matrix;    /* rows x rows */
    double *direction; /* rows */
    double *gradient;  /* rows */
    double *before;    /* rows: diagonal of the matrix, then u before the step */
} newton_space;

struct sinkhorn_solver {
    ddsc_context *ctx;
    bool may_poll; /* the solver runs on the calling thread and may ask whether to stop */
    double *block;
    int64_t capacity;
    int32_t *kept; /* places of the kept rows, then columns, in the problem */
    int64_t kept_capacity;
    const int32_t *row_of, *column_of;
    bool swapped; /* rows here are the problem's columns */
    double unit;  /* cost and epsilon are kept divided by this power of two */
    scaling s;    /* of the reduced cost C - base_f - base_g >= 0 */
    double *base_f, *base_g;
    double *last_f, *last_g; /* potentials of the level before, for the extrapolation */
    double range;            /* largest reduced cost */
    double epsilon;          /* of the kernel that is filled in */
    newton_space newton;
};

/* Weights below this fraction of an item cannot be told from none in any value. */
#define NO_WEIGHT 1e-30

/* The best over-relaxation at the plain rate of convergence eta, and after `rate` was seen. */
double sinkhorn_omega(double eta);
double sinkhorn_relax(double rate, double omega);

/* Where an iteration stands. */
typedef struct sinkhorn_state {
    double tolerance;
    int64_t iterations, cap;
    double error; /* of the rows; the columns are exact */
} sinkhorn_state;

/* How scaling iterations watch themselves: over-relaxation, and when to leave them. */
typedef struct sinkhorn_pace {
    double omega;
    bool plain_before; /* the columns were exact when this iteration began */
    int64_t since;     /* iterations since omega changed */
    double mark;       /* error at the middle of the window */
    int64_t patience;  /* decisions to wait before the next Newton steps */
} sinkhorn_pace;

/* After an iteration on n x m that saw `error` (rows and columns): true when Newton steps should
 * come next. */
bool sinkhorn_pace_next(sinkhorn_pace *p, int64_t n, int64_t m, double error, double tolerance);

/* Of a lower bound: looks come after 1, 2, 4 ... iterations, and what one gained is waited for
 * twice.
 */
enum { SINKHORN_BOUND_PASSES = 16, SINKHORN_BOUND_PATIENCE = 2 };

/* Sums beyond it or its inverse are absorbed. */
#define SINKHORN_SUM_LIMIT 1e60
/* Beyond this multiple of the range of the cost the primal formula is the accurate one. */
#define SINKHORN_LARGE_EPSILON 100.0

/* Move the scalings into the potentials and fill the kernel for `epsilon`. */
void sinkhorn_absorb(sinkhorn_solver *z, double epsilon);
/* Steps of a falling epsilon before the one asked for. */
int64_t sinkhorn_levels(double range, double epsilon);
/* From the starting potentials (0) to the plan of `epsilon`; leaves exact columns and state->error.
 */
ddsc_status sinkhorn_iterate(sinkhorn_solver *z, double epsilon, sinkhorn_state *state);

/* Largest number of rows for which the dense Newton system is worth its memory. */
enum { NEWTON_MAX_ROWS = 4096 };
/* One damped Newton step on the semi-dual from exact columns; *error is updated. *moved is false
 * when no step was found, and the scalings are then as before. */
ddsc_status newton_step(sinkhorn_solver *z, double *error, bool *moved);

#endif
